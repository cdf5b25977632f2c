//! The state that a drive starts from: what of the FTL it is made of, and the rest made from that.

use reprieve_base::UserError;

use crate::blocks::BlockIndex;
use crate::scenario::Scenario;
use crate::state::State;
use crate::victim;

use super::{Ftl, Mapping};

/// "None" in a column.
const NONE: u32 = u32::MAX;

impl Ftl {
    /// Makes all that is not part of a drive's state as it is on a drive that starts in this one.
    ///
    /// The lists of victims, the draws of their policy and the order of equals then do not depend
    /// on how the state came about: whether by preconditioning now or from a file.
    pub(super) fn settle(&mut self, scenario: &Scenario) {
        let geometry = self.geometry;
        let (blocks, pages) = (geometry.blocks_per_plane, geometry.pages_per_block);
        let mut index = BlockIndex::new(geometry.planes(), blocks, pages);
        self.victim = victim::make(scenario);
        for plane in 0..geometry.planes() {
            let first = plane * blocks;
            for block in first..first + blocks {
                index.add_valid_pages(block, self.index.valid(block));
            }
            self.full_blocks(plane).iter().for_each(|block| index.fill(*block));
            let full = self.in_order_of_filling(plane);
            for (number, block) in full.iter().enumerate() {
                self.filled[*block as usize] = number as u32;
                self.victim.filled(plane, *block);
            }
            self.planes[plane as usize].fills = full.len() as u32;
        }
        self.index = index;
        for (die, state) in self.gc_dies.iter_mut().enumerate() {
            state.plane = die as u32 * geometry.planes_per_die;
            state.need = None;
        }
    }

    /// From now on nothing is begun that need not be: what was begun comes to its end.
    pub fn close(&mut self) {
        self.closing = true;
        self.gc_dies.iter_mut().for_each(|die| die.need = None);
    }

    /// Adds the state of the FTL, of which nothing is under way.
    pub fn save(&self, state: &mut State) {
        assert!(self.planes.iter().all(|plane| plane.job.victim.is_none()), "a victim is begun");
        let entries = (0..self.logical_pages()).map(|lpn| {
            let buffered = matches!(self.map.get(lpn), Mapping::Buffered(_));
            assert!(!buffered, "logical page {lpn} is still in the buffer");
            self.map.peek(lpn)
        });
        state.put("map.physical", entries.collect());
        let planes = || self.planes.iter();
        state.put("plane.free_blocks", planes().map(|plane| plane.free_blocks()).collect());
        state.put("plane.free", planes().flat_map(|plane| plane.free_list()).collect());
        state.put("plane.open", planes().map(|plane| plane.active.unwrap_or(NONE)).collect());
        state.put("plane.next_page", planes().map(|plane| plane.next_page).collect());
        let mut filled = vec![0; self.filled.len()];
        for plane in 0..self.geometry.planes() {
            for (number, block) in (0..).zip(self.in_order_of_filling(plane)) {
                filled[block as usize] = number;
            }
        }
        state.put("block.filled", filled);
        state.put("placement.position", vec![self.placement.position()]);
    }

    /// Brings an FTL with nothing written into a state.
    ///
    /// Errors if the state contradicts itself.
    pub fn restore(&mut self, state: &mut State, scenario: &Scenario) -> Result<(), UserError> {
        let planes = self.planes.len();
        let free_blocks = state.take("plane.free_blocks", planes)?;
        let sum: u64 = free_blocks.iter().map(|blocks| u64::from(*blocks)).sum();
        let free = state.take("plane.free", sum as usize)?;
        let mut free = free.into_iter();
        let open = state.take("plane.open", planes)?;
        let next_page = state.take("plane.next_page", planes)?;
        self.filled = state.take("block.filled", self.filled.len())?;
        self.placement.go_to(state.take("placement.position", 1)?[0]);
        for (number, plane) in self.planes.iter_mut().enumerate() {
            let list = free.by_ref().take(free_blocks[number] as usize);
            let open = (open[number] != NONE).then_some(open[number]);
            plane.open(list.collect(), open, next_page[number]);
        }
        let is_block = |block: u32| block < self.geometry.blocks_per_plane;
        for plane in &self.planes {
            if !plane.free_list().chain(plane.active).all(is_block) {
                return Err(contradiction());
            }
        }
        let pages = state.take("map.physical", self.logical_pages() as usize)?;
        for (lpn, entry) in (0..).zip(pages) {
            self.restore_page(lpn, entry)?;
        }
        self.settle(scenario);
        Ok(())
    }

    fn restore_page(&mut self, lpn: u32, entry: u32) -> Result<(), UserError> {
        let mapping = Mapping::decode(entry);
        if let Mapping::Flash(page) = mapping {
            if u64::from(page) >= self.geometry.pages() || self.map.owner(page).is_some() {
                return Err(contradiction());
            }
            let block = page / self.geometry.pages_per_block;
            self.planes[(block / self.geometry.blocks_per_plane) as usize].committed += 1;
            self.validate(page, lpn);
        } else if let Mapping::Buffered(_) = mapping {
            return Err(contradiction());
        }
        self.map.set(lpn, mapping);
        Ok(())
    }

    fn in_order_of_filling(&self, plane: u32) -> Vec<u32> {
        let mut full = self.full_blocks(plane);
        full.sort_by_key(|block| self.filled[*block as usize]);
        full
    }

    /// Blocks of a plane that are neither free nor open, counted over the drive, in their order.
    fn full_blocks(&self, plane: u32) -> Vec<u32> {
        let first = plane * self.geometry.blocks_per_plane;
        let mut full = vec![true; self.geometry.blocks_per_plane as usize];
        let state = &self.planes[plane as usize];
        for block in state.free_list().chain(state.active) {
            full[block as usize] = false;
        }
        let numbered = (first..).zip(full);
        numbered.filter_map(|(block, full)| full.then_some(block)).collect()
    }
}

fn contradiction() -> UserError {
    UserError::new("the state contradicts itself; save it anew")
}
