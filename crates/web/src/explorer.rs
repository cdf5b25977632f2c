//! The page's requests in terms of the simulator; nothing here simulates.

use std::array;
use std::path::Path;
use std::sync::Arc;

use reprieve_base::{Time, UserError};
use reprieve_ssd::scenario::{self, Scenario, Sources, Warmup};
use reprieve_ssd::{Options, Ssd, Store, Window, registries, rig as die_rig};
use serde_json::{Value, json};

use crate::waits::Waits;

/// Points of the curve of latencies: 0, 10, …, 90, 91, …, 99, 99.1 and so on to 99.999 %.
const POINTS: usize = 46;
/// Bytes of prepared drives that are kept for the next run.
const STATES_BYTES_MAX: u64 = 256 << 20;
/// Slices of a timeline that a page can draw.
const SLICES_MAX: u64 = 20_000;

/// A drive on display.
#[derive(Default)]
pub struct Explorer {
    run: Option<Run>,
    waits: Waits,
    /// Prepared drives; absent before the first.
    states: Option<Arc<Store>>,
}

/// A drive, with the parameters to reopen it once its transient is found.
struct Run {
    drive: Ssd,
    again: Option<(Scenario, Options)>,
}

/// A question: a scenario, its overrides, and further options.
struct Question {
    text: String,
    sets: Vec<String>,
    /// Commands of the rig, as in its file.
    commands: String,
    /// Length of the timeline from the start of the run; 0: none.
    timeline_ns: u64,
}

impl Question {
    fn parse(bytes: &[u8]) -> Result<Question, UserError> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| UserError::new(format!("the question is not JSON: {error}")))?;
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
        let sets = value["sets"].as_array().into_iter().flatten();
        let sets = sets.filter_map(Value::as_str).map(ToString::to_string).collect();
        let timeline_ns = value["timeline_ns"].as_u64().unwrap_or(0);
        Ok(Question { text: text("text"), sets, commands: text("commands"), timeline_ns })
    }

    fn sources(&self) -> Sources<'_> {
        Sources { text: &self.text, path: "scenario.toml", sets: &self.sets }
    }

    fn window(&self) -> Option<Window> {
        let until = Time::from_ns(self.timeline_ns);
        let window = Window { until, slices_max: SLICES_MAX, ..Window::ALL };
        (self.timeline_ns > 0).then_some(window)
    }
}

impl Explorer {
    /// Opens the drive of a question; returns the resolved scenario.
    pub fn open(&mut self, question: &[u8]) -> Result<String, UserError> {
        let states = self.states.take();
        let states = states.or_else(|| Some(Store::new(None, STATES_BYTES_MAX, 0)));
        *self = Explorer { states: states.clone(), ..Explorer::default() };
        let question = Question::parse(question)?;
        let scenario = scenario::load(&question.sources(), registries())?;
        let printed = scenario::print(&scenario);
        let timeline = question.window();
        let plain = Options { states, ..Options::default() };
        let options = Options { log_requests: true, timeline, ..plain.clone() };
        self.run = Some(match scenario.measure.warmup {
            Warmup::None => Run { drive: Ssd::with(scenario, &options)?, again: None },
            Warmup::Auto => {
                let drive = Ssd::with(scenario.clone(), &plain)?;
                Run { drive, again: Some((scenario, options)) }
            }
        });
        Ok(printed)
    }

    /// Simulates until about `requests` more requests are complete; false at the end.
    ///
    /// With `measure.warmup = "auto"` the scenario is simulated twice.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        let run = self.run_mut()?;
        let goes_on = run.drive.step(requests)?;
        if goes_on || run.again.is_none() {
            let log = run.drive.take_log();
            self.waits.add(&log);
            return Ok(goes_on);
        }
        let found = run.drive.found().expect("the run has looked for its transient");
        let (scenario, options) = run.again.take().expect("it was there");
        // Memory may not suffice for both.
        self.run = None;
        let mut drive = Ssd::with(scenario, &options)?;
        drive.exclude(found);
        self.run = Some(Run { drive, again: None });
        Ok(true)
    }

    /// The state of the run, for display.
    pub fn snapshot(&self) -> Value {
        let Some(Run { drive, again }) = &self.run else { return Value::Null };
        let shares: [f64; POINTS] = array::from_fn(|point| {
            let whole = 10u64.pow(point as u32 / 9 + 1);
            (whole - 10 + point as u64 % 9) as f64 / whole as f64
        });
        let (seen, (share, completed)) = (drive.snapshot(shares), drive.progress());
        let is_first = again.is_some();
        let is_twice = drive.scenario().measure.warmup == Warmup::Auto;
        let of_both = |share: f64| if is_first { share / 2.0 } else { 0.5 + share / 2.0 };
        json!({
            "is_ready": drive.is_preconditioned(),
            "share": share.map(|share| if is_twice { of_both(share) } else { share }),
            "requests": completed,
            "simulated_ns": seen.simulated_ns,
            "completed": seen.completed,
            "read_ns": seen.percentiles_ns[0],
            "write_ns": seen.percentiles_ns[1],
            "suspensions": seen.suspensions,
            "die_busy_ns": seen.die_busy_ns,
        })
    }

    /// The summary as `reprieve run --requests` writes it, without wall-clock fields.
    pub fn summary(&mut self) -> Result<Value, UserError> {
        let mut summary = self.run_mut()?.drive.summary();
        let counts = ["read", "write"].map(|kind| {
            summary["requests"][kind]["count"].as_u64().expect("a summary counts its requests")
        });
        summary["blame"] = self.waits.section(counts);
        Ok(summary)
    }

    /// The bytes of the timeline since the last call.
    pub fn timeline(&mut self) -> Result<Vec<u8>, UserError> {
        Ok(self.run_mut()?.drive.take_timeline())
    }

    fn run_mut(&mut self) -> Result<&mut Run, UserError> {
        self.run.as_mut().ok_or_else(|| UserError::new("no drive is open: open a scenario first"))
    }
}

/// Holds a file for scenarios to name: its name, a line feed, and its bytes.
pub fn hold(file: &[u8]) -> Result<(), UserError> {
    let end = file.iter().position(|byte| *byte == b'\n');
    let (name, bytes) = file.split_at(end.ok_or_else(|| UserError::new("a file needs a name"))?);
    reprieve_trace::hold(Path::new(&*String::from_utf8_lossy(name)), bytes[1..].to_vec());
    Ok(())
}

/// The resolved scenario of a question; it may have no load.
pub fn resolve(question: &[u8]) -> Result<String, UserError> {
    let question = Question::parse(question)?;
    Ok(scenario::print(&scenario::load_rig_file(&question.sources(), registries())?))
}

/// One die with raw commands: the bytes of its timeline.
pub fn rig(question: &[u8]) -> Result<Vec<u8>, UserError> {
    let question = Question::parse(question)?;
    let scenario = scenario::load_rig_file(&question.sources(), registries())?;
    let commands = die_rig::parse(&question.commands, &scenario)?;
    let window = Window { phases: true, slices_max: SLICES_MAX, ..Window::ALL };
    let asked = die_rig::Asked { timeline: Some(window), ..Default::default() };
    Ok(die_rig::run_with(&scenario, &commands, asked)?.timeline)
}

/// The choices that the page offers.
pub fn choices() -> Value {
    let devices = scenario::devices().iter().map(|preset| json!(preset.name));
    let policies = registries().suspend_policies.iter();
    let policies = policies.map(|entry| json!({"name": entry.name, "doc": entry.doc}));
    json!({
        "devices": devices.collect::<Value>(),
        "suspension_policies": policies.collect::<Value>(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
        [geometry]\nchannels = 2\nblocks_per_plane = 32\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 2000\nread_fraction = 0.7\n\
        request_bytes = 4096\narrivals = \"closed\"\nqueue_depth = 8\n";

    fn question(sets: &[&str], timeline_ns: u64) -> Vec<u8> {
        let question = json!({"text": TEXT, "sets": sets, "timeline_ns": timeline_ns});
        question.to_string().into_bytes()
    }

    fn done(sets: &[&str]) -> (Explorer, Value) {
        let mut explorer = Explorer::default();
        explorer.open(&question(sets, 1_000_000)).expect("a good scenario");
        while explorer.step(100).expect("a good run") {}
        let summary = explorer.summary().expect("a drive is open");
        (explorer, summary)
    }

    fn natively(sets: &[&str]) -> Ssd {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let sources = Sources { text: TEXT, path: "scenario.toml", sets: &sets };
        let scenario = scenario::load(&sources, registries()).expect("a good scenario");
        let mut drive = Ssd::with(scenario, &Options::default()).expect("a small drive");
        while drive.step(1 << 20).expect("a good run") {}
        drive
    }

    #[test]
    fn a_run_in_steps_is_the_run() {
        let (mut explorer, mut summary) = done(&[]);
        let sections = summary.as_object_mut().expect("an object");
        assert!(sections.remove("timeline").is_some());
        let blame = sections.remove("blame").expect("it is there");
        assert_eq!(summary, natively(&[]).summary());
        assert_eq!(blame["read"]["all"]["requests"], summary["requests"]["read"]["count"]);
        assert_eq!(explorer.snapshot()["share"], 1.0);
        assert!(!explorer.timeline().expect("a drive is open").is_empty());
    }

    #[test]
    fn a_transient_is_found_and_left_out() {
        let sets = ["measure.warmup=auto", "workload.requests=20000"];
        let (_, summary) = done(&sets);
        let first = natively(&sets);
        assert!(first.found().is_some());
        assert_ne!(summary["measure"]["reason"], "nothing is excluded");
    }

    #[test]
    fn mistakes_are_sentences() {
        let mut explorer = Explorer::default();
        let error = explorer.step(1).expect_err("nothing is open").to_string();
        assert_eq!(error, "no drive is open: open a scenario first");
        let error = explorer.open(b"{").expect_err("half an object").to_string();
        assert!(error.starts_with("the question is not JSON"), "{error}");
        let error = explorer.open(&question(&["policy=pes-ipx"], 0)).expect_err("a typo");
        assert!(error.to_string().contains("pes-ipc"), "{error}");
        assert_eq!(explorer.snapshot(), Value::Null);
    }

    #[test]
    fn a_die_is_drawn() {
        let commands = "arrival_ns,op,plane,block,page\n0,program,0,0,0\n100000,read,0,1,0\n";
        let question = json!({"text": "device = \"fast12-slc\"\n", "commands": commands});
        let question = question.to_string().into_bytes();
        assert!(!rig(&question).expect("good commands").is_empty());
        assert!(resolve(&question).expect("a good device").contains("t_read_us"));
        assert!(choices()["devices"].as_array().expect("a list").contains(&json!("fast12-slc")));
    }
}
