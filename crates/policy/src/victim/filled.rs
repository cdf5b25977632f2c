//! The full blocks of each plane in the order in which they were filled, for policies of age.

use std::collections::VecDeque;

use reprieve_base::Geometry;

/// A full block, and the number of its plane's blocks filled before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Filled {
    pub(super) block: u32,
    pub(super) number: u64,
}

/// Full blocks of each plane, in the order of filling.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct FilledBlocks {
    planes: Vec<(VecDeque<Filled>, u64)>,
}

impl FilledBlocks {
    pub(super) fn new(geometry: &Geometry) -> FilledBlocks {
        let blocks = geometry.blocks_per_plane as usize;
        let planes = 0..geometry.planes();
        FilledBlocks { planes: planes.map(|_| (VecDeque::with_capacity(blocks), 0)).collect() }
    }

    /// Returns the blocks of a plane, in the order of filling.
    pub(super) fn of(&self, plane: u32) -> &VecDeque<Filled> {
        &self.planes[plane as usize].0
    }

    /// Returns the number of blocks of the plane that have been filled.
    pub(super) fn count(&self, plane: u32) -> u64 {
        self.planes[plane as usize].1
    }

    pub(super) fn push(&mut self, plane: u32, block: u32) {
        let (blocks, count) = &mut self.planes[plane as usize];
        blocks.push_back(Filled { block, number: *count });
        *count += 1;
    }

    /// Counts blocks that were filled and are full no more.
    pub(super) fn pass(&mut self, plane: u32, blocks: u32) {
        self.planes[plane as usize].1 += u64::from(blocks);
    }

    /// Removes the block at an index in the order.
    pub(super) fn take_at(&mut self, plane: u32, index: usize) -> u32 {
        let taken = self.planes[plane as usize].0.remove(index);
        taken.expect("a place in the order that was just looked at").block
    }

    /// Removes a block that is collected for another reason.
    pub(super) fn take(&mut self, plane: u32, block: u32) {
        let index = self.of(plane).iter().position(|filled| filled.block == block);
        self.take_at(plane, index.expect("a block is listed from its filling on"));
    }
}
