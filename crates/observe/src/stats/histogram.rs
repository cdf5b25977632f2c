//! Latencies in buckets: exact count, sum and extremes, and each latency within 0.1 %.

use hdrhistogram::Histogram as Buckets;

use super::Distribution;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Longest latency that is told apart: an hour; longer ones count, as an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Latencies up to this one have their buckets from the start, 17 times 1,024 of them; for longer
/// ones a histogram has to grow. A run has 40 histograms, and most never need it.
pub(super) const USUAL_NS: u64 = (1 << 26) - 1;

/// Latencies of some requests, with room for more.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Buckets<u64>,
    totals: LatencyTotals,
}

/// What is known of latencies exactly.
#[derive(Clone, Copy, Debug)]
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
    /// Counts all of `other` too.
    pub(super) fn add(&mut self, other: &LatencyTotals) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// All of this one but those of `other`, which may have been its extremes.
    pub(super) fn without(&self, other: &LatencyTotals) -> LatencyTotals {
        LatencyTotals {
            count: self.count - other.count,
            sum_ns: self.sum_ns - other.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        }
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        let mut counts =
            Buckets::new_with_bounds(1, USUAL_NS, DIGITS).expect("the bounds are valid");
        counts.auto(true);
        Histogram { counts, totals: LatencyTotals::default() }
    }
}

impl Histogram {
    /// Counts a request; one that is longer than there is room for counts as the longest of these.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.counts.saturating_record(latency_ns);
        self.totals.count += 1;
        self.totals.sum_ns += u128::from(latency_ns);
        self.totals.min_ns = self.totals.min_ns.min(latency_ns);
        self.totals.max_ns = self.totals.max_ns.max(latency_ns);
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
        if other.totals.count == 0 {
            return;
        }
        self.counts.add(&other.counts).expect("the histogram grows");
        self.totals.add(&other.totals);
    }

    /// Forgets all requests.
    pub fn clear(&mut self) {
        self.counts.reset();
        self.totals = LatencyTotals::default();
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// All latencies together, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.totals.sum_ns
    }

    /// What was counted so far.
    pub fn distribution(&self) -> Distribution {
        if self.totals.count == 0 {
            return Distribution::default();
        }
        let buckets = self.counts.iter_recorded();
        let buckets = buckets.map(|value| (value.value_iterated_to(), value.count_at_value()));
        Distribution::new(buckets.collect(), self.totals)
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
        let told = histogram.distribution();
        for quantile in [0.5, 0.95, 0.99, 0.999, 0.9999, 1.0] {
            let exact = quantile * 1e8;
            let [got] = told.quantiles_ns([quantile]).map(|ns| ns as f64);
            assert!(got >= exact && got <= exact * 1.001, "{quantile}: {got} for {exact}");
        }
        assert_eq!(told.mean_ns(), 50_000_500.0);
        assert_eq!((told.min_ns(), told.max_ns()), (1000, 100_000_000));
    }

    #[test]
    fn nothing_is_zero() {
        let empty = Histogram::default().distribution();
        assert_eq!((empty.count(), empty.min_ns(), empty.max_ns()), (0, 0, 0));
        assert_eq!((empty.mean_ns(), empty.quantiles_ns([0.5, 0.99])), (0.0, [0, 0]));
        assert_eq!(empty.buckets().count(), 0);
    }

    #[test]
    fn more_than_an_hour_is_counted_as_an_hour() {
        let mut histogram = roomy();
        histogram.record(3 * LONGEST_NS);
        histogram.record(1);
        let told = histogram.distribution();
        let [middle_ns, top_ns] = told.quantiles_ns([0.5, 1.0]);
        assert_eq!((middle_ns, told.max_ns()), (1, 3 * LONGEST_NS));
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

    fn facts(told: &Distribution) -> (Vec<(u64, u64)>, u64, f64, u64, u64) {
        (told.buckets().collect(), told.count(), told.mean_ns(), told.min_ns(), told.max_ns())
    }

    proptest! {
        #[test]
        fn adding_is_recording_both(one in latencies(), other in latencies()) {
            let (mut first, second) = (of(&one), of(&other));
            let (mine, others) = (first.distribution(), second.distribution());
            first.add(&second);
            let both = of(&[&one[..], &other].concat()).distribution();
            prop_assert_eq!(facts(&first.distribution()), facts(&both));
            let sum = Distribution::sum([&mine, &others]);
            prop_assert_eq!(facts(&sum), facts(&both));
            let rest = sum.without(&others);
            prop_assert_eq!(rest.count(), one.len() as u64);
            prop_assert_eq!(rest.mean_ns(), mine.mean_ns());
            // Of a bucket that holds the largest, the end depends on which that is.
            let counts = |of: &Distribution| of.buckets().map(|one| one.1).collect::<Vec<_>>();
            prop_assert_eq!(counts(&rest), counts(&mine));
            first.clear();
            prop_assert_eq!(facts(&first.distribution()), facts(&Distribution::default()));
            prop_assert_eq!(first.counts.len(), 0);
        }

        /// The percentile of a distribution is that of its sorted latencies, to a thousandth.
        #[test]
        fn percentiles_are_those_of_sorted_latencies(mut all in latencies(), share in 0.0..=1.0) {
            let [got_ns] = of(&all).distribution().quantiles_ns([share]);
            all.sort_unstable();
            let rank = ((share * all.len() as f64).ceil() as usize).max(1);
            let exact_ns = all[rank - 1];
            prop_assert!((exact_ns..=exact_ns + exact_ns / 1000).contains(&got_ns));
        }
    }
}
