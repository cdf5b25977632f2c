//! An FTL brought into a saved state, of which nothing is taken on trust.
//!
//! A file's checksum says that it is as it was written, not that a drive can be like this: who
//! writes a state by other means may get any of its numbers wrong.

use reprieve_base::UserError;

use super::plane::Front;
use super::rebuild::NONE;
use super::{Ftl, Mapping};
use crate::scenario::Scenario;
use crate::state::State;

/// Erases of a block, and fillings of blocks of a plane since its oldest one was filled: neither
/// comes near it in the life of a drive, and as many again can be counted.
const COUNT_MAX: u32 = 1 << 31;

/// The columns of the blocks of a plane.
struct Pool {
    free: Vec<u32>,
    front: Front,
    /// The block that is being collected.
    victim: Option<u32>,
    fills: u32,
}

impl Ftl {
    /// Brings an FTL with nothing written into a state.
    ///
    /// Errors if the state contradicts itself, or no drive can go on from it.
    pub fn restore(&mut self, state: &mut State, scenario: &Scenario) -> Result<(), UserError> {
        let pools = self.take_pools(state)?;
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
        for plane in 0..self.geometry.planes() {
            self.check_room(plane)?;
        }
        self.restore_sectors(state)?;
        self.settle(scenario);
        Ok(())
    }

    fn take_pools(&self, state: &mut State) -> Result<Vec<Pool>, UserError> {
        let planes = self.planes.len();
        let free_blocks = state.take("plane.free_blocks", planes)?;
        let sum: u64 = free_blocks.iter().map(|blocks| u64::from(*blocks)).sum();
        let free = state.take("plane.free", sum as usize)?;
        let open = state.take("plane.open", planes)?;
        let next_page = state.take("plane.next_page", planes)?;
        let fills = state.take("plane.fills", planes)?;
        let victims = state.take("plane.victim", planes)?;
        let mut free = free.into_iter();
        let pool = |plane: usize| Pool {
            free: free.by_ref().take(free_blocks[plane] as usize).collect(),
            front: Front {
                block: (open[plane] != NONE).then_some(open[plane]),
                next_page: next_page[plane],
            },
            victim: (victims[plane] != NONE).then_some(victims[plane]),
            fills: fills[plane],
        };
        Ok((0..planes).map(pool).collect())
    }

    /// Each block of a plane is free, open, being collected or full, and an open one is filled as
    /// programs fill it.
    fn check_pool(&self, plane: u32, pool: &Pool) -> Result<(), UserError> {
        let Pool { free, front, victim, .. } = pool;
        let (blocks, pages) = (self.geometry.blocks_per_plane, self.geometry.pages_per_block);
        let mut seen = vec![false; blocks as usize];
        for block in free.iter().chain(&front.block).chain(victim) {
            match seen.get_mut(*block as usize) {
                None => {
                    let what = format!("plane {plane} has block {block} of {blocks}");
                    return Err(wrong(what));
                }
                Some(true) => {
                    let what = format!(
                        "block {block} of plane {plane} has two of the roles free, open and being \
                         collected"
                    );
                    return Err(wrong(what));
                }
                Some(seen) => *seen = true,
            }
        }
        let next = front.next_page;
        let together = self.planes[plane as usize].together;
        if next > pages || next % together != 0 || front.block.is_none() && next > 0 {
            let what = format!(
                "the next page of plane {plane} is {next}, of blocks of {pages} pages and \
                 programs of {together}"
            );
            return Err(wrong(what));
        }
        Ok(())
    }

    fn restore_pool(&mut self, plane: u32, Pool { free, front, victim, fills }: Pool) {
        let blocks = self.geometry.blocks_per_plane;
        let state = &mut self.planes[plane as usize];
        state.open(front);
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
        let front = state.fronts[0];
        let room = front.block.map_or(0, |_| pages - front.next_page);
        let full = self.in_order_of_filling(plane);
        let fewest = full.iter().map(|block| self.index.valid(*block)).min();
        if state.free_blocks() == 0 && fewest.is_none_or(|fewest| fewest > room) {
            let what = format!("plane {plane} has no free block, and none that can be made free");
            return Err(wrong(what));
        }
        Ok(())
    }
}

pub(super) fn wrong(what: String) -> UserError {
    UserError::new(format!("the state contradicts itself: {what}; save it anew"))
}
