//! Section `requests` of a summary, of the drive or of a load.

use reprieve_policy::txn::{LatencyComponent, PART_NAMES};
use serde_json::{Map, Value, json};

use super::confidence::{PERCENTILES, confidence, percentiles_ns};
use super::distribution::ByBatch;
use super::latencies::Batching;
use super::{Distribution, Latencies, Latency};

/// Returns an amount per second of simulated time.
pub(super) fn rate(amount: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { amount as f64 / (ns as f64 * 1e-9) }
}

/// Returns the section `requests`, of the drive or of a load: each class with requests, and the
/// total, without components that cannot occur.
pub(super) fn requests(latencies: &Latencies, absent: &[LatencyComponent]) -> Value {
    let (read, write) = (latencies.read(), latencies.write());
    let (reads, writes) = (read.by_batch(), write.by_batch());
    let total = ByBatch::together(&reads, &writes);
    let batching = latencies.batching();
    let batching = batching.as_ref();
    let mut requests = Map::new();
    requests.insert("read".into(), class(&[read], &reads, absent, batching));
    requests.insert("write".into(), class(&[write], &writes, absent, batching));
    requests.insert("total".into(), class(&[read, write], &total, absent, batching));
    for (name, latency) in latencies.rare() {
        if latency.count() > 0 {
            let rare = latency.by_batch();
            requests.insert(name.into(), class(&[latency], &rare, absent, None));
        }
    }
    Value::Object(requests)
}

/// Mean, extremes and percentiles of a summary.
pub fn latency_ns(whole: &Distribution) -> Value {
    let mut latency_ns = Map::new();
    latency_ns.insert("mean".into(), json!(whole.mean_ns()));
    latency_ns.insert("min".into(), json!(whole.min_ns()));
    for ((name, _), value_ns) in PERCENTILES.into_iter().zip(percentiles_ns(whole)) {
        latency_ns.insert(name.into(), json!(value_ns));
    }
    latency_ns.insert("max".into(), json!(whole.max_ns()));
    Value::Object(latency_ns)
}

/// Returns some classes of requests together, with these latencies; with confidence if there are
/// batches.
fn class(
    classes: &[&Latency],
    latencies: &ByBatch,
    absent: &[LatencyComponent],
    batching: Option<&Batching>,
) -> Value {
    let whole = &latencies.whole;
    let count = whole.count();
    let mean = |sum: u128| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    let parts: Map<String, Value> = PART_NAMES
        .iter()
        .enumerate()
        .filter(|(part, _)| absent.iter().all(|absent| *part != *absent as usize))
        .map(|(part, name)| {
            let sum = classes.iter().map(|class| class.parts_ns()[part]).sum();
            (name.trim_end_matches("_ns").to_string(), json!(mean(sum)))
        })
        .collect();
    let mut class = json!({
        "count": count,
        "bytes": classes.iter().map(|class| class.bytes).sum::<u64>(),
        "latency_ns": latency_ns(whole),
    });
    if let Some(batching) = batching {
        class["confidence"] = confidence(latencies, batching);
    }
    class["components_ns"] = Value::Object(parts);
    class
}
