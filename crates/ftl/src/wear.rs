//! Erases of every block: wear levelling and its figures.

use std::collections::BTreeMap;

use reprieve_config::Wear;
use reprieve_observe::stats::WearCounts;

/// Erases of each block, counted over the drive, 4 bytes a block.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WearTable {
    erases: Vec<u32>,
    /// Erases by which a block may exceed the least worn of its plane.
    pub(super) spread: Option<u32>,
    /// The figures are in the summary.
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

    /// Counts an erase; returns the total of the block.
    #[inline]
    pub(super) fn erased(&mut self, block: u32) -> u32 {
        self.erases[block as usize] += 1;
        self.erases[block as usize]
    }

    /// Returns the figures over all blocks, bad ones included, if the summary has them.
    pub fn counts(&self) -> Option<WearCounts> {
        self.is_reported.then(|| WearCounts::of(&self.erases))
    }

    /// Returns the number of blocks by erases since the first request, fewest erases first.
    pub fn spread(&self) -> Vec<(u32, u64)> {
        let mut blocks = BTreeMap::new();
        for erases in &self.erases {
            *blocks.entry(*erases).or_default() += 1;
        }
        blocks.into_iter().collect()
    }

    /// Resets the wear.
    pub(super) fn forget(&mut self) {
        self.erases.fill(0);
    }

    /// Returns the least worn block, if it lags too far behind one with `erases` erases.
    pub(super) fn far_behind(&self, blocks: impl Iterator<Item = u32>, erases: u32) -> Option<u32> {
        let spread = self.spread?;
        let least_worn = blocks.min_by_key(|block| self.of(*block));
        least_worn.filter(|block| self.of(*block).saturating_add(spread) <= erases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_worn_is_behind_by_the_spread_or_not_at_all() {
        let wear = Wear { static_spread: Some(3), ..Wear::default() };
        let mut table = WearTable::new(4, &wear);
        table.start_with(vec![5, 2, 2, 7]);
        // The first among equals, and among the given blocks.
        assert_eq!(table.far_behind(0..4, 5), Some(1));
        assert_eq!(table.far_behind(0..4, 4), None);
        assert_eq!(table.far_behind([0, 3].into_iter(), 8), Some(0));
        assert_eq!(table.far_behind([0, 3].into_iter(), 7), None);
        assert_eq!(table.spread(), [(2, 2), (5, 1), (7, 1)]);
        assert_eq!(table.erased(1), 3);
    }
}
