//! Precision of a run's latencies: 95 % intervals by batch means.

use serde_json::{Map, Value, json};

use super::Distribution;
use super::batches::PLACES;
use super::distribution::ByBatch;
use super::latencies::Batching;

/// Share of such intervals that contain the value of an endless run.
const LEVEL: f64 = 0.95;
/// Fewest batches that make an interval.
const FEWEST_BATCHES: usize = PLACES / 2;
/// Requests that each batch needs beyond a quantile.
const BEYOND: f64 = 10.0;
/// Student's t at 0.975, by degrees of freedom from 9 to 19 (NIST/SEMATECH e-Handbook of
/// Statistical Methods, 1.3.6.7.2, has them to three digits; a test integrates the density).
const STUDENT_T: [f64; PLACES - FEWEST_BATCHES + 1] = [
    2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092,
    2.09302,
];

/// Percentiles of a summary, rising.
pub(super) const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
    ("p99_999", 0.99999),
];

/// Values of the percentiles of a summary.
pub(super) fn percentiles_ns(latencies: &Distribution) -> [u64; PERCENTILES.len()] {
    latencies.quantiles_ns(PERCENTILES.map(|(_, share)| share))
}

/// Batches of the intervals.
struct BatchSet {
    whole: PercentileSample,
    parts: Vec<PercentileSample>,
    /// Requests of the parts.
    requests: u64,
}

/// Figures of a distribution.
struct PercentileSample {
    count: u64,
    mean_ns: f64,
    percentiles_ns: [u64; PERCENTILES.len()],
}

impl PercentileSample {
    fn of(latencies: &Distribution) -> PercentileSample {
        PercentileSample {
            count: latencies.count(),
            mean_ns: latencies.mean_ns(),
            percentiles_ns: percentiles_ns(latencies),
        }
    }
}

impl BatchSet {
    /// Returns the interval of the mean. Batches count by their requests, as classes share the
    /// batches and differ in their counts.
    ///
    /// On the scale of logarithms an error of a mean is relative.
    fn mean_ns(&self) -> [f64; 2] {
        let number = self.parts.len() as f64;
        let centre = self.whole.mean_ns;
        if centre == 0.0 {
            return [0.0; 2];
        }
        self.around(centre, |part| {
            part.count as f64 * number / self.requests as f64 * (part.mean_ns / centre - 1.0)
        })
    }

    /// Returns the interval of a percentile, by its place in the list. Logarithms end at a
    /// nanosecond, the resolution of time.
    fn percentile_ns(&self, index: usize) -> [f64; 2] {
        let whole_ns = self.whole.percentiles_ns[index].max(1) as f64;
        self.around(whole_ns, |part| libm::log(part.percentiles_ns[index].max(1) as f64 / whole_ns))
    }

    /// Returns an interval from the deviations of the batches' figures from that of the run, in
    /// logarithms.
    ///
    /// Latencies are positive, and so are both ends: normal intervals of positive figures are
    /// formed in logarithms (Meeker and Escobar, Statistical Methods for Reliability Data, 1998,
    /// chapter 7). Deviations are from the figure of the whole run, not from the batches' mean: a
    /// percentile of few requests is biased, and so would be an interval around their mean
    /// (sectioning; Asmussen and Glynn, Stochastic Simulation, 2007, III.5a).
    fn around(&self, centre: f64, strays: impl Fn(&PercentileSample) -> f64) -> [f64; 2] {
        let number = self.parts.len() as f64;
        let squares: f64 = self.parts.iter().map(|part| strays(part).powi(2)).sum();
        let error = (squares / (number * (number - 1.0))).sqrt();
        let factor = libm::exp(STUDENT_T[self.parts.len() - FEWEST_BATCHES] * error);
        [centre / factor, centre * factor]
    }
}

/// Returns the section `confidence` of a class of requests, or of several.
pub(super) fn confidence(class: &ByBatch, batching: &Batching) -> Value {
    let part = |number: &usize| PercentileSample::of(&class.batches[*number]);
    let parts: Vec<PercentileSample> = batching.complete.iter().map(part).collect();
    let fewest = parts.iter().map(|part| part.count).min().unwrap_or(0);
    let requests = parts.iter().map(|part| part.count).sum();
    let batches = BatchSet { whole: PercentileSample::of(&class.whole), parts, requests };
    let mut section = Map::new();
    section.insert("level".into(), json!(LEVEL));
    section.insert("batches".into(), json!(batching.complete.len()));
    section.insert("batch_requests".into(), json!(batching.requests));
    section.insert("fewest_requests".into(), json!(fewest));
    let mut too_few = Map::new();
    let mut insert = |name: &str, needs: f64, interval: &dyn Fn() -> [f64; 2]| {
        let is_enough = batching.complete.len() >= FEWEST_BATCHES && fewest as f64 >= needs;
        section.insert(name.into(), json!(is_enough.then(interval)));
        if !is_enough {
            too_few.insert(name.into(), json!(needs as u64));
        }
        is_enough
    };
    let has_mean = insert("mean", BEYOND, &|| batches.mean_ns());
    for (index, (name, share)) in PERCENTILES.into_iter().enumerate() {
        // 1 − 0.9999 is slightly above 0.0001.
        insert(name, (BEYOND / (1.0 - share)).round(), &|| batches.percentile_ns(index));
    }
    let lag_1 = has_mean.then(|| lag_1_autocorrelation(&batches.parts)).flatten();
    section.insert("lag_1_autocorrelation".into(), json!(lag_1));
    section.insert("too_few".into(), Value::Object(too_few));
    Value::Object(section)
}

/// Returns the correlation of neighbouring batch means: near 0 where batches are long enough;
/// `None` if all are equal.
fn lag_1_autocorrelation(batches: &[PercentileSample]) -> Option<f64> {
    let means: Vec<f64> = batches.iter().map(|batch| batch.mean_ns).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = means.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests;
