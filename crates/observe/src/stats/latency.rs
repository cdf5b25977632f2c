//! Latencies of one class of requests, by batches of the run, and their components.

use reprieve_policy::txn::{LatencyComponents, PART_NAMES};

use super::distribution::ByBatch;
use super::histogram::USUAL_NS;
use super::{Distribution, Histogram};

/// Latencies of one class of requests.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Latency {
    /// One, or the maximum number of batches.
    batches: Vec<Histogram>,
    /// Longest latency with a bucket in the histograms of all batches.
    longest_ns: u64,
    /// Bytes of the requests.
    pub bytes: u64,
    /// Sums by component, without those in `recent`.
    parts_ns: [u128; PART_NAMES.len()],
    recent: Recent,
}

/// The last requests, few enough that no sum overflows.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Recent {
    parts_ns: [u64; PART_NAMES.len()],
    /// Upper bound of each component.
    latency_ns: u64,
}

impl Latency {
    /// Creates empty latencies, with space for `batches` batches.
    pub(super) fn new(batches: usize) -> Latency {
        let empty = if batches == 1 { Histogram::of_many() } else { Histogram::default() };
        Latency {
            batches: vec![empty; batches],
            longest_ns: USUAL_NS,
            bytes: 0,
            parts_ns: [0; PART_NAMES.len()],
            recent: Recent::default(),
        }
    }

    /// Counts a request of a batch, whose components are at most the whole.
    #[inline(always)]
    pub fn record(&mut self, batch: usize, latency_ns: u64, bytes: u32, parts: &LatencyComponents) {
        if latency_ns > self.longest_ns {
            self.grow(latency_ns);
        }
        self.batches[batch].record(latency_ns);
        self.bytes += u64::from(bytes);
        self.recent.latency_ns = match self.recent.latency_ns.checked_add(latency_ns) {
            Some(sum_ns) => sum_ns,
            None => self.settle(latency_ns),
        };
        for (sum, part) in self.recent.parts_ns.iter_mut().zip(&parts.0) {
            *sum += part;
        }
    }

    /// Grows all batches at once for a latency, and for some longer ones: a drive that has grown to
    /// its load allocates nothing.
    #[cold]
    fn grow(&mut self, latency_ns: u64) {
        self.longest_ns = latency_ns.saturating_mul(4);
        self.batches.iter_mut().for_each(|batch| batch.grow(self.longest_ns));
    }

    /// Moves the sums of the last requests to the others; the next is the only one.
    #[cold]
    fn settle(&mut self, latency_ns: u64) -> u64 {
        self.parts_ns = self.parts_ns();
        self.recent = Recent::default();
        latency_ns
    }

    /// Merges pairs of batches, so that the second half is free again.
    pub(super) fn pair_up(&mut self) {
        for pair in 0..self.batches.len() / 2 {
            // All between `pair` and its first are free by now.
            self.batches.swap(pair, 2 * pair);
            let (before, after) = self.batches.split_at_mut(2 * pair + 1);
            before[pair].add(&after[0]);
            after[0].clear();
        }
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.batches.iter().map(Histogram::count).sum()
    }

    /// Returns the sum of their latencies.
    pub(super) fn latency_ns(&self) -> u128 {
        self.batches.iter().map(Histogram::sum_ns).sum()
    }

    /// Returns the number of requests of a batch.
    pub(super) fn count_of(&self, batch: usize) -> u64 {
        self.batches[batch].count()
    }

    /// Returns latencies of all requests.
    pub(super) fn distribution(&self) -> Distribution {
        self.by_batch().whole
    }

    /// Returns latencies of all requests, and by batch.
    pub(super) fn by_batch(&self) -> ByBatch {
        ByBatch::new(self.batches.iter().map(Histogram::distribution).collect())
    }

    /// Returns the time by component, in nanoseconds, summed over the requests.
    pub(super) fn parts_ns(&self) -> [u128; PART_NAMES.len()] {
        let mut sums = self.parts_ns;
        for (sum, part) in sums.iter_mut().zip(self.recent.parts_ns) {
            *sum += u128::from(part);
        }
        sums
    }
}
