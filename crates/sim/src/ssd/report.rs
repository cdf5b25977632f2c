//! What a drive has to say about its run.

use super::Ssd;
use crate::stats::{Facts, Latency};

impl Ssd {
    /// The summary so far as JSON, without the wall-clock fields of `run`.
    pub fn summary(&self) -> serde_json::Value {
        let geometry = &self.scenario.geometry;
        let idle_now = if self.requests.is_empty() { (self.now - self.idle_since).ns() } else { 0 };
        let counts = self.flows.counts();
        let mut workload = vec![
            ("rows", counts.rows),
            ("requests", counts.requests),
            ("other_lines", counts.other_lines),
            ("moved", counts.wrapped),
            ("resorted", counts.resorted),
            ("widened", counts.widened),
        ];
        workload.extend(counts.dropped);
        Facts {
            latencies: [&self.read, &self.write, &self.trim, &self.flush, &self.fua],
            flash: &self.flash.counts,
            totals: &self.totals,
            flows: self.flows.list.iter().filter_map(|flow| flow.stats.as_deref()).collect(),
            read_cache: self.read_cache_counts(),
            cells: self.flash.cells(),
            host_queues: self.queues.is_some(),
            workload,
            simulated_ns: self.now.ns(),
            idle_ns: self.idle_ns + idle_now,
            busy_ns: self.flash.busy_ns(self.now),
            dies: geometry.dies(),
            channels: geometry.channels,
            page_bytes: geometry.page_bytes,
            seed: self.scenario.seed,
        }
        .summary()
    }

    /// Latencies of reads, of writes, of both.
    pub fn latencies(&self) -> [Latency; 3] {
        let mut total = self.read.clone();
        total.add(&self.write);
        [self.read.clone(), self.write.clone(), total]
    }

    /// Page reads and programs so far, of the host and of garbage collection.
    pub fn page_transactions(&self) -> u64 {
        let counts = &self.flash.counts;
        let reads = counts.host_reads + counts.rmw_reads + counts.gc_reads;
        reads + counts.host_programs + counts.gc_programs
    }

    /// What a run that cannot go on has to say for itself.
    pub(super) fn stuck(&self) -> String {
        format!(
            "at {} nothing is left to happen, but {} requests are not complete (seed {})",
            self.now,
            self.requests.len(),
            self.scenario.seed
        )
    }
}
