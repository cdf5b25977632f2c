//! What a server says of its drive: gauges while it serves, a summary at the end.

use reprieve_sim::Ssd;
use serde_json::{Value, json};

use crate::admission::Load;
use crate::metrics::{Gauge, Metrics};

/// Figures of the drive for Prometheus.
pub fn gauges(ssd: &Ssd, connections: usize, memory_bytes: u64, handed: Load) -> Vec<Gauge> {
    let activity = ssd.activity();
    let counter =
        |name, help, values: Vec<(String, f64)>| Gauge { name, kind: "counter", help, values };
    let gauge = |name, help, value: f64| Gauge {
        name,
        kind: "gauge",
        help,
        values: vec![(String::new(), value)],
    };
    let of = |label: &str, names: &[&str], values: &[u64]| -> Vec<(String, f64)> {
        let pairs = names.iter().zip(values);
        pairs.map(|(name, value)| (format!("{label}=\"{name}\""), *value as f64)).collect()
    };
    let [programs, erases] = activity.suspensions;
    let suspended = of("operation", &["program", "erase"], &[programs, erases]);
    let operations = of("operation", &["read", "program", "erase"], &activity.operations);
    vec![
        counter("reprieve_suspensions_total", "Operations that were suspended.", suspended),
        counter("reprieve_flash_operations_total", "What the flash has done.", operations),
        gauge("reprieve_open_requests", "Requests in the drive.", activity.open_requests as f64),
        gauge(
            "reprieve_flash_transactions",
            "Transactions of flash that wait or are under way.",
            activity.transactions as f64,
        ),
        gauge(
            "reprieve_handed_bytes",
            "Bytes of requests that the drive has, each at least a page.",
            handed.bytes as f64,
        ),
        gauge("reprieve_connections", "Clients now.", connections as f64),
        gauge("reprieve_store_memory_bytes", "Memory that data takes up.", memory_bytes as f64),
        gauge(
            "reprieve_model_seconds",
            "What the model's clock shows.",
            ssd.now().ns() as f64 / 1e9,
        ),
        gauge(
            "reprieve_erases_per_block",
            "Erases of a block so far, as the mean over all blocks.",
            activity.operations[2] as f64 / f64::from(blocks(ssd)),
        ),
    ]
}

fn blocks(ssd: &Ssd) -> u32 {
    let geometry = &ssd.scenario().geometry;
    geometry.dies() * geometry.planes_per_die * geometry.blocks_per_plane
}

/// The summary of a run of the same requests, and what only a server has to tell.
pub fn summary(ssd: &Ssd, metrics: &Metrics, time_scale: f64) -> Value {
    let mut summary = ssd.summary();
    summary["served"] = metrics.summary();
    summary["served"]["time_scale"] = json!(time_scale);
    summary
}
