//! A server's report on its drive: gauges while it serves, a summary at the end.

use reprieve_ssd::Ssd;
use serde_json::{Value, json};

use crate::admission::Load;
use crate::metrics::Metrics;
use crate::scrape::{Family, Figure};

/// Figures of the drive for Prometheus.
pub fn figures(ssd: &Ssd, connections: usize, memory_bytes: u64, handed: Load) -> Vec<Family> {
    let activity = ssd.activity();
    let level = |name, help, value: f64| Family::one(name, help, Figure::Level(value));
    let counts = |name, help, operations: &[&'static str], counts: &[u64]| {
        let each = operations.iter().copied().zip(counts.iter().copied().map(Figure::Count));
        Family::by(name, help, "operation", each)
    };
    vec![
        counts(
            "reprieve_suspensions",
            "Operations that were suspended",
            &["program", "erase"],
            &activity.suspensions,
        ),
        counts(
            "reprieve_flash_operations",
            "Operations of the flash",
            &["read", "program", "erase"],
            &activity.operations,
        ),
        level("reprieve_open_requests", "Requests in the drive", activity.open_requests as f64),
        level(
            "reprieve_flash_transactions",
            "Transactions of flash that wait or are under way",
            activity.transactions as f64,
        ),
        level(
            "reprieve_handed_bytes",
            "Bytes of requests that the drive has, each at least a page",
            handed.bytes as f64,
        ),
        level("reprieve_connections", "Clients now", connections as f64),
        level("reprieve_store_memory_bytes", "Memory that data takes up", memory_bytes as f64),
        level("reprieve_model_seconds", "Time of the model's clock", ssd.now().ns() as f64 / 1e9),
        level(
            "reprieve_erases_per_block",
            "Erases of a block so far, as the mean over all blocks",
            activity.operations[2] as f64 / f64::from(blocks(ssd)),
        ),
    ]
}

fn blocks(ssd: &Ssd) -> u32 {
    let geometry = &ssd.scenario().geometry;
    geometry.dies() * geometry.planes_per_die * geometry.blocks_per_plane
}

/// The summary of a run of the same requests, with the server's own part.
pub fn summary(ssd: &Ssd, metrics: &Metrics, time_scale: f64) -> Value {
    let mut summary = ssd.summary();
    summary["served"] = metrics.summary();
    summary["served"]["time_scale"] = json!(time_scale);
    summary
}
