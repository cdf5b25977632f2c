//! Erases of every block: wear levelling and its figures.

use std::collections::BTreeMap;

use reprieve_config::Wear;
use reprieve_observe::stats::WearCounts;

use super::Ftl;
use super::plane::Plane;

/// Erases of each block, counted over the drive, 4 bytes a block.
#[derive(Clone, Debug)]
pub(super) struct WearTable {
    erases: Vec<u32>,
    /// Erases by which a block may be ahead of the least worn of its plane.
    spread: Option<u32>,
    /// The figures belong to the summary.
    is_reported: bool,
}

impl WearTable {
    pub(super) fn new(blocks: u64, wear: &Wear) -> WearTable {
        let erases = vec![0; blocks as usize];
        WearTable { erases, spread: wear.static_spread, is_reported: wear.count_erases }
    }

    /// Erases of every block.
    pub(super) fn all(&self) -> &[u32] {
        &self.erases
    }

    /// Starts with these erases, one entry a block.
    pub(super) fn start_with(&mut self, erases: Vec<u32>) {
        self.erases = erases;
    }

    #[inline]
    pub(super) fn of(&self, block: u32) -> u32 {
        self.erases[block as usize]
    }

    /// A block was erased; returns how often in all.
    #[inline]
    pub(super) fn erased(&mut self, block: u32) -> u32 {
        self.erases[block as usize] += 1;
        self.erases[block as usize]
    }

    /// The figures, over all blocks, bad ones among them.
    pub(super) fn counts(&self) -> Option<WearCounts> {
        self.is_reported.then(|| WearCounts::of(&self.erases))
    }
}

impl Ftl {
    /// What happened before the first request does not count as wear.
    pub(super) fn forget_wear(&mut self) {
        self.wear.erases.fill(0);
        self.planes.iter_mut().for_each(Plane::forget_free_wear);
    }

    /// Erases of the blocks, if the summary is to have them.
    pub fn wear_counts(&self) -> Option<WearCounts> {
        self.wear.counts()
    }

    /// How many blocks have been erased how often since the first request, fewest erases first.
    pub fn wear_spread(&self) -> Vec<(u32, u64)> {
        let mut blocks = BTreeMap::new();
        for erases in self.wear.all() {
            *blocks.entry(*erases).or_default() += 1;
        }
        blocks.into_iter().collect()
    }

    /// A block was erased as often as `erases` says: is another one too far behind it?
    ///
    /// One pass over the plane an erase, and none without static wear levelling.
    pub(super) fn level_wear(&mut self, block: u32, erases: u32) {
        let Some(spread) = self.wear.spread else { return };
        let blocks_per_plane = self.geometry.blocks_per_plane;
        let plane = block / blocks_per_plane;
        let first = plane * blocks_per_plane;
        let full = (first..first + blocks_per_plane).filter(|block| self.index.is_full(*block));
        let least_worn = full.min_by_key(|block| self.wear.of(*block));
        let is_far_behind = |block: &u32| self.wear.of(*block).saturating_add(spread) <= erases;
        self.planes[plane as usize].unworn = least_worn.filter(is_far_behind);
    }
}
