//! Preparation of a drive's initial state: preconditioning, and a run-in if needed.

use reprieve_base::{Archive, Stream, UserError, parts};
use reprieve_config::{Precondition, Scenario};
use reprieve_flash::Flash;
use reprieve_ftl::{Ftl, Preconditioner};
use reprieve_policy::Policies;
use serde_json::{Value, json};

use super::equilibrium::Equilibrium;
use super::reuse::{self, Look, Origin};
use super::run_in::{Attempt, RunIn, RunInCourse, RunInReport};
use super::{Options, Ssd};

/// Page writes of preconditioning in one step: some hundredths of a second.
const PRECONDITION_STEP: u64 = 1 << 22;
/// Page writes in the time of an operation of the run-in.
const WRITES_PER_OPERATION: u64 = 64;
/// Operations of a preparation that is worth a file: a tenth of a second or two.
const OPERATIONS_WORTH_A_FILE: u64 = 1 << 17;

/// Preparation of the initial state of a drive.
pub(super) struct Preparation {
    preconditioner: Preconditioner,
    /// `None`: the state comes from elsewhere.
    equilibrium: Option<Box<Equilibrium>>,
    /// The load of that equilibrium; `None`: no steady state is needed.
    load: Option<String>,
    stage: RunInStage,
    /// Its policies differ from those of the scenario.
    pub(super) has_custom_policies: bool,
    /// Initial logical pages of the buffer, from before a power loss.
    pub(super) replay: Vec<u32>,
    pub(super) origin: Origin,
    /// Operations of the preparation, as a measure of its time.
    operations: u64,
}

/// Stages of a run-in.
enum RunInStage {
    /// Preconditioning, with the free blocks that the load is expected to leave.
    ToCome(Attempt),
    /// The run-in.
    Running(Box<RunIn>),
    /// Idle, while background work runs.
    Resting(Box<Ssd>),
    /// Done; with the report of the run-in, if there was one.
    Over(Option<RunInReport>),
}

impl Preparation {
    /// Creates the preparation of a drive for this equilibrium.
    pub(super) fn of(equilibrium: Equilibrium, ftl: &mut Ftl) -> Preparation {
        let kept = equilibrium.kept(ftl);
        let preconditioner = Preconditioner::new(&equilibrium.scenario, ftl, kept);
        let stage = match preconditioner.is_done() {
            true => RunInStage::Over(None),
            false => RunInStage::ToCome(Attempt { kept, number: 1 }),
        };
        let load = equilibrium.words.clone();
        let equilibrium = Some(Box::new(equilibrium));
        Preparation { preconditioner, stage, equilibrium, load, ..Preparation::done(Vec::new()) }
    }

    /// Creates a finished preparation of a drive with other state, and these pages in its buffer.
    pub(super) fn done(replay: Vec<u32>) -> Preparation {
        Preparation {
            preconditioner: Preconditioner::done(None),
            equilibrium: None,
            load: None,
            stage: RunInStage::Over(None),
            has_custom_policies: false,
            replay,
            origin: Origin::Own,
            operations: 0,
        }
    }

    /// Whether the state is available, or another thread prepares it.
    fn looks_elsewhere(&mut self, scenario: &Scenario, ftl: &mut Ftl) -> Result<bool, UserError> {
        let is_shared = self.load.is_some() && !self.has_custom_policies;
        let equilibrium = self.equilibrium.as_ref().filter(|_| is_shared);
        match self.origin.look(|| equilibrium.map(|own| reuse::key(own, scenario))) {
            Look::None => Ok(false),
            Look::Soon => Ok(true),
            Look::State(prepared) => {
                self.stage = RunInStage::Over(None);
                let mut archive = prepared.parts();
                self.exchange(&mut archive, ftl);
                let is_whole = archive.check().is_ok();
                if !is_whole {
                    *ftl = Ftl::new(scenario)?;
                    let equilibrium = self.equilibrium.take().expect("it has one to come into");
                    *self = Preparation::of(*equilibrium, ftl);
                }
                Ok(is_whole)
            }
        }
    }

    /// Saves or restores the prepared drive.
    fn exchange(&mut self, archive: &mut Archive, ftl: &mut Ftl) {
        // Drives that share a load may have it from different sections.
        let load = self.load.clone();
        self.archive(archive);
        self.load = load;
        parts!(archive; self.replay);
        ftl.archive(archive);
    }

    /// Saves or restores the finished report.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let RunInStage::Over(report) = &mut self.stage else { panic!("the drive runs in") };
        let mut waf = self.preconditioner.waf();
        parts!(archive; self.load, waf, *report);
        self.preconditioner = Preconditioner::done(waf);
    }

    /// Takes a step of the preparation; true once it is done.
    pub(super) fn advance(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) -> Result<bool, UserError> {
        if self.is_done() {
            return Ok(true);
        }
        if !self.looks_elsewhere(scenario, ftl)? {
            self.do_step(scenario, ftl, flash)?;
            if let Some(claim) = self.origin.step(self.is_done()) {
                let mut archive = claim.archive();
                self.exchange(&mut archive, ftl);
                claim.keep(archive, self.operations >= OPERATIONS_WORTH_A_FILE);
            }
        }
        Ok(false)
    }

    fn do_step(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) -> Result<(), UserError> {
        let equilibrium = self.equilibrium.as_ref().expect("it has one to come into");
        if !self.preconditioner.is_done() {
            self.preconditioner.advance(ftl, &equilibrium.scenario, PRECONDITION_STEP)?;
            let writes = PRECONDITION_STEP.min(ftl.tables.map.all_pages().into());
            self.operations += writes / WRITES_PER_OPERATION;
            if self.preconditioner.is_done() && !runs_in(&equilibrium.scenario, ftl) {
                self.stage = RunInStage::Over(None);
            }
            return Ok(());
        }
        match std::mem::replace(&mut self.stage, RunInStage::Over(None)) {
            RunInStage::Over(_) => unreachable!("the drive is prepared"),
            RunInStage::ToCome(attempt) => {
                self.stage = match equilibrium.rests {
                    true => RunInStage::Resting(Box::new(self.begin_rest(ftl)?)),
                    false => {
                        let run_in = self.begin_run_in(attempt, scenario, ftl, flash)?;
                        RunInStage::Running(Box::new(run_in))
                    }
                };
            }
            RunInStage::Resting(mut drive) => match drive.rest() {
                false => self.stage = RunInStage::Resting(drive),
                true => self.take_over(scenario, ftl, &mut drive),
            },
            RunInStage::Running(mut run_in) => match run_in.advance()? {
                RunInCourse::GoesOn => self.stage = RunInStage::Running(run_in),
                RunInCourse::Again(kept) => {
                    self.operations += run_in.operations();
                    let number = run_in.attempt.number + 1;
                    self.take_back_policies(scenario, flash, &mut run_in.drive);
                    drop(run_in);
                    *ftl = Ftl::new(scenario)?;
                    self.preconditioner = Preconditioner::new(&equilibrium.scenario, ftl, kept);
                    self.stage = RunInStage::ToCome(Attempt { kept, number });
                }
                course => {
                    self.operations += run_in.operations();
                    let mut report = run_in.report(course == RunInCourse::AtRest);
                    let mut drive = run_in.drive;
                    self.take_over(scenario, ftl, &mut drive);
                    self.take_back_policies(scenario, flash, &mut drive);
                    report.valid_pages = ftl.tables.map.pages_in_flash();
                    self.stage = RunInStage::Over(Some(report));
                }
            },
        }
        Ok(())
    }

    /// Stops the drive of a run-in, and takes its tables and the contents of its buffer.
    fn take_over(&mut self, scenario: &Scenario, ftl: &mut Ftl, drive: &mut Ssd) {
        self.replay = drive.freeze();
        std::mem::swap(ftl, &mut drive.run.pages.ftl);
        ftl.end_run_in(scenario);
    }

    /// Preconditions the drive completely, without a run-in.
    pub(super) fn precondition(
        &mut self,
        scenario: &Scenario,
        ftl: &mut Ftl,
    ) -> Result<(), UserError> {
        let own = self.equilibrium.as_ref().map_or(scenario, |equilibrium| &equilibrium.scenario);
        while !self.preconditioner.is_done() {
            self.preconditioner.advance(ftl, own, PRECONDITION_STEP)?;
        }
        Ok(())
    }

    /// Whether the drive has its initial state.
    pub(super) fn is_done(&self) -> bool {
        self.preconditioner.is_done() && matches!(self.stage, RunInStage::Over(_))
    }

    /// Returns the section `prepare` of the summary: the load of the drive's equilibrium.
    pub(super) fn prepared(&self) -> Option<Value> {
        let load = self.load.as_ref()?;
        let report = match &self.stage {
            RunInStage::Over(report) => report.as_ref(),
            _ => None,
        };
        Some(json!({
            "load": load,
            "requests": report.map_or(0, |report| report.requests),
            "waf": report.map_or(self.preconditioner.waf(), |report| report.waf),
        }))
    }

    /// Returns the section `precondition` of the summary, if the drive ran in.
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
        let equilibrium = self.equilibrium.as_ref().expect("a drive runs in for one");
        let endless = equilibrium.without_end();
        let policies = match self.has_custom_policies {
            true => flash.exchange_policies(Policies::of(scenario)),
            false => Policies::of(&endless),
        };
        let mut own = Ftl::stand_in(&endless);
        std::mem::swap(&mut own, ftl);
        own.begin_run_in(&endless);
        let seed = Stream::new(endless.seed, "precondition.run_in", 0).next_u64();
        let done = Preparation::done(Vec::new());
        let drive = Ssd::assemble(endless, seed, &Options::default(), policies, own, done)?;
        Ok(RunIn::new(drive, attempt))
    }

    fn begin_rest(&self, ftl: &mut Ftl) -> Result<Ssd, UserError> {
        let equilibrium = self.equilibrium.as_ref().expect("a drive rests in one");
        let mut own = Ftl::stand_in(&equilibrium.scenario);
        std::mem::swap(&mut own, ftl);
        own.begin_run_in(&equilibrium.scenario);
        let endless = equilibrium.without_end();
        let options = Options { served: true, ..Options::default() };
        let seed = Stream::new(endless.seed, "precondition.rest", 0).next_u64();
        let (policies, done) = (Policies::of(&endless), Preparation::done(Vec::new()));
        let mut drive = Ssd::assemble(endless, seed, &options, policies, own, done)?;
        drive.start_now()?;
        Ok(drive)
    }

    /// Returns the policies that were lent to the run-in.
    fn take_back_policies(&self, scenario: &Scenario, flash: &mut Flash, drive: &mut Ssd) {
        if self.has_custom_policies {
            let own = drive.run.pages.flash.exchange_policies(Policies::of(scenario));
            flash.exchange_policies(own);
        }
    }
}

/// Whether the drive has a run-in, and tables that can be carried over.
fn runs_in(scenario: &Scenario, ftl: &Ftl) -> bool {
    scenario.ftl.precondition == Precondition::Steady && !ftl.tables.map.is_in_flash()
}
