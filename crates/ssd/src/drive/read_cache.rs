//! The read cache: recently read or written pages, whose next reads need no flash.

use reprieve_base::{Archive, Order, parts};
use reprieve_config::{self as scenario, Eviction};
use reprieve_ftl::{Ftl, Mapping};
use reprieve_observe::stats::ReadCacheCounts;
use reprieve_policy::txn::{NONE, Txn};

/// Pages in slots: four bytes for each logical page of the drive, and twelve for each slot.
pub(super) struct PageCache {
    /// The slot of each logical page, or `NONE`.
    slots: Vec<u32>,
    /// The logical page in each slot.
    lpns: Vec<u32>,
    /// Slots in use, the next to be evicted first.
    order: Order,
    /// Free slots that were in use.
    free: Vec<u32>,
    capacity_pages: usize,
    is_lru: bool,
    fill_on_write: bool,
    /// Transfer units of a whole page; `None`: pages are transferred whole.
    units: Option<u32>,
    pub(super) counts: ReadCacheCounts,
}

impl PageCache {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.slots, self.lpns, self.order, self.free, self.counts);
    }

    /// Creates the cache of a scenario; `None` if it has none.
    pub(super) fn of(scenario: &scenario::Scenario) -> Option<PageCache> {
        let cache = scenario.read_cache?;
        let pages = cache.pages(scenario.logical_pages(), scenario.mapping_bytes());
        Some(PageCache {
            slots: vec![NONE; scenario.logical_pages() as usize],
            lpns: Vec::with_capacity(pages as usize),
            order: Order::with_capacity(pages as usize),
            free: Vec::with_capacity(pages as usize),
            capacity_pages: pages as usize,
            is_lru: cache.replacement == Eviction::Lru,
            fill_on_write: cache.fill_on_write,
            units: scenario.transfer_unit_bytes().map(|bytes| scenario.mapping_bytes() / bytes),
            counts: ReadCacheCounts::default(),
        })
    }

    /// Whether a page is cached; does not count as use.
    pub(super) fn has(&self, lpn: u32) -> bool {
        self.slots[lpn as usize] != NONE
    }

    /// Whether a page is cached; counts, and marks it as used.
    pub(super) fn hit(&mut self, lpn: u32) -> bool {
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

    /// Adds a page that was read from flash, unless its data has changed meanwhile or only a part
    /// of it has left its die.
    #[cold]
    pub(super) fn page_read(&mut self, txn: &Txn, ftl: &Ftl) {
        let is_newest = match ftl.tables.map.get(txn.lpn) {
            Mapping::Flash(page) => ftl.numbering.locate(page) == (txn.die, txn.at),
            Mapping::Unwritten => true,
            Mapping::Buffered(_) | Mapping::Trimmed => false,
        };
        let is_whole = txn.out_units.is_none_or(|left| Some(left.get()) == self.units);
        if is_newest && is_whole && !txn.lost {
            self.fill(txn.lpn);
        }
    }

    /// Handles a write of a page, or of a part of it.
    #[inline]
    pub(super) fn page_written(&mut self, lpn: u32, is_whole: bool) {
        if !self.fill_on_write {
            self.forget(lpn);
        } else if is_whole || self.has(lpn) {
            self.fill(lpn);
        }
    }

    /// Inserts a page, in place of another if the cache is full.
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

    /// Returns a free slot.
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

    /// Removes a page whose data differs from the flash.
    pub(super) fn forget(&mut self, lpn: u32) {
        let slot = std::mem::replace(&mut self.slots[lpn as usize], NONE);
        if slot != NONE {
            self.order.remove(slot);
            self.free.push(slot);
        }
    }

    /// Checks slots and pages against each other, and against the drive's mapping.
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

    /// Returns a cached page.
    #[cfg(test)]
    pub(super) fn a_page(&self) -> u32 {
        self.lpns[self.order.first().expect("a page is there") as usize]
    }

    /// Points a page to the slot of another.
    #[cfg(test)]
    pub(super) fn mix_up(&mut self) {
        let lpn = self.a_page() as usize;
        let other = (lpn + 1) % self.slots.len();
        self.slots[other] = std::mem::replace(&mut self.slots[lpn], NONE);
    }

    /// Removes a page without freeing its slot.
    #[cfg(test)]
    pub(super) fn lose_slot(&mut self) {
        let lpn = self.a_page();
        self.slots[lpn as usize] = NONE;
    }
}
