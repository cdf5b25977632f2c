//! A large table of 32-bit entries for random access, in huge pages where the system has them.

use reprieve_base::{Archive, UserError};

use super::entries::{Entries, take};
use super::ranked_bits::Sparse;
use super::shared_table::SharedTable;

/// Entries that are looked at together.
const CHUNK: usize = 64;

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
        let _ = self.own().advise(memmap2::Advice::NoHugePage);
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

#[cfg(test)]
mod tests {
    use reprieve_base::{Archive, Stream};

    use super::*;
    use crate::shared_table::LEAST_ENTRIES;

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
            own[0].share(None);
            let [first, others @ ..] = &mut own;
            others.iter_mut().for_each(|table| table.share(Some(first)));
            assert_eq!(own.each_ref().map(Table::is_shared), [true, true, !is_full]);
            for _ in 0..1000 {
                for (table, expected) in own.iter_mut().zip(&mut expected) {
                    set(table, expected, below(entries), below(9));
                }
            }
            for place in 0..entries / 8 {
                set(&mut own[1], &mut expected[1], place, below(9));
            }
            assert!(!own[1].is_shared(), "an eighth of it has changed");
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
