//! The mapping: the place of each logical page's data, four bytes an entry.

use std::sync::Arc;

use reprieve_base::{Archive, UserError};
use reprieve_config::Scenario;
use reprieve_observe::stats::MapCounts;
use reprieve_state::State;

use super::contradiction::wrong;
use super::demand::{self, DemandMap};
use super::page_names::Names;
use super::table::Table;

/// Columns of a saved state: places of host pages and of pages of the mapping, and stale ones of
/// these.
const PAGES: &str = "map.physical";
const MAP_PAGES: &str = "map.pages";
const MAP_STALE: &str = "map.stale";

/// An entry of the logical-to-physical table, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// The newest data is in the write buffer, in this write's transaction.
    Buffered(u32),
    /// The data is in this flash page, counted over the drive.
    Flash(u32),
    /// Never written: the data is part of the drive's initial image.
    Unwritten,
    /// Trimmed: reads as zeros.
    Trimmed,
}

const BUFFERED: u32 = 1 << 31;
const UNWRITTEN: u32 = BUFFERED - 1;
const TRIMMED: u32 = BUFFERED - 2;

impl Mapping {
    #[inline]
    fn encode(self) -> u32 {
        match self {
            Mapping::Buffered(id) => {
                assert!(id < BUFFERED, "more than 2^31 transactions in flight");
                id | BUFFERED
            }
            Mapping::Flash(page) => page,
            Mapping::Unwritten => UNWRITTEN,
            Mapping::Trimmed => TRIMMED,
        }
    }

    #[inline]
    pub(super) fn decode(entry: u32) -> Mapping {
        match entry {
            UNWRITTEN => Mapping::Unwritten,
            TRIMMED => Mapping::Trimmed,
            entry if entry & BUFFERED != 0 => Mapping::Buffered(entry & !BUFFERED),
            page => Mapping::Flash(page),
        }
    }
}

/// Places of logical pages, and of pages of the mapping if that is in flash.
pub struct Map {
    pub(super) physical: Table<UNWRITTEN>,
    /// Places of pages that have not changed since the preparation, if the drive was prepared.
    prepared: Option<Arc<Names>>,
    /// Pages of the host; pages of the mapping follow.
    logical_pages: u32,
    /// The mapping in flash, if any.
    demand: Option<DemandMap>,
}

impl Map {
    /// Returns the prepared places, if any.
    pub(super) fn prepared(&self) -> Option<&Names> {
        self.prepared.as_deref()
    }

    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.physical.archive(archive);
        if let Some(demand) = &mut self.demand {
            demand.archive(archive);
        }
    }

    /// Creates the map of a scenario with every page unwritten, and no mapping in flash cached.
    ///
    /// Errors if memory is short.
    pub(super) fn new(scenario: &Scenario) -> Result<Map, UserError> {
        let logical_pages = scenario.logical_pages();
        Ok(Map {
            physical: Table::new(logical_pages + demand::map_pages(scenario))?,
            prepared: None,
            logical_pages,
            demand: DemandMap::of(scenario),
        })
    }

    /// Returns the logical pages of the drive.
    #[inline]
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Returns the logical pages of the host and of the mapping.
    pub fn all_pages(&self) -> u32 {
        self.logical_pages + self.demand.as_ref().map_or(0, DemandMap::pages)
    }

    /// Returns the place of a logical page's data.
    #[inline]
    pub fn get(&self, lpn: u32) -> Mapping {
        match Mapping::decode(self.physical.get(lpn)) {
            Mapping::Unwritten => self.at_first(lpn),
            mapping => mapping,
        }
    }

    /// Returns the write in the buffer that has the newest data of a logical page.
    #[inline]
    pub fn buffered(&self, lpn: u32) -> Option<u32> {
        match Mapping::decode(self.peek(lpn)) {
            Mapping::Buffered(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the place of a logical page's data at the preparation.
    fn at_first(&self, lpn: u32) -> Mapping {
        let page = self.prepared.as_ref().and_then(|prepared| prepared.page(lpn));
        page.map_or(Mapping::Unwritten, Mapping::Flash)
    }

    /// Looks up the prepared places among these of logical pages, with the misses overlapping.
    pub(super) fn touch_prepared(&self, lpns: &[u32], mappings: &mut [Mapping]) {
        let Some(prepared) = &self.prepared else { return };
        let is_unchanged = |(lpn, mapping): &(u32, &mut Mapping)| {
            *lpn < self.logical_pages && **mapping == Mapping::Unwritten
        };
        let pairs = lpns.iter().copied().zip(mappings);
        let unchanged: Vec<(u32, &mut Mapping)> = pairs.filter(is_unchanged).collect();
        prepared.touch(unchanged.iter().map(|(lpn, _)| *lpn));
        for (lpn, mapping) in unchanged {
            *mapping = self.at_first(lpn);
        }
    }

    /// Returns how many logical pages have their newest data in flash.
    pub fn pages_in_flash(&self) -> u64 {
        let is_in_flash = |entry| matches!(Mapping::decode(entry), Mapping::Flash(_));
        let were = self.prepared.is_some();
        let changed = self.physical.changed(self.logical_pages);
        let gain = changed.map(|(_, entry)| i64::from(is_in_flash(entry)) - i64::from(were));
        let first = i64::from(were) * i64::from(self.logical_pages);
        (first + gain.sum::<i64>()) as u64
    }

    /// Sets the places of all pages that do not change.
    pub(super) fn start_with(&mut self, prepared: Arc<Names>) {
        self.prepared = Some(prepared);
    }

    /// Returns the stored entry of a logical page, perhaps the mark of an unchanged one, to load it
    /// into the CPU's caches.
    #[inline]
    pub(super) fn peek(&self, lpn: u32) -> u32 {
        self.physical.get(lpn)
    }

    /// Sets the place of a logical page; the owners of physical pages are kept elsewhere.
    #[inline]
    pub(super) fn set(&mut self, lpn: u32, mapping: Mapping) {
        self.physical.set(lpn, mapping.encode());
    }

    /// Records a move by collection of a page with its newest data in flash.
    #[inline]
    pub(super) fn set_moved(&mut self, lpn: u32, target: u32) {
        self.set(lpn, Mapping::Flash(target));
        if let Some(demand) = &mut self.demand {
            demand.moved(lpn);
        }
    }

    /// Trims a logical page.
    pub(super) fn trim(&mut self, lpn: u32) {
        self.set(lpn, Mapping::Trimmed);
        if let Some(demand) = &mut self.demand {
            demand.trimmed(lpn);
        }
    }

    /// Ends a victim of collection.
    #[inline]
    pub(super) fn victim_done(&mut self) {
        if let Some(demand) = &mut self.demand {
            demand.victim_done();
        }
    }

    /// Whether the mapping is in flash.
    #[inline]
    pub fn is_in_flash(&self) -> bool {
        self.demand.is_some()
    }

    /// Returns the mapping in flash.
    #[inline]
    pub fn demand(&mut self) -> &mut DemandMap {
        self.demand.as_mut().expect("asked only where the mapping is in flash")
    }

    /// Resets the counters.
    pub fn forget_counts(&mut self) {
        self.demand.iter_mut().for_each(DemandMap::forget_counts);
    }

    /// Returns the counters of the mapping's cache, if the mapping is in flash.
    pub fn counts(&self) -> Option<MapCounts> {
        self.demand.as_ref().map(DemandMap::counts)
    }

    /// Adds the places of logical pages to a state.
    pub(super) fn save(&self, state: &mut State) {
        let entries = (0..self.logical_pages).map(|lpn| {
            let buffered = matches!(self.get(lpn), Mapping::Buffered(_));
            assert!(!buffered, "logical page {lpn} is still in the buffer");
            self.get(lpn).encode()
        });
        state.put(PAGES, entries.collect());
        self.save_map_pages(state, |lpn| self.get(lpn).encode());
    }

    /// Adds the places found by a recovery; see [`super::Ftl::salvage`].
    pub(super) fn salvage(
        &self,
        state: &mut State,
        page: impl Fn(u32) -> Option<u32>,
        trimmed: impl Fn(u32) -> bool,
    ) {
        let entry = |lpn| match page(lpn) {
            _ if lpn < self.logical_pages && trimmed(lpn) => Mapping::Trimmed.encode(),
            Some(page) => Mapping::Flash(page).encode(),
            None => Mapping::Unwritten.encode(),
        };
        state.put(PAGES, (0..self.logical_pages).map(entry).collect());
        self.save_map_pages(state, entry);
    }

    /// Adds the pages of a mapping in flash to a saved state, if any: `entry` gives the place of
    /// each logical page, those of the mapping included. Stale are those with an entry that has
    /// changed or changes by that, and those being written.
    fn save_map_pages(&self, state: &mut State, entry: impl Fn(u32) -> u32) {
        let Some(demand) = &self.demand else { return };
        let mut stale = demand.stale();
        for lpn in 0..self.logical_pages {
            stale[demand.page_of(lpn) as usize] |= entry(lpn) != self.get(lpn).encode();
        }
        let map_lpns = self.logical_pages..self.all_pages();
        for (lpn, stale) in map_lpns.clone().zip(&mut stale) {
            *stale |= matches!(self.get(lpn), Mapping::Buffered(_));
        }
        state.put(MAP_PAGES, map_lpns.map(entry).collect());
        let stale = (0..).zip(stale).filter_map(|(page, stale)| stale.then_some(page));
        state.put(MAP_STALE, stale.collect());
    }

    /// Checks that a state has pages of a mapping in flash if the drive does.
    pub(super) fn check_state(&self, state: &State) -> Result<(), UserError> {
        let (is, must) = match (state.has(MAP_PAGES), self.is_in_flash()) {
            (true, false) => ("in flash", "demand"),
            (false, true) => ("in memory", "flat"),
            _ => return Ok(()),
        };
        Err(UserError::new(format!(
            "ftl.mapping: the state has its mapping {is}; must be \"{must}\" to start from it"
        )))
    }

    /// Restores the places of logical pages from a state, and the pages of the mapping to be
    /// rewritten; `own` assigns a physical page to its logical one.
    ///
    /// Errors if `own` does, or if it is not the mapping of a drive at rest.
    pub(super) fn restore(
        &mut self,
        state: &mut State,
        mut own: impl FnMut(u32, u32) -> Result<(), UserError>,
    ) -> Result<(), UserError> {
        let entries = state.take(PAGES, self.logical_pages as usize)?;
        self.restore_entries(0, entries, &mut own)?;
        let (first, pages) = (self.logical_pages, self.all_pages() - self.logical_pages);
        if !self.is_in_flash() {
            return Ok(());
        }
        let entries = state.take(MAP_PAGES, pages as usize)?;
        self.restore_entries(first, entries, &mut own)?;
        let stale = state.take_any(MAP_STALE);
        let is_in_order = stale.is_sorted_by(|one, next| one < next);
        if !is_in_order || stale.last().is_some_and(|last| *last >= pages) {
            return Err(wrong(format!("of {pages} pages of the mapping, none can be stale so")));
        }
        self.demand().write_anew(stale);
        Ok(())
    }

    fn restore_entries(
        &mut self,
        first: u32,
        entries: Vec<u32>,
        mut own: impl FnMut(u32, u32) -> Result<(), UserError>,
    ) -> Result<(), UserError> {
        for (lpn, entry) in (first..).zip(entries) {
            let mapping = Mapping::decode(entry);
            match mapping {
                Mapping::Flash(page) => own(lpn, page)?,
                Mapping::Buffered(_) => {
                    let what = format!("logical page {lpn} is in the buffer of a drive at rest");
                    return Err(wrong(what));
                }
                Mapping::Unwritten | Mapping::Trimmed => {}
            }
            self.set(lpn, mapping);
        }
        Ok(())
    }

    /// Checks the cache of the mapping, if there is one.
    pub(super) fn verify_cache(&self) -> Result<(), String> {
        self.demand.as_ref().map_or(Ok(()), DemandMap::verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_what_it_was_when_it_is_decoded() {
        let all = [Mapping::Unwritten, Mapping::Trimmed, Mapping::Buffered(0), Mapping::Flash(0)];
        let last = [Mapping::Buffered(BUFFERED - 1), Mapping::Flash(TRIMMED - 1)];
        for mapping in all.into_iter().chain(last) {
            assert_eq!(Mapping::decode(mapping.encode()), mapping);
        }
    }
}
