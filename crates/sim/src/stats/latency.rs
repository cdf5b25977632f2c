//! Latencies of one class of requests: exact mean and extremes, percentiles within 0.1 %.

use hdrhistogram::Histogram;

use crate::txn::{PART_NAMES, Parts};

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Longest latency that is told apart: an hour; longer ones count, as an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Latencies of one class of requests.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    /// Requests.
    pub count: u64,
    /// Bytes they asked for.
    pub bytes: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    parts_ns: [u128; PART_NAMES.len()],
}

impl Default for Latency {
    fn default() -> Latency {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Latency {
            histogram: histogram.expect("the bounds are valid"),
            count: 0,
            bytes: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            parts_ns: [0; PART_NAMES.len()],
        }
    }
}

impl Latency {
    /// Counts a request.
    #[inline(always)]
    pub fn record(&mut self, latency_ns: u64, bytes: u32, parts: &Parts) {
        self.histogram.saturating_record(latency_ns);
        self.count += 1;
        self.bytes += u64::from(bytes);
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        for (sum, part) in self.parts_ns.iter_mut().zip(parts.0) {
            *sum += u128::from(part);
        }
    }

    /// Counts all requests of `other` too.
    pub fn add(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
        self.count += other.count;
        self.bytes += other.bytes;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        for (sum, part) in self.parts_ns.iter_mut().zip(other.parts_ns) {
            *sum += part;
        }
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

    /// The latency that `quantile` of the requests do not exceed, in nanoseconds.
    ///
    /// Nearest rank; at most 0.1 % above the exact value, and never above the longest.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.count == 0 {
            0
        } else {
            self.histogram.value_at_quantile(quantile).min(self.max_ns)
        }
    }

    /// Mean time by part, in nanoseconds.
    pub fn mean_parts_ns(&self) -> [f64; PART_NAMES.len()] {
        self.parts_ns.map(|sum| if self.count == 0 { 0.0 } else { sum as f64 / self.count as f64 })
    }

    /// Upper bound in nanoseconds and count of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let max = self.max_ns;
        self.histogram
            .iter_recorded()
            .map(move |value| (value.value_iterated_to().min(max), value.count_at_value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut latency = Latency::default();
        // 1 us, 2 us … 100,000 us: the q-quantile by nearest rank is q * 10^8 ns.
        for us in 1..=100_000u64 {
            latency.record(us * 1000, 512, &Parts::default());
        }
        for quantile in [0.5, 0.95, 0.99, 0.999, 0.9999, 1.0] {
            let exact = quantile * 1e8;
            let got = latency.quantile_ns(quantile) as f64;
            assert!(got >= exact && got <= exact * 1.001, "{quantile}: {got} for {exact}");
        }
        assert_eq!(latency.mean_ns(), 50_000_500.0);
        assert_eq!((latency.min_ns(), latency.max_ns()), (1000, 100_000_000));
    }
}
