//! Blocks in SLC mode of a plane, and their traffic over the drive.

use std::collections::VecDeque;

use reprieve_config::Scenario;

use super::free::FreeBlocks;

/// Blocks in SLC mode of a plane, numbered within it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct SlcPlane {
    /// Blocks below this number are always in SLC mode.
    pub(super) own_blocks: u32,
    /// Free ones among these.
    pub(super) free: FreeBlocks,
    /// Full blocks in SLC mode, the oldest first.
    pub(super) full: VecDeque<u32>,
    /// The victim is in SLC mode.
    pub(super) folds: bool,
    /// Host pages on their way to SLC blocks.
    pub(super) promised: u32,
    /// Host pages with a place there that are not programmed yet.
    pub(super) begun: u32,
}

/// Traffic of blocks in SLC mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlcCounts {
    /// Host pages, in mapping units, sent to SLC blocks.
    pub cached_pages: u64,
    /// Host pages that bypassed them.
    pub direct_pages: u64,
    /// Pages moved out of them.
    pub folded_pages: u64,
    /// Their erases.
    pub erases: u64,
}

impl SlcPlane {
    /// Returns the cache of an empty plane: its own blocks are counted, none of them free yet.
    pub(super) fn new(scenario: &Scenario) -> SlcPlane {
        let own_blocks = scenario.ftl.slc_cache.map_or(0, |cache| cache.blocks_per_plane);
        SlcPlane {
            own_blocks,
            free: FreeBlocks::new(scenario.ftl.wear.least_worn_first, own_blocks),
            full: VecDeque::new(),
            folds: false,
            promised: 0,
            begun: 0,
        }
    }
}
