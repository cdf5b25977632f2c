//! A trace as a source: the selected rows in order, fitted to the drive and its clock.

use std::collections::BTreeSet;
use std::fmt;

use reprieve_base::{Dur, Op, Request, SECTOR_BYTES, Time, UserError};

use crate::config::{AddressPolicy, DeviceSelection, TraceConfig};
use crate::counts::Counts;
use crate::cyclic_source::CyclicTrace;
use crate::formats::{DropReason, RawRequest};
use crate::reading::Reading;
use crate::request_source::RequestSource;
use crate::source::{NumberedRow, Rows};
use crate::transform::{AddressFit, Bases, Duplicates, Extents, Ordered, scaled, widen};
use crate::wrong;

/// Requests at the start of a trace from which a cyclic trace is measured.
const CYCLIC_REQUESTS_MAX: usize = 1 << 20;

/// A trace as a stream of requests.
pub(crate) struct TraceSource {
    config: TraceConfig,
    pass: Pass,
    bases: Bases,
    fit: AddressFit,
    /// Zero of the trace's clock.
    trace_zero_ns: Option<u64>,
    /// Time of the first request of the run.
    run_zero_ns: Option<u64>,
    /// Number of completed passes, their total time in trace time, and their counts.
    passes: u64,
    passed_ns: u64,
    passed: Counts,
    /// Devices that were not replayed, for the error if there are no others.
    other_devices: BTreeSet<u32>,
    /// The first request, read when the trace was opened to check that there is one.
    first: Option<Request>,
    fetched: u64,
    wrapped: u64,
    widened: u64,
    at_end: bool,
}

/// One reading of the trace from its beginning.
struct Pass {
    rows: Ordered,
    duplicates: Option<Duplicates>,
    requests: u64,
    /// Times of its first and its last request.
    span_ns: Option<(u64, u64)>,
}

impl Pass {
    fn new(config: &TraceConfig, rows: Rows) -> Pass {
        Pass {
            rows: Ordered::new(rows, config.sort_window_requests),
            duplicates: config.drop_duplicates_within.map(Duplicates::new),
            requests: 0,
            span_ns: None,
        }
    }

    /// Counts a request at this time.
    fn count(&mut self, time_ns: u64) {
        self.requests += 1;
        let (first_ns, _) = *self.span_ns.get_or_insert((time_ns, time_ns));
        self.span_ns = Some((first_ns, time_ns));
    }

    /// From the first request to that of the next pass: the span and one mean gap more, rounded to
    /// the nanosecond; 0 of a single request.
    fn period_ns(&self) -> u64 {
        let (first_ns, last_ns) = self.span_ns.unwrap_or_default();
        let (span_ns, gaps) = (last_ns - first_ns, self.requests.saturating_sub(1).max(1));
        span_ns.saturating_add((span_ns + gaps / 2) / gaps)
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl TraceSource {
    /// Opens the trace; its clock begins at `zero_ns`, or with its first row.
    pub(crate) fn open(
        config: &TraceConfig,
        capacity_bytes: u64,
        zero_ns: Option<u64>,
    ) -> Result<TraceSource, UserError> {
        let rows = Rows::open(&config.path, &config.reading)?;
        let (bases, extent_bytes) = bases(config, &rows)?;
        // The next pass is read as the first was found to be.
        let mut config = config.clone();
        rows.format().entry.name.clone_into(&mut config.reading.format);
        let mut source = TraceSource {
            pass: Pass::new(&config, rows),
            bases,
            fit: AddressFit::new(config.address, capacity_bytes, extent_bytes),
            config,
            trace_zero_ns: zero_ns,
            run_zero_ns: None,
            passes: 0,
            passed_ns: 0,
            passed: Counts::default(),
            other_devices: BTreeSet::new(),
            first: None,
            fetched: 0,
            wrapped: 0,
            widened: 0,
            at_end: false,
        };
        source.first = source.fetch()?;
        if source.first.is_none() {
            return Err(source.nothing());
        }
        Ok(source)
    }

    fn fetch(&mut self) -> Result<Option<Request>, UserError> {
        if self.at_end || self.config.max_requests == Some(self.fetched) {
            return Ok(None);
        }
        // Until a row becomes a request, any outcome is the end.
        self.at_end = true;
        let request = loop {
            let Some((row, base_bytes)) = self.next_wanted()? else {
                if self.begin_pass()? {
                    continue;
                }
                return Ok(None);
            };
            if let Some(request) = self.request(row, base_bytes)? {
                self.pass.count(row.raw.time_ns);
                break request;
            }
            self.pass.rows.rows_mut().drop_row(DropReason::PastEnd);
        };
        self.fetched += 1;
        self.at_end = false;
        Ok(Some(request))
    }

    /// Begins the next pass, if there is one: after a pass without requests there is none.
    fn begin_pass(&mut self) -> Result<bool, UserError> {
        if self.pass.requests == 0 || self.passes + 1 == self.config.repeat {
            return Ok(false);
        }
        self.passed_ns = self.passed_ns.saturating_add(self.pass.period_ns());
        self.passed.add(&self.pass.rows.counts());
        self.passes += 1;
        let rows = Rows::open(&self.config.path, &self.config.reading)?;
        self.pass = Pass::new(&self.config, rows);
        Ok(true)
    }

    /// The next row within the part to be replayed, with the base address of its device.
    fn next_wanted(&mut self) -> Result<Option<(NumberedRow, u64)>, UserError> {
        while let Some(row) = self.pass.rows.next_row()? {
            let zero_ns = *self.trace_zero_ns.get_or_insert(row.raw.time_ns);
            let trace_time = Dur::from_ns(row.raw.time_ns - zero_ns);
            if trace_time < self.config.start {
                self.pass.rows.rows_mut().drop_row(DropReason::BeforeStart);
                continue;
            }
            if self.config.duration.is_some_and(|most| trace_time - self.config.start >= most) {
                return Ok(None);
            }
            let Some(base_bytes) = self.bases.of(row.raw.device) else {
                self.other_devices.insert(row.raw.device);
                self.pass.rows.rows_mut().drop_row(DropReason::OtherDevice);
                continue;
            };
            let repeats = |filter: &mut Duplicates| filter.is_duplicate(&row.raw);
            if self.pass.duplicates.as_mut().is_some_and(repeats) {
                self.pass.rows.rows_mut().drop_row(DropReason::Duplicate);
                continue;
            }
            return Ok(Some((row, base_bytes)));
        }
        Ok(None)
    }

    /// Converts a row to a request; `None` if the address policy drops it.
    fn request(&mut self, row: NumberedRow, base_bytes: u64) -> Result<Option<Request>, UserError> {
        let (raw, widened) = widen(row.raw);
        let sector = (base_bytes + raw.offset_bytes) / SECTOR_BYTES;
        let lba = match raw.op {
            // It has no address, so none past the end.
            Op::Flush => 0,
            _ => {
                let placed = self
                    .fit
                    .place(sector, u64::from(raw.bytes) / SECTOR_BYTES)
                    .map_err(|sentence| self.pass.rows.rows().at(row.place, sentence))?;
                let Some(lba) = placed else { return Ok(None) };
                self.wrapped += u64::from(lba != sector);
                lba
            }
        };
        self.widened += u64::from(widened);
        let arrival = self.arrival(&raw).ok_or_else(|| {
            let place = self.pass.rows.rows().name_of(row.place);
            let what = format!("takes {place} beyond 584 years; it must be smaller");
            match self.passes {
                0 => wrong("time_scale", self.config.time_scale, &what),
                _ => wrong("repeat", self.config.repeat, &what),
            }
        })?;
        Ok(Some(Request { arrival, op: raw.op, lba, bytes: raw.bytes, fua: raw.fua }))
    }

    /// Time since the first request, scaled; `None` if no `Time` can hold it.
    fn arrival(&mut self, raw: &RawRequest) -> Option<Time> {
        if self.config.queue_depth.is_some() {
            // The drive pulls the request; its recorded time is irrelevant.
            return Some(Time::ZERO);
        }
        let zero_ns = *self.run_zero_ns.get_or_insert(raw.time_ns);
        scaled((raw.time_ns - zero_ns).checked_add(self.passed_ns)?, self.config.time_scale)
    }

    /// The error about a trace without a request left.
    fn nothing(&self) -> UserError {
        let rows = self.pass.rows.rows();
        if rows.count() == 0 {
            let name = rows.format().entry.name;
            return rows.at_file(format!("holds no row of format {name}"));
        }
        let mut why: Vec<String> =
            rows.drops().listed().iter().map(|(why, count)| format!("{count} {why}")).collect();
        if let Some(duration) = self.config.duration {
            why.push(format!("the rest not within a duration of {duration}"));
        }
        let mut sentence = format!("has no request to replay: of its rows, {}", why.join(", "));
        if !self.other_devices.is_empty() {
            sentence.push_str(&format!(" (devices {:?})", self.other_devices));
        }
        rows.at_file(sentence)
    }
}

impl RequestSource for TraceSource {
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        match self.first.take() {
            Some(request) => Ok(Some(request)),
            None => self.fetch(),
        }
    }

    fn queue_depth(&self) -> Option<u32> {
        self.config.queue_depth
    }

    fn progress(&self) -> Option<f64> {
        let passes = self.passes as f64 + self.pass.rows.rows().progress()?;
        let of_limit = self.config.max_requests.map(|most| self.fetched as f64 / most as f64);
        Some((passes / self.config.repeat as f64).max(of_limit.unwrap_or(0.0)))
    }

    fn counts(&self) -> Counts {
        let mut counts = self.passed.clone();
        counts.add(&self.pass.rows.counts());
        counts.requests = self.fetched - u64::from(self.first.is_some());
        (counts.wrapped, counts.widened) = (self.wrapped, self.widened);
        counts
    }

    fn run_zero_ns(&self) -> Option<u64> {
        self.run_zero_ns
    }

    fn begin_at(&mut self, zero_ns: u64) -> Result<(), UserError> {
        let own_ns = self.run_zero_ns.replace(zero_ns).expect("its first request has been read");
        let scale = self.config.time_scale;
        let arrival = scaled(own_ns - zero_ns, scale).ok_or_else(|| {
            let what = "takes the first request beyond 584 years; it must be smaller";
            wrong("time_scale", scale, what)
        })?;
        self.first.as_mut().expect("it has not been taken").arrival = arrival;
        Ok(())
    }
}

/// The time of a trace's first row, in order of time.
pub(crate) fn first_ns(config: &TraceConfig) -> Result<u64, UserError> {
    let mut rows =
        Ordered::new(Rows::open(&config.path, &config.reading)?, config.sort_window_requests);
    let nothing = |rows: &Ordered| {
        let name = rows.rows().format().entry.name;
        rows.rows().at_file(format!("holds no row of format {name}"))
    };
    rows.next_row()?.map(|row| row.raw.time_ns).ok_or_else(|| nothing(&rows))
}

/// Measures a trace, as it is replayed on a drive of `capacity_bytes`, for endless repetition.
///
/// Errors as opening the trace does, or at a row that cannot be read.
pub fn cyclic(trace: &TraceConfig, capacity_bytes: u64) -> Result<CyclicTrace, UserError> {
    // Several passes would make every place look repeatedly written.
    let once = TraceConfig { repeat: 1, ..trace.clone() };
    let mut source = TraceSource::open(&once, capacity_bytes, None)?;
    let mut requests = Vec::new();
    while requests.len() < CYCLIC_REQUESTS_MAX {
        let Some(request) = source.next_request()? else { break };
        requests.push(request);
    }
    Ok(CyclicTrace::of(&requests, trace.queue_depth, capacity_bytes))
}

/// Base address of each device, and the extent of all; read from the trace if they depend on it.
fn bases(config: &TraceConfig, rows: &Rows) -> Result<(Bases, u64), UserError> {
    let format = rows.format();
    let known_without = match &config.devices {
        _ if config.address == AddressPolicy::Scale => None,
        DeviceSelection::Merge => Some(Bases::Shared),
        DeviceSelection::Concatenate if !format.has_devices => Some(Bases::single(0)),
        DeviceSelection::Only(list) if list.len() == 1 => Some(Bases::single(list[0])),
        DeviceSelection::Concatenate | DeviceSelection::Only(_) => None,
    };
    match known_without {
        Some(bases) => Ok((bases, 0)),
        None => {
            let format = format.entry.name.to_owned();
            let again = Reading { format, options: config.reading.options.clone() };
            let again = Rows::open(&config.path, &again)?;
            Bases::lay(&config.devices, &Extents::scan(again)?)
        }
    }
}
