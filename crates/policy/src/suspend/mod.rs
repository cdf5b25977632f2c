//! Suspension: whether a running operation is suspended for a waiting read or write.
//!
//! [`Chain`] decides: whether the transaction is eligible, whether a guard refuses, and whether the
//! policy agrees. This folder's policies are its last link.

mod always;
mod batch;
mod budget;
mod chain;
mod deadline;
mod eligibility;
mod threshold;
mod view;

use reprieve_base::{Dur, Entry, Time};
use reprieve_config::{Class, SuspendRules};

pub use chain::{Answer, Reason};
pub use chain::{Case, Chain};
pub use eligibility::Eligibility;
pub use view::{GcNeed, OperationView};

/// A suspension policy.
///
/// It is called only for eligible transactions that no guard refuses; its answer may depend on the
/// view and on earlier events. It may be called any number of times for one operation.
pub trait SuspendPolicy: Send {
    /// Whether to suspend a running operation.
    fn suspend(&self, operation: &dyn OperationView) -> Answer;

    /// Whether `suspend` always returns `Now`; queried once, and then `suspend` is never called.
    fn wants_all(&self) -> bool {
        false
    }

    /// Whether it may be called for wait attribution, without effect: only if its answers depend on
    /// nothing but the view.
    fn may_be_asked_in_vain(&self) -> bool {
        true
    }

    /// Whether `must_resume` can return true; queried once, and else never called.
    fn limits_suspension(&self) -> bool {
        true
    }

    /// Whether a suspended operation has to resume despite waiting reads or writes.
    fn must_resume(&self, _: &dyn OperationView) -> bool {
        false
    }

    /// Whether it receives events on the dies; queried once, when the drive is created.
    fn is_told(&self) -> bool {
        false
    }

    /// Returns the window before each decision in which suspensions are counted; queried once.
    fn window(&self) -> Option<Dur> {
        None
    }

    /// Multiplies the waits of its keys by this factor, as suspensions have cost more or less than
    /// `[suspension.budget]` allows.
    fn set_patience(&mut self, _: f64) {}

    /// Receives an event, if `is_told`.
    fn tell(&mut self, _: &SuspendEvent) {}
}

/// Events for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendEvent {
    /// An operation has been suspended.
    Suspended {
        /// When.
        now: Time,
        /// On which die.
        die: u32,
        /// Class of the operation.
        class: Class,
    },
    /// An operation has resumed.
    Resumed {
        /// When.
        now: Time,
        /// On which die.
        die: u32,
        /// Class of the operation.
        class: Class,
        /// Length of the suspension.
        suspended: Dur,
    },
    /// A page was read or programmed, or a block erased.
    Completed {
        /// When.
        now: Time,
        /// On which die.
        die: u32,
        /// Class of the operation.
        class: Class,
        /// When it was queued at its die; for garbage collection, when it started.
        since: Time,
        /// Number of its suspensions.
        suspensions: u32,
    },
}

type MakeSuspend = fn(&SuspendRules) -> Box<dyn SuspendPolicy>;

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, MakeSuspend)] = &[
    (always::ENTRY, |_| Box::new(always::Always)),
    (batch::ENTRY, |rules| Box::new(batch::ReadBatch::new(rules))),
    (deadline::ENTRY, |rules| Box::new(deadline::LatestInstant::new(rules))),
    (threshold::ENTRY, |rules| Box::new(threshold::Threshold::new(rules))),
];

/// Every suspension policy.
pub fn entries() -> Vec<Entry> {
    POLICIES.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the policy that the rules name, which the scenario has checked.
pub fn make(rules: &SuspendRules) -> Box<dyn SuspendPolicy> {
    let found = POLICIES.iter().find(|(entry, _)| entry.name == rules.policy);
    found.map(|(_, make)| make(rules)).expect("the scenario names a registered suspension policy")
}
