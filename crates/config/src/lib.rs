//! A scenario: everything a run depends on, resolved from presets, file and overrides, and checked.
//!
//! Layers, a later one wins key by key: defaults of the schema, part, device, load, scenario
//! file, `--set`. Every value keeps its place, so that every error names one.

mod equilibrium;
mod flows;
mod json_schema;
mod key;
#[macro_use]
mod row;
mod keys;
mod layers;
mod mistakes;
mod parse;
mod preset;
mod print;
mod quantity;
mod raw;
mod read;
mod reference;
mod resolve;
mod rules;
mod serve;
mod steps;
#[cfg(test)]
mod tests;
mod types;
mod unit;
mod value;

use std::path::{Path, PathBuf};

use reprieve_base::{Entry, UserError};
use reprieve_trace::{AddressPolicy, TraceConfig, WorkloadConfig};

use layers::Stack;
use raw::Raw;
use read::{Layer, Leaf, Leaves, Rank};
use resolve::Use;

pub use json_schema::json_schema;
pub use key::{Fallback, Key, Kind, Need, Section};
pub use keys::keys;
pub use preset::{Preset, devices, loads, parts};
pub use print::print;
pub use reference::{reference_markdown, schema_json};
#[cfg(feature = "testing")]
pub use rules::LET_THROUGH;
pub use rules::{Feature, Refusal, refusals};
pub use serve::changeable;
pub use steps::{Class, Step};
pub use types::*;
pub use unit::{Interval, Unit};

/// The texts of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The scenario file's content.
    pub text: &'a str,
    /// Its path: named in errors, and relative paths are tried from its folder first.
    pub path: &'a str,
    /// Overrides `KEY=VALUE` in TOML; a value that is not TOML is taken as a string.
    pub sets: &'a [String],
}

/// The registries whose names a scenario may write.
#[derive(Clone, Copy, Debug)]
pub struct Registries {
    /// Names of `scheduling.policy`.
    pub schedulers: &'static [Entry],
    /// Names of `scheduling.dispatch`.
    pub dispatchers: &'static [Entry],
    /// Names of `suspension.policy`.
    pub suspend_policies: &'static [Entry],
    /// Names of `ftl.placement`.
    pub placements: &'static [Entry],
    /// Names of `ftl.gc_victim`.
    pub gc_victims: &'static [Entry],
    /// Names of `ftl.stream`.
    pub streams: &'static [Entry],
    /// Names of `host.arbitration`.
    pub arbitrations: &'static [Entry],
    /// Names of `workload.format`, besides `auto`.
    pub trace_formats: &'static [Entry],
    /// Names of `workload.generator`.
    pub generators: &'static [Entry],
    /// Checks that a drive of the scenario is possible, by the components' own rules.
    pub misfit: fn(&Scenario) -> Option<Misfit>,
}

/// A drive that is impossible: the key nearest to the cause, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its full name.
    pub key: &'static str,
    /// The fault of its value, and the right range.
    pub what: String,
}

/// The scenario of a run: it has a workload.
pub fn load(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    let scenario = load_for(sources, Use::Run, registries)?;
    rules::check_enough(&scenario, sources.path)?;
    rules::check_equilibrium(&scenario, sources.path)?;
    Ok(scenario)
}

/// The scenario of the rig: `device`, a preset or a path, with overrides and without a workload.
pub fn load_rig(
    device: &str,
    sets: &[String],
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let raw = Raw::Text(device.to_string());
    let leaf = Leaf { raw, place: "--device".to_string(), rank: Rank::File, alias: None };
    let sources = Sources { text: "", path: "--device", sets };
    let file = Layer { leaves: Leaves::from([("device", leaf)]), ..Layer::default() };
    assemble(file, &sources, Path::new(""), Use::Rig, registries)
}

/// The scenario of a served drive, without the workload of the file: its clients are the workload.
///
/// Errors if an override sets a workload.
pub fn load_served(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    load_for(sources, Use::Serve, registries)
}

/// The scenario that replays a recording of a served drive of `scenario` at `path`.
pub fn replaying(scenario: &Scenario, path: PathBuf) -> Scenario {
    let recording =
        TraceConfig { address: AddressPolicy::Error, ..TraceConfig::new(path, "recording") };
    Scenario { workload: Some(WorkloadConfig::Trace(recording)), ..scenario.clone() }
}

/// The shorthands of the key `policy`.
pub fn shorthands() -> &'static [Entry] {
    keys::SHORTHANDS
}

/// The scenario of the rig as text, without a workload.
pub fn load_rig_file(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    load_for(sources, Use::Rig, registries)
}

fn load_for(
    sources: &Sources,
    purpose: Use,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let file = read::read(sources.text, sources.path, Rank::File)?;
    let base = Path::new(sources.path).parent().unwrap_or(Path::new(""));
    assemble(file, sources, base, purpose, registries)
}

fn assemble(
    mut file: Layer,
    sources: &Sources,
    base: &Path,
    purpose: Use,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let mut sets = read::read_sets(sources.sets)?;
    let overlay = equilibrium::overlay(&mut file, &mut sets);
    if purpose == Use::Serve {
        return serve::assemble(file, sets, overlay, sources.path, base, registries);
    }
    let load = sets.leaves.get("load").or(file.leaves.get("load")).map(|leaf| ("load", leaf));
    let mut of_flows = file.flows.values().chain(sets.flows.values()).flatten();
    let of_flow = of_flows.next().map(|(name, leaf)| (*name, leaf));
    if let (Use::Rig, Some((name, leaf))) = (purpose, load.or(of_flow)) {
        return Err(leaf.fault(name, "the rig has no workload; leave it out"));
    }
    let mut stack = layers::stack(file.leaves, sets.leaves, base)?;
    let flows = flows::overlays([std::mem::take(&mut stack.flows), file.flows], sets.flows);
    flows::check_fio_alone(&stack.leaves, &flows)?;
    let one = |stack, place: &str| settle(stack, place, base, purpose, registries);
    flows::check_of_flows(&stack.leaves, &flows)?;
    // The rig has no mapping for a load to precondition.
    let overlay = if purpose == Use::Rig { Leaves::new() } else { overlay };
    let drive = if overlay.is_empty() { Leaves::new() } else { stack.leaves.clone() };
    let scenario = if flows.is_empty() || purpose == Use::Rig {
        flows::with_jobs(one(stack, sources.path)?)?
    } else {
        flows::assemble(flows, &stack, sources.path, one)?
    };
    equilibrium::with_load(scenario, overlay, drive, sources.path, one)
}

/// Resolves and checks the scenario of a stack of layers.
fn settle(
    stack: Stack,
    place: &str,
    base: &Path,
    purpose: Use,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let resolved = resolve::resolve(stack, place, base, purpose, registries)?;
    rules::check(&resolved, purpose)?;
    match (registries.misfit)(&resolved.scenario).filter(|_| purpose != Use::Rig) {
        None => Ok(resolved.scenario),
        Some(Misfit { key, what }) => Err(resolved.fault(key, what)),
    }
}
