//! The classes of what waits and runs, for a scheduler with a queue for each.

use reprieve_base::{Dur, Time};
use reprieve_policy::sched::{Choice, Class, Classes, DieView, Waiter};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::{GcNeed, Work};

use super::Flash;

impl Flash {
    /// The class of a kind of transaction.
    pub(super) fn class(kind: Kind) -> Class {
        match kind {
            Kind::HostRead | Kind::RmwRead | Kind::MapRead | Kind::MapUpdate => Class::HostRead,
            Kind::Program | Kind::MapProgram => Class::HostWrite,
            Kind::GcRead => Class::GcRead,
            Kind::GcProgram | Kind::GcCopy => Class::GcProgram,
            Kind::Erase => Class::Erase,
        }
    }

    /// What the scheduler chooses for a die; `read` is what the view has it from, if that is not of
    /// garbage collection.
    pub(super) fn choose<W: Work>(
        &mut self,
        die: u32,
        read: Option<u32>,
        view: &DieView,
        work: &mut W,
    ) -> Choice {
        if !self.serving.sees_classes {
            return self.serving.scheduler.choose(view);
        }
        let reads_gc = view.suspended.is_some() && read.is_none() && view.read.is_some();
        let classes = self.classes_of_view(die, work, view, reads_gc);
        self.serving.scheduler.choose_by_class(view, &classes)
    }

    /// The classes at a die; `waits`: something of garbage collection does.
    #[cold]
    pub(super) fn classes<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        waits: bool,
    ) -> Classes {
        let mut classes = self.classes_without_gc(die, now);
        if waits {
            classes.gc = Some(Flash::class(work.gc_peek(die)));
            classes.gc_is_urgent = work.gc_need(die) == GcNeed::Urgent;
            let arrivals = &mut self.agenda.arrivals;
            let waiter = self.units[die as usize].gc_waits.get_or_insert_with(|| {
                *arrivals += 1;
                Waiter { order: *arrivals - 1, since: now }
            });
            classes.gc_since = waiter.since;
        }
        classes
    }

    /// The same where no garbage collection is looked at.
    #[cold]
    pub(super) fn classes_without_gc(&self, die: u32, now: Time) -> Classes {
        let write = self.next_write(die, now).map(|id| self.txns[id].kind);
        let operation = match self.units[die as usize].whole.operation() {
            NONE => None,
            id => {
                let suspended = self.suspended_for(die, now);
                Some((Flash::class(self.txns[id].kind), suspended))
            }
        };
        Classes {
            operation,
            read: Class::HostRead,
            write: write.map_or(Class::HostWrite, Flash::class),
            gc: None,
            gc_since: now,
            gc_is_urgent: false,
            pending_programs: self.units[die as usize].pending_programs,
        }
    }

    /// The same where one plane of several makes way for its own reads: the operation is that of
    /// the plane.
    #[cold]
    pub(super) fn classes_of_plane(
        &self,
        die: u32,
        now: Time,
        operation: u32,
        suspended: Dur,
    ) -> Classes {
        let operation = Some((Flash::class(self.txns[operation].kind), suspended));
        Classes { operation, ..self.classes_without_gc(die, now) }
    }

    /// The same for the view of a die that is free, or of what is suspended on it.
    #[cold]
    pub(super) fn classes_of_view<W: Work>(
        &mut self,
        die: u32,
        work: &mut W,
        view: &DieView,
        reads_gc: bool,
    ) -> Classes {
        let mut classes = self.classes(die, view.now, work, view.urgent_gc.is_some() || reads_gc);
        if reads_gc {
            classes.read = Class::GcRead;
        }
        classes
    }
}
