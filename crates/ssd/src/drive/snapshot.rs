//! A snapshot of a run in progress, for live views.

use super::Ssd;

/// Figures of a run so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Simulated time.
    pub simulated_ns: u64,
    /// Page reads and programs, of host and drive.
    pub page_transactions: u64,
    /// Completed reads and writes.
    pub completed: [u64; 2],
    /// Latency percentiles at the requested shares.
    pub percentiles_ns: [Vec<u64>; 2],
    /// Suspensions of programs, and of erases.
    pub suspensions: [u64; 2],
    /// Time in use of each die's array or page buffer.
    pub die_busy_ns: Vec<u64>,
    /// Dies with a suspended operation.
    pub suspended_dies: u64,
}

impl Ssd {
    /// Returns the figures so far; `shares` of the requests, rising, for the percentiles.
    ///
    /// Takes as long as some thousand page transactions, to merge the batches of latencies.
    pub fn snapshot<const N: usize>(&self, shares: [f64; N]) -> Snapshot {
        let [reads, writes, _] = self.latencies();
        Snapshot {
            simulated_ns: self.run.now.ns(),
            page_transactions: self.page_transactions(),
            completed: [reads.count(), writes.count()],
            percentiles_ns: [reads, writes].map(|kind| kind.quantiles_ns(shares).to_vec()),
            suspensions: self.run.pages.flash.counts().suspensions,
            die_busy_ns: self.run.pages.flash.dies().busy_ns(self.run.now).collect(),
            suspended_dies: self.run.pages.flash.dies().suspended(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Ssd, registries};
    use reprieve_config::{Sources, load};

    /// The snapshot at the end of a run equals its summary, and one before has less.
    #[test]
    fn the_last_glance_is_the_summary() {
        let text = "device = \"fast12-mlc\"\n[geometry]\nchannels = 2\nblocks_per_plane = 64\n\
            [suspension]\nprogram = \"ipc\"\nerase = true\n[scheduling]\npolicy = \"rps\"\n\
            [workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0.5\n\
            request_bytes = 4096\narrivals = \"closed\"\nqueue_depth = 8\n";
        let sources = Sources { text, path: "glance.toml", sets: &[] };
        let scenario = load(&sources, registries()).expect("the scenario is right");
        let mut ssd = Ssd::with(scenario, &Options::default()).expect("the drive fits");
        let mut earlier = ssd.snapshot([0.5]);
        assert_eq!((earlier.simulated_ns, earlier.completed), (0, [0, 0]));
        assert_eq!(earlier.die_busy_ns, vec![0; 2]);
        let mut seen_suspended = 0;
        while ssd.step(100).expect("no block fails") {
            let snapshot = ssd.snapshot([0.5]);
            assert!(snapshot.simulated_ns >= earlier.simulated_ns);
            let busy = snapshot.die_busy_ns.iter().zip(&earlier.die_busy_ns);
            let passed_ns = snapshot.simulated_ns - earlier.simulated_ns;
            assert!(busy.clone().all(|(now, before)| now >= before && now - before <= passed_ns));
            assert!(snapshot.suspended_dies <= 2);
            seen_suspended += snapshot.suspended_dies;
            earlier = snapshot;
        }
        let (snapshot, summary) = (ssd.snapshot([0.5, 0.99, 0.999]), ssd.summary());
        assert_eq!(snapshot.completed.iter().sum::<u64>(), 3000);
        for (kind, name) in ["read", "write"].into_iter().enumerate() {
            let latency_ns = &summary["requests"][name]["latency_ns"];
            let told = ["p50", "p99", "p99_9"].map(|key| latency_ns[key].as_u64().expect("a time"));
            assert_eq!(snapshot.percentiles_ns[kind], told, "{name}");
        }
        let suspensions = &summary["flash"]["suspensions"];
        assert_eq!(snapshot.suspensions[0], suspensions["program"].as_u64().expect("a count"));
        assert!(snapshot.suspensions[0] > 0 && seen_suspended > 0, "nothing was suspended");
        let busy_ns: u64 = snapshot.die_busy_ns.iter().sum();
        let share = busy_ns as f64 / (2.0 * snapshot.simulated_ns as f64);
        let told = summary["device"]["die_busy_share"].as_f64().expect("a share");
        assert!((share - told).abs() < 1e-9, "{share} and {told}");
    }
}
