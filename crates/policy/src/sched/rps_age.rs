//! Read priority scheduling with ageing: a write that has waited long enough goes first.

use reprieve_base::{Dur, Entry, Time};
use reprieve_config::Scheduling;

use super::{Choice, DieView, Operation, Scheduler, SuspendView, Waiter, rps};

pub(super) const ENTRY: Entry = Entry {
    name: "rps-age",
    doc: "rps, but a write older than age_limit_us goes first, unsuspended",
};

pub(super) struct RpsAge {
    limit: Dur,
}

impl RpsAge {
    pub(super) fn new(scheduling: &Scheduling) -> RpsAge {
        RpsAge { limit: scheduling.age_limit.expect("the scenario gives the limit of rps-age") }
    }

    /// Whether a write is over age: the oldest queued one, or the one that has started.
    fn is_due(&self, queued: Option<Waiter>, begun: Option<Operation>, now: Time) -> bool {
        let begun = begun.filter(|begun| begun.is_host_program).map(|begun| begun.since);
        let waits = [queued.map(|queued| queued.since), begun].into_iter().flatten();
        waits.min().is_some_and(|since| now - since >= self.limit)
    }
}

impl Scheduler for RpsAge {
    fn choose(&self, view: &DieView) -> Choice {
        let due = self.is_due(view.write, view.suspended, view.now);
        rps::choose(&DieView { writes_first: view.writes_first || due, ..*view })
    }

    fn suspends(&self) -> bool {
        true
    }

    fn allow_suspend(&self, view: &SuspendView) -> bool {
        // A program may run inside an erase at any age; no write over age waits for a read.
        view.write.is_some() || !self.is_due(view.queued_write, Some(view.running), view.now)
    }
}
