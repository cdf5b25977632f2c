//! Time series of a run, in a bounded number of bins with exact sums.
//!
//! A bin has an initial length of which 512 are half a millisecond. When a run outgrows them, pairs
//! are merged, and each is twice as long.

mod ages;
mod buckets;
#[cfg(test)]
mod tests;

use reprieve_base::{Op, Time};

pub use ages::{AGES, Ages};
use buckets::bucket_of;
pub use buckets::{BUCKETS, upper_end};
use reprieve_policy::txn::{LatencyComponents, PART_NAMES};

/// Maximum number of bins.
pub const BINS: usize = 512;
/// Initial length of a bin.
const SHORTEST_NS: u64 = 1000;

/// Counters of the drive that are sampled when a bin ends.
pub const SAMPLED: [&str; 9] = [
    "flash_reads",
    "host_programs",
    "gc_programs",
    "map_programs",
    "erases",
    "program_suspensions",
    "erase_suspensions",
    "die_busy_ns",
    "channel_busy_ns",
];

/// Counts since the start of the run, in the order of [`SAMPLED`].
pub type Sample = [u64; SAMPLED.len()];

/// Requests of one kind, reads or writes, that were completed in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Number.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_ns: u128,
    /// The longest latency.
    pub latency_ns_max: u64,
}

impl Completed {
    fn add(&mut self, other: &Completed) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.latency_ns += other.latency_ns;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }
}

/// A stretch of the run: instants after its begin, up to its end; the first has the instant 0 too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Reads and writes.
    pub completed: [Completed; 2],
    /// Sampled counts, in the order of [`SAMPLED`].
    pub counted: Sample,
    /// Open requests, integrated over time.
    pub open_request_ns: u128,
    /// Most open requests over any time.
    pub open_requests_max: u64,
}

impl Bin {
    fn add(&mut self, other: &Bin) {
        self.completed.iter_mut().zip(&other.completed).for_each(|(sum, more)| sum.add(more));
        self.counted.iter_mut().zip(other.counted).for_each(|(sum, more)| *sum += more);
        self.open_request_ns += other.open_request_ns;
        self.open_requests_max = self.open_requests_max.max(other.open_requests_max);
    }
}

/// Requests of similar latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesClass {
    /// Number.
    pub count: u64,
    /// Components of their time, in the order of [`PART_NAMES`].
    pub parts_ns: [u128; PART_NAMES.len()],
}

/// The collector.
#[derive(Clone, Debug)]
pub struct Series {
    /// Start of the first bin.
    begin: Time,
    width_ns: u64,
    /// The current bin, and its end.
    current: usize,
    end_ns: u64,
    /// Until when open requests are counted.
    since: Time,
    /// Counters at the start of the bin.
    before: Sample,
    bins: Vec<Bin>,
    /// Requests by bin, by kind, by bucket of latency.
    latencies: Vec<u64>,
    classes: [Vec<SeriesClass>; 2],
}

impl Default for Series {
    fn default() -> Series {
        Series::starting(Time::ZERO, Sample::default())
    }
}

impl Series {
    /// Creates one that starts at `begin`, with these counts.
    pub fn starting(begin: Time, before: Sample) -> Series {
        Series {
            begin,
            width_ns: SHORTEST_NS,
            current: 0,
            end_ns: begin.ns() + SHORTEST_NS,
            since: begin,
            before,
            bins: vec![Bin::default(); BINS],
            latencies: vec![0; BINS * 2 * BUCKETS],
            classes: [vec![SeriesClass::default(); BUCKETS], vec![SeriesClass::default(); BUCKETS]],
        }
    }

    /// Advances to `now`, before the events of this instant, with `open` requests open until then.
    /// `sample` returns the counts at an earlier instant.
    pub fn advance(&mut self, now: Time, open: u64, sample: impl Fn(Time) -> Sample) {
        while now.ns() > self.end_ns {
            let end = Time::from_ns(self.end_ns);
            self.account(end, open);
            self.count_up_to(&sample(end));
            self.current += 1;
            if self.current == BINS {
                self.pair_up();
            }
            self.end_ns = self.begin.ns() + (self.current as u64 + 1) * self.width_ns;
        }
        self.account(now, open);
    }

    fn account(&mut self, until: Time, open: u64) {
        let length = until - self.since;
        if length.ns() == 0 {
            return;
        }
        let bin = &mut self.bins[self.current];
        bin.open_request_ns += u128::from(open) * u128::from(length.ns());
        bin.open_requests_max = bin.open_requests_max.max(open);
        self.since = until;
    }

    fn count_up_to(&mut self, sample: &Sample) {
        let counted = &mut self.bins[self.current].counted;
        for ((sum, now), before) in counted.iter_mut().zip(sample).zip(&self.before) {
            *sum += now - before;
        }
        self.before = *sample;
    }

    /// Merges pairs of bins, so that the second half is free.
    #[cold]
    fn pair_up(&mut self) {
        const ROW: usize = 2 * BUCKETS;
        for pair in 0..BINS / 2 {
            let mut bin = self.bins[2 * pair];
            bin.add(&self.bins[2 * pair + 1]);
            self.bins[pair] = bin;
            for column in 0..ROW {
                self.latencies[pair * ROW + column] = self.latencies[2 * pair * ROW + column]
                    + self.latencies[(2 * pair + 1) * ROW + column];
            }
        }
        self.bins[BINS / 2..].fill(Bin::default());
        self.latencies[BINS / 2 * ROW..].fill(0);
        self.width_ns *= 2;
        self.current = BINS / 2;
    }

    /// Counts a request that completes at the last instant of [`advance`](Self::advance).
    pub fn record(&mut self, op: Op, bytes: u32, latency_ns: u64, parts: &LatencyComponents) {
        let kind = match op {
            Op::Read => 0,
            Op::Write | Op::Append => 1,
            _ => return,
        };
        let completed = &mut self.bins[self.current].completed[kind];
        completed.add(&Completed {
            count: 1,
            bytes: u64::from(bytes),
            latency_ns: u128::from(latency_ns),
            latency_ns_max: latency_ns,
        });
        let bucket = bucket_of(latency_ns);
        self.latencies[(2 * self.current + kind) * BUCKETS + bucket] += 1;
        let class = &mut self.classes[kind][bucket];
        class.count += 1;
        for (sum, part) in class.parts_ns.iter_mut().zip(parts.0) {
            *sum += u128::from(part);
        }
    }

    /// Returns the series, at the end of a run or during it: the last bin ends now.
    ///
    /// `sample` has the counts since the start.
    pub fn finish(mut self, sample: &Sample) -> Finished {
        self.count_up_to(sample);
        let begins_ns = self.end_ns - self.width_ns;
        let is_empty = self.since == self.begin && self.bins[0] == Bin::default();
        let bins = if is_empty { 0 } else { self.current + 1 };
        self.bins.truncate(bins);
        self.latencies.truncate(bins * 2 * BUCKETS);
        Finished {
            begin_ns: self.begin.ns(),
            width_ns: self.width_ns,
            length_ns_last: self.since.ns() - begins_ns,
            bins: self.bins,
            latencies: self.latencies,
            classes: self.classes,
        }
    }
}

/// The finished time series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Start of the first bin.
    pub begin_ns: u64,
    /// Length of each bin but the last.
    pub width_ns: u64,
    /// Length of the last.
    pub length_ns_last: u64,
    /// The bins, in order; empty for a run without events.
    pub bins: Vec<Bin>,
    /// Requests by bin, by kind (reads, writes), by bucket of latency: [`BUCKETS`] each.
    pub latencies: Vec<u64>,
    /// Requests of the whole run by kind, by bucket of latency.
    pub classes: [Vec<SeriesClass>; 2],
}
