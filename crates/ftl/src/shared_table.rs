//! A table that drives of an array share, with what differs in one of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::entries::{Entries, take};
use super::ranked_bits::Sparse;

/// Entries from which on a table is shared: smaller ones are quicker, and take little memory.
pub(super) const LEAST_ENTRIES: usize = 1 << 22;

/// Entries for each change, at least: with more changes a table of its own takes no more memory.
const ENTRIES_PER_CHANGE: usize = 8;

/// Entries for each that was set apart, at least: with more, their bits take no more memory.
const ENTRIES_PER_APART: usize = 128;

/// Entries that are compared together.
const CHUNK: usize = 64;

/// Entries that other drives have too, or zeros, and those that differ.
#[derive(Debug)]
pub(super) struct SharedTable {
    /// `None`: zeros.
    base: Option<Arc<Entries>>,
    changes: FxHashMap<u32, u32>,
    most_changes: usize,
    entries: usize,
}

impl SharedTable {
    /// Returns a table with these entries, which has those of the first drive or zeros as its base;
    /// the first drive gives its own away if most are not zeros. `None`: they are better left.
    pub(super) fn of(own: &mut Entries, first: Option<&SharedTable>) -> Option<SharedTable> {
        let entries: &[u32] = bytemuck::cast_slice(own);
        if entries.len() < LEAST_ENTRIES {
            return None;
        }
        let base = first.and_then(|first| first.base.clone());
        let most_changes = entries.len() / ENTRIES_PER_CHANGE;
        let mut shared = SharedTable {
            base,
            changes: FxHashMap::default(),
            most_changes,
            entries: entries.len(),
        };
        let changes = || shared.differences(entries);
        if changes().take(most_changes + 1).count() <= most_changes {
            shared.changes = changes().collect();
        } else if first.is_none() {
            shared.base = Some(Arc::new(std::mem::replace(own, take(1).ok()?)));
        } else {
            return None;
        }
        Some(shared)
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

    /// Takes entries over that were set apart, where they have not changed since, if few are.
    pub(super) fn take_over(&mut self, apart: &Sparse) -> bool {
        let is_worth = apart.numbers().len() <= self.entries / ENTRIES_PER_APART;
        if is_worth {
            apart.pairs().for_each(|(place, number)| {
                self.changes.entry(place).or_insert(number);
            });
        }
        is_worth
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        match self.changes.get(&index) {
            Some(entry) => *entry,
            None => self.base.as_ref().map_or(0, |base| bytemuck::cast_slice(base)[index as usize]),
        }
    }

    /// Sets an entry; returns a table of all entries if too many have changed.
    pub(super) fn set(&mut self, index: u32, entry: u32) -> Option<Entries> {
        self.changes.insert(index, entry);
        if self.changes.len() <= self.most_changes { None } else { self.alone().ok() }
    }

    /// Returns a table of its entries that shares nothing.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn alone(&self) -> std::io::Result<Entries> {
        let mut alone = take(self.entries)?;
        if let Some(base) = &self.base {
            bytemuck::cast_slice_mut::<_, u32>(&mut alone)
                .copy_from_slice(bytemuck::cast_slice(base));
        }
        let entries: &mut [u32] = bytemuck::cast_slice_mut(&mut alone);
        self.changes.iter().for_each(|(place, entry)| entries[*place as usize] = *entry);
        Ok(alone)
    }
}
