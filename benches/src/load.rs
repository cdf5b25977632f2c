//! The fixed loads, whose time and instructions are measured.

use std::time::Instant;
use std::{env, fs, process, thread};

use reprieve_base::UserError;
use reprieve_ssd::scenario::{self, Scenario, Sources};
#[cfg(test)]
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::{Options, Ssd, Store, registries};
use reprieve_state::State;

/// A fixed load: its name on the command line, its description, and its scenario.
pub struct Fixed {
    pub name: &'static str,
    pub what: &'static str,
    scenario: &'static str,
}

/// Load that runs unless another is named.
pub const MAIN: Fixed = Fixed {
    name: "main",
    what: "16-die FAST'12 MLC, 70/30 random, PES-IPC, steady state",
    scenario: r#"
device = "fast12-mlc"
policy = "pes-ipc"
[ftl]
precondition = "steady"
[workload]
generator = "mixed"
read_fraction = 0.7
request_bytes = 4096
arrivals = "closed"
queue_depth = 64
"#,
};

/// All of them.
pub const FIXED: [Fixed; 5] = [
    MAIN,
    Fixed {
        name: "open",
        what: "the drive of main without a link, Poisson arrivals: dies that share nothing",
        scenario: r#"
device = "fast12-mlc"
policy = "pes-ipc"
[ftl]
precondition = "steady"
[host]
link_bytes_per_s = "none"
[workload]
generator = "mixed"
read_fraction = 0.7
request_bytes = 4096
arrivals = "poisson"
rate_iops = 18000
"#,
    },
    Fixed {
        name: "equal",
        what: "MQSim's default drive with pages of 4 KiB, 70/30 random of a page, QD 16",
        scenario: r#"
device = "mqsim-default-like"
[geometry]
page_bytes = 4096
[workload]
generator = "mixed"
read_fraction = 0.7
request_bytes = 4096
arrivals = "closed"
queue_depth = 16
"#,
    },
    Fixed {
        name: "tlc",
        what: "1 TiB TLC, four planes, 70/30 random of a page, QD 64, PES, steady state",
        scenario: r#"
device = "tlc-enterprise"
[suspension]
program = "iteration"
erase = true
[ftl]
mapping_bytes = 16384
precondition = "steady"
[workload]
generator = "mixed"
read_fraction = 0.7
request_bytes = 16384
arrivals = "closed"
queue_depth = 64
"#,
    },
    Fixed {
        name: "everything",
        what: "the same with NVMe queues, MBM's dispatcher, planes, errors with a code, power",
        scenario: r#"
device = "tlc-enterprise"
[suspension]
program = "iteration"
erase = true
[scheduling]
dispatch = "mbm"
[parallelism]
multi_plane = "page"
[host]
interface = "nvme"
[ftl]
mapping_bytes = 16384
precondition = "steady"
[reliability]
model = "power"
epsilon = 0.007
[ecc]
code = "ldpc"
[power]
account = "on"
[workload]
generator = "mixed"
read_fraction = 0.7
request_bytes = 16384
arrivals = "closed"
queue_depth = 64
"#,
    },
];

/// A drive in steady state, and the fixed load on it.
pub struct Load {
    ssd: Ssd,
    /// The resolved scenario.
    pub scenario: Scenario,
    /// Seconds that preconditioning took.
    pub precondition_s: f64,
}

/// One timed window.
#[derive(Clone, Copy)]
pub struct Sample {
    pub seconds: f64,
    pub requests: u64,
    /// Page reads and programs, of the host and of garbage collection.
    pub transactions: u64,
}

impl Sample {
    pub fn ns_per_transaction(&self) -> f64 {
        self.seconds * 1e9 / self.transactions as f64
    }
}

impl Load {
    /// The main load with overrides `KEY=VALUE`, preconditioned, for `requests` requests in all.
    pub fn new(sets: &[String], requests: u64) -> Result<Load, UserError> {
        Load::fixed(&MAIN, sets, requests, &Options::default())
    }

    /// Returns any of the fixed loads, with a log of its requests if that is wanted.
    pub fn fixed(
        fixed: &Fixed,
        sets: &[String],
        requests: u64,
        options: &Options,
    ) -> Result<Load, UserError> {
        let mut all = vec![format!("workload.requests={requests}")];
        all.extend_from_slice(sets);
        let path = format!("the load {}", fixed.name);
        let sources = Sources { text: fixed.scenario, path: &path, sets: &all };
        let scenario = scenario::load(&sources, registries())?;
        Load::of(scenario, options)
    }

    fn of(scenario: Scenario, options: &Options) -> Result<Load, UserError> {
        // Each drive is prepared anew: how long that takes is measured too.
        let options = Options { states: Some(Store::new(None, 0, 0)), ..options.clone() };
        let start = Instant::now();
        let mut ssd = Ssd::with(scenario.clone(), &options)?;
        while !ssd.is_preconditioned() {
            ssd.step(0)?;
        }
        Ok(Load { ssd, scenario, precondition_s: start.elapsed().as_secs_f64() })
    }

    /// Runs and times this number of requests.
    pub fn window(&mut self, requests: u64) -> Result<Sample, UserError> {
        let (_, done) = self.ssd.progress();
        let before = self.ssd.page_transactions();
        let start = Instant::now();
        self.ssd.step(requests)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Sample {
            seconds,
            requests: self.ssd.progress().1 - done,
            transactions: self.ssd.page_transactions() - before,
        })
    }

    /// The state of the drive before its first request.
    pub fn state(&mut self) -> Result<State, UserError> {
        let file = format!("reprieve-bench-{}-{:?}", process::id(), thread::current().id());
        let path = env::temp_dir().join(file);
        self.ssd.save_state(&path)?;
        let state = State::read(&path, &self.scenario);
        fs::remove_file(&path).expect("it was just written");
        state
    }

    /// The log of requests since the last call.
    #[cfg(test)]
    pub fn take_log(&mut self) -> LogBatch {
        self.ssd.take_log()
    }

    /// Returns the page transactions.
    #[cfg(test)]
    pub fn transactions(&self) -> u64 {
        self.ssd.page_transactions()
    }

    /// The run's summary.
    pub fn summary(&self) -> serde_json::Value {
        self.ssd.summary()
    }
}

/// Memory in use by this process, in bytes, if the system has it.
pub fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}
