//! Figures of one load among several, and the fairness between them.

use reprieve_base::{Op, Time};
use reprieve_policy::txn::{LatencyComponent, LatencyComponents};
use serde_json::{Map, Value, json};

use super::Latencies;
use super::requests::{rate, requests};

/// Counters of one load.
#[derive(Clone, Debug)]
pub struct FlowStats {
    name: String,
    latencies: Latencies,
    first_arrival: Option<Time>,
    last_completion: Time,
}

impl FlowStats {
    /// Creates empty counters.
    pub fn new(name: &str) -> FlowStats {
        FlowStats {
            name: name.to_string(),
            latencies: Latencies::in_one(),
            first_arrival: None,
            last_completion: Time::ZERO,
        }
    }

    /// Counts an arrival.
    #[inline]
    pub fn arrived(&mut self, now: Time) {
        self.first_arrival.get_or_insert(now);
    }

    /// Counts a completion.
    #[inline]
    pub fn completed(
        &mut self,
        op: Op,
        fua: bool,
        bytes: u32,
        latency_ns: u64,
        parts: &LatencyComponents,
    ) {
        self.latencies.record(0, op, fua, bytes, latency_ns, parts);
    }

    /// Sets the completion of the last request.
    #[inline]
    pub fn ended(&mut self, now: Time) {
        self.last_completion = now;
    }

    /// Returns the time from the first arrival to the last completion.
    fn active_ns(&self) -> u64 {
        self.first_arrival.map_or(0, |first| (self.last_completion.max(first) - first).ns())
    }

    /// Returns reads and writes a second, and their bytes.
    fn throughput(&self) -> [f64; 2] {
        let (read, write) = (self.latencies.read(), self.latencies.write());
        let amounts = [read.count() + write.count(), read.bytes + write.bytes];
        amounts.map(|amount| rate(amount, self.active_ns()))
    }
}

/// Returns the section `flows` of the summary, by name, without components that cannot occur.
pub(super) fn flows(flows: &[&FlowStats], absent: &[LatencyComponent]) -> Value {
    let each = flows.iter().map(|flow| {
        let [iops, bandwidth] = flow.throughput();
        let value = json!({
            "requests": requests(&flow.latencies, absent),
            "active_ns": flow.active_ns(),
            "iops": iops,
            "bandwidth_bytes_per_s": bandwidth,
        });
        (flow.name.clone(), value)
    });
    Value::Object(each.collect::<Map<_, _>>())
}

/// Returns the section `fairness` of the summary.
pub(super) fn fairness(flows: &[&FlowStats]) -> Value {
    let of =
        |index: usize| jain(&flows.iter().map(|flow| flow.throughput()[index]).collect::<Vec<_>>());
    json!({"jain_iops": of(0), "jain_bandwidth": of(1)})
}

/// Returns Jain's index: 1 for equal shares, 1 / n for a single one (Jain, Chiu and Hawe, 1984).
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_goes_from_one_flow_alone_to_all_alike() {
        assert_eq!(jain(&[5.0, 5.0, 5.0, 5.0]), 1.0);
        assert_eq!(jain(&[0.0, 7.0, 0.0, 0.0]), 0.25);
        // 6 x 6 / (3 x 14).
        assert_eq!(jain(&[1.0, 2.0, 3.0]), 36.0 / 42.0);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
    }
}
