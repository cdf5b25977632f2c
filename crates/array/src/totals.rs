//! Counts and latencies of an array, and its summary.

use reprieve_base::{Op, Time};
use reprieve_ssd::stats::{Histogram, latency_ns};
use serde_json::{Value, json};

/// Counts of all requests so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    read: Histogram,
    write: Histogram,
    /// Reads and writes of drives.
    operations: [u64; 2],
    /// Those of a rebuild among them.
    rebuilding: [u64; 2],
    pub reconstructed: u64,
    pub hedged: u64,
    pub hedges_won: u64,
    /// Time from the first to the last write of a stripe, summed over writes.
    pub unequal_ns: u64,
}

impl Totals {
    pub fn latencies(&mut self, of_writes: bool) -> &mut Histogram {
        if of_writes { &mut self.write } else { &mut self.read }
    }

    /// Counts an operation of a drive.
    pub fn count(&mut self, op: Op, rebuilds: bool) {
        let kind = usize::from(op == Op::Write);
        self.operations[kind] += 1;
        self.rebuilding[kind] += u64::from(rebuilds);
    }

    /// The summary as JSON, with those of the drives.
    pub fn summary(&self, capacity_bytes: u64, drives: impl Iterator<Item = String>) -> Value {
        let drives = drives.map(|text| serde_json::from_str(&text).expect("a drive writes JSON"));
        json!({
            "capacity_bytes": capacity_bytes,
            "requests": { "read": class(&self.read), "write": class(&self.write) },
            "drive_reads": self.operations[0],
            "drive_writes": self.operations[1],
            "rebuild_reads": self.rebuilding[0],
            "rebuild_writes": self.rebuilding[1],
            "reconstructed_reads": self.reconstructed,
            "hedged_reads": self.hedged,
            "hedges_won": self.hedges_won,
            "drives": drives.collect::<Vec<Value>>(),
        })
    }

    /// Stripes of which a loss of power leaves some writes done and others not: their mean number
    /// at an instant, and how many a log leaves torn.
    pub fn write_hole(&self, now: Time, is_logged: bool) -> Value {
        let mean = self.unequal_ns as f64 / now.ns().max(1) as f64;
        let torn = if is_logged { 0.0 } else { mean };
        json!({ "half_written_stripes_mean": mean, "torn_stripes_mean": torn })
    }
}

/// Requests of a class, and their latencies, within 0.1 %.
fn class(latencies: &Histogram) -> Value {
    let whole = latencies.distribution();
    json!({ "count": whole.count(), "latency_ns": latency_ns(&whole) })
}
