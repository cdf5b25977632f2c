//! Runs drives for the tests: scenario text in, request log and summary out.

use std::fmt::Write as _;
use std::io::Write as _;

use reprieve_base::{Op, UserError};
use reprieve_ssd::causes::{CAUSE_NAMES, CAUSES};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::txn::PART_NAMES;
use reprieve_ssd::{Options, Ssd, registries};
use serde_json::Value;

/// One request of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub id: u64,
    pub op: Op,
    pub lba: u64,
    pub bytes: u64,
    pub arrival_ns: u64,
    pub completion_ns: u64,
    pub parts_ns: [u64; PART_NAMES.len()],
    pub by_ns: [u64; CAUSES],
    pub die: Option<u32>,
    pub flow: u64,
    pub uncorrectable_pages: u64,
}

impl Row {
    pub fn latency_ns(&self) -> u64 {
        self.completion_ns - self.arrival_ns
    }

    /// The part of that name, such as `queue_ns`.
    pub fn part_ns(&self, name: &str) -> u64 {
        let index = PART_NAMES.iter().position(|part| *part == name);
        self.parts_ns[index.expect("a part of the request log")]
    }

    /// What it waited behind, by the names of the causes without `by_` and `_ns`.
    pub fn causes(&self) -> Vec<(&'static str, u64)> {
        let short = |name: &'static str| {
            let name = name.strip_prefix("by_").and_then(|name| name.strip_suffix("_ns"));
            name.expect("a cause")
        };
        let all = CAUSE_NAMES.iter().zip(self.by_ns).filter(|(_, ns)| *ns > 0);
        all.map(|(name, ns)| (short(name), ns)).collect()
    }
}

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The log in order of arrival.
    pub rows: Vec<Row>,
    pub summary: Value,
    /// Of the drive that ran, which may not be the one that was drawn.
    pub logical_pages: u64,
}

impl Outcome {
    /// The number at a path of the summary, such as `flash.host_programs`.
    pub fn number(&self, path: &str) -> f64 {
        self.value(path).as_f64().unwrap_or_else(|| panic!("{path} is no number"))
    }

    /// The count at a path of the summary.
    pub fn count(&self, path: &str) -> u64 {
        self.value(path).as_u64().unwrap_or_else(|| panic!("{path} is no count"))
    }

    fn value(&self, path: &str) -> &Value {
        let pointer = format!("/{}", path.replace('.', "/"));
        self.summary.pointer(&pointer).unwrap_or_else(|| panic!("the summary has no {path}"))
    }

    /// Requests of one kind, in order of arrival.
    pub fn of(&self, op: Op) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.op == op)
    }
}

/// The scenario of a text without files.
pub fn load(text: &str) -> Scenario {
    load_with(text, &[])
}

/// The scenario of a text with overrides `KEY=VALUE`.
pub fn load_with(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text, path: "test.toml", sets: &sets };
    scenario::load(&sources, registries()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The scenario of a served drive, of a text.
pub fn load_served(text: &str) -> Scenario {
    let sources = Sources { text, path: "test.toml", sets: &[] };
    scenario::load_served(&sources, registries()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The error of such a scenario.
pub fn bad(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text, path: "test.toml", sets: &sets };
    scenario::load(&sources, registries()).expect_err("a mistake").to_string()
}

/// The error of a scenario that has no load, with one of a request.
pub fn bad_drive(text: &str, sets: &[&str]) -> String {
    let load =
        "[workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 0.5\nqueue_depth = 1\n";
    bad(&format!("{text}{load}"), sets)
}

/// Each override is refused, with a sentence that has these words.
pub fn assert_refused(text: &str, cases: &[(&str, &str)]) {
    for (set, words) in cases {
        let refused = bad_drive(text, &[set]);
        assert!(refused.contains(words), "{set}: {refused}");
    }
}

/// Runs a scenario to its end.
pub fn run(scenario: Scenario) -> Outcome {
    run_in_steps(scenario, 1000)
}

/// Runs a scenario to its end under the checker, looking at the clock after every `step` requests.
pub fn run_in_steps(scenario: Scenario, step: u64) -> Outcome {
    run_with(scenario, step, &Options::default())
}

/// Runs a scenario to its end with these options besides.
pub fn run_with(scenario: Scenario, step: u64, options: &Options) -> Outcome {
    try_run(scenario, step, options).expect("a workload without bad rows")
}

/// What a drive that was drawn is rightly refused for, and what it runs with instead.
const REFUSALS: [(&str, &[&str]); 3] = [
    // It never comes to rest under its load.
    ("write amplification still changes", &["ftl.precondition=sequential"]),
    // It is so full that collection comes to a halt, though no block has failed.
    ("of which none is free", &["ftl.over_provisioning=0.6"]),
    // Small blocks are erased so often that its failures use up the spare ones.
    ("good blocks left of", &["nand.program_failure=0.00005", "nand.erase_failure=0.0005"]),
];

/// Runs a drive that was drawn.
///
/// One in many thousands is refused for what its load does to it; such a one runs with what it can
/// bear, so that no test fails for what was drawn.
pub fn run_drawn(text: &str, sets: &[&str]) -> Outcome {
    try_run(load_with(text, sets), 1000, &Options::default()).unwrap_or_else(|error| {
        let message = error.to_string();
        let refusal = REFUSALS.iter().find(|(part, _)| message.contains(part));
        let (_, instead) = refusal.unwrap_or_else(|| panic!("{message}"));
        run(load_with(text, &[sets, instead].concat()))
    })
}

pub fn try_run(scenario: Scenario, step: u64, options: &Options) -> Result<Outcome, UserError> {
    let repeat = format!("a file with\n{}", scenario::print(&scenario));
    let options = Options { log_requests: true, check: Some(repeat), ..options.clone() };
    let mut ssd = Ssd::with(scenario, &options).expect("a scenario that fits into memory");
    let mut rows = Vec::new();
    while ssd.step(step)? {
        take_rows(&ssd.take_log(), &mut rows);
    }
    take_rows(&ssd.take_log(), &mut rows);
    rows.sort_by_key(|row| row.id);
    let logical_pages = ssd.scenario().logical_pages().into();
    Ok(Outcome { rows, summary: ssd.summary(), logical_pages })
}

/// Runs a scenario text to its end.
pub fn run_text(text: &str) -> Outcome {
    run(load(text))
}

pub fn take_rows(log: &LogBatch, rows: &mut Vec<Row>) {
    let natural = |value: i64| u64::try_from(value).expect("the log has no negative numbers");
    for index in 0..log.id.len() {
        rows.push(Row {
            id: natural(log.id[index]),
            op: Op::ALL[usize::from(log.op[index])],
            lba: natural(log.lba[index]),
            bytes: natural(log.bytes[index]),
            arrival_ns: natural(log.arrival_ns[index]),
            completion_ns: natural(log.completion_ns[index]),
            parts_ns: std::array::from_fn(|part| natural(log.parts_ns[part][index])),
            by_ns: log.causes[index].0,
            die: log.die[index],
            flow: natural(log.flow[index]),
            uncorrectable_pages: natural(log.uncorrectable_pages[index]),
        });
    }
}

/// One row of a trace written by hand: nanoseconds, `R`, `W` or `D`, first sector, sectors.
pub type TraceRow = (u64, char, u64, u64);

/// Runs a drive on a trace written by hand, whose first row arrives at 0.
///
/// `text` is the scenario without its workload.
pub fn replay(text: &str, sets: &[&str], rows: &[TraceRow]) -> Outcome {
    let file = trace_of(rows);
    run(load_with(&with_trace(text, &file), sets))
}

/// The same drive before its first row.
pub fn replaying(text: &str, sets: &[&str], rows: &[TraceRow]) -> Ssd {
    let file = trace_of(rows);
    let scenario = load_with(&with_trace(text, &file), sets);
    Ssd::new(scenario, false).expect("a drive without mistakes")
}

fn trace_of(rows: &[TraceRow]) -> tempfile::NamedTempFile {
    let mut trace = String::new();
    for (ns, op, sector, sectors) in rows {
        let (s, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
        writeln!(trace, "{s}.{ns:09} ; {sector} ; {sectors} ; {op} ; 0.0 ; 0.0")
            .expect("a string takes any text");
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace.as_bytes()).expect("room for a few rows");
    file
}

fn with_trace(text: &str, file: &tempfile::NamedTempFile) -> String {
    // A literal string: paths of some systems have backslashes.
    let path = file.path().display();
    format!("{text}\n[workload]\ntrace = '{path}'\nformat = \"blkreplay\"\naddress = \"error\"\n")
}
