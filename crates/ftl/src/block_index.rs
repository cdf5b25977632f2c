//! Valid pages of every block, and the full block with fewest of a plane.
//!
//! An invalidation is one random memory access: blocks are not kept in order. A plane keeps a short
//! list of its emptiest full blocks, complete up to a limit of valid pages; when the list is used
//! up, one pass over the plane makes the next, so that a pick costs O(1) on average.

use reprieve_policy::victim::BlockView;

/// Minimum blocks in a new list of a plane, if it has them.
const LIST_BLOCKS: u32 = 64;
/// Size up to which a list always grows before it is rebuilt with a lower limit.
const LIST_BLOCKS_MAX: usize = 256;

/// The emptiest full blocks of a plane.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Emptiest {
    /// Every full block with at most `limit` valid pages, in order of reaching it.
    blocks: Vec<u32>,
    /// Below the pages of a block: a block without garbage is never listed.
    limit: u32,
    /// No block of the list has fewer valid pages.
    fewest: u32,
    /// Size above which the list is rebuilt: twice its first size, as many blocks may tie.
    anew_beyond: usize,
    /// Full blocks of the plane with at least one invalid page.
    with_garbage: u32,
}

/// Counts valid pages; blocks are numbered over the drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockIndex {
    valid: Vec<u32>,
    /// One bit a block: full, and not a victim.
    full: Vec<u64>,
    planes: Vec<Emptiest>,
    /// Scratch: full blocks of a plane by their valid pages.
    by_valid: Vec<u32>,
    blocks_per_plane: u32,
    pages_per_block: u32,
}

impl BlockIndex {
    /// Creates the index with all blocks empty and none full.
    pub fn new(planes: u32, blocks_per_plane: u32, pages_per_block: u32) -> BlockIndex {
        let blocks = planes as usize * blocks_per_plane as usize;
        let capacity = (LIST_BLOCKS_MAX + 1).min(blocks_per_plane as usize);
        let plane = || Emptiest {
            blocks: Vec::with_capacity(capacity),
            limit: 0,
            fewest: 0,
            anew_beyond: LIST_BLOCKS_MAX,
            with_garbage: 0,
        };
        BlockIndex {
            valid: vec![0; blocks],
            full: vec![0; blocks.div_ceil(64)],
            planes: (0..planes).map(|_| plane()).collect(),
            by_valid: vec![0; pages_per_block as usize + 1],
            blocks_per_plane,
            pages_per_block,
        }
    }

    /// Returns the valid pages of a block.
    #[inline]
    pub fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize]
    }

    /// Whether the block is full and not a victim.
    #[inline]
    pub fn is_full(&self, block: u32) -> bool {
        self.full[block as usize / 64] & (1 << (block % 64)) != 0
    }

    /// Counts a valid page of a block that is being filled.
    #[inline]
    pub fn add_valid(&mut self, block: u32) {
        debug_assert!(!self.is_full(block), "a page of a full block cannot become valid");
        self.valid[block as usize] += 1;
        debug_assert!(self.valid[block as usize] <= self.pages_per_block, "too many valid pages");
    }

    /// Counts valid pages of a block that is being filled.
    #[inline]
    pub fn add_valid_pages(&mut self, block: u32, pages: u32) {
        debug_assert!(!self.is_full(block), "a page of a full block cannot become valid");
        let valid = self.valid(block) + pages;
        assert!(valid <= self.pages_per_block, "too many valid pages");
        self.valid[block as usize] = valid;
    }

    /// Resets the valid pages of a victim; returns their number.
    pub fn take_valid(&mut self, block: u32) -> u32 {
        debug_assert!(!self.is_full(block), "it was not reclaimed");
        std::mem::take(&mut self.valid[block as usize])
    }

    /// Counts an invalidated page of a block; true if that made its plane worth collecting.
    #[inline]
    pub fn remove_valid(&mut self, block: u32) -> bool {
        let valid = &mut self.valid[block as usize];
        *valid = valid.checked_sub(1).expect("a block without valid pages lost one");
        let valid = *valid;
        if !self.is_full(block) {
            return false;
        }
        let plane = &mut self.planes[(block / self.blocks_per_plane) as usize];
        let first_garbage = valid + 1 == self.pages_per_block;
        plane.with_garbage += u32::from(first_garbage);
        let worth = first_garbage && plane.with_garbage == 1;
        if valid <= plane.limit {
            plane.fewest = plane.fewest.min(valid);
            if valid == plane.limit {
                plane.blocks.push(block);
                if plane.blocks.len() > plane.anew_beyond {
                    self.list_anew(block / self.blocks_per_plane);
                }
            }
        }
        worth
    }

    /// Marks a block as full, so that it can be a victim.
    #[inline]
    pub fn fill(&mut self, block: u32) {
        debug_assert!(!self.is_full(block), "a block is filled once");
        self.full[block as usize / 64] |= 1 << (block % 64);
        let valid = self.valid[block as usize];
        let plane = &mut self.planes[(block / self.blocks_per_plane) as usize];
        plane.with_garbage += u32::from(valid < self.pages_per_block);
        if valid <= plane.limit {
            plane.fewest = plane.fewest.min(valid);
            plane.blocks.push(block);
        }
    }

    /// Marks a block as a victim, so that it cannot be picked again before it is full again.
    pub fn reclaim(&mut self, block: u32) {
        debug_assert!(self.is_full(block), "only full blocks are reclaimed");
        self.full[block as usize / 64] &= !(1 << (block % 64));
        let valid = self.valid[block as usize];
        let plane = &mut self.planes[(block / self.blocks_per_plane) as usize];
        plane.with_garbage -= u32::from(valid < self.pages_per_block);
        if valid <= plane.limit {
            let listed = plane.blocks.iter().position(|listed| *listed == block);
            plane.blocks.remove(listed.expect("the list is complete up to its limit"));
        }
    }

    /// Whether a full block of the plane has an invalid page.
    #[inline]
    pub fn has_victim(&self, plane: u32) -> bool {
        self.planes[plane as usize].with_garbage > 0
    }

    /// Returns the full block of the plane with the fewest valid pages, if it has an invalid one.
    ///
    /// Among equals the first in the list.
    fn emptiest_of(&mut self, plane: u32) -> Option<u32> {
        if !self.has_victim(plane) {
            return None;
        }
        if self.planes[plane as usize].blocks.is_empty() {
            self.list_anew(plane);
        }
        let list = &mut self.planes[plane as usize];
        let mut best = (u32::MAX, 0);
        for block in &list.blocks {
            let valid = self.valid[*block as usize];
            if valid < best.0 {
                best = (valid, *block);
                if valid == list.fewest {
                    break;
                }
            }
        }
        list.fewest = best.0;
        Some(best.1)
    }

    /// Checks the list of a plane against the counts of its blocks.
    pub fn verify(&self, plane: u32) -> Result<(), String> {
        let first = plane * self.blocks_per_plane;
        let list = &self.planes[plane as usize];
        let full = || (first..first + self.blocks_per_plane).filter(|block| self.is_full(*block));
        let with_garbage =
            full().filter(|block| self.valid[*block as usize] < self.pages_per_block).count();
        if with_garbage != list.with_garbage as usize {
            let counted = list.with_garbage;
            return Err(format!(
                "{with_garbage} blocks of plane {plane} are worth it, not {counted}"
            ));
        }
        let mut listed = list.blocks.clone();
        listed.sort_unstable();
        let emptiest = full().filter(|block| self.valid[*block as usize] <= list.limit);
        if !listed.iter().copied().eq(emptiest) {
            return Err(format!(
                "the list of the emptiest blocks of plane {plane} is not of those"
            ));
        }
        Ok(())
    }

    /// Lists the emptiest full blocks of a plane, in the order of their numbers.
    #[cold]
    fn list_anew(&mut self, plane: u32) {
        let first = plane * self.blocks_per_plane;
        let blocks = first..first + self.blocks_per_plane;
        let limit = self.limit_for(blocks.clone());
        let mut list = std::mem::take(&mut self.planes[plane as usize].blocks);
        list.clear();
        list.extend(
            blocks.filter(|block| self.is_full(*block) && self.valid[*block as usize] <= limit),
        );
        let fewest = list.iter().map(|block| self.valid[*block as usize]).min();
        let plane = &mut self.planes[plane as usize];
        plane.anew_beyond = LIST_BLOCKS_MAX.max(2 * list.len());
        plane.blocks = list;
        plane.limit = limit;
        plane.fewest = fewest.unwrap_or(0);
    }

    /// Returns the lowest limit of valid pages that enough full blocks do not exceed.
    fn limit_for(&mut self, blocks: std::ops::Range<u32>) -> u32 {
        self.by_valid.fill(0);
        for block in blocks {
            let full = u32::from(self.is_full(block));
            self.by_valid[self.valid[block as usize] as usize] += full;
        }
        let most = self.pages_per_block - 1;
        let mut enough = 0;
        let limit = (0..most).find(|valid| {
            enough += self.by_valid[*valid as usize];
            enough >= LIST_BLOCKS
        });
        limit.unwrap_or(most)
    }
}

impl BlockView for BlockIndex {
    fn emptiest(&mut self, plane: u32) -> Option<u32> {
        self.emptiest_of(plane)
    }

    fn blocks_per_plane(&self) -> u32 {
        self.blocks_per_plane
    }

    fn gain(&self, block: u32) -> Option<u32> {
        let invalid = self.pages_per_block - self.valid(block);
        self.is_full(block).then_some(invalid)
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    /// Random fills and invalidations: the pick is always one with the fewest valid pages.
    #[test]
    fn the_pick_is_the_emptiest() {
        const BLOCKS: u32 = 700;
        const PAGES: u32 = 16;
        let mut stream = Stream::new(3, "test.index", 0);
        let mut index = BlockIndex::new(2, BLOCKS, PAGES);
        let mut left = vec![PAGES; BLOCKS as usize];
        let plane = 1;
        for block in 0..BLOCKS {
            (0..PAGES).for_each(|_| index.add_valid(plane * BLOCKS + block));
            index.fill(plane * BLOCKS + block);
        }
        assert_eq!(index.emptiest(plane), None, "nothing is to be gained yet");
        assert!(!index.has_victim(plane));
        for round in 0..20_000u32 {
            let block = stream.below(u64::from(BLOCKS)) as u32;
            if left[block as usize] > 0 {
                left[block as usize] -= 1;
                index.remove_valid(plane * BLOCKS + block);
            }
            if round % 3 == 0 {
                let picked = index.emptiest(plane).expect("garbage was made") - plane * BLOCKS;
                let fewest = left.iter().min().expect("not empty");
                assert_eq!(left[picked as usize], *fewest, "round {round}");
                // Collected, and filled again with valid pages.
                index.reclaim(plane * BLOCKS + picked);
                while left[picked as usize] < PAGES {
                    index.add_valid(plane * BLOCKS + picked);
                    left[picked as usize] += 1;
                }
                index.fill(plane * BLOCKS + picked);
            }
        }
        assert!(!index.has_victim(0), "the other plane has no blocks in use");
    }

    /// The planes of a die together have more pages in a superblock than 16 bits count.
    #[test]
    fn blocks_may_be_large() {
        const PAGES: u32 = 70_000;
        let mut index = BlockIndex::new(1, 3, PAGES);
        for (block, garbage) in [(0, 3), (1, 65_537), (2, 4_465)] {
            index.add_valid_pages(block, PAGES);
            index.fill(block);
            (0..garbage).for_each(|_| {
                index.remove_valid(block);
            });
            assert_eq!(index.gain(block), Some(garbage));
        }
        assert_eq!(index.emptiest(0), Some(1));
    }

    #[test]
    fn many_equals_are_picked_in_order() {
        let mut index = BlockIndex::new(1, 2_000, 2);
        for block in 0..2_000 {
            index.add_valid(block);
            index.add_valid(block);
            index.fill(block);
            index.remove_valid(block);
        }
        for block in 0..2_000 {
            assert_eq!(index.emptiest(0), Some(block));
            index.reclaim(block);
        }
        assert_eq!(index.emptiest(0), None);
    }
}
