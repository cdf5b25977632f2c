//! A plane's pool of blocks: the free list and the blocks that are being filled.

use std::collections::VecDeque;

use reprieve_base::Rare;
use reprieve_policy::stream::{FRONTS, SLC_FRONT};

use super::free::FreeBlocks;
use super::slc_plane::SlcPlane;

/// An open block and its next page.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Front {
    /// The block that is being filled.
    pub(super) block: Option<u32>,
    pub(super) next_page: u32,
}

/// A victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Victim {
    /// Counted over the drive.
    pub(super) block: u32,
    /// A program has failed in it: it is retired, not erased.
    pub(super) retires: bool,
    /// It is little worn: its pages are seldom written, and move to a block that is much worn.
    pub(super) levels: bool,
}

/// Allocation state of one plane. Blocks are numbered within the plane.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Plane {
    free: FreeBlocks,
    /// Open blocks of each host stream, then of moved pages and of the mapping.
    pub(super) fronts: [Front; FRONTS],
    /// Blocks in SLC mode, if the drive has any.
    pub(super) slc: Rare<SlcPlane>,
    /// Pages of a block per program.
    pub(super) together: u32,
    /// Valid pages, and host pages to be programmed here.
    pub(super) committed: u32,
    /// Good blocks.
    pub(super) good_blocks: u32,
    /// Blocks, counted over the drive, with a failed program, whose pages have to move.
    pub(super) failed: VecDeque<u32>,
    /// Blocks, counted over the drive, of zones that were reset, which wait for their erases.
    pub(super) resets: VecDeque<u32>,
    /// A block, counted over the drive, whose low wear makes it the next victim.
    pub(super) unworn: Option<u32>,
    /// Full blocks, counted over the drive, to be refreshed in idle time.
    pub(super) refreshes: VecDeque<u32>,
    /// The open block of wear levelling is so little worn that other moved pages fill it too.
    pub(super) completes_levelling: bool,
    /// Blocks filled, which numbers them in that order.
    pub(super) fills: u32,
    /// The block that is being collected.
    pub(super) victim: Option<Victim>,
    /// The full block, counted over the drive, that is the next one: the policy has picked it, and
    /// some of its pages have filled up a program.
    pub(super) next_victim: Option<u32>,
}

/// A page that was allocated, and the block that became full before it.
pub(super) struct Allocated {
    pub(super) block: u32,
    pub(super) page: u32,
    pub(super) filled: Option<u32>,
}

impl Plane {
    /// A plane of which no block is free yet.
    pub(super) fn new(
        least_worn_first: bool,
        blocks: u32,
        together: u32,
        slc: Rare<SlcPlane>,
    ) -> Plane {
        Plane {
            free: FreeBlocks::new(least_worn_first, blocks),
            slc,
            fronts: [Front::default(); FRONTS],
            together,
            committed: 0,
            good_blocks: 0,
            failed: VecDeque::new(),
            resets: VecDeque::new(),
            unworn: None,
            refreshes: VecDeque::new(),
            completes_levelling: false,
            fills: 0,
            victim: None,
            next_victim: None,
        }
    }

    /// Starts with no block free and these open, each at its place.
    pub(super) fn open(&mut self, fronts: impl Iterator<Item = (usize, Front)>) {
        self.free.clear();
        fronts.for_each(|(place, front)| self.fronts[place] = front);
    }

    /// Blocks that are being filled.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = u32> {
        self.fronts.iter().filter_map(|front| front.block)
    }

    /// Blocks, counted over the drive, on which a program failed and that are not out of use yet.
    pub(super) fn failing(&self) -> impl Iterator<Item = u32> {
        let victim = self.victim.filter(|victim| victim.retires);
        self.failed.iter().copied().chain(victim.map(|victim| victim.block))
    }

    /// Whether the block that is being collected is given up.
    #[inline]
    pub(super) fn retires(&self) -> bool {
        self.victim.is_some_and(|victim| victim.retires)
    }

    /// Free blocks in the order in which they became free.
    pub(super) fn free_list(&self) -> Vec<u32> {
        let mut list = self.free.by_age();
        list.extend(self.slc.get().iter().flat_map(|slc| slc.free.by_age()));
        list
    }

    #[inline]
    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len()
    }

    /// Resets the erase counts, which are no wear of the run.
    pub(super) fn forget_free_wear(&mut self) {
        self.free.forget_wear();
        if self.slc.get().is_some() {
            self.slc.free.forget_wear();
        }
    }

    /// Returns the free block with the most erases, and their number; `erases` gives a block's.
    pub(super) fn most_worn_free(&self, erases: impl Fn(u32) -> u32) -> Option<(u32, u32)> {
        let mut most = None;
        self.free.each(|block| {
            let erases = erases(block);
            if most.is_none_or(|(_, most)| erases > most) {
                most = Some((block, erases));
            }
        });
        most
    }

    pub(super) fn each_free(&self, mut say: impl FnMut(u32)) {
        self.free.each(&mut say);
        if let Some(slc) = self.slc.get() {
            slc.free.each(say);
        }
    }

    /// Adds a free block, after `erases` erases.
    #[inline]
    pub(super) fn add_free(&mut self, block: u32, erases: u32) {
        match self.slc.get().is_some_and(|slc| block < slc.own_blocks) {
            true => self.slc.free.push(block, erases),
            false => self.free.push(block, erases),
        }
    }

    /// The free blocks of which the next for one of the fronts is opened.
    #[inline]
    fn pool(&self, front: usize) -> &FreeBlocks {
        let slc = self.slc.get().filter(|slc| front == SLC_FRONT && slc.own_blocks > 0);
        slc.map_or(&self.free, |slc| &slc.free)
    }

    #[inline]
    fn pool_mut(&mut self, front: usize) -> &mut FreeBlocks {
        match front == SLC_FRONT && self.slc.own_blocks > 0 {
            true => &mut self.slc.free,
            false => &mut self.free,
        }
    }

    /// Opens a free block for one of the fronts; returns the block that it had filled.
    pub(super) fn open_block(&mut self, front: usize, block: u32) -> Option<u32> {
        self.free.take(block);
        std::mem::replace(&mut self.fronts[front], Front { block: Some(block), next_page: 0 }).block
    }

    /// Pages that its open blocks still take.
    pub(super) fn open_pages(&self, pages_per_block: u32) -> u32 {
        let open = self.fronts[..SLC_FRONT].iter().filter(|front| front.block.is_some());
        open.map(|front| pages_per_block - front.next_page).sum()
    }

    #[inline]
    pub(super) fn is_open(&self, front: usize, pages_per_block: u32) -> bool {
        let front = &self.fronts[front];
        front.block.is_some() && front.next_page < pages_per_block
    }

    /// Whether a host page may be written while `reserve` blocks are kept for garbage collection.
    #[inline]
    pub(super) fn has_room(&self, front: usize, reserve: u32, pages_per_block: u32) -> bool {
        if front == SLC_FRONT && self.slc.own_blocks > 0 {
            return self.slc.free.len() > 0 || self.is_open(front, pages_per_block);
        }
        let free = self.free_blocks();
        free > reserve || (free == reserve && self.is_open(front, pages_per_block))
    }

    /// Whether garbage collection, which may use the reserve, can write a page.
    #[inline]
    pub(super) fn can_allocate(&self, front: usize, pages_per_block: u32) -> bool {
        self.free_blocks() > 0 || self.is_open(front, pages_per_block)
    }

    /// Whether it can hold one more page with `blocks_kept` blocks not full of valid ones.
    #[inline]
    pub(super) fn can_hold(&self, blocks_kept: u32, pages_per_block: u32) -> bool {
        self.room(blocks_kept, pages_per_block) > 0
    }

    /// How many more pages it can hold so.
    #[inline]
    pub(super) fn room(&self, blocks_kept: u32, pages_per_block: u32) -> u32 {
        let most = self.good_blocks.saturating_sub(blocks_kept) * pages_per_block;
        most.saturating_sub(self.committed)
    }

    /// Returns the missing pages of a program that was started page by page at an open block.
    pub(super) fn missing(&self, place: usize) -> u32 {
        let next = self.fronts[place].next_page;
        next.next_multiple_of(self.together) - next
    }

    /// Pads the rest of a wordline that was started page by page.
    pub(super) fn pad(&mut self) {
        self.pad_each(0..FRONTS);
    }

    /// Pads the open blocks at these places.
    pub(super) fn pad_each(&mut self, places: impl Iterator<Item = usize>) {
        for place in places {
            let front = &mut self.fronts[place];
            front.next_page = front.next_page.next_multiple_of(self.together);
        }
    }

    /// The pages that a program takes, of which the first is returned.
    #[inline]
    pub(super) fn allocate_together(&mut self, front: usize, pages_per_block: u32) -> Allocated {
        let got = self.allocate(front, pages_per_block);
        debug_assert!(got.page % self.together == 0, "a wordline is begun page by page");
        self.fronts[front].next_page += self.together - 1;
        got
    }

    /// Block and page that `allocate_together` would take.
    ///
    /// Panics if no block is free, as that does.
    pub(super) fn next(&self, front: usize, pages_per_block: u32) -> (u32, u32) {
        match self.fronts[front] {
            Front { block: Some(block), next_page } if next_page < pages_per_block => {
                (block, next_page)
            }
            _ => (self.pool(front).first().expect("the reserve of free blocks is kept"), 0),
        }
    }

    /// Offset in its block of the page that a program takes next.
    pub(super) fn next_offset(&self, front: usize, pages_per_block: u32) -> u32 {
        if self.is_open(front, pages_per_block) { self.fronts[front].next_page } else { 0 }
    }

    /// The next page of an open block; opens the next free block when that is full.
    ///
    /// Panics if no block is free: the caller keeps the reserve.
    #[inline(always)]
    pub(super) fn allocate(&mut self, front: usize, pages_per_block: u32) -> Allocated {
        let mut filled = None;
        let block = match self.fronts[front] {
            Front { block: Some(block), next_page } if next_page < pages_per_block => block,
            full => {
                filled = full.block;
                let next = self.pool_mut(front).pop();
                let block = next.expect("the reserve of free blocks is kept");
                self.fronts[front] = Front { block: Some(block), next_page: 0 };
                block
            }
        };
        let front = &mut self.fronts[front];
        let page = front.next_page;
        front.next_page += 1;
        Allocated { block, page, filled }
    }

    /// Closes an open block without its being full: nothing more is written to it.
    pub(super) fn close(&mut self, block: u32) {
        let front = self.fronts.iter_mut().find(|front| front.block == Some(block));
        *front.expect("a program goes to an open block") = Front::default();
    }

    /// Takes up to `most` further pages of an open block; returns how many it had.
    #[inline]
    pub(super) fn take_more(&mut self, front: usize, most: u32, pages_per_block: u32) -> u32 {
        let front = &mut self.fronts[front];
        let run = most.min(pages_per_block - front.next_page);
        front.next_page += run;
        run
    }
}
