//! The drive: owns every component, and the one loop that lets time pass.

mod buffer;
mod checks;
mod feed;
mod flows;
mod flush;
mod hold;
mod host;
mod link;
mod mapping;
mod pages;
mod queues;
mod read_cache;
mod report;
mod save;
mod verify;

use std::collections::VecDeque;
use std::path::PathBuf;

use reprieve_base::{Dur, Time, UserError};
use reprieve_nand::Refusal;

use crate::check::Checker;
use crate::dispatch::{self, Dispatcher};
use crate::event::EventQueue;
use crate::flash::{Flash, FlashEvent};
use crate::ftl::{Ftl, Preconditioner};
use crate::scenario::Scenario;
use crate::slab::Slab;
use crate::stats::{Latencies, LogBatch, Totals};
use crate::txn::{Kind, Parts};
use buffer::Buffer;
use flows::Flows;
use flush::Intervals;
use host::HostRequest;
use link::Links;
use queues::HostQueues;
use read_cache::ReadCache;

#[cfg(test)]
pub use verify::BREAKS;

/// What can happen in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Something in the flash back end.
    Flash(FlashEvent),
    /// A doorbell has crossed the host link: a request is in its submission queue.
    Rung { request: u32 },
    /// The drive has turned to a command of a submission queue.
    Fetched { request: u32 },
    /// The host has been asked for a command.
    Asked { request: u32 },
    /// A command has crossed the host link.
    Command { request: u32 },
    /// The host has been asked for the data of a write.
    DataAsked { request: u32 },
    /// The data of a write has crossed the host link.
    LinkIn { request: u32 },
    /// The drive may have been idle for so long that the buffer is emptied.
    LookIdle,
    /// The last data of a request, or its completion, has crossed the host link.
    Done { request: u32 },
}

const _: () = assert!(size_of::<Event>() <= 16);

impl From<FlashEvent> for Event {
    #[inline]
    fn from(event: FlashEvent) -> Event {
        Event::Flash(event)
    }
}

/// Page writes of preconditioning in one step: some hundredths of a second.
const PRECONDITION_STEP: u64 = 1 << 22;

/// What is asked of a run beyond its scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep a row for each request.
    pub log_requests: bool,
    /// The drive starts in this saved state, and is not preconditioned.
    pub from_state: Option<PathBuf>,
    /// Check all that must hold while it runs, and panic where it does not, naming this command
    /// as the one that repeats the run.
    pub check: Option<String>,
}

/// A simulated drive and the workload that it is given.
pub struct Ssd {
    scenario: Scenario,
    flows: Flows,
    now: Time,
    events: EventQueue<Event>,
    flash: Flash,
    ftl: Ftl,
    buffer: Buffer,
    read_cache: Option<ReadCache>,
    /// Between host and drive; `None`: requests go straight to the drive.
    queues: Option<HostQueues>,
    links: Links,
    /// Where the time of the requests went whose last data or completion is crossing the link.
    crossing: VecDeque<Parts>,
    requests: Slab<HostRequest>,
    arrived: u64,
    completed: u64,
    intervals: Intervals,
    idle_since: Time,
    idle_ns: u64,
    latencies: Latencies,
    totals: Totals,
    log: Option<LogBatch>,
    preconditioner: Preconditioner,
    started: bool,
    /// The workload is done.
    ended: bool,
    checker: Option<Box<Checker>>,
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
        crate::memory::check(&scenario)?;
        let queues = HostQueues::of(&scenario.host);
        let flows = Flows::open(&scenario, queues.as_ref().map_or(0, HostQueues::count))?;
        let flash = Flash::new(&scenario);
        let mut ftl = Ftl::new(&scenario)?;
        let preconditioner = match &options.from_state {
            Some(path) => save::restore(path, &scenario, &mut ftl)?,
            None => Preconditioner::new(&scenario, &mut ftl),
        };
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
            flash,
            ftl,
            read_cache: ReadCache::of(&scenario),
            buffer: Buffer::new(&scenario.buffer, scenario.geometry.page_bytes),
            queues,
            links: Links::new(&scenario.host),
            crossing: VecDeque::with_capacity(1024),
            requests: Slab::with_capacity(4096),
            arrived: 0,
            completed: 0,
            intervals: Intervals::new(),
            idle_since: Time::ZERO,
            idle_ns: 0,
            latencies: Latencies::in_batches(),
            totals: Totals {
                dropped_writes: scenario.buffer.hold.is_some().then_some(0),
                ..Totals::default()
            },
            log: options.log_requests.then(LogBatch::default),
            preconditioner,
            started: false,
            ended: false,
            checker,
            scenario,
        };
        if let Some(dispatcher) = dispatcher {
            ssd.put_under(dispatcher)?;
        }
        Ok(ssd)
    }

    /// The same under this dispatcher, in place of the one that the scenario names.
    ///
    /// One that places writes does it in place of the scenario's placement; the read of a page that
    /// was never written goes where that placement has it. Errors besides if it does and writes go
    /// to several open blocks of a plane.
    pub fn with_dispatcher(
        scenario: Scenario,
        log_requests: bool,
        dispatcher: Box<dyn Dispatcher>,
    ) -> Result<Ssd, UserError> {
        let mut ssd = Ssd::new(scenario, log_requests)?;
        ssd.put_under(dispatcher)?;
        Ok(ssd)
    }

    fn put_under(&mut self, dispatcher: Box<dyn Dispatcher>) -> Result<(), UserError> {
        let stream = &self.scenario.ftl.streams.policy;
        if dispatcher.places() && stream != "single" {
            return Err(UserError::new(format!(
                "ftl.stream = {stream:?}: a dispatcher sees one next page of a plane; must be \
                 \"single\" under one that places writes"
            )));
        }
        if dispatcher.rewrites() {
            if self.ftl.maps_on_demand() {
                return Err(UserError::new(
                    "ftl.mapping = \"demand\": a dispatcher that has pages written anew looks \
                     nothing up in the flash; must be \"flat\", or scheduling.mbm_redistribution \
                     \"none\"",
                ));
            }
            self.totals.redistributed_pages = Some(0);
        }
        self.flash.set_dispatcher(dispatcher);
        Ok(())
    }

    /// Simulates until `requests` more are complete; false when the workload is done.
    ///
    /// Before the first request the steps precondition the drive, a piece each.
    /// Errors at a row of the trace that cannot be read, if the drive cannot be preconditioned, or
    /// if too many of its blocks have failed.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        if !self.started {
            if !self.preconditioner.is_done() {
                let (ftl, scenario) = (&mut self.ftl, &self.scenario);
                self.preconditioner.advance(ftl, scenario, PRECONDITION_STEP)?;
                return Ok(true);
            }
            self.start()?;
        }
        let until = self.completed.saturating_add(requests);
        let mut goes_on = true;
        while goes_on && self.completed < until {
            goes_on = self.instant()?;
        }
        // A drive that is worn out comes to a halt sooner or later, whoever asks.
        self.ftl.check_blocks()?;
        if !goes_on {
            self.ended = true;
            self.end_checks();
        }
        Ok(goes_on)
    }

    #[cold]
    fn start(&mut self) -> Result<(), UserError> {
        self.started = true;
        let flash = &mut self.flash;
        self.ftl.for_each_block(|die, plane, block, pages| {
            flash.precondition(die, plane, block, pages);
        });
        self.begin_checks();
        // A preconditioned drive may have garbage to collect before the first request comes.
        for die in 0..self.scenario.geometry.dies() {
            self.flash.wake(die);
        }
        self.flows.start(&self.ftl)?;
        if self.pull()? {
            self.fetch()?;
            self.decide();
        }
        Ok(())
    }

    /// Lets one instant pass: what frees a resource, then arrivals, then decisions.
    fn instant(&mut self) -> Result<bool, UserError> {
        let arrival = self.flows.next_time();
        let now = self.events.next_time().min(arrival);
        if now == Time::NEVER {
            self.ftl.check_blocks()?;
            assert!(self.requests.is_empty(), "{}", self.stuck());
            return Ok(false);
        }
        if arrival == Time::NEVER && self.requests.is_empty() {
            // What is left is background work, which no request waits for.
            return Ok(false);
        }
        debug_assert!(now >= self.now, "time runs back");
        self.now = now;
        while let Some(event) = self.events.pop_at(now) {
            self.handle(event);
        }
        self.pull()?;
        if arrival == now {
            self.take_arrivals()?;
        }
        if self.queues.is_some() {
            self.fetch()?;
        }
        self.decide();
        if self.checker.is_some() {
            self.check_instant(false);
        }
        Ok(true)
    }

    fn take_arrivals(&mut self) -> Result<(), UserError> {
        while self.flows.next_time() == self.now {
            let (request, flow) = self.flows.take(&self.ftl)?;
            self.arrive(request, flow);
        }
        Ok(())
    }

    #[cold]
    fn dispatch(&mut self) {
        self.flash.dispatch(self.now, &mut self.ftl);
        while let Some(lpn) = self.flash.next_rewrite() {
            self.rewrite_page(lpn);
        }
    }

    #[inline(always)]
    fn decide(&mut self) {
        if self.flash.is_dispatched() {
            self.dispatch();
        }
        self.flash.decide(self.now, &mut self.ftl, &mut self.events);
        if let Some((id, refusal)) = self.flash.refused {
            self.refused(id, refusal);
        }
    }

    #[cold]
    fn refused(&self, id: u32, refusal: Refusal) {
        let txn = &self.flash.txns[id];
        panic!(
            "at {} die {} refused {:?} of {:?}: {refusal} (seed {})",
            self.now, txn.die, txn.kind, txn.at, self.scenario.seed
        );
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Flash(event) => {
                self.flash.handle(event, self.now, &mut self.events);
                while let Some(id) = self.flash.done.pop() {
                    self.transaction_done(id);
                }
            }
            Event::Rung { request } => self.rung(request),
            Event::Fetched { request } => self.fetched(request),
            Event::Asked { request } => self.command_asked(request),
            Event::Command { request } => self.command_here(request),
            Event::DataAsked { request } => self.write_data(request),
            Event::LinkIn { request } => self.write_received(request),
            Event::LookIdle => self.look_idle(),
            Event::Done { request } => self.answer_crossed(request),
        }
    }

    /// A transaction has left its die.
    fn transaction_done(&mut self, id: u32) {
        if self.flash.txns[id].lost {
            self.page_lost(id);
        }
        match self.flash.txns[id].kind {
            Kind::HostRead => {
                if self.read_cache.is_some() {
                    self.cache_read(id);
                }
                let txn = self.flash.txns.remove(id);
                self.page_read(txn.request, txn.lpn, txn.parts)
            }
            Kind::RmwRead => {
                self.old_page_read(id);
            }
            Kind::Program => self.page_programmed(id),
            Kind::MapRead => self.map_page_read(id),
            Kind::MapUpdate => self.map_page_ready(id),
            Kind::MapProgram => self.map_page_programmed(id),
            Kind::GcRead | Kind::GcProgram | Kind::GcCopy | Kind::Erase => {
                let txn = self.flash.txns.remove(id);
                self.ftl.finish_step(&txn, &mut self.flash.txns);
                while let Some(die) = self.ftl.next_to_wake() {
                    self.flash.wake(die);
                }
                self.write_map_pages();
            }
        }
    }

    /// Whether the drive is preconditioned and the first request can arrive.
    pub fn is_preconditioned(&self) -> bool {
        self.preconditioner.is_done()
    }

    /// Takes the request log since the last call; empty columns if none is kept.
    pub fn take_log(&mut self) -> LogBatch {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Share of the workload that has been handed out, and requests completed.
    pub fn progress(&self) -> (Option<f64>, u64) {
        (self.flows.progress(), self.completed)
    }

    /// The scenario that is being run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
