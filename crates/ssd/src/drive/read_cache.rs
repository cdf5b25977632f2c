//! The read cache: pages that were read, or written, and need no flash when they are read again.

use reprieve_base::Order;
use reprieve_config::{self as scenario, Eviction};
use reprieve_ftl::Mapping;
use reprieve_observe::stats::ReadCacheCounts;
use reprieve_policy::txn::NONE;

use super::Ssd;

/// Pages in slots: four bytes for each logical page of the drive, and twelve for each slot.
pub(super) struct PageCache {
    /// The slot of each logical page, or `NONE`.
    slots: Vec<u32>,
    /// The logical page in each slot.
    lpns: Vec<u32>,
    /// Slots in use, the next to be evicted first.
    order: Order,
    /// Slots that were in use and are not.
    free: Vec<u32>,
    capacity_pages: usize,
    is_lru: bool,
    fill_on_write: bool,
    counts: ReadCacheCounts,
}

impl PageCache {
    /// The cache of a scenario; `None` if it has none.
    pub(super) fn of(scenario: &scenario::Scenario) -> Option<PageCache> {
        let cache = scenario.read_cache?;
        let pages = cache.pages(scenario.logical_pages(), scenario.geometry.page_bytes);
        Some(PageCache {
            slots: vec![NONE; scenario.logical_pages() as usize],
            lpns: Vec::with_capacity(pages as usize),
            order: Order::with_capacity(pages as usize),
            free: Vec::with_capacity(pages as usize),
            capacity_pages: pages as usize,
            is_lru: cache.replacement == Eviction::Lru,
            fill_on_write: cache.fill_on_write,
            counts: ReadCacheCounts::default(),
        })
    }

    /// Whether a page is there; counts, and takes it as used.
    fn hit(&mut self, lpn: u32) -> bool {
        let slot = self.slots[lpn as usize];
        if slot == NONE {
            self.counts.misses += 1;
            return false;
        }
        self.counts.hits += 1;
        self.used(slot);
        true
    }

    fn used(&mut self, slot: u32) {
        if self.is_lru {
            self.order.renew(slot);
        }
    }

    /// Takes a page in, in place of another if there is no room.
    fn fill(&mut self, lpn: u32) {
        let slot = self.slots[lpn as usize];
        if slot != NONE {
            self.used(slot);
            return;
        }
        let slot = self.room();
        self.slots[lpn as usize] = slot;
        self.lpns[slot as usize] = lpn;
        self.order.push(slot);
    }

    /// A slot that is not in use.
    fn room(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        if self.lpns.len() < self.capacity_pages {
            self.lpns.push(NONE);
            return self.lpns.len() as u32 - 1;
        }
        let slot = self.order.first().expect("a full cache has a page to evict");
        self.order.remove(slot);
        self.slots[self.lpns[slot as usize] as usize] = NONE;
        self.counts.evictions += 1;
        slot
    }

    /// A page's data is not that of the flash any more.
    fn forget(&mut self, lpn: u32) {
        let slot = std::mem::replace(&mut self.slots[lpn as usize], NONE);
        if slot != NONE {
            self.order.remove(slot);
            self.free.push(slot);
        }
    }

    /// Checks slots and pages against each other, and against what the drive `holds`.
    pub(super) fn verify(&self, holds: impl Fn(u32) -> Mapping) -> Result<(), String> {
        let mut pages = 0;
        for (lpn, slot) in (0..).zip(self.slots.iter().copied()).filter(|(_, slot)| *slot != NONE) {
            pages += 1;
            if self.lpns.get(slot as usize) != Some(&lpn) || !self.order.contains(slot) {
                return Err(format!(
                    "logical page {lpn} is in slot {slot}, which does not hold it"
                ));
            }
            let is_old = match holds(lpn) {
                Mapping::Trimmed => true,
                Mapping::Buffered(_) => !self.fill_on_write,
                Mapping::Flash(_) | Mapping::Unwritten => false,
            };
            if is_old {
                return Err(format!(
                    "logical page {lpn} is there and was written or trimmed since"
                ));
            }
        }
        let (used, free) = (self.order.count(), self.free.len() as u64);
        let made = self.lpns.len() as u64;
        if pages != used || used + free != made || made > self.capacity_pages as u64 {
            return Err(format!(
                "{pages} pages in {used} slots, {free} are free of {made}, and {} may be used",
                self.capacity_pages
            ));
        }
        Ok(())
    }

    /// A page that the cache holds.
    #[cfg(test)]
    pub(super) fn a_page(&self) -> u32 {
        self.lpns[self.order.first().expect("a page is there") as usize]
    }

    /// Says of a page that it is where another is.
    #[cfg(test)]
    pub(super) fn mix_up(&mut self) {
        let lpn = self.a_page() as usize;
        let other = (lpn + 1) % self.slots.len();
        self.slots[other] = std::mem::replace(&mut self.slots[lpn], NONE);
    }

    /// Forgets a page and keeps its slot from the others.
    #[cfg(test)]
    pub(super) fn lose_slot(&mut self) {
        let lpn = self.a_page();
        self.slots[lpn as usize] = NONE;
    }
}

impl Ssd {
    /// Whether the cache answers a read that else goes to the flash.
    #[inline]
    pub(super) fn is_cached(&mut self, lpn: u32) -> bool {
        self.buffer.read_cache.as_mut().is_some_and(|cache| cache.hit(lpn))
    }

    /// Whether the cache has a page, which no request for it has used yet.
    pub(super) fn has_cached(&self, lpn: u32) -> bool {
        self.buffer.read_cache.as_ref().is_some_and(|cache| cache.slots[lpn as usize] != NONE)
    }

    /// The old page under a write of part of it came from the cache.
    pub(super) fn cache_saved_a_read(&mut self) {
        self.buffer.read_cache.as_mut().expect("it held the page").counts.rmw_hits += 1;
    }

    /// A page was read from the flash: into the cache, unless its data has changed meanwhile, or
    /// only a part of it has left its die.
    #[cold]
    pub(super) fn cache_read(&mut self, id: u32) {
        let txn = &self.flash.txns[id];
        let Some(cache) = &mut self.buffer.read_cache else { return };
        let is_newest = match self.ftl.lookup(txn.lpn) {
            Mapping::Flash(page) => self.ftl.locate_page(page) == (txn.die, txn.at),
            Mapping::Unwritten => true,
            Mapping::Buffered(_) | Mapping::Trimmed => false,
        };
        let page_bytes = self.scenario.geometry.page_bytes;
        let unit_bytes = self.scenario.channel.transfer_unit_bytes;
        let left = txn.out_units.zip(unit_bytes).map(|(units, bytes)| units.get() * bytes);
        let is_whole = left.is_none_or(|bytes| bytes == page_bytes);
        if is_newest && is_whole && !txn.lost {
            cache.fill(txn.lpn);
        }
    }

    /// A page, or a part of it, is written.
    #[inline]
    pub(super) fn cache_write(&mut self, lpn: u32, is_whole: bool) {
        let Some(cache) = &mut self.buffer.read_cache else { return };
        if !cache.fill_on_write {
            cache.forget(lpn);
        } else if is_whole || cache.slots[lpn as usize] != NONE {
            cache.fill(lpn);
        }
    }

    /// A page is trimmed.
    #[inline]
    pub(super) fn cache_trim(&mut self, lpn: u32) {
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.forget(lpn);
        }
    }

    /// Forgets what has been counted.
    pub(super) fn forget_read_cache_counts(&mut self) {
        self.buffer
            .read_cache
            .iter_mut()
            .for_each(|cache| cache.counts = ReadCacheCounts::default());
    }

    /// What the cache has counted, if there is one.
    pub(super) fn read_cache_counts(&self) -> Option<ReadCacheCounts> {
        self.buffer.read_cache.as_ref().map(|cache| cache.counts)
    }
}
