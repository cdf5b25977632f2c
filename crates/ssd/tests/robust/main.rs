//! Random tests: pairs of features, and states that were forged, each run under the checker.

mod features;
mod forged;
mod needed;
mod pairs;
mod refusals;
mod reused;

use reprieve_base::UserError;
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Scenario, Sources};

/// The scenario of a text with overrides `KEY=VALUE`, or why there is none.
fn load<S: AsRef<str>>(text: &str, sets: &[S]) -> Result<Scenario, UserError> {
    let sets: Vec<String> = sets.iter().map(|set| set.as_ref().to_string()).collect();
    scenario::load(&Sources { text, path: "test.toml", sets: &sets }, registries())
}
