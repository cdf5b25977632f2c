//! What a run tells of each of its batches, so that it can be compared with another, pair by pair.

use serde_json::{Map, Value, json};

use super::batches::Mark;
use super::confidence::{PERCENTILES, percentiles_ns};
use super::latencies::batch;
use super::{Latencies, Latency};

impl Latencies {
    /// The complete batches by column: numbers, latencies, and what the drive did meanwhile.
    ///
    /// `now` and `programs`: the end of the run, and the pages that were programmed by then.
    pub fn by_batch(&self, now: reprieve_base::Time, programs: u64, page_bytes: u32) -> Value {
        let (Some(batches), Some(batching)) = (self.batches(), self.batching()) else {
            return Value::Null;
        };
        let numbers = &batching.complete;
        let (read, write) = (self.read(), self.write());
        let end = self.come_to(now, programs);
        let windows: Vec<Mark> =
            numbers.iter().map(|batch| batches.window(*batch, &end)).collect();
        let column = |figure: &dyn Fn(&Mark) -> u64| windows.iter().map(figure).collect::<Vec<_>>();
        json!({
            "batch_requests": batching.requests,
            "number": numbers,
            "read": latencies(&[read], numbers),
            "write": latencies(&[write], numbers),
            "total": latencies(&[read, write], numbers),
            "device": {
                "ns": column(&|window| window.at.ns()),
                "requests": column(&|window| window.requests),
                "bytes": column(&|window| window.bytes),
                "written_bytes": column(&|window| window.written_bytes),
                "programmed_bytes": column(&|window| window.programs * u64::from(page_bytes)),
            },
        })
    }
}

/// Counts, means and percentiles of some classes together, by batch.
fn latencies(classes: &[&Latency], numbers: &[usize]) -> Value {
    let histograms: Vec<_> = numbers.iter().map(|number| batch(classes, *number)).collect();
    let percentiles: Vec<_> = histograms.iter().map(percentiles_ns).collect();
    let mut columns = Map::new();
    let counts: Vec<u64> = histograms.iter().map(|histogram| histogram.count()).collect();
    let means: Vec<f64> = histograms.iter().map(|histogram| histogram.mean_ns()).collect();
    columns.insert("count".into(), json!(counts));
    columns.insert("mean".into(), json!(means));
    for (index, (name, _)) in PERCENTILES.into_iter().enumerate() {
        let column: Vec<u64> = percentiles.iter().map(|figures| figures[index]).collect();
        columns.insert(name.into(), json!(column));
    }
    Value::Object(columns)
}
