//! The mapping in flash: its pages, the cache of its entries, and what has to be written of it.

use std::collections::VecDeque;

use reprieve_base::UserError;
use reprieve_config::Scenario;
use reprieve_observe::stats::MapCounts;
use reprieve_policy::txn::NONE;
use reprieve_state::State;

use super::cache::MapCache;
use super::{Ftl, Mapping};

/// Columns of a saved state: where the pages of the mapping are, and which of them are stale.
pub(super) const MAP_PAGES: &str = "map.pages";
pub(super) const MAP_STALE: &str = "map.stale";
/// Bytes of an entry in flash: the physical page, its place says of which logical one.
const FLASH_ENTRY_BYTES: u32 = 4;
/// Bytes of an entry in memory: both.
const CACHE_ENTRY_BYTES: u64 = 8;

/// Pages of the mapping are logical pages behind those of the host: the same map says where they
/// are, and collection moves them like any other.
pub(super) struct DemandMap {
    cache: MapCache,
    logical_pages: u32,
    entries_per_page: u32,
    /// Of each page of the mapping the read that is under way, or `NONE`.
    loading: Vec<u32>,
    /// Pages of the mapping that have to be written.
    due: VecDeque<u32>,
    /// Those that collection has made so since a victim was last done with, each once.
    changed_by_gc: Vec<u32>,
    is_changed_by_gc: Vec<bool>,
    counts: MapCounts,
}

/// Pages of the mapping of a scenario.
pub(super) fn map_pages(scenario: &Scenario) -> u32 {
    match scenario.ftl.demand {
        None => 0,
        Some(_) => scenario.logical_pages().div_ceil(entries_per_page(scenario)),
    }
}

fn entries_per_page(scenario: &Scenario) -> u32 {
    scenario.geometry.page_bytes / FLASH_ENTRY_BYTES
}

impl DemandMap {
    /// The mapping of a scenario, of which nothing is in memory; `None` if all of it always is.
    ///
    /// Errors if its tables do not fit into memory.
    pub(super) fn of(scenario: &Scenario) -> Result<Option<DemandMap>, UserError> {
        let Some(demand) = scenario.ftl.demand else { return Ok(None) };
        let logical_pages = scenario.logical_pages();
        let entries = (demand.cache_bytes / CACHE_ENTRY_BYTES).min(u64::from(logical_pages));
        let pages = map_pages(scenario) as usize;
        Ok(Some(DemandMap {
            cache: MapCache::new(logical_pages, entries as u32, demand.segmented)?,
            logical_pages,
            entries_per_page: entries_per_page(scenario),
            loading: vec![NONE; pages],
            due: VecDeque::with_capacity(pages),
            changed_by_gc: Vec::with_capacity(pages),
            is_changed_by_gc: vec![false; pages],
            counts: MapCounts::default(),
        }))
    }

    /// The page of the mapping with the entry of a logical page, counted from 0.
    #[inline]
    fn page_of(&self, lpn: u32) -> u32 {
        lpn / self.entries_per_page
    }

    /// Collection has moved a page, so that its entry has changed.
    pub(super) fn moved(&mut self, lpn: u32) {
        if lpn >= self.logical_pages || self.cache.change(lpn) {
            // Where the pages of the mapping are is always in memory.
            return;
        }
        let page = self.page_of(lpn);
        if !std::mem::replace(&mut self.is_changed_by_gc[page as usize], true) {
            self.changed_by_gc.push(page);
        }
    }

    /// A victim is done with: what has changed by it is written, each page of the mapping once.
    pub(super) fn victim_done(&mut self) {
        self.counts.updated_pages += self.changed_by_gc.len() as u64;
        for page in self.changed_by_gc.drain(..) {
            self.is_changed_by_gc[page as usize] = false;
            self.due.push_back(page);
        }
    }

    /// The entry of a page has changed, whether or not it is in memory.
    pub(super) fn trimmed(&mut self, lpn: u32) {
        if !self.cache.change(lpn) {
            self.counts.updated_pages += 1;
            self.due.push_back(self.page_of(lpn));
        }
    }
}

impl DemandMap {
    /// Whether what is stored of each page of the mapping is not what it should be, as far as the
    /// mapping in memory knows.
    fn stale(&self) -> Vec<bool> {
        let mut stale = self.is_changed_by_gc.clone();
        self.due.iter().for_each(|page| stale[*page as usize] = true);
        self.cache.changed().for_each(|lpn| stale[self.page_of(lpn) as usize] = true);
        stale
    }
}

impl Ftl {
    /// Adds the pages of a mapping in flash to a saved state, if there are any: `entry` says where
    /// each logical page will be found, those of the mapping too. Stale are those with an entry
    /// that has changed or is changed by that, and those that are just being written.
    pub(super) fn save_map_pages(&self, state: &mut State, entry: impl Fn(u32) -> u32) {
        let Some(demand) = &self.demand else { return };
        let mut stale = demand.stale();
        for lpn in 0..demand.logical_pages {
            stale[demand.page_of(lpn) as usize] |= entry(lpn) != self.map.peek(lpn);
        }
        let map_lpns = demand.logical_pages..self.all_pages();
        for (lpn, stale) in map_lpns.clone().zip(&mut stale) {
            *stale |= matches!(self.map.get(lpn), Mapping::Buffered(_));
        }
        state.put(MAP_PAGES, map_lpns.map(entry).collect());
        let stale = (0..).zip(stale).filter_map(|(page, stale)| stale.then_some(page));
        state.put(MAP_STALE, stale.collect());
    }

    /// Pages of the mapping that a saved state has found stale are due.
    pub(super) fn write_anew(&mut self, pages: Vec<u32>) {
        self.demand_mut().due.extend(pages);
    }

    /// Whether the mapping is in flash.
    #[inline]
    pub fn maps_on_demand(&self) -> bool {
        self.demand.is_some()
    }

    fn demand_mut(&mut self) -> &mut DemandMap {
        self.demand.as_mut().expect("asked only where the mapping is in flash")
    }

    /// A request needs the entry of a page; false if it has to be found first.
    #[inline]
    pub fn use_entry(&mut self, lpn: u32, written: bool) -> bool {
        let demand = self.demand_mut();
        let hit = demand.cache.access(lpn, written);
        demand.counts.hits += u64::from(hit);
        demand.counts.misses += u64::from(!hit);
        hit
    }

    /// The entry of a page has been found.
    pub fn entry_found(&mut self, lpn: u32, written: bool) {
        let demand = self.demand_mut();
        // Another request may have found it before.
        if demand.cache.access(lpn, written) {
            return;
        }
        if let Some(left) = demand.cache.insert(lpn, written) {
            let page = demand.page_of(left);
            let first = page * demand.entries_per_page;
            let end = (first + demand.entries_per_page).min(demand.logical_pages);
            demand.cache.clean(first..end);
            demand.counts.evicted_pages += 1;
            demand.due.push_back(page);
        }
    }

    /// The logical page that stands for the page of the mapping with the entry of `lpn`.
    #[inline]
    pub fn map_page(&self, lpn: u32) -> u32 {
        let demand = self.demand.as_ref().expect("asked only where the mapping is in flash");
        demand.logical_pages + demand.page_of(lpn)
    }

    /// The read of a page of the mapping that is under way.
    pub fn loading(&mut self, map_lpn: u32) -> &mut u32 {
        let demand = self.demand_mut();
        &mut demand.loading[(map_lpn - demand.logical_pages) as usize]
    }

    /// The next page of the mapping that has to be written, as a logical page.
    #[inline]
    pub fn next_due(&mut self) -> Option<u32> {
        let demand = self.demand.as_mut()?;
        demand.due.pop_front().map(|page| demand.logical_pages + page)
    }

    /// No plane has room for a page of the mapping yet: it stays due.
    pub fn stays_due(&mut self, map_lpn: u32) {
        let demand = self.demand_mut();
        demand.due.push_front(map_lpn - demand.logical_pages);
    }

    /// Forgets what has been counted.
    pub fn forget_map_counts(&mut self) {
        self.demand.iter_mut().for_each(|demand| demand.counts = MapCounts::default());
    }

    /// What the cache of the mapping has counted, if the mapping is in flash.
    pub fn map_counts(&self) -> Option<MapCounts> {
        self.demand.as_ref().map(|demand| demand.counts)
    }

    /// Logical pages of the host, and those that stand for the mapping.
    pub fn all_pages(&self) -> u32 {
        self.map.logical_pages()
    }

    /// Checks the cache of the mapping, if there is one.
    pub(super) fn verify_cache(&self) -> Result<(), String> {
        self.demand.as_ref().map_or(Ok(()), |demand| demand.cache.verify())
    }

    /// The mapping of a page that collection has moved, where the flash has the newest data.
    #[inline]
    pub(super) fn set_moved(&mut self, lpn: u32, target: u32) {
        self.map.set(lpn, Mapping::Flash(target));
        if let Some(demand) = &mut self.demand {
            demand.moved(lpn);
        }
    }
}
