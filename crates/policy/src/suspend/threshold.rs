//! Threshold: no suspension of an operation that is nearly done or was suspended for too long.

use reprieve_base::{Dur, Entry};
use reprieve_config::SuspendRules;

use super::{Answer, OperationView, Reason, SuspendPolicy};

pub(super) const ENTRY: Entry = Entry {
    name: "threshold",
    doc: "not within min_remaining_us of the end, nor after max_suspended_us in suspension",
};

pub(super) struct Threshold {
    min_remaining: Dur,
    max_suspended: Option<Dur>,
}

impl Threshold {
    pub(super) fn new(rules: &SuspendRules) -> Threshold {
        Threshold {
            min_remaining: rules.parameters.dur("suspension.min_remaining_us").unwrap_or(Dur::ZERO),
            max_suspended: rules.parameters.dur("suspension.max_suspended_us"),
        }
    }
}

impl SuspendPolicy for Threshold {
    fn suspend(&self, operation: &dyn OperationView) -> Answer {
        if operation.remaining() >= self.min_remaining && !self.must_resume(operation) {
            return Answer::Now;
        }
        Answer::No(Reason::Policy)
    }

    fn must_resume(&self, operation: &dyn OperationView) -> bool {
        self.max_suspended.is_some_and(|max| operation.suspended() >= max)
    }
}
