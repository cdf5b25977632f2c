//! The metrics in Prometheus's text format.

use std::fmt;

use hdrhistogram::Histogram;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// Upper ends of the buckets of a histogram for Prometheus, in microseconds.
const BOUNDS_US: [u64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000,
    200_000, 500_000, 1_000_000, 10_000_000,
];

/// Labels: names and values.
pub type Labels = Vec<(&'static str, &'static str)>;

/// The value of a metric with its labels.
#[derive(Clone, Debug)]
pub enum Figure {
    Count(u64),
    Level(f64),
    /// Sum and number, and the count of each bucket, by its upper end in seconds.
    Latencies {
        sum_s: f64,
        count: u64,
        buckets: Vec<(f64, u64)>,
    },
}

impl Figure {
    /// The latencies of a histogram in nanoseconds, by buckets.
    pub fn latencies(histogram: &Histogram<u64>) -> Figure {
        let mut values = histogram.iter_recorded().peekable();
        let mut buckets: Vec<(f64, u64)> = Vec::with_capacity(BOUNDS_US.len() + 1);
        for bound_ns in BOUNDS_US.map(|bound_us| bound_us * 1000) {
            let mut inside = 0;
            while let Some(value) = values.next_if(|value| value.value_iterated_to() <= bound_ns) {
                inside += value.count_at_value();
            }
            buckets.push((bound_ns as f64 / 1e9, inside));
        }
        let count = histogram.len();
        let inside: u64 = buckets.iter().map(|(_, inside)| inside).sum();
        buckets.push((f64::INFINITY, count - inside));
        Figure::Latencies { sum_s: histogram.mean() * count as f64 / 1e9, count, buckets }
    }

    fn metric_type(&self) -> MetricType {
        match self {
            Figure::Count(_) => MetricType::Counter,
            Figure::Level(_) => MetricType::Gauge,
            Figure::Latencies { .. } => MetricType::Histogram,
        }
    }
}

/// Metrics of one name and type; names of counters get `_total` appended.
#[derive(Clone, Debug)]
pub struct Family {
    pub name: &'static str,
    pub help: &'static str,
    pub values: Vec<(Labels, Figure)>,
}

impl Family {
    /// A metric without labels.
    pub fn one(name: &'static str, help: &'static str, value: Figure) -> Family {
        Family { name, help, values: vec![(Labels::new(), value)] }
    }

    /// A metric with a value for each value of a label.
    pub fn by(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        values: impl Iterator<Item = (&'static str, Figure)>,
    ) -> Family {
        let values = values.map(|(value, figure)| (vec![(label, value)], figure)).collect();
        Family { name, help, values }
    }
}

/// All of them.
#[derive(Debug)]
pub struct Scrape(pub Vec<Family>);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Family { name, help, values } in &self.0 {
            let Some((_, first)) = values.first() else { continue };
            let mut family = encoder.encode_descriptor(name, help, None, first.metric_type())?;
            for (labels, figure) in values {
                let mut metric = family.encode_family(labels)?;
                match figure {
                    Figure::Count(count) => {
                        metric.encode_counter::<NoLabelSet, _, u64>(count, None)?;
                    }
                    // Whole numbers as such.
                    Figure::Level(level) if level.fract() == 0.0 => {
                        metric.encode_gauge(&(*level as i64))?;
                    }
                    Figure::Level(level) => metric.encode_gauge(level)?,
                    Figure::Latencies { sum_s, count, buckets } => {
                        metric.encode_histogram::<NoLabelSet>(*sum_s, *count, buckets, None)?;
                    }
                }
            }
        }
        Ok(())
    }
}
