//! A large table of 32-bit entries for random access, in huge pages where the system has them.

#[cfg(unix)]
use memmap2::{Advice, MmapMut};
use reprieve_base::{Archive, UserError};

use super::ranked_bits::Sparse;
use super::shared_table::SharedTable;

/// Entries that are looked at together.
const CHUNK: usize = 64;

/// Memory of a table.
#[cfg(unix)]
pub(super) type Entries = MmapMut;
/// Where there are no mappings, as in WebAssembly.
#[cfg(not(unix))]
pub(super) type Entries = Vec<u32>;

/// Entries of 32 bits in memory of their own, or shared with other drives.
///
/// Random accesses to tables of many megabytes cost mostly address translation; with pages of
/// 2 MiB instead of 4 KiB the simulator runs about half as fast again.
#[derive(Debug)]
pub(super) struct Table<const FIRST: u32> {
    /// Entries as they differ from the first value, so that memory as it comes holds that.
    memory: Memory,
    /// Entries that the table had before it was taken anew.
    apart: Option<Sparse>,
}

#[derive(Debug)]
enum Memory {
    Own(Entries),
    Shared(Box<SharedTable>),
}

impl<const FIRST: u32> Table<FIRST> {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let mut is_apart = self.apart.is_some();
        archive.part(&mut is_apart);
        if is_apart {
            let places = self.entries().len();
            self.apart.get_or_insert_default().archive(archive, places);
        }
        if let Memory::Shared(shared) = &self.memory {
            self.memory = Memory::Own(shared.alone().expect("there is memory to save a drive"));
        }
        archive.table(bytemuck::cast_slice_mut(self.own()));
    }

    /// Shares its entries with the first drive of an array where that saves memory.
    pub(super) fn share(&mut self, first: Option<&Self>) {
        let first = first.and_then(|first| match &first.memory {
            Memory::Shared(shared) => Some(shared.as_ref()),
            Memory::Own(_) => None,
        });
        if let Some(mut shared) = SharedTable::of(self.own(), first) {
            self.apart.take_if(|apart| shared.take_over(apart));
            self.memory = Memory::Shared(Box::new(shared));
        }
    }

    #[cfg(test)]
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.memory, Memory::Shared(_))
    }

    /// Sets the entries apart that have changed, if they are few, and begins again with none.
    ///
    /// The memory stays: what the system clears anew costs more than a run changes in it.
    pub(super) fn set_apart(&mut self) {
        assert!(self.apart.is_none(), "entries are set apart once");
        let apart = Sparse::of(self.entries());
        if let Some(apart) = &apart {
            apart.clear(bytemuck::cast_slice_mut(self.own()));
        }
        self.apart = apart;
    }

    /// Entries that were set apart.
    pub(super) fn all_apart(&self) -> impl Iterator<Item = u32> {
        self.apart.iter().flat_map(|apart| apart.numbers().iter().map(|entry| entry ^ FIRST))
    }

    /// Places of the first `count` whose entries have changed since, and the entries.
    pub(super) fn changed(&self, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let chunks = self.entries()[..count as usize].chunks(CHUNK).zip((0..).step_by(CHUNK));
        let used = chunks.filter(|(chunk, _)| chunk.iter().fold(0, |all, it| all | it) != 0);
        let entries = used.flat_map(|(chunk, first)| (first..).zip(chunk));
        entries.filter(|(_, entry)| **entry != 0).map(|(place, entry)| (place, entry ^ FIRST))
    }

    /// Takes memory in small pages from now on: what is written lies together, here and there.
    pub(super) fn fill_by_blocks(&mut self) {
        #[cfg(target_os = "linux")]
        let _ = self.own().advise(Advice::NoHugePage);
    }

    /// Returns how many entries it has.
    pub(super) fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns an entry that was set apart.
    pub(super) fn apart(&self, index: u32) -> Option<u32> {
        let entry = self.apart.as_ref()?.get(index);
        (entry != 0).then_some(entry ^ FIRST)
    }

    fn own(&mut self) -> &mut Entries {
        match &mut self.memory {
            Memory::Own(own) => own,
            Memory::Shared(_) => panic!("a drive is prepared before its tables are shared"),
        }
    }

    fn entries(&self) -> &[u32] {
        match &self.memory {
            Memory::Own(own) => bytemuck::cast_slice(own),
            Memory::Shared(_) => panic!("a drive is prepared before its tables are shared"),
        }
    }

    /// A table of `entries` times the value that entries have at first.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn new(entries: u32) -> Result<Table<FIRST>, UserError> {
        // A mapping cannot be empty.
        let memory = take(entries.max(1) as usize).map_err(|error| {
            UserError::new(format!(
                "geometry: no memory for a table of {entries} pages ({} MiB): {error}; use fewer \
                 blocks_per_plane or larger page_bytes",
                (u64::from(entries) * size_of::<u32>() as u64) >> 20
            ))
        })?;
        Ok(Table { memory: Memory::Own(memory), apart: None })
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        match &self.memory {
            Memory::Own(own) => bytemuck::cast_slice::<_, u32>(own)[index as usize] ^ FIRST,
            Memory::Shared(shared) => shared.get(index) ^ FIRST,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: u32) {
        match &mut self.memory {
            Memory::Own(own) => {
                bytemuck::cast_slice_mut::<_, u32>(own)[index as usize] = value ^ FIRST;
            }
            Memory::Shared(shared) => {
                if let Some(own) = shared.set(index, value ^ FIRST) {
                    self.memory = Memory::Own(own);
                }
            }
        }
    }
}

/// Takes memory for entries that are zero.
#[cfg(unix)]
pub(super) fn take(entries: usize) -> Result<MmapMut, std::io::Error> {
    let memory = MmapMut::map_anon(entries * size_of::<u32>())?;
    // Only speed depends on it: a system without huge pages refuses, and that is all right.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

#[cfg(not(unix))]
pub(super) fn take(entries: usize) -> Result<Vec<u32>, std::collections::TryReserveError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
