//! What a server counts, and how it tells it: as text for Prometheus, and in its summary.

use std::fmt::Write as _;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::protocol::Kind;

/// Commands that are told apart.
pub const KINDS: [(Kind, &str); 5] = [
    (Kind::Read, "read"),
    (Kind::Write, "write"),
    (Kind::Flush, "flush"),
    (Kind::Trim, "trim"),
    (Kind::WriteZeroes, "write_zeroes"),
];

/// Upper ends of the buckets of a histogram for Prometheus, in nanoseconds.
const BOUNDS_NS: [u64; 20] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    10_000_000_000,
];

/// Commands of one kind.
pub struct Count {
    pub commands: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Latencies by the model's clock.
    pub latency_ns: Histogram<u64>,
}

/// What a server counts.
pub struct Metrics {
    pub kinds: [Count; KINDS.len()],
    /// How much later than the model says an answer was sent, by the wall's clock.
    pub lateness_ns: Histogram<u64>,
    pub connections: u64,
    pub refused: u64,
    /// Conversations that ended because the client did not keep to the protocol.
    pub malformed: u64,
    /// Commands that were not or not wholly handed to the drive, as their clients had left.
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

    /// The counts of a kind; `None`: one that was not offered.
    pub fn of(&mut self, kind: Kind) -> Option<&mut Count> {
        let place = KINDS.iter().position(|(listed, _)| *listed == kind)?;
        Some(&mut self.kinds[place])
    }

    /// The part of a summary that is the server's.
    pub fn summary(&self) -> Value {
        let mut commands = serde_json::Map::new();
        for ((_, name), count) in KINDS.iter().zip(&self.kinds) {
            let told = json!({
                "count": count.commands,
                "bytes": count.bytes,
                "errors": count.errors,
                "latency_ns": percentiles(&count.latency_ns),
            });
            commands.insert(name.to_string(), told);
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

    /// The text for Prometheus, with what the drive says of itself.
    pub fn text(&self, of_drive: &[Gauge]) -> String {
        let mut text = String::new();
        head(&mut text, "reprieve_commands_total", "counter", "Commands that were answered.");
        self.each(&mut text, "reprieve_commands_total", |count| count.commands);
        head(&mut text, "reprieve_command_bytes_total", "counter", "Bytes of those commands.");
        self.each(&mut text, "reprieve_command_bytes_total", |count| count.bytes);
        head(&mut text, "reprieve_command_errors_total", "counter", "Those answered by an error.");
        self.each(&mut text, "reprieve_command_errors_total", |count| count.errors);
        let name = "reprieve_latency_seconds";
        head(&mut text, name, "histogram", "Latency by the model's clock.");
        for ((_, kind), count) in KINDS.iter().zip(&self.kinds) {
            push_histogram(&mut text, name, &format!("command=\"{kind}\""), &count.latency_ns);
        }
        let name = "reprieve_lateness_seconds";
        head(&mut text, name, "histogram", "Answers sent later than the model says.");
        push_histogram(&mut text, name, "", &self.lateness_ns);
        let of_server = [
            ("reprieve_connections_total", "Clients so far.", self.connections),
            ("reprieve_refused_connections_total", "Clients beyond the limit.", self.refused),
            ("reprieve_malformed_total", "Clients that broke the protocol.", self.malformed),
            ("reprieve_cancelled_total", "Commands whose clients left before.", self.cancelled),
        ];
        for (name, help, value) in of_server {
            head(&mut text, name, "counter", help);
            line(&mut text, name, "", &value.to_string());
        }
        for gauge in of_drive {
            head(&mut text, gauge.name, gauge.kind, gauge.help);
            for (labels, value) in &gauge.values {
                line(&mut text, gauge.name, labels, &value.to_string());
            }
        }
        text
    }

    fn each(&self, text: &mut String, name: &str, value: impl Fn(&Count) -> u64) {
        for ((_, kind), count) in KINDS.iter().zip(&self.kinds) {
            line(text, name, &format!("command=\"{kind}\""), &value(count).to_string());
        }
    }
}

/// One figure of the drive, or one for each label.
pub struct Gauge {
    pub name: &'static str,
    pub kind: &'static str,
    pub help: &'static str,
    pub values: Vec<(String, f64)>,
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes any text");
}

fn line(text: &mut String, name: &str, labels: &str, value: &str) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    writeln!(text, "{name}{labels} {value}").expect("a string takes any text");
}

fn push_histogram(text: &mut String, name: &str, labels: &str, histogram: &Histogram<u64>) {
    let comma = if labels.is_empty() { "" } else { "," };
    let bucket = format!("{name}_bucket");
    let mut below = 0;
    let mut values = histogram.iter_recorded().peekable();
    for bound_ns in BOUNDS_NS {
        while let Some(value) = values.next_if(|value| value.value_iterated_to() <= bound_ns) {
            below += value.count_at_value();
        }
        let labels = format!("{labels}{comma}le=\"{}\"", bound_ns as f64 / 1e9);
        line(text, &bucket, &labels, &below.to_string());
    }
    line(text, &bucket, &format!("{labels}{comma}le=\"+Inf\""), &histogram.len().to_string());
    let sum = histogram.mean() * histogram.len() as f64 / 1e9;
    line(text, &format!("{name}_sum"), labels, &sum.to_string());
    line(text, &format!("{name}_count"), labels, &histogram.len().to_string());
}

fn percentiles(histogram: &Histogram<u64>) -> Value {
    let mut told = serde_json::Map::new();
    told.insert("count".into(), json!(histogram.len()));
    told.insert("mean".into(), json!(histogram.mean()));
    told.insert("min".into(), json!(histogram.min()));
    let quantiles = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)];
    for (name, quantile) in quantiles {
        told.insert(name.into(), json!(histogram.value_at_quantile(quantile)));
    }
    told.insert("max".into(), json!(histogram.max()));
    Value::Object(told)
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
        let text = metrics.text(&[]);
        let has = |line: &str| assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        has("# TYPE reprieve_lateness_seconds histogram");
        has("reprieve_lateness_seconds_bucket{le=\"0.000001\"} 1");
        has("reprieve_lateness_seconds_bucket{le=\"0.000002\"} 2");
        has("reprieve_lateness_seconds_bucket{le=\"0.000005\"} 3");
        has("reprieve_lateness_seconds_bucket{le=\"10\"} 3");
        has("reprieve_lateness_seconds_bucket{le=\"+Inf\"} 4");
        has("reprieve_lateness_seconds_count 4");
        has("reprieve_latency_seconds_bucket{command=\"read\",le=\"+Inf\"} 0");
    }
}
