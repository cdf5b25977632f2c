//! The run before the run: a drive that is to be in its steady state does its load until nothing
//! changes any more, and the run starts from what it has come to.
//!
//! Preconditioning without time leaves the right pages valid, and says nothing of what depends on
//! time: how many blocks are free, which are being collected, how full the write buffer is.

use reprieve_base::{Stream, Time, UserError};
use serde_json::{Value, json};

use super::event::Event;
use super::{Options, PRECONDITION_STEP, Ssd};
use crate::ftl::{Collection, Ftl, Mapping, Preconditioner};
use crate::policies::Policies;
use crate::scenario::{Measure, Precondition, Scenario};
use crate::txn::{Kind, NONE, Txn};

/// Requests between two looks at the drive, and between two returns to the caller.
const REQUESTS_LOOK: u64 = 256;
const REQUESTS_STEP: u64 = 1 << 16;
/// Page operations of the flash, or requests, after which a drive that still changes is not waited for: seconds;
/// and of a small drive so many for each of its logical pages.
const OPERATIONS_MAX: u64 = 4_000_000;
const OPERATIONS_PER_PAGE: u64 = 64;
/// Parts in which the drive is looked at together, and parts after which it is not waited for.
const PARTS: usize = 4;
const PARTS_MAX: u64 = 16;
/// Of the blocks that the host fills between two halves of those parts, the share by which the free
/// ones may change; and by how many they may change at most, as a mean over the planes.
const CHANGE_SHARE: f64 = 0.1;
const CHANGE_BLOCKS_MAX: f64 = 0.5;

/// How far a drive has come on its way to the state that it runs in.
pub(super) enum Stage {
    /// It has its pages, with collection as the load is thought to let it, or gets them.
    ToCome(Collection),
    /// It runs in.
    Running(Box<RunIn>),
    /// The run can begin; what was done before, if anything was.
    Over(Option<Report>),
}

/// A drive that runs in.
pub(super) struct RunIn {
    drive: Ssd,
    collection: Collection,
    /// Host pages programmed that make a part.
    part_pages: u64,
    parts_done: u64,
    /// The part under way and those before it, the newest last: free blocks over all looks, looks.
    parts: Vec<(u64, u64)>,
}

/// What was done before the run.
#[derive(Clone, Debug)]
pub(super) struct Report {
    requests: u64,
    simulated_ns: u64,
    host_pages: u64,
    free_blocks_mean: f64,
    at_rest: bool,
    /// Logical pages that have their data in the flash when the run begins.
    valid_pages: u64,
}

/// What a drive that runs in has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    GoesOn,
    AtRest,
    /// It is not waited for, and its planes have ever fewer free blocks.
    Loses,
    /// It is not waited for.
    TooLong,
}

impl Ssd {
    /// Brings the drive nearer to the state that it starts from; true once it is there.
    pub(super) fn prepare(&mut self) -> Result<bool, UserError> {
        if !self.preconditioner.is_done() {
            let (ftl, scenario) = (&mut self.ftl, &self.scenario);
            self.preconditioner.advance(ftl, scenario, PRECONDITION_STEP)?;
            if self.preconditioner.is_done() && !self.runs_in() {
                self.stage = Stage::Over(None);
            }
            return Ok(false);
        }
        match std::mem::replace(&mut self.stage, Stage::Over(None)) {
            Stage::Over(report) => {
                self.stage = Stage::Over(report);
                return Ok(true);
            }
            Stage::ToCome(collection) => {
                self.stage = Stage::Running(Box::new(self.begin_run_in(collection)?));
            }
            Stage::Running(mut run_in) => match run_in.advance()? {
                Course::GoesOn => self.stage = Stage::Running(run_in),
                Course::Loses if run_in.collection == Collection::KeepsUp => {
                    self.take_back_policies(&mut run_in.drive);
                    drop(run_in);
                    self.ftl = Ftl::new(&self.scenario)?;
                    let behind = Collection::LagsBehind;
                    self.preconditioner =
                        Preconditioner::new(&self.scenario, &mut self.ftl, behind);
                    self.stage = Stage::ToCome(behind);
                }
                course => self.end_run_in(*run_in, course == Course::AtRest),
            },
        }
        Ok(false)
    }

    /// Whether the drive is in the state that it starts from.
    pub fn is_preconditioned(&self) -> bool {
        self.preconditioner.is_done() && matches!(self.stage, Stage::Over(_))
    }

    /// Section `precondition` of the summary: what was done before the run, if the drive ran in.
    pub(super) fn run_in_summary(&self) -> Option<Value> {
        let Stage::Over(Some(report)) = &self.stage else { return None };
        Some(json!({
            "requests": report.requests,
            "simulated_ns": report.simulated_ns,
            "host_pages": report.host_pages,
            "free_blocks_mean": report.free_blocks_mean,
            "at_rest": report.at_rest,
            "valid_pages": report.valid_pages,
        }))
    }

    /// Whether there is a load to run in with, and a drive whose tables can be carried over.
    fn runs_in(&self) -> bool {
        let scenario = &self.scenario;
        scenario.ftl.precondition == Precondition::Steady
            && !self.flows.is_served
            && !self.ftl.maps_on_demand()
            && scenario.loads().all(|load| load.endless().is_some())
            && scenario.loads().any(|load| load.changes_data())
    }

    fn begin_run_in(&mut self, collection: Collection) -> Result<RunIn, UserError> {
        let scenario = without_end(&self.scenario);
        let policies = match self.has_own_policies {
            true => self.flash.exchange_policies(Policies::of(&self.scenario)),
            false => Policies::of(&scenario),
        };
        let mut ftl = Ftl::stand_in(&scenario);
        std::mem::swap(&mut ftl, &mut self.ftl);
        ftl.rehearse(&scenario);
        let pages_per_block = u64::from(scenario.geometry.pages_per_block);
        let block_of_each = pages_per_block * u64::from(scenario.geometry.planes());
        let part_pages = block_of_each.max(scenario.logical_pages().into()).div_ceil(PARTS as u64);
        let most_pages = OPERATIONS_MAX / 8;
        let part_pages = part_pages.min(most_pages.max(block_of_each.div_ceil(PARTS as u64)));
        let seed = Stream::new(scenario.seed, "precondition.run_in", 0).next_u64();
        let made = (Preconditioner::done(), Vec::new());
        let mut drive = Ssd::assemble(scenario, seed, &Options::default(), policies, ftl, made)?;
        if self.has_own_policies {
            drive.plain = false;
        }
        let parts = vec![(0, 0)];
        Ok(RunIn { drive, collection, part_pages, parts_done: 0, parts })
    }

    fn end_run_in(&mut self, mut run_in: RunIn, at_rest: bool) {
        let drive = &mut run_in.drive;
        let mut report = Report {
            requests: drive.completed,
            simulated_ns: drive.now.ns(),
            host_pages: drive.flash.counts.host_programs,
            free_blocks_mean: mean(&run_in.parts) / f64::from(self.scenario.geometry.planes()),
            at_rest,
            valid_pages: 0,
        };
        self.replay = drive.freeze();
        self.take_back_policies(drive);
        std::mem::swap(&mut self.ftl, &mut drive.ftl);
        self.ftl.keep(&self.scenario);
        let is_in_flash = |lpn: &u32| matches!(self.ftl.lookup(*lpn), Mapping::Flash(_));
        report.valid_pages = (0..self.ftl.logical_pages()).filter(is_in_flash).count() as u64;
        self.stage = Stage::Over(Some(report));
    }

    fn take_back_policies(&mut self, drive: &mut Ssd) {
        if self.has_own_policies {
            let own = drive.flash.exchange_policies(Policies::of(&self.scenario));
            self.flash.exchange_policies(own);
        }
    }

    /// Stops the drive where it is: nothing is begun any more, and what the flash has under way
    /// comes to its end. Returns the acknowledged pages of its write buffer in the order in which
    /// they go to the flash, those under way first.
    fn freeze(&mut self) -> Vec<u32> {
        let dirty = self.acknowledged_pages();
        self.ftl.freeze();
        self.buffer.waiting.clear();
        self.flash.forget_waiting();
        for die in 0..self.scenario.geometry.dies() {
            self.flash.wake(die);
        }
        loop {
            self.flash.decide::<_, true>(self.now, &mut self.ftl, &mut self.events);
            self.now = self.events.next_time();
            if self.now == Time::NEVER {
                break;
            }
            while let Some(event) = self.events.pop_at(self.now) {
                // Nothing comes from the host any more, and nothing goes there.
                if let Event::Flash(_) = event {
                    self.handle::<true>(event);
                }
            }
        }
        for (_, txn) in self.flash.txns.iter().filter(|(_, txn)| is_buffered(txn)) {
            self.ftl.take_back_write(txn);
        }
        dirty
    }

    fn acknowledged_pages(&self) -> Vec<u32> {
        let txns = &self.flash.txns;
        let held = self.buffer.held.as_ref();
        let mut pages = Vec::new();
        for (id, txn) in txns.iter().filter(|(_, txn)| is_buffered(txn) && txn.request == NONE) {
            let newest = match self.ftl.lookup(txn.lpn) {
                Mapping::Buffered(newest) => txns[newest].request == NONE,
                _ => false,
            };
            if txn.stale && (held.is_some() || !newest) {
                continue;
            }
            let at_no_die = || self.flash.place_at_no_die(id);
            let order = match txn.start {
                start if start < Time::NEVER => (0, txn.seq),
                _ if txn.waits_for != NONE => (4, u64::from(id)),
                _ => match (at_no_die(), held.and_then(|held| held.place(id))) {
                    (Some(place), _) => (2, place),
                    (None, Some(place)) => (3, place),
                    (None, None) => (1, txn.seq),
                },
            };
            pages.push((order, id, txn.lpn));
        }
        pages.sort_unstable();
        pages.into_iter().map(|(_, _, lpn)| lpn).collect()
    }
}

impl RunIn {
    fn advance(&mut self) -> Result<Course, UserError> {
        let until = self.drive.completed + REQUESTS_STEP;
        while self.drive.completed < until {
            if !self.drive.step(REQUESTS_LOOK)? {
                return Ok(Course::TooLong);
            }
            let course = self.look();
            if course != Course::GoesOn {
                return Ok(course);
            }
        }
        Ok(Course::GoesOn)
    }

    fn look(&mut self) -> Course {
        let part = self.parts.last_mut().expect("a part is under way");
        (part.0, part.1) = (part.0 + self.drive.ftl.free_blocks(), part.1 + 1);
        let host_pages = self.drive.flash.counts.host_programs;
        let pages = u64::from(self.drive.scenario.logical_pages());
        let most = OPERATIONS_MAX.min(OPERATIONS_PER_PAGE * pages);
        // A load that lives in the buffer asks nothing of the flash.
        let is_late = self.drive.page_transactions().max(self.drive.completed) >= most;
        if host_pages < (self.parts_done + 1) * self.part_pages {
            return if is_late { self.give_up() } else { Course::GoesOn };
        }
        self.parts_done += 1;
        if self.parts.len() == PARTS {
            if self.change_blocks().abs() <= self.change_blocks_max() {
                return Course::AtRest;
            }
            self.parts.remove(0);
        }
        self.parts.push((0, 0));
        if is_late || self.parts_done == PARTS_MAX { self.give_up() } else { Course::GoesOn }
    }

    fn give_up(&self) -> Course {
        let loses = self.change_blocks() < -self.change_blocks_max();
        if loses { Course::Loses } else { Course::TooLong }
    }

    /// By how many blocks a plane has more free in the second half of the parts than in the first.
    fn change_blocks(&self) -> f64 {
        let (first, second) = self.parts.split_at(self.parts.len() / 2);
        let planes = f64::from(self.drive.scenario.geometry.planes());
        (mean(second) - mean(first)) / planes
    }

    /// By how many it may be.
    fn change_blocks_max(&self) -> f64 {
        let geometry = &self.drive.scenario.geometry;
        let planes = f64::from(geometry.planes());
        let pages = (self.part_pages * PARTS as u64 / 2) as f64;
        let filled = pages / f64::from(geometry.pages_per_block) / planes;
        // Each plane has by chance one more or one fewer.
        (CHANGE_SHARE * filled).min(CHANGE_BLOCKS_MAX) + 1.0 / planes.sqrt()
    }
}

/// Mean over the looks of some parts.
fn mean(parts: &[(u64, u64)]) -> f64 {
    let (sum, looks) = parts.iter().fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1));
    if looks == 0 { 0.0 } else { sum as f64 / looks as f64 }
}

fn is_buffered(txn: &Txn) -> bool {
    matches!(txn.kind, Kind::Program | Kind::RmwRead)
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
