//! Garbage collection within a plane, one flash operation at a time.
//!
//! A die asks for the next step whenever it has time for one, so that the host gets in between any
//! two of them: a read of a valid page, its program into the open block, or both at once as a
//! copyback, and at last the erase.

use reprieve_base::{PageAddress, Slab, Time};
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::GcNeed;

use super::job::HeldPage;
use super::{Ftl, Mapping, PPM};

impl Ftl {
    #[inline]
    pub(super) fn planes_of(&self, die: u32) -> std::ops::Range<u32> {
        let first = die * self.geometry.planes_per_die;
        first..first + self.geometry.planes_per_die
    }

    /// How much a plane needs garbage collection.
    #[inline]
    pub(super) fn need_of_plane(&self, plane: u32) -> GcNeed {
        let state = &self.planes[plane as usize];
        let free = state.free_blocks();
        let has_begun = state.job.victim.is_some();
        let is_short = free <= self.reserve_blocks || free < self.gc.start_blocks;
        if !is_short && !has_begun && state.failed.is_empty() || self.frozen {
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
        } else if self.gc.in_background || has_begun && state.job.joined {
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

    /// Collection moves pages of a plane: of those that the host's writes have earned, if any are
    /// left; where a program takes several, some may be of those that are still to be earned.
    #[inline]
    fn spend_moves(&mut self, plane: u32, pages: usize) {
        let credit_ppm = &mut self.planes[plane as usize].credit_ppm;
        if *credit_ppm >= PPM {
            *credit_ppm -= PPM * pages as i64;
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
        self.neediest_plane(die, need)
    }

    /// Out of the way, for most victims are gone through without another choice.
    #[cold]
    fn neediest_plane(&self, die: u32, need: GcNeed) -> Option<u32> {
        let needy = self.planes_of(die).filter(|plane| self.need_of_plane(*plane) == need);
        // One that was begun and left before one that was not; then the one with the least room.
        needy.min_by_key(|plane| {
            let state = &self.planes[*plane as usize];
            (state.job.victim.is_none(), state.free_blocks(), *plane)
        })
    }

    /// The next step on a die, if none is under way and one is useful.
    pub(super) fn next_step(&mut self, die: u32) -> Option<Kind> {
        if self.gc.beside.is_some() {
            return self.next_side_by_side(die);
        }
        let current = self.gc_dies[die as usize].plane;
        if self.planes[current as usize].job.in_flight {
            return None;
        }
        let plane = self.choose_plane(die)?;
        self.gc_dies[die as usize].plane = plane;
        self.step_of_plane(plane)
    }

    /// The next step on a plane on which none is under way, if there is a victim.
    #[inline(always)]
    fn step_of_plane(&mut self, plane: u32) -> Option<Kind> {
        if self.planes[plane as usize].job.victim.is_none() {
            self.begin_job(plane)?;
        }
        self.step_of(plane)
    }

    /// Chooses a victim; `None` if there is none after all.
    pub(super) fn begin_job(&mut self, plane: u32) -> Option<()> {
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
        job.victim = Some(victim);
        job.retires = failed.is_some();
        job.cursor = 0;
        let die = &mut self.gc_dies[(plane / self.geometry.planes_per_die) as usize];
        die.jobs += 1;
        self.collecting += u32::from(die.jobs == 1);
        self.forget_need(plane);
        Some(())
    }

    /// The victim of a plane is dealt with; returns it.
    pub(super) fn end_job(&mut self, plane: u32) -> u32 {
        let job = &mut self.planes[plane as usize].job;
        job.held.clear();
        job.retires = false;
        job.joined = false;
        let victim = job.victim.take().expect("a job ends that was begun");
        let die = &mut self.gc_dies[(plane / self.geometry.planes_per_die) as usize];
        die.jobs -= 1;
        self.collecting -= u32::from(die.jobs == 0);
        self.forget_need(plane);
        if let Some(demand) = &mut self.demand {
            demand.victim_done();
        }
        victim
    }

    /// The next step with a plane's victim; `None`: no block is left to move a page to.
    pub(super) fn step_of(&mut self, plane: u32) -> Option<Kind> {
        let pages = self.geometry.pages_per_block;
        let state = &mut self.planes[plane as usize];
        let batch = state.batch;
        let job = &mut state.job;
        let victim = job.victim.expect("just made sure of");
        // What was overwritten while it was on its way need not be written any more.
        match job.held[..] {
            [] => {}
            [HeldPage { source, lpn }] if self.map.owner(source) == Some(lpn) => {}
            _ => job.keep_held(|held| self.map.owner(held.source) == Some(held.lpn)),
        }
        while job.cursor < pages && self.map.owner(victim * pages + job.cursor).is_none() {
            job.cursor += 1;
        }
        if batch > 1 && self.gc.beside.is_some() {
            // Read ahead of the order, and not programmed yet.
            job.skip_done(&self.map, pages);
        }
        let (step, moved) = if let Some(first) = job.first_to_write(pages, batch, &self.fronts) {
            (Kind::GcProgram, Some(first.lpn))
        } else if job.cursor == pages {
            assert!(!job.retires, "a block without valid pages was to be given up before");
            (Kind::Erase, None)
        } else if self.copyback {
            (Kind::GcCopy, self.map.owner(victim * pages + job.cursor))
        } else {
            (Kind::GcRead, None)
        };
        if moved.is_none_or(|lpn| state.can_allocate(self.fronts.of_moved(lpn), pages)) {
            return Some(step);
        }
        self.no_free_block(plane);
        None
    }

    /// Brings the mapping of a victim's valid pages into the caches, with the misses overlapping.
    pub(super) fn touch_owners(&self, victim: u32) {
        let pages = self.geometry.pages_per_block;
        let owners = (victim * pages..(victim + 1) * pages).filter_map(|page| self.map.owner(page));
        std::hint::black_box(owners.fold(0, |sum, lpn| sum ^ self.map.peek(lpn)));
    }

    /// Takes the step that `next_step` named.
    #[inline(always)]
    pub(super) fn take_step(&mut self, die: u32, now: Time) -> Txn {
        if self.gc.beside.is_some() {
            return self.take_side_by_side(die, now);
        }
        self.take_step_of_plane(self.gc_dies[die as usize].plane, now)
    }

    /// Takes an erase on another plane of a die, if one that needs collection comes to it next;
    /// with `block` only of the block of that number.
    #[cold]
    pub(super) fn take_erase(&mut self, die: u32, block: Option<u32>, now: Time) -> Option<Txn> {
        if self.twins.exist() {
            return self.take_twin_erase(die, now);
        }
        let blocks = self.geometry.blocks_per_plane;
        for plane in self.planes_of(die) {
            let state = &self.planes[plane as usize];
            // What has failed is not erased.
            let fails = state.job.retires || !state.failed.is_empty();
            // A victim that is begun where the host does not get in between would keep it out.
            let begins = state.job.victim.is_none() && !self.gc.preemptible;
            if state.job.in_flight || fails || begins || self.need_of_plane(plane) == GcNeed::None {
                continue;
            }
            if self.step_of_plane(plane) != Some(Kind::Erase) {
                continue;
            }
            self.planes[plane as usize].job.reads = false;
            let victim = self.planes[plane as usize].job.victim;
            if block.is_none() || victim.map(|victim| victim % blocks) == block {
                return Some(self.take_step_of_plane(plane, now));
            }
        }
        None
    }

    /// Takes the erase of the next plane's block of a victim whose first is being erased.
    fn take_twin_erase(&mut self, die: u32, now: Time) -> Option<Txn> {
        let plane = self.gc_dies[die as usize].plane;
        let job = &mut self.planes[plane as usize].job;
        if job.erased_planes == self.twins.planes() {
            return None;
        }
        let block = job.victim.expect("it is being erased") % self.geometry.blocks_per_plane;
        let at = PageAddress { plane: job.erased_planes, block, page: 0 };
        job.erased_planes += 1;
        Some(Txn::new(Kind::Erase, die, at, NONE, NONE, now))
    }

    /// Takes the program of a further page that is held, on the next plane at the page offset of
    /// the one before; `None`: there is none, or it comes to lie at the next offset.
    fn take_twin_page(&mut self, first: &Txn, number: u32, now: Time) -> Option<Txn> {
        let plane = self.plane_of(first.die, first.at);
        let state = &self.planes[plane as usize];
        let held = *state.job.held.get(number as usize)?;
        if first.at.plane + number == self.twins.planes() {
            return None;
        }
        let front = self.fronts.of_moved(held.lpn);
        if front != self.fronts.of_moved(first.lpn) {
            return None;
        }
        let at = self.allocate(plane, front);
        let mut txn = Txn::new(Kind::GcProgram, first.die, at, held.lpn, NONE, now);
        txn.old = held.source;
        Some(txn)
    }

    #[inline(always)]
    pub(super) fn take_step_of_plane(&mut self, plane: u32, now: Time) -> Txn {
        let die = plane / self.geometry.planes_per_die;
        let in_die = plane - die * self.geometry.planes_per_die;
        let (pages, blocks) = (self.geometry.pages_per_block, self.geometry.blocks_per_plane);
        let (batch, twins) = (self.planes[plane as usize].batch, self.twins);
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = true;
        let victim = job.victim.expect("a step is taken after it was named");
        // That of an erase is its first.
        let page = if job.cursor == pages { 0 } else { job.cursor };
        let at = PageAddress { plane: in_die, block: victim - plane * blocks, page };
        let first = job.first_to_write(pages, batch, &self.fronts);
        let (kind, at, lpn, old) = if let Some(HeldPage { source, lpn }) = first {
            let front = self.fronts.of_moved(lpn);
            let at = self.allocate_together(plane, front);
            let pages = self.pages_moved(plane, at, front);
            self.spend_moves(plane, pages);
            (Kind::GcProgram, at, lpn, source)
        } else if job.cursor == pages {
            job.erased_planes = 1;
            self.erases[plane as usize] += 1;
            (Kind::Erase, at, NONE, NONE)
        } else {
            let source = victim * pages + job.cursor;
            job.cursor += 1;
            let lpn = self.map.owner(source).expect("the page named to be read is valid");
            let (kind, at) = match self.copyback {
                true => (Kind::GcCopy, self.take_for_copy(plane, lpn)),
                false => (Kind::GcRead, twins.outer(at)),
            };
            (kind, at, lpn, source)
        };
        let erases_seen = self.erases[plane as usize];
        Txn { old, erases_seen, ..Txn::new(kind, die, at, lpn, NONE, now) }
    }

    /// Pages that a program of a plane moves, of which the first comes to lie at `first`.
    #[inline]
    fn pages_moved(&self, plane: u32, first: PageAddress, front: usize) -> usize {
        let state = &self.planes[plane as usize];
        let held = state.job.held.iter();
        match self.twins.exist() {
            // A page that has become cold since it was read may make more than a program takes.
            false => held
                .filter(|held| self.fronts.of_moved(held.lpn) == front)
                .take(state.batch as usize)
                .count(),
            // Those that `take_twin_page` will put beside the first.
            true => held
                .take((self.twins.planes() - first.plane) as usize)
                .take_while(|held| self.fronts.of_moved(held.lpn) == front)
                .count(),
        }
    }

    #[cold]
    fn take_for_copy(&mut self, plane: u32, lpn: u32) -> PageAddress {
        self.spend_moves(plane, 1);
        self.allocate(plane, self.fronts.of_moved(lpn))
    }

    /// The program of a further page that is held, in the wordline of `first`, which was taken.
    pub(super) fn take_held(&mut self, first: &Txn, number: u32, now: Time) -> Option<Txn> {
        if self.twins.exist() {
            return self.take_twin_page(first, number, now);
        }
        let plane = self.plane_of(first.die, first.at);
        let front = self.fronts.of_moved(first.lpn);
        let state = &self.planes[plane as usize];
        let own = |held: &&HeldPage| self.fronts.of_moved(held.lpn) == front;
        let mut held = state.job.held.iter().filter(own).take(state.batch as usize);
        let held = held.nth(number as usize)?;
        let at = PageAddress { page: first.at.page + number, ..first.at };
        let mut txn = Txn::new(Kind::GcProgram, first.die, at, held.lpn, NONE, now);
        txn.old = held.source;
        Some(txn)
    }

    /// A step is complete, and its transaction at its end. Says whether it was a program that has
    /// failed.
    #[inline(always)]
    pub fn finish_step(&mut self, id: u32, txns: &mut Slab<Txn>) -> bool {
        let Txn { kind, die, at, old, lpn, .. } = txns[id];
        let plane = self.plane_of(die, at);
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = false;
        if job.retires {
            self.forget_need(plane);
        }
        let mut has_failed = false;
        let job = &mut self.planes[plane as usize].job;
        match kind {
            Kind::GcRead => job.held.push(HeldPage { source: old, lpn }),
            Kind::GcProgram | Kind::GcCopy if self.move_failed(&txns[id]) => has_failed = true,
            Kind::GcProgram | Kind::GcCopy => {
                let job = &mut self.planes[plane as usize].job;
                match job.held[..] {
                    [held] if held.source == old => job.held.clear(),
                    _ => job.keep_held(|held| held.source != old),
                }
                let page = self.page_number(die, at);
                self.relocate(old, page, lpn, txns);
            }
            // The blocks of twins are erased at once, and count as one.
            _ if self.twins.exist() && at.plane > 0 => {}
            _ => {
                let victim = self.end_job(plane);
                self.reclaimed(plane, victim, die);
            }
        }
        txns.release(id);
        has_failed
    }

    /// Whether the program of a page that is moved has failed: it is moved once more.
    #[inline]
    fn move_failed(&mut self, txn: &Txn) -> bool {
        if !self.programs_fail() || !self.program_failed(txn) {
            return false;
        }
        if txn.kind == Kind::GcCopy {
            // Nothing is held of it.
            let plane = self.plane_of(txn.die, txn.at);
            let job = &mut self.planes[plane as usize].job;
            job.cursor = job.cursor.min(txn.old % self.geometry.pages_per_block);
        }
        true
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
