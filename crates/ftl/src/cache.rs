//! Entries of the mapping in memory: least recently used, in one segment or two.

use reprieve_base::{Archive, UserError, parts};
use reprieve_policy::txn::NONE;

use super::table::Table;

/// Segments: entries used once, and entries used again.
const ONCE: usize = 0;
const AGAIN: usize = 1;

/// An entry in the cache, linked with its neighbours in the segment by last use.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Slot {
    lpn: u32,
    newer: u32,
    older: u32,
    segment: u8,
    /// Changed since its page of the mapping was written.
    changed: bool,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Segment {
    newest: u32,
    oldest: u32,
    len: u32,
}

/// Entries that are in memory. Their values are in the map itself.
#[derive(Debug)]
pub(super) struct MapCache {
    slots: Vec<Slot>,
    capacity: u32,
    /// The slot of each logical page, or `NONE`.
    slot_of: Table<NONE>,
    segments: [Segment; 2],
    /// Entries used again in the protected segment; 0: one segment.
    again_max: u32,
}

impl MapCache {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.slot_of.archive(archive);
        parts!(archive; self.slots, self.segments);
    }

    /// Creates an empty cache. Errors if memory is short.
    pub(super) fn new(
        logical_pages: u32,
        capacity: u32,
        segmented: bool,
    ) -> Result<MapCache, UserError> {
        let empty = Segment { newest: NONE, oldest: NONE, len: 0 };
        Ok(MapCache {
            slots: Vec::with_capacity(capacity as usize),
            capacity,
            slot_of: Table::new(logical_pages)?,
            segments: [empty; 2],
            again_max: if segmented { capacity / 2 } else { 0 },
        })
    }

    /// Uses the entry of a page, and marks it changed if `written`; false if it is not cached.
    #[inline]
    pub(super) fn access(&mut self, lpn: u32, written: bool) -> bool {
        let slot = self.slot_of.get(lpn);
        if slot == NONE {
            return false;
        }
        self.slots[slot as usize].changed |= written;
        self.unlink(slot);
        if self.again_max == 0 {
            self.link(slot, ONCE);
            return true;
        }
        self.link(slot, AGAIN);
        if self.segments[AGAIN].len > self.again_max {
            let oldest = self.segments[AGAIN].oldest;
            self.unlink(oldest);
            self.link(oldest, ONCE);
        }
        true
    }

    /// Marks the entry of a page as changed without using it; false if it is not cached.
    #[inline]
    pub(super) fn change(&mut self, lpn: u32) -> bool {
        let slot = self.slot_of.get(lpn);
        if slot != NONE {
            self.slots[slot as usize].changed = true;
        }
        slot != NONE
    }

    /// Inserts the entry of a page; returns the page of an evicted changed entry.
    pub(super) fn insert(&mut self, lpn: u32, written: bool) -> Option<u32> {
        let entry = Slot { lpn, newer: NONE, older: NONE, segment: 0, changed: written };
        if (self.slots.len() as u32) < self.capacity {
            self.slots.push(entry);
            let slot = self.slots.len() as u32 - 1;
            self.slot_of.set(lpn, slot);
            self.link(slot, ONCE);
            return None;
        }
        let segment = if self.segments[ONCE].len > 0 { ONCE } else { AGAIN };
        let slot = self.segments[segment].oldest;
        self.unlink(slot);
        let left = std::mem::replace(&mut self.slots[slot as usize], entry);
        self.slot_of.set(left.lpn, NONE);
        self.slot_of.set(lpn, slot);
        self.link(slot, ONCE);
        left.changed.then_some(left.lpn)
    }

    /// Returns the logical pages whose entries differ from their pages of the mapping.
    pub(super) fn changed(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().filter(|slot| slot.changed).map(|slot| slot.lpn)
    }

    /// Marks the entries of these pages as written.
    pub(super) fn clean(&mut self, lpns: std::ops::Range<u32>) {
        for lpn in lpns {
            let slot = self.slot_of.get(lpn);
            if slot != NONE {
                self.slots[slot as usize].changed = false;
            }
        }
    }

    /// Checks that every entry is in its slot, and in one segment once.
    pub(super) fn verify(&self) -> Result<(), String> {
        for (slot, entry) in (0..).zip(&self.slots) {
            if self.slot_of.get(entry.lpn) != slot {
                return Err(format!("the entry of page {} is cached, and not found", entry.lpn));
            }
        }
        let mut linked = 0;
        for (number, segment) in (0u8..).zip(&self.segments) {
            let mut slot = segment.newest;
            for _ in 0..segment.len {
                match self.slots.get(slot as usize) {
                    Some(entry) if entry.segment == number => slot = entry.older,
                    _ => return Err(format!("segment {number} of the cache is not linked")),
                }
            }
            if slot != NONE {
                return Err(format!("segment {number} of the cache has no end"));
            }
            linked += segment.len as usize;
        }
        match linked == self.slots.len() && linked <= self.capacity as usize {
            true => Ok(()),
            false => Err(format!("{linked} of {} cached entries are linked", self.slots.len())),
        }
    }

    #[inline]
    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, segment, .. } = self.slots[slot as usize];
        let segment = &mut self.segments[usize::from(segment)];
        segment.len -= 1;
        match newer {
            NONE => segment.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => segment.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    /// Inserts as the newest of a segment.
    #[inline]
    fn link(&mut self, slot: u32, number: usize) {
        let segment = &mut self.segments[number];
        let older = std::mem::replace(&mut segment.newest, slot);
        segment.len += 1;
        match older {
            NONE => segment.oldest = slot,
            older => self.slots[older as usize].newer = slot,
        }
        let entry = &mut self.slots[slot as usize];
        (entry.newer, entry.older, entry.segment) = (NONE, older, number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(capacity: u32, segmented: bool) -> MapCache {
        MapCache::new(100, capacity, segmented).expect("room for a hundred entries")
    }

    /// Returns the pages whose entries are cached, out of the first few.
    fn here(cache: &MapCache) -> Vec<u32> {
        (0..10).filter(|lpn| cache.slot_of.get(*lpn) != NONE).collect()
    }

    #[test]
    fn the_least_recently_used_leaves() {
        let mut cache = cache(3, false);
        for lpn in [1, 2, 3] {
            assert!(!cache.access(lpn, false));
            assert_eq!(cache.insert(lpn, lpn == 2), None);
        }
        assert!(cache.access(1, false));
        assert_eq!(cache.insert(4, false), Some(2), "it was changed");
        assert_eq!(cache.insert(5, false), None, "3 was not");
        assert_eq!(here(&cache), [1, 4, 5]);
        assert!(cache.access(1, true) && cache.change(4) && !cache.change(3));
        cache.clean(0..2);
        assert_eq!(cache.insert(6, false), Some(4));
        assert_eq!(cache.insert(7, false), None);
        assert_eq!(cache.insert(8, false), None, "1 was written");
        assert_eq!(here(&cache), [6, 7, 8]);
    }

    #[test]
    fn half_is_kept_for_those_used_again() {
        let mut cache = cache(4, true);
        for lpn in [0, 1, 2, 3] {
            cache.insert(lpn, false);
        }
        // 0 and 1 are used again. A scan evicts the others only.
        assert!(cache.access(0, false) && cache.access(1, false));
        for lpn in [4, 5, 6] {
            cache.insert(lpn, false);
        }
        assert_eq!(here(&cache), [0, 1, 5, 6]);
        // A third demotes the one used longest ago to the newest of the others.
        assert!(cache.access(6, false));
        cache.insert(7, false);
        assert_eq!(here(&cache), [0, 1, 6, 7]);
        cache.insert(8, false);
        assert_eq!(here(&cache), [1, 6, 7, 8]);
    }

    #[test]
    fn a_list_says_the_same() {
        // Against a list in order of use, for one segment.
        let mut stream = reprieve_base::Stream::new(2, "test.cache", 0);
        let (mut cache, mut list) = (cache(7, false), Vec::new());
        for _ in 0..5_000 {
            assert_eq!(cache.verify(), Ok(()));
            let lpn = stream.below(20) as u32;
            let written = stream.below(3) == 0;
            let found = list.iter().position(|(other, _)| *other == lpn);
            assert_eq!(cache.access(lpn, written), found.is_some());
            match found {
                Some(index) => {
                    let (_, changed) = list.remove(index);
                    list.push((lpn, changed || written));
                }
                None => {
                    let left = if list.len() == 7 { Some(list.remove(0)) } else { None };
                    let changed = left.filter(|(_, changed)| *changed).map(|(lpn, _)| lpn);
                    assert_eq!(cache.insert(lpn, written), changed);
                    list.push((lpn, written));
                }
            }
        }
    }
}
