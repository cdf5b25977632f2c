//! The mapping in flash: its pages, the cache of its entries, and pending writes.

use std::collections::VecDeque;

use reprieve_base::{Archive, parts};
use reprieve_config::Scenario;
use reprieve_observe::stats::MapCounts;
use reprieve_policy::txn::NONE;

use super::cache::MapCache;

/// Bytes of an entry in flash: the physical page, at the index of the logical one.
const FLASH_ENTRY_BYTES: u32 = 4;
/// Bytes of an entry in memory: both.
const CACHE_ENTRY_BYTES: u64 = 8;

/// The mapping in flash. Its pages are logical pages after those of the host: the map has their
/// places, and collection moves them like any other.
pub struct DemandMap {
    cache: MapCache,
    logical_pages: u32,
    entries_per_page: u32,
    /// The current read of each page of the mapping, or `NONE`.
    loading: Vec<u32>,
    /// Pages of the mapping queued for writes.
    due: VecDeque<u32>,
    /// Pages of the mapping changed by the current victim, each once.
    changed_by_gc: Vec<u32>,
    is_changed_by_gc: Vec<bool>,
    counts: MapCounts,
}

/// Returns the pages of the mapping of a scenario.
pub(super) fn map_pages(scenario: &Scenario) -> u32 {
    match scenario.ftl.demand {
        None => 0,
        Some(_) => scenario.logical_pages().div_ceil(entries_per_page(scenario)),
    }
}

fn entries_per_page(scenario: &Scenario) -> u32 {
    scenario.mapping_bytes() / FLASH_ENTRY_BYTES
}

impl DemandMap {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.cache.archive(archive);
        parts!(archive; self.loading, self.due, self.changed_by_gc, self.is_changed_by_gc);
        archive.part(&mut self.counts);
    }

    /// Creates the mapping of a scenario with an empty cache; `None` if all of it is in memory.
    pub(super) fn of(scenario: &Scenario) -> Option<DemandMap> {
        let demand = scenario.ftl.demand?;
        let logical_pages = scenario.logical_pages();
        let entries = (demand.cache_bytes / CACHE_ENTRY_BYTES).min(u64::from(logical_pages));
        let pages = map_pages(scenario) as usize;
        Some(DemandMap {
            cache: MapCache::new(logical_pages, entries as u32, demand.segmented),
            logical_pages,
            entries_per_page: entries_per_page(scenario),
            loading: vec![NONE; pages],
            due: VecDeque::with_capacity(pages),
            changed_by_gc: Vec::with_capacity(pages),
            is_changed_by_gc: vec![false; pages],
            counts: MapCounts::default(),
        })
    }

    /// Returns the page of the mapping with the entry of a logical page, counted from 0.
    #[inline]
    pub(super) fn page_of(&self, lpn: u32) -> u32 {
        lpn / self.entries_per_page
    }

    /// Records a move by collection, which changes the entry of a page.
    pub(super) fn moved(&mut self, lpn: u32) {
        if lpn >= self.logical_pages || self.cache.change(lpn) {
            // The places of the pages of the mapping are always in memory.
            return;
        }
        let page = self.page_of(lpn);
        if !std::mem::replace(&mut self.is_changed_by_gc[page as usize], true) {
            self.changed_by_gc.push(page);
        }
    }

    /// Queues writes of the entries that a victim has changed, once for each page of the mapping.
    pub(super) fn victim_done(&mut self) {
        self.counts.updated_pages += self.changed_by_gc.len() as u64;
        for page in self.changed_by_gc.drain(..) {
            self.is_changed_by_gc[page as usize] = false;
            self.due.push_back(page);
        }
    }

    /// Marks the entry of a page as changed, in memory or not.
    pub(super) fn trimmed(&mut self, lpn: u32) {
        if !self.cache.change(lpn) {
            self.counts.updated_pages += 1;
            self.due.push_back(self.page_of(lpn));
        }
    }

    /// Returns the number of pages of the mapping.
    pub(super) fn pages(&self) -> u32 {
        self.loading.len() as u32
    }

    /// Returns for each page of the mapping whether its copy in flash is stale, by the mapping in
    /// memory.
    pub(super) fn stale(&self) -> Vec<bool> {
        let mut stale = self.is_changed_by_gc.clone();
        self.due.iter().for_each(|page| stale[*page as usize] = true);
        self.cache.changed().for_each(|lpn| stale[self.page_of(lpn) as usize] = true);
        stale
    }

    /// Queues writes of the pages of the mapping that a saved state has found stale.
    pub(super) fn write_anew(&mut self, pages: Vec<u32>) {
        self.due.extend(pages);
    }

    /// Uses the entry of a page for a request; false if it has to be read first.
    #[inline]
    pub fn use_entry(&mut self, lpn: u32, written: bool) -> bool {
        let hit = self.cache.access(lpn, written);
        self.counts.hits += u64::from(hit);
        self.counts.misses += u64::from(!hit);
        hit
    }

    /// Caches the entry of a page that has been read.
    pub fn entry_found(&mut self, lpn: u32, written: bool) {
        // Another request may have cached it before.
        if self.cache.access(lpn, written) {
            return;
        }
        if let Some(left) = self.cache.insert(lpn, written) {
            let page = self.page_of(left);
            let first = page * self.entries_per_page;
            let end = (first + self.entries_per_page).min(self.logical_pages);
            self.cache.clean(first..end);
            self.counts.evicted_pages += 1;
            self.due.push_back(page);
        }
    }

    /// Returns the logical page that is the page of the mapping with the entry of `lpn`.
    #[inline]
    pub fn map_page(&self, lpn: u32) -> u32 {
        self.logical_pages + self.page_of(lpn)
    }

    /// Returns the current read of a page of the mapping.
    pub fn loading(&mut self, map_lpn: u32) -> &mut u32 {
        &mut self.loading[(map_lpn - self.logical_pages) as usize]
    }

    /// Returns the next page of the mapping to be written, as a logical page.
    #[inline]
    pub fn next_due(&mut self) -> Option<u32> {
        self.due.pop_front().map(|page| self.logical_pages + page)
    }

    /// Requeues a page of the mapping for which no plane has room.
    pub fn stays_due(&mut self, map_lpn: u32) {
        self.due.push_front(map_lpn - self.logical_pages);
    }

    /// Resets the counters.
    pub(super) fn forget_counts(&mut self) {
        self.counts = MapCounts::default();
    }

    /// Returns the counters of its cache.
    pub(super) fn counts(&self) -> MapCounts {
        self.counts
    }

    /// Checks the cache.
    pub(super) fn verify(&self) -> Result<(), String> {
        self.cache.verify()
    }
}
