//! The drive: owns every component, and the one loop that lets time pass.

mod buffer;
mod feed;
mod flush;
mod host;
mod mapping;
mod pages;
mod report;

use std::collections::VecDeque;

use reprieve_base::{Dur, Request, Time, UserError};
use reprieve_trace::Workload;

use crate::event::EventQueue;
use crate::flash::{Flash, FlashEvent};
use crate::ftl::{Ftl, Preconditioner};
use crate::scenario::Scenario;
use crate::slab::Slab;
use crate::stats::{Latency, LogBatch, Totals};
use crate::txn::{Kind, Parts};
use buffer::Buffer;
use feed::Feed;
use flush::Intervals;
use host::{HostRequest, Link};

/// What can happen in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Something in the flash back end.
    Flash(FlashEvent),
    /// The data of a write has crossed the host link.
    LinkIn { request: u32 },
    /// The last data of a read has crossed the host link.
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
const PRECONDITION_STEP: u64 = 1 << 18;

/// A simulated drive and the workload that it is given.
pub struct Ssd {
    scenario: Scenario,
    feed: Feed,
    /// The request that arrives next; requests of a closed loop are pulled instead.
    next_arrival: Option<Request>,
    now: Time,
    events: EventQueue<Event>,
    flash: Flash,
    ftl: Ftl,
    buffer: Buffer,
    link_in: Link,
    link_out: Link,
    /// Where the time of the reads went whose last data is crossing the link.
    crossing: VecDeque<Parts>,
    requests: Slab<HostRequest>,
    arrived: u64,
    completed: u64,
    /// Requests of a closed loop that may arrive now.
    to_pull: u32,
    intervals: Intervals,
    idle_since: Time,
    idle_ns: u64,
    read: Latency,
    write: Latency,
    trim: Latency,
    flush: Latency,
    totals: Totals,
    log: Option<LogBatch>,
    preconditioner: Preconditioner,
    started: bool,
}

impl Ssd {
    /// The drive of a scenario, with its workload opened; the first steps precondition it.
    ///
    /// Errors if the workload cannot be opened or the drive does not fit into memory.
    pub fn new(scenario: Scenario, log_requests: bool) -> Result<Ssd, UserError> {
        crate::memory::check(&scenario)?;
        let config = scenario.workload.as_ref().ok_or_else(|| {
            UserError::new("workload: missing; a run needs workload.trace or workload.generator")
        })?;
        let capacity_bytes =
            u64::from(scenario.logical_pages()) * u64::from(scenario.geometry.page_bytes);
        let workload = Workload::open(config, capacity_bytes, scenario.seed)?;
        let flash = Flash::new(&scenario);
        let ftl = Ftl::new(&scenario)?;
        let timing = &scenario.timing;
        let iteration = timing.program_pulse + timing.verify;
        let program = timing.bus + iteration * u64::from(timing.program_iterations);
        // A busy die has about two events for each read time.
        let spacing = Dur::from_ns(timing.read.ns() / (2 * u64::from(scenario.geometry.dies())));
        let pages = scenario.buffer.bytes / u64::from(scenario.geometry.page_bytes);
        Ok(Ssd {
            feed: Feed::new(workload, scenario.geometry.page_bytes),
            next_arrival: None,
            now: Time::ZERO,
            events: EventQueue::new(spacing, program),
            flash,
            ftl,
            buffer: Buffer::new(pages, scenario.buffer.acknowledge),
            link_in: Link::new(scenario.host.link_bytes_per_s),
            link_out: Link::new(scenario.host.link_bytes_per_s),
            crossing: VecDeque::with_capacity(1024),
            requests: Slab::with_capacity(4096),
            arrived: 0,
            completed: 0,
            to_pull: 0,
            intervals: Intervals::new(),
            idle_since: Time::ZERO,
            idle_ns: 0,
            read: Latency::default(),
            write: Latency::default(),
            trim: Latency::default(),
            flush: Latency::default(),
            totals: Totals::default(),
            log: log_requests.then(LogBatch::default),
            preconditioner: Preconditioner::new(scenario.ftl.precondition, scenario.seed),
            started: false,
            scenario,
        })
    }

    /// Simulates until `requests` more are complete; false when the workload is done.
    ///
    /// Before the first request the steps precondition the drive, a piece each.
    /// Errors at a row of the trace that cannot be read, if the drive cannot be preconditioned, or
    /// if too many of its blocks have failed.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        if !self.started {
            if !self.preconditioner.is_done() {
                self.preconditioner.advance(&mut self.ftl, PRECONDITION_STEP)?;
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
        Ok(goes_on)
    }

    fn start(&mut self) -> Result<(), UserError> {
        self.started = true;
        self.ftl.forget_wear();
        let flash = &mut self.flash;
        self.ftl.for_each_block(|die, plane, block, pages| {
            flash.precondition(die, plane, block, pages);
        });
        // A preconditioned drive may have garbage to collect before the first request comes.
        for die in 0..self.scenario.geometry.dies() {
            self.flash.wake(die);
        }
        match self.feed.queue_depth() {
            Some(depth) => {
                self.to_pull = depth;
                self.pull()?;
                self.decide();
            }
            None => self.next_arrival = self.feed.next(&self.ftl)?,
        }
        Ok(())
    }

    /// Lets one instant pass: what frees a resource, then arrivals, then decisions.
    fn instant(&mut self) -> Result<bool, UserError> {
        let event = self.events.next_time();
        let arrival = self.next_arrival.map(|request| request.arrival);
        let Some(now) = [event, arrival].into_iter().flatten().min() else {
            self.ftl.check_blocks()?;
            assert!(self.requests.is_empty(), "{}", self.stuck());
            return Ok(false);
        };
        if arrival.is_none() && self.requests.is_empty() {
            // What is left is background work, which no request waits for.
            return Ok(false);
        }
        debug_assert!(now >= self.now, "time runs back");
        self.now = now;
        while let Some(event) = self.events.pop_at(now) {
            self.handle(event);
        }
        self.pull()?;
        while self.next_arrival.is_some_and(|request| request.arrival == now) {
            let request = self.next_arrival.take().expect("just seen");
            self.next_arrival = self.feed.next(&self.ftl)?;
            self.arrive(request);
        }
        self.decide();
        Ok(true)
    }

    #[inline]
    fn decide(&mut self) {
        self.flash.decide(self.now, &mut self.ftl, &mut self.events);
        if let Some((id, refusal)) = self.flash.refused {
            let txn = &self.flash.txns[id];
            panic!(
                "at {} die {} refused {:?} of {:?}: {refusal} (seed {})",
                self.now, txn.die, txn.kind, txn.at, self.scenario.seed
            );
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Flash(event) => {
                self.flash.handle(event, self.now);
                while let Some(id) = self.flash.done.pop() {
                    self.transaction_done(id);
                }
            }
            Event::LinkIn { request } => self.write_received(request),
            Event::Done { request } => self.read_crossed(request),
        }
    }

    /// A transaction has left its die.
    fn transaction_done(&mut self, id: u32) {
        match self.flash.txns[id].kind {
            Kind::HostRead => {
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
            Kind::GcRead | Kind::GcProgram | Kind::Erase => {
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
        (self.feed.progress(), self.completed)
    }

    /// The scenario that is being run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
