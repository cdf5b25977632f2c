//! Deadlines: each class has one, counted from arrival, and the earliest goes first.

use reprieve_base::{Dur, Entry, Time};
use reprieve_config::{Deadlines, Scheduling};

use super::{Choice, DieView, Operation, Scheduler, SuspendView, Waiter};

pub(super) const ENTRY: Entry = Entry {
    name: "deadline",
    doc: "each class has a deadline from its arrival, and the earliest goes first",
};

pub(super) struct Deadline {
    deadlines: Deadlines,
}

impl Deadline {
    pub(super) fn new(scheduling: &Scheduling) -> Deadline {
        let deadlines = scheduling.deadlines.expect("the scenario gives the deadlines");
        Deadline { deadlines }
    }

    fn of_operation(&self, operation: &Operation) -> Time {
        let Deadlines { write, gc, .. } = self.deadlines;
        operation.since + if operation.is_host_program { write } else { gc }
    }

    /// Deadlines of a waiting read and a waiting write.
    fn of_waiters(&self, read: Option<Waiter>, write: Option<Waiter>) -> [Option<Due>; 2] {
        let due = |waiter: Waiter, dur| (waiter.since + dur, waiter.order);
        [
            read.map(|read| due(read, self.deadlines.read)),
            write.map(|write| due(write, self.deadlines.write)),
        ]
    }
}

/// A deadline, and the order of arrival, which breaks ties.
type Due = (Time, u64);

impl Scheduler for Deadline {
    fn choose(&self, view: &DieView) -> Choice {
        let [read, write] = self.of_waiters(view.read, view.write);
        if let Some(operation) = &view.suspended {
            // Ties go to the operation, which is older: else its suspension was useless.
            let due = self.of_operation(operation);
            let earlier = |other: Option<Due>| other.filter(|(other, _)| *other < due);
            let read = earlier(read).filter(|_| !view.writes_first);
            let write = earlier(write).filter(|_| view.write_fits_inside);
            let waiting = [(read, Choice::Read), (write, Choice::Write)];
            return match first(waiting) {
                Some(choice) if !view.must_resume => choice,
                _ => Choice::Resume,
            };
        }
        if view.writes_first {
            return Choice::Write;
        }
        let gc = view.urgent_gc.filter(|_| !view.gc_gives_way);
        let gc = gc.map(|gc| (gc.since + self.deadlines.gc, gc.order));
        let waiting = [(read, Choice::Read), (write, Choice::Write), (gc, Choice::Gc)];
        let idle = if view.idle_gc { Choice::Gc } else { Choice::Wait };
        first(waiting).unwrap_or(idle)
    }

    fn suspends(&self) -> bool {
        true
    }

    fn read_deadline(&self) -> Option<Dur> {
        Some(self.deadlines.read)
    }

    fn allow_suspend(&self, view: &SuspendView) -> bool {
        let mut asking = self.of_waiters(view.read, view.write);
        if view.read.is_none() && view.write.is_none() {
            // A read of garbage collection, which arrives only now.
            asking[0] = Some((view.now + self.deadlines.read, u64::MAX));
        }
        let due = self.of_operation(&view.running);
        asking.into_iter().flatten().any(|(asking, _)| asking < due)
    }
}

/// Returns the choice with the earliest deadline.
fn first<const N: usize>(waiting: [(Option<Due>, Choice); N]) -> Option<Choice> {
    let waiting = waiting.into_iter().filter_map(|(due, choice)| Some((due?, choice)));
    waiting.min_by_key(|(due, _)| *due).map(|(_, choice)| choice)
}
