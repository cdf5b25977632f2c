//! Batch: a suspension for several reads at once, or for one that has waited long enough.

use reprieve_base::{Dur, Entry};
use reprieve_config::{Class, SuspendRules};

use super::{Answer, GcNeed, OperationView, Reason, SuspendPolicy};

pub(super) const ENTRY: Entry = Entry {
    name: "batch",
    doc: "for suspension.batch.reads reads, or once the oldest has waited oldest_us",
};

pub(super) struct ReadBatch {
    reads: Option<u64>,
    oldest: Option<Dur>,
    patience: f64,
}

impl ReadBatch {
    pub(super) fn new(rules: &SuspendRules) -> ReadBatch {
        ReadBatch {
            reads: rules.parameters.count("suspension.batch.reads"),
            oldest: rules.parameters.dur("suspension.batch.oldest_us"),
            patience: 1.0,
        }
    }
}

impl SuspendPolicy for ReadBatch {
    fn suspend(&self, operation: &dyn OperationView) -> Answer {
        if is_due(operation) {
            return Answer::No(Reason::Policy);
        }
        let Some(came) = operation.oldest_read() else { return Answer::No(Reason::Policy) };
        if self.reads.is_some_and(|reads| operation.waiting_reads() as u64 >= reads) {
            return Answer::Now;
        }
        match self.oldest.map(|oldest| came + scaled(oldest, self.patience)) {
            Some(due) if due <= operation.now() => Answer::Now,
            Some(due) => Answer::At(due),
            None => Answer::No(Reason::Policy),
        }
    }

    fn limits_suspension(&self) -> bool {
        false
    }

    fn set_patience(&mut self, patience: f64) {
        self.patience = patience;
    }
}

/// Returns a wait of a policy under a budget; whole nanoseconds.
pub(super) fn scaled(time: Dur, patience: f64) -> Dur {
    // Exact without a budget, for any time.
    if patience == 1.0 { time } else { Dur::from_ns((time.ns() as f64 * patience) as u64) }
}

/// Whether the operation is one of collection that host writes wait for, and has to end now, so
/// that held reads do not starve it.
///
/// It may be delayed for its own length, once more for each free block of its plane, and longer the
/// emptier the write buffer is, which takes the host's writes meanwhile.
pub(super) fn is_due(operation: &dyn OperationView) -> bool {
    let is_pressed = operation.class() != Class::HostWrite
        && matches!(operation.gc_need(), GcNeed::Urgent | GcNeed::Exclusive);
    if !is_pressed {
        return false;
    }
    let length = operation.elapsed() + operation.longest_remaining();
    let blocks = operation.free_blocks().map_or(0, u64::from);
    let allowed_ns = (length * (1 + blocks)).ns() as f64;
    operation.suspended().ns() as f64 * operation.buffer_fill().min(1.0) >= allowed_ns
}
