//! The free blocks of a plane, and which of them is written next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Erased blocks, numbered within their plane.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum FreeBlocks {
    /// The longest erased first.
    Oldest(VecDeque<u32>),
    /// The one with the fewest erases first, of equals the longest erased.
    LeastWorn {
        /// Erases, order of becoming free, block.
        blocks: BinaryHeap<Reverse<(u32, u64, u32)>>,
        /// Count of freed blocks.
        count: u64,
    },
}

impl FreeBlocks {
    /// No block is free yet; there is room for `blocks`.
    pub(super) fn new(least_worn_first: bool, blocks: u32) -> FreeBlocks {
        match least_worn_first {
            true => FreeBlocks::LeastWorn {
                blocks: BinaryHeap::with_capacity(blocks as usize),
                count: 0,
            },
            false => FreeBlocks::Oldest(VecDeque::with_capacity(blocks as usize)),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.len() as u32,
            FreeBlocks::LeastWorn { blocks, .. } => blocks.len() as u32,
        }
    }

    /// Every free block, in any order.
    pub(super) fn each(&self, mut say: impl FnMut(u32)) {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.iter().for_each(|block| say(*block)),
            FreeBlocks::LeastWorn { blocks, .. } => {
                blocks.iter().for_each(|Reverse((_, _, block))| say(*block));
            }
        }
    }

    /// Every free block in the order in which they became free.
    pub(super) fn by_age(&self) -> Vec<u32> {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.iter().copied().collect(),
            FreeBlocks::LeastWorn { blocks, .. } => {
                let mut aged: Vec<(u64, u32)> =
                    blocks.iter().map(|Reverse((_, order, block))| (*order, *block)).collect();
                aged.sort_unstable();
                aged.into_iter().map(|(_, block)| block).collect()
            }
        }
    }

    /// No block is free any more.
    pub(super) fn clear(&mut self) {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.clear(),
            FreeBlocks::LeastWorn { blocks, .. } => blocks.clear(),
        }
    }

    /// Adds a block, after `erases` erases.
    #[inline]
    pub(super) fn push(&mut self, block: u32, erases: u32) {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.push_back(block),
            FreeBlocks::LeastWorn { blocks, count } => {
                blocks.push(Reverse((erases, *count, block)));
                *count += 1;
            }
        }
    }

    /// No free block counts as erased any more; their order stays.
    pub(super) fn forget_wear(&mut self) {
        if let FreeBlocks::LeastWorn { blocks, .. } = self {
            let old = std::mem::take(blocks).into_vec();
            blocks.extend(
                old.into_iter().map(|Reverse((_, order, block))| Reverse((0, order, block))),
            );
        }
    }

    /// The block that is written next.
    pub(super) fn first(&self) -> Option<u32> {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.front().copied(),
            FreeBlocks::LeastWorn { blocks, .. } => {
                blocks.peek().map(|Reverse((_, _, block))| *block)
            }
        }
    }

    /// Removes this block.
    ///
    /// Panics if it is not free.
    pub(super) fn take(&mut self, block: u32) {
        let before = self.len();
        match self {
            FreeBlocks::Oldest(blocks) => blocks.retain(|other| *other != block),
            FreeBlocks::LeastWorn { blocks, .. } => {
                blocks.retain(|Reverse((_, _, other))| *other != block);
            }
        }
        assert_eq!(self.len() + 1, before, "a free block is taken once");
    }

    /// Takes the block that is written next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        match self {
            FreeBlocks::Oldest(blocks) => blocks.pop_front(),
            FreeBlocks::LeastWorn { blocks, .. } => {
                blocks.pop().map(|Reverse((_, _, block))| block)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(least_worn_first: bool) -> Vec<u32> {
        let mut free = FreeBlocks::new(least_worn_first, 4);
        for (block, erases) in [(7, 2), (3, 0), (5, 2), (1, 1), (9, 0)] {
            free.push(block, erases);
        }
        assert_eq!(free.len(), 5);
        assert_eq!(free.by_age(), [7, 3, 5, 1, 9]);
        std::iter::from_fn(|| free.pop()).collect()
    }

    #[test]
    fn blocks_come_in_order_of_age_or_of_wear() {
        assert_eq!(order(false), [7, 3, 5, 1, 9]);
        assert_eq!(order(true), [3, 9, 1, 7, 5]);
    }
}
