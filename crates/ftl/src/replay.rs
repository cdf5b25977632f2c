//! Writes without time, page by page: for the steady state where pages differ.
//!
//! With several open blocks a plane, pages of the mapping in flash, or a load with hot pages, the
//! place of a page depends on which it is, so that logical pages cannot be assigned at the end.

use std::ops::Range;

use reprieve_base::{Op, Request, SECTOR_BYTES, Stream, UserError};
use reprieve_config::Scenario;
use reprieve_trace::Workload;

use super::filler::next_filler;
use super::page_tables::PageTables;
use super::plane::Plane;
use super::{FreeTarget, Ftl};

/// Pages drawn ahead, so that the misses of their mapping overlap.
const DRAWN_AHEAD: u64 = 16;

/// Stationary overwrites.
pub(super) struct Replay {
    pages: Pages,
    kept: FreeTarget,
}

/// Which pages are overwritten.
enum Pages {
    /// Each of the drive, with equal probability.
    Evenly(Stream),
    /// Pages of the loads, whose requests are taken in turn; trims count as well.
    Loads { loads: Vec<Workload>, turn: usize, page_bytes: u64 },
}

/// Counts of overwrites.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) written: u64,
    /// Places that were drawn for it.
    pub(super) draws: u64,
    /// Pages that collection moved for it.
    pub(super) moved: u64,
}

impl Replay {
    /// Creates the overwrites of a scenario's loads, or uniform ones where they are uniform.
    ///
    /// Errors if a load cannot be opened.
    pub(super) fn new(scenario: &Scenario, kept: FreeTarget) -> Result<Replay, UserError> {
        let stream = Stream::new(scenario.seed, "precondition.overwrite", 0);
        if scenario.overwrites().are_even() {
            return Ok(Replay { pages: Pages::Evenly(stream), kept });
        }
        let page_bytes = u64::from(scenario.mapping_bytes());
        let loads = scenario.overwrites().loads().zip(0..).map(|(load, number)| {
            let seed = Stream::new(scenario.seed, "precondition.load", number).next_u64();
            Workload::open(&load, scenario.capacity_bytes(), seed)
        });
        let loads = loads.collect::<Result<Vec<Workload>, UserError>>()?;
        Ok(Replay { pages: Pages::Loads { loads, turn: 0, page_bytes }, kept })
    }

    /// Overwrites about `writes` logical pages of the host.
    pub(super) fn overwrite(&mut self, ftl: &mut Ftl, writes: u64) -> Result<Done, UserError> {
        match &mut self.pages {
            Pages::Evenly(stream) => {
                let moved = overwrite_evenly(ftl, writes, stream, self.kept);
                Ok(Done { written: writes, draws: writes, moved })
            }
            Pages::Loads { loads, turn, page_bytes } => {
                let mut done = Done::default();
                while done.written < writes {
                    let request = loads[*turn].next_request()?;
                    *turn = (*turn + 1) % loads.len();
                    let request = request.expect("a load without end");
                    let (pages, moved) = ftl.replay_now(&request, *page_bytes, self.kept);
                    done.written += pages;
                    done.draws += u64::from(pages > 0);
                    done.moved += moved;
                }
                Ok(done)
            }
        }
    }
}

fn overwrite_evenly(ftl: &mut Ftl, writes: u64, stream: &mut Stream, kept: FreeTarget) -> u64 {
    let pages = u64::from(ftl.tables.map.logical_pages());
    let mut drawn = [0; DRAWN_AHEAD as usize];
    let (mut left, mut moved) = (writes, 0);
    while left > 0 {
        let lpns = &mut drawn[..left.min(DRAWN_AHEAD) as usize];
        lpns.fill_with(|| stream.below(pages) as u32);
        ftl.tables.touch(lpns);
        moved += lpns.iter().map(|lpn| u64::from(ftl.write_now(*lpn, kept))).sum::<u64>();
        left -= lpns.len() as u64;
    }
    moved
}

/// Returns the sectors of a page that bytes from some byte on cover.
fn sectors_of(lpn: u64, page_bytes: u64, from: u64, bytes: u64) -> Range<u32> {
    let first = lpn * page_bytes;
    let (start, end) = (from.max(first) - first, (from + bytes).min(first + page_bytes) - first);
    (start / SECTOR_BYTES) as u32..(end / SECTOR_BYTES) as u32
}

impl Ftl {
    /// Applies a request at once; returns the changed pages, and the pages that collection moved
    /// for them.
    fn replay_now(&mut self, request: &Request, page_bytes: u64, kept: FreeTarget) -> (u64, u64) {
        let (from, bytes) = (request.lba * SECTOR_BYTES, u64::from(request.bytes));
        match request.op {
            Op::Write => {
                let pages = from / page_bytes..(from + bytes).div_ceil(page_bytes);
                let mut moved = 0;
                for lpn in pages.clone() {
                    self.sectors.hold(lpn as u32, sectors_of(lpn, page_bytes, from, bytes));
                    moved += u64::from(self.write_now(lpn as u32, kept));
                }
                (pages.end - pages.start, moved)
            }
            Op::Trim => {
                let pages = from / page_bytes..(from + bytes).div_ceil(page_bytes);
                let whole = from.div_ceil(page_bytes)..(from + bytes) / page_bytes;
                for lpn in pages {
                    let sectors = sectors_of(lpn, page_bytes, from, bytes);
                    let holds_none = self.trim_sectors(lpn as u32, sectors);
                    if whole.contains(&lpn) || holds_none {
                        self.tables.trim_now(lpn as u32);
                    }
                }
                (whole.end.saturating_sub(whole.start).max(1), 0)
            }
            _ => (0, 0),
        }
    }

    /// Writes a logical page at once; returns the pages that garbage collection moved for it.
    pub(super) fn write_now(&mut self, lpn: u32, kept: FreeTarget) -> u32 {
        self.write_placed(lpn, kept).1
    }

    /// Writes a page; returns the plane as well, counted over the drive.
    pub(super) fn write_placed(&mut self, lpn: u32, kept: FreeTarget) -> (u32, u32) {
        let plane = self.place_write(lpn, &|_| 0);
        let plane = plane.expect("the drive has more room than logical pages");
        let (page, moved) = self.tables.take_now(plane, lpn, kept);
        self.tables.put(lpn, page);
        (plane, moved)
    }
}

impl PageTables {
    /// Takes a page of a plane for a logical page; returns it, and the pages that garbage
    /// collection moved.
    pub(super) fn take_now(&mut self, plane: u32, lpn: u32, kept: FreeTarget) -> (u32, u32) {
        let front = self.blocks.fronts.of_write(lpn, 0);
        let mut moved = 0;
        let kept_blocks = kept.of(plane, self.blocks.planes[plane as usize].fills);
        let pages_per_block = self.blocks.numbering.pages_per_block();
        let is_open =
            |plane: &Plane| plane.has_room(usize::from(front), kept_blocks, pages_per_block);
        while !is_open(&self.blocks.planes[plane as usize]) {
            match self.collect_now(plane) {
                Some(pages) => moved += pages,
                None if self.blocks.has_room(plane, front) => break,
                None => panic!("over-provisioning leaves every plane a block to reclaim"),
            }
        }
        (self.blocks.take_page(plane, usize::from(front)), moved)
    }

    /// Collects one block of a plane at once; returns the pages moved, or `None` if none is worth
    /// it.
    fn collect_now(&mut self, plane: u32) -> Option<u32> {
        let victim = self.blocks.pick(plane)?;
        let moved = self.blocks.index.valid(victim);
        self.touch_owners(victim);
        for source in self.blocks.numbering.pages_of(victim) {
            if let Some(lpn) = self.blocks.owner(source) {
                let target = self.blocks.take_page(plane, self.blocks.fronts.of_moved(lpn));
                self.move_now(lpn, source, target);
            }
        }
        let filled = self.fill_now(plane);
        let blocks = &mut self.blocks;
        let state = &mut blocks.planes[plane as usize];
        state.pad_each(blocks.fronts.of_moved_pages());
        let own = victim - blocks.numbering.blocks_of(plane).start;
        state.add_free(own, blocks.wear.erased(victim));
        Some(moved + filled)
    }

    /// Fills the last program of a victim with pages of another block; returns the pages moved.
    fn fill_now(&mut self, plane: u32) -> u32 {
        let (numbering, fronts) = (self.blocks.numbering, &self.blocks.fronts);
        let place = fronts.of_moved_data().next().expect("moved pages go somewhere");
        if !numbering.fills_programs || fronts.parts_moved() {
            return 0;
        }
        let mut filled = 0;
        loop {
            let missing = self.blocks.planes[plane as usize].missing(place);
            let filler = || next_filler(&mut self.blocks, plane, missing, |_| false);
            let Some(source) = (missing > 0).then(filler).flatten() else { break };
            let pages = numbering.rest_of_flash_page(source);
            let owned = |page| Some((page, self.blocks.owner(page)?));
            let found: Vec<(u32, u32)> = pages.filter_map(owned).take(missing as usize).collect();
            for (source, lpn) in found {
                let target = self.blocks.take_page(plane, place);
                self.move_now(lpn, source, target);
                filled += 1;
            }
        }
        filled
    }
}
