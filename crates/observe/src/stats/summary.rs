//! The summary of a run as JSON: schema version 2, times in integer nanoseconds.

use reprieve_policy::txn::LatencyComponent;
use serde_json::{Value, json};

use super::beginning::{Differs, beginning};
use super::flows::{fairness, flows};
use super::pieces::PIECES;
use super::requests::{rate, requests};
use super::{
    BadBlocks, ErrorCounts, FlashCounts, FlowStats, Latencies, MapCounts, SuspendedOperations,
    WearCounts, WearFacts,
};

/// Counters of the drive besides latencies and flash operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Pages of reads that were served from the write buffer.
    pub buffer_hits: u64,
    /// Pages of reads that were trimmed, or unwritten where that reads as zero.
    pub zero_reads: u64,
    /// Pages of partial writes.
    pub partial_writes: u64,
    /// Pages overwritten in a write-back buffer before their program started.
    pub merged_writes: u64,
    /// Acknowledged pages in the write buffer at the start of the run.
    pub buffered_at_start: u64,
    /// Pages of the buffer that were overtaken or trimmed before their program; `None`: each is
    /// sent at once.
    pub dropped_writes: Option<u64>,
    /// Pages rewritten by a dispatcher; `None` if it never does.
    pub redistributed_pages: Option<u64>,
    /// Pages trimmed.
    pub trimmed_pages: u64,
    /// Pages partly covered by a trim, and not changed.
    pub trims_of_part_of_a_page: u64,
}

impl Totals {
    /// Creates empty totals; `holds`: for a buffer that holds dirty pages, `rewrites`: for a
    /// dispatcher that rewrites pages.
    pub fn none(holds: bool, rewrites: bool) -> Totals {
        Totals {
            dropped_writes: holds.then_some(0),
            redistributed_pages: rewrites.then_some(0),
            ..Totals::default()
        }
    }
}

/// Counters of the read cache, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadCacheCounts {
    /// Pages of reads that it served.
    pub hits: u64,
    /// Old pages under partial writes that came from the cache.
    pub rmw_hits: u64,
    /// Pages of reads from the flash.
    pub misses: u64,
    /// Pages that were evicted.
    pub evictions: u64,
}

/// The measured part of a run, and earlier counts that are not elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Its start.
    pub from_ns: u64,
    /// Requests that arrived before.
    pub requests_excluded: u64,
    /// The reason, in a sentence.
    pub reason: String,
    /// The key to set if the beginning of the measured part differs from the rest, if wanted.
    pub advice: Option<&'static str>,
    /// Warning for the user.
    pub warning: Option<String>,
    /// Bytes of excluded requests since then.
    pub earlier_bytes: [u64; 2],
    /// Page reads and programs before.
    pub earlier_transactions: u64,
}

impl Measured {
    /// Returns the section `measure` of the summary.
    fn section(&self, latencies: &Latencies) -> Value {
        let warning = self.warning.clone().or_else(|| self.advise(latencies));
        json!({
            "from_ns": self.from_ns,
            "requests_excluded": self.requests_excluded,
            "reason": self.reason,
            "warning": warning,
            "earlier_read_bytes": self.earlier_bytes[0],
            "earlier_written_bytes": self.earlier_bytes[1],
        })
    }

    /// Returns a sentence about a different beginning, with the key to set.
    fn advise(&self, latencies: &Latencies) -> Option<String> {
        let advice = self.advice?;
        let pieces = latencies.piece_ends();
        let first = pieces.get(PIECES as usize - 1)?;
        let differs = beginning(pieces);
        let told: Vec<String> = differs
            .iter()
            .map(|it| {
                let Differs { name, unit, first, rest } = it;
                format!("{name} is {first:.3}{unit}, and {rest:.3}{unit} after them")
            })
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "the beginning differs from the rest: in the first {} of {} reads and writes {}; \
                 {advice} excludes it",
                first.count.iter().sum::<u64>(),
                latencies.read().count() + latencies.write().count(),
                told.join(", "),
            )
        })
    }
}

/// Write amplification above that of real drives, from which a run gives the reason.
const WAF_MUCH: f64 = 10.0;

/// Everything that a summary needs.
pub struct Facts<'a> {
    /// Latencies of all classes of requests.
    pub latencies: &'a Latencies,
    /// Counters of the flash.
    pub flash: &'a FlashCounts,
    /// Counters of the drive.
    pub totals: &'a Totals,
    /// Erases of the blocks, if wanted.
    pub wear: Option<WearCounts>,
    /// The mapping in flash, if any.
    pub mapping: Option<MapCounts>,
    /// Bad blocks, if there can be any.
    pub bad_blocks: Option<BadBlocks>,
    /// Each of several loads, by name; empty for one.
    pub flows: Vec<&'a FlowStats>,
    /// Counters of the read cache, if there is one.
    pub read_cache: Option<ReadCacheCounts>,
    /// Errors and wear, if modelled.
    pub cells: Option<(&'a ErrorCounts, WearFacts)>,
    /// Requests wait in submission queues, whose time is reported.
    pub host_queues: bool,
    /// Rows of a trace by their treatment: name and count.
    pub workload: Vec<(&'static str, u64)>,
    /// The measured part of the run.
    pub measured: Measured,
    /// Its length.
    pub simulated_ns: u64,
    /// Time without a request outstanding.
    pub idle_ns: u64,
    /// Time in use, summed over the dies and over the channels.
    pub busy_ns: (u64, u64),
    /// Dies and channels of the drive.
    pub dies: u32,
    /// As `dies`.
    pub channels: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Seed of the run.
    pub seed: u64,
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn suspended_operations(operations: &SuspendedOperations) -> Value {
    json!({
        "count": operations.count,
        "undisturbed_ns_mean": operations.undisturbed_ns_mean(),
        "actual_ns_mean": operations.actual_ns_mean(),
        "suspended_ns_mean": operations.suspended_ns_mean(),
        "increase_mean": operations.increase_mean(),
    })
}

impl Facts<'_> {
    /// Returns the summary; the caller adds the wall-clock fields of `run`.
    pub fn summary(&self) -> Value {
        let (read, write) = (self.latencies.read(), self.latencies.write());
        let (count, bytes) = (read.count() + write.count(), read.bytes + write.bytes);
        let absent = self.absent_parts();
        let written_bytes = write.bytes + self.measured.earlier_bytes[1];
        let mut summary = json!({
            "schema": 2,
            "measure": self.measured.section(self.latencies),
            "requests": requests(self.latencies, &absent),
            "flash": self.flash_counts(written_bytes),
            "device": self.device(count, bytes),
            "workload": self.workload.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
            "run": {
                "seed": self.seed,
                "page_transactions": self.page_transactions(),
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        if let Some(much) = self.much_amplified(written_bytes) {
            let warning = &mut summary["measure"]["warning"];
            let other = warning.as_str().map(|other| format!("{other}; {much}"));
            *warning = Value::from(other.unwrap_or(much));
        }
        if !self.flows.is_empty() {
            summary["flows"] = flows(&self.flows, &absent);
            summary["fairness"] = fairness(&self.flows);
        }
        if let Some((errors, wear)) = &self.cells {
            summary["reliability"] = errors.section();
            let programmed_bytes = self.programs() * u64::from(self.page_bytes);
            summary["wear"] = wear.section(self.programs(), ratio(programmed_bytes, written_bytes));
        }
        summary
    }

    /// Returns components of a latency that cannot occur on this drive, and are not reported.
    fn absent_parts(&self) -> Vec<LatencyComponent> {
        let decodes = self.cells.is_some_and(|(errors, _)| errors.decoding.is_some());
        let parts = [
            (LatencyComponent::HostQueue, self.host_queues),
            (LatencyComponent::Map, self.mapping.is_some()),
            (LatencyComponent::Ecc, decodes),
        ];
        parts.into_iter().filter(|(_, told)| !told).map(|(part, _)| part).collect()
    }

    /// Returns page reads and programs of the host and of garbage collection.
    fn page_transactions(&self) -> u64 {
        self.measured.earlier_transactions + self.reads() + self.programs()
    }

    fn reads(&self) -> u64 {
        self.flash.reads()
    }

    fn programs(&self) -> u64 {
        self.flash.programs()
    }

    /// Returns a sentence about high write amplification, with the key to set.
    fn much_amplified(&self, written_bytes: u64) -> Option<String> {
        let host_pages = self.flash.host_programs;
        let waf = ratio(self.programs() * u64::from(self.page_bytes), written_bytes);
        if waf <= WAF_MUCH || host_pages == 0 {
            return None;
        }
        let by_size = ratio(host_pages * u64::from(self.page_bytes), written_bytes);
        let by_collection = ratio(self.programs(), host_pages);
        let cause = if by_size > by_collection {
            format!(
                "each page of {} bytes that the host fills holds {:.0} bytes of its data; larger \
                 writes (workload.request_bytes) or smaller pages (geometry.page_bytes) mend that",
                self.page_bytes,
                ratio(written_bytes, host_pages)
            )
        } else {
            format!(
                "collection programs {:.1} pages for each of the host's; if that is not this \
                 load's own, start in the state of another ([precondition.load]), else raise \
                 ftl.over_provisioning",
                by_collection - 1.0
            )
        };
        Some(format!("write amplification is {waf:.1}: {cause}"))
    }

    fn flash_counts(&self, written_bytes: u64) -> Value {
        let flash = self.flash;
        let [program, erase] = flash.suspensions;
        let mut counts = json!({
            "reads": self.reads(),
            "programs": self.programs(),
            "erases": flash.erases,
            "host_reads": flash.host_reads,
            "rmw_reads": flash.rmw_reads,
            "gc_reads": flash.gc_reads,
            "host_programs": flash.host_programs,
            "gc_programs": flash.gc_programs,
            "waf": ratio(self.programs() * u64::from(self.page_bytes), written_bytes),
            "gc_waf": ratio(self.programs(), flash.host_programs),
            "suspensions": {"program": program, "erase": erase},
            "suspended_share": {
                "program": ratio(flash.suspended[0].count, self.programs()),
                "erase": ratio(flash.suspended[1].count, flash.erases),
            },
            "suspended_ns": {"program": flash.suspended_ns[0], "erase": flash.suspended_ns[1]},
            "suspended_operations": {
                "program": suspended_operations(&flash.suspended[0]),
                "erase": suspended_operations(&flash.suspended[1]),
            },
        });
        if let Some(by_write) = flash.suspensions_by_write {
            counts["suspensions_by_write"] = json!(by_write);
        }
        if let Some([read, program, erase]) = flash.multi_plane {
            counts["multi_plane_commands"] =
                json!({"read": read, "program": program, "erase": erase});
        }
        if let Some(padded) = flash.padded_pages {
            counts["padded_pages"] = json!(padded);
        }
        if let Some(padded) = flash.padded_units {
            counts["padded_units"] = json!(padded);
        }
        if let Some(copybacks) = flash.copybacks {
            counts["copybacks"] = json!(copybacks);
        }
        if let Some(wear) = &self.wear {
            counts["wear"] = json!({
                "mean": wear.mean, "min": wear.min, "max": wear.max, "stddev": wear.stddev,
            });
        }
        if let Some(mapping) = &self.mapping {
            counts["mapping"] = json!({
                "hits": mapping.hits,
                "misses": mapping.misses,
                "hit_share": ratio(mapping.hits, mapping.hits + mapping.misses),
                "reads": flash.map_reads,
                "programs": flash.map_programs,
                "evicted_pages": mapping.evicted_pages,
                "updated_pages": mapping.updated_pages,
            });
        }
        if let Some(bad) = &self.bad_blocks {
            counts["bad_blocks"] = json!({
                "factory": bad.factory,
                "grown": bad.grown,
                "failed_host_programs": bad.failed_host_programs,
                "failed_gc_programs": bad.failed_gc_programs,
                "failed_map_programs": bad.failed_map_programs,
                "failed_erases": bad.failed_erases,
            });
        }
        counts
    }

    fn device(&self, requests: u64, bytes: u64) -> Value {
        let totals = self.totals;
        let mut device = json!({
            "simulated_ns": self.simulated_ns,
            "iops": rate(requests, self.simulated_ns),
            "bandwidth_bytes_per_s": rate(bytes, self.simulated_ns),
            "idle_share": ratio(self.idle_ns, self.simulated_ns),
            "channel_busy_share":
                ratio(self.busy_ns.1, self.simulated_ns) / f64::from(self.channels),
            "die_busy_share": ratio(self.busy_ns.0, self.simulated_ns) / f64::from(self.dies),
            "buffer_hits": totals.buffer_hits,
            "zero_reads": totals.zero_reads,
            "partial_writes": totals.partial_writes,
            "merged_writes": totals.merged_writes,
            "trimmed_pages": totals.trimmed_pages,
            "trims_of_part_of_a_page": totals.trims_of_part_of_a_page,
        });
        if totals.buffered_at_start > 0 {
            device["buffered_at_start"] = json!(totals.buffered_at_start);
        }
        if let Some(dropped) = totals.dropped_writes {
            device["dropped_writes"] = json!(dropped);
        }
        if let Some(pages) = totals.redistributed_pages {
            device["redistributed_pages"] = json!(pages);
        }
        if let Some(ReadCacheCounts { hits, rmw_hits, misses, evictions }) = self.read_cache {
            device["read_cache"] = json!({
                "hits": hits,
                "rmw_hits": rmw_hits,
                "misses": misses,
                "evictions": evictions,
                "hit_share": ratio(hits, hits + misses),
            });
        }
        device
    }
}
