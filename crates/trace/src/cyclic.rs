//! A trace that goes on: the load whose equilibrium a drive is in when the trace begins.
//!
//! A trace is a sample of its load. Pages that it writes several times are written again in each
//! pass, as often as it writes them. Pages that it writes once stand for those that it has not come
//! to: the share of writes that go to pages not seen before is estimated by the share of writes
//! whose page was seen once (Good 1953, "The population frequencies of species and the estimation
//! of population parameters"), so each pass draws other places for them, evenly over the addresses
//! that they span.

use std::ops::Range;
use std::sync::Arc;

use reprieve_base::{Op, Request, SECTOR_BYTES, Stream, Time, UserError};

use crate::config::TraceConfig;
use crate::replay::Replay;
use crate::synth::PlaneShare;

/// Requests of a trace that are measured: the first ones.
const REQUESTS_MAX: usize = 1 << 20;
/// Sectors of the unit in which pages are counted and places are drawn: 4 KiB.
const UNIT_SECTORS: u64 = 8;
/// Writes that go to new places, as a share of all, above which the others make no difference.
const NEARLY_ALL: f64 = 0.99;
/// Share of the drive that a load spans which spans it all.
const NEARLY_WHOLE: f64 = 0.999;

/// The requests of a trace, repeated without end.
#[derive(Clone, Debug, PartialEq)]
pub struct CyclicTrace {
    rows: Arc<[Row]>,
    /// From the first request of a pass to the first of the next.
    period_ns: u64,
    queue_depth: Option<u32>,
    /// Sectors over which new places are drawn.
    span: Range<u64>,
}

/// A request and where it goes in a later pass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    request: Request,
    place: Place,
}

/// Where a request goes in each pass.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Where the trace has it.
    Same,
    /// Somewhere else in the span.
    New,
    /// Behind the last write.
    Behind,
}

impl CyclicTrace {
    /// Measures a trace as it is replayed on a drive of `capacity_bytes`.
    ///
    /// Errors as opening the trace does, or at a row that cannot be read.
    pub fn measure(trace: &TraceConfig, capacity_bytes: u64) -> Result<CyclicTrace, UserError> {
        let mut replay = Replay::open(trace, capacity_bytes)?;
        let mut requests = Vec::new();
        while requests.len() < REQUESTS_MAX {
            let Some(request) = replay.next_request()? else { break };
            requests.push(request);
        }
        Ok(CyclicTrace::of(&requests, trace.queue_depth, capacity_bytes))
    }

    fn of(requests: &[Request], queue_depth: Option<u32>, capacity_bytes: u64) -> CyclicTrace {
        let writes = || requests.iter().filter(|request| request.op == Op::Write);
        let mut units: Vec<u64> = writes().map(first_unit).collect();
        units.sort_unstable();
        let is_single = |unit: u64| {
            let from = units.partition_point(|other| *other < unit);
            units.get(from + 1) != Some(&unit)
        };
        let mut behind = None;
        let row = |request: &Request| {
            let place = match request.op {
                Op::Write if Some(request.lba) == behind => Place::Behind,
                Op::Write if is_single(first_unit(request)) => Place::New,
                _ => Place::Same,
            };
            if request.op == Op::Write {
                behind = Some(end(request));
            }
            Row { request: *request, place }
        };
        let mut rows: Vec<Row> = requests.iter().map(row).collect();
        // A run goes where its first write does.
        let mut is_new = false;
        for row in rows.iter_mut().filter(|row| row.request.op == Op::Write) {
            match row.place {
                Place::Behind if !is_new => row.place = Place::Same,
                Place::Behind => {}
                place => is_new = place == Place::New,
            }
        }
        let capacity_sectors = capacity_bytes / SECTOR_BYTES;
        let span = span(&rows, capacity_sectors);
        let first = requests.first().map_or(Time::ZERO, |request| request.arrival);
        let last = requests.last().map_or(Time::ZERO, |request| request.arrival);
        let gaps = requests.len().saturating_sub(1).max(1) as u64;
        let period_ns = (last - first).ns() + ((last - first).ns() / gaps).max(1);
        CyclicTrace { rows: rows.into(), period_ns, queue_depth, span }
    }

    /// Requests outstanding in a closed loop.
    pub(crate) fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// Whether it writes, or trims.
    pub(crate) fn changes_data(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.request.op, Op::Write | Op::Trim))
    }

    /// Whether every page of the drive is as likely to be written next as any other, and none is
    /// trimmed.
    pub(crate) fn writes_evenly(&self, capacity_bytes: u64) -> bool {
        let has_trims = self.rows.iter().any(|row| row.request.op == Op::Trim);
        let writes = || self.rows.iter().filter(|row| row.request.op == Op::Write);
        let new = writes().filter(|row| row.place != Place::Same).count();
        let capacity_sectors = (capacity_bytes / SECTOR_BYTES) as f64;
        let spans_all = (self.span.end - self.span.start) as f64 >= NEARLY_WHOLE * capacity_sectors;
        !has_trims && spans_all && new as f64 >= NEARLY_ALL * writes().count() as f64
    }

    /// The requests that some of a drive's planes get, in whole pages; see
    /// [`crate::WorkloadConfig::of_planes`].
    pub(crate) fn of_planes(&self, share: &PlaneShare) -> CyclicTrace {
        let page_sectors = share.page_bytes / SECTOR_BYTES;
        // Pages below this one that lie on those planes.
        let own = |page: u64| {
            let (row, place) = (page / share.all_planes, page % share.all_planes);
            row * share.planes + place.min(share.planes)
        };
        let last = share.share_bytes / share.page_bytes;
        let thinned = |row: &Row| {
            let Request { lba, .. } = row.request;
            let (from, to) = (lba / page_sectors, end(&row.request).div_ceil(page_sectors));
            let pages = own(from).min(last)..own(to).min(last);
            let bytes = u32::try_from((pages.end - pages.start) * share.page_bytes).ok()?;
            let request = Request { lba: pages.start * page_sectors, bytes, ..row.request };
            (bytes > 0).then_some(Row { request, ..*row })
        };
        let rows: Vec<Row> = self.rows.iter().filter_map(thinned).collect();
        let start = own(self.span.start / page_sectors).min(last) * page_sectors;
        let end = own(self.span.end.div_ceil(page_sectors)).min(last) * page_sectors;
        CyclicTrace { rows: rows.into(), span: start..end, ..self.clone() }
    }

    /// The load in words: how many requests, how many of them read, how many writes go to new
    /// places.
    pub fn words(&self) -> String {
        let reads = self.rows.iter().filter(|row| row.request.op == Op::Read).count();
        let writes = self.rows.iter().filter(|row| row.request.op == Op::Write).count();
        let new = self.rows.iter().filter(|row| row.place != Place::Same).count();
        format!(
            "the trace's {} requests over and over: {:.1} % read, {:.1} % of the writes go to new \
             places each time",
            self.rows.len(),
            100.0 * reads as f64 / self.rows.len().max(1) as f64,
            100.0 * new as f64 / writes.max(1) as f64
        )
    }
}

/// The sectors that writes to new places span. The ends of the whole lie beyond those of a sample,
/// each by about the distance between two of its places.
fn span(rows: &[Row], capacity_sectors: u64) -> Range<u64> {
    let new = || rows.iter().filter(|row| row.place == Place::New).map(|row| row.request);
    let first = new().map(|request| request.lba).min().unwrap_or(0);
    let last = new().map(|request| end(&request)).max().unwrap_or(0);
    let beyond = (last - first) / new().count().saturating_sub(1).max(1) as u64;
    let start = first.saturating_sub(beyond) / UNIT_SECTORS * UNIT_SECTORS;
    start..(last + beyond).min(capacity_sectors)
}

fn first_unit(request: &Request) -> u64 {
    request.lba / UNIT_SECTORS
}

fn end(request: &Request) -> u64 {
    request.lba + u64::from(request.bytes) / SECTOR_BYTES
}

/// A cyclic trace, ready to hand out its requests.
#[derive(Debug)]
pub(crate) struct CyclicSource {
    load: CyclicTrace,
    places: Stream,
    next: usize,
    pass: u64,
    /// Where the last write ended.
    behind: u64,
}

impl CyclicSource {
    pub(crate) fn new(load: &CyclicTrace, seed: u64) -> CyclicSource {
        let places = Stream::new(seed, "cyclic.places", 0);
        CyclicSource { load: load.clone(), places, next: 0, pass: 0, behind: 0 }
    }

    /// The next request; `None` only of a trace without any, or beyond the last instant.
    pub(crate) fn next_request(&mut self) -> Option<Request> {
        let Row { mut request, place } = *self.load.rows.get(self.next)?;
        request.lba = match place {
            Place::Same => request.lba,
            Place::New => self.draw(&request),
            Place::Behind if self.fits(self.behind, &request) => self.behind,
            Place::Behind => self.draw(&request),
        };
        if request.op == Op::Write {
            self.behind = end(&request);
        }
        if self.load.queue_depth.is_none() {
            let before_ns = self.pass.checked_mul(self.load.period_ns)?;
            request.arrival = Time::from_ns(request.arrival.ns().checked_add(before_ns)?);
        }
        self.next += 1;
        if self.next == self.load.rows.len() {
            (self.next, self.pass) = (0, self.pass + 1);
        }
        Some(request)
    }

    pub(crate) fn handed_out(&self) -> u64 {
        self.pass * self.load.rows.len() as u64 + self.next as u64
    }

    fn fits(&self, lba: u64, request: &Request) -> bool {
        lba + u64::from(request.bytes) / SECTOR_BYTES <= self.load.span.end
    }

    /// A place of the span with the same position within its unit.
    fn draw(&mut self, request: &Request) -> u64 {
        let within = request.lba % UNIT_SECTORS;
        let sectors = within + u64::from(request.bytes) / SECTOR_BYTES;
        let Range { start, end } = self.load.span;
        let Some(room) = (end - start).checked_sub(sectors) else { return request.lba };
        start + self.places.below(room / UNIT_SECTORS + 1) * UNIT_SECTORS + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u32 = 4096;
    const CAPACITY_BYTES: u64 = 1 << 30;

    fn write(at_us: u64, unit: u64) -> Request {
        let (lba, arrival) = (unit * UNIT_SECTORS, Time::from_ns(at_us * 1000));
        Request { arrival, op: Op::Write, lba, bytes: UNIT, fua: false }
    }

    fn drawn(load: &CyclicTrace, count: usize) -> Vec<Request> {
        let mut source = CyclicSource::new(load, 1);
        std::iter::from_fn(|| source.next_request()).take(count).collect()
    }

    #[test]
    fn pages_written_twice_stay_and_pages_written_once_move() {
        let requests = [write(0, 5), write(10, 9000), write(20, 5), write(30, 100)];
        let load = CyclicTrace::of(&requests, None, CAPACITY_BYTES);
        let units = |requests: &[Request]| requests.iter().map(first_unit).collect::<Vec<u64>>();
        let all = drawn(&load, 400);
        assert!(all.iter().step_by(2).all(|request| first_unit(request) == 5));
        let mut moved = units(&all).into_iter().skip(1).step_by(2).collect::<Vec<u64>>();
        moved.sort_unstable();
        moved.dedup();
        assert!(moved.len() > 190, "200 draws of 17,801 units rarely meet");
    }

    #[test]
    fn time_goes_on_by_the_mean_gap() {
        let requests = [write(0, 1), write(10, 2), write(40, 3)];
        let all = drawn(&CyclicTrace::of(&requests, None, CAPACITY_BYTES), 7);
        let at_us: Vec<u64> = all.iter().map(|request| request.arrival.ns() / 1000).collect();
        assert_eq!(at_us, [0, 10, 40, 60, 70, 100, 120]);
    }

    #[test]
    fn a_run_moves_as_one() {
        let requests = [write(0, 50), write(1, 51), write(2, 52), write(3, 9000)];
        for pass in drawn(&CyclicTrace::of(&requests, None, CAPACITY_BYTES), 40).chunks(4) {
            assert_eq!(first_unit(&pass[1]), first_unit(&pass[0]) + 1);
            assert_eq!(first_unit(&pass[2]), first_unit(&pass[0]) + 2);
        }
    }

    #[test]
    fn even_writes_are_told_from_those_of_a_hot_part() {
        let units = CAPACITY_BYTES / u64::from(UNIT);
        let mut stream = Stream::new(1, "test", 0);
        let even: Vec<Request> = (0..3000).map(|at| write(at, stream.below(units))).collect();
        assert!(CyclicTrace::of(&even, None, CAPACITY_BYTES).writes_evenly(CAPACITY_BYTES));
        let hot: Vec<Request> = (0..3000).map(|at| write(at, stream.below(500))).collect();
        assert!(!CyclicTrace::of(&hot, None, CAPACITY_BYTES).writes_evenly(CAPACITY_BYTES));
    }
}
