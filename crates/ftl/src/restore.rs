//! An FTL brought into a saved state, of which nothing is taken on trust.
//!
//! A file's checksum says that it is as it was written, not that a drive can be like this: who
//! writes a state by other means may get any of its numbers wrong.

use std::collections::BTreeSet;

use reprieve_base::UserError;
use reprieve_config::Scenario;
use reprieve_state::State;

use super::demand::{MAP_PAGES, MAP_STALE};
use super::plane::Front;
use super::rebuild::{BAD, FAILED, GOOD, NONE};
use super::{Ftl, Mapping};

/// Erases of a block, and fillings of blocks of a plane since its oldest one was filled: neither
/// comes near it in the life of a drive, and as many again can be counted.
const COUNT_MAX: u32 = 1 << 31;

/// The columns of the blocks of a plane.
struct Pool {
    free: Vec<u32>,
    /// Each at its place among the open blocks of a plane.
    fronts: Vec<(usize, Front)>,
    /// The block that is being collected.
    victim: Option<u32>,
    fills: u32,
}

impl Ftl {
    /// Brings an FTL with nothing written into a state.
    ///
    /// Errors if the state contradicts itself, or no drive can go on from it.
    pub fn restore(&mut self, state: &mut State, scenario: &Scenario) -> Result<(), UserError> {
        self.check_mapping(state)?;
        let pools = self.take_pools(state)?;
        self.restore_bad(state)?;
        self.filled = state.take("block.filled", self.filled.len())?;
        let erases = state.take("block.erases", self.filled.len())?;
        if let Some(block) = erases.iter().position(|erases| *erases > COUNT_MAX) {
            return Err(wrong(format!("block {block} was erased {} times", erases[block])));
        }
        self.wear.start_with(erases);
        let position = state.take("placement.position", 1)?[0];
        let positions = self.placement.positions();
        if position >= positions {
            return Err(wrong(format!("placement is at {position} of {positions} places")));
        }
        self.placement.go_to(position);
        for (plane, pool) in (0..).zip(pools) {
            self.check_pool(plane, &pool)?;
            self.restore_pool(plane, pool);
            self.check_numbers(plane)?;
        }
        let programmed = self.programmed();
        let pages = state.take("map.physical", self.logical_pages() as usize)?;
        for (lpn, entry) in (0..).zip(pages) {
            self.restore_page(lpn, entry, &programmed)?;
        }
        self.restore_map_pages(state, &programmed)?;
        for plane in 0..self.geometry.planes() {
            self.check_room(plane)?;
        }
        self.sectors.restore(state, &self.map)?;
        // After a loss of power nobody remembers.
        if state.has("stream.memory") && !self.fronts.memory().is_empty() {
            let memory = state.take("stream.memory", self.logical_pages() as usize)?;
            self.fronts.remember(&memory);
        }
        self.settle(scenario);
        Ok(())
    }

    /// A state has pages of a mapping in flash if the drive does.
    fn check_mapping(&self, state: &State) -> Result<(), UserError> {
        let (is, must) = match (state.has(MAP_PAGES), self.demand.is_some()) {
            (true, false) => ("in flash", "demand"),
            (false, true) => ("in memory", "flat"),
            _ => return Ok(()),
        };
        Err(UserError::new(format!(
            "ftl.mapping: the state has its mapping {is}; must be \"{must}\" to start from it"
        )))
    }

    /// The pages of a mapping in flash, and those of them that have to be written anew. Nothing of
    /// it is in memory.
    fn restore_map_pages(
        &mut self,
        state: &mut State,
        programmed: &[u32],
    ) -> Result<(), UserError> {
        if self.demand.is_none() {
            return Ok(());
        }
        let pages = self.all_pages() - self.logical_pages();
        let entries = state.take(MAP_PAGES, pages as usize)?;
        for (lpn, entry) in (self.logical_pages()..).zip(entries) {
            self.restore_page(lpn, entry, programmed)?;
        }
        let stale = state.take_any(MAP_STALE);
        let is_in_order = stale.is_sorted_by(|one, next| one < next);
        if !is_in_order || stale.last().is_some_and(|last| *last >= pages) {
            return Err(wrong(format!("of {pages} pages of the mapping, none can be stale so")));
        }
        self.write_anew(stale);
        Ok(())
    }

    /// Which blocks are bad, whatever the drive was drawn with; where the state does not say, none.
    fn restore_bad(&mut self, state: &mut State) -> Result<(), UserError> {
        let states = match state.has("block.bad") {
            true => state.take("block.bad", self.filled.len())?,
            false => vec![GOOD; self.filled.len()],
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
        let blocks = self.geometry.blocks_per_plane;
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
            if state.good_blocks < self.needed_blocks {
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

    /// Each block of a plane is free, open, being collected or full, and an open one is filled as
    /// programs fill it.
    fn check_pool(&self, plane: u32, pool: &Pool) -> Result<(), UserError> {
        let Pool { free, fronts, victim, .. } = pool;
        let (blocks, pages) = (self.geometry.blocks_per_plane, self.geometry.pages_per_block);
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
        let blocks = self.geometry.blocks_per_plane;
        let state = &mut self.planes[plane as usize];
        state.open(fronts.into_iter());
        state.job.victim = victim.map(|victim| plane * blocks + victim);
        state.fills = fills;
        for block in free {
            state.add_free(block, self.wear.of(plane * blocks + block));
        }
    }

    /// The full blocks of a plane have numbers of their own, below that of the next; no other
    /// block has one.
    fn check_numbers(&self, plane: u32) -> Result<(), UserError> {
        let full = self.in_order_of_filling(plane);
        let next = self.planes[plane as usize].fills;
        let numbers = full.iter().map(|block| self.filled[*block as usize]);
        let first = plane * self.geometry.blocks_per_plane;
        let blocks = first..first + self.geometry.blocks_per_plane;
        let numbered = blocks.filter(|block| self.filled[*block as usize] > 0);
        let of_full = full.iter().filter(|block| self.filled[**block as usize] > 0);
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

    /// Pages of every block that are programmed.
    fn programmed(&self) -> Vec<u32> {
        let mut programmed = vec![self.geometry.pages_per_block; self.filled.len()];
        for (plane, state) in (0..).zip(&self.planes) {
            let first = plane * self.geometry.blocks_per_plane;
            state.each_free(|block| programmed[(first + block) as usize] = 0);
            let bad = self.failing.bad_in(first..first + self.geometry.blocks_per_plane);
            bad.for_each(|block| programmed[block as usize] = 0);
            for Front { block, next_page } in state.fronts {
                if let Some(block) = block {
                    programmed[(first + block) as usize] = next_page;
                }
            }
        }
        programmed
    }

    fn restore_page(&mut self, lpn: u32, entry: u32, programmed: &[u32]) -> Result<(), UserError> {
        let mapping = Mapping::decode(entry);
        if let Mapping::Flash(page) = mapping {
            let (block, offset) =
                (page / self.geometry.pages_per_block, page % self.geometry.pages_per_block);
            let holds = |block: usize| programmed.get(block).is_some_and(|pages| offset < *pages);
            if !holds(block as usize) {
                let what = format!("logical page {lpn} is on page {page}, which is not programmed");
                return Err(wrong(what));
            }
            if let Some(owner) = self.map.owner(page) {
                let what = format!("logical pages {owner} and {lpn} are both on page {page}");
                return Err(wrong(what));
            }
            self.planes[(block / self.geometry.blocks_per_plane) as usize].committed += 1;
            self.validate(page, lpn);
        } else if let Mapping::Buffered(_) = mapping {
            return Err(wrong(format!("logical page {lpn} is in the buffer of a drive at rest")));
        }
        self.map.set(lpn, mapping);
        Ok(())
    }

    /// Garbage collection of a plane has something to gain, and somewhere to move pages to.
    fn check_room(&self, plane: u32) -> Result<(), UserError> {
        let pages = self.geometry.pages_per_block;
        let state = &self.planes[plane as usize];
        let most = state.good_blocks.saturating_sub(self.blocks_kept()) * pages;
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

pub(super) fn wrong(what: String) -> UserError {
    UserError::new(format!("the state contradicts itself: {what}; save it anew"))
}
