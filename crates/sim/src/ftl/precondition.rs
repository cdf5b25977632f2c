//! Preconditioning: the state of a drive that has been written to, on the mapping alone, without time.

use reprieve_base::Stream;

use super::{Ftl, Mapping};
use crate::flash::Flash;
use crate::scenario::Precondition;

/// Two passes that move pages counts apart by less than one in so many writes are alike.
const STATIONARY: u64 = 200;
/// On a small drive chance alone parts two passes by this many standard deviations.
const DEVIATIONS: u64 = 3;
/// Overwrites drawn ahead.
const DRAWN_AHEAD: usize = 32;
/// Passes after which the state is taken as it is; a drive settles within ten.
const PASSES_MAX: u32 = 40;

impl Ftl {
    /// Brings a drive with nothing written into the state asked for.
    pub fn precondition(&mut self, state: Precondition, seed: u64, flash: &mut Flash) {
        if state != Precondition::None {
            for lpn in 0..self.logical_pages() {
                self.write_now(lpn);
            }
        }
        if state == Precondition::Steady {
            self.overwrite_until_stationary(seed);
        }
        self.tell_dies(flash);
    }

    /// Writes a logical page at once; returns the pages that garbage collection moved for it.
    fn write_now(&mut self, lpn: u32) -> u32 {
        let plane = self.plane_for(lpn, None).expect("the drive has more room than logical pages");
        let mut moved = 0;
        while !self.has_room(plane) {
            moved += self.collect_now(plane);
        }
        let at = self.allocate(plane);
        let page = self.page_number(plane / self.geometry.planes_per_die, at);
        if let Mapping::Flash(old) = self.map.get(lpn) {
            self.discard(old);
        }
        self.map.set(lpn, Mapping::Flash(page));
        self.validate(page, lpn);
        moved
    }

    /// Uniform random overwrites until a pass over the drive moves as many pages as the one before.
    fn overwrite_until_stationary(&mut self, seed: u64) {
        let mut stream = Stream::new(seed, "precondition.overwrite", 0);
        let pages = u64::from(self.logical_pages());
        let alike = (pages / STATIONARY).max(DEVIATIONS * pages.isqrt());
        let mut drawn = [0; DRAWN_AHEAD];
        let mut before = 0;
        for _ in 0..PASSES_MAX {
            let mut moved = 0;
            let mut left = pages;
            while left > 0 {
                // Drawn ahead, so that the tables' cache misses overlap.
                let lpns = &mut drawn[..left.min(DRAWN_AHEAD as u64) as usize];
                lpns.fill_with(|| stream.below(pages) as u32);
                self.touch(lpns);
                moved += lpns.iter().map(|lpn| u64::from(self.write_now(*lpn))).sum::<u64>();
                left -= lpns.len() as u64;
            }
            if moved > 0 && moved.abs_diff(before) <= alike {
                return;
            }
            before = moved;
        }
    }

    /// Tells every die how far its blocks are programmed.
    fn tell_dies(&self, flash: &mut Flash) {
        let geometry = self.geometry;
        for (number, plane) in self.planes.iter().enumerate() {
            let number = number as u32;
            let (die, in_die) = (number / geometry.planes_per_die, number % geometry.planes_per_die);
            let mut programmed = vec![geometry.pages_per_block; geometry.blocks_per_plane as usize];
            for block in plane.free_list() {
                programmed[block as usize] = 0;
            }
            if let Some(active) = plane.active {
                programmed[active as usize] = plane.next_page;
            }
            for (block, pages) in programmed.into_iter().enumerate() {
                flash.precondition(die, in_die, block as u32, pages);
            }
        }
    }
}
