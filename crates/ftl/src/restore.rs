//! Restoration of an FTL from a saved state, all of which is validated.
//!
//! A checksum shows that a file is intact, not that a drive can have this state: other writers may
//! get any number wrong.

use std::collections::BTreeSet;

use reprieve_base::UserError;
use reprieve_config::Scenario;
use reprieve_state::State;

use super::Ftl;
use super::blocks::Blocks;
use super::contradiction::wrong;
use super::page_tables::PageTables;
use super::plane::{Front, Victim};
use super::rebuild::{BAD, FAILED, GOOD, NONE};

/// Limit for erases of a block, and for fillings in a plane since its oldest block was filled: no
/// drive comes near it, and as many again can be counted.
const COUNT_MAX: u32 = 1 << 31;

/// The columns of the blocks of a plane.
struct Pool {
    free: Vec<u32>,
    /// Each at its place among the open blocks of a plane.
    fronts: Vec<(usize, Front)>,
    /// The victim.
    victim: Option<u32>,
    fills: u32,
}

impl Ftl {
    /// Restores a state into an unwritten FTL.
    ///
    /// Errors if the state contradicts itself, or no drive can continue from it.
    pub fn restore(&mut self, state: &mut State, scenario: &Scenario) -> Result<(), UserError> {
        self.tables.map.check_state(state)?;
        let pools = self.tables.blocks.restore_tables(state)?;
        self.restore_position(state)?;
        if let Some(zones) = &mut self.zones {
            zones.restore_places(state)?;
        }
        self.tables.restore(state, pools)?;
        self.sectors.restore(state, &self.tables.map)?;
        // After a loss of power the memory of streams is lost.
        let PageTables { map, blocks, .. } = &mut self.tables;
        if state.has("stream.memory") && !blocks.fronts.memory().is_empty() {
            let memory = state.take("stream.memory", map.logical_pages() as usize)?;
            blocks.fronts.remember(&memory);
        }
        self.settle(scenario);
        Ok(())
    }

    fn restore_position(&mut self, state: &mut State) -> Result<(), UserError> {
        let position = state.take("placement.position", 1)?[0];
        let positions = self.placement.positions();
        if position >= positions {
            return Err(wrong(format!("placement is at {position} of {positions} places")));
        }
        self.placement.go_to(position);
        Ok(())
    }
}

impl PageTables {
    /// The blocks of planes, and the pages that they hold.
    fn restore(&mut self, state: &mut State, pools: Vec<Pool>) -> Result<(), UserError> {
        let PageTables { map, blocks, .. } = self;
        for (plane, pool) in (0..).zip(pools) {
            blocks.check_pool(plane, &pool)?;
            blocks.restore_pool(plane, pool);
            blocks.check_numbers(plane)?;
        }
        let programmed = blocks.programmed();
        map.restore(state, |lpn, page| blocks.restore_page(lpn, page, &programmed))?;
        (0..blocks.numbering.geometry.planes()).try_for_each(|plane| blocks.check_room(plane))
    }
}

impl Blocks {
    /// Restores bad blocks, the order of filling and erase counts; returns the block roles of each
    /// plane.
    fn restore_tables(&mut self, state: &mut State) -> Result<Vec<Pool>, UserError> {
        let pools = self.take_pools(state)?;
        self.restore_bad(state)?;
        self.fill_order = state.take("block.filled", self.fill_order.len())?;
        let erases = state.take("block.erases", self.fill_order.len())?;
        if let Some(block) = erases.iter().position(|erases| *erases > COUNT_MAX) {
            return Err(wrong(format!("block {block} was erased {} times", erases[block])));
        }
        self.wear.start_with(erases);
        Ok(pools)
    }

    /// Restores bad blocks, in place of those drawn; none where the state has no such column.
    fn restore_bad(&mut self, state: &mut State) -> Result<(), UserError> {
        let states = match state.has("block.bad") {
            true => state.take("block.bad", self.fill_order.len())?,
            false => vec![GOOD; self.fill_order.len()],
        };
        if let Some(unknown) = states.iter().find(|state| **state > FAILED) {
            return Err(wrong(format!("a block is in condition {unknown}")));
        }
        if !self.failing.any() && states.iter().any(|state| *state != GOOD) {
            return Err(UserError::new(
                "the state has bad blocks; must be ftl.factory_bad_share, nand.program_failure or \
                 nand.erase_failure above 0 to start from it",
            ));
        }
        let blocks = self.numbering.geometry.blocks_per_plane;
        let of = |condition: u32| {
            let all = (0..).zip(&states).filter(move |(_, state)| **state == condition);
            all.map(|(block, _)| block)
        };
        let bad: BTreeSet<u32> = of(BAD).collect();
        for (plane, state) in (0..).zip(&mut self.planes) {
            let own = plane * blocks..(plane + 1) * blocks;
            state.failed = of(FAILED).filter(|block| own.contains(block)).collect();
            let lost = bad.range(own).count() + state.failed.len();
            state.good_blocks = blocks - lost as u32;
            if !self.failing.is_enough(state.good_blocks) {
                let what = format!("plane {plane} has {} good blocks", state.good_blocks);
                return Err(wrong(what));
            }
        }
        self.failing.start_with(bad, of(FAILED).next().is_some());
        Ok(())
    }

    fn take_pools(&self, state: &mut State) -> Result<Vec<Pool>, UserError> {
        let planes = self.planes.len();
        let free_blocks = state.take("plane.free_blocks", planes)?;
        let sum: u64 = free_blocks.iter().map(|blocks| u64::from(*blocks)).sum();
        let free = state.take("plane.free", sum as usize)?;
        let places: Vec<usize> = self.fronts.of_all().collect();
        let fronts = planes * places.len();
        let held = state.entries("plane.open");
        if held % planes == 0 && held / planes > 0 && held != fronts {
            return Err(other_streams(held / planes, places.len()));
        }
        let open = state.take("plane.open", fronts)?;
        let next_page = state.take("plane.next_page", fronts)?;
        let front = |number: usize| Front {
            block: (open[number] != NONE).then_some(open[number]),
            next_page: next_page[number],
        };
        let fills = state.take("plane.fills", planes)?;
        let victims = state.take("plane.victim", planes)?;
        let mut free = free.into_iter();
        let pool = |plane: usize| Pool {
            free: free.by_ref().take(free_blocks[plane] as usize).collect(),
            fronts: (places.iter().enumerate())
                .map(|(number, place)| (*place, front(plane * places.len() + number)))
                .collect(),
            victim: (victims[plane] != NONE).then_some(victims[plane]),
            fills: fills[plane],
        };
        Ok((0..planes).map(pool).collect())
    }

    /// Checks that each block of a plane is free, open, a victim or full, and an open one is filled
    /// by whole programs.
    fn check_pool(&self, plane: u32, pool: &Pool) -> Result<(), UserError> {
        let Pool { free, fronts, victim, .. } = pool;
        let (blocks, pages) =
            (self.numbering.geometry.blocks_per_plane, self.numbering.geometry.pages_per_block);
        let first = plane * blocks;
        let mut seen: Vec<bool> = vec![false; blocks as usize];
        let state = &self.planes[plane as usize];
        let bad = self.failing.bad_in(first..first + blocks).chain(state.failing());
        bad.for_each(|block| seen[(block - first) as usize] = true);
        let open = fronts.iter().filter_map(|(_, front)| front.block.as_ref());
        for block in free.iter().chain(open).chain(victim) {
            match seen.get_mut(*block as usize) {
                None => {
                    let what = format!("plane {plane} has block {block} of {blocks}");
                    return Err(wrong(what));
                }
                Some(true) => {
                    let what = format!(
                        "block {block} of plane {plane} has two of the roles free, open, bad and \
                         being collected"
                    );
                    return Err(wrong(what));
                }
                Some(seen) => *seen = true,
            }
        }
        let together = state.together;
        let is_wrong = |Front { block, next_page: next }: Front| {
            next > pages || next % together != 0 || block.is_none() && next > 0
        };
        if let Some((_, Front { next_page: next, .. })) =
            fronts.iter().find(|(_, it)| is_wrong(*it))
        {
            let what = format!(
                "the next page of plane {plane} is {next}, of blocks of {pages} pages and \
                 programs of {together}"
            );
            return Err(wrong(what));
        }
        Ok(())
    }

    fn restore_pool(&mut self, plane: u32, Pool { free, fronts, victim, fills }: Pool) {
        let blocks = self.numbering.geometry.blocks_per_plane;
        let state = &mut self.planes[plane as usize];
        state.open(fronts.into_iter());
        let collected =
            |victim| Victim { block: plane * blocks + victim, retires: false, levels: false };
        state.victim = victim.map(collected);
        state.fills = fills;
        for block in free {
            state.add_free(block, self.wear.of(plane * blocks + block));
        }
    }

    /// Checks that the full blocks of a plane have distinct numbers below the next one, and other
    /// blocks none.
    fn check_numbers(&self, plane: u32) -> Result<(), UserError> {
        let full = self.in_order_of_filling(plane);
        let next = self.planes[plane as usize].fills;
        let numbers = full.iter().map(|block| self.fill_order[*block as usize]);
        let first = plane * self.numbering.geometry.blocks_per_plane;
        let blocks = first..first + self.numbering.geometry.blocks_per_plane;
        let numbered = blocks.filter(|block| self.fill_order[*block as usize] > 0);
        let of_full = full.iter().filter(|block| self.fill_order[**block as usize] > 0);
        let is_in_order = numbers.chain([next]).is_sorted_by(|number, next| number < next);
        let span = next.checked_sub(self.oldest_number(plane));
        if is_in_order
            && numbered.count() == of_full.count()
            && span.is_some_and(|span| span <= COUNT_MAX)
        {
            return Ok(());
        }
        Err(wrong(format!("the blocks of plane {plane} were filled in no order that can be")))
    }

    /// Returns the programmed pages of every block.
    fn programmed(&self) -> Vec<u32> {
        let mut programmed = vec![self.numbering.geometry.pages_per_block; self.fill_order.len()];
        for (plane, state) in (0..).zip(&self.planes) {
            let first = plane * self.numbering.geometry.blocks_per_plane;
            state.each_free(|block| programmed[(first + block) as usize] = 0);
            let bad = self.failing.bad_in(first..first + self.numbering.geometry.blocks_per_plane);
            bad.for_each(|block| programmed[block as usize] = 0);
            for Front { block, next_page } in state.fronts {
                if let Some(block) = block {
                    programmed[(first + block) as usize] = next_page;
                }
            }
        }
        programmed
    }

    /// Assigns a physical page to a logical one.
    fn restore_page(&mut self, lpn: u32, page: u32, programmed: &[u32]) -> Result<(), UserError> {
        let pages_per_block = self.numbering.pages_per_block();
        let (block, offset) = (page / pages_per_block, page % pages_per_block);
        if programmed.get(block as usize).is_none_or(|pages| offset >= *pages) {
            let what = format!("logical page {lpn} is on page {page}, which is not programmed");
            return Err(wrong(what));
        }
        if let Some(owner) = self.owner(page) {
            let what = format!("logical pages {owner} and {lpn} are both on page {page}");
            return Err(wrong(what));
        }
        self.planes[self.numbering.plane_of(block) as usize].committed += 1;
        self.validate(page, lpn);
        Ok(())
    }

    /// Checks that garbage collection of a plane can gain a page, and has a block to move pages to.
    fn check_room(&self, plane: u32) -> Result<(), UserError> {
        let pages = self.numbering.geometry.pages_per_block;
        let state = &self.planes[plane as usize];
        let most = state.good_blocks.saturating_sub(self.kept()) * pages;
        if state.committed > most {
            let what = format!(
                "plane {plane} holds {} pages of the user, and has room for {most}",
                state.committed
            );
            return Err(wrong(what));
        }
        let rooms = self.fronts.of_moved_data().map(|place| {
            let front = state.fronts[place];
            front.block.map_or(0, |_| pages - front.next_page)
        });
        let room = rooms.min().unwrap_or(0);
        let full = self.in_order_of_filling(plane);
        let fewest = full.iter().map(|block| self.index.valid(*block)).min();
        if state.free_blocks() == 0 && fewest.is_none_or(|fewest| fewest > room) {
            let what = format!("plane {plane} has no free block, and none that can be made free");
            return Err(wrong(what));
        }
        Ok(())
    }
}

fn other_streams(held: usize, open_blocks: usize) -> UserError {
    UserError::new(format!(
        "the state has {held} open blocks a plane, and ftl.stream and ftl.gc_stream ask for \
         {open_blocks}; both must be as they were"
    ))
}
