//! Suspension: whether a running operation makes way for a read or write that waits.
//!
//! One chain decides, [`Chain`]: which of what waits is eligible, whether a guard is against it,
//! and what the policy wants. This folder's policies are its last link.

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

/// A suspension policy: what is worth while.
///
/// It is asked only for what a class may suspend and no guard is against; what it answers may
/// depend on the view, and on what it has been told so far. It may be asked about the same
/// operation any number of times.
pub trait SuspendPolicy: Send {
    /// Whether to suspend a running operation.
    fn suspend(&self, operation: &dyn OperationView) -> Answer;

    /// Whether `suspend` always answers `Now`; asked once, and if so that is never asked.
    fn wants_all(&self) -> bool {
        false
    }

    /// Whether it may be asked what it would answer if it were not for a guard, for the account of
    /// what requests waited behind: only one whose answers depend on nothing but what it is shown.
    fn may_be_asked_in_vain(&self) -> bool {
        true
    }

    /// Whether `must_resume` ever says yes; asked once, and if not that is never asked.
    fn limits_suspension(&self) -> bool {
        true
    }

    /// Whether a suspended operation has to resume though reads or writes are waiting.
    fn must_resume(&self, _: &dyn OperationView) -> bool {
        false
    }

    /// Whether it is to be told what happens on the dies; asked once, when the drive is made.
    fn is_told(&self) -> bool {
        false
    }

    /// Of how long a window before each decision it wants suspensions counted; asked once.
    fn window(&self) -> Option<Dur> {
        None
    }

    /// Waits so many times as long as its keys say, as suspensions have cost more or less than
    /// `[suspension.budget]` allows.
    fn set_patience(&mut self, _: f64) {}

    /// Something has happened, if it is told.
    fn tell(&mut self, _: &SuspendEvent) {}
}

/// Events that a policy is told of.
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
    /// It goes on.
    Resumed {
        /// When.
        now: Time,
        /// On which die.
        die: u32,
        /// Class of the operation.
        class: Class,
        /// How long it was suspended.
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
        /// Since when it waited for its die; for garbage collection, when it began.
        since: Time,
        /// How often it was suspended.
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

/// The policy that the rules name, which the scenario has checked.
pub fn make(rules: &SuspendRules) -> Box<dyn SuspendPolicy> {
    let found = POLICIES.iter().find(|(entry, _)| entry.name == rules.policy);
    found.map(|(_, make)| make(rules)).expect("the scenario names a registered suspension policy")
}
