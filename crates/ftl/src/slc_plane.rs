//! Blocks in SLC mode of a plane, and their traffic over the drive.

use std::collections::VecDeque;

use reprieve_config::Scenario;

use super::free::FreeBlocks;

/// Blocks in SLC mode of a plane, numbered within it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct SlcPlane {
    /// Those numbered below this one are never anything else.
    pub(super) own_blocks: u32,
    /// Those of them that are free.
    pub(super) free: FreeBlocks,
    /// Full ones, the longest full first.
    pub(super) full: VecDeque<u32>,
    /// The block that is being collected is one.
    pub(super) folds: bool,
    /// Pages of the host that are on their way here.
    pub(super) promised: u32,
    /// Those of them that have their place and are not programmed yet.
    pub(super) begun: u32,
}

/// Traffic of blocks in SLC mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlcCounts {
    /// Pages of the host, in mapping units, that were sent there.
    pub cached_pages: u64,
    /// Those that went past them.
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
