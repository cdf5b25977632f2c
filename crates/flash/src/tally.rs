//! End of an operation: counters, and completion of each of its pages.

use reprieve_base::{Dur, Time};
use reprieve_policy::suspend::SuspendEvent;
use reprieve_policy::txn::{LatencyComponent, NONE, Txn};

use super::classes::class_of;
use super::controller::Controller;
use super::lane::LaneId;

impl Controller {
    /// Completes the pages or blocks of an operation.
    #[inline(always)]
    pub(super) fn operation_ended(&mut self, id: u32, planes: u64, now: Time) {
        if self.dies.facts.together > 1 {
            self.count_padding(id);
        }
        let undisturbed = match self.dies.txns[id].suspensions {
            0 => Dur::ZERO,
            _ => self.dies.undisturbed(id, planes),
        };
        let mut each = id;
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            txn.book(LatencyComponent::Array, now);
            if txn.place == 0 {
                self.counts.operation(txn, undisturbed, now);
            }
            let next = txn.next;
            if self.media.is_some() {
                self.cells_worked(each, now);
            }
            self.complete(each);
            each = next;
        }
    }

    /// Counts the padded pages of a program's wordlines, and the padded units of its pages.
    #[cold]
    fn count_padding(&mut self, first: u32) {
        if !self.dies.txns[first].kind.is_program() {
            return;
        }
        let (planes, (pages, units)) = (self.dies.planes_of(first), self.dies.pages_of(first));
        let (facts, front) = (&self.dies.facts, self.dies.txns[first].front);
        if let Some(padded) = &mut self.counts.padded_pages {
            *padded += planes * u64::from(facts.pages_of_program(front)) - pages;
        }
        if let Some(padded) = &mut self.counts.padded_units {
            *padded += planes * u64::from(facts.together_of(front)) - units;
        }
    }

    /// Counts a suspension of the operation of a die, or of one of its planes.
    #[inline(always)]
    pub(super) fn count_suspension(&mut self, (die, lane): (u32, LaneId), is_erase: bool) {
        let by_write = lane == LaneId::WHOLE && self.dies[die].whole.asked_by_write;
        self.counts.suspension(is_erase, by_write);
        if let Some(ages) = &mut self.observers.ages {
            ages.suspended((die, lane.plane()), is_erase);
        }
    }

    /// Notifies the suspension policy of a suspension, if it wants that.
    #[inline(always)]
    pub(super) fn notify_suspended(&mut self, id: u32, now: Time) {
        if self.suspension.is_told() {
            let Txn { die, kind, .. } = self.dies.txns[id];
            self.suspension.tell(SuspendEvent::Suspended { now, die, class: class_of(kind) });
        }
    }

    /// Counts a resumption after this time in suspension.
    #[inline(always)]
    pub(super) fn notify_resumed(&mut self, id: u32, suspended: Dur, now: Time) {
        if self.suspension.is_told() {
            let Txn { die, kind, .. } = self.dies.txns[id];
            let class = class_of(kind);
            self.suspension.tell(SuspendEvent::Resumed { now, die, class, suspended });
        }
    }

    /// Notifies the suspension policy of a completed transaction.
    #[cold]
    fn tell_completed(&mut self, id: u32) {
        let txn = &self.dies.txns[id];
        self.suspension.tell(SuspendEvent::Completed {
            now: txn.mark,
            die: txn.die,
            class: class_of(txn.kind),
            since: txn.queued_at(),
            suspensions: txn.suspensions,
        });
    }

    /// Records the progress of an operation with this time left at its suspension.
    #[cold]
    pub(super) fn record_age(&mut self, (die, lane): (u32, LaneId), id: u32, remaining: Dur) {
        let planes = self.dies[die].running_lane(lane).top.planes;
        let undisturbed = self.dies.undisturbed(id, planes);
        let ages = self.observers.ages.as_mut().expect("the caller has seen them");
        ages.asked((die, lane.plane()), remaining, undisturbed);
    }

    /// Completes a read.
    #[inline(always)]
    pub(super) fn read_complete(&mut self, id: u32) {
        let txn = &self.dies.txns[id];
        if txn.place == 0 {
            self.counts.read(txn.kind);
        }
        self.complete(id);
    }

    #[inline]
    fn complete(&mut self, id: u32) {
        if self.suspension.is_told() {
            self.tell_completed(id);
        }
        let die = self.dies.txns[id].die;
        self.done.push(id);
        self.dies.wake(die);
    }
}
