//! A drive whose valid pages have no names: one bit for each physical page says if it is valid.

use std::ops::Range;

use reprieve_base::Stream;

use super::{Ftl, Mapping};

/// Pages are alike where a plane has no open block but this one.
const FRONT: u8 = 0;

/// Which physical pages are valid, while nobody knows which logical pages they hold.
///
/// It stands in for the mapping tables; planes, index of blocks and victim policy are the drive's.
pub(super) struct Unnamed {
    /// One bit a page, counted over the drive.
    valid: Vec<u64>,
    /// Scratch: valid pages of a scope, in the order of the logical pages that they get.
    pages: Vec<u32>,
}

impl Unnamed {
    /// Nothing valid.
    pub(super) fn new(ftl: &Ftl) -> Unnamed {
        let words = ftl.geometry.pages().div_ceil(64) as usize;
        Unnamed { valid: vec![0; words], pages: Vec::new() }
    }

    /// Writes logical pages of an empty plane for the first time.
    pub(super) fn fill(&mut self, ftl: &mut Ftl, plane: u32, pages: u32) {
        ftl.planes[plane as usize].committed += pages;
        self.program(ftl, plane, pages);
        debug_assert!(
            ftl.has_room(plane, FRONT),
            "over-provisioning leaves room for all logical pages"
        );
    }

    /// Overwrites logical pages of some planes, each as likely as any other; returns the pages
    /// that garbage collection moved for it.
    ///
    /// `home`: the plane that all of them are written to; `None`: the placement scheme says.
    pub(super) fn overwrite(
        &mut self,
        ftl: &mut Ftl,
        planes: Range<u32>,
        home: Option<u32>,
        writes: u64,
        stream: &mut Stream,
    ) -> u64 {
        let pages_per_block = ftl.geometry.pages_per_block;
        let pages_per_plane = pages_per_block * ftl.geometry.blocks_per_plane;
        let first = planes.start * pages_per_plane;
        let pages = u64::from(planes.end - planes.start) * u64::from(pages_per_plane);
        let (mut moved, mut left) = (0, writes);
        while left > 0 {
            let plane = home.or_else(|| ftl.place_write(0, &|_| true));
            let plane = plane.expect("the drive has more room than logical pages");
            while !ftl.has_room(plane, FRONT) {
                moved += u64::from(self.collect(ftl, plane));
            }
            // Until the open block is full there is nothing to collect.
            let most = if home.is_some() { left } else { 1 };
            let (target, run) = self.take(ftl, plane, most.min(u64::from(pages_per_block)) as u32);
            for target in target..target + run {
                let old = self.draw(first, pages, stream);
                self.valid[target as usize / 64] |= 1 << (target % 64);
                self.valid[old as usize / 64] &= !(1 << (old % 64));
                ftl.index.remove_valid(old / pages_per_block);
                if home.is_none() {
                    ftl.planes[(old / pages_per_plane) as usize].committed -= 1;
                }
            }
            left -= u64::from(run);
        }
        moved
    }

    /// A valid page of the `pages` from `first` on: drawn at random it is a logical page drawn at
    /// random.
    #[inline]
    fn draw(&self, first: u32, pages: u64, stream: &mut Stream) -> u32 {
        loop {
            let page = first + stream.below(pages) as u32;
            if self.valid[page as usize / 64] & (1 << (page % 64)) != 0 {
                return page;
            }
        }
    }

    /// Takes up to `most` pages of one block to be programmed; returns the first and their number.
    fn take(&mut self, ftl: &mut Ftl, plane: u32, most: u32) -> (u32, u32) {
        let pages_per_block = ftl.geometry.pages_per_block;
        let at = ftl.allocate(plane, usize::from(FRONT));
        let at = ftl.twins.inner(at);
        let run =
            1 + ftl.planes[plane as usize].take_more(usize::from(FRONT), most - 1, pages_per_block);
        let block = plane * ftl.geometry.blocks_per_plane + at.block;
        ftl.index.add_valid_pages(block, run);
        (block * pages_per_block + at.page, run)
    }

    /// Programs the next pages of a plane.
    fn program(&mut self, ftl: &mut Ftl, plane: u32, pages: u32) {
        let mut left = pages;
        while left > 0 {
            let (first, run) = self.take(ftl, plane, left);
            self.set(first..first + run, true);
            left -= run;
        }
    }

    /// Reclaims one block of a plane; returns the pages moved.
    fn collect(&mut self, ftl: &mut Ftl, plane: u32) -> u32 {
        let pages_per_block = ftl.geometry.pages_per_block;
        let victim = ftl.victim.pick(&mut ftl.index, plane);
        let victim = victim.expect("over-provisioning leaves every plane a block to reclaim");
        ftl.index.reclaim(victim);
        let moved = ftl.index.take_valid(victim);
        self.set(victim * pages_per_block..(victim + 1) * pages_per_block, false);
        self.program(ftl, plane, moved);
        ftl.planes[plane as usize].pad();
        let erases = ftl.wear.erased(victim);
        ftl.planes[plane as usize].add_free(victim % ftl.geometry.blocks_per_plane, erases);
        moved
    }

    /// Gives the valid pages of some planes the logical pages `lpns`, every way equally likely.
    pub(super) fn name(
        &mut self,
        ftl: &mut Ftl,
        planes: Range<u32>,
        lpns: impl Iterator<Item = u32>,
        stream: &mut Stream,
    ) {
        let pages_per_plane = ftl.geometry.pages_per_block * ftl.geometry.blocks_per_plane;
        let mut pages = std::mem::take(&mut self.pages);
        pages.clear();
        pages.extend(self.valid_in(planes.start * pages_per_plane..planes.end * pages_per_plane));
        for last in (1..pages.len()).rev() {
            pages.swap(last, stream.below(last as u64 + 1) as usize);
        }
        let mut named = 0;
        for (lpn, page) in lpns.zip(&pages) {
            ftl.map.set(lpn, Mapping::Flash(*page));
            ftl.map.own(*page, lpn);
            named += 1;
        }
        assert_eq!(named, pages.len(), "as many pages are valid as have names");
        self.pages = pages;
    }

    fn valid_in(&self, pages: Range<u32>) -> impl Iterator<Item = u32> {
        words(pages).flat_map(|(word, mask)| {
            let mut bits = self.valid[word as usize] & mask;
            std::iter::from_fn(move || {
                let next = (bits != 0).then(|| word * 64 + bits.trailing_zeros());
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

/// The words in which the bits of a range lie, each with a mask of those bits.
fn words(bits: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
    (bits.start / 64..bits.end.div_ceil(64)).map(move |word| {
        let from = bits.start.max(word * 64) - word * 64;
        let to = (u64::from(bits.end) - u64::from(word) * 64).min(64) as u32;
        (word, (u64::MAX << from) & (u64::MAX >> (64 - to)))
    })
}
