//! Summary of a drive's run.

use reprieve_ftl::{ZoneCounts, ZoneState, ZoneTable};
use reprieve_observe::power::SeriesBatch;
use reprieve_observe::stats::{Distribution, Facts};
use serde_json::{Value, json};

use super::Ssd;

impl Ssd {
    /// Returns the summary so far as JSON, without the wall-clock fields of `run`.
    pub fn summary(&self) -> serde_json::Value {
        let geometry = &self.scenario.geometry;
        let idle_now = match self.run.host.requests.is_empty() {
            true => (self.run.now - self.run.stats.idle_since).ns(),
            false => 0,
        };
        let counts = self.run.flows.counts();
        let mut workload = vec![
            ("rows", counts.rows),
            ("requests", counts.requests),
            ("other_lines", counts.other_lines),
            ("moved", counts.wrapped),
            ("resorted", counts.resorted),
            ("widened", counts.widened),
        ];
        workload.extend(counts.dropped);
        let measuring = &self.run.stats.measuring;
        let cells = measuring.cells(&self.run.pages.flash);
        let measured = measuring.told(
            (self.run.stats.arrived, self.run.now),
            self.run.stats.transient.is_some(),
            self.run.flows.is_served,
        );
        let (die_busy_ns, channel_busy_ns) = measuring.busy_ns(&self.run.pages.flash, self.run.now);
        let mut summary = Facts {
            latencies: &self.run.stats.latencies,
            flash: self.run.pages.flash.counts(),
            totals: &self.run.pages.totals,
            wear: self.run.pages.ftl.tables.blocks.wear.counts(),
            mapping: self.run.pages.ftl.tables.map.counts(),
            bad_blocks: self.run.pages.ftl.tables.blocks.failing.counts(),
            flows: self.run.flows.list.iter().filter_map(|flow| flow.stats.as_deref()).collect(),
            read_cache: self.run.pages.buffer.read_cache.as_ref().map(|cache| cache.counts),
            cells: cells.as_ref().map(|(errors, wear)| (errors, *wear)),
            host_queues: self.run.host.has_queues(),
            workload,
            simulated_ns: self.run.now.ns() - measured.from_ns,
            measured,
            idle_ns: self.run.stats.idle_ns + idle_now,
            busy_ns: (die_busy_ns.iter().sum(), channel_busy_ns.iter().sum()),
            dies: geometry.dies(),
            channels: geometry.channels,
            page_bytes: geometry.page_bytes,
            seed: self.scenario.seed,
        }
        .summary();
        if let Some(prepared) = self.preparation.prepared() {
            summary["prepare"] = prepared;
        }
        if let Some(run_in) = self.preparation.summary() {
            summary["precondition"] = run_in;
        }
        self.add_features(&mut summary);
        summary
    }

    /// Adds the sections of features that are on.
    fn add_features(&self, summary: &mut Value) {
        if let Some(power) = self.run.stats.measuring.power(&self.run.pages.flash, self.run.now) {
            let bytes =
                self.run.stats.latencies.bytes() + self.run.stats.measuring.excluded_bytes();
            summary["power"] = power.summary(bytes);
        }
        if let Some(thermal) = self.run.pages.flash.observers().thermal_report() {
            summary["thermal"] = json!(thermal);
        }
        if let Some(zones) = &self.run.pages.zones {
            summary["zones"] = zones_section(zones);
        }
        if let Some(timeline) = self.run.pages.flash.observers().timeline() {
            summary["timeline"] = timeline.summary();
        }
        if let Some(scan) = &self.run.pages.scan {
            summary["media_scan"] = json!(scan.counts);
        }
        if let Some(slc) = &self.run.pages.ftl.tables.blocks.slc {
            summary["slc_cache"] = json!(slc.counts);
        }
        if let Some(cut) = &self.cut {
            summary["power_loss"] = self.power_loss().summary(cut);
        }
    }

    /// The bins of power over time, if they are kept.
    pub fn power_series(&self) -> Option<SeriesBatch> {
        self.run.stats.measuring.power(&self.run.pages.flash, self.run.now)?.series
    }

    /// The batches of the run as JSON, by column: `Latencies::by_batch`.
    pub fn batches(&self) -> serde_json::Value {
        let page_bytes = self.scenario.geometry.page_bytes;
        self.run.stats.latencies.by_batch(
            self.run.now,
            self.run.pages.flash.counts().programs(),
            page_bytes,
        )
    }

    /// Latencies of reads, of writes, of both.
    pub fn latencies(&self) -> [Distribution; 3] {
        self.run.stats.latencies.distributions()
    }

    /// Returns page reads and programs so far, of the host and of garbage collection.
    pub fn page_transactions(&self) -> u64 {
        self.run.stats.measuring.earlier_transactions()
            + self.run.pages.flash.counts().reads()
            + self.run.pages.flash.counts().programs()
    }
}

/// Section `zones` of the summary.
fn zones_section(table: &ZoneTable) -> Value {
    let of = |states: &[ZoneState]| {
        table.zones.iter().filter(|zone| states.contains(&zone.state)).count()
    };
    let ZoneCounts { appends, resets, finishes, opens, closes, .. } = table.counts;
    json!({
        "count": table.zones.len(),
        "capacity_bytes": table.capacity_bytes(),
        "appends": appends,
        "resets": resets,
        "finishes": finishes,
        "opens": opens,
        "closes": closes,
        "implicit_closes": table.counts.implicit_closes,
        "reset_erases": table.counts.reset_erases,
        "empty": of(&[ZoneState::Empty]),
        "open": of(&[ZoneState::ImplicitlyOpen, ZoneState::ExplicitlyOpen]),
        "closed": of(&[ZoneState::Closed]),
        "full": of(&[ZoneState::Full]),
    })
}
