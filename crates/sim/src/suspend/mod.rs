//! Suspension policies: when a read or write that waits is worth suspending an operation.

mod always;
mod threshold;

use reprieve_base::{Dur, Entry, Time};

use crate::scenario::{Class, SuspendRules};

/// What a suspension policy sees of the operation in the way of a read or write.
#[derive(Clone, Copy, Debug)]
pub struct OperationView {
    /// The instant of the decision.
    pub now: Time,
    /// The die that it works on.
    pub die: u32,
    /// What it is: a program of the host or of garbage collection, or an erase.
    pub class: Class,
    /// Time until it ends if it is left alone; zero while it is suspended.
    pub remaining: Dur,
    /// How long it has been suspended, in total.
    pub suspended: Dur,
}

/// A suspension policy: what is worth while. What the part cannot do, the die refuses.
pub trait SuspendPolicy: Send {
    /// Whether to ask for a suspension of a running operation.
    fn suspend(&self, operation: &OperationView) -> bool;

    /// Whether a suspended operation has to resume though reads or writes are waiting.
    fn must_resume(&self, operation: &OperationView) -> bool;
}

type Make = fn(&SuspendRules) -> Box<dyn SuspendPolicy>;

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, Make)] = &[
    (always::ENTRY, |_| Box::new(always::Always)),
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
