//! A large table of 32-bit entries for random access, in huge pages where the system has them.

use reprieve_base::{Archive, UserError};

use super::entries::{Entries, PageSize, take};
use super::sparse_table::SparseTable;

/// Entries of a chunk.
const CHUNK: usize = 64;

/// Table of 32-bit entries, sparse while it is large with few set entries.
#[derive(Debug)]
pub(super) struct Table<const FIRST: u32> {
    /// Differences of entries from the first value, so that zeroed memory holds that.
    memory: Memory,
    pages: PageSize,
}

#[derive(Debug)]
enum Memory {
    All(Entries),
    Sparse(SparseTable),
}

impl<const FIRST: u32> Table<FIRST> {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let mut is_sparse = self.is_sparse();
        archive.part(&mut is_sparse);
        if !is_sparse {
            self.spread();
        }
        match &mut self.memory {
            Memory::Sparse(sparse) if is_sparse => sparse.archive(archive),
            Memory::All(all) if !is_sparse => archive.table(bytemuck::cast_slice_mut(all)),
            _ => archive.refuse_unless(false),
        }
    }

    /// Frees the memory of a full table if few of its entries are set.
    pub(super) fn thin_out(&mut self) {
        match &mut self.memory {
            Memory::Sparse(sparse) => sparse.settle(),
            Memory::All(all) => {
                if let Some(sparse) = SparseTable::of(bytemuck::cast_slice(all)) {
                    self.memory = Memory::Sparse(sparse);
                }
            }
        }
    }

    /// Stays sparse for longer: there are many such tables.
    pub(super) fn expect_many(&mut self) {
        if let Memory::Sparse(sparse) = &mut self.memory {
            sparse.expect_many();
        }
    }

    /// Whether the table is sparse.
    pub(super) fn is_sparse(&self) -> bool {
        matches!(self.memory, Memory::Sparse(_))
    }

    /// Returns the first `count` entries that differ from the first value, with their indices.
    pub(super) fn changed(&self, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let (all, sparse): (&[u32], _) = match &self.memory {
            Memory::All(all) => (bytemuck::cast_slice(all), None),
            Memory::Sparse(sparse) => (&[], Some(sparse.set())),
        };
        let chunks = all.chunks(CHUNK).zip((0..).step_by(CHUNK));
        let used = chunks.filter(|(chunk, _)| chunk.iter().fold(0, |all, it| all | it) != 0);
        let entries = used.flat_map(|(chunk, first)| (first..).zip(chunk.iter().copied()));
        let entries = entries.chain(sparse.into_iter().flatten());
        let changed = entries.filter(move |(place, entry)| *place < count && *entry != 0);
        changed.map(|(place, entry)| (place, entry ^ FIRST))
    }

    /// Uses small memory pages from now on.
    pub(super) fn fill_by_blocks(&mut self) {
        self.pages = PageSize::Small;
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        match &self.memory {
            Memory::All(all) => bytemuck::cast_slice::<_, u32>(all).len(),
            Memory::Sparse(sparse) => sparse.len(),
        }
    }

    /// Creates a table of `entries` times the first value.
    ///
    /// Errors if memory is short.
    pub(super) fn new(entries: u32) -> Result<Table<FIRST>, UserError> {
        // A mapping cannot be empty.
        let (entries, pages) = (entries.max(1) as usize, PageSize::Huge);
        let memory = match SparseTable::new(entries) {
            Some(sparse) => Memory::Sparse(sparse),
            None => Memory::All(take(entries, pages).map_err(|error| {
                UserError::new(format!(
                    "geometry: no memory for a table of {entries} pages: {error}; use fewer \
                     blocks_per_plane or larger page_bytes"
                ))
            })?),
        };
        Ok(Table { memory, pages })
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> u32 {
        let entry = match &self.memory {
            Memory::All(all) => bytemuck::cast_slice::<_, u32>(all)[index as usize],
            Memory::Sparse(sparse) => sparse.get(index),
        };
        entry ^ FIRST
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: u32) {
        match &mut self.memory {
            Memory::All(all) => {
                bytemuck::cast_slice_mut::<_, u32>(all)[index as usize] = value ^ FIRST;
            }
            Memory::Sparse(sparse) => {
                if sparse.put(index, value ^ FIRST) {
                    self.spread();
                }
            }
        }
    }

    /// Allocates memory for all entries, if available.
    #[cold]
    fn spread(&mut self) {
        if let Memory::Sparse(sparse) = &self.memory {
            if let Ok(all) = sparse.spread(self.pages) {
                self.memory = Memory::All(all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::{Archive, Stream};

    use super::*;
    use crate::sparse_table::LEAST_ENTRIES;

    /// A large and a small table have the values that were set, also after saving, before and after
    /// the sparse limit.
    #[test]
    fn every_entry_is_what_was_set() {
        for (entries, is_sparse) in [(LEAST_ENTRIES as u32 + 5, true), (100, false)] {
            let mut chance = Stream::new(1, "test.table", 0);
            let mut below = |bound: u32| chance.below(bound.into()) as u32;
            let new = || Table::<7>::new(entries).expect("there is memory");
            let (mut table, mut expected) = (new(), vec![7; entries as usize]);
            // One of many stays sparse until a sixteenth is set.
            for (number, is_sparse) in [(1, is_sparse), (entries / 50, is_sparse), (entries, false)]
            {
                table.expect_many();
                for turn in 0..number {
                    // The first place was set, and put in order, the time before.
                    let place = if turn == 0 { 3 } else { below(entries) };
                    let value = below(9);
                    table.set(place, value);
                    expected[place as usize] = value;
                }
                assert_eq!(table.is_sparse(), is_sparse);
                table.thin_out();
                assert_eq!(table.is_sparse(), is_sparse);
                let mut archive = Archive::saving(Vec::new());
                table.archive(&mut archive);
                let (bytes, mut again) = (archive.into_bytes(), new());
                let mut archive = Archive::loading(&bytes);
                again.archive(&mut archive);
                archive.check().expect("all of it was taken");
                for table in [&table, &again] {
                    assert!((0..entries).all(|place| table.get(place) == expected[place as usize]));
                }
                let mut changed: Vec<_> = table.changed(entries / 2).collect();
                changed.sort_unstable();
                let differing = (0..).zip(&expected[..entries as usize / 2]);
                let differing = differing.filter(|(_, entry)| **entry != 7);
                assert!(changed.into_iter().eq(differing.map(|(place, entry)| (place, *entry))));
            }
        }
    }
}
