//! Preconditioning: the state of a drive that was written to, on the mapping alone, without time.

use reprieve_base::{Stream, UserError};

use super::{Ftl, Mapping};
use crate::scenario::Precondition;

/// Two passes whose counts of pages moved are apart by less than one in so many writes are alike.
const STATIONARY: u64 = 200;
/// On a small drive chance alone parts two passes by this many standard deviations.
const DEVIATIONS: u64 = 3;
/// Overwrites drawn ahead, so that the tables' cache misses overlap.
const DRAWN_AHEAD: u64 = 32;
/// Passes after which we give up; a drive settles within ten.
const PASSES_MAX: u32 = 40;

/// Preconditioning under way, a piece at a time, so that whoever waits for it can be told.
pub struct Preconditioner {
    state: State,
    then_overwrite: bool,
    stream: Stream,
}

enum State {
    /// Logical pages below this one, and behind them those of the mapping, are written.
    Filling(u32),
    Overwriting(Pass),
    Done,
}

/// One pass: as many random overwrites as the drive has logical pages.
struct Pass {
    number: u32,
    left: u64,
    /// Pages that garbage collection has moved in this pass, and in the one before.
    moved: u64,
    before: u64,
}

impl Preconditioner {
    /// For a drive with nothing written and the state asked for.
    pub fn new(state: Precondition, seed: u64) -> Preconditioner {
        let nothing = state == Precondition::None;
        Preconditioner {
            state: if nothing { State::Done } else { State::Filling(0) },
            then_overwrite: state == Precondition::Steady,
            stream: Stream::new(seed, "precondition.overwrite", 0),
        }
    }

    /// Whether the state asked for is reached.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Goes on for about `writes` page writes.
    ///
    /// Errors if the drive does not become stationary.
    pub fn advance(&mut self, ftl: &mut Ftl, writes: u64) -> Result<(), UserError> {
        let pages = u64::from(ftl.logical_pages());
        let all_pages = u64::from(ftl.all_pages());
        match &mut self.state {
            State::Done => {}
            State::Filling(next) => {
                let end = (u64::from(*next) + writes).min(all_pages) as u32;
                for lpn in *next..end {
                    ftl.write_now(lpn);
                }
                *next = end;
                if u64::from(end) == all_pages {
                    self.state = if self.then_overwrite {
                        State::Overwriting(Pass { number: 0, left: pages, moved: 0, before: 0 })
                    } else {
                        State::Done
                    };
                }
            }
            State::Overwriting(pass) => {
                pass.overwrite(ftl, &mut self.stream, writes);
                if pass.left == 0 && pass.is_like_the_one_before(pages, ftl.geometry.pages()) {
                    self.state = State::Done;
                } else if pass.left == 0 {
                    pass.next(pages)?;
                }
            }
        }
        Ok(())
    }
}

impl Pass {
    /// Uniform random overwrites of the whole drive.
    fn overwrite(&mut self, ftl: &mut Ftl, stream: &mut Stream, writes: u64) {
        let pages = u64::from(ftl.logical_pages());
        let mut drawn = [0; DRAWN_AHEAD as usize];
        let end = self.left.saturating_sub(writes);
        while self.left > end {
            let lpns = &mut drawn[..(self.left - end).min(DRAWN_AHEAD) as usize];
            lpns.fill_with(|| stream.below(pages) as u32);
            ftl.touch(lpns);
            self.moved += lpns.iter().map(|lpn| u64::from(ftl.write_now(*lpn))).sum::<u64>();
            self.left -= lpns.len() as u64;
        }
    }

    fn is_like_the_one_before(&self, pages: u64, physical_pages: u64) -> bool {
        let alike = (pages / STATIONARY).max(DEVIATIONS * pages.isqrt());
        // Before every block has been filled once, garbage collection has nothing to do.
        let used = u64::from(self.number) * pages >= physical_pages;
        used && self.moved.abs_diff(self.before) <= alike
    }

    fn next(&mut self, pages: u64) -> Result<(), UserError> {
        if self.number + 1 == PASSES_MAX {
            return Err(UserError::new(format!(
                "ftl.precondition = \"steady\": after {PASSES_MAX} overwrites of the drive its \
                 write amplification still changes from one to the next; use \"sequential\", or a \
                 larger ftl.over_provisioning"
            )));
        }
        *self = Pass { number: self.number + 1, left: pages, moved: 0, before: self.moved };
        Ok(())
    }
}

impl Ftl {
    /// Writes a logical page at once; returns the pages that garbage collection moved for it.
    fn write_now(&mut self, lpn: u32) -> u32 {
        let plane = self.place_write(lpn, &|_| true);
        let plane = plane.expect("the drive has more room than logical pages");
        let front = self.fronts.of_write(lpn);
        let mut moved = 0;
        while !self.has_room(plane, front) {
            moved += self.collect_now(plane);
        }
        let at = self.allocate(plane, usize::from(front));
        let page = self.page_number(plane / self.geometry.planes_per_die, at);
        if let Mapping::Flash(old) = self.map.get(lpn) {
            self.discard(old);
        }
        self.map.set(lpn, Mapping::Flash(page));
        self.validate(page, lpn);
        moved
    }

    /// Says of every block how far it is programmed: die, plane in the die, block, pages.
    pub fn for_each_block(&self, mut say: impl FnMut(u32, u32, u32, u32)) {
        let geometry = self.geometry;
        for (number, plane) in self.planes.iter().enumerate() {
            let number = number as u32;
            let die = number / geometry.planes_per_die;
            let mut programmed = vec![geometry.pages_per_block; geometry.blocks_per_plane as usize];
            plane.each_free(|block| programmed[block as usize] = 0);
            for front in plane.fronts {
                if let Some(open) = front.block {
                    programmed[open as usize] = front.next_page;
                }
            }
            for (block, pages) in programmed.into_iter().enumerate() {
                say(die, number % geometry.planes_per_die, block as u32, pages);
            }
        }
    }
}
