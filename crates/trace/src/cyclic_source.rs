//! A cyclic trace: the load whose equilibrium a drive is in when the trace begins.
//!
//! A trace is a sample of its load. Places that it writes again and again are written again in each
//! pass, as often as it writes them. A place that it writes once stands for those that it has not
//! come to: the share of writes that go to places not seen before is estimated by the share of
//! writes whose place was seen once (Good 1953, "The population frequencies of species and the
//! estimation of population parameters"). Some of these are met twice or more by chance, as by a
//! Poisson law. So each pass draws other places for them, evenly over the addresses that they span
//! and on the grid on which they lie.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use reprieve_base::{Op, Request, SECTOR_BYTES, Stream, Time, UserError};

use crate::counts::Counts;
use crate::request_source::RequestSource;
use crate::write_extent::{WriteExtent, greatest_common_divisor};

/// Writes that go to new places, as a share of all, above which the others make no difference.
const NEARLY_ALL: f64 = 0.99;
/// Iterations of the fixed point, enough for a part in a million with most loads.
const MEAN_STEPS: usize = 50;
/// Share of the drive from which on a load counts as spanning all of it.
const NEARLY_WHOLE: f64 = 0.999;

/// The requests of a trace, repeated without end.
#[derive(Clone, PartialEq)]
pub struct CyclicTrace {
    rows: Arc<[CyclicRow]>,
    /// Time from the first request of a pass to the first of the next.
    period_ns: u64,
    queue_depth: Option<u32>,
    /// Sectors over which new places are drawn, and the grid of places.
    span: Range<u64>,
    grid: Grid,
}

/// Tells rows by their hash: they may be a million.
impl fmt::Debug for CyclicTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CyclicTrace { rows, period_ns, queue_depth, span, grid } = self;
        let mut hasher = DefaultHasher::new();
        rows.hash(&mut hasher);
        write!(f, "{:?}", (hasher.finish(), period_ns, queue_depth, span, grid))
    }
}

/// Places a number of sectors apart, one of them at `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    offset: u64,
    step: u64,
}

/// A request, and its place in later passes.
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
struct CyclicRow {
    request: Request,
    place: CyclicPlace,
}

/// The place of a request in each pass.
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
enum CyclicPlace {
    /// As in the trace.
    Same,
    /// Another place in the span.
    New,
    /// Behind the last write.
    Behind,
}

impl CyclicTrace {
    /// Measures a trace's requests, as a drive of `capacity_bytes` gets them.
    pub(crate) fn of(
        requests: &[Request],
        queue_depth: Option<u32>,
        capacity_bytes: u64,
    ) -> CyclicTrace {
        let capacity_sectors = capacity_bytes / SECTOR_BYTES;
        let writes = starts_of_runs(requests);
        let grid = Grid::of(&writes);
        let span = span(&writes, grid, capacity_sectors);
        let drawn = Drawn::of(&writes, (span.end - span.start) / grid.step);
        let mut behind = None;
        let row = |request: &Request| {
            let place = match request.op {
                Op::Write if Some(request.lba) == behind => CyclicPlace::Behind,
                Op::Write if drawn.is_new(request.lba) => CyclicPlace::New,
                _ => CyclicPlace::Same,
            };
            if request.op == Op::Write {
                behind = Some(end(request));
            }
            CyclicRow { request: *request, place }
        };
        let mut rows: Vec<CyclicRow> = requests.iter().map(row).collect();
        // The first write of a run decides its place.
        let mut is_new = false;
        for row in rows.iter_mut().filter(|row| row.request.op == Op::Write) {
            match row.place {
                CyclicPlace::Behind if !is_new => row.place = CyclicPlace::Same,
                CyclicPlace::Behind => {}
                place => is_new = place == CyclicPlace::New,
            }
        }
        let first = requests.first().map_or(Time::ZERO, |request| request.arrival);
        let last = requests.last().map_or(Time::ZERO, |request| request.arrival);
        let gaps = requests.len().saturating_sub(1).max(1) as u64;
        let period_ns = (last - first).ns() + ((last - first).ns() / gaps).max(1);
        CyclicTrace { rows: rows.into(), period_ns, queue_depth, span, grid }
    }

    /// Requests outstanding in a closed loop.
    pub(crate) fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// Whether it writes, or trims.
    pub(crate) fn changes_data(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.request.op, Op::Write | Op::Trim))
    }

    /// Returns the extent of its writes and trims.
    pub(crate) fn write_extent(&self) -> WriteExtent {
        let changing = |row: &&CyclicRow| matches!(row.request.op, Op::Write | Op::Trim);
        let changing = || self.rows.iter().filter(changing);
        let of_places = changing().fold(0, |places, row| match row.place {
            CyclicPlace::Same => greatest_common_divisor(places, row.request.lba),
            _ => places,
        });
        let of_grid = greatest_common_divisor(self.grid.offset, self.grid.step);
        let places = greatest_common_divisor(of_places, of_grid) * SECTOR_BYTES;
        let extent = WriteExtent::of(places, changing().map(|row| row.request.bytes.into()));
        // A run of writes is as long as all of them.
        let has_runs = changing().any(|row| row.place == CyclicPlace::Behind);
        WriteExtent {
            longest_bytes: if has_runs { u64::MAX } else { extent.longest_bytes },
            ..extent
        }
    }

    /// Whether every page of the drive is as likely to be written next as any other, and none is
    /// trimmed.
    pub(crate) fn writes_evenly(&self, capacity_bytes: u64) -> bool {
        let has_trims = self.rows.iter().any(|row| row.request.op == Op::Trim);
        let writes = || self.rows.iter().filter(|row| row.request.op == Op::Write);
        let new = writes().filter(|row| row.place != CyclicPlace::Same).count();
        let capacity_sectors = (capacity_bytes / SECTOR_BYTES) as f64;
        let spans_all = (self.span.end - self.span.start) as f64 >= NEARLY_WHOLE * capacity_sectors;
        !has_trims && spans_all && new as f64 >= NEARLY_ALL * writes().count() as f64
    }

    /// The requests to some of a drive's planes, in whole pages; see
    /// [`crate::WorkloadConfig::of_planes`]. The planes are `planes` of `all_planes`, with
    /// `share_bytes`.
    pub(crate) fn of_planes(
        &self,
        page_bytes: u64,
        planes: u64,
        all_planes: u64,
        share_bytes: u64,
    ) -> CyclicTrace {
        let page_sectors = page_bytes / SECTOR_BYTES;
        // Pages below this one that lie on those planes.
        let own = |page: u64| {
            let (row, place) = (page / all_planes, page % all_planes);
            row * planes + place.min(planes)
        };
        let last = share_bytes / page_bytes;
        let thinned = |row: &CyclicRow| {
            let Request { lba, .. } = row.request;
            let (from, to) = (lba / page_sectors, end(&row.request).div_ceil(page_sectors));
            let pages = own(from).min(last)..own(to).min(last);
            let bytes = u32::try_from((pages.end - pages.start) * page_bytes).ok()?;
            let request = Request { lba: pages.start * page_sectors, bytes, ..row.request };
            (bytes > 0).then_some(CyclicRow { request, ..*row })
        };
        let rows: Vec<CyclicRow> = self.rows.iter().filter_map(thinned).collect();
        let start = own(self.span.start / page_sectors).min(last) * page_sectors;
        let end = own(self.span.end.div_ceil(page_sectors)).min(last) * page_sectors;
        let grid = Grid { offset: 0, step: page_sectors };
        CyclicTrace { rows: rows.into(), span: start..end, grid, ..self.clone() }
    }

    /// The load in words: number of requests, share of reads, writes to new places.
    pub fn words(&self) -> String {
        let reads = self.rows.iter().filter(|row| row.request.op == Op::Read).count();
        let writes = self.rows.iter().filter(|row| row.request.op == Op::Write).count();
        let new = self.rows.iter().filter(|row| row.place != CyclicPlace::Same).count();
        format!(
            "the trace's {} requests over and over: {:.1} % read, {:.1} % of the writes go to new \
             places each time",
            self.rows.len(),
            100.0 * reads as f64 / self.rows.len().max(1) as f64,
            100.0 * new as f64 / writes.max(1) as f64
        )
    }
}

/// First sectors of writes that do not continue the one before.
fn starts_of_runs(requests: &[Request]) -> Vec<u64> {
    let mut behind = None;
    let mut starts = Vec::new();
    for request in requests.iter().filter(|request| request.op == Op::Write) {
        if Some(request.lba) != behind {
            starts.push(request.lba);
        }
        behind = Some(end(request));
    }
    starts.sort_unstable();
    starts
}

/// The sectors that writes span. The ends of the whole lie beyond those of a sample, each by about
/// the distance between two of its places.
fn span(starts: &[u64], grid: Grid, capacity_sectors: u64) -> Range<u64> {
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else { return 0..0 };
    let beyond = (last - first) / (starts.len() as u64 - 1).max(1);
    let start = first.saturating_sub(beyond) / grid.step * grid.step;
    start..(last + grid.step + beyond).min(capacity_sectors)
}

impl Grid {
    /// The coarsest grid that contains all of these sectors, which are in order.
    fn of(starts: &[u64]) -> Grid {
        let first = starts.first().copied().unwrap_or(0);
        let step =
            starts.iter().fold(0, |step, start| greatest_common_divisor(step, start - first));
        Grid { offset: first % step.max(1), step: step.max(1) }
    }
}

/// The written places of a trace that are drawn anew: those written once, and of those written
/// several times the number expected by chance.
struct Drawn {
    /// In order, as often as they are written.
    starts: Vec<u64>,
    /// Share drawn anew of the places written a given number of times; 0 beyond.
    shares: Vec<f64>,
}

impl Drawn {
    /// Measures writes that begin at `starts`, in order, among `places` places.
    fn of(starts: &[u64], places: u64) -> Drawn {
        let mut found = vec![0.0; 2];
        for run in starts.chunk_by(|one, other| one == other) {
            found.resize(found.len().max(run.len() + 1), 0.0);
            found[run.len()] += 1.0;
        }
        // As many are met once as a Poisson law of this mean has: found[1] = places m exp(-m).
        let singles = found[1] / places.max(1) as f64;
        let mut mean = singles;
        for _ in 0..MEAN_STEPS {
            mean = (singles * mean.exp()).min(1.0);
        }
        let mut expected = found[1];
        let mut shares = vec![0.0, 1.0];
        for (times, found) in found.iter().enumerate().skip(2) {
            expected *= mean / times as f64;
            shares.push((expected / found.max(expected).max(1.0)).min(1.0));
        }
        Drawn { starts: starts.to_vec(), shares }
    }

    fn is_new(&self, start: u64) -> bool {
        let from = self.starts.partition_point(|other| *other < start);
        let times = self.starts[from..].partition_point(|other| *other == start);
        let share = self.shares.get(times).copied().unwrap_or(0.0);
        // Equal at each visit of a place, and random among places.
        share >= 1.0 || Stream::new(start, "cyclic.chance", 0).unit() < share
    }
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
    /// End of the last write.
    behind: u64,
}

impl CyclicSource {
    pub(crate) fn new(load: &CyclicTrace, seed: u64) -> CyclicSource {
        let places = Stream::new(seed, "cyclic.places", 0);
        CyclicSource { load: load.clone(), places, next: 0, pass: 0, behind: 0 }
    }

    /// Returns the next request; `None` only of a trace without any, or beyond the last instant.
    fn draw_next(&mut self) -> Option<Request> {
        let CyclicRow { mut request, place } = *self.load.rows.get(self.next)?;
        request.lba = match place {
            CyclicPlace::Same => request.lba,
            CyclicPlace::New => self.draw(&request),
            CyclicPlace::Behind if self.fits(self.behind, &request) => self.behind,
            CyclicPlace::Behind => self.draw(&request),
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

    fn fits(&self, lba: u64, request: &Request) -> bool {
        lba + u64::from(request.bytes) / SECTOR_BYTES <= self.load.span.end
    }

    /// A place of the span, on the grid.
    fn draw(&mut self, request: &Request) -> u64 {
        let (Range { start, end }, Grid { offset, step }) =
            (self.load.span.clone(), self.load.grid);
        let sectors = offset + u64::from(request.bytes) / SECTOR_BYTES;
        let Some(room) = (end - start).checked_sub(sectors) else { return request.lba };
        start + self.places.below(room / step + 1) * step + offset
    }
}

impl RequestSource for CyclicSource {
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        Ok(self.draw_next())
    }

    fn queue_depth(&self) -> Option<u32> {
        self.load.queue_depth
    }

    fn counts(&self) -> Counts {
        let requests = self.pass * self.load.rows.len() as u64 + self.next as u64;
        Counts { requests, ..Counts::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u32 = 4096;
    const UNIT_SECTORS: u64 = 8;
    const CAPACITY_BYTES: u64 = 1 << 30;

    fn write(at_us: u64, unit: u64) -> Request {
        let (lba, arrival) = (unit * UNIT_SECTORS, Time::from_ns(at_us * 1000));
        Request { arrival, op: Op::Write, lba, bytes: UNIT, fua: false }
    }

    fn first_unit(request: &Request) -> u64 {
        request.lba / UNIT_SECTORS
    }

    fn drawn(load: &CyclicTrace, count: usize) -> Vec<Request> {
        let mut source = CyclicSource::new(load, 1);
        std::iter::from_fn(|| source.draw_next()).take(count).collect()
    }

    #[test]
    fn pages_written_twice_stay_and_pages_written_once_move() {
        let requests = [write(0, 5), write(10, 9000), write(20, 5), write(30, 101)];
        let load = CyclicTrace::of(&requests, None, CAPACITY_BYTES);
        let units = |requests: &[Request]| requests.iter().map(first_unit).collect::<Vec<u64>>();
        let all = drawn(&load, 400);
        assert!(all.iter().step_by(2).all(|request| first_unit(request) == 5));
        let mut moved = units(&all).into_iter().skip(1).step_by(2).collect::<Vec<u64>>();
        moved.sort_unstable();
        moved.dedup();
        assert!(moved.len() > 190, "200 draws of thousands of places rarely meet");
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
        // Thousands of writes to the same places by chance: a ninth is met again.
        let even: Vec<Request> = (0..30_000).map(|at| write(at, stream.below(units))).collect();
        assert!(CyclicTrace::of(&even, None, CAPACITY_BYTES).writes_evenly(CAPACITY_BYTES));
        let hot: Vec<Request> = (0..3000).map(|at| write(at, stream.below(500))).collect();
        assert!(!CyclicTrace::of(&hot, None, CAPACITY_BYTES).writes_evenly(CAPACITY_BYTES));
    }

    #[test]
    fn the_grain_divides_every_place_and_length_of_a_write() {
        let at = |number: u64, lba: u64, bytes: u32| Request { lba, bytes, ..write(number, 0) };
        let extent = |requests: &[Request]| {
            let WriteExtent { grain_bytes, longest_bytes } =
                CyclicTrace::of(requests, None, CAPACITY_BYTES).write_extent();
            (grain_bytes, longest_bytes)
        };
        // Sectors 64, 128 and 224 are 32 apart: 16 KiB.
        let aligned = [at(0, 64, 16384), at(1, 128, 32768), at(2, 224, 16384)];
        assert_eq!(extent(&aligned), (16384, 32768));
        assert_eq!(extent(&[&aligned[..], &[at(3, 8, 16384)]].concat()), (4096, 32768));
        // The second goes on where the first ends.
        let run = [at(0, 64, 16384), at(1, 96, 16384), at(2, 256, 16384)];
        assert_eq!(extent(&run), (16384, u64::MAX));
    }
}
