//! The chain of a decision: eligibility, guards, policies; the first refusal ends it.

use std::collections::VecDeque;

use reprieve_base::{Archive, Dur, Time};
use reprieve_config::Scenario;

use super::budget::SuspendBudget;
use super::{Eligibility, OperationView, SuspendEvent, SuspendPolicy};

/// Whether a running operation is suspended for a waiting transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Answer {
    /// Now.
    Now,
    /// Not now: the chain is evaluated again then, if not before.
    At(Time),
    /// Not before another event, with the reason.
    No(Reason),
}

/// The reason why an operation is not suspended.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Reason {
    /// Eligibility: nothing waits for which it could be suspended.
    NothingWaits,
    /// Eligibility: the scheduler suspends nothing.
    NoSuspension,
    /// Eligibility: the class of the waiting transaction may not suspend that of the operation.
    Class,
    /// Eligibility: the waiting read is of the operation's block or page.
    SameBlock,
    /// Eligibility: the operation goes before reads, as the write queue limit was reached.
    WriteQueueLimit,
    /// Guard: the erase around the program has reached its longest suspension.
    Nesting,
    /// Guard: the part cannot suspend such an operation.
    NotSuspendable,
    /// Guard: it has reached its limit of suspensions.
    Limit,
    /// Guard: it ends before the part could suspend it.
    NearlyDone,
    /// The suspension policy refuses.
    Policy,
    /// The suspension policy agrees, but has no suspension left in its budget.
    Budget,
    /// The scheduler refuses.
    Scheduler,
}

/// A running operation and its waiting transactions, for the links of the chain.
pub trait Case: OperationView {
    /// Returns why no policy may suspend it now: nesting, limits, progress; where reads of a
    /// suspension are limited, a resumed operation starts a phase first.
    fn guard(&self, begins_first: bool) -> Result<(), Answer>;

    /// Whether the scheduler permits it.
    fn allowed(&self) -> Answer;

    /// Whether the scheduler may be called without effect.
    fn may_ask_scheduler_in_vain(&self) -> bool;
}

/// The policy and the rules under which a drive suspends.
pub struct Chain {
    /// Which reads may suspend which operations.
    pub eligibility: Eligibility,
    policy: Box<dyn SuspendPolicy>,
    /// Properties of the policy.
    wants_all: bool,
    limits: bool,
    /// Reads after which a suspended operation resumes, under any policy.
    reads_max: Option<u32>,
    is_told: bool,
    /// Limits on the cost of suspensions, if any.
    budget: Option<SuspendBudget>,
    window: Option<Dur>,
    dies: u32,
    /// The last suspensions of each die, if the policy has a window.
    recent: Vec<VecDeque<Time>>,
}

impl Chain {
    /// Creates the chain of a scenario of `dies` dies, under this policy.
    pub fn new(
        policy: Box<dyn SuspendPolicy>,
        scenario: &Scenario,
        write_in_erase: bool,
        dies: u32,
    ) -> Chain {
        let (rules, budget) = (&scenario.suspend_rules, SuspendBudget::of(scenario));
        let (is_told, window) = (policy.is_told(), policy.window());
        let limits = policy.limits_suspension() || rules.reads_per_suspension.is_some();
        Chain {
            eligibility: Eligibility::new(rules, write_in_erase),
            wants_all: policy.wants_all() && !limits,
            limits,
            reads_max: rules.reads_per_suspension,
            policy,
            is_told: is_told || window.is_some() || budget.is_some(),
            budget,
            window,
            dies,
            recent: vec![VecDeque::new(); if window.is_some() { dies as usize } else { 0 }],
        }
    }

    /// Replaces the policy and the rules.
    pub fn set_rules(&mut self, policy: Box<dyn SuspendPolicy>, scenario: &Scenario) {
        *self = Chain::new(policy, scenario, self.eligibility.write_in_erase, self.dies);
    }

    /// Saves or restores the history of its limits.
    pub fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.recent);
        if let Some(budget) = &mut self.budget {
            self.policy.set_patience(budget.archive(archive));
        }
    }

    /// Replaces the policy; returns the old one.
    pub fn exchange(&mut self, policy: Box<dyn SuspendPolicy>) -> Box<dyn SuspendPolicy> {
        std::mem::replace(&mut self.policy, policy)
    }

    /// Decides whether a running operation is suspended for an eligible transaction.
    pub fn decide(&self, case: &impl Case) -> Answer {
        if let Err(answer) = case.guard(self.reads_max.is_some()) {
            return answer;
        }
        self.decide_unguarded(case)
    }

    /// Returns the answer of policy and scheduler, without guards.
    #[inline(always)]
    fn decide_unguarded(&self, case: &impl Case) -> Answer {
        match self.policy.suspend(case) {
            Answer::Now => case.allowed(),
            answer => answer,
        }
    }

    /// Evaluates the chain without side effects, with or without its guards.
    ///
    /// Assumes consent of policies that may not be called without effect.
    pub fn would_decide(&self, case: &impl Case, is_guarded: bool) -> Answer {
        if is_guarded {
            if let Err(answer) = case.guard(self.reads_max.is_some()) {
                return answer;
            }
        }
        if !self.policy.may_be_asked_in_vain() || !case.may_ask_scheduler_in_vain() {
            return Answer::Now;
        }
        self.decide_unguarded(case)
    }

    /// Whether the policy would suspend an operation that has only just started.
    pub fn would_suspend(&self, operation: &impl OperationView) -> bool {
        self.policy.suspend(operation) == Answer::Now
    }

    /// Whether a suspended operation has to resume despite waiting reads or writes.
    #[inline]
    pub fn must_resume(&self, operation: &impl OperationView) -> bool {
        self.reads_max.is_some_and(|max| operation.reads_served() >= max)
            || self.policy.must_resume(operation)
    }

    /// Whether the policy always consents, so that only guards are evaluated.
    #[inline(always)]
    pub fn wants_all(&self) -> bool {
        self.wants_all
    }

    /// Whether `must_resume` can return true.
    #[inline(always)]
    pub fn limits_suspension(&self) -> bool {
        self.limits
    }

    /// Whether an operation may have to resume before waiting reads suspend it again.
    #[inline(always)]
    pub fn takes_turns(&self) -> bool {
        self.reads_max.is_some()
    }

    /// Whether events on the dies have to be passed to [`Chain::tell`].
    #[inline(always)]
    pub fn is_told(&self) -> bool {
        self.is_told
    }

    /// Passes an event to the policy.
    #[cold]
    pub fn tell(&mut self, event: SuspendEvent) {
        if let (SuspendEvent::Suspended { now, die, .. }, Some(window)) = (event, self.window) {
            let recent = &mut self.recent[die as usize];
            recent.push_back(now);
            while recent.front().is_some_and(|at| *at + window <= now) {
                recent.pop_front();
            }
        }
        if let Some(patience) = self.budget.as_mut().and_then(|budget| budget.tell(&event)) {
            self.policy.set_patience(patience);
        }
        self.policy.tell(&event);
    }

    /// Suspensions on a die within the window of the policy before `now`.
    pub fn recent(&self, die: u32, now: Time) -> u32 {
        let (Some(window), Some(recent)) = (self.window, self.recent.get(die as usize)) else {
            return 0;
        };
        recent.iter().filter(|at| **at + window > now).count() as u32
    }
}
