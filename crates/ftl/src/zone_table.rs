//! Zones for the host: states, write pointers and limits, after the Zoned Namespace Command Set 1.1
//! of NVM Express.

use std::collections::VecDeque;

use reprieve_base::{Archive, Op, Request, SECTOR_BYTES, UserError, parts};
use reprieve_config::{Precondition, Scenario};
use reprieve_state::State;

/// Columns of a saved state: states of zones, pages written, and zones opened by writes.
const STATES: &str = "zone.state";
const PAGES: &str = "zone.pages";
const OPENED: &str = "zone.opened";

/// State of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ZoneState {
    /// Nothing is written.
    Empty,
    /// A write has opened it.
    ImplicitlyOpen,
    /// The host has opened it.
    ExplicitlyOpen,
    /// Written in part, or opened once, and not open.
    Closed,
    /// Nothing more is written.
    Full,
}

use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen};

/// A zone.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Zone {
    /// Its state.
    pub state: ZoneState,
    /// Pages written since the last reset: the write pointer, unless it is full.
    pub pages: u32,
    /// Those of them that are not in flash.
    pub pages_to_program: u32,
}

/// Counts of zone operations, and of their effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ZoneCounts {
    /// Appends.
    pub appends: u64,
    /// Resets.
    pub resets: u64,
    /// Finishes.
    pub finishes: u64,
    /// Opens.
    pub opens: u64,
    /// Closes.
    pub closes: u64,
    /// Zones closed to open another.
    pub implicit_closes: u64,
    /// Erases of blocks of zones that were reset, when they are queued.
    pub reset_erases: u64,
}

/// All zones of a drive.
pub struct ZoneTable {
    /// By number.
    pub zones: Vec<Zone>,
    /// Pages, which are mapping units, of a zone.
    pub zone_pages: u32,
    page_bytes: u64,
    size_bytes: u64,
    max_open: u32,
    max_active: u32,
    /// A reset is complete when its blocks are erased.
    pub reset_waits: bool,
    /// Zones that a write has opened, in that order.
    opened: VecDeque<u32>,
    open: u32,
    active: u32,
    /// Resets and finishes, with their zones, that wait until its pages are in flash.
    pub waiting: Vec<ZoneRequest>,
    /// Zones of which no page waits to be programmed any more, while something waits for that.
    pub settled: Vec<u32>,
    /// Resets whose blocks are erased.
    pub done: Vec<u32>,
    /// Blocks whose erases resets wait for, as numbers over the drive.
    pub erasing: Vec<ZoneErase>,
    /// Counts of zone operations.
    pub counts: ZoneCounts,
}

/// A request that waits for the pages of a zone.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct ZoneRequest {
    /// The zone.
    pub zone: u32,
    /// Its number among the open ones.
    pub request: u32,
}

/// A block whose erase a request waits for.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct ZoneErase {
    /// Counted over the drive.
    pub block: u32,
    /// Its number among the open ones.
    pub request: u32,
}

impl ZoneTable {
    /// Creates the zones of a scenario's drive, all empty, or all full if it is filled before the
    /// run; `None` without zones.
    pub fn of(scenario: &Scenario) -> Option<Box<ZoneTable>> {
        let settings = scenario.zones?;
        let zone_pages = scenario.zone_units();
        let (state, pages) = match scenario.ftl.precondition {
            Precondition::None => (Empty, 0),
            Precondition::Sequential | Precondition::Steady => (Full, zone_pages),
        };
        let zone = Zone { state, pages, pages_to_program: 0 };
        Some(Box::new(ZoneTable {
            zones: vec![zone; (scenario.logical_pages() / zone_pages) as usize],
            zone_pages,
            page_bytes: u64::from(scenario.mapping_bytes()),
            size_bytes: settings.size_bytes.max(scenario.zone_bytes()),
            max_open: settings.max_open,
            max_active: settings.max_active,
            reset_waits: settings.reset_waits,
            opened: VecDeque::new(),
            open: 0,
            active: 0,
            waiting: Vec::new(),
            settled: Vec::new(),
            done: Vec::new(),
            erasing: Vec::new(),
            counts: ZoneCounts::default(),
        }))
    }

    /// Saves or restores the state that changes.
    pub fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.zones, self.opened, self.open, self.active, self.waiting);
        parts!(archive; self.erasing, self.counts);
    }

    /// Returns the bytes that a zone holds.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.zone_pages) * self.page_bytes
    }

    /// Converts a request from addresses of zones to addresses of pages, without gaps between
    /// zones.
    ///
    /// Errors if it is beyond the capacity of a zone, if a zone operation does not have its first
    /// sector, or if the operation does not exist for zones.
    pub fn to_pages(&self, request: Request) -> Result<Request, String> {
        let Request { op, lba, bytes, .. } = request;
        if op == Op::Flush {
            return Ok(request);
        }
        let (at, bytes) = (lba * SECTOR_BYTES, u64::from(bytes));
        let (zone, within) = (at / self.size_bytes, at % self.size_bytes);
        let capacity_bytes = self.capacity_bytes();
        let name = op.name();
        if op == Op::Trim {
            return Err(format!("a trim at byte {at}: a drive with zones has none; reset zones"));
        }
        if within > 0 && (op.is_of_zone() || op == Op::Append) {
            return Err(format!(
                "{} {name} at byte {at}: zone {zone} begins at byte {}, which names it",
                article(op),
                zone * self.size_bytes
            ));
        }
        let is_mid_page = (within | bytes) % self.page_bytes > 0;
        if op.is_write() && is_mid_page {
            return Err(format!(
                "{} {name} of {bytes} bytes at byte {at}: a drive with zones is written in whole \
                 units of {}",
                article(op),
                self.page_bytes
            ));
        }
        if !op.is_of_zone() && within + bytes > capacity_bytes {
            // Without gaps between zones, a read may cross their boundaries.
            if op != Op::Read || capacity_bytes < self.size_bytes {
                return Err(format!(
                    "{} {name} of {bytes} bytes at byte {at} ends beyond the {capacity_bytes} \
                     bytes that zone {zone} holds",
                    article(op)
                ));
            }
        }
        let lba = (zone * capacity_bytes + within) / SECTOR_BYTES;
        Ok(Request { lba, ..request })
    }

    /// Returns the sector in the host's addresses.
    pub fn host_sector(&self, lba: u64) -> u64 {
        let (at, capacity_bytes) = (lba * SECTOR_BYTES, self.capacity_bytes());
        (at / capacity_bytes * self.size_bytes + at % capacity_bytes) / SECTOR_BYTES
    }

    /// Writes `pages` at the write pointer, which has to equal `from` if given. Returns the first
    /// of them in the zone.
    ///
    /// Errors if the zone refuses it: at another page than the write pointer, beyond its capacity,
    /// full, or above a limit.
    pub fn take_write(&mut self, zone: u32, from: Option<u32>, pages: u32) -> Result<u32, String> {
        let Zone { state, pages: pointer, .. } = self.zones[zone as usize];
        if state == Full {
            return Err(format!("zone {zone} is full; it must be reset first"));
        }
        if let Some(from) = from.filter(|from| *from != pointer) {
            return Err(format!(
                "zone {zone} has its write pointer at unit {pointer} of {}, and the write begins \
                 at unit {from}; it must begin at the write pointer",
                self.zone_pages
            ));
        }
        if pages > self.zone_pages - pointer {
            let left = self.zone_pages - pointer;
            return Err(format!("zone {zone} has room for {left} units, and {pages} are written"));
        }
        self.open_zone(zone, ImplicitlyOpen)?;
        let state = &mut self.zones[zone as usize];
        state.pages += pages;
        state.pages_to_program += pages;
        if state.pages == self.zone_pages {
            self.leave(zone, Full);
        }
        Ok(pointer)
    }

    /// Opens a zone, implicitly or explicitly by `to`.
    fn open_zone(&mut self, zone: u32, to: ZoneState) -> Result<(), String> {
        let state = self.zones[zone as usize].state;
        match (state, to) {
            (ExplicitlyOpen, _) | (ImplicitlyOpen, ImplicitlyOpen) => return Ok(()),
            (ImplicitlyOpen, _) => self.opened.retain(|other| *other != zone),
            (Full, _) => return Err(format!("zone {zone} is full, and a full one is not opened")),
            (Empty | Closed, _) => {
                if state == Empty && self.active == self.max_active {
                    return Err(format!(
                        "zone {zone} would be one more than zones.max_active = {}; another must \
                         be filled, finished or reset first",
                        self.max_active
                    ));
                }
                if self.open == self.max_open {
                    self.close_for(zone)?;
                }
                self.active += u32::from(state == Empty);
                self.open += 1;
            }
        }
        self.zones[zone as usize].state = to;
        if to == ImplicitlyOpen {
            self.opened.push_back(zone);
        }
        Ok(())
    }

    /// Closes the zone opened by the oldest write, to open `zone`.
    fn close_for(&mut self, zone: u32) -> Result<(), String> {
        let Some(oldest) = self.opened.front().copied() else {
            return Err(format!(
                "zone {zone} would be one more than zones.max_open = {}, all of them opened \
                 explicitly; one must be closed first",
                self.max_open
            ));
        };
        self.counts.implicit_closes += 1;
        self.leave(oldest, Closed);
        Ok(())
    }

    /// Moves a zone into a state that is not open.
    fn leave(&mut self, zone: u32, to: ZoneState) {
        let from = std::mem::replace(&mut self.zones[zone as usize].state, to);
        if matches!(from, ImplicitlyOpen | ExplicitlyOpen) {
            self.open -= 1;
            self.opened.retain(|other| *other != zone);
        }
        let was_active = !matches!(from, Empty | Full);
        self.active -= u32::from(was_active && to != Closed);
    }

    /// Executes a zone operation. Returns the pages that a reset invalidates, from the first of the
    /// zone on.
    ///
    /// Errors if the zone is in no state for it, or a limit is reached.
    pub fn operate(&mut self, zone: u32, op: Op) -> Result<u32, String> {
        let state = self.zones[zone as usize].state;
        match op {
            Op::Open => {
                self.open_zone(zone, ExplicitlyOpen)?;
                self.counts.opens += 1;
            }
            Op::Close => {
                if matches!(state, Empty | Full) {
                    let state = if state == Empty { "empty" } else { "full" };
                    return Err(format!("zone {zone} is {state}, and only an open one is closed"));
                }
                if state != Closed {
                    self.leave(zone, Closed);
                }
                self.counts.closes += 1;
            }
            Op::Finish => {
                self.leave(zone, Full);
                self.counts.finishes += 1;
            }
            _ => {
                self.leave(zone, Empty);
                self.counts.resets += 1;
                return Ok(std::mem::take(&mut self.zones[zone as usize].pages));
            }
        }
        Ok(0)
    }

    /// Adds the states of zones to a state of the drive, without open requests.
    pub fn save_zones(&self, state: &mut State) {
        state.put(STATES, self.zones.iter().map(|zone| zone.state as u32).collect());
        state.put(PAGES, self.zones.iter().map(|zone| zone.pages).collect());
        state.put(OPENED, self.opened.iter().copied().collect());
    }

    /// Restores the zones of a drive from a state.
    ///
    /// Errors if the state contradicts itself or the limits.
    pub fn restore_zones(&mut self, state: &mut State) -> Result<(), UserError> {
        let states = state.take(STATES, self.zones.len())?;
        let pages = state.take(PAGES, self.zones.len())?;
        self.opened = state.take_any(OPENED).into();
        let wrong = |what: &str| UserError::new(format!("the state {what}; save it anew"));
        for (zone, (number, pages)) in self.zones.iter_mut().zip(states.into_iter().zip(pages)) {
            let all = [Empty, ImplicitlyOpen, ExplicitlyOpen, Closed, Full];
            let state = all.into_iter().find(|state| *state as u32 == number);
            let state = state.filter(|state| *state != Empty || pages == 0);
            let state = state.filter(|_| pages <= self.zone_pages);
            let state = state.ok_or_else(|| wrong("has a zone that no drive has"))?;
            *zone = Zone { state, pages, pages_to_program: 0 };
        }
        let count = |states: &[ZoneState]| {
            self.zones.iter().filter(|zone| states.contains(&zone.state)).count() as u32
        };
        self.open = count(&[ImplicitlyOpen, ExplicitlyOpen]);
        self.active = self.open + count(&[Closed]);
        let mut opened: Vec<u32> = self.opened.iter().copied().collect();
        opened.sort_unstable();
        let implicit = (0..).zip(&self.zones).filter(|(_, zone)| zone.state == ImplicitlyOpen);
        if !implicit.map(|(zone, _)| zone).eq(opened) {
            return Err(wrong("says of other zones that they are open than which were opened"));
        }
        if self.open > self.max_open || self.active > self.max_active {
            return Err(UserError::new(format!(
                "the state has {} open and {} active zones; zones.max_open and zones.max_active \
                 must be at least as large",
                self.open, self.active
            )));
        }
        Ok(())
    }

    /// Returns the zone of a page.
    pub fn zone_of(&self, lpn: u32) -> u32 {
        lpn / self.zone_pages
    }

    /// Counts a page in flash. Returns its zone if that is full, and this was the last of it.
    pub fn page_programmed(&mut self, lpn: u32) -> Option<u32> {
        let number = self.zone_of(lpn);
        let zone = &mut self.zones[number as usize];
        zone.pages_to_program -= 1;
        if zone.pages_to_program > 0 {
            return None;
        }
        if self.waiting.iter().any(|waiting| waiting.zone == number) {
            self.settled.push(number);
        }
        (zone.state == Full).then_some(number)
    }

    /// Returns the next request whose zone's pages are in flash, and the zone.
    pub fn next_settled(&mut self) -> Option<(u32, u32)> {
        while let Some(zone) = self.settled.last().copied() {
            let is_of_it = |waiting: &ZoneRequest| waiting.zone == zone;
            match self.waiting.iter().position(is_of_it) {
                Some(place) => return Some((zone, self.waiting.remove(place).request)),
                None => _ = self.settled.pop(),
            }
        }
        None
    }

    /// Counts an erased block; with the last of its blocks a reset is done.
    pub fn block_erased(&mut self, block: u32) {
        let Some(place) = self.erasing.iter().position(|erasing| erasing.block == block) else {
            return;
        };
        let request = self.erasing.swap_remove(place).request;
        if self.erasing.iter().all(|erasing| erasing.request != request) {
            self.done.push(request);
        }
    }
}

fn article(op: Op) -> &'static str {
    if matches!(op, Op::Append | Op::Open) { "an" } else { "a" }
}

#[cfg(test)]
mod tests;
