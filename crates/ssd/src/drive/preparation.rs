//! How a drive comes into the state that it starts from: preconditioned, and run in if it is to be.

use reprieve_base::{Stream, UserError};
use reprieve_config::{Measure, Precondition, Scenario};
use reprieve_flash::Flash;
use reprieve_ftl::{Ftl, Mapping, Preconditioner};
use reprieve_policy::Policies;
use serde_json::{Value, json};

use super::run_in::{Attempt, RunIn, RunInCourse, RunInReport};
use super::{Options, Ssd};

/// Page writes of preconditioning in one step: some hundredths of a second.
const PRECONDITION_STEP: u64 = 1 << 22;

/// How the drive comes into the state that it starts from.
pub(super) struct Preparation {
    preconditioner: Preconditioner,
    stage: RunInStage,
    /// Its policies are not those that the scenario names.
    pub(super) has_custom_policies: bool,
    /// Logical pages that are in the buffer when the drive starts, from before a loss of power.
    pub(super) replay: Vec<u32>,
}

/// How far a drive has come on its way to the state that it runs in.
enum RunInStage {
    /// It has its pages, with so many free blocks as the load is thought to leave, or gets them.
    ToCome(Attempt),
    /// It runs in.
    Running(Box<RunIn>),
    /// The run can begin; what was done before, if anything was.
    Over(Option<RunInReport>),
}

impl Preparation {
    /// Of a drive that is to be preconditioned so, and starts with these pages in its buffer.
    pub(super) fn new(preconditioner: Preconditioner, replay: Vec<u32>) -> Preparation {
        let stage = match preconditioner.is_done() {
            true => RunInStage::Over(None),
            false => RunInStage::ToCome(Attempt { kept: preconditioner.kept(), number: 1 }),
        };
        Preparation { preconditioner, stage, has_custom_policies: false, replay }
    }

    /// Brings the drive nearer to the state that it starts from; true once it is there. One that
    /// `may_run_in` does, if it is to be in its steady state.
    pub(super) fn advance(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
        flash: &mut Flash,
        may_run_in: bool,
    ) -> Result<bool, UserError> {
        if !self.preconditioner.is_done() {
            self.preconditioner.advance(ftl, scenario, PRECONDITION_STEP)?;
            if self.preconditioner.is_done() && !(may_run_in && runs_in(scenario, ftl)) {
                self.stage = RunInStage::Over(None);
            }
            return Ok(false);
        }
        match std::mem::replace(&mut self.stage, RunInStage::Over(None)) {
            RunInStage::Over(report) => {
                self.stage = RunInStage::Over(report);
                return Ok(true);
            }
            RunInStage::ToCome(attempt) => {
                let run_in = self.begin_run_in(attempt, scenario, ftl, flash)?;
                self.stage = RunInStage::Running(Box::new(run_in));
            }
            RunInStage::Running(mut run_in) => match run_in.advance()? {
                RunInCourse::GoesOn => self.stage = RunInStage::Running(run_in),
                RunInCourse::Again(kept) => {
                    let number = run_in.attempt.number + 1;
                    self.take_back_policies(scenario, flash, &mut run_in.drive);
                    drop(run_in);
                    *ftl = Ftl::new(scenario)?;
                    self.preconditioner = Preconditioner::new(scenario, ftl, kept);
                    self.stage = RunInStage::ToCome(Attempt { kept, number });
                }
                course => {
                    let mut report = run_in.report(course == RunInCourse::AtRest);
                    let mut drive = run_in.drive;
                    self.replay = drive.freeze();
                    self.take_back_policies(scenario, flash, &mut drive);
                    std::mem::swap(ftl, &mut drive.run.pages.ftl);
                    ftl.keep(scenario);
                    let is_in_flash =
                        |lpn: &u32| matches!(ftl.tables.map.get(*lpn), Mapping::Flash(_));
                    let valid_pages =
                        (0..ftl.tables.map.logical_pages()).filter(is_in_flash).count();
                    report.valid_pages = valid_pages as u64;
                    self.stage = RunInStage::Over(Some(report));
                }
            },
        }
        Ok(false)
    }

    /// Preconditions the drive to its end, without a run before the run.
    pub(super) fn precondition(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
    ) -> Result<(), UserError> {
        while !self.preconditioner.is_done() {
            self.preconditioner.advance(ftl, scenario, PRECONDITION_STEP)?;
        }
        Ok(())
    }

    /// Whether the drive is in the state that it starts from.
    pub(super) fn is_done(&self) -> bool {
        self.preconditioner.is_done() && matches!(self.stage, RunInStage::Over(_))
    }

    /// Section `precondition` of the summary: what was done before the run, if the drive ran in.
    pub(super) fn summary(&self) -> Option<Value> {
        let RunInStage::Over(Some(report)) = &self.stage else { return None };
        Some(json!({
            "requests": report.requests,
            "simulated_ns": report.simulated_ns,
            "host_pages": report.host_pages,
            "free_blocks_mean": report.free_blocks_mean,
            "at_rest": report.at_rest,
            "valid_pages": report.valid_pages,
        }))
    }

    fn begin_run_in(
        &self,
        attempt: Attempt,
        scenario: &Scenario,
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) -> Result<RunIn, UserError> {
        let endless = without_end(scenario);
        let policies = match self.has_custom_policies {
            true => flash.exchange_policies(Policies::of(scenario)),
            false => Policies::of(&endless),
        };
        let mut own = Ftl::stand_in(&endless);
        std::mem::swap(&mut own, ftl);
        own.rehearse(&endless);
        let seed = Stream::new(endless.seed, "precondition.run_in", 0).next_u64();
        let done = Preparation::new(Preconditioner::done(), Vec::new());
        let drive = Ssd::assemble(endless, seed, &Options::default(), policies, own, done)?;
        Ok(RunIn::new(drive, attempt))
    }

    /// The drive that ran in gives the policies back that it had.
    fn take_back_policies(&self, scenario: &Scenario, flash: &mut Flash, drive: &mut Ssd) {
        if self.has_custom_policies {
            let own = drive.run.pages.flash.exchange_policies(Policies::of(scenario));
            flash.exchange_policies(own);
        }
    }
}

/// Whether there is a load to run in with, and a drive whose tables can be carried over.
fn runs_in(scenario: &Scenario, ftl: &Ftl) -> bool {
    scenario.ftl.precondition == Precondition::Steady
        && !ftl.tables.map.is_in_flash()
        && scenario.loads().all(|load| load.endless().is_some())
        && scenario.loads().any(|load| load.changes_data())
}

/// A scenario whose loads go on, of a drive whose power does not fail.
fn without_end(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    let loads = scenario.workload.iter_mut();
    for load in loads.chain(scenario.flows.iter_mut().map(|flow| &mut flow.workload)) {
        *load = load.endless().expect("only such loads run in");
    }
    scenario.power_loss = None;
    // What it does is never told.
    scenario.measure = Measure::default();
    scenario
}
