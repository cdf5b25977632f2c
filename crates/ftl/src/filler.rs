//! The rest of the last program of a victim: pages of another block instead of padding.
//!
//! A program takes several mapping units, and a victim seldom holds a multiple of them. The missing
//! ones come from the next victim. Where a page is a mapping unit, programs are padded.

use std::ops::Range;

use super::blocks::Blocks;
use super::collection::Collection;
use super::plane::Victim;

impl Collection {
    /// Finds the first valid unit of the page of flash that fills the last program of a victim, of
    /// which `held` units are there; `None`: it is padded, or full.
    pub(super) fn find_filler(
        &self,
        victim: Victim,
        held: u32,
        blocks: &mut Blocks,
    ) -> Option<u32> {
        let is_one_stream = !victim.levels && !blocks.fronts.parts_moved();
        let is_apart = self.rules.beside.is_none() && blocks.numbering.fills_programs;
        if held == 0 || held >= self.batch || !is_apart || !is_one_stream {
            return None;
        }
        let plane = blocks.numbering.plane_of(victim.block);
        let job = &self.jobs[plane as usize];
        next_filler(blocks, plane, self.batch - held, |page| job.holds(page))
    }
}

/// The first valid page of a page of flash of the next victim of a plane: of one with `missing`
/// valid pages that are not held already, or the most.
pub(super) fn next_filler(
    blocks: &mut Blocks,
    plane: u32,
    missing: u32,
    is_held: impl Fn(u32) -> bool,
) -> Option<u32> {
    let next = &mut blocks.planes[plane as usize].next_victim;
    if next.is_none() {
        *next = blocks.victim.pick(&mut blocks.index, plane);
        next.iter().for_each(|block| blocks.owners.note(blocks.numbering.pages_of(*block)));
    }
    let (pages, units) = (blocks.numbering.pages_of((*next)?), blocks.numbering.units_per_page());
    filler(pages, units, missing, |page| blocks.owner(page).is_some() && !is_held(page))
}

/// Returns the first valid unit of the page of flash, of `units` units, in a block: the first page
/// with `missing` valid ones, else the one with most.
pub(super) fn filler(
    block: Range<u32>,
    units: u32,
    missing: u32,
    is_valid: impl Fn(u32) -> bool,
) -> Option<u32> {
    let (mut best, mut most) = (None, 0);
    for first in block.step_by(units as usize) {
        let mut valid = (first..first + units).filter(|page| is_valid(*page));
        let Some(page) = valid.next() else { continue };
        let count = 1 + valid.count() as u32;
        if count > most {
            (best, most) = (Some(page), count);
        }
        if most >= missing {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_that_has_enough_is_taken_or_the_fullest() {
        // Pages of four units: one valid, three, four.
        let valid = [1, 5, 6, 7, 8, 9, 10, 11];
        let of = |missing| filler(0..16, 4, missing, |page| valid.contains(&page));
        assert_eq!([1, 2, 3, 4, 9].map(of), [Some(1), Some(5), Some(5), Some(8), Some(8)]);
        assert_eq!(filler(12..16, 4, 1, |page| valid.contains(&page)), None);
    }
}
