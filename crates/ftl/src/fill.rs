//! Every logical page written in order, without time, by whole rounds over the planes.
//!
//! A large drive has tens of millions of pages, and to ask for the place of each took most of the
//! start of a run. While no block is opened and no plane becomes full, a round goes where the one
//! before it went.

use std::ops::Range;

use super::blocks::Blocks;
use super::in_order::InOrder;
use super::page_names::{Names, PreparedPages};
use super::page_tables::PageTables;
use super::plane::Plane;
use super::{FreeTarget, Ftl, Mapping};

/// Rounds whose pages get their names together: those of a plane are a line of the cache.
const ROUNDS_TOGETHER: u32 = 16;

/// The page of a round that goes next to an open block, and how far on that of the next round is.
#[derive(Clone, Copy)]
struct Stride {
    page: u32,
    step: u32,
}

impl Ftl {
    /// Writes the first logical pages in order without an entry for each, if there are more than
    /// `beyond` and the placement repeats; returns how many.
    pub(super) fn fill_in_order(&mut self, beyond: u32) -> u32 {
        let pages = self.tables.map.logical_pages();
        let round = self.placement.round().filter(|_| pages > beyond && self.fills_from_empty());
        let Some(of_round) = round else { return 0 };
        let (mut planes, mut lpn) = (Vec::new(), 0);
        while pages - lpn >= of_round {
            let position = self.placement.position();
            let taken: Vec<(u32, u32)> = (lpn..lpn + of_round).map(|it| self.take(it)).collect();
            let blocks = &mut self.tables.blocks;
            if planes.is_empty() {
                planes = taken.iter().map(|(plane, _)| *plane).collect();
            }
            // Planes with as many blocks become full together.
            let is_alike = taken.iter().map(|(plane, _)| plane).eq(&planes);
            assert!(is_alike, "a round of a placement that repeats passes over a plane");
            for (_, page) in taken {
                blocks.index.add_valid(blocks.numbering.block_of(page));
            }
            lpn += of_round;
            if self.placement.position() == position {
                let turns = turns(&planes, blocks.planes.len());
                let rounds = blocks.rounds(&turns).min((pages - lpn) / of_round);
                blocks.take_rounds(&turns, rounds);
                lpn += rounds * of_round;
            }
        }
        let (rounds, of_plane) = (lpn / of_round, self.numbering.pages_per_plane());
        let of_drive = self.numbering.geometry.planes() as usize;
        let in_order = InOrder::new(&planes, rounds, of_drive, of_plane);
        self.tables.start_with(Names::new(PreparedPages::InOrder(in_order)));
        lpn
    }

    /// Whether planes open their blocks in the order of their numbers, one at a time.
    fn fills_from_empty(&self) -> bool {
        let blocks = &self.tables.blocks;
        let in_order = 0..self.numbering.geometry.blocks_per_plane;
        blocks.fronts.is_simple()
            && blocks.slc.is_none()
            && self.tables.two_pass.is_none()
            && blocks.planes.iter().all(|plane| plane.free_list().into_iter().eq(in_order.clone()))
    }

    /// Takes a page for a logical page; returns the plane and the page.
    fn take(&mut self, lpn: u32) -> (u32, u32) {
        let kept = FreeTarget::always(self.tables.blocks.reserve_blocks);
        let plane = self.place_write(lpn, &|_| 0);
        let plane = plane.expect("the drive has more room than logical pages");
        (plane, self.tables.take_now(plane, lpn, kept).0)
    }

    /// Writes logical pages that hold nothing yet, in order.
    pub(super) fn fill(&mut self, lpns: Range<u32>) {
        let kept = FreeTarget::always(self.tables.blocks.reserve_blocks);
        let fronts = &self.tables.blocks.fronts;
        let round = self.placement.round().filter(|_| fronts.is_simple() || fronts.has_zones());
        let mut lpn = lpns.start;
        while let Some(pages) = round.filter(|pages| *pages <= lpns.end - lpn) {
            let position = self.placement.position();
            let planes: Vec<u32> =
                (lpn..lpn + pages).map(|lpn| self.write_placed(lpn, kept).0).collect();
            lpn += pages;
            // Elsewhere, a plane that is full was passed over.
            if self.placement.position() == position {
                let blocks = &mut self.tables.blocks;
                let turns = turns(&planes, blocks.planes.len());
                let rounds = blocks.rounds(&turns).min((lpns.end - lpn) / pages);
                let strides = blocks.strides(&planes, &turns);
                blocks.take_rounds(&turns, rounds);
                self.tables.fill_rounds(lpn, strides, rounds);
                lpn += rounds * pages;
            }
        }
        (lpn..lpns.end).for_each(|lpn| {
            self.write_now(lpn, kept);
        });
    }
}

/// How often each of the planes of a drive is written in a round.
fn turns(round: &[u32], planes: usize) -> Vec<u32> {
    let mut turns = vec![0; planes];
    round.iter().for_each(|plane| turns[*plane as usize] += 1);
    turns
}

impl Blocks {
    /// How many further rounds fit into the open blocks of their planes, and leave them room.
    fn rounds(&self, turns: &[u32]) -> u32 {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        let rounds_of = |(plane, turns): (&Plane, &u32)| {
            if plane.free_blocks() < self.reserve_blocks {
                return 0;
            }
            let room = plane.room(self.kept(), pages_per_block);
            room.min(pages_per_block - plane.fronts[0].next_page) / turns
        };
        let written = self.planes.iter().zip(turns).filter(|(_, turns)| **turns > 0);
        written.map(rounds_of).min().unwrap_or(0)
    }

    /// Where the next round goes that takes these planes one after another, if none opens a block.
    fn strides(&self, planes: &[u32], turns: &[u32]) -> Vec<Stride> {
        let mut seen = vec![0; self.planes.len()];
        let stride = |plane: &u32| {
            let at = *plane as usize;
            let front = self.planes[at].fronts[0];
            let page = self.numbering.pages_of(self.open_block(*plane)).start + front.next_page;
            let stride = Stride { page: page + seen[at], step: turns[at] };
            seen[at] += 1;
            stride
        };
        planes.iter().map(stride).collect()
    }

    /// Takes the pages of `rounds` rounds.
    fn take_rounds(&mut self, turns: &[u32], rounds: u32) {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        for (plane, turns) in (0..).zip(turns).filter(|(_, turns)| **turns > 0) {
            let block = self.open_block(plane);
            let state = &mut self.planes[plane as usize];
            let pages = state.take_more(0, turns * rounds, pages_per_block);
            state.committed += pages;
            self.index.add_valid_pages(block, pages);
        }
    }

    /// The open block, counted over the drive, of a plane that has just been written.
    fn open_block(&self, plane: u32) -> u32 {
        let block = self.planes[plane as usize].fronts[0].block;
        self.numbering.blocks_of(plane).start + block.expect("it has just been written")
    }
}

impl PageTables {
    /// Sets where the logical pages of some rounds are, and whose the pages are.
    ///
    /// Some rounds at a time, place by place: planes are a power of two apart, so that one page of
    /// each after the other would have them take each other's lines of the cache.
    fn fill_rounds(&mut self, first: u32, mut strides: Vec<Stride>, rounds: u32) {
        let pages = strides.len() as u32;
        let mut lpn = first;
        let end = first + rounds * pages;
        while lpn < end {
            let some = ROUNDS_TOGETHER.min((end - lpn) / pages);
            for (place, Stride { page, step }) in (lpn..).zip(&mut strides) {
                for lpn in (place..).step_by(pages as usize).take(some as usize) {
                    debug_assert_eq!(
                        self.map.get(lpn),
                        Mapping::Unwritten,
                        "{lpn} is filled twice"
                    );
                    self.map.set(lpn, Mapping::Flash(*page));
                    self.blocks.name(*page, lpn);
                    *page += *step;
                }
            }
            lpn += some * pages;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reprieve_state::State;

    use super::*;
    use crate::tests::drive;

    const PLACEMENTS: [&str; 6] =
        ["cwdp", "pdwc", "dynamic", "aligned", "wordline", "least-loaded"];

    /// Returns the state of a drive that was filled: all that is saved of it, and counts of planes.
    fn seen(ftl: &Ftl) -> (State, Vec<(u32, u32)>, Vec<u32>) {
        let mut state = State::default();
        ftl.save(&mut state);
        let blocks = &ftl.tables.blocks;
        let planes = blocks.planes.iter().map(|plane| (plane.committed, plane.free_blocks()));
        let valid = (0..ftl.numbering.geometry.blocks() as u32).map(|it| blocks.index.valid(it));
        (state, planes.collect(), valid.collect())
    }

    proptest! {
        #[test]
        fn whole_rounds_are_what_page_by_page_would_be(
            seed in 0u64..1000,
            placement in prop::sample::select(&PLACEMENTS[..]),
            wordline_pages in 1u32..4,
            pages_per_block in 12u32..40,
            spare_percent in 12u32..50,
            bad in prop::bool::ANY,
            units in prop::sample::select(&[1u32, 4][..]),
            pieces in prop::collection::vec(1u32..900, 1..6),
        ) {
            // Padding of collection and bad blocks need additional space.
            let padded_percent = 5 * wordline_pages + if bad { 15 } else { 0 };
            let more = [
                format!("ftl.placement={placement}"),
                format!("timing.wordline_pages={wordline_pages}"),
                format!("geometry.pages_per_block={}", pages_per_block * wordline_pages),
                format!("ftl.over_provisioning=0.{}", spare_percent + padded_percent),
                format!("ftl.factory_bad_share={}", if bad { 0.02 } else { 0.0 }),
                format!("ftl.mapping_bytes={}", 2048 / units),
            ];
            let more: Vec<&str> = more.iter().map(String::as_str).collect();
            let scenario = drive(seed, &more);
            let [mut by_rounds, mut by_page, mut in_order] =
                std::array::from_fn(|_| Ftl::new(&scenario).expect("a small drive"));
            let pages = by_page.tables.map.all_pages();
            let kept = FreeTarget::always(by_page.tables.blocks.reserve_blocks);
            (0..pages).for_each(|lpn| {
                by_page.write_now(lpn, kept);
            });
            let mut next = 0;
            for piece in pieces.into_iter().chain([u32::MAX]) {
                let end = pages.min(next + piece.min(pages - next));
                by_rounds.fill(next..end);
                next = end;
            }
            let next = in_order.fill_in_order(0);
            prop_assert!(bad || next > 0);
            in_order.fill(next..pages);
            prop_assert_eq!(seen(&by_rounds), seen(&by_page));
            prop_assert_eq!(seen(&in_order), seen(&by_page));
            for page in 0..in_order.numbering.geometry.pages() as u32 {
                let owner = by_page.tables.blocks.owner(page);
                prop_assert_eq!(in_order.tables.blocks.owner(page), owner);
            }
        }
    }
}
