//! A large table of 32-bit entries, in huge pages where the system has them.

use reprieve_base::{Archive, UserError};

use super::chunked_table::ChunkedTable;
use super::entries::{Entries, take};
use super::sparse_table::{SparseTable, nonzero};

/// Table of 32-bit entries, sparse while it is large with few set entries.
#[derive(Debug)]
pub(super) struct Table<const FIRST: u32> {
    /// Differences of entries from the first value, so that zeroed memory holds that.
    memory: Memory,
    pub(super) entries: usize,
}

#[derive(Debug)]
enum Memory {
    All(Entries),
    Sparse(SparseTable),
    Chunked(ChunkedTable),
}

impl Memory {
    /// Returns an entry; not inlined, as lookups in full tables are.
    #[inline(never)]
    fn get(&self, index: u32) -> u32 {
        match self {
            Memory::All(all) => bytemuck::cast_slice::<_, u32>(all)[index as usize],
            Memory::Sparse(sparse) => sparse.get(index),
            Memory::Chunked(chunked) => chunked.get(index),
        }
    }
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
            Memory::Chunked(chunked) => chunked.archive(archive),
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
            Memory::Chunked(_) => {}
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
        let changed: Box<dyn Iterator<Item = (u32, u32)> + '_> = match &self.memory {
            Memory::All(all) => Box::new(nonzero(bytemuck::cast_slice(all))),
            Memory::Sparse(sparse) => Box::new(sparse.set()),
            Memory::Chunked(chunked) => {
                Box::new((0..count).map(|place| (place, chunked.get(place))))
            }
        };
        let changed = changed.filter(move |(place, entry)| *place < count && *entry != 0);
        changed.map(|(place, entry)| (place, entry ^ FIRST))
    }

    /// Keeps a sparse table, of which nothing is set, in chunks: what changes lies together.
    pub(super) fn fill_by_blocks(&mut self) {
        if let Memory::Sparse(sparse) = &self.memory {
            assert!(sparse.set().next().is_none(), "entries were set before");
            self.memory = Memory::Chunked(ChunkedTable::new(self.entries));
        }
    }

    /// Creates a table of `entries` times the first value.
    ///
    /// Errors if memory is short.
    pub(super) fn new(entries: u32) -> Result<Table<FIRST>, UserError> {
        // A mapping cannot be empty.
        let entries = entries.max(1) as usize;
        let memory = match SparseTable::new(entries) {
            Some(sparse) => Memory::Sparse(sparse),
            None => Memory::All(take(entries).map_err(|error| {
                UserError::new(format!(
                    "geometry: no memory for a table of {entries} pages: {error}; use fewer \
                     blocks_per_plane or larger page_bytes"
                ))
            })?),
        };
        Ok(Table { memory, entries })
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> u32 {
        let entry = match &self.memory {
            Memory::All(all) => bytemuck::cast_slice::<_, u32>(all)[index as usize],
            partly => partly.get(index),
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
            Memory::Chunked(chunked) => chunked.put(index, value ^ FIRST),
        }
    }

    /// Allocates memory for all entries, if available.
    #[cold]
    fn spread(&mut self) {
        if let Memory::Sparse(sparse) = &self.memory {
            if let Ok(all) = sparse.spread() {
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

    /// A large and a small table, and one in chunks, have the values that were set, also after
    /// saving, before and after the sparse limit.
    #[test]
    fn every_entry_is_what_was_set() {
        let large = LEAST_ENTRIES as u32 + 5;
        for (entries, is_sparse, is_chunked) in
            [(large, true, false), (100, false, false), (large, false, true)]
        {
            let mut chance = Stream::new(1, "test.table", 0);
            let mut below = |bound: u32| chance.below(bound.into()) as u32;
            let new = || {
                let mut table = Table::<7>::new(entries).expect("there is memory");
                if is_chunked {
                    table.fill_by_blocks();
                }
                table
            };
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
