//! The load whose equilibrium is a drive's initial state, and an idle drive without one.

use reprieve_base::{Time, UserError};
use reprieve_config::{EquilibriumLoad, Flow, Measure, Precondition, Scenario};
use reprieve_ftl::{FreeTarget, Ftl};
use reprieve_trace::{WorkloadConfig, cyclic};

use super::Ssd;

/// Instants between two returns to the caller.
const INSTANTS_STEP: u64 = 1 << 20;

/// The drive with the loads of its equilibrium.
pub(super) struct Equilibrium {
    /// Its loads are those of the equilibrium, without end if possible.
    pub(super) scenario: Scenario,
    /// The drive gets no request before the run, so that its background work is done.
    pub(super) rests: bool,
    /// Description of the load, for the summary; `None`: no steady state is needed.
    pub(super) words: Option<String>,
}

impl Equilibrium {
    /// Returns the equilibrium of a scenario.
    ///
    /// Errors if a trace that defines it cannot be read.
    pub(super) fn of(scenario: &Scenario) -> Result<Equilibrium, UserError> {
        let mut own = scenario.clone();
        if scenario.ftl.precondition != Precondition::Steady {
            return Ok(Equilibrium { scenario: own, rests: false, words: None });
        }
        let mut words = "the run's own load".to_string();
        match &scenario.equilibrium {
            EquilibriumLoad::Scenario => keep_first_that_writes(&mut own),
            EquilibriumLoad::RandomWrites => own.take_loads(),
            EquilibriumLoad::Given(load) => {
                own.take_loads();
                own.workload = Some((**load).clone());
                words = "the load of [precondition.load]".to_string();
            }
        }
        let capacity_bytes = own.capacity_bytes();
        let loads = own.workload.iter_mut();
        for load in loads.chain(own.flows.iter_mut().map(|flow| &mut flow.workload)) {
            if let WorkloadConfig::Trace(trace) = load {
                let measured = cyclic(trace, capacity_bytes)?;
                words = measured.words();
                *load = WorkloadConfig::Cyclic(measured);
            }
        }
        let rests = !own.loads().any(WorkloadConfig::changes_data);
        if rests {
            own.take_loads();
            words = "random writes of pages over the whole drive, then rest".to_string();
        }
        Ok(Equilibrium { scenario: own, rests, words: Some(words) })
    }

    /// Returns the free blocks of a plane that preconditioning leaves at first.
    pub(super) fn kept(&self, ftl: &Ftl) -> FreeTarget {
        // Without a run-in any other level would start with a storm of collection.
        if self.rests || ftl.tables.map.is_in_flash() {
            return ftl.kept_at_rest();
        }
        // Where the pace follows free space, the host pays for its writes at any rate.
        let is_behind = !self.scenario.ftl.gc.follows_free_space
            && self.scenario.loads().any(WorkloadConfig::is_closed);
        if is_behind { ftl.kept_behind() } else { ftl.kept_ahead() }
    }

    /// Returns the scenario of the run-in: its loads do not end, and its power does not fail.
    pub(super) fn without_end(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        let loads = scenario.workload.iter_mut();
        for load in loads.chain(scenario.flows.iter_mut().map(|flow| &mut flow.workload)) {
            *load = load.endless().expect("loads of an equilibrium go on");
        }
        (scenario.power_loss, scenario.ftl.scan) = (None, None);
        if self.rests {
            // A drive with endless busy windows never comes to rest.
            scenario.ftl.gc.busy_window = None;
        }
        // Its results are not reported.
        scenario.measure = Measure::default();
        scenario
    }
}

impl Ssd {
    /// Runs a drive without requests; true once it is idle.
    pub(super) fn rest(&mut self) -> bool {
        for _ in 0..INSTANTS_STEP {
            let next = self.run.next_event();
            if next == Time::NEVER {
                return true;
            }
            self.run.pass(next, Time::NEVER);
        }
        false
    }
}

/// Keeps the first loads that write: of fio's jobs those of one group.
fn keep_first_that_writes(scenario: &mut Scenario) {
    let group = |flow: &Flow| match &flow.workload {
        WorkloadConfig::Fio(job) => job.course.group,
        _ => 0,
    };
    let writing = scenario.flows.iter().filter(|flow| flow.workload.changes_data());
    let Some(first) = writing.map(group).min() else { return };
    scenario.flows.retain(|flow| group(flow) == first);
    for flow in &mut scenario.flows {
        if let WorkloadConfig::Fio(job) = &mut flow.workload {
            job.course.group = 0;
        }
    }
}
