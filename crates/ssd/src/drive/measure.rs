//! The measured part of a run: earlier counts are discarded, or subtracted.

use reprieve_base::{Dur, Op, Time, UserError};
use reprieve_config::Measure;
use reprieve_flash::Flash;
use reprieve_observe::power::PowerReport;
use reprieve_observe::stats::{AGES, ErrorCounts, Found, Measured, WearFacts};

use super::Ssd;

/// No request.
const NONE_YET: u64 = u64::MAX;

/// Part of the run that is measured.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Measuring {
    /// The measured part starts with the first request from this number on that arrives at least
    /// this long after the start.
    from_request: u64,
    from: Dur,
    /// The first measured request; `NONE_YET` before it has arrived.
    pub(super) first: u64,
    /// The start of the measured part, with the counts before it; `None` before the start.
    begun: Option<Box<Before>>,
    /// Transactions of earlier measured parts.
    transactions: u64,
    /// Bytes that excluded requests read and wrote which were complete in the measured part.
    earlier_bytes: [u64; 2],
    /// Transient that an earlier run of the scenario has found.
    found: Option<Found>,
}

/// Counters at the start of the measured part.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Before {
    at: Time,
    transactions: u64,
    die_busy_ns: Vec<u64>,
    channel_busy_ns: Vec<u64>,
    ages: Option<[[u64; AGES]; 2]>,
    cells: Option<(ErrorCounts, WearFacts)>,
    power: Option<Box<PowerReport>>,
}

fn subtract(now: &mut [u64], before: &[u64]) {
    for (now, before) in now.iter_mut().zip(before) {
        *now -= before;
    }
}

impl Measuring {
    /// Creates the measurement of a run whose start is in the scenario, or to be found by the run.
    pub(super) fn new(measure: &Measure) -> Measuring {
        let Measure { from_request, from, .. } = *measure;
        let is_all = from_request == 0 && from == Dur::ZERO;
        Measuring {
            from_request,
            from,
            first: if is_all { 0 } else { NONE_YET },
            begun: is_all.then(Box::default),
            transactions: 0,
            earlier_bytes: [0; 2],
            found: None,
        }
    }

    /// Creates the measurement of a run that excludes the transient found by an earlier run.
    pub(super) fn excluding(found: Found, measure: &Measure) -> Measuring {
        let measure = Measure { from_request: found.from_request, ..*measure };
        Measuring { found: Some(found), ..Measuring::new(&measure) }
    }

    /// Schedules the start of the measured part at `at`, even after an earlier one.
    pub(super) fn anew(&mut self, at: Time) {
        let transactions = self.earlier_transactions();
        let measure = Measure { from: at - Time::ZERO, ..Measure::default() };
        *self =
            Measuring { first: NONE_YET, begun: None, transactions, ..Measuring::new(&measure) };
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Returns the start of the measured part if it lies before an instant of which nothing has
    /// run, after these arrivals.
    pub(super) fn begins_before(&self, now: Time, arrived: u64) -> Option<Time> {
        let from = Time::ZERO + self.from;
        let had_arrived = self.from_request == 0 || arrived > self.from_request;
        (had_arrived && now >= from).then_some(from)
    }

    /// Whether it starts with the request of this number, which is about to arrive.
    pub(super) fn begins_with(&self, number: u64, now: Time) -> bool {
        !self.has_begun() && number == self.from_request && now >= Time::ZERO + self.from
    }

    /// Starts the measured part at `at`, after these transactions, and stores the counts before it.
    pub(super) fn begin(&mut self, at: Time, transactions: u64, flash: &Flash) {
        let (die_busy_ns, channel_busy_ns) = flash.busy_ns_each(at);
        self.begun = Some(Box::new(Before {
            at,
            transactions,
            die_busy_ns,
            channel_busy_ns,
            ages: flash.observers().ages().copied(),
            cells: flash.media().map(|media| {
                let (errors, wear) = media.counted();
                (errors.clone(), wear)
            }),
            power: flash.observers().power_report(at).map(Box::new),
        }));
    }

    /// Counts a completed excluded request.
    #[cold]
    pub(super) fn excluded_done(&mut self, op: Op, bytes: u32) {
        if self.has_begun() && (op == Op::Read || op.is_write()) {
            self.earlier_bytes[usize::from(op.is_write())] += u64::from(bytes);
        }
    }

    /// Checks after a run of these requests that its measured part has started.
    pub(super) fn check(&self, arrived: u64, now: Time) -> Result<(), UserError> {
        if self.first != NONE_YET {
            return Ok(());
        }
        let (key, value) = match self.from_request < arrived {
            true => ("from_s", format!("{}", self.from.ns() as f64 / 1e9)),
            false => ("from_request", self.from_request.to_string()),
        };
        Err(UserError::new(format!(
            "measure.{key} = {value}: excludes the whole run, which has {arrived} requests and \
             ends at {now}; must be lower"
        )))
    }

    fn before(&self) -> Option<&Before> {
        self.begun.as_deref()
    }

    /// Returns when the measured part started; `now` if it has not.
    pub(super) fn since(&self, now: Time) -> Time {
        self.before().map_or(now, |before| before.at)
    }

    /// Returns the busy times of dies and channels in the measured part.
    pub(super) fn busy_ns(&self, flash: &Flash, now: Time) -> (Vec<u64>, Vec<u64>) {
        let (mut dies, mut channels) = flash.busy_ns_each(now);
        if let Some(before) = self.before() {
            subtract(&mut dies, &before.die_busy_ns);
            subtract(&mut channels, &before.channel_busy_ns);
        }
        (dies, channels)
    }

    /// Returns suspensions by progress, in the measured part.
    pub(super) fn ages(&self, flash: &Flash) -> Option<[[u64; AGES]; 2]> {
        let mut ages = *flash.observers().ages()?;
        if let Some(before) = self.before().and_then(|before| before.ages.as_ref()) {
            ages.iter_mut().zip(before).for_each(|(now, before)| subtract(now, before));
        }
        Some(ages)
    }

    /// Returns errors and wear of the measured part; block cycles are totals.
    pub(super) fn cells(&self, flash: &Flash) -> Option<(ErrorCounts, WearFacts)> {
        let (errors, wear) = flash.media()?.counted();
        Some(match self.before().and_then(|before| before.cells.as_ref()) {
            Some(before) => (errors.since(&before.0), wear.since(&before.1)),
            None => (errors.clone(), wear),
        })
    }

    /// Returns power and energy of the measured part, if there is a meter.
    pub(super) fn power(&self, flash: &Flash, now: Time) -> Option<PowerReport> {
        let report = flash.observers().power_report(now)?;
        Some(match self.before().and_then(|before| before.power.as_deref()) {
            Some(before) => report.since(before),
            None => report,
        })
    }

    /// Returns the bytes that excluded requests read and wrote in the measured part.
    pub(super) fn excluded_bytes(&self) -> u64 {
        self.earlier_bytes.iter().sum()
    }

    /// Returns page reads and programs before the measured part.
    pub(super) fn earlier_transactions(&self) -> u64 {
        self.before().map_or(self.transactions, |before| before.transactions)
    }

    /// Returns the measured part for the summary of a run that `looks_for_transient` or is served.
    pub(super) fn told(
        &self,
        (arrived, now): (u64, Time),
        looks_for_transient: bool,
        is_served: bool,
    ) -> Measured {
        let found = self.found.as_ref();
        let reason = match (found, self.from_request, self.from.ns()) {
            (Some(found), ..) => found.reason.clone(),
            _ if looks_for_transient => {
                "warmup = \"auto\": the run looks for its transient".to_string()
            }
            (None, 0, 0) => "nothing is excluded".to_string(),
            (None, from_request, 0) => format!("from_request = {from_request}"),
            (None, 0, from_ns) => format!("from_s = {}", from_ns as f64 / 1e9),
            (None, from_request, from_ns) => {
                format!("from_request = {from_request} and from_s = {}", from_ns as f64 / 1e9)
            }
        };
        let advice = match (found, self.first) {
            (Some(_), _) => None,
            _ if is_served => None,
            (None, 0) => Some("measure.warmup = \"auto\", or measure.from_request,"),
            (None, _) => Some("a higher measure.from_request or measure.from_s"),
        };
        Measured {
            from_ns: self.since(now).ns(),
            requests_excluded: self.first.min(arrived),
            reason,
            advice,
            warning: found.filter(|found| found.is_too_short).map(|found| found.reason.clone()),
            earlier_bytes: self.earlier_bytes,
            earlier_transactions: self.earlier_transactions(),
        }
    }
}

impl Ssd {
    /// Returns the transient that the finished run has found; `None` if it was not looked for.
    ///
    /// With `warmup = "auto"` a run looks for it and excludes nothing. The result is a second run
    /// of the same scenario, which gets it through [`Ssd::exclude`].
    pub fn found(&self) -> Option<Found> {
        Some(self.run.stats.transient.as_ref()?.found(self.run.stats.arrived))
    }

    /// Excludes the transient found by an earlier run of the same scenario. Panics after the start.
    pub fn exclude(&mut self, found: Found) {
        assert!(!self.started, "the run has begun");
        self.run.stats.transient = None;
        self.run.stats.measuring = Measuring::excluding(found, &self.scenario.measure);
    }
}
