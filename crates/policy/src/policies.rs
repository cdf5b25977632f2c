//! Policies of a die: those of the scenario, or of an embedding program.

use reprieve_config::Scenario;

use crate::sched::{self, Scheduler};
use crate::suspend::{self, SuspendPolicy};

/// Policies of a die.
///
/// A program that embeds the simulator gives its own to `Ssd::with_policies`.
pub struct Policies {
    /// The die's next transaction.
    pub scheduler: Box<dyn Scheduler>,
    /// When the controller suspends an operation.
    pub suspension: Box<dyn SuspendPolicy>,
}

impl Policies {
    /// Creates the policies that the scenario names.
    pub fn of(scenario: &Scenario) -> Policies {
        Policies {
            scheduler: sched::make(&scenario.scheduling),
            suspension: suspend::make(&scenario.suspend_rules),
        }
    }
}
