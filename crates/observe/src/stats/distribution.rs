//! Latencies of some requests without empty buckets, for sums and percentiles.
//!
//! A histogram has nearly only empty buckets: the batches of a run are merged and compared here, in
//! time proportional to the distinct latencies.

use std::cmp::Ordering;

/// Exact totals of latencies.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct LatencyTotals {
    pub count: u64,
    pub sum_ns: u128,
    pub min_ns: u64,
    pub max_ns: u64,
}

impl Default for LatencyTotals {
    fn default() -> LatencyTotals {
        LatencyTotals { count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl LatencyTotals {
    /// Adds all of `other`.
    pub(super) fn add(&mut self, other: &LatencyTotals) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns this one without `other`, whose values may have been its extremes.
    pub(super) fn without(&self, other: &LatencyTotals) -> LatencyTotals {
        LatencyTotals {
            count: self.count - other.count,
            sum_ns: self.sum_ns - other.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        }
    }
}

/// Latencies of counted requests.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// Upper bound in nanoseconds and count of every nonempty bucket, ascending.
    buckets: Vec<(u64, u64)>,
    totals: LatencyTotals,
}

impl Distribution {
    pub(super) fn new(buckets: Vec<(u64, u64)>, totals: LatencyTotals) -> Distribution {
        Distribution { buckets, totals }
    }

    /// Merges several distributions.
    pub(super) fn sum<'a>(all: impl IntoIterator<Item = &'a Distribution>) -> Distribution {
        all.into_iter().fold(Distribution::default(), |mut sum, each| {
            sum.add(each);
            sum
        })
    }

    /// Counts all requests of `other` too.
    pub(super) fn add(&mut self, other: &Distribution) {
        self.buckets = merge(&self.buckets, &other.buckets, |one, other| one + other);
        self.totals.add(&other.totals);
    }

    /// Returns the requests of this one without those of `other`, which are among them; extremes
    /// may be those of removed requests.
    pub(super) fn without(&self, other: &Distribution) -> Distribution {
        let rest = |all: u64, others: u64| all.checked_sub(others).expect("they are among these");
        let buckets = merge(&self.buckets, &other.buckets, rest);
        Distribution { buckets, totals: self.totals.without(&other.totals) }
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Returns the sum of latencies, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.totals.sum_ns
    }

    /// Returns the mean in nanoseconds; 0 without requests.
    pub fn mean_ns(&self) -> f64 {
        match self.totals.count {
            0 => 0.0,
            count => self.totals.sum_ns as f64 / count as f64,
        }
    }

    /// Returns the shortest in nanoseconds; 0 without requests.
    pub fn min_ns(&self) -> u64 {
        if self.totals.count == 0 { 0 } else { self.totals.min_ns }
    }

    /// Returns the longest in nanoseconds; 0 without requests.
    pub fn max_ns(&self) -> u64 {
        self.totals.max_ns
    }

    /// Returns the latencies at these quantiles, in nanoseconds.
    ///
    /// Quantiles ascend. Nearest rank; at most 0.1 % above the exact value, and never above the
    /// longest.
    pub fn quantiles_ns<const N: usize>(&self, shares: [f64; N]) -> [u64; N] {
        let mut buckets = self.buckets();
        let (mut within, mut upper_ns) = (0, 0);
        shares.map(|share| {
            let rank = (share * self.totals.count as f64).ceil() as u64;
            // The lowest rank is the first; without requests there is none.
            while within < rank.max(1) {
                let Some(bucket) = buckets.next() else { break };
                (upper_ns, within) = (bucket.0, within + bucket.1);
            }
            upper_ns
        })
    }

    /// Returns upper bound in nanoseconds and count of every nonempty bucket, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        // A bucket ends above the longest latency, unless that is its upper bound.
        self.buckets.iter().map(|&(upper_ns, count)| (upper_ns.min(self.totals.max_ns), count))
    }
}

/// Latencies of a class of requests, or of several: of all of them, and by batch.
pub(super) struct ByBatch {
    pub whole: Distribution,
    /// By batch number.
    pub batches: Vec<Distribution>,
}

impl ByBatch {
    pub(super) fn new(batches: Vec<Distribution>) -> ByBatch {
        ByBatch { whole: Distribution::sum(&batches), batches }
    }

    /// Merges two classes with the same batches.
    pub(super) fn together(one: &ByBatch, other: &ByBatch) -> ByBatch {
        let pairs = one.batches.iter().zip(&other.batches);
        ByBatch {
            whole: Distribution::sum([&one.whole, &other.whole]),
            batches: pairs.map(|(one, other)| Distribution::sum([one, other])).collect(),
        }
    }
}

/// Merges two lists of buckets, without empty ones.
fn merge(
    one: &[(u64, u64)],
    other: &[(u64, u64)],
    join: impl Fn(u64, u64) -> u64,
) -> Vec<(u64, u64)> {
    let mut merged = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one, other);
    while let ([(upper, count), rest @ ..], [(other_upper, other_count), others @ ..]) =
        (left, right)
    {
        let (bucket, after) = match upper.cmp(other_upper) {
            Ordering::Less => ((*upper, join(*count, 0)), (rest, right)),
            Ordering::Greater => ((*other_upper, join(0, *other_count)), (left, others)),
            Ordering::Equal => ((*upper, join(*count, *other_count)), (rest, others)),
        };
        merged.push(bucket);
        (left, right) = after;
    }
    merged.extend(left.iter().map(|&(upper, count)| (upper, join(count, 0))));
    merged.extend(right.iter().map(|&(upper, count)| (upper, join(0, count))));
    merged.retain(|(_, count)| *count > 0);
    merged
}
