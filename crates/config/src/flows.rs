//! Several loads at once: tables `[flow.NAME]`, each with the keys of `[workload]` that differ, or
//! the jobs of a fio file.

use std::path::Path;

use reprieve_base::UserError;
use reprieve_trace::{FioJob, WorkloadConfig, fio_jobs};

use super::layers::Stack;
use super::raw::Raw;
use super::read::{Leaves, Overlays, Rank};
use super::types::{Flow, Scenario, dies_of};

/// The overlays of a load and of a file over it, with those of `--set` over them; all of them
/// override `[workload]`.
pub(super) fn overlays([load, file]: [Overlays; 2], sets: Overlays) -> Overlays {
    let mut all = Overlays::new();
    for (layer, rank) in [(load, Rank::Flow), (file, Rank::Flow), (sets, Rank::FlowSet)] {
        for (name, mut leaves) in layer {
            leaves.values_mut().for_each(|leaf| leaf.rank = rank);
            all.entry(name).or_default().extend(leaves);
        }
    }
    all
}

/// The scenario of these flows; `one` builds that of a single load from its keys and their place.
pub(super) fn assemble(
    overlays: Overlays,
    stack: &Stack,
    path: &str,
    one: impl Fn(Stack, &str) -> Result<Scenario, UserError>,
) -> Result<Scenario, UserError> {
    let mut flows = Vec::with_capacity(overlays.len());
    let mut drive = None;
    for (name, overlay) in overlays {
        if let Some(leaf) = overlay.get("workload.unwritten") {
            let what = "it is of the drive, and the same for all; give workload.unwritten";
            return Err(leaf.fault("workload.unwritten", what));
        }
        let mut leaves = stack.leaves.clone();
        leaves.extend(overlay);
        let stack = Stack { leaves, device: stack.device.clone(), flows: Overlays::new() };
        let scenario = one(stack, &format!("{path}: [flow.{name}]"))?;
        let workload = scenario.workload.clone().expect("a flow is resolved as a run");
        let (queues, read_slo) = (scenario.queues.clone(), scenario.read_slo);
        let (channels, dies) = (scenario.channels.clone(), scenario.dies.clone());
        let handle = scenario.handle;
        let flow = Flow { name, workload, queues, channels, dies, handle, read_slo };
        check_dies(&scenario, &flows, &flow).map_err(|error| error.at(path))?;
        flows.push(flow);
        drive = Some(scenario);
    }
    let drive = drive.expect("the caller has seen a flow");
    let (queues, channels, dies) = (Vec::new(), Vec::new(), Vec::new());
    let all = Scenario { workload: None, queues, channels, dies, handle: 0, ..drive };
    Ok(Scenario { read_slo: None, flows, ..all })
}

/// Refuses keys that apply to a single load only, and not to one of several flows.
pub(super) fn check_of_flows(leaves: &Leaves, flows: &Overlays) -> Result<(), UserError> {
    let keys = [
        ("workload.clock", "means something where several flows have traces; leave it out"),
        ("workload.channels", "is of a flow; give it in a table [flow.NAME]"),
        ("workload.dies", "is of a flow; give it in a table [flow.NAME]"),
    ];
    let given = keys.iter().find_map(|(key, what)| {
        let leaf = leaves.get(*key).filter(|leaf| leaf.raw != Raw::none())?;
        Some((leaf, key, what))
    });
    match given {
        Some((leaf, key, what)) if flows.is_empty() => Err(leaf.fault(key, what)),
        _ => Ok(()),
    }
}

/// Refuses a flow that shares only some of another's dies.
fn check_dies(scenario: &Scenario, others: &[Flow], flow: &Flow) -> Result<(), UserError> {
    let dies = |flow: &Flow| {
        let given = dies_of(&scenario.geometry, &flow.channels, &flow.dies);
        if given.is_empty() { (0..scenario.geometry.dies()).collect() } else { given }
    };
    let own = dies(flow);
    for other in others {
        let theirs = dies(other);
        if own != theirs && own.iter().any(|die| theirs.contains(die)) {
            return Err(UserError::new(format!(
                "[flow.{}] shares some of its dies with [flow.{}] and not all; by \
                 workload.channels or workload.dies flows must have the same dies, or none in \
                 common",
                flow.name, other.name
            )));
        }
    }
    Ok(())
}

/// Refuses a fio file beside other loads, or as one of several.
pub(super) fn check_fio_alone(leaves: &Leaves, flows: &Overlays) -> Result<(), UserError> {
    if let Some(leaf) = flows.values().find_map(|overlay| overlay.get("workload.fio")) {
        let what = "the jobs of a fio file are loads of their own; give workload.fio";
        return Err(leaf.fault("workload.fio", what));
    }
    match (leaves.get("workload.fio"), flows.keys().next()) {
        (Some(leaf), Some(flow)) => {
            let what = format!("its jobs are all loads that a drive gets; leave out [flow.{flow}]");
            Err(leaf.fault("workload.fio", what))
        }
        _ => Ok(()),
    }
}

/// The scenario with the jobs of its fio file, if it names one.
pub(super) fn with_jobs(scenario: Scenario) -> Result<Scenario, UserError> {
    let Some(path) = &scenario.fio else { return Ok(scenario) };
    let jobs = fio_jobs(Path::new(path), scenario.capacity_bytes())?;
    let flow = |job: FioJob| Flow {
        name: job.name.clone(),
        queues: scenario.queues.clone(),
        channels: Vec::new(),
        dies: Vec::new(),
        handle: scenario.handle,
        read_slo: scenario.read_slo,
        workload: WorkloadConfig::Fio(Box::new(job)),
    };
    Ok(Scenario { flows: jobs.into_iter().map(flow).collect(), ..scenario })
}
