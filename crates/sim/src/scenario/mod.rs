//! A scenario: everything a run depends on, resolved from presets, file and overrides, and checked.
//!
//! Layers, a later one wins key by key: defaults of the schema, part, device, load, scenario
//! file, `--set`. Every value keeps its place, so that every error names one.

mod build;
mod check;
mod dispatch;
mod fio;
mod flatten;
mod flow;
mod front;
mod ftl;
mod layers;
mod maxima;
mod mbm;
mod measure;
mod parameters;
mod power;
mod power_loss;
mod preset;
mod print;
mod raw;
mod reading;
mod reference;
mod reliability;
mod resolve;
mod schema;
mod serve;
mod steps;
#[cfg(test)]
mod tests;
mod twins;
mod types;
mod value;
mod words;

use std::path::{Path, PathBuf};

use reprieve_base::{Dur, Entry, UserError};
use reprieve_trace::{AddressPolicy, DeviceSelection, Reading, TraceConfig, WorkloadConfig};

use layers::Stack;
use raw::{Layer, Leaf, Leaves, Rank, Raw};
use resolve::Use;
use schema::Family;

pub use dispatch::{Conflict, Dispatch, PaqRules};
pub use flow::Flow;
pub use front::{
    Acknowledge, Buffer, Eviction, Hold, Host, Interface, Nvme, Packets, Pcie, Priority, ReadCache,
    Replacement,
};
pub use ftl::{Demand, Faults, GcControl, PartialWrite, Streams, Wear};
pub use mbm::{
    Alignment, Chips, FirstOf, MbmRules, ReadAreas, Redistribution, Rounding, ShareRules, Ties,
    Trigger,
};
pub use measure::{Measure, Warmup};
pub use parameters::Parameters;
pub use power::{BudgetCounts, Power};
pub use power_loss::{Capacitor, LossPolicy, PowerLoss};
pub use preset::{Preset, devices, loads, parts};
pub use print::print;
pub use reference::{reference_markdown, schema_json};
pub use reliability::{Ageing, Reliability};
pub use schema::{Fallback, Interval, Key, Kind, Section, Unit, When, keys};
pub use serve::CHANGEABLE;
pub use steps::{Class, Step};
pub use types::{
    Channel, ChannelOrder, Deadlines, Ftl, LimitScope, LinkOrder, OperationSet, Precondition,
    Scenario, Scheduling, SuspendRules,
};

/// What a scenario is read from.
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
    /// What the drive of a scenario has no room for, as those say who count its blocks.
    pub misfit: fn(&Scenario) -> Option<Misfit>,
}

/// What a drive cannot be made of: the key that is nearest to the cause, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its full name.
    pub key: &'static str,
    /// What is wrong with its value, and what would be right.
    pub what: String,
}

impl Registries {
    fn of(&self, family: Family) -> &'static [Entry] {
        match family {
            Family::Scheduler => self.schedulers,
            Family::Dispatcher => self.dispatchers,
            Family::SuspendPolicy => self.suspend_policies,
            Family::Placement => self.placements,
            Family::GcVictim => self.gc_victims,
            Family::Stream => self.streams,
            Family::Arbitration => self.arbitrations,
            Family::TraceFormat => self.trace_formats,
            Family::Generator => self.generators,
        }
    }
}

/// The scenario of a run: it has a workload.
pub fn load(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    let file = raw::read(sources.text, sources.path, Rank::File)?;
    let base = Path::new(sources.path).parent().unwrap_or(Path::new(""));
    let scenario = assemble(file, sources, base, Use::Run, registries)?;
    measure::check_enough(&scenario, sources.path)?;
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

/// The scenario of a served drive: without the workload that the file may have, as its clients are
/// that.
///
/// Errors if an override gives it one all the same.
pub fn load_served(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    let file = raw::read(sources.text, sources.path, Rank::File)?;
    let base = Path::new(sources.path).parent().unwrap_or(Path::new(""));
    assemble(file, sources, base, Use::Serve, registries)
}

/// The scenario of the run that repeats what a served drive of `scenario` has recorded at `path`.
pub fn replaying(scenario: &Scenario, path: PathBuf) -> Scenario {
    let recording = TraceConfig {
        path,
        reading: Reading::from("recording"),
        queue_depth: None,
        time_scale: 1.0,
        start: Dur::ZERO,
        duration: None,
        max_requests: None,
        devices: DeviceSelection::Concatenate,
        address: AddressPolicy::Error,
        drop_duplicates_within: None,
        sort_window_requests: 0,
    };
    Scenario { workload: Some(WorkloadConfig::Trace(recording)), ..scenario.clone() }
}

/// The shorthands of the key `policy`.
pub fn shorthands() -> &'static [Entry] {
    schema::SHORTHANDS
}

/// The scenario of the rig as text, without a workload.
pub fn load_rig_file(sources: &Sources, registries: &Registries) -> Result<Scenario, UserError> {
    let file = raw::read(sources.text, sources.path, Rank::File)?;
    let base = Path::new(sources.path).parent().unwrap_or(Path::new(""));
    assemble(file, sources, base, Use::Rig, registries)
}

fn assemble(
    file: Layer,
    sources: &Sources,
    base: &Path,
    purpose: Use,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let sets = raw::read_sets(sources.sets)?;
    if purpose == Use::Serve {
        return serve::assemble(file, sets, sources.path, base, registries);
    }
    let flows = flow::overlays(file.flows, sets.flows);
    let load = sets.leaves.get("load").or(file.leaves.get("load")).map(|leaf| ("load", leaf));
    let of_flow = flows.values().flatten().map(|(name, leaf)| (*name, leaf)).next();
    if let (Use::Rig, Some((name, leaf))) = (purpose, load.or(of_flow)) {
        return Err(leaf.fault(name, "the rig has no workload; leave it out"));
    }
    let stack = layers::stack(file.leaves, sets.leaves, base)?;
    fio::check_alone(&stack.leaves, &flows)?;
    let one = |stack, place: &str| settle(stack, place, base, purpose, registries);
    if flows.is_empty() || purpose == Use::Rig {
        return fio::with_jobs(one(stack, sources.path)?);
    }
    flow::assemble(flows, &stack, sources.path, one)
}

/// The scenario that a stack of layers makes, checked.
fn settle(
    stack: Stack,
    place: &str,
    base: &Path,
    purpose: Use,
    registries: &Registries,
) -> Result<Scenario, UserError> {
    let device = stack.device.clone();
    let mut resolved = resolve::resolve(stack, place, purpose, registries)?;
    resolved.locate_loads(base)?;
    check::geometry(&resolved)?;
    let scenario = build::scenario(&resolved.values, device);
    check::check(&scenario, &resolved, purpose)?;
    match (registries.misfit)(&scenario).filter(|_| purpose != Use::Rig) {
        None => Ok(scenario),
        Some(Misfit { key, what }) => Err(resolved.fault(key, what)),
    }
}
