//! Counts and latencies of an array, and its summary.

use reprieve_base::{Op, Time};
use reprieve_ssd::stats::{Histogram, latency_ns};
use serde_json::{Value, json};

/// Counts of all requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Latencies of reads, writes, trims and flushes.
    latencies: [Histogram; 4],
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
    pub fn latencies(&mut self, op: Op) -> &mut Histogram {
        &mut self.latencies[op as usize]
    }

    /// Counts an operation of a drive.
    pub fn count(&mut self, op: Op, rebuilds: bool) {
        let (Op::Read | Op::Write) = op else { return };
        let kind = usize::from(op == Op::Write);
        self.operations[kind] += 1;
        self.rebuilding[kind] += u64::from(rebuilds);
    }

    /// The summary as JSON, with those of the drives.
    pub fn summary(&self, capacity_bytes: u64, drives: impl Iterator<Item = String>) -> Value {
        let drives = drives.map(|text| serde_json::from_str(&text).expect("a drive writes JSON"));
        let classes = Op::ALL.into_iter().zip(&self.latencies).filter_map(|(op, latencies)| {
            let whole = latencies.distribution();
            let class = json!({ "count": whole.count(), "latency_ns": latency_ns(&whole) });
            (op <= Op::Write || whole.count() > 0).then(|| (op.name().to_owned(), class))
        });
        json!({
            "capacity_bytes": capacity_bytes,
            "requests": classes.collect::<serde_json::Map<String, Value>>(),
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
