//! The counters of a server, for Prometheus and for its summary.

use hdrhistogram::Histogram;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use crate::protocol::Kind;
use crate::scrape::{Family, Figure, Scrape};

/// Kinds of commands that are counted separately.
pub const KINDS: [(Kind, &str); 5] = [
    (Kind::Read, "read"),
    (Kind::Write, "write"),
    (Kind::Flush, "flush"),
    (Kind::Trim, "trim"),
    (Kind::WriteZeroes, "write_zeroes"),
];

/// Commands of one kind.
pub struct Count {
    pub commands: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Latencies by the model's clock.
    pub latency_ns: Histogram<u64>,
}

/// The counters of a server.
pub struct Metrics {
    pub kinds: [Count; KINDS.len()],
    /// Delay of answers beyond the model's time, on the wall clock.
    pub lateness_ns: Histogram<u64>,
    pub connections: u64,
    pub refused: u64,
    /// Connections that ended with a violation of the protocol.
    pub malformed: u64,
    /// Commands not submitted in full because their clients had left.
    pub cancelled: u64,
}

fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are possible")
}

impl Metrics {
    pub fn new() -> Metrics {
        let count = || Count { commands: 0, bytes: 0, errors: 0, latency_ns: histogram() };
        Metrics {
            kinds: std::array::from_fn(|_| count()),
            lateness_ns: histogram(),
            connections: 0,
            refused: 0,
            malformed: 0,
            cancelled: 0,
        }
    }

    /// The counts of a kind; `None`: an unknown one.
    pub fn of(&mut self, kind: Kind) -> Option<&mut Count> {
        let place = KINDS.iter().position(|(listed, _)| *listed == kind)?;
        Some(&mut self.kinds[place])
    }

    /// The server's part of a summary.
    pub fn summary(&self) -> Value {
        let mut commands = serde_json::Map::new();
        for ((_, name), count) in KINDS.iter().zip(&self.kinds) {
            let found = json!({
                "count": count.commands,
                "bytes": count.bytes,
                "errors": count.errors,
                "latency_ns": percentiles(&count.latency_ns),
            });
            commands.insert(name.to_string(), found);
        }
        json!({
            "commands": commands,
            "lateness_ns": percentiles(&self.lateness_ns),
            "lateness_histogram_ns": buckets(&self.lateness_ns),
            "connections": self.connections,
            "refused_connections": self.refused,
            "malformed_conversations": self.malformed,
            "cancelled_commands": self.cancelled,
        })
    }

    /// The text for Prometheus, with the drive's metrics.
    pub fn text(&self, of_drive: Vec<Family>) -> String {
        let by_kind = |name, help, value: fn(&Count) -> Figure| {
            let kinds = KINDS.iter().zip(&self.kinds);
            Family::by(name, help, "command", kinds.map(|((_, kind), count)| (*kind, value(count))))
        };
        let count = |name, help, count| Family::one(name, help, Figure::Count(count));
        let lateness = Figure::latencies(&self.lateness_ns);
        let mut families = vec![
            by_kind("reprieve_commands", "Commands that were answered", |of| {
                Figure::Count(of.commands)
            }),
            by_kind("reprieve_command_bytes", "Bytes of those commands", |of| {
                Figure::Count(of.bytes)
            }),
            by_kind("reprieve_command_errors", "Those answered by an error", |of| {
                Figure::Count(of.errors)
            }),
            by_kind("reprieve_latency_seconds", "Latency by the model's clock", |of| {
                Figure::latencies(&of.latency_ns)
            }),
            Family::one(
                "reprieve_lateness_seconds",
                "Answers sent later than the model says",
                lateness,
            ),
            count("reprieve_connections", "Clients so far", self.connections),
            count(
                "reprieve_refused_connections",
                "Clients and handshakes beyond the limit",
                self.refused,
            ),
            count("reprieve_malformed", "Clients that broke the protocol", self.malformed),
            count("reprieve_cancelled", "Commands whose clients left before", self.cancelled),
        ];
        families.extend(of_drive);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Scrape(families)));
        let mut text = String::new();
        prometheus_text::encode(&mut text, &registry).expect("a string takes any text");
        text
    }
}

fn percentiles(histogram: &Histogram<u64>) -> Value {
    let mut found = serde_json::Map::new();
    found.insert("count".into(), json!(histogram.len()));
    found.insert("mean".into(), json!(histogram.mean()));
    found.insert("min".into(), json!(histogram.min()));
    let quantiles = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)];
    for (name, quantile) in quantiles {
        found.insert(name.into(), json!(histogram.value_at_quantile(quantile)));
    }
    found.insert("max".into(), json!(histogram.max()));
    Value::Object(found)
}

/// Upper values and counts of the buckets that are not empty.
fn buckets(histogram: &Histogram<u64>) -> Value {
    let each = histogram.iter_recorded();
    Value::Array(
        each.map(|value| json!([value.value_iterated_to(), value.count_at_value()])).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_for_prometheus_counts_what_is_below_each_bound() {
        let mut metrics = Metrics::new();
        for ns in [1_000, 1_001, 4_000, 30_000_000_000] {
            metrics.lateness_ns.record(ns).expect("it grows");
        }
        let text = metrics.text(Vec::new());
        let has = |line: &str| assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        has("# TYPE reprieve_lateness_seconds histogram");
        has("reprieve_lateness_seconds_bucket{le=\"1e-06\"} 1");
        has("reprieve_lateness_seconds_bucket{le=\"2e-06\"} 2");
        has("reprieve_lateness_seconds_bucket{le=\"5e-06\"} 3");
        has("reprieve_lateness_seconds_bucket{le=\"10\"} 3");
        has("reprieve_lateness_seconds_bucket{le=\"+Inf\"} 4");
        has("reprieve_lateness_seconds_count 4");
        has("reprieve_latency_seconds_bucket{command=\"read\",le=\"+Inf\"} 0");
    }
}
