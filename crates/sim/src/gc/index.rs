//! Valid pages of every block, with the full blocks of a plane ordered by them: O(1) per change.

use crate::flash::NONE;

/// A block's entry in the list of full blocks that hold as many valid pages.
#[derive(Clone, Copy, Debug)]
struct Block {
    before: u32,
    after: u32,
    valid: u16,
    /// In a list: full, and not being reclaimed.
    listed: bool,
}

/// Counts valid pages; blocks are numbered over the drive.
#[derive(Clone, Debug)]
pub struct BlockIndex {
    blocks: Vec<Block>,
    /// First and last of each list: plane by plane, then by valid pages.
    lists: Vec<[u32; 2]>,
    /// The lowest list of the plane that has a block; `pages_per_block` if none below it has.
    lowest: Vec<u16>,
    blocks_per_plane: u32,
    pages_per_block: u16,
}

impl BlockIndex {
    /// All blocks empty and none listed.
    pub fn new(planes: u32, blocks_per_plane: u32, pages_per_block: u32) -> BlockIndex {
        let pages = u16::try_from(pages_per_block).expect("pages of a block fit 16 bits");
        let empty = Block { before: NONE, after: NONE, valid: 0, listed: false };
        BlockIndex {
            blocks: vec![empty; planes as usize * blocks_per_plane as usize],
            lists: vec![[NONE; 2]; planes as usize * (usize::from(pages) + 1)],
            lowest: vec![pages; planes as usize],
            blocks_per_plane,
            pages_per_block: pages,
        }
    }

    /// Valid pages of a block.
    #[inline]
    pub fn valid(&self, block: u32) -> u32 {
        u32::from(self.blocks[block as usize].valid)
    }

    /// A page of the block, which is not full yet or being filled, became valid.
    #[inline]
    pub fn add_valid(&mut self, block: u32) {
        let entry = &mut self.blocks[block as usize];
        debug_assert!(!entry.listed, "a page of a full block cannot become valid");
        entry.valid += 1;
        debug_assert!(entry.valid <= self.pages_per_block, "more valid pages than pages");
    }

    /// A page of the block became invalid; true if that made its plane worth collecting.
    #[inline]
    pub fn remove_valid(&mut self, block: u32) -> bool {
        if !self.blocks[block as usize].listed {
            let entry = &mut self.blocks[block as usize];
            entry.valid = entry.valid.checked_sub(1).expect("an empty block lost a page");
            return false;
        }
        let plane = block / self.blocks_per_plane;
        let had_victim = self.has_victim(plane);
        self.unlist(block);
        let entry = &mut self.blocks[block as usize];
        entry.valid = entry.valid.checked_sub(1).expect("an empty block lost a page");
        self.list(block);
        !had_victim
    }

    /// The block is full: from now on it can be reclaimed.
    #[inline]
    pub fn list(&mut self, block: u32) {
        let plane = block / self.blocks_per_plane;
        let valid = self.blocks[block as usize].valid;
        let list = self.list_of(plane, valid);
        let last = self.lists[list][1];
        let entry = &mut self.blocks[block as usize];
        entry.listed = true;
        entry.before = last;
        entry.after = NONE;
        if last == NONE {
            self.lists[list][0] = block;
        } else {
            self.blocks[last as usize].after = block;
        }
        self.lists[list][1] = block;
        let lowest = &mut self.lowest[plane as usize];
        *lowest = (*lowest).min(valid);
    }

    /// The block is being reclaimed: it cannot be picked again.
    #[inline]
    pub fn unlist(&mut self, block: u32) {
        let Block { before, after, valid, .. } = self.blocks[block as usize];
        let plane = block / self.blocks_per_plane;
        let list = self.list_of(plane, valid);
        if before == NONE {
            self.lists[list][0] = after;
        } else {
            self.blocks[before as usize].after = after;
        }
        if after == NONE {
            self.lists[list][1] = before;
        } else {
            self.blocks[after as usize].before = before;
        }
        self.blocks[block as usize].listed = false;
        if before == NONE && after == NONE && valid == self.lowest[plane as usize] {
            self.raise_lowest(plane);
        }
    }

    /// The lowest list has become empty: looks for the next that is not.
    fn raise_lowest(&mut self, plane: u32) {
        let from = self.lowest[plane as usize];
        let next = (from..self.pages_per_block)
            .find(|valid| self.lists[self.list_of(plane, *valid)][0] != NONE);
        self.lowest[plane as usize] = next.unwrap_or(self.pages_per_block);
    }

    /// The full block of the plane with the fewest valid pages, if reclaiming it gains a page.
    pub fn emptiest(&self, plane: u32) -> Option<u32> {
        let lowest = self.lowest[plane as usize];
        let list = self.lists[self.list_of(plane, lowest)];
        (lowest < self.pages_per_block).then_some(list[0])
    }

    /// Whether some full block of the plane holds an invalid page.
    #[inline]
    pub fn has_victim(&self, plane: u32) -> bool {
        self.lowest[plane as usize] < self.pages_per_block
    }

    #[inline]
    fn list_of(&self, plane: u32, valid: u16) -> usize {
        plane as usize * (usize::from(self.pages_per_block) + 1) + usize::from(valid)
    }
}
