//! The end of an operation: what it counts for, and each of its pages complete.

use reprieve_base::{Dur, Time};
use reprieve_observe::stats::Ages;
use reprieve_policy::suspend::SuspendEvent;
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::Flash;
use super::lane::LaneId;

impl Flash {
    /// The pages of an operation are programmed, or its blocks erased.
    #[inline(always)]
    pub(super) fn operation_ended(&mut self, id: u32, planes: u64, now: Time) {
        if self.facts.together > 1 {
            self.count_padding(id);
        }
        let undisturbed = match self.txns[id].suspensions {
            0 => Dur::ZERO,
            _ => self.undisturbed(id, planes),
        };
        let mut each = id;
        while each != NONE {
            self.txns[each].book(LatencyComponent::Array, now);
            self.count_operation(each, now, undisturbed);
            if self.media.is_some() {
                self.cells_worked(each, now);
            }
            let next = self.txns[each].next;
            self.complete(each);
            each = next;
        }
    }

    /// How long the operation of `id` and what is linked behind it takes if nobody suspends it.
    #[inline]
    fn undisturbed(&self, id: u32, planes: u64) -> Dur {
        let alone = self.undisturbed_alone(&self.txns[id]);
        if self.facts.gathers { self.undisturbed_together(id, planes, alone) } else { alone }
    }

    #[cold]
    fn undisturbed_together(&self, id: u32, planes: u64, alone: Dur) -> Dur {
        // Commands, and pages, of the other planes cross the channel too.
        let (_, transfer) = self.command_of(id);
        let mut longest = alone;
        let mut each = self.txns[id].next;
        while each != NONE {
            let txn = &self.txns[each];
            longest = longest.max(self.undisturbed_alone(txn));
            each = txn.next;
        }
        longest + transfer * (planes - 1)
    }

    #[inline]
    fn undisturbed_alone(&self, txn: &Txn) -> Dur {
        let die = &self.units[txn.die as usize].die;
        match txn.kind {
            Kind::Erase => self.facts.timing.undisturbed_erase(),
            Kind::GcCopy => die.undisturbed_copyback(self.facts.address(txn.old), txn.at),
            _ => die.undisturbed_program(txn.at),
        }
    }

    /// Forgets what has been counted; the measured part of the run begins at `at`.
    #[cold]
    pub fn forget_counts(&mut self, at: Time) {
        self.counts = self.counts.none();
        self.media.iter_mut().for_each(|media| media.counts.rber_max = 0.0);
        self.observers.meter.iter_mut().for_each(|meter| meter.forget_peaks(at));
    }

    fn count_operation(&mut self, id: u32, now: Time, undisturbed: Dur) {
        let txn = &self.txns[id];
        match txn.kind {
            Kind::Program => self.counts.host_programs += 1,
            Kind::GcProgram => self.counts.gc_programs += 1,
            Kind::MapProgram => self.counts.map_programs += 1,
            Kind::GcCopy => {
                self.counts.gc_reads += 1;
                self.counts.gc_programs += 1;
                *self.counts.copybacks.as_mut().expect("the drive copies back") += 1;
            }
            _ => self.counts.erases += 1,
        }
        if txn.suspensions > 0 {
            let is_erase = txn.kind == Kind::Erase;
            let suspended = &mut self.counts.suspended[usize::from(is_erase)];
            suspended.add(undisturbed, now - txn.start, txn.suspended_ns);
        }
    }

    /// The operation of a die, or of one of its planes that makes way apart, is suspended.
    #[inline(always)]
    pub(super) fn count_suspension(&mut self, (die, lane): (u32, LaneId), is_erase: bool) {
        self.counts.suspensions[usize::from(is_erase)] += 1;
        let by_write = self.units[die as usize].whole.asked_by_write;
        if let (Some(count), LaneId::WHOLE) = (&mut self.counts.suspensions_by_write, lane) {
            *count += u64::from(by_write);
        }
        if self.observers.ages.is_some() {
            let place = self.place_of(die, lane.plane());
            self.aged().suspended(place, is_erase);
        }
    }

    /// Tells the suspension policy, if it is told, that an operation is suspended.
    #[inline(always)]
    pub(super) fn tell_suspended(&mut self, id: u32, now: Time) {
        if self.suspension.is_told() {
            let Txn { die, kind, .. } = self.txns[id];
            self.suspension.tell(SuspendEvent::Suspended { now, die, class: Flash::class(kind) });
        }
    }

    /// Tells it that the operation goes on after so long.
    #[inline(always)]
    pub(super) fn tell_resumed(&mut self, id: u32, suspended: Dur, now: Time) {
        if self.suspension.is_told() {
            let Txn { die, kind, .. } = self.txns[id];
            let class = Flash::class(kind);
            self.suspension.tell(SuspendEvent::Resumed { now, die, class, suspended });
        }
    }

    /// Tells it that a transaction is complete.
    #[cold]
    fn tell_completed(&mut self, id: u32) {
        let txn = &self.txns[id];
        self.suspension.tell(SuspendEvent::Completed {
            now: txn.mark,
            die: txn.die,
            class: Flash::class(txn.kind),
            since: txn.queued_at(),
            suspensions: txn.suspensions,
        });
    }

    /// An operation with so much left is asked to make way.
    #[cold]
    pub(super) fn age_asked(&mut self, (die, lane): (u32, LaneId), id: u32, remaining: Dur) {
        let planes = self.units[die as usize].running_lane(lane).top.planes;
        let undisturbed = self.undisturbed(id, planes);
        let place = self.place_of(die, lane.plane());
        self.aged().asked(place, remaining, undisturbed);
    }

    fn aged(&mut self) -> &mut Ages {
        self.observers.ages.as_mut().expect("the caller has seen them")
    }

    /// The die as a whole, or one of its planes.
    fn place_of(&self, die: u32, plane: Option<u32>) -> usize {
        let places_of_die = 1 + self.facts.geometry.planes_per_die as usize;
        die as usize * places_of_die + plane.map_or(0, |plane| plane as usize + 1)
    }

    /// The data of a read is there.
    #[inline]
    pub(super) fn read_complete(&mut self, id: u32) {
        match self.txns[id].kind {
            Kind::HostRead => self.counts.host_reads += 1,
            Kind::RmwRead => self.counts.rmw_reads += 1,
            Kind::MapRead | Kind::MapUpdate => self.counts.map_reads += 1,
            _ => self.counts.gc_reads += 1,
        }
        self.complete(id);
    }

    #[inline]
    pub(super) fn complete(&mut self, id: u32) {
        if self.suspension.is_told() {
            self.tell_completed(id);
        }
        let die = self.txns[id].die;
        self.done.push(id);
        self.wake(die);
    }
}
