//! Planes that make way apart: reads of some planes beside what runs on the others.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Elapsed, PlaneWork, Suspend};

use super::asking::Asking;
use super::decide::Grant;
use super::group::Planes;
use super::unit::part_of_wait;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::sched::{Choice, DieView};
use crate::suspend::Answer;
use crate::txn::{Kind, NONE, Part, Txn};
use crate::work::Work;

/// What a plane does that was stopped apart from the others.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    /// The program or erase there; those of its wordline follow it. `NONE`: the plane is not apart.
    operation: u32,
    /// When it will have done what it promised last; `NEVER`: nothing is promised.
    promised: Time,
    /// The last suspension: when it was asked for, when it took effect or will.
    asked: Time,
    free_at: Time,
}

impl Apart {
    pub(super) const NOT: Apart =
        Apart { operation: NONE, promised: Time::NEVER, asked: Time::ZERO, free_at: Time::ZERO };
}

impl Flash {
    /// What planes do while others are at work: those with reads make way for them, those without
    /// go on.
    #[cold]
    pub(super) fn decide_beside<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        mut grant: Grant,
    ) {
        let unit = &self.units[die as usize];
        let apart = unit.planes.apart.iter().map(|apart| apart.operation);
        let at_work = [unit.operation].into_iter().chain(apart).find(|id| *id != NONE);
        let operation = &self.txns[at_work.expect("the array is in use")];
        let (operation, unsuspendable) = (operation.kind, operation.unsuspendable);
        let reads_may = !self.write_queue.is_reached::<true>(unit) && !unsuspendable;
        let mut seen = Planes::default();
        let mut waits = Planes::default();
        let mut next = unit.reads.first().filter(|_| reads_may).unwrap_or(NONE);
        while next != NONE {
            let id = next;
            let txn = &mut self.txns[id];
            next = txn.next;
            work.locate(txn);
            let is_open = !self.units[die as usize].die.bars_read(txn.at);
            let plane = txn.at.plane;
            if !self.suspension.eligibility.admits(txn.kind, operation)
                || !is_open
                || !seen.insert(plane)
            {
                continue;
            }
            if self.read_beside_others(id, now, work, out, &mut grant) {
                waits.insert(plane);
            }
        }
        for plane in 0..self.geometry.planes_per_die {
            let unit = &self.units[die as usize];
            let is_suspended = unit.die.plane_work(plane) == PlaneWork::Suspended;
            if is_suspended && unit.die.plane_is_free(plane) && waits.insert(plane) {
                self.resume_plane(die, plane, now, out);
            }
        }
    }

    /// Begins a read whose plane is free for it, or asks what runs there to make way.
    ///
    /// Says whether the plane is kept for it.
    fn read_beside_others<W: Work>(
        &mut self,
        id: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: &mut Grant,
    ) -> bool {
        let (die, plane) = (self.txns[id].die, self.txns[id].at.plane);
        let unit = &self.units[die as usize];
        match unit.die.plane_work(plane) {
            PlaneWork::Running(until) => {
                self.ask_plane(id, until, now, work, out);
                return true;
            }
            PlaneWork::Suspending(_) => return true,
            PlaneWork::None | PlaneWork::Suspended if !unit.die.plane_is_free(plane) => {
                return true;
            }
            PlaneWork::None => {}
            PlaneWork::Suspended => {
                if self.choose_on_plane(id, now, work) != Choice::Read {
                    return false;
                }
            }
        }
        self.start_read::<W, true>(id, now, work, out, *grant);
        *grant = Grant::Ask;
        true
    }

    /// The part of a read's wait that the last suspension of its plane took to take effect.
    #[cold]
    pub(super) fn suspend_wait_on_plane(&self, read: u32, now: Time) -> Dur {
        let Txn { die, at, mark, .. } = self.txns[read];
        let Apart { asked, free_at, .. } = self.units[die as usize].planes.apart[at.plane as usize];
        part_of_wait((mark, now), (asked, free_at))
    }

    /// What the scheduler chooses for a suspended plane for which a read waits.
    fn choose_on_plane<W: Work>(&self, read: u32, now: Time, work: &mut W) -> Choice {
        let Txn { die, at, .. } = self.txns[read];
        let unit = &self.units[die as usize];
        let Apart { operation, free_at, .. } = unit.planes.apart[at.plane as usize];
        let before = Dur::from_ns(self.txns[operation].suspended_ns);
        let suspended = before + (now - free_at);
        let view = DieView {
            now,
            die,
            suspended: Some(self.operation_of(operation)),
            must_resume: self.must_resume((die, Some(at.plane), operation), suspended, now, work),
            read: Some(self.waiter(read)),
            write: self.next_write::<true>(die, now).map(|id| self.waiter(id)),
            write_fits_inside: false,
            writes_first: self.write_queue.is_reached::<true>(unit),
            urgent_gc: None,
            gc_gives_way: false,
            // Refused together with planes that make way alone.
            gc_runs_through: false,
            idle_gc: false,
        };
        if !self.sees_classes {
            return self.scheduler.choose(&view);
        }
        let classes = self.classes_of_plane(die, now, operation, suspended);
        self.scheduler.choose_by_class(&view, &classes)
    }

    /// Asks the plane of a read, on which something runs to `until`, to make way for it.
    fn ask_plane<W: Work>(
        &mut self,
        read: u32,
        until: Time,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let (die, plane) = (self.txns[read].die, self.txns[read].at.plane);
        let unit = &self.units[die as usize];
        let operation = match unit.planes.apart[plane as usize].operation {
            NONE => unit.operation,
            own => own,
        };
        let asking = Asking { read: Some(read), ..Asking::default() };
        match self.ask_chain((die, Some(plane), operation), until, now, asking, work) {
            Answer::Now => self.suspend_plane(die, plane, operation, until, now, out),
            Answer::At(at) => out.schedule(at, FlashEvent::Poke { die }),
            Answer::No(_) => {}
        }
    }

    /// Has what runs on a plane to `until` make way there.
    fn suspend_plane(
        &mut self,
        die: u32,
        plane: u32,
        operation: u32,
        until: Time,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        match self.units[die as usize].die.suspend_plane(now, plane) {
            Ok(Suspend::FreeAt(free_at)) => {
                if self.ages.is_some() {
                    self.age_asked(die, Some(plane), operation, until - now);
                }
                self.take_apart(die, plane);
                let apart = &mut self.units[die as usize].planes.apart[plane as usize];
                let own = apart.operation;
                (apart.asked, apart.free_at, apart.promised) = (now, free_at, free_at);
                out.schedule(free_at, FlashEvent::Apart { die, plane });
                if self.listens {
                    self.tell_plane_stop(own, now, free_at);
                }
            }
            // It runs to its end: what is queued waits for that.
            Ok(Suspend::RunsToEnd) => {}
            Err(refusal) => panic!("at {now} die {die} refused a suspension: {refusal}"),
        }
    }

    /// Moves what works on a plane out of the operation of its die, if it is still there.
    fn take_apart(&mut self, die: u32, plane: u32) {
        let unit = &mut self.units[die as usize];
        if unit.planes.apart[plane as usize].operation != NONE {
            return;
        }
        let (mut others, mut own) = ((NONE, NONE), (NONE, NONE));
        let mut each = unit.operation;
        while each != NONE {
            let next = std::mem::replace(&mut self.txns[each].next, NONE);
            let list = if self.txns[each].at.plane == plane { &mut own } else { &mut others };
            match list.0 {
                NONE => list.0 = each,
                _ => self.txns[list.1].next = each,
            }
            list.1 = each;
            each = next;
        }
        unit.planes.apart[plane as usize].operation = own.0;
        unit.operation = others.0;
        if unit.operation == NONE {
            // What the array promised is void.
            unit.epoch = unit.epoch.wrapping_add(1);
        }
    }

    fn resume_plane(
        &mut self,
        die: u32,
        plane: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        if unit.die.is_at_rest() {
            unit.occupied(now);
        }
        let until = unit.die.resume_plane(now, plane).expect("the plane is suspended and free");
        let apart = &mut unit.planes.apart[plane as usize];
        apart.promised = until;
        out.schedule(until, FlashEvent::Apart { die, plane });
        let suspended = (now - apart.free_at).ns();
        let operation = apart.operation;
        self.tell_resumed(operation, Dur::from_ns(suspended), now);
        let mut each = operation;
        let is_erase = self.txns[each].kind == Kind::Erase;
        self.counts.suspended_ns[usize::from(is_erase)] += suspended;
        while each != NONE {
            let txn = &mut self.txns[each];
            txn.suspended_ns += suspended;
            txn.book(Part::Suspended, now);
            each = txn.next;
        }
        if self.listens {
            self.tell_plane_resume(operation, now);
        }
    }

    /// A plane that was stopped apart has done what it promised; void if that was at another time.
    pub(super) fn apart_elapsed(&mut self, die: u32, plane: u32, now: Time) {
        let unit = &mut self.units[die as usize];
        let apart = &mut unit.planes.apart[plane as usize];
        if apart.promised != now {
            return;
        }
        apart.promised = Time::NEVER;
        if unit.die.elapse_piece(now, plane) != Elapsed::Suspended {
            let id = std::mem::replace(&mut apart.operation, NONE);
            if unit.die.is_at_rest() {
                unit.freed(now);
            }
            if self.listens {
                self.tell_plane_left(id, now, true);
            }
            self.operation_ended::<true>(id, now);
            return;
        }
        let operation = apart.operation;
        if unit.die.is_at_rest() {
            unit.freed(now);
        }
        let mut each = operation;
        let is_erase = self.txns[each].kind == Kind::Erase;
        while each != NONE {
            let txn = &mut self.txns[each];
            txn.book(Part::Array, now);
            txn.suspensions += 1;
            each = txn.next;
        }
        self.count_suspension::<true>(die, Some(plane), is_erase);
        self.tell_suspended(operation, now);
        if self.listens {
            self.tell_plane_left(operation, now, false);
        }
        self.wake(die);
    }

    /// The programs and erases of a die, those of planes that were stopped apart included.
    pub(super) fn operations(&self, die: u32) -> impl Iterator<Item = u32> {
        let unit = &self.units[die as usize];
        let apart = unit.planes.get().map_or(&[][..], |planes| &planes.apart);
        let all = [unit.operation].into_iter().chain(apart.iter().map(|apart| apart.operation));
        all.filter(|id| *id != NONE)
    }

    /// Whether a read of some plane could begin at once, or have that plane make way.
    pub(super) fn takes_read_on_a_plane(&self, die: u32) -> bool {
        let unit = &self.units[die as usize];
        (0..self.geometry.planes_per_die).any(|plane| match unit.die.plane_work(plane) {
            PlaneWork::None | PlaneWork::Suspended => unit.die.plane_is_free(plane),
            PlaneWork::Running(_) => self.suspends,
            PlaneWork::Suspending(_) => false,
        })
    }

    /// When the planes of a die will have done what they have promised; `None`: they have not.
    pub(super) fn planes_promised(&self, die: u32) -> Option<Time> {
        let unit = &self.units[die as usize];
        let whole = unit.die.is_running().then_some(unit.promised);
        let apart = unit.planes.apart.iter().map(|apart| apart.promised);
        whole.into_iter().chain(apart.filter(|promised| *promised != Time::NEVER)).max()
    }
}
