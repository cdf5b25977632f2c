//! Plane-wise suspension: a plane with reads makes way for them, and the others go on.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Time};
use reprieve_nand::PlaneWork;
use reprieve_policy::sched::{Choice, DieView};
use reprieve_policy::txn::{NONE, Txn};
use reprieve_policy::work::Work;

use super::asking::Asking;
use super::channel::Grant;
use super::lane::{Lane, LaneId};
use super::multi_plane::PlaneSet;
use super::{Flash, FlashEvent};

impl Flash {
    /// What planes do while others are at work: those with reads make way for them, those without
    /// go on.
    #[cold]
    pub(super) fn decide_lanes<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        mut grant: Grant,
    ) {
        let at_work = self.operations(die).next().expect("the array is in use");
        let (unit, operation) = (&self.units[die as usize], &self.txns[at_work]);
        let (operation, unsuspendable) = (operation.kind, operation.unsuspendable);
        let reads_may = !self.write_queue.is_reached(unit) && !unsuspendable;
        let mut seen = PlaneSet::default();
        let mut waits = PlaneSet::default();
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
            if self.read_on_lane(id, now, work, out, &mut grant) {
                waits.insert(plane);
            }
        }
        for plane in 0..self.facts.geometry.planes_per_die {
            let unit = &self.units[die as usize];
            let is_suspended = unit.die.plane_work(plane) == PlaneWork::Suspended;
            if is_suspended && unit.die.plane_is_free(plane) && waits.insert(plane) {
                self.resume((die, LaneId::of_plane(plane)), now, out, grant);
                grant = Grant::Ask;
            }
        }
    }

    /// Begins a read whose plane is free for it, or asks what runs there to make way.
    ///
    /// Says whether the plane is kept for it.
    fn read_on_lane<W: Work>(
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
            PlaneWork::Running(_) => {
                let asking = Asking { read: Some(id), ..Asking::default() };
                self.ask_suspension((die, LaneId::of_plane(plane)), asking, now, work, out);
                return true;
            }
            PlaneWork::Suspending(_) => return true,
            PlaneWork::None | PlaneWork::Suspended if !unit.die.plane_is_free(plane) => {
                return true;
            }
            PlaneWork::None => {}
            PlaneWork::Suspended => {
                if self.choose_on_lane(id, now, work) != Choice::Read {
                    return false;
                }
            }
        }
        self.start_read(id, now, work, out, *grant);
        if self.facts.timing.command > Dur::ZERO {
            *grant = Grant::Ask;
        }
        true
    }

    /// What the scheduler chooses for a suspended plane for which a read waits.
    fn choose_on_lane<W: Work>(&self, read: u32, now: Time, work: &mut W) -> Choice {
        let Txn { die, at, .. } = self.txns[read];
        let unit = &self.units[die as usize];
        let lane = LaneId::of_plane(at.plane);
        let top = unit.lane(lane).top;
        let operation = top.operation;
        let before = Dur::from_ns(self.txns[operation].suspended_ns);
        let suspended = before + (now - top.suspended_since);
        let view = DieView {
            now,
            die,
            suspended: Some(self.operation_of(operation)),
            must_resume: self.must_resume((die, lane, operation), suspended, now, work),
            read: Some(self.waiter(read)),
            write: self.next_write(die, now).map(|id| self.waiter(id)),
            write_fits_inside: false,
            writes_first: self.write_queue.is_reached(unit),
            urgent_gc: None,
            gc_gives_way: false,
            gc_runs_through: false,
            idle_gc: false,
        };
        if !self.serving.sees_classes {
            return self.serving.scheduler.choose(&view);
        }
        let classes = self.classes_of_plane(die, now, operation, suspended);
        self.serving.scheduler.choose_by_class(&view, &classes)
    }

    /// Splits a plane off the lane of all planes, with what the operation there does on it; false
    /// if it has been split off before.
    #[cold]
    pub(super) fn split_lane(&mut self, die: u32, plane: u32) -> bool {
        let lane = LaneId::of_plane(plane);
        let unit = &mut self.units[die as usize];
        if unit.lane(lane).operation() != NONE {
            return false;
        }
        let (mut others, mut own) = ((NONE, NONE), (NONE, NONE));
        let mut each = unit.whole.operation();
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
        unit.whole.top.operation = others.0;
        if others.0 == NONE {
            unit.whole.make_stale();
        }
        let planes = unit.whole.top.planes;
        let split = unit.lane_mut(lane);
        (split.top.operation, split.top.planes) = (own.0, planes);
        true
    }

    /// What a lane that was split off has scheduled has come; stale if that was of an earlier
    /// generation.
    #[cold]
    pub(super) fn lane_elapsed(
        &mut self,
        (die, lane): (u32, LaneId),
        generation: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        if unit.lane(lane).holds(generation) {
            let elapsed = unit.elapse(lane, now);
            self.array_elapsed((die, lane), elapsed, now, out);
        }
    }

    /// The programs and erases of a die, those of planes that were stopped apart included.
    pub(super) fn operations(&self, die: u32) -> impl Iterator<Item = u32> {
        let lanes = self.units[die as usize].lanes().map(Lane::operation);
        lanes.filter(|id| *id != NONE)
    }

    /// Whether a read of some plane could begin at once, or have that plane make way.
    pub(super) fn takes_read_on_a_plane(&self, die: u32) -> bool {
        let unit = &self.units[die as usize];
        (0..self.facts.geometry.planes_per_die).any(|plane| match unit.die.plane_work(plane) {
            PlaneWork::None | PlaneWork::Suspended => unit.die.plane_is_free(plane),
            PlaneWork::Running(_) => self.serving.suspends,
            PlaneWork::Suspending(_) => false,
        })
    }

    /// When the lanes of a die will have done what they do; `None`: they do nothing.
    pub(super) fn lanes_scheduled(&self, die: u32) -> Option<Time> {
        let unit = &self.units[die as usize];
        let at_work = (0..self.facts.geometry.planes_per_die).filter_map(|plane| {
            match unit.die.plane_work(plane) {
                PlaneWork::Running(until) | PlaneWork::Suspending(until) => Some(until),
                PlaneWork::None | PlaneWork::Suspended => None,
            }
        });
        at_work.max()
    }
}
