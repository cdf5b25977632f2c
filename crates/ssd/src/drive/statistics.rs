//! What a run is told by: latencies, totals, the log, the series, and from when on they count.

use reprieve_base::Time;
use reprieve_config::Scenario;
use reprieve_observe::stats::{Latencies, LogBatch, Series, Totals, Transient};

use super::measure::Measuring;
use super::options::Options;

/// The statistics of a drive.
pub(super) struct Statistics {
    /// Requests that have arrived, and that are complete.
    pub(super) arrived: u64,
    pub(super) completed: u64,
    /// Since when no request is open, if none is, and for how long that was so before.
    pub(super) idle_since: Time,
    pub(super) idle_ns: u64,
    pub(super) latencies: Latencies,
    pub(super) totals: Totals,
    pub(super) log: Option<LogBatch>,
    pub(super) series: Option<Box<Series>>,
    /// From when on the run is measured.
    pub(super) measuring: Measuring,
    /// The run looks for the end of its transient.
    pub(super) transient: Option<Box<Transient>>,
}

impl Statistics {
    pub(super) fn new(scenario: &Scenario, options: &Options) -> Statistics {
        Statistics {
            arrived: 0,
            completed: 0,
            idle_since: Time::ZERO,
            idle_ns: 0,
            latencies: Latencies::in_batches(),
            totals: Totals::none(scenario.buffer.hold.is_some(), false),
            log: options.log_requests.then(LogBatch::default),
            series: options.series.then(Box::default),
            measuring: Measuring::all(),
            transient: None,
        }
    }

    /// No request is open any more.
    #[inline]
    pub(super) fn idle_begins(&mut self, now: Time) {
        self.idle_since = now;
    }

    /// A request arrives where none is open.
    #[inline]
    pub(super) fn idle_ends(&mut self, now: Time) {
        self.idle_ns += (now - self.idle_since).ns();
    }
}
