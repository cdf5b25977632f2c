//! Memory of the 32-bit entries of a table, in huge pages where the system has them.

#[cfg(unix)]
use memmap2::Advice;
#[cfg(unix)]
pub(super) use memmap2::MmapMut as Entries;

/// Where there are no mappings, as in WebAssembly.
#[cfg(not(unix))]
pub(super) type Entries = Vec<u32>;

/// Takes memory for entries that are zero.
#[cfg(unix)]
pub(super) fn take(entries: usize) -> Result<Entries, std::io::Error> {
    let memory = Entries::map_anon(entries * size_of::<u32>())?;
    // Only speed depends on it: a system without huge pages refuses, and that is all right.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

#[cfg(not(unix))]
pub(super) fn take(entries: usize) -> Result<Entries, std::collections::TryReserveError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
