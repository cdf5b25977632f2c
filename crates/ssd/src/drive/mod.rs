//! The drive: owns every component, and the one loop that lets time pass.

#[cfg(test)]
mod broken;
mod buffer;
mod checks;
mod custom_policies;
mod dirty_pages;
mod event;
mod fio_jobs;
mod flows;
mod flush;
mod handover;
mod interface;
mod live;
mod mapping;
mod measure;
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
mod run_in;
mod save;
mod series;
mod snapshot;
mod statistics;
mod timeline;
mod verify;
mod write_back;

use reprieve_base::event::{EventQueue, Schedule};
use reprieve_base::{Dur, Time, UserError};
use reprieve_config::Scenario;
use reprieve_flash::{Flash, WornCells};
use reprieve_ftl::{Ftl, Preconditioner};
use reprieve_observe::check::Checker;
use reprieve_observe::stats::LogBatch;
use reprieve_policy::{Policies, dispatch};
use reprieve_state::State;
use reprieve_trace::WorkloadConfig;

use dirty_pages::IdleLook;
use event::DriveEvent;
use flows::Flows;
use interface::HostInterface;
use page_store::PageStore;
use preparation::Preparation;
use statistics::Statistics;

pub use handover::Completion;
pub use live::Activity;
pub use options::Options;
pub use power_loss_view::{Cut, PowerLossView, Recovered};
pub use series::TimeSeries;
pub use snapshot::Snapshot;

/// A simulated drive and the workload that it is given.
pub struct Ssd {
    scenario: Scenario,
    now: Time,
    events: EventQueue<DriveEvent>,
    flows: Flows,
    host: HostInterface,
    pages: PageStore,
    stats: Statistics,
    preparation: Preparation,
    /// How the power failed, once it has.
    cut: Option<Box<Cut>>,
    started: bool,
    /// The workload is done.
    ended: bool,
}

impl Ssd {
    /// The drive of a scenario, with its workload opened; the first steps precondition it.
    ///
    /// Errors if the workload cannot be opened or the drive does not fit into memory.
    pub fn new(scenario: Scenario, log_requests: bool) -> Result<Ssd, UserError> {
        Ssd::with(scenario, &Options { log_requests, ..Options::default() })
    }

    /// The same, with all that can be asked of a run.
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
        let mut cells = None;
        let made = match from {
            Some((mut state, place)) => {
                let taken = WornCells::take(&mut state, &scenario);
                cells = taken.map_err(|error| error.at(&place))?;
                save::restore(state, &place, &scenario, &mut ftl)?
            }
            None => {
                let is_behind = scenario.loads().any(WorkloadConfig::is_closed);
                let kept = if is_behind { ftl.kept_behind() } else { ftl.kept_ahead() };
                Preparation::new(Preconditioner::new(&scenario, &mut ftl, kept), Vec::new())
            }
        };
        let seed = scenario.seed;
        let mut ssd = Ssd::assemble(scenario, seed, options, policies, ftl, made)?;
        if let (Some(media), Some(cells)) = (ssd.pages.flash.media_mut(), cells) {
            media.start_worn(cells);
        }
        Ok(ssd)
    }

    /// The drive with these tables, whose loads draw from this seed.
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
        let mut ssd = Ssd {
            flows,
            now: Time::ZERO,
            events: EventQueue::new(spacing, program),
            pages: PageStore::new(&scenario, ftl, flash, checker),
            host,
            stats: Statistics::new(&scenario, options),
            preparation,
            cut: None,
            started: false,
            ended: false,
            scenario,
        };
        if let Some(dispatcher) = dispatcher {
            ssd.put_under(dispatcher)?;
        }
        if let Some(window) = options.timeline {
            ssd.pages.flash.draw(window);
        }
        if options.log_requests && !options.served && !options.leave_out_blame {
            ssd.pages.flash.keep_blame();
        }
        Ok(ssd)
    }

    /// Simulates until `requests` more are complete; false when the workload is done.
    ///
    /// Before the first request the steps precondition the drive, a piece each.
    /// Errors at a row of the trace that cannot be read, if the drive cannot be preconditioned, or
    /// if too many of its blocks have failed.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        if !self.started {
            let (ftl, flash) = (&mut self.pages.ftl, &mut self.pages.flash);
            if !self.preparation.advance(&self.scenario, ftl, flash, !self.flows.is_served)? {
                return Ok(true);
            }
            self.start()?;
        }
        let until = self.stats.completed.saturating_add(requests);
        if self.pages.record.has_journal() {
            if let Some(goes_on) = self.step_to_cut(until)? {
                return Ok(goes_on);
            }
        }
        let mut goes_on = true;
        while goes_on && self.stats.completed < until {
            goes_on = self.instant();
        }
        self.check_course()?;
        if !goes_on {
            self.ended = true;
            self.pages.flash.observers_mut().end(self.now);
            self.end_checks();
            self.stats.measuring.check(self.stats.arrived, self.now)?;
        }
        Ok(goes_on)
    }

    #[cold]
    fn start(&mut self) -> Result<(), UserError> {
        self.start_now()?;
        let before = self.stats.arrived;
        self.pull();
        if self.stats.arrived > before {
            self.fetch();
            self.decide();
        }
        self.flows.check()
    }

    fn start_now(&mut self) -> Result<(), UserError> {
        self.started = true;
        if self.stats.series.is_some() {
            self.pages.flash.keep_ages();
        }
        let flash = &mut self.pages.flash;
        self.pages.ftl.for_each_block(|die, plane, block, pages| {
            flash.dies_mut().precondition(die, plane, block, pages);
        });
        self.pages.record.begin_checks(&mut self.pages.flash, &self.pages.ftl, &self.pages.layout);
        // A preconditioned drive may have garbage to collect before the first request comes.
        for die in 0..self.scenario.geometry.dies() {
            self.pages.flash.dies_mut().wake(die);
        }
        self.flows.start(&self.pages.ftl);
        let pages = std::mem::take(&mut self.preparation.replay);
        self.pages.replay(pages, &mut self.host.requests, self.now)
    }

    /// Lets one instant pass: what frees a resource, then arrivals, then decisions. False once
    /// nothing will happen any more that a request waits for.
    #[inline(always)]
    fn instant(&mut self) -> bool {
        let arrival = self.flows.next_time();
        self.host.run_to(self.events.next_time().min(arrival), self.events.orders());
        let now = self.next_event().min(arrival);
        if now == Time::NEVER {
            return false;
        }
        if arrival == Time::NEVER && self.host.requests.is_empty() {
            // What is left is background work, which no request waits for.
            return false;
        }
        self.pass(now, arrival);
        true
    }

    /// Whether the workload went well, as far as it has gone, and why not.
    fn check_course(&mut self) -> Result<(), UserError> {
        self.flows.check()?;
        // A drive that is worn out comes to a halt sooner or later, whoever asks.
        self.pages.ftl.check_blocks()?;
        let is_stuck = self.next_event() == Time::NEVER && self.flows.next_time() == Time::NEVER;
        assert!(!is_stuck || self.host.requests.is_empty(), "{}", self.stuck());
        Ok(())
    }

    /// When something happens next, arrivals aside; `NEVER` if nothing does.
    #[inline(always)]
    fn next_event(&self) -> Time {
        self.events.next_time().min(self.host.next_time())
    }

    /// Lets the instant `now` pass; the next request arrives at `arrival`.
    ///
    /// Once in the machine code, so that all that has one caller is part of it there.
    #[inline(never)]
    fn pass(&mut self, now: Time, arrival: Time) {
        debug_assert!(now >= self.now, "time runs back");
        self.now = now;
        if !self.stats.measuring.has_begun() {
            self.look_at_clock();
        }
        if self.stats.series.is_some() {
            self.stats.series_instant(now, self.host.requests.len(), &self.pages.flash);
        }
        self.let_happen();
        if self.flows.may_pull() {
            self.pull();
        }
        if arrival == now {
            self.take_arrivals();
        }
        if self.host.may_fetch() {
            self.fetch();
        }
        self.decide();
        if self.pages.record.checker.is_some() {
            self.check_instant(false);
        }
    }

    /// What happens at this instant in the drive and on the host link, in order of scheduling.
    #[inline(always)]
    fn let_happen(&mut self) {
        loop {
            let comes = self.host.next_time() == self.now;
            if comes && !self.is_event_first() {
                self.receive();
            } else if let Some(event) = self.events.pop_at(self.now) {
                self.handle(event);
            } else {
                return;
            }
        }
    }

    /// Whether an event of the drive comes before the message of this instant.
    #[inline]
    fn is_event_first(&self) -> bool {
        self.events.next_time() == self.now && self.events.next_order() < self.host.next_order()
    }

    fn take_arrivals(&mut self) {
        while self.flows.next_time() == self.now {
            let (request, flow) = self.flows.take(&self.pages.ftl);
            self.arrive(request, flow);
        }
        // A job whose request came at its own time may have another.
        self.pull();
    }

    #[inline(always)]
    fn decide(&mut self) {
        if self.pages.flash.stage.is_dispatched() {
            self.pages.dispatch(&mut self.host.requests, self.now);
            self.answer_served();
        }
        self.pages.flash.decide(self.now, &mut self.pages.ftl, &mut self.events);
        if let Some((id, refusal)) = self.pages.flash.refused() {
            self.pages.refused(id, refusal, self.now, self.scenario.seed);
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: DriveEvent) {
        match event {
            DriveEvent::Flash(event) => {
                self.pages.flash.handle(event, self.now, &mut self.events);
                while let Some(id) = self.pages.flash.next_done() {
                    let requests = &mut self.host.requests;
                    if let Some(page) = self.pages.transaction_done(id, requests, self.now) {
                        self.send_page(page.request, page.lpn);
                    } else {
                        self.answer_served();
                    }
                }
            }
            DriveEvent::LookIdle => self.look_idle(),
        }
    }

    /// Sends every dirty page if the drive has been idle for long enough.
    fn look_idle(&mut self) {
        let is_idle = self.host.requests.is_empty();
        let idle_since = is_idle.then_some(self.stats.idle_since);
        let held = self.pages.buffer.held.as_mut().expect("only pages that are held are looked at");
        match held.look(idle_since, self.now) {
            IdleLook::Busy => {}
            IdleLook::Again(due) => self.events.schedule(due, DriveEvent::LookIdle),
            IdleLook::Idle => self.pages.send_all_held(),
        }
    }

    /// Takes the request log since the last call; empty columns if none is kept.
    pub fn take_log(&mut self) -> LogBatch {
        self.stats.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Share of the workload that has been handed out, and requests completed.
    pub fn progress(&self) -> (Option<f64>, u64) {
        (self.flows.progress(), self.stats.completed)
    }

    /// Whether the drive is in the state that it starts from.
    pub fn is_preconditioned(&self) -> bool {
        self.preparation.is_done()
    }

    /// The scenario that is being run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
