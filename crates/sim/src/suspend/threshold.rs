//! Threshold: no suspension of an operation that is nearly done or was suspended for too long.

use reprieve_base::{Dur, Entry};

use super::{OperationView, SuspendPolicy};
use crate::scenario::SuspendRules;

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
            min_remaining: rules.min_remaining.unwrap_or(Dur::ZERO),
            max_suspended: rules.max_suspended,
        }
    }
}

impl SuspendPolicy for Threshold {
    fn suspend(&self, operation: &OperationView) -> bool {
        operation.remaining >= self.min_remaining && !self.must_resume(operation)
    }

    fn must_resume(&self, operation: &OperationView) -> bool {
        self.max_suspended.is_some_and(|max| operation.suspended >= max)
    }
}
