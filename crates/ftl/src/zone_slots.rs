//! Blocks of zones: a zone that is being written has an open block in each of its planes, and a
//! reset erases its blocks without moves.

use reprieve_base::{Archive, UserError};
use reprieve_config::Scenario;
use reprieve_policy::stream::STREAMS_MAX;
use reprieve_state::State;

use super::Ftl;
use super::contradiction::wrong;
use super::plane::Front;
use super::rebuild::NONE;

/// The column of a saved state: the zone of each slot among the open blocks of planes.
const FRONTS: &str = "zone.fronts";

/// Slots among the open blocks of planes, and their zones.
pub(super) struct ZoneSlots {
    zone_pages: u32,
    zones: [Option<u32>; STREAMS_MAX],
}

impl ZoneSlots {
    /// Creates the slots of a scenario's drive, if it has zones; all are unused.
    pub(super) fn of(scenario: &Scenario) -> Option<Box<ZoneSlots>> {
        scenario.zones?;
        let zone_pages = scenario.zone_units();
        Some(Box::new(ZoneSlots { zone_pages, zones: [None; STREAMS_MAX] }))
    }

    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.zones);
    }

    /// Adds the zones with slots to a state.
    pub(super) fn save_places(&self, state: &mut State) {
        state.put(FRONTS, self.zones.iter().map(|zone| zone.unwrap_or(NONE)).collect());
    }

    /// Restores the zones with slots from a state.
    ///
    /// Errors if one has two.
    pub(super) fn restore_places(&mut self, state: &mut State) -> Result<(), UserError> {
        let zones = state.take(FRONTS, STREAMS_MAX)?;
        let known = |zone: u32| (zone != NONE).then_some(zone);
        for (place, zone) in zones.iter().copied().enumerate() {
            if known(zone).is_some() && zones[..place].contains(&zone) {
                return Err(wrong(format!("zone {zone} has two open blocks of a plane")));
            }
            self.zones[place] = known(zone);
        }
        Ok(())
    }

    fn place_of(&self, zone: u32) -> Option<usize> {
        self.zones.iter().position(|other| *other == Some(zone))
    }

    /// Gives the zone of a page a slot unless it has one; false if there is none left.
    pub(super) fn give_place(&mut self, lpn: u32) -> bool {
        let zone = lpn / self.zone_pages;
        if self.place_of(zone).is_some() {
            return true;
        }
        let free = self.zones.iter().position(Option::is_none);
        free.inspect(|slot| self.zones[*slot] = Some(zone)).is_some()
    }

    /// Returns the slot of the zone of a page, which is open.
    pub(super) fn place_of_page(&self, lpn: u32) -> u8 {
        let slot = self.place_of(lpn / self.zone_pages);
        slot.expect("a page is accepted once its zone has a place") as u8
    }
}

impl Ftl {
    /// Whether the zone of a page, if the drive has zones, has or gets a slot among the open
    /// blocks.
    #[inline]
    pub fn opens_zone(&mut self, lpn: u32) -> bool {
        self.zones.as_mut().is_none_or(|zones| zones.give_place(lpn))
    }

    /// Returns the slot of a zone among the open blocks, if it has one.
    pub fn front_of_zone(&self, zone: u32) -> Option<usize> {
        self.zones.as_ref()?.place_of(zone)
    }

    /// Closes the blocks of a zone that is written no more, with all pages in flash.
    pub fn end_zone(&mut self, zone: u32) {
        let Some(front) = self.front_of_zone(zone) else { return };
        self.zones.as_mut().expect("it has just been seen").zones[front] = None;
        for plane in 0..self.tables.blocks.planes.len() as u32 {
            if let Some(open) = self.tables.blocks.planes[plane as usize].fronts[front].block {
                self.close_block(plane, open);
            }
        }
    }

    /// Drops a page of a zone, counted over the drive. If it was the last of its block, queues the
    /// block's erase; returns the die and the block.
    pub fn zone_page_dropped(&mut self, page: u32) -> Option<(u32, u32)> {
        let block = self.numbering.block_of(page);
        if self.tables.blocks.index.valid(block) > 0 {
            return None;
        }
        let plane = self.numbering.plane_of(block);
        if !self.tables.blocks.index.is_full(block) {
            // Returns the last block that preconditioning has filled.
            self.close_block(plane, block - self.numbering.blocks_of(plane).start);
        }
        self.tables.blocks.planes[plane as usize].resets.push_back(block);
        self.tables.blocks.needs.forget(plane);
        Some((self.numbering.die(plane), block))
    }

    /// Closes an open block of a plane, numbered within it.
    fn close_block(&mut self, plane: u32, open: u32) {
        let blocks = &mut self.tables.blocks;
        let mut fronts = blocks.planes[plane as usize].fronts.iter_mut();
        let front = fronts.find(|front| front.block == Some(open));
        *front.expect("the block is open") = Front::default();
        blocks.filled(plane, open);
        blocks.needs.forget(plane);
    }

    /// Requests another block of a plane for a zone, whose blocks have unwritable empty pages;
    /// refuses the workload if none will become free.
    #[cold]
    pub(super) fn want_block(&mut self, plane: u32) {
        let blocks = &mut self.tables.blocks;
        let state = &blocks.planes[plane as usize];
        if state.resets.is_empty() && state.victim.is_none() {
            blocks.failing.refuse(format!(
                "plane {plane} has no free block for a zone: flushes, forced unit access and \
                 ftl.wordline_timeout_us have left pages of programs empty; write less of a zone \
                 before a flush, or make ftl.over_provisioning larger"
            ));
        }
    }
}
