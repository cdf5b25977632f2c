//! Counts and latencies of an array, and its summary.

use reprieve_ssd::stats::{Histogram, latency_ns};
use serde_json::{Value, json};

/// Counts of all requests so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    read: Histogram,
    write: Histogram,
    pub drive_reads: u64,
    pub drive_writes: u64,
    pub reconstructed: u64,
    pub hedged: u64,
    pub hedges_won: u64,
}

impl Totals {
    pub fn latencies(&mut self, of_writes: bool) -> &mut Histogram {
        if of_writes { &mut self.write } else { &mut self.read }
    }

    /// The summary as JSON, with those of the drives.
    pub fn summary(&self, capacity_bytes: u64, drives: impl Iterator<Item = String>) -> String {
        let drives = drives.map(|text| serde_json::from_str(&text).expect("a drive writes JSON"));
        json!({
            "capacity_bytes": capacity_bytes,
            "requests": { "read": class(&self.read), "write": class(&self.write) },
            "drive_reads": self.drive_reads,
            "drive_writes": self.drive_writes,
            "reconstructed_reads": self.reconstructed,
            "hedged_reads": self.hedged,
            "hedges_won": self.hedges_won,
            "drives": drives.collect::<Vec<Value>>(),
        })
        .to_string()
    }
}

/// Requests of a class, and their latencies, within 0.1 %.
fn class(latencies: &Histogram) -> Value {
    let whole = latencies.distribution();
    json!({ "count": whole.count(), "latency_ns": latency_ns(&whole) })
}
