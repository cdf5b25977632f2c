//! Statistics of a run: latencies, totals, log and series, and the start of the measured part.

use reprieve_base::{Archive, Time, parts};
use reprieve_config::{Scenario, Warmup};
use reprieve_flash::Flash;
use reprieve_observe::causes::{Cause, CauseTimes, attributed_ns};
use reprieve_observe::stats::{Latencies, LogBatch, LogRow, Series, Transient};
use reprieve_policy::txn::LatencyComponent;

use super::flows::Flows;
use super::handover::Details;
use super::interface::HostRequest;
use super::measure::Measuring;
use super::options::Options;
use super::series::sample;

/// The statistics of a drive.
pub(super) struct Statistics {
    /// Requests that have arrived, and completed ones.
    pub(super) arrived: u64,
    pub(super) completed: u64,
    /// Start of the current idle time, and the total of earlier ones.
    pub(super) idle_since: Time,
    pub(super) idle_ns: u64,
    pub(super) latencies: Latencies,
    pub(super) log: Option<LogBatch>,
    pub(super) series: Option<Box<Series>>,
    /// Start of the measured part.
    pub(super) measuring: Measuring,
    /// The run looks for the end of its transient.
    pub(super) transient: Option<Box<Transient>>,
    page_bytes: u64,
    /// Reported with a fault, so that it can be repeated.
    pub(super) seed: u64,
}

/// A request at its completion.
struct CompletedRequest<'a> {
    id: u32,
    request: &'a HostRequest,
    now: Time,
}

impl Statistics {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.arrived, self.completed, self.idle_since, self.idle_ns);
        parts!(archive; self.latencies, self.measuring, self.transient);
    }

    pub(super) fn new(scenario: &Scenario, options: &Options) -> Statistics {
        Statistics {
            arrived: 0,
            completed: 0,
            idle_since: Time::ZERO,
            idle_ns: 0,
            latencies: Latencies::in_batches(),
            log: options.log_requests.then(LogBatch::default),
            series: options.series.then(Box::default),
            measuring: Measuring::new(&scenario.measure),
            transient: (scenario.measure.warmup == Warmup::Auto).then(Box::default),
            page_bytes: u64::from(scenario.geometry.page_bytes),
            seed: scenario.seed,
        }
    }

    /// Discards the latencies so far; the measured part starts at `at`.
    pub(super) fn measure_anew(&mut self, at: Time) {
        self.latencies = Latencies::in_batches();
        self.transient = None;
        self.measuring.anew(at);
    }

    /// Starts the measured part at `at`, after `transactions` transactions; no request may be open.
    pub(super) fn measure_from(
        &mut self,
        at: Time,
        transactions: u64,
        is_idle: bool,
        flash: &mut Flash,
    ) {
        self.idle_ns = 0;
        if is_idle {
            self.idle_since = at;
        }
        self.measuring.begin(at, transactions, flash);
        if let Some(series) = &mut self.series {
            **series = Series::starting(at, sample(flash, at));
        }
        if let Some(timeline) = flash.observers_mut().timeline_mut() {
            timeline.measured_from(at);
        }
    }

    /// Starts an idle time.
    #[inline]
    pub(super) fn idle_begins(&mut self, now: Time) {
        self.idle_since = now;
    }

    /// Ends an idle time.
    #[inline]
    pub(super) fn idle_ends(&mut self, now: Time) {
        self.idle_ns += (now - self.idle_since).ns();
    }

    /// Adds the instant `now` with `open` open requests, before its events.
    #[inline(never)]
    pub(super) fn series_instant(&mut self, now: Time, open: usize, flash: &Flash) {
        let series = self.series.as_mut().expect("the caller has seen it");
        series.advance(now, open as u64, |then| sample(flash, then));
    }

    /// Records a completed request.
    #[inline(always)]
    pub(super) fn request_done(
        &mut self,
        id: u32,
        request: &HostRequest,
        now: Time,
        flash: &mut Flash,
        flows: &mut Flows,
    ) {
        let HostRequest { op, fua, bytes, arrival, ref parts, .. } = *request;
        let latency_ns = (now - arrival).ns();
        assert_eq!(
            parts.sum_ns(),
            latency_ns,
            "the parts of request {} do not add up to its latency at {now}: {parts:?}",
            request.id,
        );
        let done = CompletedRequest { id, request, now };
        if request.id < self.measuring.first {
            self.excluded(&done, flash, flows);
        } else {
            if self.latencies.record(request.id, op, fua, bytes, latency_ns, parts) {
                self.latencies.mark(request.id, now, flash.counts().programs());
            }
            if self.latencies.ends_piece(op) {
                self.latencies.end_piece(self.programmed_bytes(flash));
            }
            self.note(&done, flash, flows);
        }
        if flows.handover.is_some() {
            self.hand_back(&done, flash, flows);
        }
        self.completed += 1;
    }

    /// Records more of a request than its latency, where needed.
    #[inline(always)]
    fn note(&mut self, done: &CompletedRequest, flash: &mut Flash, flows: &mut Flows) {
        if flows.have_stats {
            flows.count(done.request, done.now);
        }
        if let Some(series) = &mut self.series {
            record(series, done.request, done.now);
        }
        if self.transient.is_some() {
            self.observe(done.request, done.now, flash);
        }
        if self.log.is_some() {
            self.log_request(done, flash, flows);
        }
    }

    #[cold]
    fn excluded(&mut self, done: &CompletedRequest, flash: &mut Flash, flows: &Flows) {
        if flows.handover.is_none() {
            self.causes(done, flash);
        }
        self.measuring.excluded_done(done.request.op, done.request.bytes);
    }

    /// Whether the run looks for the end of its transient.
    #[cold]
    fn observe(&mut self, request: &HostRequest, now: Time, flash: &Flash) {
        let programmed_bytes = self.programmed_bytes(flash);
        let HostRequest { op, bytes, arrival, .. } = *request;
        let transient = self.transient.as_mut().expect("the caller has seen it");
        transient.completed(op, (now - arrival).ns(), bytes, self.arrived, programmed_bytes);
    }

    /// Returns the bytes that the flash has programmed, in the measured part.
    fn programmed_bytes(&self, flash: &Flash) -> u64 {
        flash.counts().programs() * self.page_bytes
    }

    /// Not inlined, for runs without a log.
    #[inline(never)]
    fn log_request(&mut self, done: &CompletedRequest, flash: &mut Flash, flows: &Flows) {
        let (causes, die) = self.causes(done, flash);
        let log = self.log.as_mut().expect("a log is kept");
        let CompletedRequest { request, now, .. } = *done;
        log.push(&LogRow {
            id: request.id,
            op: request.op,
            lba: request.lba,
            bytes: request.bytes,
            arrival: request.arrival,
            completion: now,
            parts: &request.parts,
            causes,
            die,
            flow: flows.number(request.flow),
            uncorrectable_pages: request.uncorrectable_pages,
        });
    }

    /// Not inlined, for runs without handed-over requests.
    #[inline(never)]
    fn hand_back(&mut self, done: &CompletedRequest, flash: &mut Flash, flows: &mut Flows) {
        let HostRequest { id: number, lba, uncorrectable_pages, parts, retries, .. } =
            *done.request;
        let handover = flows.handover.as_mut().expect("requests are handed over");
        handover.complete(number, lba, done.now, uncorrectable_pages);
        if let Some(details) = &mut handover.details {
            let (causes, die) = self.causes(done, flash);
            details.push_back(Details { parts, causes, die, retries });
        }
    }

    /// Returns the causes of the waits of a completed request, if they are kept, and the die of its
    /// last page.
    ///
    /// Panics if not every nanosecond has its cause.
    fn causes(&self, done: &CompletedRequest, flash: &mut Flash) -> (CauseTimes, Option<u32>) {
        let Some((attribution, _)) = flash.attribution() else {
            return (CauseTimes::default(), None);
        };
        let CompletedRequest { id, request, now } = *done;
        let (mut causes, die) = attribution.close(id);
        let HostRequest { id: number, ref parts, .. } = *request;
        assert_eq!(
            causes.sum_ns(),
            attributed_ns(parts),
            "request {number} at {now} has other causes than waits: {causes:?}, {parts:?} \
             (seed {})",
            self.seed,
        );
        causes.add(Cause::Channel, parts.0[LatencyComponent::BusWait as usize]);
        causes.add(Cause::Map, parts.0[LatencyComponent::Map as usize]);
        (causes, die)
    }
}

/// Not inlined, for runs without a series.
#[inline(never)]
fn record(series: &mut Series, request: &HostRequest, now: Time) {
    let latency_ns = (now - request.arrival).ns();
    series.record(request.op, request.bytes, latency_ns, &request.parts);
}
