//! Free blocks that preconditioning leaves on a plane, a fractional number on average.

use super::Ftl;
use super::rules::Pace;

/// 2^64 over the golden ratio: its multiples fill `[0, 1)` evenly for any count.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Phase between planes, so that they do not all have the greater number at once.
const OF_PLANE: u64 = 0xd1b5_4a32_d192_ed03;

/// Blocks of a plane that preconditioning needs to write to.
const MARGIN_BLOCKS: u32 = 4;

/// Free blocks of a plane down to which collection admits host writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeTarget {
    blocks: f64,
}

impl FreeTarget {
    /// Creates a target of `blocks` on average.
    pub fn on_average(blocks: f64) -> FreeTarget {
        FreeTarget { blocks }
    }

    /// Creates a target of exactly `blocks`.
    pub fn always(blocks: u32) -> FreeTarget {
        FreeTarget { blocks: f64::from(blocks) }
    }

    /// Returns the average.
    pub fn blocks(self) -> f64 {
        self.blocks
    }

    /// Returns the number for a plane, counted over the drive, at its block number `fills`.
    pub(super) fn of(self, plane: u32, fills: u32) -> u32 {
        let (whole, share) = (self.blocks.floor(), self.blocks.fract());
        let place = u64::from(fills).wrapping_mul(GOLDEN);
        let place = place.wrapping_add(u64::from(plane).wrapping_mul(OF_PLANE));
        let is_more = (place as f64) < share * 2f64.powi(64);
        whole as u32 + u32::from(is_more)
    }
}

impl Ftl {
    /// Returns the free blocks of a plane whose collection cannot keep up.
    pub fn kept_behind(&self) -> FreeTarget {
        FreeTarget::always(self.tables.blocks.reserve_blocks)
    }

    /// Returns the free blocks of a plane whose collection keeps up with the load.
    pub fn kept_ahead(&self) -> FreeTarget {
        let rules = &self.collection.rules;
        let ahead = match rules.pace {
            Pace::Fixed { .. } => f64::from(rules.start_blocks.saturating_sub(1)),
            // The midpoint, where collection keeps pace with the host, less half a victim.
            Pace::FreeSpace { .. } => {
                f64::midpoint(rules.start_blocks.into(), self.tables.blocks.reserve_blocks.into())
                    - 0.5
            }
        };
        self.within_spare(ahead)
    }

    /// Returns the free blocks of an idle plane: one more than starts collection, so that the next
    /// open block does not start it.
    pub fn kept_at_rest(&self) -> FreeTarget {
        let rules = &self.collection.rules;
        let start_blocks = if rules.in_background { rules.start_blocks } else { 0 };
        let least = self.tables.blocks.reserve_blocks + 1;
        let most = self.spare_blocks().saturating_sub(MARGIN_BLOCKS).max(least);
        FreeTarget::always(start_blocks.max(least).min(most) + 1)
    }

    /// Returns the next target to try, from the shares of valid pages in full blocks after
    /// preconditioning and after the load.
    ///
    /// With one full block fewer a plane has its pages in the others.
    pub fn kept_for(&self, kept: FreeTarget, share_before: f64, share: f64) -> FreeTarget {
        let blocks = f64::from(self.numbering.geometry.blocks_per_plane) - kept.blocks - 1.0;
        self.within_spare(kept.blocks + blocks * (share / share_before - 1.0))
    }

    /// Limits a target to the reserve of collection and half of the spare blocks.
    fn within_spare(&self, blocks: f64) -> FreeTarget {
        let most = f64::from(self.spare_blocks() / 2);
        FreeTarget { blocks: blocks.min(most).max(f64::from(self.tables.blocks.reserve_blocks)) }
    }

    /// Returns the blocks of a plane beyond those that its logical pages fill.
    pub fn spare_blocks(&self) -> u32 {
        let geometry = &self.numbering.geometry;
        let pages = self.tables.map.all_pages().div_ceil(geometry.planes());
        let own = self.tables.blocks.planes[0].slc.get().map_or(0, |slc| slc.own_blocks);
        let blocks = geometry.blocks_per_plane.saturating_sub(own);
        blocks.saturating_sub(pages.div_ceil(geometry.pages_per_block))
    }
}

#[cfg(test)]
mod tests {
    use super::FreeTarget;

    #[test]
    fn a_number_between_two_is_met_on_average() {
        for (blocks, least) in [(2.0, 2), (2.25, 2), (3.9, 3)] {
            let kept = FreeTarget::on_average(blocks);
            let numbers: Vec<u32> = (0..1000).map(|fills| kept.of(5, fills)).collect();
            assert!(numbers.iter().all(|number| *number == least || *number == least + 1));
            let mean = numbers.iter().sum::<u32>() as f64 / 1000.0;
            assert!((mean - blocks).abs() < 0.005, "{mean} {blocks}");
            // Planes part: at one time about as many of them have the greater number.
            let planes = (0..1000).map(|plane| kept.of(plane, 7)).sum::<u32>() as f64 / 1000.0;
            assert!((planes - blocks).abs() < 0.02, "{planes} {blocks}");
        }
    }
}
