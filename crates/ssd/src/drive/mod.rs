//! The drive as its user sees it: created from a scenario, prepared, run and queried.

#[cfg(test)]
mod broken;
mod buffer;
mod checks;
mod custom_policies;
mod dirty_pages;
mod equilibrium;
mod event;
mod event_loop;
mod fio_jobs;
mod flows;
mod flush;
mod handover;
pub mod in_array;
mod interface;
mod live;
mod mapping;
mod measure;
mod media_scan;
mod options;
mod page_layout;
mod page_record;
mod page_store;
mod page_writes;
mod pages;
mod partial;
mod power_failure;
mod power_loss_view;
mod prefetch;
mod preparation;
mod read_cache;
mod replay;
mod report;
mod requests;
mod reuse;
mod run_in;
mod save;
mod series;
mod snapshot;
mod statistics;
mod timeline;
mod verify;
mod write_back;
mod write_throttle;

use reprieve_base::event::EventQueue;
use reprieve_base::{Dur, Time, UserError};
use reprieve_config::Scenario;
use reprieve_flash::{Flash, WornCells};
use reprieve_ftl::Ftl;
use reprieve_observe::check::Checker;
use reprieve_observe::stats::LogBatch;
use reprieve_policy::{Policies, dispatch};
use reprieve_state::{State, Store};

use equilibrium::Equilibrium;
use event_loop::EventLoop;
use flows::Flows;
use interface::HostInterface;
use page_store::PageStore;
use preparation::Preparation;
use reuse::Origin;
use statistics::Statistics;

pub use handover::{Completion, Details, Queue, Route};
pub use live::Activity;
pub use options::Options;
pub use power_loss_view::{Cut, PowerLossView, Recovered};
pub use series::TimeSeries;
pub use snapshot::Snapshot;

/// A simulated drive and its workload.
pub struct Ssd {
    scenario: Scenario,
    /// State that changes between instants.
    run: EventLoop,
    preparation: Preparation,
    /// The state after a power failure, once it has occurred.
    cut: Option<Box<Cut>>,
    started: bool,
    /// The workload is done.
    ended: bool,
}

impl Ssd {
    /// Creates the drive of a scenario, with its workload opened; the first steps precondition it.
    ///
    /// Errors if the workload cannot be opened or the drive does not fit into memory.
    pub fn new(scenario: Scenario, log_requests: bool) -> Result<Ssd, UserError> {
        Ssd::with(scenario, &Options { log_requests, ..Options::default() })
    }

    /// Returns it with all options of a run.
    ///
    /// Errors besides if the state to start from cannot be read or is another drive's.
    pub fn with(scenario: Scenario, options: &Options) -> Result<Ssd, UserError> {
        let policies = Policies::of(&scenario);
        Ssd::make(scenario, options, policies)
    }

    fn make(scenario: Scenario, options: &Options, policies: Policies) -> Result<Ssd, UserError> {
        crate::memory::check(&scenario)?;
        let from = match &options.from_state {
            Some(path) => Some((save::read(path, &scenario)?, path.display().to_string())),
            None => None,
        };
        Ssd::from_parts(scenario, options, from, policies)
    }

    fn from_parts(
        scenario: Scenario,
        options: &Options,
        from: Option<(State, String)>,
        policies: Policies,
    ) -> Result<Ssd, UserError> {
        let mut ftl = Ftl::new(&scenario)?;
        let (mut cells, mut zones) = (None, None);
        let made = match from {
            Some((mut state, place)) => {
                let taken = WornCells::take(&mut state, &scenario);
                cells = taken.map_err(|error| error.at(&place))?;
                let (made, of_state) = save::restore(state, &place, &scenario, &mut ftl)?;
                zones = of_state;
                made
            }
            None => {
                let mut made = Preparation::of(Equilibrium::of(&scenario)?, &mut ftl);
                let store = options.states.clone().or_else(Store::of_process);
                made.origin = store.map_or(Origin::Own, Origin::Stored);
                made
            }
        };
        let seed = scenario.seed;
        let mut ssd = Ssd::assemble(scenario, seed, options, policies, ftl, made)?;
        if zones.is_some() {
            ssd.run.pages.zones = zones;
        }
        if let Some(cells) = cells {
            ssd.run.pages.flash.start_worn(cells);
        }
        Ok(ssd)
    }

    /// Creates the drive with these tables, whose loads draw from this seed.
    fn assemble(
        scenario: Scenario,
        seed: u64,
        options: &Options,
        policies: Policies,
        ftl: Ftl,
        preparation: Preparation,
    ) -> Result<Ssd, UserError> {
        let host = HostInterface::new(&scenario);
        let count = host.queue_count();
        let flows = match options.served {
            true => Flows::served(&scenario, count, options.handed_over),
            false => Flows::open(&scenario, count, seed)?,
        };
        let flash = Flash::with(&scenario, policies);
        let new = |repeat| Checker::new(&scenario.geometry, scenario.seed, repeat);
        let checker = options.check.as_deref().map(new).map(Box::new);
        let timing = &scenario.timing;
        let program = timing.bus + timing.program_array(timing.program_iterations);
        // A busy die has about two events for each read time.
        let spacing = Dur::from_ns(timing.read.ns() / (2 * u64::from(scenario.geometry.dies())));
        let dispatcher = dispatch::make(&scenario.scheduling.dispatch);
        let run = EventLoop {
            flows,
            now: Time::ZERO,
            events: EventQueue::new(spacing, program),
            pages: PageStore::new(&scenario, ftl, flash, checker),
            host,
            stats: Statistics::new(&scenario, options),
            is_watched: true,
        };
        let mut ssd = Ssd { run, preparation, cut: None, started: false, ended: false, scenario };
        if let Some(dispatcher) = dispatcher {
            ssd.put_under(dispatcher)?;
        }
        if let Some(window) = options.timeline {
            ssd.run.pages.flash.draw(window);
        }
        if options.log_requests && !options.served && !options.without_attribution {
            ssd.run.pages.flash.keep_attribution();
        }
        ssd.run.is_watched = ssd.run.has_instant_work();
        Ok(ssd)
    }

    /// Simulates until `requests` more are complete; false when the workload is done.
    ///
    /// Before the first request the steps precondition the drive, a piece each.
    /// Errors at a row of the trace that cannot be read, if the drive cannot be preconditioned, or
    /// if too many of its blocks have failed.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        if !self.started {
            let (ftl, flash) = (&mut self.run.pages.ftl, &mut self.run.pages.flash);
            if !self.preparation.advance(&self.scenario, ftl, flash)? {
                return Ok(true);
            }
            self.start()?;
        }
        let until = self.run.stats.completed.saturating_add(requests);
        if self.run.pages.record.has_journal() {
            if let Some(goes_on) = self.step_to_cut(until)? {
                return Ok(goes_on);
            }
        }
        let mut goes_on = true;
        while goes_on && self.run.stats.completed < until {
            goes_on = self.run.instant();
        }
        self.run.check_course()?;
        if !goes_on {
            self.ended = true;
            self.run.pages.flash.observers_mut().end(self.run.now);
            self.run.end_checks();
            self.run.stats.measuring.check(self.run.stats.arrived, self.run.now)?;
        }
        Ok(goes_on)
    }

    #[cold]
    fn start(&mut self) -> Result<(), UserError> {
        self.start_now()?;
        self.run.begin_flows()
    }

    fn start_now(&mut self) -> Result<(), UserError> {
        self.started = true;
        let buffered = std::mem::take(&mut self.preparation.replay);
        self.run.start(buffered)
    }

    /// Takes the request log since the last call; empty columns if none is kept.
    pub fn take_log(&mut self) -> LogBatch {
        self.run.stats.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the share of the workload that has been handed out, and the completed requests.
    pub fn progress(&self) -> (Option<f64>, u64) {
        (self.run.flows.progress(), self.run.stats.completed)
    }

    /// Whether the drive has its initial state.
    pub fn is_preconditioned(&self) -> bool {
        self.preparation.is_done()
    }

    /// Returns the scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
