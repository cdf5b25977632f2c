//! A large table with few nonzero entries.

use reprieve_base::Archive;
use rustc_hash::FxHashMap;

use super::entries::{Entries, TakeError, take};

/// Entries from which on a table is sparse: smaller ones are faster, and take little memory.
pub(super) const LEAST_ENTRIES: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// Fewest entries for each set one during a run: a full table is faster for a long run, and slower
/// for a short one.
const ENTRIES_PER_CHANGE: usize = 1024;

/// Fewest entries for each set one: with more, a full table takes no more memory.
const ENTRIES_PER_SET: usize = 16;

/// Entries of a chunk, and places whose earlier entries are found together.
const CHUNK: usize = 64;
const GROUP: usize = 256;

/// Set entries; all others are zero.
#[derive(Debug)]
pub(super) struct SparseTable {
    /// Those of a preparation, in order of their places, and where those of each group begin.
    earlier: Vec<(u32, u32)>,
    begins: Vec<u32>,
    /// Those set since.
    set: FxHashMap<u32, u32>,
    most: usize,
    entries: usize,
}

impl SparseTable {
    /// Returns a table of zeros; `None`: too small to be sparse.
    pub(super) fn new(entries: usize) -> Option<SparseTable> {
        let is_large = entries >= LEAST_ENTRIES;
        is_large.then(|| SparseTable::with(Vec::new(), entries))
    }

    /// Returns a table of these entries; `None`: too small, or too many are set.
    pub(super) fn of(all: &[u32]) -> Option<SparseTable> {
        let most = all.len() / ENTRIES_PER_SET;
        let set: Vec<(u32, u32)> = nonzero(all).take(most + 1).collect();
        let is_sparse = all.len() >= LEAST_ENTRIES && set.len() <= most;
        is_sparse.then(|| SparseTable::with(set, all.len()))
    }

    /// Returns a table with these entries set, which are in order.
    fn with(earlier: Vec<(u32, u32)>, entries: usize) -> SparseTable {
        let mut begins = Vec::new();
        if !earlier.is_empty() {
            begins = vec![0; entries / GROUP + 2];
            earlier.iter().for_each(|(place, _)| begins[*place as usize / GROUP + 1] += 1);
            (1..begins.len()).for_each(|group| begins[group] += begins[group - 1]);
        }
        let most = entries / ENTRIES_PER_CHANGE;
        SparseTable { earlier, begins, set: FxHashMap::default(), most, entries }
    }

    /// Puts the set entries in order: few more are set from now on.
    pub(super) fn settle(&mut self) {
        let mut all: Vec<(u32, u32)> = self.set().collect();
        all.sort_unstable();
        *self = SparseTable::with(all, self.entries);
    }

    /// Permits more set entries, to save memory at the cost of time.
    pub(super) fn expect_many(&mut self) {
        let most = (self.entries / ENTRIES_PER_SET).saturating_sub(self.earlier.len());
        self.most = self.most.max(most);
    }

    /// Writes the set entries, or reads them back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        if !archive.is_loading() {
            let most = self.most;
            self.settle();
            self.most = most;
        }
        archive.part(&mut self.earlier);
        if archive.is_loading() {
            let earlier = std::mem::take(&mut self.earlier);
            let is_sound = earlier.is_sorted_by(|one, next| one.0 < next.0)
                && earlier.last().is_none_or(|last| (last.0 as usize) < self.entries);
            archive.refuse_unless(is_sound);
            let earlier = if is_sound { earlier } else { Vec::new() };
            *self = SparseTable::with(earlier, self.entries);
        }
    }

    /// Returns the set entries with their places, unordered.
    pub(super) fn set(&self) -> impl Iterator<Item = (u32, u32)> {
        let kept = self.earlier.iter().filter(|(place, _)| !self.set.contains_key(place));
        kept.copied().chain(self.set.iter().map(|(place, entry)| (*place, *entry)))
    }

    /// Returns an entry.
    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        if let Some(entry) = self.set.get(&index) {
            return *entry;
        }
        if self.earlier.is_empty() {
            return 0;
        }
        let group = index as usize / GROUP;
        let group = &self.earlier[self.begins[group] as usize..self.begins[group + 1] as usize];
        group.binary_search_by_key(&index, |(place, _)| *place).map_or(0, |at| group[at].1)
    }

    /// Sets an entry; returns whether too many are set.
    #[inline]
    pub(super) fn put(&mut self, index: u32, entry: u32) -> bool {
        self.set.insert(index, entry);
        self.set.len() > self.most
    }

    /// Returns a full table with the set entries.
    ///
    /// Errors if the system refuses the memory.
    pub(super) fn spread(&self) -> Result<Entries, TakeError> {
        let mut all = take(self.entries)?;
        let entries: &mut [u32] = bytemuck::cast_slice_mut(&mut all);
        let mut put = |(place, entry): &(u32, u32)| entries[*place as usize] = *entry;
        self.earlier.iter().for_each(&mut put);
        self.set.iter().for_each(|(place, entry)| put(&(*place, *entry)));
        Ok(all)
    }
}

/// Returns the nonzero entries with their indices.
pub(super) fn nonzero(all: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let chunks = (0..).step_by(CHUNK).zip(all.chunks(CHUNK));
    let used = chunks.filter(|(_, chunk)| chunk.iter().fold(0, |all, it| all | it) != 0);
    let entries = used.flat_map(|(first, chunk)| (first..).zip(chunk.iter().copied()));
    entries.filter(|(_, entry)| *entry != 0)
}
