//! A large table of which little differs from zeros, or from the table of another drive.

use std::sync::Arc;

use reprieve_base::Archive;
use rustc_hash::FxHashMap;

use super::entries::{Entries, PageSize, TakeError, take};

/// Entries from which on a table is sparse: smaller ones are quicker, and take little memory.
pub(super) const LEAST_ENTRIES: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// Entries for each change, at least: with many more, a table of its own takes no more memory, and
/// is quicker.
const ENTRIES_PER_CHANGE: usize = 16;

/// Entries that are compared together.
const CHUNK: usize = 64;

/// Entries that other drives have too, or zeros, and those that differ.
#[derive(Debug)]
pub(super) struct SparseTable {
    /// `None`: zeros.
    base: Option<Arc<Entries>>,
    changes: FxHashMap<u32, u32>,
    most_changes: usize,
    entries: usize,
}

impl SparseTable {
    /// Returns a table of zeros; `None`: it is too small to be sparse.
    pub(super) fn zeros(entries: usize) -> Option<SparseTable> {
        (entries >= LEAST_ENTRIES).then(|| SparseTable {
            base: None,
            changes: FxHashMap::default(),
            most_changes: entries / ENTRIES_PER_CHANGE,
            entries,
        })
    }

    /// Returns a table with these entries; `None`: it is small, or too much of it is not zero.
    pub(super) fn of(own: &[u32]) -> Option<SparseTable> {
        let mut sparse = SparseTable::zeros(own.len())?;
        sparse.take_changes(own).then_some(sparse)
    }

    /// Returns a table with these entries, which has those of the first of many drives or zeros as
    /// its base; the first gives its own away if most are not zeros. `None`: they are better left.
    pub(super) fn of_many(own: &mut Entries, first: Option<&SparseTable>) -> Option<SparseTable> {
        let entries: &[u32] = bytemuck::cast_slice(own);
        let mut sparse = SparseTable::zeros(entries.len())?;
        sparse.base = first.and_then(|first| first.base.clone());
        if !sparse.take_changes(entries) {
            if first.is_some() {
                return None;
            }
            sparse.base = Some(Arc::new(std::mem::replace(own, take(1, PageSize::Small).ok()?)));
        }
        Some(sparse)
    }

    /// Takes over how entries differ from the base, if few do.
    fn take_changes(&mut self, own: &[u32]) -> bool {
        let are_few =
            self.differences(own).take(self.most_changes + 1).count() <= self.most_changes;
        if are_few {
            self.changes = self.differences(own).collect();
        }
        are_few
    }

    /// Returns the entries that are not those of the base, with their places.
    fn differences(&self, entries: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let base = self.base.iter().flat_map(|base| bytemuck::cast_slice(base).chunks(CHUNK));
        let base = base.chain(std::iter::repeat(&[0; CHUNK][..]));
        let chunks = (0..).step_by(CHUNK).zip(entries.chunks(CHUNK).zip(base));
        let differing = chunks.filter(|(_, (own, base))| *own != &base[..own.len()]);
        let pairs = differing.flat_map(|(start, (own, base))| (start..).zip(own.iter().zip(base)));
        pairs.filter(|(_, (own, base))| own != base).map(|(place, (own, _))| (place, *own))
    }

    /// Writes what differs from zeros, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        debug_assert!(self.base.is_none(), "a table of its own is archived without a base");
        let mut changes: Vec<(u32, u32)> = self.changes().collect();
        changes.sort_unstable();
        archive.part(&mut changes);
        if archive.is_loading() {
            let is_whole = changes.iter().all(|(place, _)| (*place as usize) < self.entries);
            archive.refuse_unless(is_whole);
            self.changes = changes.into_iter().collect();
        }
    }

    /// Whether zeros are its base.
    pub(super) fn is_of_zeros(&self) -> bool {
        self.base.is_none()
    }

    /// Returns how many entries it has.
    pub(super) fn len(&self) -> usize {
        self.entries
    }

    /// Returns the entries that have changed, with their places, in no order.
    pub(super) fn changes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.changes.iter().map(|(place, entry)| (*place, *entry))
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        match self.changes.get(&index) {
            Some(entry) => *entry,
            None => self.base.as_ref().map_or(0, |base| bytemuck::cast_slice(base)[index as usize]),
        }
    }

    /// Sets an entry; returns whether too many have changed.
    #[inline]
    pub(super) fn set(&mut self, index: u32, entry: u32) -> bool {
        self.changes.insert(index, entry);
        self.changes.len() > self.most_changes
    }

    /// Returns a table of its entries that shares nothing.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn alone(&self, pages: PageSize) -> Result<Entries, TakeError> {
        let mut alone = take(self.entries, pages)?;
        if let Some(base) = &self.base {
            bytemuck::cast_slice_mut::<_, u32>(&mut alone)
                .copy_from_slice(bytemuck::cast_slice(base));
        }
        let entries: &mut [u32] = bytemuck::cast_slice_mut(&mut alone);
        self.changes.iter().for_each(|(place, entry)| entries[*place as usize] = *entry);
        Ok(alone)
    }
}
