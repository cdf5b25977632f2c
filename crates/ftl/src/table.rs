//! A large table of 32-bit entries for random access, in huge pages where the system has them.

#[cfg(unix)]
use memmap2::{Advice, MmapMut};
use reprieve_base::{Archive, UserError};

use super::sparse_table::SparseTable;

/// Entries that are looked at together.
const CHUNK: usize = 64;

/// Memory of a table.
#[cfg(unix)]
pub(super) type Entries = MmapMut;
/// Where there are no mappings, as in WebAssembly.
#[cfg(not(unix))]
pub(super) type Entries = Vec<u32>;

/// Refusal of memory by the system.
#[cfg(unix)]
pub(super) type TakeError = std::io::Error;
#[cfg(not(unix))]
pub(super) type TakeError = std::collections::TryReserveError;

/// Pages of memory that the system is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum PageSize {
    /// Of 4 KiB: what is written lies together, here and there.
    Small,
    /// Of 2 MiB: random accesses to tables of many megabytes cost mostly address translation, and
    /// the simulator runs about half as fast again.
    Huge,
}

/// Entries of 32 bits in memory of their own, or what has changed of them.
#[derive(Debug)]
pub(super) struct Table<const FIRST: u32> {
    /// Entries as they differ from the first value, so that memory as it comes holds that.
    memory: Memory,
    pages: PageSize,
}

#[derive(Debug)]
enum Memory {
    Own(Entries),
    Sparse(Box<SparseTable>),
}

impl<const FIRST: u32> Table<FIRST> {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let mut is_sparse = matches!(&self.memory, Memory::Sparse(sparse) if sparse.is_of_zeros());
        archive.part(&mut is_sparse);
        if is_sparse && archive.is_loading() {
            self.keep_changes();
        }
        if let Memory::Sparse(sparse) = &mut self.memory {
            if is_sparse {
                return sparse.archive(archive);
            }
            let alone = sparse.alone(self.pages);
            self.memory = Memory::Own(alone.expect("there is memory to save a drive"));
        }
        if let Memory::Own(own) = &mut self.memory {
            archive.table(bytemuck::cast_slice_mut(own));
        }
    }

    /// Keeps what changes from now on, as long as that is little, of a table that holds nothing.
    pub(super) fn keep_changes(&mut self) {
        if let Some(sparse) = SparseTable::zeros(self.len()) {
            self.memory = Memory::Sparse(Box::new(sparse));
        }
    }

    /// Keeps what has changed, if that is little.
    pub(super) fn keep_few_changes(&mut self) {
        if let Memory::Own(own) = &self.memory {
            if let Some(sparse) = SparseTable::of(bytemuck::cast_slice(own)) {
                self.memory = Memory::Sparse(Box::new(sparse));
            }
        }
    }

    /// Shares its entries with the first drive of an array where that saves memory.
    pub(super) fn share_with(&mut self, first: Option<&Self>) {
        let first = first.and_then(|first| match &first.memory {
            Memory::Sparse(sparse) => Some(sparse.as_ref()),
            Memory::Own(_) => None,
        });
        if let Memory::Own(own) = &mut self.memory {
            if let Some(sparse) = SparseTable::of_many(own, first) {
                self.memory = Memory::Sparse(Box::new(sparse));
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_sparse(&self) -> bool {
        matches!(self.memory, Memory::Sparse(_))
    }

    /// Places of the first `count` whose entries are not the first value, and the entries.
    pub(super) fn changed(&self, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let (own, sparse): (&[u32], _) = match &self.memory {
            Memory::Own(own) => (bytemuck::cast_slice(own), None),
            Memory::Sparse(sparse) => (&[], Some(sparse.changes())),
        };
        let chunks = own.chunks(CHUNK).zip((0..).step_by(CHUNK));
        let used = chunks.filter(|(chunk, _)| chunk.iter().fold(0, |all, it| all | it) != 0);
        let entries = used.flat_map(|(chunk, first)| (first..).zip(chunk.iter().copied()));
        let entries = entries.chain(sparse.into_iter().flatten());
        let changed = entries.filter(move |(place, entry)| *place < count && *entry != 0);
        changed.map(|(place, entry)| (place, entry ^ FIRST))
    }

    /// Takes memory in small pages from now on.
    pub(super) fn fill_by_blocks(&mut self) {
        self.pages = PageSize::Small;
        #[cfg(target_os = "linux")]
        if let Memory::Own(own) = &self.memory {
            let _ = own.advise(Advice::NoHugePage);
        }
    }

    /// Returns how many entries it has.
    pub(super) fn len(&self) -> usize {
        match &self.memory {
            Memory::Own(own) => bytemuck::cast_slice::<_, u32>(own).len(),
            Memory::Sparse(sparse) => sparse.len(),
        }
    }

    /// A table of `entries` times the value that entries have at first.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn new(entries: u32) -> Result<Table<FIRST>, UserError> {
        // A mapping cannot be empty.
        let memory = take(entries.max(1) as usize, PageSize::Huge).map_err(|error| {
            UserError::new(format!(
                "geometry: no memory for a table of {entries} pages ({} MiB): {error}; use fewer \
                 blocks_per_plane or larger page_bytes",
                (u64::from(entries) * size_of::<u32>() as u64) >> 20
            ))
        })?;
        Ok(Table { memory: Memory::Own(memory), pages: PageSize::Huge })
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        match &self.memory {
            Memory::Own(own) => bytemuck::cast_slice::<_, u32>(own)[index as usize] ^ FIRST,
            Memory::Sparse(sparse) => sparse.get(index) ^ FIRST,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: u32) {
        match &mut self.memory {
            Memory::Own(own) => {
                bytemuck::cast_slice_mut::<_, u32>(own)[index as usize] = value ^ FIRST;
            }
            Memory::Sparse(sparse) => {
                if sparse.set(index, value ^ FIRST) {
                    self.spread();
                }
            }
        }
    }

    /// Becomes a table of its own, if the system gives the memory.
    #[cold]
    fn spread(&mut self) {
        if let Memory::Sparse(sparse) = &self.memory {
            if let Ok(own) = sparse.alone(self.pages) {
                self.memory = Memory::Own(own);
            }
        }
    }
}

/// Takes memory for entries that are zero.
#[cfg(unix)]
pub(super) fn take(entries: usize, pages: PageSize) -> Result<MmapMut, TakeError> {
    let memory = MmapMut::map_anon(entries * size_of::<u32>())?;
    // Only speed depends on it: a system without huge pages refuses, and that is all right.
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
pub(super) fn take(entries: usize, _: PageSize) -> Result<Vec<u32>, TakeError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(entries)?;
    memory.resize(entries, 0);
    Ok(memory)
}
