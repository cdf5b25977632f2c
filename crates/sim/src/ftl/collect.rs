//! Garbage collection within a plane, one flash operation at a time.
//!
//! A die asks for the next step whenever it has time for one, so that the host gets in between any
//! two of them: a read of a valid page, its program into the open block, or both at once as a
//! copyback, and at last the erase.

use reprieve_base::{PageAddress, Time};

use super::job::Held;
use super::{Ftl, Mapping};
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
        if free > self.reserve_blocks && free >= self.gc_start_blocks && state.job.victim.is_none()
        {
            return GcNeed::None;
        }
        if state.job.victim.is_none() && !self.index.has_victim(plane) {
            return GcNeed::None;
        }
        if free <= self.reserve_blocks {
            GcNeed::Urgent
        } else if self.closing {
            if state.job.victim.is_some() { GcNeed::Idle } else { GcNeed::None }
        } else if self.gc_start_blocks > 0 {
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
        let need = self.planes_of(die).map(|plane| self.need_of_plane(plane)).max();
        let need = need.expect("a die has at least one plane");
        self.gc_dies[die as usize].need = Some(need);
        need
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
        self.step_of_plane(plane)
    }

    /// The next step on a plane on which none is under way, if there is a victim.
    #[inline(always)]
    fn step_of_plane(&mut self, plane: u32) -> Option<Kind> {
        if self.planes[plane as usize].job.victim.is_none() {
            let victim = self.victim.pick(&mut self.index, plane)?;
            self.index.reclaim(victim);
            self.touch_owners(victim);
            let job = &mut self.planes[plane as usize].job;
            job.victim = Some(victim);
            job.cursor = 0;
            self.forget_need(plane);
        }
        let together = self.planes[plane as usize].together;
        let job = &mut self.planes[plane as usize].job;
        let victim = job.victim.expect("just made sure of");
        // What was overwritten while it was on its way need not be written any more.
        match job.held[..] {
            [] => {}
            [Held { source, lpn }] if self.map.owner(source) == Some(lpn) => {}
            _ => job.held.retain(|held| self.map.owner(held.source) == Some(held.lpn)),
        }
        let pages = self.geometry.pages_per_block;
        while job.cursor < pages && self.map.owner(victim * pages + job.cursor).is_none() {
            job.cursor += 1;
        }
        if job.writes_held(pages, together) {
            return Some(Kind::GcProgram);
        }
        let moves = if self.copyback { Kind::GcCopy } else { Kind::GcRead };
        Some(if job.cursor < pages { moves } else { Kind::Erase })
    }

    /// Brings the mapping of a victim's valid pages into the caches, with the misses overlapping.
    fn touch_owners(&self, victim: u32) {
        let pages = self.geometry.pages_per_block;
        let owners = (victim * pages..(victim + 1) * pages).filter_map(|page| self.map.owner(page));
        std::hint::black_box(owners.fold(0, |sum, lpn| sum ^ self.map.peek(lpn)));
    }

    /// Takes the step that `next_step` named.
    pub(super) fn take_step(&mut self, die: u32, now: Time) -> Txn {
        self.take_step_of_plane(self.gc_dies[die as usize].plane, now)
    }

    /// Takes an erase on another plane of a die, if one that needs collection comes to it next;
    /// with `block` only of the block of that number.
    #[cold]
    pub(super) fn take_erase(&mut self, die: u32, block: Option<u32>, now: Time) -> Option<Txn> {
        let blocks = self.geometry.blocks_per_plane;
        for plane in self.planes_of(die) {
            let in_flight = self.planes[plane as usize].job.in_flight;
            if in_flight || self.need_of_plane(plane) == GcNeed::None {
                continue;
            }
            if self.step_of_plane(plane) != Some(Kind::Erase) {
                continue;
            }
            let victim = self.planes[plane as usize].job.victim;
            if block.is_none() || victim.map(|victim| victim % blocks) == block {
                return Some(self.take_step_of_plane(plane, now));
            }
        }
        None
    }

    #[inline(always)]
    fn take_step_of_plane(&mut self, plane: u32, now: Time) -> Txn {
        let die = plane / self.geometry.planes_per_die;
        let in_die = plane % self.geometry.planes_per_die;
        let (pages, blocks) = (self.geometry.pages_per_block, self.geometry.blocks_per_plane);
        let together = self.planes[plane as usize].together;
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = true;
        let victim = job.victim.expect("a step is taken after it was named");
        let at = PageAddress { plane: in_die, block: victim % blocks, page: job.cursor % pages };
        if job.writes_held(pages, together) {
            let held = job.held[0];
            let at = self.allocate_together(plane);
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
        let (kind, at) = match self.copyback {
            true => (Kind::GcCopy, self.allocate(plane)),
            false => (Kind::GcRead, at),
        };
        let mut txn = Txn::new(kind, die, at, lpn, NONE, now);
        txn.old = source;
        txn.erases_seen = self.planes[plane as usize].erases;
        txn
    }

    /// The program of a further page that is held, in the wordline of `first`, which was taken.
    pub(super) fn take_held(&self, first: &Txn, number: u32, now: Time) -> Option<Txn> {
        let plane = self.plane_of(first.die, first.at);
        let held = self.planes[plane as usize].job.held.get(number as usize)?;
        let at = PageAddress { page: first.at.page + number, ..first.at };
        let mut txn = Txn::new(Kind::GcProgram, first.die, at, held.lpn, NONE, now);
        txn.old = held.source;
        Some(txn)
    }

    /// A step is complete.
    pub fn finish_step(&mut self, txn: &Txn, txns: &mut Slab<Txn>) {
        let plane = self.plane_of(txn.die, txn.at);
        let job = &mut self.planes[plane as usize].job;
        job.in_flight = false;
        match txn.kind {
            Kind::GcRead => job.held.push(Held { source: txn.old, lpn: txn.lpn }),
            Kind::GcProgram | Kind::GcCopy => {
                match job.held[..] {
                    [held] if held.source == txn.old => job.held.clear(),
                    _ => job.held.retain(|held| held.source != txn.old),
                }
                let page = self.page_number(txn.die, txn.at);
                self.relocate(txn.old, page, txn.lpn, txns);
            }
            _ => {
                let victim = job.victim.take().expect("an erase ends a job");
                self.planes[plane as usize].add_free(victim % self.geometry.blocks_per_plane);
                self.forget_need(plane);
            }
        }
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
            _ => self.map.set(lpn, Mapping::Flash(target)),
        }
        self.invalidate(source);
        self.validate(target, lpn);
    }
}
