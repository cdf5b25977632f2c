//! A large table with few nonzero entries.

use reprieve_base::Archive;
use rustc_hash::FxHashMap;

use super::entries::{Entries, PageSize, TakeError, take};

/// Entries from which on a table is sparse: smaller ones are faster, and take little memory.
pub(super) const LEAST_ENTRIES: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// Fewest entries for each set one during a run: a full table is faster for a long run, and slower
/// for a short one.
const ENTRIES_PER_CHANGE: usize = 1024;

/// Fewest entries for each set one: with more, a full table takes no more memory.
const ENTRIES_PER_SET: usize = 16;

/// Entries of a chunk.
const CHUNK: usize = 64;

/// Set entries; all others are zero.
#[derive(Debug)]
pub(super) struct SparseTable {
    set: FxHashMap<u32, u32>,
    most: usize,
    entries: usize,
}

impl SparseTable {
    /// Returns a table of zeros; `None`: too small to be sparse.
    pub(super) fn new(entries: usize) -> Option<SparseTable> {
        let is_large = entries >= LEAST_ENTRIES;
        is_large.then(|| SparseTable::with(FxHashMap::default(), entries))
    }

    /// Returns a table of these entries; `None`: too small, or too many are set.
    pub(super) fn of(all: &[u32]) -> Option<SparseTable> {
        let chunks = (0..).step_by(CHUNK).zip(all.chunks(CHUNK));
        let used = chunks.filter(|(_, chunk)| chunk.iter().fold(0, |all, it| all | it) != 0);
        let entries = used.flat_map(|(first, chunk)| (first..).zip(chunk.iter().copied()));
        let set = entries.filter(|(_, entry)| *entry != 0);
        let most = all.len() / ENTRIES_PER_SET;
        let set: FxHashMap<u32, u32> = set.take(most + 1).collect();
        let is_sparse = all.len() >= LEAST_ENTRIES && set.len() <= most;
        is_sparse.then(|| SparseTable::with(set, all.len()))
    }

    fn with(set: FxHashMap<u32, u32>, entries: usize) -> SparseTable {
        let mut table = SparseTable { set, most: 0, entries };
        table.expect_few();
        table
    }

    /// Lets few more be set from now on.
    pub(super) fn expect_few(&mut self) {
        self.most = self.set.len() + self.entries / ENTRIES_PER_CHANGE;
    }

    /// Permits more set entries, to save memory at the cost of time.
    pub(super) fn expect_many(&mut self) {
        self.most = self.most.max(self.entries / ENTRIES_PER_SET);
    }

    /// Saves or restores the set entries.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let mut set: Vec<(u32, u32)> = self.set().collect();
        set.sort_unstable();
        archive.part(&mut set);
        if archive.is_loading() {
            archive.refuse_unless(set.iter().all(|(place, _)| (*place as usize) < self.entries));
            *self = SparseTable::with(set.into_iter().collect(), self.entries);
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries
    }

    /// Returns the set entries with their indices, in no order.
    pub(super) fn set(&self) -> impl Iterator<Item = (u32, u32)> {
        self.set.iter().map(|(place, entry)| (*place, *entry))
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        self.set.get(&index).copied().unwrap_or(0)
    }

    /// Sets an entry; returns whether too many have been set.
    #[inline]
    pub(super) fn put(&mut self, index: u32, entry: u32) -> bool {
        self.set.insert(index, entry);
        self.set.len() > self.most
    }

    /// Returns memory for all entries, with those that are set.
    ///
    /// Errors if memory is short.
    pub(super) fn spread(&self, pages: PageSize) -> Result<Entries, TakeError> {
        let mut all = take(self.entries, pages)?;
        let entries: &mut [u32] = bytemuck::cast_slice_mut(&mut all);
        self.set.iter().for_each(|(place, entry)| entries[*place as usize] = *entry);
        Ok(all)
    }
}
