//! A map that knows which of its entries has gone unused for longest.

use std::collections::BTreeMap;

/// Entries by number, in order of their last use.
#[derive(Clone, Debug)]
pub(super) struct Lru<V> {
    /// Each with the count of uses at its last one.
    entries: BTreeMap<u64, (u64, V)>,
    by_use: BTreeMap<u64, u64>,
    uses: u64,
}

impl<V: Copy> Lru<V> {
    pub(super) fn new() -> Lru<V> {
        Lru { entries: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, key: u64) -> Option<V> {
        self.entries.get(&key).map(|(_, value)| *value)
    }

    /// Inserts or replaces an entry, which is then the one used last.
    pub(super) fn put(&mut self, key: u64, value: V) {
        self.uses += 1;
        if let Some((before, _)) = self.entries.insert(key, (self.uses, value)) {
            self.by_use.remove(&before);
        }
        self.by_use.insert(self.uses, key);
    }

    /// Removes and returns the entry that has gone unused for longest.
    pub(super) fn pop(&mut self) -> Option<(u64, V)> {
        let (_, key) = self.by_use.pop_first()?;
        let (_, value) = self.entries.remove(&key).expect("each use is of an entry");
        Some((key, value))
    }
}
