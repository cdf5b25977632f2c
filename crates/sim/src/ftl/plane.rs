//! A plane's pool of blocks: the free list and the block that is being filled.

use std::collections::VecDeque;

use super::job::Job;

/// Allocation state of one plane. Blocks are numbered within the plane.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// Erased blocks, the longest erased first.
    free: VecDeque<u32>,
    /// The block that is being filled.
    pub(super) active: Option<u32>,
    /// Its next page.
    pub(super) next_page: u32,
    /// Valid pages, and pages of the host that will be programmed here.
    pub(super) committed: u32,
    /// Erases begun, by which queued reads notice that their address may be void.
    pub(super) erases: u32,
    /// Blocks filled, which numbers them in that order.
    pub(super) fills: u32,
    pub(super) job: Job,
}

/// A page that was allocated, and the block that became full before it.
pub(super) struct Allocated {
    pub(super) block: u32,
    pub(super) page: u32,
    pub(super) filled: Option<u32>,
}

impl Plane {
    pub(super) fn new(blocks: u32) -> Plane {
        Plane {
            free: (0..blocks).collect(),
            active: None,
            next_page: 0,
            committed: 0,
            erases: 0,
            fills: 0,
            job: Job::default(),
        }
    }

    /// Starts with these free blocks, the longest erased first, and this open one.
    pub(super) fn open(&mut self, free: VecDeque<u32>, active: Option<u32>, next_page: u32) {
        self.free = free;
        self.active = active;
        self.next_page = next_page;
    }

    #[inline]
    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    pub(super) fn free_list(&self) -> impl Iterator<Item = u32> {
        self.free.iter().copied()
    }

    #[inline]
    pub(super) fn add_free(&mut self, block: u32) {
        self.free.push_back(block);
    }

    /// Whether a host page may be written while `reserve` blocks are kept for garbage collection.
    #[inline]
    pub(super) fn has_room(&self, reserve: u32, pages_per_block: u32) -> bool {
        let free = self.free_blocks();
        let open = self.active.is_some() && self.next_page < pages_per_block;
        free > reserve || (free == reserve && open)
    }

    /// Offset in its block of the next page.
    pub(super) fn next_offset(&self, pages_per_block: u32) -> u32 {
        match self.active {
            Some(_) if self.next_page < pages_per_block => self.next_page,
            _ => 0,
        }
    }

    /// The next page of the open block; opens the next free block when that is full.
    ///
    /// Panics if no block is free: the caller keeps the reserve.
    #[inline]
    pub(super) fn allocate(&mut self, pages_per_block: u32) -> Allocated {
        let mut filled = None;
        let block = match self.active {
            Some(block) if self.next_page < pages_per_block => block,
            full => {
                filled = full;
                let block = self.free.pop_front().expect("the reserve of free blocks is kept");
                self.active = Some(block);
                self.next_page = 0;
                block
            }
        };
        let page = self.next_page;
        self.next_page += 1;
        Allocated { block, page, filled }
    }

    /// Takes up to `most` further pages of the open block; returns how many it had.
    #[inline]
    pub(super) fn take_more(&mut self, most: u32, pages_per_block: u32) -> u32 {
        let run = most.min(pages_per_block - self.next_page);
        self.next_page += run;
        run
    }
}
