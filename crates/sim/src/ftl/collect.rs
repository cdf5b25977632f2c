//! Garbage collection within a plane, one flash operation at a time.
//!
//! A die asks for the next step whenever it has time for one, so that the host gets in between any
//! two of them: a read of a valid page, its program into the open block, and at last the erase.

use reprieve_base::{PageAddress, Time};

use super::job::{Held, Job};
use super::{Ftl, Mapping, PPM};
use crate::slab::Slab;
use crate::txn::{Kind, NONE, Txn};
use crate::work::GcNeed;

impl Ftl {
    #[inline]
    fn planes_of(&self, die: u32) -> std::ops::Range<u32> {
        let first = die * self.geometry.planes_per_die;
        first..first + self.geometry.planes_per_die
    }

    /// How much a plane needs garbage collection.
    #[inline]
    fn need_of_plane(&self, plane: u32) -> GcNeed {
        let state = &self.planes[plane as usize];
        let free = state.free_blocks();
        let has_begun = state.job.victim.is_some();
        let is_short = free <= self.reserve_blocks || free < self.gc.start_blocks;
        if !is_short && !has_begun && state.failed.is_empty() {
            return GcNeed::None;
        }
        if has_begun && !self.gc.preemptible {
            return GcNeed::Exclusive;
        }
        if state.job.retires || !state.failed.is_empty() {
            return GcNeed::Urgent;
        }
        if !has_begun && !self.index.has_victim(plane) {
            return GcNeed::None;
        }
        if free <= self.reserve_blocks {
            GcNeed::Urgent
        } else if self.closing {
            if has_begun { GcNeed::Idle } else { GcNeed::None }
        } else if state.credit_ppm >= PPM {
            GcNeed::Due
        } else if self.gc.in_background {
            GcNeed::Idle
        } else {
            GcNeed::None
        }
    }

    /// How much the neediest plane of a die needs garbage collection.
    ///
    /// Asked at every decision: the answer is kept until something happens to a plane's blocks.
    #[inline]
    pub(super) fn need_of_die(&mut self, die: u32) -> GcNeed {
        if let Some(need) = self.gc_dies[die as usize].need {
            return need;
        }
        self.find_need(die)
    }

    fn find_need(&mut self, die: u32) -> GcNeed {
        if self.failing.has_failed_programs() {
            self.planes_of(die).for_each(|plane| self.give_up_empty(plane));
        }
        let need = self.planes_of(die).map(|plane| self.need_of_plane(plane)).max();
        let mut need = need.expect("a die has at least one plane");
        if self.collecting >= self.gc.dies_max && matches!(need, GcNeed::Idle | GcNeed::Due) {
            need = self.wait_for_turn(die, need);
        }
        self.gc_dies[die as usize].need = Some(need);
        need
    }

    /// As many dies collect as may: what the die needs as long as it is not among them.
    #[cold]
    fn wait_for_turn(&mut self, die: u32, need: GcNeed) -> GcNeed {
        let state = &mut self.gc_dies[die as usize];
        if state.jobs > 0 {
            return need;
        }
        if !state.waits {
            state.waits = true;
            self.waiting_dies.push_back(die);
        }
        GcNeed::None
    }

    /// The next die that has waited for another to have done collecting, and has to decide anew.
    #[inline]
    pub fn next_to_wake(&mut self) -> Option<u32> {
        if self.collecting >= self.gc.dies_max {
            return None;
        }
        let die = self.waiting_dies.pop_front()?;
        self.gc_dies[die as usize].waits = false;
        self.gc_dies[die as usize].need = None;
        Some(die)
    }

    /// The host writes a page to a plane: collection may move as many as the rate says.
    #[inline]
    pub(super) fn earn_moves(&mut self, plane: u32) {
        let state = &mut self.planes[plane as usize];
        if self.gc.rate_ppm > 0 && state.free_blocks() < self.gc.start_blocks {
            state.credit_ppm += self.gc.rate_ppm;
            self.forget_need(plane);
        }
    }

    /// Something has happened to the blocks of a plane that may change what it needs.
    #[inline]
    pub(super) fn forget_need(&mut self, plane: u32) {
        self.gc_dies[(plane / self.geometry.planes_per_die) as usize].need = None;
    }

    /// The plane to work on: the one begun, unless another needs it more.
    fn choose_plane(&mut self, die: u32) -> Option<u32> {
        let need = self.need_of_die(die);
        if need == GcNeed::None {
            return None;
        }
        let current = self.gc_dies[die as usize].plane;
        let begun = self.planes[current as usize].job.victim.is_some();
        if begun && self.need_of_plane(current) == need {
            return Some(current);
        }
        let needy = self.planes_of(die).filter(|plane| self.need_of_plane(*plane) == need);
        // One that was begun and left before one that was not; then the one with the least room.
        needy.min_by_key(|plane| {
            let state = &self.planes[*plane as usize];
            (state.job.victim.is_none(), state.free_blocks(), *plane)
        })
    }

    /// The next step on a die, if none is under way and one is useful.
    pub(super) fn next_step(&mut self, die: u32) -> Option<Kind> {
        let current = self.gc_dies[die as usize].plane;
        if self.planes[current as usize].job.in_flight {
            return None;
        }
        let plane = self.choose_plane(die)?;
        self.gc_dies[die as usize].plane = plane;
        if self.planes[plane as usize].job.victim.is_none() {
            self.begin_job(plane)?;
        }
        self.step_of(plane)
    }

    /// Chooses a victim; `None` if there is none after all.
    fn begin_job(&mut self, plane: u32) -> Option<()> {
        let state = &mut self.planes[plane as usize];
        let failed = state.failed.pop_front();
        let unworn = state.unworn.take().filter(|block| self.index.is_full(*block));
        let victim = match (failed, unworn) {
            (Some(failed), _) => failed,
            (None, Some(unworn)) => {
                self.victim.taken(plane, unworn);
                self.index.reclaim(unworn);
                unworn
            }
            (None, None) => {
                let victim = self.victim.pick(&mut self.index, plane)?;
                self.index.reclaim(victim);
                victim
            }
        };
        self.touch_owners(victim);
        let job = &mut self.planes[plane as usize].job;
        *job = Job { victim: Some(victim), retires: failed.is_some(), ..Job::default() };
        let die = &mut self.gc_dies[(plane / self.geometry.planes_per_die) as usize];
        die.jobs += 1;
        self.collecting += u32::from(die.jobs == 1);
        self.forget_need(plane);
        Some(())
    }

    /// The victim of a plane is dealt with; returns it.
    pub(super) fn end_job(&mut self, plane: u32) -> u32 {
        let state = &mut self.planes[plane as usize];
        let job = std::mem::take(&mut state.job);
        let die = &mut self.gc_dies[(plane / self.geometry.planes_per_die) as usize];
        die.jobs -= 1;
        self.collecting -= u32::from(die.jobs == 0);
        self.forget_need(plane);
        if let Some(demand) = &mut self.demand {
            demand.victim_done();
        }
        job.victim.expect("a job ends that was begun")
    }

    /// The next step with a plane's victim; `None`: no block is left to move a page to.
    fn step_of(&mut self, plane: u32) -> Option<Kind> {
        let pages = self.geometry.pages_per_block;
        let state = &mut self.planes[plane as usize];
        let job = &mut state.job;
        let victim = job.victim.expect("just made sure of");
        if let Some(held) = job.held {
            if self.map.owner(held.source) == Some(held.lpn) {
                let front = self.fronts.of_moved(held.lpn);
                if state.can_allocate(front, pages) {
                    return Some(Kind::GcProgram);
                }
                self.no_free_block(plane);
                return None;
            }
            // Overwritten while it was on its way: nothing to write any more.
            job.held = None;
        }
        while job.cursor < pages && self.map.owner(victim * pages + job.cursor).is_none() {
            job.cursor += 1;
        }
        if job.cursor < pages {
            return Some(Kind::GcRead);
        }
        assert!(!job.retires, "a block without valid pages was to be given up before");
        Some(Kind::Erase)
    }

    /// Brings the mapping of a victim's valid pages into the caches, with the misses overlapping.
    pub(super) fn touch_owners(&self, victim: u32) {
        let pages = self.geometry.pages_per_block;
        let owners = (victim * pages..(victim + 1) * pages).filter_map(|page| self.map.owner(page));
        std::hint::black_box(owners.fold(0, |sum, lpn| sum ^ self.map.peek(lpn)));
    }

    /// Takes the step that `next_step` named.
    pub(super) fn take_step(&mut self, die: u32, now: Time) -> Txn {
        let plane = self.gc_dies[die as usize].plane;
        let in_die = plane % self.geometry.planes_per_die;
        let (pages, blocks) = (self.geometry.pages_per_block, self.geometry.blocks_per_plane);
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = true;
        let victim = job.victim.expect("a step is taken after it was named");
        let at = PageAddress { plane: in_die, block: victim % blocks, page: job.cursor % pages };
        if let Some(held) = job.held {
            let at = self.allocate(plane, self.fronts.of_moved(held.lpn));
            let state = &mut self.planes[plane as usize];
            if state.credit_ppm >= PPM {
                state.credit_ppm -= PPM;
                self.forget_need(plane);
            }
            let mut txn = Txn::new(Kind::GcProgram, die, at, held.lpn, NONE, now);
            txn.old = held.source;
            return txn;
        }
        if job.cursor == pages {
            self.planes[plane as usize].erases += 1;
            return Txn::new(Kind::Erase, die, at, NONE, NONE, now);
        }
        let source = victim * pages + job.cursor;
        job.cursor += 1;
        let lpn = self.map.owner(source).expect("the page named to be read is valid");
        let mut txn = Txn::new(Kind::GcRead, die, at, lpn, NONE, now);
        txn.old = source;
        txn.erases_seen = self.planes[plane as usize].erases;
        txn
    }

    /// A step is complete.
    pub fn finish_step(&mut self, txn: &Txn, txns: &mut Slab<Txn>) {
        let plane = self.plane_of(txn.die, txn.at);
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = false;
        if job.retires {
            self.forget_need(plane);
        }
        let job = &mut self.planes[plane as usize].job;
        match txn.kind {
            Kind::GcRead => job.held = Some(Held { source: txn.old, lpn: txn.lpn }),
            // The page is still held, and goes elsewhere.
            Kind::GcProgram if self.programs_fail() && self.program_failed(txn) => {}
            Kind::GcProgram => {
                self.planes[plane as usize].job.held = None;
                let page = self.page_number(txn.die, txn.at);
                self.relocate(txn.old, page, txn.lpn, txns);
            }
            _ => {
                let victim = self.end_job(plane);
                self.reclaimed(plane, victim, txn.die);
            }
        }
    }

    /// A victim has been erased, or the erase has failed.
    fn reclaimed(&mut self, plane: u32, victim: u32, die: u32) {
        let erases = self.wear.erased(victim);
        if self.failing.erase_fails(die) {
            self.erase_failed(plane, victim);
            return;
        }
        let state = &mut self.planes[plane as usize];
        state.add_free(victim % self.geometry.blocks_per_plane, erases);
        if state.free_blocks() >= self.gc.start_blocks {
            state.credit_ppm = 0;
        }
        self.level_wear(victim, erases);
    }

    /// The data of `source` is in `target` as well, and from now on only there.
    fn relocate(&mut self, source: u32, target: u32, lpn: u32, txns: &mut Slab<Txn>) {
        if self.map.owner(source) != Some(lpn) {
            // Overwritten meanwhile: the copy is dead on arrival.
            return;
        }
        match self.map.get(lpn) {
            // The data is the old version under a write that is still in the buffer.
            Mapping::Buffered(id) => txns[id].old = target,
            _ => self.set_moved(lpn, target),
        }
        self.invalidate(source);
        self.validate(target, lpn);
    }
}
