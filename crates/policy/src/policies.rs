//! The policies that a die is asked: those that a scenario names, or a program's own.

use reprieve_config::Scenario;

use crate::sched::{self, Scheduler};
use crate::suspend::{self, SuspendPolicy};

/// The policies that a die is asked.
///
/// A program that embeds the simulator gives its own to
/// `Ssd::with_policies`.
pub struct Policies {
    /// Which of its waiting transactions a die serves next.
    pub scheduler: Box<dyn Scheduler>,
    /// When the controller asks for a suspension.
    pub suspension: Box<dyn SuspendPolicy>,
}

impl Policies {
    /// Those that the scenario names.
    pub fn of(scenario: &Scenario) -> Policies {
        Policies {
            scheduler: sched::make(&scenario.scheduling),
            suspension: suspend::make(&scenario.suspend_rules),
        }
    }
}
