//! A large table of 32-bit entries for random access, in huge pages where the system has them.

#[cfg(unix)]
use memmap2::{Advice, MmapMut};
use reprieve_base::{Archive, UserError};

/// Entries of 32 bits in memory of their own.
///
/// Random accesses to tables of many megabytes cost mostly address translation; with pages of
/// 2 MiB instead of 4 KiB the simulator runs about half as fast again.
#[derive(Debug)]
pub(super) struct Table {
    #[cfg(unix)]
    memory: MmapMut,
    /// Where there are no mappings, as in WebAssembly.
    #[cfg(not(unix))]
    memory: Vec<u32>,
}

impl Table {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.table(bytemuck::cast_slice_mut(&mut self.memory));
    }

    /// A table of `entries` times `value`.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn new(entries: u32, value: u32) -> Result<Table, UserError> {
        // A mapping cannot be empty.
        let memory = take(entries.max(1) as usize).map_err(|error| {
            UserError::new(format!(
                "geometry: no memory for a table of {entries} pages ({} MiB): {error}; use fewer \
                 blocks_per_plane or larger page_bytes",
                (u64::from(entries) * size_of::<u32>() as u64) >> 20
            ))
        })?;
        let mut table = Table { memory };
        table.entries_mut().fill(value);
        Ok(table)
    }

    #[inline]
    fn entries(&self) -> &[u32] {
        bytemuck::cast_slice(&self.memory)
    }

    #[inline]
    fn entries_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        self.entries()[index as usize]
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: u32) {
        self.entries_mut()[index as usize] = value;
    }
}

#[cfg(unix)]
fn take(entries: usize) -> Result<MmapMut, std::io::Error> {
    let memory = MmapMut::map_anon(entries * size_of::<u32>())?;
    // Only speed depends on it: a system without huge pages refuses, and that is all right.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

#[cfg(not(unix))]
fn take(entries: usize) -> Result<Vec<u32>, std::collections::TryReserveError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
