//! All conversations beside the drive's: so many at a time, and none for long.

use crate::clock::Wall;
use crate::side::Side;
use crate::slots::{Key, Slots};

/// So many at once.
const SIDES_MAX: usize = 16;

/// Those that are open.
pub(crate) struct Sides(Slots<Side>);

impl Sides {
    pub(crate) fn new() -> Sides {
        Sides(Slots::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes one up, and says whether another one had to make room.
    ///
    /// Who connected first and has not put its question yet loses its place, so that nobody who
    /// asks waits for those who do not.
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

    /// Takes one out, which keeps its place.
    pub(crate) fn take(&mut self, key: Key) -> Option<Side> {
        self.0.take(key)
    }

    pub(crate) fn put_back(&mut self, key: Key, side: Side) {
        self.0.put_back(key, side);
    }

    pub(crate) fn close(&mut self, key: Key) {
        self.0.remove(key);
    }

    /// Closes those that were opened before an instant.
    pub(crate) fn close_before(&mut self, instant: Wall) {
        for key in self.0.keys() {
            if self.0.get_mut(key).is_some_and(|side| side.opened < instant) {
                self.close(key);
            }
        }
    }
}
