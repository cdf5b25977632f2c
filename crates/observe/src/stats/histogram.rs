//! Latencies in buckets: exact count, sum and extremes, and each latency within 0.1 %.

use hdrhistogram::Histogram as Buckets;

use super::Distribution;
use super::distribution::LatencyTotals;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Longest distinguished latency: an hour; longer ones count as an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Latencies with buckets from the start, 17 times 1,024 of them; a histogram grows for longer
/// ones.
pub(super) const USUAL_NS: u64 = (1 << 26) - 1;
/// Latencies that are stored individually; with more, they are counted in buckets. A run has 40
/// histograms: buckets of a short run would be nearly empty, and slow to fill, merge and search.
const FEW: usize = 1024;
/// Latencies below 2^11 ns have a bucket each, longer ones are bucketed by their first 11 bits,
/// which gives [`DIGITS`].
const BUCKET_BITS: u32 = 11;

/// A growing histogram of latencies.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Histogram {
    latencies: Recorded,
    /// Latencies that are stored individually.
    few: usize,
    /// Latencies up to this one are distinguished, and some longer ones.
    room_ns: u64,
    totals: LatencyTotals,
}

/// The latencies, to a thousandth or better.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Recorded {
    /// In order of arrival.
    Few(Vec<u64>),
    Many(#[serde(with = "counted")] Buckets<u64>),
}

/// Buckets as the longest latency with a bucket, and a latency and a count of each.
mod counted {
    use hdrhistogram::Histogram as Buckets;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(counts: &Buckets<u64>, to: S) -> Result<S::Ok, S::Error> {
        let recorded = counts.iter_recorded();
        let each = recorded.map(|each| (each.value_iterated_to(), each.count_at_value()));
        (counts.high(), each.collect::<Vec<_>>()).serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Buckets<u64>, D::Error> {
        let (room_ns, each) = <(u64, Vec<(u64, u64)>)>::deserialize(from)?;
        let mut counts = super::buckets(room_ns);
        each.into_iter().for_each(|(value, count)| counts.saturating_record_n(value, count));
        Ok(counts)
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            latencies: Recorded::Few(Vec::new()),
            few: FEW,
            room_ns: USUAL_NS,
            totals: LatencyTotals::default(),
        }
    }
}

impl Histogram {
    /// Creates an empty histogram with buckets from the first request on, so that a drive allocates
    /// nothing once it has grown to its load.
    pub fn of_many() -> Histogram {
        Histogram { few: 0, ..Histogram::default() }
    }

    /// Counts a request; one beyond the buckets counts in the last.
    #[inline(always)]
    pub fn record(&mut self, latency_ns: u64) {
        match &mut self.latencies {
            Recorded::Many(counts) => counts.saturating_record(latency_ns),
            Recorded::Few(_) => self.keep(&[latency_ns]),
        }
        self.totals.count += 1;
        self.totals.sum_ns += u128::from(latency_ns);
        self.totals.min_ns = self.totals.min_ns.min(latency_ns);
        self.totals.max_ns = self.totals.max_ns.max(latency_ns);
    }

    /// Counts a request, after growing for its latency if needed.
    pub fn record_any(&mut self, latency_ns: u64) {
        if latency_ns > self.room_ns {
            self.grow(latency_ns.next_power_of_two());
        }
        self.record(latency_ns);
    }

    /// Stores latencies, or counts them and all others when there would be too many.
    #[cold]
    fn keep(&mut self, more: &[u64]) {
        if let Recorded::Few(few) = &mut self.latencies
            && few.len() + more.len() <= self.few
        {
            return few.extend_from_slice(more);
        }
        let counts = self.many();
        more.iter().for_each(|&latency_ns| counts.saturating_record(latency_ns));
    }

    /// Returns the buckets, which replace the stored latencies.
    fn many(&mut self) -> &mut Buckets<u64> {
        if let Recorded::Few(few) = &self.latencies {
            let mut counts = buckets(self.room_ns);
            few.iter().for_each(|&latency_ns| counts.saturating_record(latency_ns));
            self.latencies = Recorded::Many(counts);
        }
        match &mut self.latencies {
            Recorded::Many(counts) => counts,
            Recorded::Few(_) => unreachable!("they are counted"),
        }
    }

    /// Grows for latencies up to `longest_ns`, at most an hour.
    #[cold]
    pub fn grow(&mut self, longest_ns: u64) {
        self.room_ns = longest_ns.min(LONGEST_NS);
        if let Recorded::Many(counts) = &mut self.latencies {
            let mut grown = buckets(self.room_ns);
            grown.add(&*counts).expect("the bounds are wider");
            *counts = grown;
        }
    }

    /// Counts all requests of `other` too.
    pub fn add(&mut self, other: &Histogram) {
        if other.totals.count == 0 {
            return;
        }
        match &other.latencies {
            Recorded::Few(few) => self.keep(few),
            Recorded::Many(counts) => {
                self.many().add(counts).expect("the histogram grows");
            }
        }
        self.totals.add(&other.totals);
    }

    /// Empties the histogram.
    pub fn clear(&mut self) {
        match &mut self.latencies {
            Recorded::Few(few) => few.clear(),
            Recorded::Many(counts) => counts.reset(),
        }
        self.totals = LatencyTotals::default();
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Returns the sum of latencies, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.totals.sum_ns
    }

    /// Returns the distribution.
    pub fn distribution(&self) -> Distribution {
        if self.totals.count == 0 {
            return Distribution::default();
        }
        let buckets = match &self.latencies {
            Recorded::Few(few) => of_few(few, self.room_ns),
            Recorded::Many(counts) => counts
                .iter_recorded()
                .map(|value| (value.value_iterated_to(), value.count_at_value()))
                .collect(),
        };
        Distribution::new(buckets, self.totals)
    }
}

/// Creates empty buckets, for latencies up to `longest_ns`.
fn buckets(longest_ns: u64) -> Buckets<u64> {
    let mut counts = Buckets::new_with_bounds(1, longest_ns, DIGITS).expect("valid bounds");
    counts.auto(true);
    counts
}

/// Returns upper bound and count of every bucket of some latencies, ascending, with buckets for
/// latencies up to `room_ns`.
fn of_few(few: &[u64], room_ns: u64) -> Vec<(u64, u64)> {
    // Buckets end at a power of two; longer latencies are in that of `room_ns`.
    let longest_ns = u64::MAX >> room_ns.leading_zeros().min(64 - BUCKET_BITS);
    let end_ns = |&ns: &u64| bucket_end_ns(if ns > longest_ns { room_ns } else { ns });
    let mut uppers: Vec<u64> = few.iter().map(end_ns).collect();
    uppers.sort_unstable();
    uppers.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u64)).collect()
}

/// Returns the upper bound of a latency's bucket.
fn bucket_end_ns(latency_ns: u64) -> u64 {
    let width_log2 = (64 - BUCKET_BITS).saturating_sub(latency_ns.leading_zeros());
    latency_ns | ((1 << width_log2) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Creates a histogram with all buckets.
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

    /// Few latencies, as the buckets have them.
    fn counted(mut few: Histogram) -> Histogram {
        few.many();
        few
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
            // The end of the bucket with the largest latency depends on that.
            let counts = |of: &Distribution| of.buckets().map(|one| one.1).collect::<Vec<_>>();
            prop_assert_eq!(counts(&rest), counts(&mine));
            first.clear();
            prop_assert_eq!(facts(&first.distribution()), facts(&Distribution::default()));
        }

        /// Stored latencies are reported like counted ones, with all buckets or not.
        #[test]
        fn few_are_told_as_many(all in latencies(), room_bits in 2u32..42, longer: u64) {
            let room_ns = 1 << room_bits;
            let mut few = Histogram { room_ns, ..Histogram::default() };
            all.iter().for_each(|&ns| few.record(ns));
            few.record(longer);
            let mut many = counted(Histogram { room_ns, ..Histogram::default() });
            all.iter().for_each(|&ns| many.record(ns));
            many.record(longer);
            prop_assert!(matches!(few.latencies, Recorded::Few(_)));
            prop_assert_eq!(facts(&few.distribution()), facts(&many.distribution()));
            let told = counted(few.clone()).distribution();
            prop_assert_eq!(facts(&told), facts(&many.distribution()));
            few.grow(2 * room_ns);
            many.grow(2 * room_ns);
            few.record(longer);
            many.record(longer);
            // Latencies beyond the buckets are exact only where they were stored.
            if longer <= room_ns && all.iter().all(|&ns| ns <= room_ns) {
                prop_assert_eq!(facts(&few.distribution()), facts(&many.distribution()));
            }
        }

        /// Sums of all kinds: of few and of many, and of few that make many.
        #[test]
        fn sums_of_few_and_many_are_recordings(
            one in latencies(), other in latencies(), times in 1usize..5, [a, b]: [bool; 2],
        ) {
            let some = |latencies: &[u64], many: bool| {
                let all = latencies.repeat(times);
                let histogram = of(&all);
                (if many { counted(histogram) } else { histogram }, all)
            };
            let ((mut sum, mut all), (added, others)) = (some(&one, a), some(&other, b));
            sum.add(&added);
            all.extend(others);
            prop_assert_eq!(facts(&sum.distribution()), facts(&of(&all).distribution()));
            if all.len() > FEW {
                prop_assert!(matches!(sum.latencies, Recorded::Many(_)));
            }
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
