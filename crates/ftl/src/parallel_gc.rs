//! Planes of a die that collect side by side: what begins together, and what a command takes.
//!
//! All planes that collect read, then all program, and at last all erase: so their steps meet in
//! commands that take several planes, where pages and blocks fit.

use reprieve_base::Time;
use reprieve_config::Scenario;
use reprieve_nand::MultiPlane;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::GcNeed;

use super::{Ftl, PageAddress};

/// How the planes of a die collect side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// A plane with fewer free blocks begins a victim when another one does.
    joins_below_blocks: u32,
    /// What a command takes together.
    multi_plane: MultiPlane,
    /// Planes read by themselves: no command takes the reads of several.
    reads_apart: bool,
}

impl Beside {
    pub(super) fn of(scenario: &Scenario) -> Beside {
        let parallelism = &scenario.parallelism;
        Beside {
            // One block from where it has to.
            joins_below_blocks: scenario.ftl.gc_hard_free_blocks + 2,
            multi_plane: parallelism.multi_plane,
            reads_apart: parallelism.independent_plane_reads,
        }
    }
}

impl Ftl {
    fn beside(&self) -> Beside {
        self.gc.beside.expect("asked only where planes collect side by side")
    }

    /// The next step on a die, if one is useful beside those that are under way.
    #[cold]
    pub(super) fn next_side_by_side(&mut self, die: u32) -> Option<Kind> {
        let need = self.need_of_die(die);
        if need == GcNeed::None {
            return None;
        }
        let (mut reading, planes) = (false, self.planes_of(die));
        for plane in planes.clone() {
            let job = &self.planes[plane as usize].job;
            if job.in_flight && !job.reads {
                return None;
            }
            reading |= job.in_flight;
        }
        self.begin_together(die, need);
        let mut steps = [(Kind::GcRead, 0), (Kind::GcProgram, 0), (Kind::Erase, 0)];
        for (number, plane) in planes.clone().enumerate() {
            let job = &self.planes[plane as usize].job;
            let goes_on = job.victim.is_some() && !job.in_flight;
            if !goes_on || self.need_of_plane(plane) == GcNeed::None {
                continue;
            }
            let kind = self.step_of(plane);
            for (own, set) in &mut steps {
                *set |= u128::from(kind == Some(*own)) << number;
            }
        }
        let (kind, set) = steps.into_iter().find(|(_, set)| *set != 0)?;
        if reading && kind != Kind::GcRead {
            return None;
        }
        let alike = || planes.clone().filter(|plane| set >> (plane - planes.start) & 1 > 0);
        let (plane, page) = match kind {
            Kind::GcRead => self.next_read_of(alike),
            Kind::GcProgram => (self.next_program_of(alike), 0),
            _ => (alike().next().expect("the set is not empty"), 0),
        };
        let state = &mut self.gc_dies[die as usize];
        (state.plane, state.page) = (plane, page);
        Some(kind)
    }

    /// Planes that need it as much as the die does begin victims, and where the first of a die is
    /// begun, so do those that will have to soon.
    fn begin_together(&mut self, die: u32, need: GcNeed) {
        let is_first = self.gc_dies[die as usize].jobs == 0;
        if !is_first && !self.gc.preemptible {
            // The host would never get in between.
            return;
        }
        for plane in self.planes_of(die) {
            if self.has_none_begun(plane) && self.need_of_plane(plane) == need {
                let _none_after_all = self.begin_job(plane);
            }
        }
        if !is_first || self.gc_dies[die as usize].jobs == 0 || self.closing {
            return;
        }
        let below = self.beside().joins_below_blocks.max(self.gc.start_blocks);
        for plane in self.planes_of(die) {
            let is_short = self.planes[plane as usize].free_blocks() < below;
            if self.has_none_begun(plane) && is_short && self.begin_job(plane).is_some() {
                self.planes[plane as usize].job.joined = true;
            }
        }
    }

    fn has_none_begun(&self, plane: u32) -> bool {
        self.planes[plane as usize].job.victim.is_none()
    }

    /// Plane and page of the next read: of the pages that most planes can read with one command
    /// the first, for what is left in one of them alone has to be read alone in any order.
    fn next_read_of<I: Iterator<Item = u32>>(&self, planes: impl Fn() -> I) -> (u32, u32) {
        let cursor = |plane: u32| self.planes[plane as usize].job.cursor;
        let first = planes().next().expect("a plane reads next");
        let (mut most, mut best) = (1, (first, cursor(first)));
        let count = planes().count();
        if count == 1 || self.beside().reads_apart {
            return best;
        }
        let from = planes().map(cursor).min().expect("there are two at least");
        for page in from..self.geometry.pages_per_block {
            for plane in planes().filter(|plane| self.is_unread(*plane, page)) {
                let with = planes().filter(|other| self.reads_beside(plane, *other, page)).count();
                if with > most {
                    (most, best) = (with, (plane, page));
                }
            }
            if most == count {
                break;
            }
        }
        best
    }

    /// Whether `other`, which may be `plane`, can read the page of this number with it.
    fn reads_beside(&self, plane: u32, other: u32, page: u32) -> bool {
        let block = |plane: u32| {
            let victim = self.planes[plane as usize].job.victim.expect("it was begun");
            victim % self.geometry.blocks_per_plane
        };
        self.fits((block(plane), page), (block(other), page)) && self.is_unread(other, page)
    }

    /// Whether a page of the victim of a plane is valid and was not read yet.
    fn is_unread(&self, plane: u32, page: u32) -> bool {
        let job = &self.planes[plane as usize].job;
        let victim = job.victim.expect("it was begun");
        let source = victim * self.geometry.pages_per_block + page;
        self.map.owner(source).is_some() && !job.holds(source)
    }

    /// Whether one command takes these blocks and pages of different planes.
    fn fits(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        match self.beside().multi_plane {
            MultiPlane::None => false,
            MultiPlane::Page => one.1 == other.1,
            MultiPlane::Block => one == other,
        }
    }

    /// The plane that programs next: the one with the fewest pages to where all others are, so
    /// that the open blocks come to pages of the same number.
    fn next_program_of<I: Iterator<Item = u32>>(&self, planes: impl Fn() -> I) -> u32 {
        let pages = self.geometry.pages_per_block;
        let next = |plane: u32| self.next_of_held(plane).1;
        let behind = |plane: &u32| {
            let to = |other: u32| (next(other) + pages - next(*plane)) % pages;
            planes().map(to).max()
        };
        planes().min_by_key(behind).expect("a plane programs next")
    }

    /// Block and page, in its plane, to which a plane programs what it holds.
    fn next_of_held(&self, plane: u32) -> (u32, u32) {
        let state = &self.planes[plane as usize];
        let pages = self.geometry.pages_per_block;
        let first = state.job.first_to_write(pages, state.batch, &self.fronts);
        let front = self.fronts.of_moved(first.expect("it programs next").lpn);
        state.next(front, pages)
    }

    /// Takes the step that `next_side_by_side` named.
    #[cold]
    pub(super) fn take_side_by_side(&mut self, die: u32, now: Time) -> Txn {
        let (plane, page) = (self.gc_dies[die as usize].plane, self.gc_dies[die as usize].page);
        match self.step_of(plane).expect("a step is taken after it was named") {
            Kind::GcRead => self.take_read(plane, page, now),
            _ => self.take_of_plane(plane, now),
        }
    }

    /// Takes a step of the kind of `first`, which was just taken, on another plane, if it fits.
    #[cold]
    pub(super) fn take_beside(&mut self, first: &Txn, now: Time) -> Option<Txn> {
        self.gc.beside?;
        for plane in self.planes_of(first.die) {
            let job = &self.planes[plane as usize].job;
            if job.victim.is_none() || job.in_flight || self.need_of_plane(plane) == GcNeed::None {
                continue;
            }
            if self.step_of(plane) != Some(first.kind) {
                continue;
            }
            let leader = self.plane_of(first.die, first.at);
            match first.kind {
                Kind::GcRead if self.beside().reads_apart => {}
                Kind::GcRead if self.reads_beside(leader, plane, first.at.page) => {
                    return Some(self.take_read(plane, first.at.page, now));
                }
                Kind::GcProgram
                    if self.fits((first.at.block, first.at.page), self.next_of_held(plane)) =>
                {
                    return Some(self.take_of_plane(plane, now));
                }
                _ => {}
            }
        }
        None
    }

    /// The plane in its die of the next step, if that is a read and planes read by themselves.
    #[cold]
    pub(super) fn next_read_beside(&mut self, die: u32) -> Option<u32> {
        let apart = self.gc.beside.is_some_and(|beside| beside.reads_apart);
        if !apart || self.next_side_by_side(die) != Some(Kind::GcRead) {
            return None;
        }
        Some(self.gc_dies[die as usize].plane % self.geometry.planes_per_die)
    }

    fn take_of_plane(&mut self, plane: u32, now: Time) -> Txn {
        self.planes[plane as usize].job.reads = false;
        self.take_step_of_plane(plane, now)
    }

    /// Takes the read of a page of the victim of a plane, which need not be the next in order.
    fn take_read(&mut self, plane: u32, page: u32, now: Time) -> Txn {
        let (pages, blocks) = (self.geometry.pages_per_block, self.geometry.blocks_per_plane);
        let state = &mut self.planes[plane as usize];
        let victim = state.job.victim.expect("a step is taken after it was named");
        (state.job.in_flight, state.job.reads) = (true, true);
        let source = victim * pages + page;
        let lpn = self.map.owner(source).expect("the page named to be read is valid");
        let (die, in_die) = (plane / self.geometry.planes_per_die, self.geometry.planes_per_die);
        let at = PageAddress { plane: plane % in_die, block: victim % blocks, page };
        let mut txn = Txn::new(Kind::GcRead, die, at, lpn, NONE, now);
        txn.old = source;
        txn.erases_seen = self.erases[plane as usize];
        txn
    }
}
