//! Metrics and control connections, limited in number and duration.

use crate::clock::Wall;
use crate::side::Side;
use crate::slots::{Key, Slots};

/// Limit on their number.
const SIDES_MAX: usize = 16;

/// The open connections.
pub(crate) struct Sides(Slots<Side>);

impl Sides {
    pub(crate) fn new() -> Sides {
        Sides(Slots::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a connection; returns its key, and whether another was closed for it.
    ///
    /// The oldest connection without a request is closed first, so that none that has sent one
    /// waits for those that have not.
    pub(crate) fn open(&mut self, side: Side) -> (Key, bool) {
        let is_full = self.0.len() >= SIDES_MAX;
        if is_full {
            let keys = self.0.keys().into_iter();
            let order = |side: &mut Side| (side.is_answered, side.opened);
            let first = keys.min_by_key(|key| self.0.get_mut(*key).map(order));
            first.into_iter().for_each(|key| self.close(key));
        }
        (self.0.insert(side), is_full)
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut Side> {
        self.0.get_mut(key)
    }

    /// Takes a connection out, and reserves its place.
    pub(crate) fn take(&mut self, key: Key) -> Option<Side> {
        self.0.take(key)
    }

    pub(crate) fn put_back(&mut self, key: Key, side: Side) {
        self.0.put_back(key, side);
    }

    pub(crate) fn close(&mut self, key: Key) {
        self.0.remove(key);
    }

    /// Closes connections opened before an instant.
    pub(crate) fn close_before(&mut self, instant: Wall) {
        for key in self.0.keys() {
            if self.0.get_mut(key).is_some_and(|side| side.opened < instant) {
                self.close(key);
            }
        }
    }
}
