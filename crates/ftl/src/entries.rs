//! Memory of the 32-bit entries of a table, in huge pages where the system has them.

#[cfg(unix)]
use memmap2::Advice;
#[cfg(unix)]
pub(super) use memmap2::MmapMut as Entries;
#[cfg(unix)]
pub(super) use std::io::Error as TakeError;

/// Without memory mappings, as in WebAssembly.
#[cfg(not(unix))]
pub(super) type Entries = Vec<u32>;

/// Refusal of memory by the system.
#[cfg(not(unix))]
pub(super) type TakeError = std::collections::TryReserveError;

/// Allocates memory for zeroed entries.
///
/// Random accesses to large tables cost mostly address translation, and with pages of 2 MiB the
/// simulator runs about half as fast again.
#[cfg(unix)]
pub(super) fn take(entries: usize) -> Result<Entries, TakeError> {
    let memory = Entries::map_anon(entries * size_of::<u32>())?;
    // For speed only: a system without huge pages refuses, which is no error.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

#[cfg(not(unix))]
pub(super) fn take(entries: usize) -> Result<Entries, TakeError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
