//! One plane of a drive without logical page numbers.

use std::ops::Range;

use reprieve_base::Stream;
use reprieve_policy::victim::{BlockView, VictimPolicy};

use super::filler::filler;
use super::overwrite_scope::Scope;
use super::plane::Plane;
use super::{FreeTarget, Ftl};
use crate::block_index::BlockIndex;

/// Only open block of a plane, as pages are alike.
pub(super) const FRONT: u8 = 0;

/// Writes whose draws are looked at together before the first, and about as many draws.
const WRITES_AHEAD: u32 = 8;
const DRAWS_AHEAD: u32 = 20;

/// Valid pages of a plane, and its blocks; both are numbered within the plane.
#[derive(Clone)]
pub(super) struct BitmapPlane {
    /// The plane, counted over the drive.
    plane: u32,
    pages_per_block: u32,
    blocks_per_plane: u32,
    /// Mapping units of a page of flash.
    units: u32,
    fills_programs: bool,
    /// Free blocks that the host leaves.
    reserve_blocks: u32,
    kept: FreeTarget,
    /// One valid bit a page.
    valid: Vec<u64>,
    index: BlockIndex,
    filled: Vec<u32>,
    /// Erases of each block.
    erases: Vec<u32>,
}

/// A victim policy's view of the plane: its blocks, counted over the drive.
struct InDrive<'a> {
    index: &'a mut BlockIndex,
    first: u32,
}

impl BlockView for InDrive<'_> {
    fn emptiest(&mut self, _: u32) -> Option<u32> {
        self.index.emptiest(0).map(|block| self.first + block)
    }

    fn blocks_per_plane(&self) -> u32 {
        self.index.blocks_per_plane()
    }

    fn gain(&self, block: u32) -> Option<u32> {
        self.index.gain(block - self.first)
    }
}

impl BitmapPlane {
    /// Creates a plane of an FTL without valid pages.
    pub(super) fn new(ftl: &Ftl, plane: u32, kept: FreeTarget) -> BitmapPlane {
        let (pages, blocks) =
            (ftl.numbering.geometry.pages_per_block, ftl.numbering.geometry.blocks_per_plane);
        let words = (pages * blocks).div_ceil(64) as usize;
        BitmapPlane {
            plane,
            pages_per_block: pages,
            blocks_per_plane: blocks,
            units: ftl.numbering.units_per_page(),
            fills_programs: ftl.numbering.fills_programs,
            reserve_blocks: ftl.tables.blocks.reserve_blocks,
            kept,
            valid: vec![0; words],
            index: BlockIndex::new(1, blocks, pages),
            filled: vec![0; blocks as usize],
            erases: vec![0; blocks as usize],
        }
    }

    /// Returns a copy of it as another plane of the drive.
    pub(super) fn of_plane(&self, plane: u32) -> BitmapPlane {
        BitmapPlane { plane, ..self.clone() }
    }

    /// Invalidates a random valid page.
    pub(super) fn lose_one(&mut self, stream: &mut Stream) {
        let page = self.draw(stream);
        self.invalidate(page);
    }

    /// Draws a valid page with equal probability.
    #[inline]
    fn draw(&self, stream: &mut Stream) -> u32 {
        let pages = u64::from(self.pages_per_block * self.blocks_per_plane);
        loop {
            // A uniform valid page is a uniform logical page.
            let page = stream.below(pages) as u32;
            if self.is_valid(page) {
                return page;
            }
        }
    }

    #[inline]
    pub(super) fn is_valid(&self, page: u32) -> bool {
        self.valid[page as usize / 64] & (1 << (page % 64)) != 0
    }

    /// Marks a page of the open block as valid, which is counted already.
    #[inline]
    pub(super) fn validate(&mut self, page: u32) {
        self.valid[page as usize / 64] |= 1 << (page % 64);
    }

    #[inline]
    pub(super) fn invalidate(&mut self, page: u32) {
        self.valid[page as usize / 64] &= !(1 << (page % 64));
        self.index.remove_valid(page / self.pages_per_block);
    }

    /// Overwrites pages of the plane with equal probability; returns the pages that garbage
    /// collection moved.
    ///
    /// Planes that share their pages are written in turn and lose pages to writes anywhere: with
    /// many planes, a Poisson number each.
    pub(super) fn overwrite(
        &mut self,
        state: &mut Plane,
        victim: &mut dyn VictimPolicy,
        writes: u64,
        scope: &mut Scope,
    ) -> u64 {
        let (mut moved, mut left) = (0, writes);
        let mut chances = Chances::new(scope.lpns);
        while left > 0 {
            moved += self.make_room(state, victim);
            // Until the open block is full there is nothing to collect.
            let most = left.min(u64::from(self.pages_per_block)) as u32;
            let (target, run) = self.take(state, victim, most);
            for target in target..target + run {
                if target % WRITES_AHEAD == 0 {
                    self.touch_draws(&scope.stream);
                }
                let lost = match scope.is_shared {
                    true => chances.count(state.committed, &mut scope.stream),
                    false => 1,
                };
                (0..lost).for_each(|_| self.lose_one(&mut scope.stream));
                self.validate(target);
                state.committed = state.committed + 1 - lost;
            }
            left -= u64::from(run);
        }
        moved
    }

    /// Brings the bits of the next draws into the caches, with the misses overlapping.
    #[inline]
    fn touch_draws(&self, stream: &Stream) {
        let pages = u64::from(self.pages_per_block * self.blocks_per_plane);
        let mut ahead = stream.clone();
        let words = (0..DRAWS_AHEAD).map(|_| self.valid[ahead.below(pages) as usize / 64]);
        std::hint::black_box(words.fold(0, |sum, word| sum ^ word));
    }

    /// Collects until the plane can take a page; returns the pages moved.
    pub(super) fn make_room(&mut self, state: &mut Plane, victim: &mut dyn VictimPolicy) -> u64 {
        let (mut moved, front) = (0, usize::from(FRONT));
        let kept_blocks = self.kept.of(self.plane, state.fills);
        while !state.has_room(front, kept_blocks, self.pages_per_block) {
            match self.collect(state, victim) {
                Some(pages) => moved += u64::from(pages),
                None if state.has_room(front, self.reserve_blocks, self.pages_per_block) => break,
                None => panic!("over-provisioning leaves every plane a block to reclaim"),
            }
        }
        moved
    }

    /// Takes up to `most` pages of one block for a program; returns the first and their number.
    pub(super) fn take(
        &mut self,
        state: &mut Plane,
        victim: &mut dyn VictimPolicy,
        most: u32,
    ) -> (u32, u32) {
        let at = state.allocate(usize::from(FRONT), self.pages_per_block);
        if let Some(full) = at.filled {
            self.filled[full as usize] = state.fills;
            state.fills += 1;
            self.index.fill(full);
            victim.filled(self.plane, self.plane * self.blocks_per_plane + full);
        }
        let run = 1 + state.take_more(usize::from(FRONT), most - 1, self.pages_per_block);
        self.index.add_valid_pages(at.block, run);
        (at.block * self.pages_per_block + at.page, run)
    }

    /// Programs the next pages of the plane.
    pub(super) fn program(&mut self, state: &mut Plane, victim: &mut dyn VictimPolicy, pages: u32) {
        let mut left = pages;
        while left > 0 {
            let (first, run) = self.take(state, victim, left);
            self.set(first..first + run, true);
            left -= run;
        }
    }

    /// Collects one block; returns the pages moved, or `None` if none is worth it.
    fn collect(&mut self, state: &mut Plane, victim: &mut dyn VictimPolicy) -> Option<u32> {
        let next = state.next_victim.take();
        let block = next.or_else(|| self.pick(victim))? - self.plane * self.blocks_per_plane;
        self.index.reclaim(block);
        let moved = self.index.take_valid(block);
        self.set(block * self.pages_per_block..(block + 1) * self.pages_per_block, false);
        self.program(state, victim, moved);
        let moved = moved + self.fill_up(state, victim);
        state.pad();
        self.erases[block as usize] += 1;
        state.add_free(block, self.erases[block as usize]);
        Some(moved)
    }

    /// Returns the block, counted over the drive, that a policy picks.
    fn pick(&mut self, victim: &mut dyn VictimPolicy) -> Option<u32> {
        let first = self.plane * self.blocks_per_plane;
        victim.pick(&mut InDrive { index: &mut self.index, first }, self.plane)
    }

    /// Fills the last program of a victim with pages of another block; returns the pages moved.
    fn fill_up(&mut self, state: &mut Plane, victim: &mut dyn VictimPolicy) -> u32 {
        let (mut filled, front) = (0, usize::from(FRONT));
        while self.fills_programs && state.missing(front) > 0 {
            if state.next_victim.is_none() {
                state.next_victim = self.pick(victim);
            }
            let Some(block) = state.next_victim else { break };
            let block = block - self.plane * self.blocks_per_plane;
            let missing = state.missing(front);
            let pages = block * self.pages_per_block..(block + 1) * self.pages_per_block;
            let found = filler(pages, self.units, missing, |page| self.is_valid(page));
            let Some(first) = found else { break };
            let end = (first / self.units + 1) * self.units;
            let mut left = missing;
            for page in (first..end).filter(|page| self.is_valid(*page)).collect::<Vec<_>>() {
                if left > 0 {
                    self.invalidate(page);
                    self.program(state, victim, 1);
                    (left, filled) = (left - 1, filled + 1);
                }
            }
        }
        filled
    }

    /// Sets the drive's valid pages and order of filling. Erases before the first request do not
    /// count.
    pub(super) fn give_back(&self, index: &mut BlockIndex, filled: &mut [u32]) {
        for block in 0..self.blocks_per_plane {
            let in_drive = self.plane * self.blocks_per_plane + block;
            index.add_valid_pages(in_drive, self.index.valid(block));
            filled[in_drive as usize] = self.filled[block as usize];
        }
    }

    /// Returns the valid pages, one bit a page.
    pub(super) fn words(&self) -> &[u64] {
        &self.valid
    }

    /// Returns the valid pages in order, counted over the drive.
    pub(super) fn valid_pages(&self) -> impl Iterator<Item = u32> {
        let pages = self.pages_per_block * self.blocks_per_plane;
        let first = self.plane * pages;
        words(0..pages).flat_map(move |(word, mask)| {
            let mut bits = self.valid[word as usize] & mask;
            std::iter::from_fn(move || {
                let next = (bits != 0).then(|| first + word * 64 + bits.trailing_zeros());
                bits &= bits.wrapping_sub(1);
                next
            })
        })
    }

    fn set(&mut self, pages: Range<u32>, valid: bool) {
        for (word, mask) in words(pages) {
            let bits = &mut self.valid[word as usize];
            *bits = if valid { *bits | mask } else { *bits & !mask };
        }
    }
}

/// Poisson counts of an event that happens `count` in `of` times on average, about once.
struct Chances {
    of: u32,
    /// Probabilities of the counts of 0, 1, … for recent means, by their numerators.
    recent: [(u32, [f64; COUNTS]); RECENT],
}

/// Number of neighbouring numerators with stored probabilities, and counts stored for each.
const RECENT: usize = 256;
const COUNTS: usize = 30;

impl Chances {
    fn new(of: u32) -> Chances {
        Chances { of, recent: [(u32::MAX, [0.0; COUNTS]); RECENT] }
    }

    /// Draws the number of times it happens.
    #[inline]
    fn count(&mut self, count: u32, stream: &mut Stream) -> u32 {
        let (of, shares) = &mut self.recent[count as usize % RECENT];
        if *of != count {
            (*of, *shares) = (count, shares_of(f64::from(count) / f64::from(self.of)));
        }
        let (mut left, mut times) = (stream.unit(), 0);
        // Branch-free: once one share exceeds the rest, all do.
        for share in &shares[..FEW] {
            times += usize::from(left >= *share);
            left -= share;
        }
        while (FEW..COUNTS).contains(&times) && left >= shares[times] {
            left -= shares[times];
            times += 1;
        }
        times as u32
    }
}

/// Counts below which nearly all draws are.
const FEW: usize = 5;

/// Returns the probabilities of the counts of a Poisson law with a mean of about 1.
#[cold]
fn shares_of(mean: f64) -> [f64; COUNTS] {
    // The probability of none is exp(-mean), as a series for the same bits on every system.
    let less = 1.0 - mean;
    let powers = (1..=12).map(f64::from);
    let series = powers.scan(1.0, |power, number| {
        *power *= less / number;
        Some(*power)
    });
    let mut share = (1.0 + series.sum::<f64>()) / std::f64::consts::E;
    std::array::from_fn(|times| {
        share *= if times > 0 { mean / times as f64 } else { 1.0 };
        share
    })
}

/// Returns the words of a range of bits, each with a mask of them.
fn words(bits: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
    (bits.start / 64..bits.end.div_ceil(64)).map(move |word| {
        let from = bits.start.max(word * 64) - word * 64;
        let to = (u64::from(bits.end) - u64::from(word) * 64).min(64) as u32;
        (word, (u64::MAX << from) & (u64::MAX >> (64 - to)))
    })
}
