//! Jobs of a fio file as the loads of a drive: key `workload.fio`.

use std::path::Path;

use reprieve_base::UserError;
use reprieve_trace::{WorkloadConfig, fio_jobs};

use super::flow::Overlays;
use super::raw::Leaves;
use super::{Flow, Scenario};

/// Refuses a file of jobs beside other loads, or as one of several.
pub(super) fn check_alone(leaves: &Leaves, flows: &Overlays) -> Result<(), UserError> {
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
    let flow = |job: reprieve_trace::FioJob| Flow {
        name: job.name.clone(),
        queues: scenario.queues.clone(),
        workload: WorkloadConfig::Fio(Box::new(job)),
    };
    Ok(Scenario { flows: jobs.into_iter().map(flow).collect(), ..scenario })
}
