//! Budget: the patience of a policy that delays suspensions, so that their cost stays within
//! limits.

use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_config::{Class, Scenario};

use super::SuspendEvent;

/// Interval between updates of the patience.
const WINDOW: Dur = Dur::from_ns(200_000_000);
/// The patience changes by at most this power of e in a window.
const STEP: f64 = 0.06;
/// Limit for the patience and its inverse, so that a drive without suspensions for a while returns
/// to them.
const RANGE: f64 = 20.0;

const SECONDS_A_DAY: f64 = 86_400.0;

/// Limits on the cost of suspensions, their cost in this window, and the patience that follows.
pub(super) struct SuspendBudget {
    /// Suspensions in a window.
    suspensions: Option<f64>,
    /// Cycles of wear in a window, and the wear of a suspension of a program and of an erase.
    wear: Option<(f64, f64, f64)>,
    /// Time in a window, over all dies, for which operations may be suspended.
    suspended_ns: Option<f64>,
    ends: Time,
    spent: WindowSpent,
    patience: f64,
}

#[derive(Default, serde::Serialize, serde::Deserialize)]
struct WindowSpent {
    program_suspensions: u64,
    erase_suspensions: u64,
    suspended_ns: u64,
}

impl SuspendBudget {
    /// Saves or restores the spending; returns the resulting patience.
    pub(super) fn archive(&mut self, archive: &mut Archive) -> f64 {
        parts!(archive; self.ends, self.spent, self.patience);
        self.patience
    }

    /// Creates the budget of a scenario; `None` without limits.
    pub(super) fn of(scenario: &Scenario) -> Option<SuspendBudget> {
        let of = |name| scenario.suspend_rules.parameters.number(name);
        let window_s = WINDOW.ns() as f64 / 1e9;
        let suspensions = of("suspension.budget.suspensions_per_s").map(|each| each * window_s);
        let shares = scenario.reliability.ageing.as_ref().map(|ageing| ageing.suspend_wear);
        let wear = of("suspension.budget.wear_per_day").map(|each| {
            let shares = shares.expect("the scenario has checked that suspensions wear");
            (each / SECONDS_A_DAY * window_s, shares.per_program, shares.per_erase)
        });
        let dies = f64::from(scenario.geometry.dies());
        let suspended_ns =
            of("suspension.budget.lost_write_share").map(|share| share * WINDOW.ns() as f64 * dies);
        if suspensions.is_none() && wear.is_none() && suspended_ns.is_none() {
            return None;
        }
        Some(SuspendBudget {
            suspensions,
            wear,
            suspended_ns,
            ends: Time::ZERO + WINDOW,
            spent: WindowSpent::default(),
            patience: 1.0,
        })
    }

    /// Handles an event; returns the new factor for the waits of a policy, if it has changed.
    pub(super) fn tell(&mut self, event: &SuspendEvent) -> Option<f64> {
        let before = self.patience;
        let now = match event {
            SuspendEvent::Suspended { now, .. }
            | SuspendEvent::Resumed { now, .. }
            | SuspendEvent::Completed { now, .. } => *now,
        };
        while self.ends <= now {
            self.settle();
            self.ends = self.ends + WINDOW;
        }
        match event {
            SuspendEvent::Suspended { class: Class::Erase, .. } => {
                self.spent.erase_suspensions += 1;
            }
            SuspendEvent::Suspended { .. } => self.spent.program_suspensions += 1,
            // A suspension across windows is booked to the one in which it ends.
            SuspendEvent::Resumed { suspended, .. } => self.spent.suspended_ns += suspended.ns(),
            SuspendEvent::Completed { .. } => {}
        }
        (self.patience != before).then_some(self.patience)
    }

    /// Ends a window, and updates the patience by its spending.
    fn settle(&mut self) {
        let WindowSpent { program_suspensions, erase_suspensions, suspended_ns } =
            std::mem::take(&mut self.spent);
        let (programs, erases) = (program_suspensions as f64, erase_suspensions as f64);
        let shares = [
            self.suspensions.map(|allowed| (programs + erases) / allowed),
            self.wear
                .map(|(allowed, program, erase)| (programs * program + erases * erase) / allowed),
            self.suspended_ns.map(|allowed| suspended_ns as f64 / allowed),
        ];
        let spent = shares.into_iter().flatten().fold(0.0, f64::max);
        let step = libm::exp(STEP * (spent - 1.0).clamp(-1.0, 1.0));
        self.patience = (self.patience * step).clamp(1.0 / RANGE, RANGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> SuspendBudget {
        SuspendBudget {
            suspensions: Some(20.0),
            wear: None,
            suspended_ns: None,
            ends: Time::ZERO + WINDOW,
            spent: WindowSpent::default(),
            patience: 1.0,
        }
    }

    fn suspended(at_ms: u64) -> SuspendEvent {
        SuspendEvent::Suspended {
            now: Time::from_ns(at_ms * 1_000_000),
            die: 0,
            class: Class::HostWrite,
        }
    }

    #[test]
    fn patience_rises_with_what_is_spent_beyond_the_budget() {
        let mut budget = budget();
        for at in 0..30 {
            assert_eq!(budget.tell(&suspended(at)), None, "the window has not ended");
        }
        // Half as many again as permitted.
        let found = budget.tell(&suspended(200)).expect("a window has ended");
        assert!((found - libm::exp(0.03)).abs() < 1e-12);
        // One in the second window is 0.95 too few; two empty ones follow.
        let found = budget.tell(&suspended(805)).expect("three windows have ended");
        assert!((found - libm::exp(0.03 - 0.06 * (0.95 + 1.0 + 1.0))).abs() < 1e-12);
    }

    #[test]
    fn far_beyond_the_budget_counts_as_twice() {
        let mut budget = budget();
        (0..190).for_each(|at| assert_eq!(budget.tell(&suspended(at)), None));
        let found = budget.tell(&suspended(200)).expect("a window has ended");
        assert!((found - libm::exp(0.06)).abs() < 1e-12);
    }

    #[test]
    fn a_drive_at_rest_does_not_forget_its_keys() {
        let mut budget = budget();
        assert_eq!(budget.tell(&suspended(3_600_000)), Some(1.0 / RANGE));
    }
}
