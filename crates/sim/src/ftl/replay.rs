//! Writes without time, page by page and by name: for the steady state where pages differ.
//!
//! Several open blocks of a plane, or pages of the mapping in flash, make the place of a page
//! depend on which it is. Then its name cannot be drawn at the end.

use reprieve_base::Stream;

use super::{Ftl, Mapping};

/// Pages drawn ahead, so that the misses of their mapping overlap.
const DRAWN_AHEAD: u64 = 16;

/// Uniform random overwrites of the whole drive, the same for as long as they go on.
pub(super) struct Replay {
    stream: Stream,
}

impl Replay {
    pub(super) fn new(seed: u64) -> Replay {
        Replay { stream: Stream::new(seed, "precondition.overwrite", 0) }
    }

    /// Overwrites logical pages of the host; returns the pages that collection moved for it.
    pub(super) fn overwrite(&mut self, ftl: &mut Ftl, writes: u64) -> u64 {
        let pages = u64::from(ftl.logical_pages());
        let mut drawn = [0; DRAWN_AHEAD as usize];
        let (mut left, mut moved) = (writes, 0);
        while left > 0 {
            let lpns = &mut drawn[..left.min(DRAWN_AHEAD) as usize];
            lpns.fill_with(|| self.stream.below(pages) as u32);
            ftl.touch(lpns);
            moved += lpns.iter().map(|lpn| u64::from(ftl.write_now(*lpn))).sum::<u64>();
            left -= lpns.len() as u64;
        }
        moved
    }
}

impl Ftl {
    /// Whether overwrites can be drawn without names: all pages of a plane are alike.
    pub(super) fn pages_are_alike(&self) -> bool {
        self.fronts.is_simple()
    }

    /// Writes a logical page at once; returns the pages that garbage collection moved for it.
    pub(super) fn write_now(&mut self, lpn: u32) -> u32 {
        let plane = self.place_write(lpn, &|_| true);
        let plane = plane.expect("the drive has more room than logical pages");
        let front = self.fronts.of_write(lpn);
        let mut moved = 0;
        while !self.has_room(plane, front) {
            moved += self.collect_now(plane);
        }
        let page = self.next_page_now(plane, usize::from(front));
        if let Mapping::Flash(old) = self.map.get(lpn) {
            self.discard(old);
        }
        self.map.set(lpn, Mapping::Flash(page));
        self.validate(page, lpn);
        moved
    }

    /// Reclaims one block of a plane at once; returns the pages moved.
    fn collect_now(&mut self, plane: u32) -> u32 {
        let (pages, blocks) = (self.geometry.pages_per_block, self.geometry.blocks_per_plane);
        let victim = self.victim.pick(&mut self.index, plane);
        let victim = victim.expect("over-provisioning leaves every plane a block to reclaim");
        self.index.reclaim(victim);
        let moved = self.index.valid(victim);
        self.touch_owners(victim);
        for source in victim * pages..(victim + 1) * pages {
            if let Some(lpn) = self.map.owner(source) {
                let target = self.next_page_now(plane, self.fronts.of_moved(lpn));
                self.invalidate(source);
                self.validate(target, lpn);
                self.map.set(lpn, Mapping::Flash(target));
            }
        }
        self.planes[plane as usize].pad();
        let erases = self.wear.erased(victim);
        self.planes[plane as usize].add_free(victim % blocks, erases);
        moved
    }

    /// The next page of an open block of a plane, counted over the drive.
    fn next_page_now(&mut self, plane: u32, front: usize) -> u32 {
        let at = self.allocate(plane, front);
        self.page_number(plane / self.geometry.planes_per_die, at)
    }
}
