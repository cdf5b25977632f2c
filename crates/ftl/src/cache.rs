//! Entries of the mapping in memory: least recently used, in one segment or two.

use std::ops::Range;

use lru::LruCache;
use reprieve_base::Archive;
use rustc_hash::FxBuildHasher;

/// Logical pages by last use.
type Segment = LruCache<u32, (), FxBuildHasher>;

/// Entries that are in memory. Their values are in the map itself.
#[derive(Debug)]
pub(super) struct MapCache {
    /// Entries used once, and entries used again.
    once: Segment,
    again: Segment,
    /// One bit a logical page: its entry is cached, and has changed since its page of the mapping
    /// was written.
    changed: Vec<u64>,
    capacity: usize,
    /// Entries used again in the protected segment; 0: one segment.
    again_max: usize,
}

impl MapCache {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.table(bytemuck::cast_slice_mut(&mut self.changed));
        for segment in [&mut self.once, &mut self.again] {
            let mut lpns: Vec<u32> = segment.iter().rev().map(|(lpn, ())| *lpn).collect();
            archive.part(&mut lpns);
            if archive.is_loading() {
                segment.clear();
                for lpn in lpns {
                    segment.put(lpn, ());
                }
            }
        }
        archive.refuse_unless(self.verify().is_ok());
    }

    /// Creates an empty cache.
    pub(super) fn new(logical_pages: u32, capacity: u32, segmented: bool) -> MapCache {
        MapCache {
            once: LruCache::unbounded_with_hasher(FxBuildHasher),
            again: LruCache::unbounded_with_hasher(FxBuildHasher),
            changed: vec![0; logical_pages.div_ceil(u64::BITS) as usize],
            capacity: capacity as usize,
            again_max: if segmented { capacity as usize / 2 } else { 0 },
        }
    }

    /// Uses the entry of a page, and marks it changed if `written`; false if it is not cached.
    #[inline]
    pub(super) fn access(&mut self, lpn: u32, written: bool) -> bool {
        if self.again_max == 0 {
            return self.once.get(&lpn).is_some() && self.set_changed(lpn, written);
        }
        if self.again.get(&lpn).is_none() {
            if self.once.pop(&lpn).is_none() {
                return false;
            }
            self.again.put(lpn, ());
            if self.again.len() > self.again_max {
                let (oldest, ()) = self.again.pop_lru().expect("one was just put there");
                self.once.put(oldest, ());
            }
        }
        self.set_changed(lpn, written)
    }

    /// Marks the entry of a page as changed without using it; false if it is not cached.
    #[inline]
    pub(super) fn change(&mut self, lpn: u32) -> bool {
        let is_cached = self.once.contains(&lpn) || self.again.contains(&lpn);
        is_cached && self.set_changed(lpn, true)
    }

    /// Inserts the entry of a page; returns the page of an evicted changed entry.
    pub(super) fn insert(&mut self, lpn: u32, written: bool) -> Option<u32> {
        let is_full = self.once.len() + self.again.len() == self.capacity;
        let oldest = || self.once.pop_lru().or_else(|| self.again.pop_lru());
        let left = is_full.then(oldest).flatten();
        self.once.put(lpn, ());
        self.set_changed(lpn, written);
        let left = left.map(|(lpn, ())| lpn).filter(|lpn| self.is_changed(*lpn));
        left.iter().for_each(|lpn| self.clean(*lpn..*lpn + 1));
        left
    }

    /// Returns the logical pages whose entries differ from their pages of the mapping.
    pub(super) fn changed(&self) -> impl Iterator<Item = u32> {
        let all = self.once.iter().chain(self.again.iter()).map(|(lpn, ())| *lpn);
        all.filter(|lpn| self.is_changed(*lpn))
    }

    /// Marks the entries of these pages as written.
    pub(super) fn clean(&mut self, lpns: Range<u32>) {
        for lpn in lpns {
            self.changed[(lpn / u64::BITS) as usize] &= !(1 << (lpn % u64::BITS));
        }
    }

    /// Checks that no entry is cached twice, no more than there may be, and none changed besides.
    pub(super) fn verify(&self) -> Result<(), String> {
        let (once, again) = (self.once.len(), self.again.len());
        let twice = self.once.iter().find(|(lpn, ())| self.again.contains(*lpn));
        if let Some((lpn, ())) = twice {
            return Err(format!("the entry of page {lpn} is cached in both segments"));
        }
        if once + again > self.capacity || again > self.again_max {
            return Err(format!("{once} and {again} entries are cached of {}", self.capacity));
        }
        let changed = self.changed.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        match changed == self.changed().count() {
            true => Ok(()),
            false => Err(format!("{changed} entries are changed, and not all of them cached")),
        }
    }

    fn is_changed(&self, lpn: u32) -> bool {
        let word = self.changed.get((lpn / u64::BITS) as usize);
        word.is_some_and(|word| word & (1 << (lpn % u64::BITS)) != 0)
    }

    /// Marks the entry of a page as changed if it is `written`; returns true.
    #[inline]
    fn set_changed(&mut self, lpn: u32, written: bool) -> bool {
        self.changed[(lpn / u64::BITS) as usize] |= u64::from(written) << (lpn % u64::BITS);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(capacity: u32, segmented: bool) -> MapCache {
        MapCache::new(100, capacity, segmented)
    }

    /// Returns the pages whose entries are cached, out of the first few.
    fn here(cache: &MapCache) -> Vec<u32> {
        (0..10).filter(|lpn| cache.once.contains(lpn) || cache.again.contains(lpn)).collect()
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
