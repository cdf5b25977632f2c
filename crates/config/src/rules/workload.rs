//! Rules of the workload, and of its measured part.

use reprieve_base::{Dur, UserError};
use reprieve_trace::{Footprint, MixedConfig, WorkloadConfig, misfit};

use crate::keys::key;
use crate::resolve::{Resolved, Use};
use crate::types::{EquilibriumLoad, Ftl, Measure, Precondition, Scenario, Warmup, dies_of};

pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    part(resolved)?;
    let handles = resolved.ftl.streams.handles.unwrap_or(1);
    let what = || format!("must be below ftl.placement_handles = {handles}");
    resolved.refuse("workload.placement", resolved.handle >= handles, what)?;
    let is_steady = resolved.ftl.precondition == Precondition::Steady;
    let what = || {
        "overwrites before the run have no placement handle; must be \"none\" or \"sequential\" \
         with ftl.stream = \"placement\""
    };
    let has_handles = resolved.ftl.streams.handles.is_some();
    resolved.refuse("ftl.precondition", has_handles && is_steady, what)?;
    match &resolved.workload {
        Some(WorkloadConfig::Mixed(config)) => mixed(config, resolved),
        Some(WorkloadConfig::Trace(config)) if config.duration == Some(Dur::ZERO) => {
            let what = "must be above 0, or \"none\" for no limit";
            Err(resolved.fault("workload.duration_s", what))
        }
        Some(WorkloadConfig::Trace(config)) => consistent(config.contradiction(), resolved),
        Some(WorkloadConfig::Kv(_)) => {
            let what = || "a drive with zones is not overwritten in place; must be \"mixed\"";
            resolved.refuse("workload.generator", resolved.zones.is_some(), what)
        }
        Some(WorkloadConfig::Fio(_) | WorkloadConfig::Cyclic(_)) | None => Ok(()),
    }
}

/// Refuses channels or dies that do not exist, and addresses beyond a flow's part of a drive.
fn part(resolved: &Resolved) -> Result<(), UserError> {
    let geometry = &resolved.geometry;
    let lists = [
        ("workload.channels", &resolved.channels, "channel", geometry.channels),
        ("workload.dies", &resolved.dies, "die", geometry.dies()),
    ];
    for (key, list, word, count) in lists {
        if let Some(one) = list.iter().find(|one| **one >= count) {
            let what = format!("{one} is no {word}; there are those from 0 to {}", count - 1);
            return Err(resolved.fault(key, what));
        }
        let twice = list.iter().enumerate().find(|(at, one)| list[..*at].contains(one));
        if let Some((_, one)) = twice {
            return Err(resolved.fault(key, format!("names {one} twice; each may stand once")));
        }
        if list.is_empty() {
            continue;
        }
        let what = || "selects dies as workload.channels does; give one of them";
        resolved.refuse(key, !resolved.channels.is_empty() && key == "workload.dies", what)?;
        resolved.refuse(key, !are_of_planes(&resolved.ftl), || {
            "only with a static ftl.placement such as \"cwdp\", ftl.precondition = \"none\" or \
             \"sequential\", ftl.stream = \"single\", ftl.mapping = \"flat\" and without \
             ftl.gc_dies_max: all else is of the drive, and not of its planes"
        })?;
    }
    Ok(())
}

/// Whether planes are written and collected independently.
fn are_of_planes(ftl: &Ftl) -> bool {
    let placement = &ftl.placement;
    let is_static = placement.len() == 4 && "cwdp".chars().all(|level| placement.contains(level));
    is_static
        && ftl.precondition != Precondition::Steady
        && ftl.streams.policy == "single"
        && ftl.demand.is_none()
        && ftl.gc.dies_max.is_none()
}

/// Capacity available to a load: the drive's, or that of a flow's part.
fn bytes(resolved: &Resolved) -> u64 {
    let dies = dies_of(&resolved.geometry, &resolved.channels, &resolved.dies);
    match dies.len() {
        0 => resolved.capacity_bytes(),
        dies => u64::from(resolved.part_pages(dies)) * u64::from(resolved.geometry.page_bytes),
    }
}

fn mixed(config: &MixedConfig, resolved: &Resolved) -> Result<(), UserError> {
    let (trims, start_bytes) = (config.trim_fraction, config.footprint_start_bytes);
    let writes = resolved.zones.is_some() && config.read_fraction < 1.0;
    let what = || {
        "a drive with zones is written at their write pointers, which this generator does not \
         know; must be 1, with writes and resets from a trace or from fio's jobs with zonemode = \
         zbd"
    };
    resolved.refuse("workload.read_fraction", writes, what)?;
    let what = || format!("with workload.trim_fraction = {trims} must be at most 1 in all");
    resolved.refuse("workload.read_fraction", config.read_fraction + trims > 1.0, what)?;
    let capacity_bytes = bytes(resolved);
    let what = || format!("is past the end of the drive; must be below {capacity_bytes}");
    resolved.refuse("workload.footprint_start_bytes", start_bytes >= capacity_bytes, what)?;
    let rest_bytes = capacity_bytes - start_bytes;
    let is_more = matches!(config.footprint, Footprint::Bytes(bytes) if bytes > rest_bytes);
    let what = || format!("is more than the user has; must be at most {rest_bytes}");
    resolved.refuse("workload.footprint_bytes", is_more, what)?;
    consistent(config.contradiction(), resolved)?;
    let misfit = misfit(config, capacity_bytes);
    misfit.map_or(Ok(()), |(key, error)| Err(resolved.at(&key, error)))
}

/// The error of two contradictory values of the workload.
fn consistent(
    contradiction: Option<(&str, String, String)>,
    resolved: &Resolved,
) -> Result<(), UserError> {
    let Some((name, _, what)) = contradiction else { return Ok(()) };
    let key = key(&format!("workload.{name}"));
    Err(resolved.fault(key.expect("the generator names keys of ours").full_name, what))
}

/// Refuses a section `[measure]` if nothing is measured, and one that contradicts itself.
pub(super) fn measured(resolved: &Resolved, purpose: Use) -> Result<(), UserError> {
    let Measure { from_request, from, warmup } = resolved.measure;
    let given = [
        ("measure.from_request", from_request > 0),
        ("measure.from_s", from > Dur::ZERO),
        ("measure.warmup", warmup != Warmup::None),
    ];
    let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let what = match purpose {
        Use::Rig => "the rig reports every command, and excludes none; leave it out",
        Use::Serve => "only a run of one drive with its load excludes requests; leave it out",
        Use::Run if warmup == Warmup::Auto && name != "measure.warmup" => {
            "contradicts measure.warmup = \"auto\"; give one of the two"
        }
        Use::Run => return Ok(()),
    };
    Err(resolved.fault(name, what))
}

/// Refuses a drive in the equilibrium of a load that has none.
pub(crate) fn check_equilibrium(scenario: &Scenario, path: &str) -> Result<(), UserError> {
    let is_kv = |load: &WorkloadConfig| matches!(load, WorkloadConfig::Kv(_));
    let has_none = match &scenario.equilibrium {
        EquilibriumLoad::Scenario => scenario.loads().any(is_kv),
        EquilibriumLoad::Given(load) => is_kv(load),
        EquilibriumLoad::RandomWrites => false,
    };
    if !has_none || scenario.ftl.precondition != Precondition::Steady {
        return Ok(());
    }
    let what = "ftl.precondition = \"steady\": the generator kv-cache has no equilibrium; must be \
                \"none\" or \"sequential\", or beside precondition.load = \"random-writes\"";
    Err(UserError::new(what).at(path))
}

/// Refuses to exclude all requests of loads with a known number of requests.
pub(crate) fn check_enough(scenario: &Scenario, path: &str) -> Result<(), UserError> {
    let requests = scenario.loads().map(|load| match load {
        WorkloadConfig::Mixed(load) => Some(load.requests),
        WorkloadConfig::Trace(_)
        | WorkloadConfig::Kv(_)
        | WorkloadConfig::Fio(_)
        | WorkloadConfig::Cyclic(_) => None,
    });
    let from_request = scenario.measure.from_request;
    match requests.sum::<Option<u64>>() {
        Some(requests) if from_request >= requests => Err(UserError::new(format!(
            "measure.from_request = {from_request}: excludes all {requests} requests; must be \
             below {requests}"
        ))
        .at(path)),
        _ => Ok(()),
    }
}
