//! From when on a run is measured: what is counted before that is forgotten, or subtracted.

use reprieve_base::{Op, Time, UserError};
use reprieve_config::Warmup;
use reprieve_observe::blame::Blamed;
use reprieve_observe::power::PowerReport;
use reprieve_observe::stats::{
    AGES, ErrorCounts, Found, Measured, ReadCacheCounts, Series, Totals, WearFacts,
};

use super::Ssd;
use super::interface::HostRequest;
use super::requests::blamed;

/// The number of no request.
const NONE_YET: u64 = u64::MAX;

/// What of the run is measured.
#[derive(Clone, Debug)]
pub(super) struct Measuring {
    /// The first request that counts; `NONE_YET` before it has arrived.
    pub(super) first: u64,
    /// When the measured part begins, and what was counted before; `None`: it has not begun.
    begun: Option<Box<Before>>,
    /// Excluded requests that are complete.
    excluded: u64,
    /// Bytes that those read and wrote which were complete in the measured part.
    earlier_bytes: [u64; 2],
    /// What an earlier run of the same scenario has found.
    found: Option<Found>,
}

/// What had been counted when the measured part began.
#[derive(Clone, Debug)]
struct Before {
    at: Time,
    transactions: u64,
    die_busy_ns: Vec<u64>,
    channel_busy_ns: Vec<u64>,
    ages: Option<[[u64; AGES]; 2]>,
    cells: Option<(ErrorCounts, WearFacts)>,
    power: Option<Box<PowerReport>>,
}

impl Measuring {
    /// Of a run that nothing is excluded from.
    pub(super) fn all() -> Measuring {
        let before = Before {
            at: Time::ZERO,
            transactions: 0,
            die_busy_ns: Vec::new(),
            channel_busy_ns: Vec::new(),
            ages: None,
            cells: None,
            power: None,
        };
        let begun = Some(Box::new(before));
        Measuring { first: 0, begun, excluded: 0, earlier_bytes: [0; 2], found: None }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }
}

fn subtract(now: &mut [u64], before: &[u64]) {
    for (now, before) in now.iter_mut().zip(before) {
        *now -= before;
    }
}

impl Ssd {
    /// The scenario says from when on the run is measured, or that the run is to find out.
    pub(super) fn begin_measuring(&mut self) {
        let measure = self.scenario.measure;
        if measure.from_request > 0 || measure.from.ns() > 0 {
            self.stats.measuring.first = NONE_YET;
            self.stats.measuring.begun = None;
        }
        self.stats.transient = (measure.warmup == Warmup::Auto).then(Box::default);
    }

    /// What the run, which is done, has found of its transient; `None`: it has not looked for it.
    ///
    /// With `warmup = "auto"` a run looks for it and excludes nothing. The result is the second run
    /// of the same scenario, which [`Ssd::exclude`] tells what the first has found.
    pub fn found(&self) -> Option<Found> {
        Some(self.stats.transient.as_ref()?.found(self.stats.arrived))
    }

    /// Excludes what an earlier run of the same scenario has found. Panics if the run has begun.
    pub fn exclude(&mut self, found: Found) {
        assert!(!self.started, "the run has begun");
        self.scenario.measure.from_request = found.from_request;
        self.begin_measuring();
        self.stats.transient = None;
        self.stats.measuring.found = Some(found);
    }

    /// Nothing of the instant `now` has happened: the measured part may have begun before it.
    #[cold]
    pub(super) fn look_at_clock(&mut self) {
        let measure = &self.scenario.measure;
        let from = Time::ZERO + measure.from;
        let had_arrived = measure.from_request == 0 || self.stats.arrived > measure.from_request;
        if had_arrived && self.now >= from {
            self.measure_from(from);
        }
    }

    /// A request is about to arrive, which may be the first that counts.
    #[cold]
    pub(super) fn look_at_arrival(&mut self) {
        let measure = &self.scenario.measure;
        if !self.stats.measuring.has_begun()
            && self.stats.arrived == measure.from_request
            && self.now >= Time::ZERO + measure.from
        {
            self.measure_from(self.now);
        }
        if self.stats.measuring.has_begun() {
            self.stats.measuring.first = self.stats.arrived;
        }
    }

    /// The measured part begins at `at`: everything before has happened, and of that instant what
    /// frees resources at most.
    fn measure_from(&mut self, at: Time) {
        let transactions = self.page_transactions();
        self.flash.forget_counts(at);
        self.ftl.forget_map_counts();
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.counts = ReadCacheCounts::default();
        }
        let Totals { dropped_writes, redistributed_pages, .. } = self.stats.totals;
        self.stats.totals = Totals::none(dropped_writes.is_some(), redistributed_pages.is_some());
        self.stats.idle_ns = 0;
        if self.host.requests.is_empty() {
            self.stats.idle_since = at;
        }
        let (die_busy_ns, channel_busy_ns) = self.flash.busy_ns_each(at);
        self.stats.measuring.begun = Some(Box::new(Before {
            at,
            transactions,
            die_busy_ns,
            channel_busy_ns,
            ages: self.flash.ages().copied(),
            cells: self.flash.cells().map(|(errors, wear)| (errors.clone(), wear)),
            power: self.flash.power_report(at).map(Box::new),
        }));
        if self.stats.series.is_some() {
            let sample = self.sample(at);
            self.stats.series = Some(Box::new(Series::starting(at, sample)));
        }
        if let Some(timeline) = self.flash.timeline() {
            timeline.measured_from(at);
        }
    }

    /// An excluded request is complete.
    #[cold]
    pub(super) fn excluded_done(&mut self, id: u32) {
        let HostRequest { op, bytes, ref parts, .. } = self.host.requests[id];
        if blamed(&mut self.flash, (id, parts), &mut Blamed::default()).is_err() {
            self.blamed_wrongly(id);
        }
        let measuring = &mut self.stats.measuring;
        if measuring.has_begun() && matches!(op, Op::Read | Op::Write) {
            measuring.earlier_bytes[op as usize] += u64::from(bytes);
        }
        measuring.excluded += 1;
    }

    /// A request is complete, in a run that looks for the end of its transient.
    #[cold]
    pub(super) fn observe(&mut self, op: Op, latency_ns: u64, bytes: u32) {
        let programmed_bytes = self.programmed_bytes();
        let transient = self.stats.transient.as_mut().expect("the caller has seen it");
        transient.completed(op, latency_ns, bytes, self.stats.arrived, programmed_bytes);
    }

    /// Bytes that the flash has programmed, in the measured part.
    pub(super) fn programmed_bytes(&self) -> u64 {
        self.flash.counts.programs() * u64::from(self.scenario.geometry.page_bytes)
    }

    /// The run is done: something of it was to be measured.
    pub(super) fn check_measured(&self) -> Result<(), UserError> {
        if self.stats.measuring.first != NONE_YET {
            return Ok(());
        }
        let measure = &self.scenario.measure;
        let (key, value) = match measure.from_request < self.stats.arrived {
            true => ("from_s", format!("{}", measure.from.ns() as f64 / 1e9)),
            false => ("from_request", measure.from_request.to_string()),
        };
        Err(UserError::new(format!(
            "measure.{key} = {value}: excludes the whole run, which has {} requests and ends at \
             {}; must be lower",
            self.stats.arrived, self.now
        )))
    }

    fn before(&self) -> Option<&Before> {
        self.stats.measuring.begun.as_deref()
    }

    /// When the measured part began; now if that is still to come.
    pub(super) fn measured_since(&self) -> Time {
        self.before().map_or(self.now, |before| before.at)
    }

    /// For how long dies and channels were in use in the measured part.
    pub(super) fn measured_busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        let (mut dies, mut channels) = self.flash.busy_ns_each(self.now);
        if let Some(before) = self.before() {
            subtract(&mut dies, &before.die_busy_ns);
            subtract(&mut channels, &before.channel_busy_ns);
        }
        (dies, channels)
    }

    /// Suspensions by what was done, in the measured part.
    pub(super) fn measured_ages(&self) -> Option<[[u64; AGES]; 2]> {
        let mut ages = *self.flash.ages()?;
        if let Some(before) = self.before().and_then(|before| before.ages.as_ref()) {
            ages.iter_mut().zip(before).for_each(|(now, before)| subtract(now, before));
        }
        Some(ages)
    }

    /// Errors and wear of the measured part; the cycles of the blocks are those that they have.
    pub(super) fn measured_cells(&self) -> Option<(ErrorCounts, WearFacts)> {
        let (errors, wear) = self.flash.cells()?;
        Some(match self.before().and_then(|before| before.cells.as_ref()) {
            Some(before) => (errors.since(&before.0), wear.since(&before.1)),
            None => (errors.clone(), wear),
        })
    }

    /// Power and energy of the measured part, if they are accounted for.
    pub(super) fn measured_power(&self) -> Option<PowerReport> {
        let report = self.flash.power_report(self.now)?;
        Some(match self.before().and_then(|before| before.power.as_deref()) {
            Some(before) => report.since(before),
            None => report,
        })
    }

    /// Bytes that were read and written in the measured part, by excluded requests too.
    pub(super) fn measured_bytes(&self) -> u64 {
        self.stats.latencies.bytes() + self.stats.measuring.earlier_bytes.iter().sum::<u64>()
    }

    /// Page reads and programs before the measured part.
    pub(super) fn earlier_transactions(&self) -> u64 {
        self.before().map_or(0, |before| before.transactions)
    }

    /// What of the run is measured, for its summary.
    pub(super) fn measured(&self) -> Measured {
        let measuring = &self.stats.measuring;
        let found = measuring.found.as_ref();
        let measure = &self.scenario.measure;
        let reason = match (found, measure.from_request, measure.from.ns()) {
            (Some(found), ..) => found.reason.clone(),
            _ if self.stats.transient.is_some() => {
                "warmup = \"auto\": the run looks for its transient".to_string()
            }
            (None, 0, 0) => "nothing is excluded".to_string(),
            (None, from_request, 0) => format!("from_request = {from_request}"),
            (None, 0, from_ns) => format!("from_s = {}", from_ns as f64 / 1e9),
            (None, from_request, from_ns) => {
                format!("from_request = {from_request} and from_s = {}", from_ns as f64 / 1e9)
            }
        };
        let advice = match (found, measuring.first) {
            (Some(_), _) => None,
            _ if self.flows.is_served => None,
            (None, 0) => Some("measure.warmup = \"auto\", or measure.from_request,"),
            (None, _) => Some("a higher measure.from_request or measure.from_s"),
        };
        Measured {
            from_ns: self.measured_since().ns(),
            requests_excluded: measuring.first.min(self.stats.arrived),
            reason,
            advice,
            warning: found.filter(|found| found.is_too_short).map(|found| found.reason.clone()),
            earlier_bytes: measuring.earlier_bytes,
            earlier_transactions: self.earlier_transactions(),
        }
    }
}
