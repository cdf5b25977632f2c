//! A large table of 32-bit entries for random access, in huge pages where the system has them.

use reprieve_base::{Archive, UserError};

use super::entries::{Entries, PageSize, take};
use super::sparse_table::SparseTable;

/// Entries that are looked at together.
const CHUNK: usize = 64;

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
            let _ = own.advise(memmap2::Advice::NoHugePage);
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

#[cfg(test)]
mod tests {
    use reprieve_base::{Archive, Stream};

    use super::*;
    use crate::sparse_table::LEAST_ENTRIES;

    /// Three tables of an array, of which the first two share: each place has what was set there,
    /// also in one that is saved, and in one whose changes become too many.
    #[test]
    fn every_entry_is_what_was_set() {
        for is_full in [false, true] {
            let entries = LEAST_ENTRIES as u32 + 5;
            let mut chance = Stream::new(1, "test.shared", 0);
            let mut below = |bound: u32| chance.below(bound.into()) as u32;
            let table = || Table::<7>::new(entries).expect("there is memory");
            let mut own = [table(), table(), table()];
            let mut expected = vec![vec![7; entries as usize]; 3];
            let set = |table: &mut Table<7>, expected: &mut Vec<u32>, place, value| {
                table.set(place, value);
                expected[place as usize] = value;
            };
            for (number, (table, expected)) in own.iter_mut().zip(&mut expected).enumerate() {
                for place in (0..entries).filter(|place| is_full || place % 1000 == 3) {
                    set(table, expected, place, if number < 2 { place ^ 9 } else { !place });
                }
            }
            own[0].share_with(None);
            let [first, others @ ..] = &mut own;
            others.iter_mut().for_each(|table| table.share_with(Some(first)));
            assert_eq!(own.each_ref().map(Table::is_sparse), [true, true, !is_full]);
            for _ in 0..1000 {
                for (table, expected) in own.iter_mut().zip(&mut expected) {
                    set(table, expected, below(entries), below(9));
                }
            }
            for place in 0..entries / 16 + 1 {
                set(&mut own[1], &mut expected[1], place, below(9));
            }
            assert!(!own[1].is_sparse(), "a sixteenth of it has changed");
            let mut archive = Archive::saving(Vec::new());
            own[0].archive(&mut archive);
            let (bytes, mut again) = (archive.into_bytes(), table());
            again.archive(&mut Archive::loading(&bytes));
            for (table, expected) in
                own.iter().chain([&again]).zip([0, 1, 2, 0].map(|at| &expected[at]))
            {
                assert!((0..entries).all(|place| table.get(place) == expected[place as usize]));
            }
        }
    }
}
