//! How well a run knows its latencies: 95 % intervals by batch means.

use serde_json::{Map, Value, json};

use super::latencies::{Batching, PLACES, batch};
use super::{Histogram, Latency};

/// Share of such intervals that hold what a run without end would give.
const LEVEL: f64 = 0.95;
/// Fewest batches that make an interval.
const FEWEST_BATCHES: usize = PLACES / 2;
/// Requests that each batch has to have beyond a quantile.
const BEYOND: f64 = 10.0;
/// Student's t at 0.975, by degrees of freedom from 9 to 18 (NIST/SEMATECH e-Handbook of
/// Statistical Methods, 1.3.6.7.2, has them to three digits; a test integrates the density).
const STUDENT_T: [f64; PLACES - FEWEST_BATCHES] =
    [2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092];

/// Percentiles of a summary.
pub(super) const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
    ("p99_999", 0.99999),
];

/// A figure of a distribution: its value, and the requests that a batch needs for it.
struct Figure {
    name: &'static str,
    quantile: Option<f64>,
    needs: u64,
}

impl Figure {
    fn all() -> impl Iterator<Item = Figure> {
        let quantiles = QUANTILES.map(|(name, quantile)| {
            // 1 − 0.9999 is a hair above 0.0001.
            let needs = (BEYOND / (1.0 - quantile)).round() as u64;
            Figure { name, quantile: Some(quantile), needs }
        });
        let mean = Figure { name: "mean", quantile: None, needs: BEYOND as u64 };
        std::iter::once(mean).chain(quantiles)
    }

    /// The interval around the figure of the whole run, from the figures of its batches.
    ///
    /// The batches stray around the figure of the whole run, not around their own mean: a quantile
    /// of few requests is biased, and around their mean the interval would be too (sectioning;
    /// Asmussen and Glynn, Stochastic Simulation, 2007, III.5a). A mean counts by its requests, as
    /// classes share their batches and have not equally many in each.
    fn interval_ns(&self, whole: &Histogram, batches: &[Histogram]) -> [f64; 2] {
        let number = batches.len() as f64;
        let requests: u64 = batches.iter().map(Histogram::count).sum();
        let (centre, squares): (f64, f64) = match self.quantile {
            Some(quantile) => {
                let centre = whole.quantile_ns(quantile) as f64;
                let squared =
                    |batch: &Histogram| (batch.quantile_ns(quantile) as f64 - centre).powi(2);
                (centre, batches.iter().map(squared).sum())
            }
            None => {
                let centre = whole.mean_ns();
                let weight = |batch: &Histogram| batch.count() as f64 * number / requests as f64;
                let squared =
                    |batch: &Histogram| (weight(batch) * (batch.mean_ns() - centre)).powi(2);
                (centre, batches.iter().map(squared).sum())
            }
        };
        let error = (squares / (number * (number - 1.0))).sqrt();
        let half = STUDENT_T[batches.len() - FEWEST_BATCHES] * error;
        [centre - half, centre + half]
    }
}

/// Section `confidence` of some classes of requests together, which are `whole` in all.
pub(super) fn confidence(classes: &[&Latency], whole: &Histogram, batching: Batching) -> Value {
    let batches: Vec<Histogram> =
        (0..batching.complete).map(|number| batch(classes, number)).collect();
    let fewest = batches.iter().map(Histogram::count).min().unwrap_or(0);
    let mut section = Map::new();
    section.insert("level".into(), json!(LEVEL));
    section.insert("batches".into(), json!(batching.complete));
    section.insert("batch_requests".into(), json!(batching.requests));
    section.insert("fewest_requests".into(), json!(fewest));
    let mut too_few = Map::new();
    for figure in Figure::all() {
        let is_enough = batching.complete >= FEWEST_BATCHES && fewest >= figure.needs;
        let interval = is_enough.then(|| figure.interval_ns(whole, &batches));
        section.insert(figure.name.into(), json!(interval));
        if !is_enough {
            too_few.insert(figure.name.into(), json!(figure.needs));
        }
    }
    let is_enough = !too_few.contains_key("mean");
    let lag_1 = is_enough.then(|| lag_1_autocorrelation(&batches)).flatten();
    section.insert("lag_1_autocorrelation".into(), json!(lag_1));
    section.insert("too_few".into(), Value::Object(too_few));
    Value::Object(section)
}

/// How the mean of a batch goes with that of the next: near 0 where batches are long enough; `None`
/// where all are equal.
fn lag_1_autocorrelation(batches: &[Histogram]) -> Option<f64> {
    let means: Vec<f64> = batches.iter().map(Histogram::mean_ns).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = means.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests;
