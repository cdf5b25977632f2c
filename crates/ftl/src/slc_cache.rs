//! Blocks in SLC mode: which writes of the host they take, and when they are folded into others.

use std::collections::VecDeque;

use reprieve_config::Scenario;
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::work::GcNeed;

use super::blocks::Blocks;
use super::free::FreeBlocks;
use super::plane::Plane;

/// Rules of a drive with such blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlcRules {
    /// They are free blocks of the plane, of which more than so many are kept; else its own.
    kept_free_blocks: Option<u32>,
    under_pressure: bool,
    /// Pages of a block that a program passes, of which it fills those of one page of flash.
    together: u32,
    programs_per_block: u32,
}

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
    promised: u32,
    /// Those of them that have their place and are not programmed yet.
    begun: u32,
}

/// Traffic of blocks in SLC mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlcCounts {
    /// Pages of the host, in mapping units, that were programmed there.
    pub cached_pages: u64,
    /// Those that went past them.
    pub direct_pages: u64,
    /// Pages moved out of them.
    pub folded_pages: u64,
    /// Their erases.
    pub erases: u64,
}

impl SlcRules {
    /// Those of a scenario; `None` if no block is in SLC mode.
    pub(super) fn of(scenario: &Scenario) -> Option<SlcRules> {
        let cache = scenario.ftl.slc_cache?;
        let geometry = scenario.mapping_geometry();
        let kept = (cache.min_free_share * f64::from(geometry.blocks_per_plane)).ceil() as u32;
        // A block that is opened leaves the reserve, and one for the host, free.
        let kept = kept.max(scenario.ftl.gc_hard_free_blocks + 1);
        let together = scenario.units_together();
        Some(SlcRules {
            kept_free_blocks: cache.is_dynamic.then_some(kept),
            under_pressure: cache.folds_under_pressure,
            together,
            programs_per_block: geometry.pages_per_block / together,
        })
    }

    /// Programs that a plane can still take in SLC mode.
    fn room(&self, plane: &Plane) -> u32 {
        let blocks = match self.kept_free_blocks {
            None => plane.slc.free.len(),
            Some(kept) => plane.free_blocks().saturating_sub(kept),
        };
        let front = plane.fronts[SLC_FRONT];
        let open = match front.block {
            Some(_) => self.programs_per_block - front.next_page / self.together,
            None => 0,
        };
        blocks * self.programs_per_block + open
    }
}

impl SlcPlane {
    /// A plane with so many blocks that are only ever in SLC mode, none of them free yet.
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

impl Blocks {
    /// The open block of a plane for a page of the host that goes to its die: one in SLC mode
    /// while there is room.
    #[cold]
    pub(super) fn front_of_cached(&mut self, plane: u32, front: u8) -> u8 {
        let rules = self.slc.expect("only then is anything cached");
        let state = &mut self.planes[plane as usize];
        if rules.under_pressure || rules.room(state) > state.slc.promised {
            state.slc.promised += 1;
            self.needs.forget(plane);
            self.slc_counts.cached_pages += 1;
            return SLC_FRONT as u8;
        }
        self.slc_counts.direct_pages += 1;
        front
    }

    /// A page of the host has got its place in a block in SLC mode.
    pub(super) fn cached(&mut self, plane: u32) {
        let slc = &mut self.planes[plane as usize].slc;
        (slc.promised, slc.begun) = (slc.promised - 1, slc.begun + 1);
        self.needs.forget(plane);
    }

    /// It is programmed: the block can be folded once that is true of all its pages.
    #[cold]
    pub(super) fn cache_programmed(&mut self, plane: u32) {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        let state = &mut self.planes[plane as usize];
        state.slc.begun -= 1;
        if state.slc.begun == 0 && !state.is_open(SLC_FRONT, pages_per_block) {
            let full = std::mem::take(&mut state.fronts[SLC_FRONT]).block;
            state.slc.full.extend(full);
            self.needs.forget(plane);
        }
    }

    /// How much the blocks in SLC mode of a plane need to be folded.
    pub(super) fn need_to_fold(&self, plane: u32) -> GcNeed {
        let (Some(rules), state) = (&self.slc, &self.planes[plane as usize]) else {
            return GcNeed::None;
        };
        if state.slc.full.is_empty() && !state.slc.folds {
            return GcNeed::None;
        }
        match state.slc.promised > 0 && rules.room(state) == 0 {
            true => GcNeed::Urgent,
            false => GcNeed::Idle,
        }
    }

    /// Whether folding gains a block that pages of any kind can be written to.
    pub(super) fn folding_gains(&self, plane: u32) -> bool {
        let is_dynamic = self.slc.is_some_and(|rules| rules.kept_free_blocks.is_some());
        is_dynamic && !self.planes[plane as usize].slc.full.is_empty()
    }

    /// Chooses the block in SLC mode of a plane, counted over the drive, that is folded next;
    /// `None`: there is none, or other garbage goes before it.
    pub(super) fn choose_to_fold(&mut self, plane: u32) -> Option<u32> {
        self.slc?;
        let is_short = self.planes[plane as usize].free_blocks() <= self.reserve_blocks;
        if is_short && !self.folding_gains(plane) && self.index.has_victim(plane) {
            return None;
        }
        let slc = &mut self.planes[plane as usize].slc;
        let own = slc.full.pop_front()?;
        slc.folds = true;
        Some(self.numbering.blocks_of(plane).start + own)
    }

    /// A page of the block that a plane collects has been moved.
    #[inline]
    pub(super) fn moved(&mut self, plane: u32) {
        if self.slc.is_some() && self.planes[plane as usize].slc.folds {
            self.slc_counts.folded_pages += 1;
        }
    }

    /// The block that a plane collects has been erased.
    pub(super) fn folded(&mut self, plane: u32) {
        if self.slc.is_some() && std::mem::take(&mut self.planes[plane as usize].slc.folds) {
            self.slc_counts.erases += 1;
        }
    }
}
