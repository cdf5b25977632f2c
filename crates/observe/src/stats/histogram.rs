//! Latencies in buckets: exact count, mean and extremes, percentiles within 0.1 %.

use hdrhistogram::Histogram as Buckets;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Longest latency that is told apart: an hour; longer ones count, as an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Latencies up to this one have their buckets from the start, 17 times 1,024 of them; for longer
/// ones a histogram has to grow. A run has 40 histograms, and most never need it.
pub(super) const USUAL_NS: u64 = (1 << 26) - 1;

/// Latencies of some requests.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Buckets<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let mut counts =
            Buckets::new_with_bounds(1, USUAL_NS, DIGITS).expect("the bounds are valid");
        counts.auto(true);
        Histogram { counts, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Histogram {
    /// Counts a request; one that is longer than there is room for counts as the longest of these.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.counts.saturating_record(latency_ns);
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Makes room for latencies up to `longest_ns`; longer ones than an hour never have any.
    #[cold]
    pub fn grow(&mut self, longest_ns: u64) {
        let counts = Buckets::new_with_bounds(1, longest_ns.min(LONGEST_NS), DIGITS);
        let mut counts = counts.expect("the bounds are valid");
        counts.auto(true);
        counts.add(&self.counts).expect("the bounds are wider");
        self.counts = counts;
    }

    /// Counts all requests of `other` too.
    pub fn add(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.counts.add(&other.counts).expect("the histogram grows");
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The requests of this one but for those of `other`, which are among them; its extremes may
    /// be those of requests that were left out.
    pub fn without(&self, other: &Histogram) -> Histogram {
        let mut rest = self.clone();
        rest.counts.subtract(&other.counts).expect("the others are among these");
        rest.count -= other.count;
        rest.sum_ns -= other.sum_ns;
        rest
    }

    /// Forgets all requests.
    pub fn clear(&mut self) {
        self.counts.reset();
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All latencies together, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean in nanoseconds; 0 without requests.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// Shortest in nanoseconds; 0 without requests.
    pub fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min_ns }
    }

    /// Longest in nanoseconds; 0 without requests.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The latencies that these shares of the requests do not exceed, in nanoseconds.
    ///
    /// The shares rise. Nearest rank; at most 0.1 % above the exact value, and never above the
    /// longest.
    pub fn quantiles_ns<const N: usize>(&self, shares: [f64; N]) -> [u64; N] {
        let mut buckets = self.buckets();
        let (mut within, mut upper_ns) = (0, 0);
        shares.map(|share| {
            let rank = (share * self.count as f64).ceil() as u64;
            // The lowest rank is the first; without requests there is none.
            while within < rank.max(1) {
                let Some(bucket) = buckets.next() else { break };
                (upper_ns, within) = (bucket.0, within + bucket.1);
            }
            upper_ns
        })
    }

    /// Upper bound in nanoseconds and count of every bucket that is not empty, rising.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts
            .iter_recorded()
            .map(|value| (value.value_iterated_to().min(self.max_ns), value.count_at_value()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// With room for all that is told apart.
    fn roomy() -> Histogram {
        let mut histogram = Histogram::default();
        histogram.grow(LONGEST_NS);
        histogram
    }

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut histogram = roomy();
        // 1 us, 2 us … 100,000 us: the q-quantile by nearest rank is q * 10^8 ns.
        for us in 1..=100_000u64 {
            histogram.record(us * 1000);
        }
        for quantile in [0.5, 0.95, 0.99, 0.999, 0.9999, 1.0] {
            let exact = quantile * 1e8;
            let [got] = histogram.quantiles_ns([quantile]).map(|ns| ns as f64);
            assert!(got >= exact && got <= exact * 1.001, "{quantile}: {got} for {exact}");
        }
        assert_eq!(histogram.mean_ns(), 50_000_500.0);
        assert_eq!((histogram.min_ns(), histogram.max_ns()), (1000, 100_000_000));
    }

    #[test]
    fn nothing_is_zero() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.min_ns(), empty.max_ns()), (0, 0, 0));
        assert_eq!((empty.mean_ns(), empty.quantiles_ns([0.5, 0.99])), (0.0, [0, 0]));
        assert_eq!(empty.buckets().count(), 0);
    }

    #[test]
    fn more_than_an_hour_is_counted_as_an_hour() {
        let mut histogram = roomy();
        histogram.record(3 * LONGEST_NS);
        histogram.record(1);
        let [middle_ns, top_ns] = histogram.quantiles_ns([0.5, 1.0]);
        assert_eq!((middle_ns, histogram.max_ns()), (1, 3 * LONGEST_NS));
        assert!((LONGEST_NS..LONGEST_NS / 1000 * 1001).contains(&top_ns), "{top_ns}");
    }

    /// Latencies from 0 to an hour, each order of magnitude alike.
    fn latencies() -> impl Strategy<Value = Vec<u64>> {
        let one = (0u32..42, any::<u64>()).prop_map(|(bits, draw)| draw & ((1 << bits) - 1));
        prop::collection::vec(one.prop_map(|ns| ns.min(LONGEST_NS)), 1..300)
    }

    fn of(latencies: &[u64]) -> Histogram {
        let mut histogram = roomy();
        latencies.iter().for_each(|&ns| histogram.record(ns));
        histogram
    }

    fn facts(histogram: &Histogram) -> (Vec<(u64, u64)>, u64, f64, u64, u64) {
        let Histogram { count, min_ns, max_ns, .. } = *histogram;
        (histogram.buckets().collect(), count, histogram.mean_ns(), min_ns, max_ns)
    }

    proptest! {
        #[test]
        fn adding_is_recording_both(one in latencies(), other in latencies()) {
            let mut sum = of(&one);
            sum.add(&of(&other));
            prop_assert_eq!(facts(&sum), facts(&of(&[&one[..], &other].concat())));
            let rest = sum.without(&of(&other));
            let (buckets, mean) = (rest.buckets().collect::<Vec<_>>(), rest.mean_ns());
            prop_assert_eq!(rest.count(), one.len() as u64);
            prop_assert_eq!(mean, of(&one).mean_ns());
            // Of a bucket that holds the largest, the end depends on which that is.
            let counts = |all: &[(u64, u64)]| all.iter().map(|one| one.1).collect::<Vec<_>>();
            prop_assert_eq!(counts(&buckets), counts(&facts(&of(&one)).0));
            sum.clear();
            prop_assert_eq!(facts(&sum), facts(&Histogram::default()));
            prop_assert_eq!(sum.counts.len(), 0);
        }
    }
}
