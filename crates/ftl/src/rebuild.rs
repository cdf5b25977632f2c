//! Initial state of an FTL: the saved part, and everything derived from it.

use reprieve_config::Scenario;
use reprieve_policy::victim;
use reprieve_state::State;

use super::Ftl;
use super::block_index::BlockIndex;
use super::blocks::Blocks;
use super::plane::{Plane, Victim};

/// "None" in a column.
pub(super) const NONE: u32 = u32::MAX;

/// A block in the column of bad ones: in use, bad, or bad once its pages have moved.
pub(super) const GOOD: u32 = 0;
pub(super) const BAD: u32 = 1;
pub(super) const FAILED: u32 = 2;

impl Ftl {
    /// Derives the rest of a drive's state as on a drive that starts in this one.
    ///
    /// Lists of victims, draws of their policy and the order of ties then do not depend on whether
    /// the state was preconditioned now or read from a file.
    pub(super) fn settle(&mut self, scenario: &Scenario) {
        self.tables.blocks.settle(scenario);
        self.placement.go_to(self.placement.position());
        self.collection.restart(&mut self.tables.blocks);
    }

    /// Adds the state of the FTL, without running steps.
    pub fn save(&self, state: &mut State) {
        assert!(self.collection.stands_still(), "a step is under way");
        let blocks = &self.tables.blocks;
        self.tables.map.save(state);
        self.sectors.save(state);
        let memory = blocks.fronts.memory();
        if !memory.is_empty() {
            state.put("stream.memory", memory);
        }
        blocks.save(state, None);
        if let Some(zones) = &self.zones {
            zones.save_places(state);
        }
        state.put("placement.position", vec![self.placement.position()]);
    }

    /// Adds the state found by a recovery: the `page` of each logical page, those of a mapping in
    /// flash included; trimmed pages by `trimmed`; and `erased`, free blocks, counted over the
    /// drive.
    ///
    /// Free blocks, open blocks and the order of filling follow from the contents of blocks.
    pub fn salvage(
        &self,
        state: &mut State,
        page: impl Fn(u32) -> Option<u32>,
        trimmed: impl Fn(u32) -> bool,
        erased: &[u32],
    ) {
        self.tables.map.salvage(state, page, trimmed);
        self.tables.blocks.save(state, Some(erased));
        state.put("placement.position", vec![self.placement.position()]);
    }
}

impl Blocks {
    /// Resets lists and policy of victims as on a drive that starts with these blocks.
    fn settle(&mut self, scenario: &Scenario) {
        let geometry = self.numbering.geometry;
        let (blocks, pages) = (geometry.blocks_per_plane, geometry.pages_per_block);
        let mut index = BlockIndex::new(geometry.planes(), blocks, pages);
        self.victim = victim::make(scenario, geometry);
        for plane in 0..geometry.planes() {
            for block in self.numbering.blocks_of(plane) {
                index.add_valid_pages(block, self.index.valid(block));
            }
            self.full_blocks(plane).iter().for_each(|block| index.fill(*block));
            self.number_from_oldest(plane);
            let mut next = 0;
            for block in self.in_order_of_filling(plane) {
                let number = self.fill_order[block as usize];
                self.victim.passed(plane, number - next);
                self.victim.filled(plane, block);
                next = number + 1;
            }
            let state = &mut self.planes[plane as usize];
            self.victim.passed(plane, state.fills - next);
            (state.unworn, state.completes_levelling, state.next_victim) = (None, false, None);
            state.pad();
            state.victim =
                state.victim.map(|victim| Victim { retires: false, levels: false, ..victim });
        }
        self.index = index;
    }

    /// Adds the roles of blocks and their order; after a loss of power erased ones are free, and
    /// victims are unknown.
    fn save(&self, state: &mut State, lost_power: Option<&[u32]>) {
        let (erased, victims_are_full) = (lost_power.unwrap_or(&[]), lost_power.is_some());
        let planes = || self.planes.iter();
        let blocks = self.numbering.geometry.blocks_per_plane;
        self.save_bad(state);
        let mut free: Vec<Vec<u32>> = planes().map(Plane::free_list).collect();
        let mut erases = self.wear.all().to_vec();
        for block in erased {
            free[(block / blocks) as usize].push(block % blocks);
            erases[*block as usize] += 1;
        }
        state.put("plane.free_blocks", free.iter().map(|list| list.len() as u32).collect());
        state.put("plane.free", free.concat());
        let fronts = || planes().flat_map(|plane| self.fronts.of_all().map(|of| plane.fronts[of]));
        state.put("plane.open", fronts().map(|front| front.block.unwrap_or(NONE)).collect());
        state.put("plane.next_page", fronts().map(|front| front.next_page).collect());
        let victim = |plane: &Plane| plane.victim.filter(|it| !victims_are_full && !it.retires);
        let number = |victim: Victim| victim.block % blocks;
        let victims = planes().map(|plane| victim(plane).map_or(NONE, number));
        state.put("plane.victim", victims.collect());
        state.put("block.erases", erases);
        let mut filled = vec![0; self.fill_order.len()];
        let mut fills = Vec::with_capacity(self.planes.len());
        for (plane, state) in (0..).zip(&self.planes) {
            let full = self.full_blocks(plane);
            let oldest = self.oldest_of(plane, &full);
            // Victims come before them with the number 0, as their own has no meaning.
            let first = u32::from(victims_are_full && state.victim.is_some());
            for block in full {
                if !erased.contains(&block) {
                    filled[block as usize] = self.fill_order[block as usize] - oldest + first;
                }
            }
            fills.push(state.fills - oldest + first);
        }
        state.put("block.filled", filled);
        state.put("plane.fills", fills);
    }

    /// Adds the bad blocks, and blocks that are bad once their pages have moved.
    fn save_bad(&self, state: &mut State) {
        if !self.failing.any() {
            return;
        }
        let mut bad = vec![GOOD; self.fill_order.len()];
        self.failing
            .bad_in(0..self.fill_order.len() as u32)
            .for_each(|block| bad[block as usize] = BAD);
        for plane in &self.planes {
            plane.failing().for_each(|block| bad[block as usize] = FAILED);
        }
        state.put("block.bad", bad);
    }

    /// Returns the number of the full block of a plane that was filled first.
    pub(super) fn oldest_number(&self, plane: u32) -> u32 {
        self.oldest_of(plane, &self.full_blocks(plane))
    }

    fn oldest_of(&self, plane: u32, full: &[u32]) -> u32 {
        let numbers = full.iter().map(|block| self.fill_order[*block as usize]);
        numbers.min().unwrap_or(self.planes[plane as usize].fills)
    }

    /// Renumbers the full blocks of a plane, with the same distances.
    fn number_from_oldest(&mut self, plane: u32) {
        let oldest = self.oldest_number(plane);
        for block in self.full_blocks(plane) {
            self.fill_order[block as usize] -= oldest;
        }
        self.planes[plane as usize].fills -= oldest;
    }

    pub(super) fn in_order_of_filling(&self, plane: u32) -> Vec<u32> {
        let mut full = self.full_blocks(plane);
        full.sort_by_key(|block| self.fill_order[*block as usize]);
        full
    }

    /// Returns the blocks of a plane, counted over the drive, that are not free, open, bad or a
    /// victim, in order.
    fn full_blocks(&self, plane: u32) -> Vec<u32> {
        let blocks = self.numbering.blocks_of(plane);
        let first = blocks.start;
        let mut full = vec![true; blocks.len()];
        let state = &self.planes[plane as usize];
        state.each_free(|block| full[block as usize] = false);
        state.open_blocks().for_each(|block| full[block as usize] = false);
        for block in self.failing.bad_in(blocks.clone()) {
            full[(block - first) as usize] = false;
        }
        state.failing().for_each(|block| full[(block - first) as usize] = false);
        if let Some(victim) = state.victim {
            full[(victim.block - first) as usize] = false;
        }
        let numbered = blocks.zip(full);
        numbered.filter_map(|(block, full)| full.then_some(block)).collect()
    }
}
