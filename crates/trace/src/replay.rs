//! A trace replayed: rows in order, the wanted part of them, fitted to the drive and its clock.

use std::collections::BTreeSet;
use std::fmt;

use reprieve_base::{Dur, Op, Request, SECTOR_BYTES, Time, UserError};

use crate::config::{AddressPolicy, DeviceSelection, TraceConfig};
use crate::counts::Counts;
use crate::formats::{DropReason, RawRequest};
use crate::mistake::wrong;
use crate::reading::Reading;
use crate::source::{NumberedRow, Rows};
use crate::transform::{AddressFit, Bases, Duplicates, Extents, Ordered, scaled, widen};

/// A trace as a stream of requests.
pub(crate) struct Replay {
    rows: Ordered,
    start: Dur,
    duration: Option<Dur>,
    max_requests: Option<u64>,
    queue_depth: Option<u32>,
    time_scale: f64,
    duplicates: Option<Duplicates>,
    bases: Bases,
    fit: AddressFit,
    /// Time of the trace's first row.
    trace_zero_ns: Option<u64>,
    /// Time of the first request of the run.
    run_zero_ns: Option<u64>,
    /// Devices that were not replayed, for the error when nothing else was there.
    other_devices: BTreeSet<u32>,
    /// The first request, fetched when the trace was opened to know that there is one.
    first: Option<Request>,
    fetched: u64,
    wrapped: u64,
    widened: u64,
    at_end: bool,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Replay {
    pub(crate) fn open(config: &TraceConfig, capacity_bytes: u64) -> Result<Replay, UserError> {
        config.check()?;
        let rows = Rows::open(&config.path, &config.reading)?;
        let (bases, extent_bytes) = bases(config, &rows)?;
        let mut replay = Replay {
            rows: Ordered::new(rows, config.sort_window_requests),
            start: config.start,
            duration: config.duration,
            max_requests: config.max_requests,
            queue_depth: config.queue_depth,
            time_scale: config.time_scale,
            duplicates: config.drop_duplicates_within.map(Duplicates::new),
            bases,
            fit: AddressFit::new(config.address, capacity_bytes, extent_bytes),
            trace_zero_ns: None,
            run_zero_ns: None,
            other_devices: BTreeSet::new(),
            first: None,
            fetched: 0,
            wrapped: 0,
            widened: 0,
            at_end: false,
        };
        replay.first = replay.fetch()?;
        if replay.first.is_none() {
            return Err(replay.nothing());
        }
        Ok(replay)
    }

    #[inline(never)]
    pub(crate) fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        match self.first.take() {
            Some(request) => Ok(Some(request)),
            None => self.fetch(),
        }
    }

    fn fetch(&mut self) -> Result<Option<Request>, UserError> {
        if self.at_end || self.max_requests == Some(self.fetched) {
            return Ok(None);
        }
        // Until a request is made of a row, whatever happens is the end.
        self.at_end = true;
        let request = loop {
            let Some((row, base_bytes)) = self.next_wanted()? else {
                return Ok(None);
            };
            if let Some(request) = self.request(row, base_bytes)? {
                break request;
            }
            self.rows.rows_mut().drop_row(DropReason::PastEnd);
        };
        self.fetched += 1;
        self.at_end = false;
        Ok(Some(request))
    }

    /// The next row within the part to be replayed, and where its device begins.
    fn next_wanted(&mut self) -> Result<Option<(NumberedRow, u64)>, UserError> {
        while let Some(row) = self.rows.next_row()? {
            let zero_ns = *self.trace_zero_ns.get_or_insert(row.raw.time_ns);
            let trace_time = Dur::from_ns(row.raw.time_ns - zero_ns);
            if trace_time < self.start {
                self.rows.rows_mut().drop_row(DropReason::BeforeStart);
                continue;
            }
            if self.duration.is_some_and(|duration| trace_time - self.start >= duration) {
                return Ok(None);
            }
            let Some(base_bytes) = self.bases.of(row.raw.device) else {
                self.other_devices.insert(row.raw.device);
                self.rows.rows_mut().drop_row(DropReason::OtherDevice);
                continue;
            };
            let repeats = |filter: &mut Duplicates| filter.is_duplicate(&row.raw);
            if self.duplicates.as_mut().is_some_and(repeats) {
                self.rows.rows_mut().drop_row(DropReason::Duplicate);
                continue;
            }
            return Ok(Some((row, base_bytes)));
        }
        Ok(None)
    }

    /// What the drive is asked; `None` if the address policy leaves the row out.
    fn request(&mut self, row: NumberedRow, base_bytes: u64) -> Result<Option<Request>, UserError> {
        let (raw, widened) = widen(row.raw);
        let sector = (base_bytes + raw.offset_bytes) / SECTOR_BYTES;
        let lba = match raw.op {
            // It has no address that could lie past the end.
            Op::Flush => 0,
            Op::Read | Op::Write | Op::Trim => {
                let placed = self
                    .fit
                    .place(sector, u64::from(raw.bytes) / SECTOR_BYTES)
                    .map_err(|sentence| self.rows.rows().at(row.place, sentence))?;
                let Some(lba) = placed else { return Ok(None) };
                self.wrapped += u64::from(lba != sector);
                lba
            }
        };
        self.widened += u64::from(widened);
        let arrival = self.arrival(&raw).ok_or_else(|| {
            let place = self.rows.rows().name_of(row.place);
            let what = format!("takes {place} beyond 584 years; it must be smaller");
            wrong("time_scale", self.time_scale, &what)
        })?;
        Ok(Some(Request { arrival, op: raw.op, lba, bytes: raw.bytes, fua: raw.fua }))
    }

    /// Time since the first request, scaled; `None` if no `Time` can hold it.
    fn arrival(&mut self, raw: &RawRequest) -> Option<Time> {
        if self.queue_depth.is_some() {
            // The drive pulls the request; when it was recorded does not matter.
            return Some(Time::ZERO);
        }
        let zero_ns = *self.run_zero_ns.get_or_insert(raw.time_ns);
        scaled(raw.time_ns - zero_ns, self.time_scale)
    }

    /// The error of a trace of which nothing is left.
    fn nothing(&self) -> UserError {
        let rows = self.rows.rows();
        if rows.count() == 0 {
            let name = rows.format().entry.name;
            return rows.at_file(format!("holds no row of format {name}"));
        }
        let mut why: Vec<String> =
            rows.drops().listed().iter().map(|(why, count)| format!("{count} {why}")).collect();
        if let Some(duration) = self.duration {
            why.push(format!("the rest not within a duration of {duration}"));
        }
        let mut sentence = format!("has no request to replay: of its rows, {}", why.join(", "));
        if !self.other_devices.is_empty() {
            sentence.push_str(&format!(" (devices {:?})", self.other_devices));
        }
        rows.at_file(sentence)
    }

    pub(crate) fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        let of_file = self.rows.rows().progress()?;
        let of_limit = self.max_requests.map_or(0.0, |max| self.fetched as f64 / max as f64);
        Some(of_file.max(of_limit))
    }

    pub(crate) fn counts(&self) -> Counts {
        let rows = self.rows.rows();
        Counts {
            rows: rows.count(),
            other_lines: rows.other_lines(),
            requests: self.fetched - u64::from(self.first.is_some()),
            dropped: rows.drops().listed(),
            wrapped: self.wrapped,
            resorted: self.rows.resorted(),
            widened: self.widened,
            times_rounded: 0,
        }
    }
}

/// Where each device begins, and the extent of all; read from the trace where they depend on it.
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
