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

/// Page size of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum PageSize {
    /// 4 KiB: for clustered writes.
    Small,
    /// 2 MiB: random accesses to large tables cost mostly address translation, and the simulator
    /// runs about half as fast again.
    Huge,
}

/// Allocates memory for zeroed entries.
#[cfg(unix)]
pub(super) fn take(entries: usize, pages: PageSize) -> Result<Entries, TakeError> {
    let memory = Entries::map_anon(entries * size_of::<u32>())?;
    // For speed only: a system without huge pages refuses, which is no error.
    let _ = match pages {
        PageSize::Huge => memory.advise(Advice::HugePage),
        #[cfg(target_os = "linux")]
        PageSize::Small => memory.advise(Advice::NoHugePage),
        #[cfg(not(target_os = "linux"))]
        PageSize::Small => Ok(()),
    };
    Ok(memory)
}

#[cfg(not(unix))]
pub(super) fn take(entries: usize, _: PageSize) -> Result<Entries, TakeError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
