//! SLC cache: host writes to blocks in SLC mode, and their folding into other blocks.

use reprieve_base::Archive;
use reprieve_config::Scenario;
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::work::GcNeed;

use super::plane::Plane;
use super::slc_plane::SlcCounts;

/// The SLC cache; all methods but `of` are of one plane at a time.
pub struct SlcCache {
    /// Free blocks that a plane keeps out of SLC mode; `None` if it uses only its own blocks.
    kept_free_blocks: Option<u32>,
    under_pressure: bool,
    /// Pages of a block per program, of which those of one page of flash are filled.
    together: u32,
    pages_per_block: u32,
    /// Its traffic.
    pub counts: SlcCounts,
}

impl SlcCache {
    /// Creates the cache of a scenario; `None` if no block is in SLC mode.
    pub(super) fn of(scenario: &Scenario) -> Option<SlcCache> {
        let cache = scenario.ftl.slc_cache?;
        let geometry = scenario.mapping_geometry();
        let kept = (cache.min_free_share * f64::from(geometry.blocks_per_plane)).ceil() as u32;
        // Opening a block leaves the reserve, and one block for the host, free.
        let kept = kept.max(scenario.ftl.gc_hard_free_blocks + 1);
        Some(SlcCache {
            kept_free_blocks: cache.is_dynamic.then_some(kept),
            under_pressure: cache.folds_under_pressure,
            together: scenario.units_together(),
            pages_per_block: geometry.pages_per_block,
            counts: SlcCounts::default(),
        })
    }

    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.counts);
    }

    /// Returns the programs that a plane can still take in SLC mode.
    fn room(&self, plane: &Plane) -> u32 {
        let blocks = match self.kept_free_blocks {
            None => plane.slc.free.len(),
            Some(kept) => plane.free_blocks().saturating_sub(kept),
        };
        let front = plane.fronts[SLC_FRONT];
        let open = front.block.map_or(0, |_| self.pages_per_block - front.next_page);
        (blocks * self.pages_per_block + open) / self.together
    }

    /// Returns the open block for a host page that is sent to its die: in SLC mode while there is
    /// room, else `front`.
    pub(super) fn send(&mut self, plane: &mut Plane, front: u8) -> u8 {
        if self.under_pressure || self.room(plane) > plane.slc.promised {
            plane.slc.promised += 1;
            self.counts.cached_pages += 1;
            return SLC_FRONT as u8;
        }
        self.counts.direct_pages += 1;
        front
    }

    /// Counts a host page that is programmed. Returns whether its block can be folded: all its
    /// pages are written and programmed.
    pub(super) fn programmed(&self, plane: &mut Plane) -> bool {
        plane.slc.begun -= 1;
        let is_full = plane.slc.begun == 0 && !plane.is_open(SLC_FRONT, self.pages_per_block);
        if is_full {
            let full = std::mem::take(&mut plane.fronts[SLC_FRONT]).block;
            plane.slc.full.extend(full);
        }
        is_full
    }

    /// Returns the need to fold blocks of a plane.
    pub(super) fn need(&self, plane: &Plane) -> GcNeed {
        if plane.slc.full.is_empty() && !plane.slc.folds {
            return GcNeed::None;
        }
        match plane.slc.promised > 0 && self.room(plane) == 0 {
            true => GcNeed::Urgent,
            false => GcNeed::Idle,
        }
    }

    /// Whether folding gains a block for pages of any kind.
    pub(super) fn gains(&self, plane: &Plane) -> bool {
        self.kept_free_blocks.is_some() && !plane.slc.full.is_empty()
    }

    /// Chooses the next block, numbered within its plane, to be folded; `None`: there is none, or
    /// `other_first` garbage precedes it.
    pub(super) fn choose(&self, plane: &mut Plane, other_first: bool) -> Option<u32> {
        if other_first && !self.gains(plane) {
            return None;
        }
        let own = plane.slc.full.pop_front()?;
        plane.slc.folds = true;
        Some(own)
    }

    /// Counts a page moved out of a plane's victim.
    pub(super) fn moved(&mut self, plane: &Plane) {
        self.counts.folded_pages += u64::from(plane.slc.folds);
    }

    /// Counts the erase of a plane's victim.
    pub(super) fn erased(&mut self, plane: &mut Plane) {
        self.counts.erases += u64::from(std::mem::take(&mut plane.slc.folds));
    }
}
