//! The scenario of a served drive: its clients are its workload, and some keys may change.

use std::path::Path;

use reprieve_base::UserError;

use super::keys::{key, keys};
use super::read::{Layer, Leaves, Rank};
use super::resolve::Use;
use super::types::{EquilibriumLoad, Scenario};
use super::value::Values;
use super::{Registries, equilibrium, layers, print, settle};

/// The one key of `[workload]` that concerns the drive.
const OF_THE_DRIVE: &str = "workload.unwritten";

/// The names of the keys whose values may change while a drive is served.
pub fn changeable() -> Vec<&'static str> {
    let mut names: Vec<_> =
        keys().iter().filter(|key| key.while_served).map(|key| key.full_name).collect();
    names.sort_unstable();
    names
}

/// The scenario of a file, its overrides and the load of its equilibrium, without a workload.
pub(super) fn assemble(
    file: Layer,
    sets: Layer,
    overlay: Leaves,
    place: &str,
    base: &Path,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let of_flow = sets.flows.values().flatten();
    let given = sets.leaves.iter().chain(of_flow);
    let is_load = |name: &str| name == "load" || name.starts_with("workload.");
    let mut of_load = given.filter(|(name, _)| is_load(name) && **name != OF_THE_DRIVE);
    if let Some((name, leaf)) = of_load.next() {
        let what = "a served drive gets its requests from its clients; leave it out";
        return Err(leaf.fault(name, what));
    }
    let mut leaves = file.leaves;
    leaves.retain(|name, _| !is_load(name) || *name == OF_THE_DRIVE);
    let mut stack = layers::stack(leaves, sets.leaves, base)?;
    stack.leaves.retain(|name, leaf| leaf.rank != Rank::Load || *name == OF_THE_DRIVE);
    let drive = if overlay.is_empty() { Leaves::new() } else { stack.leaves.clone() };
    let mut scenario = settle(stack, place, base, Use::Serve, registries)?;
    if scenario.equilibrium == EquilibriumLoad::Scenario {
        // Its clients are not known yet.
        scenario.equilibrium = EquilibriumLoad::RandomWrites;
    }
    let one = |stack, place: &str| settle(stack, place, base, Use::Run, registries);
    equilibrium::with_load(scenario, overlay, drive, place, one)
}

impl Scenario {
    /// Whether a served drive of this scenario may continue with the other.
    pub fn may_become(&self, other: &Scenario) -> bool {
        let fixed = |scenario: &Scenario| {
            let values = print::values(scenario).into_iter();
            let is_fixed = |name: &str| !key(name).is_some_and(|key| key.while_served);
            values.filter(|(name, _)| is_fixed(name)).collect::<Values>()
        };
        self.flows == other.flows && fixed(self) == fixed(other)
    }
}
