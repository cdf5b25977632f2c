//! The requests of one job of a fio file.

use reprieve_base::{Op, Request, SECTOR_BYTES, Stream, Time, UserError};

use super::clock::{Clock, exponential};
use super::places::Places;
use super::zone_writer::ZoneWriter;
use crate::counts::Counts;
use crate::fio::{FioJob, JobOps, JobRate};
use crate::request_source::RequestSource;

/// Reads, writes and trims, as places of lists.
const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;
const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// A job, ready to draw.
#[derive(Debug)]
pub(crate) struct JobSource {
    ops: JobOps,
    op_stream: Stream,
    size_stream: Stream,
    sizes: [Vec<(u32, f64)>; 3],
    places: Places,
    start_sector: u64,
    paces: [Option<Pace>; 3],
    /// The time to which requests have been issued, if each came as its rate allows.
    clock_ns: u64,
    amount_bytes: Option<u64>,
    requests_max: Option<u64>,
    flush_every_writes: Option<u64>,
    fua: bool,
    queue_depth: u32,
    handed_out: u64,
    /// Counts of reads, writes and trims, and their bytes.
    counts: [u64; 3],
    bytes: [u64; 3],
    /// Trim and write: the trim whose write is next.
    trimmed: Option<(u64, u32)>,
    /// Writes before the last flush.
    flushed: u64,
    /// `None`: the drive has no zones.
    zones: Option<ZoneWriter>,
    /// Bytes that a reset of a zone counts as.
    reset_bytes: u32,
    /// The write behind the reset of its zone.
    behind_reset: Option<Request>,
}

/// The pace of one kind of requests.
#[derive(Debug)]
struct Pace {
    rate: JobRate,
    poisson: Option<(Stream, Clock)>,
    next_ns: u64,
}

impl JobSource {
    pub(crate) fn new(job: &FioJob, seed: u64) -> JobSource {
        let pace = |(rate, kind): (Option<JobRate>, u64)| {
            let stream = || (Stream::new(seed, "job.rate", kind), Clock::default());
            let poisson = job.poisson.then(stream);
            rate.map(|rate| Pace { rate, poisson, next_ns: 0 })
        };
        let [read, write, trim] = job.rates;
        JobSource {
            ops: job.ops,
            op_stream: Stream::new(seed, "job.op", 0),
            size_stream: Stream::new(seed, "job.size", 0),
            sizes: job.sizes.clone(),
            places: Places::new(job, seed),
            start_sector: job.start_bytes / SECTOR_BYTES,
            paces: [(read, 0), (write, 1), (trim, 2)].map(pace),
            clock_ns: 0,
            amount_bytes: job.amount_bytes,
            requests_max: job.requests_max,
            flush_every_writes: job.flush_every_writes,
            fua: job.fua,
            queue_depth: job.queue_depth,
            handed_out: 0,
            counts: [0; 3],
            bytes: [0; 3],
            trimmed: None,
            flushed: 0,
            zones: ZoneWriter::of(job),
            reset_bytes: job.zones.map_or(0, |zones| zones.reset_bytes),
            behind_reset: None,
        }
    }

    /// Returns the next request; its arrival is the earliest time of its issue, from the start of
    /// the job.
    fn next_request(&mut self) -> Option<Request> {
        if let Some(write) = self.behind_reset.take() {
            self.handed_out += 1;
            return Some(write);
        }
        if self.is_done() {
            return None;
        }
        self.handed_out += 1;
        if let Some(every) = self.flush_every_writes {
            let writes = self.counts[WRITE];
            if writes != self.flushed && writes % every == 0 {
                self.flushed = writes;
                let arrival = Time::from_ns(self.clock_ns);
                return Some(Request { arrival, op: Op::Flush, lba: 0, bytes: 0, fua: false });
            }
        }
        let kind = self.next_kind();
        let (lba, bytes) = match self.trimmed.take() {
            Some(place) => place,
            None => {
                let bytes = self.next_size(kind);
                let kind_of_place = if self.ops == JobOps::TrimWrite { WRITE } else { kind };
                (self.places.next(kind_of_place, bytes), bytes)
            }
        };
        if self.ops == JobOps::TrimWrite && kind == TRIM {
            self.trimmed = Some((lba, bytes));
        }
        if self.zones.is_some() {
            return Some(self.request_to_zone(kind, lba, bytes));
        }
        self.counts[kind] += 1;
        self.bytes[kind] += u64::from(bytes);
        let arrival = self.issue(kind);
        let fua = self.fua && kind == WRITE;
        Some(Request { arrival, op: OPS[kind], lba: self.start_sector + lba, bytes, fua })
    }

    /// The request at a place of the region of zones. The first write to a zone comes behind its
    /// reset.
    #[cold]
    fn request_to_zone(&mut self, kind: usize, place: u64, bytes: u32) -> Request {
        let zones = self.zones.as_mut().expect("the caller has seen them");
        let sectors = u64::from(bytes) / SECTOR_BYTES;
        let (mut lba, mut op, mut resets) = (zones.read(place, sectors), OPS[kind], false);
        let mut bytes = bytes;
        if kind == WRITE {
            let write = zones.write(place, sectors);
            (lba, resets) = (write.lba, write.resets);
            bytes = (write.sectors * SECTOR_BYTES) as u32;
        }
        let counted = if kind == TRIM { self.reset_bytes } else { bytes };
        if kind == TRIM {
            (op, bytes) = (Op::Reset, 0);
        }
        self.counts[kind] += 1;
        self.bytes[kind] += u64::from(counted);
        let arrival = self.issue(kind);
        let lba = self.start_sector + lba;
        let request = Request { arrival, op, lba, bytes, fua: self.fua && kind == WRITE };
        if !resets {
            return request;
        }
        self.behind_reset = Some(request);
        Request { arrival, op: Op::Reset, lba, bytes: 0, fua: false }
    }

    /// Whether all requests have been issued; of trims with their writes the writes count.
    fn is_done(&self) -> bool {
        let amount = |counts: [u64; 3]| match self.ops {
            JobOps::TrimWrite => counts[WRITE],
            _ => counts.iter().sum(),
        };
        self.amount_bytes.is_some_and(|all| amount(self.bytes) >= all)
            || self.requests_max.is_some_and(|all| self.counts.iter().sum::<u64>() >= all)
    }

    fn next_kind(&mut self) -> usize {
        let drawn = match self.ops {
            JobOps::Read => return READ,
            JobOps::Write => return WRITE,
            JobOps::Trim => return TRIM,
            JobOps::TrimWrite if self.trimmed.is_some() => return WRITE,
            JobOps::TrimWrite => return TRIM,
            JobOps::Mixed { read_percent } => {
                let is_read = self.op_stream.below(100) < u64::from(read_percent);
                if is_read { READ } else { WRITE }
            }
        };
        // A kind that is ahead of its rate yields to the other one, if that has any share.
        let JobOps::Mixed { read_percent } = self.ops else { return drawn };
        let other = READ + WRITE - drawn;
        let at = |kind: usize| self.paces[kind].as_ref().map_or(0, |pace| pace.next_ns);
        let is_shared = read_percent > 0 && read_percent < 100;
        if at(drawn) > self.clock_ns && is_shared && at(other) < at(drawn) { other } else { drawn }
    }

    fn next_size(&mut self, kind: usize) -> u32 {
        let sizes = &self.sizes[kind];
        if let [(bytes, _)] = sizes[..] {
            return bytes;
        }
        let mut left = self.size_stream.unit() * 100.0;
        let chosen = sizes.iter().find(|(_, percent)| {
            left -= percent;
            left < 0.0
        });
        // Rounding may leave a remainder, which the last size takes.
        chosen.or(sizes.last()).expect("a job has sizes").0
    }

    /// Issues a request of a kind, and updates the time of the next.
    fn issue(&mut self, kind: usize) -> Time {
        let (count, bytes) = (self.counts[kind], self.bytes[kind]);
        if let Some(pace) = &mut self.paces[kind] {
            self.clock_ns = self.clock_ns.max(pace.next_ns);
            pace.advance(count, bytes);
        }
        Time::from_ns(self.clock_ns)
    }
}

impl RequestSource for JobSource {
    fn next_request(&mut self) -> Result<Option<Request>, UserError> {
        Ok(JobSource::next_request(self))
    }

    fn queue_depth(&self) -> Option<u32> {
        Some(self.queue_depth)
    }

    fn progress(&self) -> Option<f64> {
        let of_bytes =
            self.amount_bytes.map(|all| self.bytes.iter().sum::<u64>() as f64 / all as f64);
        let of_count = self.requests_max.map(|all| self.handed_out as f64 / all as f64);
        let shares = [of_bytes, of_count].into_iter().flatten();
        shares.reduce(f64::max).map(|share| share.min(1.0))
    }

    fn counts(&self) -> Counts {
        Counts { requests: self.handed_out, ..Counts::default() }
    }
}

impl Pace {
    /// Advances the time of the next issue, after `count` requests of `bytes` in all.
    fn advance(&mut self, count: u64, bytes: u64) {
        let (amount, rate) = match self.rate {
            JobRate::BytesPerS(rate) => (bytes, rate),
            JobRate::Iops(rate) => (count, rate),
        };
        self.next_ns = match &mut self.poisson {
            // Gaps with the mean that the rate implies for the requests until now.
            Some((stream, clock)) => {
                let mean_ns = amount as f64 / count as f64 * 1e9 / rate as f64;
                clock.advance(exponential(stream) * mean_ns)
            }
            // From the sum and not by adding gaps: no rounding accumulates.
            None => {
                let ns = (u128::from(amount) * 1_000_000_000).div_ceil(u128::from(rate));
                u64::try_from(ns).unwrap_or(u64::MAX / 4)
            }
        };
    }
}
