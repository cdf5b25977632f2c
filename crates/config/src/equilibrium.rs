//! The load of `[precondition.load]`, in whose equilibrium a steady drive starts.

use reprieve_base::UserError;
use reprieve_trace::WorkloadConfig;

use super::layers::Stack;
use super::raw::Raw;
use super::read::{EQUILIBRIUM, Layer, Leaf, Leaves, Overlays, Rank};
use super::types::{EquilibriumLoad, Precondition, Scenario};

/// The number of requests, where none is given: the load is endless.
const REQUESTS: i128 = 1;

/// Takes the table from a file and from `--set`, unless `--set` has a word instead; removes a word
/// of the file that a table of `--set` overrides.
pub(super) fn overlay(file: &mut Layer, sets: &mut Layer) -> Leaves {
    let mut overlay = std::mem::take(&mut file.equilibrium);
    if sets.leaves.contains_key(EQUILIBRIUM) {
        overlay.clear();
    }
    overlay.append(&mut sets.equilibrium);
    if !overlay.is_empty() {
        file.leaves.remove(EQUILIBRIUM);
    }
    overlay
}

/// The scenario with the load of the table, if there is one; `one` builds the scenario of a load.
pub(super) fn with_load(
    scenario: Scenario,
    overlay: Leaves,
    drive: Leaves,
    path: &str,
    one: impl Fn(Stack, &str) -> Result<Scenario, UserError>,
) -> Result<Scenario, UserError> {
    let Some((name, first)) = overlay.iter().next() else { return Ok(scenario) };
    let (name, first) = (*name, first.clone());
    if scenario.ftl.precondition != Precondition::Steady {
        let what = "only while ftl.precondition is \"steady\"";
        return Err(first.fault(name, what));
    }
    if let Some(leaf) = overlay.get("workload.fio") {
        return Err(leaf.fault("workload.fio", "must be a trace or a generator's load"));
    }
    let place = format!("{path}: [precondition.load]");
    let mut leaves = drive;
    leaves.retain(|name, _| !name.starts_with("workload.") || *name == "workload.unwritten");
    let default = |raw| Leaf { raw, place: place.clone(), rank: Rank::Schema, alias: None };
    if !overlay.contains_key("workload.trace") {
        leaves.insert("workload.generator", default(Raw::Text("mixed".to_string())));
        leaves.insert("workload.requests", default(Raw::Integer(REQUESTS)));
    }
    leaves.extend(overlay);
    let stack = Stack { leaves, device: Some(scenario.device.clone()), flows: Overlays::new() };
    let load = one(stack, &place)?.workload.expect("a load is resolved as a run");
    if !matches!(&load, WorkloadConfig::Trace(_)) && !load.changes_data() {
        let what = "the load never writes, and a drive that is not written to has no equilibrium";
        return Err(first.fault(name, what));
    }
    Ok(Scenario { equilibrium: EquilibriumLoad::Given(Box::new(load)), ..scenario })
}
