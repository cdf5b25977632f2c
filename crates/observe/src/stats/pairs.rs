//! Figures of each batch of a run, for comparison with another run, pair by pair.

use serde_json::{Map, Value, json};

use super::Latencies;
use super::batches::Mark;
use super::confidence::{PERCENTILES, percentiles_ns};
use super::distribution::ByBatch;

impl Latencies {
    /// Returns the complete batches by column: numbers, latencies, and work of the drive meanwhile.
    ///
    /// `now` and `programs`: the end of the run, and the pages programmed by then.
    pub fn by_batch(&self, now: reprieve_base::Time, programs: u64, page_bytes: u32) -> Value {
        let (Some(batches), Some(batching)) = (self.batches(), self.batching()) else {
            return Value::Null;
        };
        let numbers = &batching.complete;
        let (read, write) = (self.read().by_batch(), self.write().by_batch());
        let total = ByBatch::together(&read, &write);
        let end = self.come_to(now, programs);
        let windows: Vec<Mark> = numbers.iter().map(|batch| batches.window(*batch, &end)).collect();
        let column = |figure: &dyn Fn(&Mark) -> u64| windows.iter().map(figure).collect::<Vec<_>>();
        json!({
            "batch_requests": batching.requests,
            "number": numbers,
            "read": latencies(&read, numbers),
            "write": latencies(&write, numbers),
            "total": latencies(&total, numbers),
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

/// Returns by batch count and mean, and the percentiles of the run without it.
///
/// A percentile of a batch is biased if few requests exceed it; that of all the others is not, and
/// gives the contribution of the batch to the percentile of the run (the jackknife).
fn latencies(class: &ByBatch, numbers: &[usize]) -> Value {
    let (mut counts, mut means) = (Vec::new(), Vec::new());
    let mut without = vec![Vec::new(); PERCENTILES.len()];
    for number in numbers {
        let batch = &class.batches[*number];
        counts.push(batch.count());
        means.push(batch.mean_ns());
        let rest_ns = percentiles_ns(&class.whole.without(batch));
        without.iter_mut().zip(rest_ns).for_each(|(column, ns)| column.push(ns));
    }
    let names = PERCENTILES.into_iter().map(|(name, _)| format!("{name}_without"));
    let mut columns: Map<_, _> = names.zip(without.into_iter().map(Value::from)).collect();
    columns.insert("count".into(), json!(counts));
    columns.insert("mean".into(), json!(means));
    Value::Object(columns)
}

#[cfg(test)]
mod tests {
    use reprieve_base::{Op, Time};

    use super::*;
    use reprieve_policy::txn::LatencyComponents;

    #[test]
    fn columns_are_those_of_a_calculation_by_hand() {
        let mut latencies = Latencies::in_batches();
        // Three batches of 64 and a rest of 8; latencies of 1, 2, 3, 4 us, a completion each us.
        for number in 0..200u64 {
            let (none, at) = (LatencyComponents::default(), Time::from_ns(1000 * (number + 1)));
            let latency_ns = 1000 * (number / 64 + 1);
            if latencies.record(number, Op::Write, false, 512, latency_ns, &none) {
                latencies.mark(number, at, 3 * number);
            }
        }
        let told = latencies.by_batch(Time::from_ns(200_000), 600, 4096);
        assert_eq!((&told["batch_requests"], &told["number"]), (&json!(64), &json!([0, 1, 2])));
        assert_eq!(told["write"]["count"], json!([64, 64, 64]));
        assert_eq!(told["write"]["mean"], json!([1000.0, 2000.0, 3000.0]));
        assert_eq!(told["read"]["count"], json!([0, 0, 0]));
        // The 68th of 136: without the first it is the fourth of 3 us, without others one of 2 us.
        let middle = told["write"]["p50_without"].as_array().expect("a column");
        let us = |ns: &Value| ns.as_u64().expect("a time") / 1000;
        assert_eq!(middle.iter().map(us).collect::<Vec<_>>(), [3, 3, 2]);
        // From 0 to the first of the second batch, to that of the third, to that of the rest.
        let device = &told["device"];
        assert_eq!(device["ns"], json!([65_000, 64_000, 64_000]));
        assert_eq!(device["requests"], json!([65, 64, 64]));
        assert_eq!(device["written_bytes"], json!([65 * 512, 64 * 512, 64 * 512]));
        assert_eq!(device["programmed_bytes"], json!([192 * 4096, 192 * 4096, 192 * 4096]));
    }

    #[test]
    fn a_load_of_several_has_no_batches() {
        assert!(Latencies::in_one().by_batch(Time::ZERO, 0, 4096).is_null());
    }
}
