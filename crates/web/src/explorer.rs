//! What the page asks for, in terms of the simulator: nothing here simulates.

use reprieve_base::{Entry, Time, UserError};
use reprieve_sim::blame::BLAME_NAMES;
use reprieve_sim::scenario::{self, Sources};
use reprieve_sim::{Options, Ssd, Window, registries, rig as die_rig};
use serde_json::{Value, json};

/// Percentiles of a glance.
const SHARES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
/// The share of the reads whose waits are told apart.
const SLOWEST_SHARE: f64 = 0.01;
/// Slices of a timeline that a page can draw.
const SLICES_MAX: u64 = 20_000;

/// A drive that is looked at.
#[derive(Default)]
pub struct Explorer {
    drive: Option<Ssd>,
    /// Latencies of reads, and what they waited behind.
    reads: Vec<(i64, [u64; BLAME_NAMES.len()])>,
}

/// A question: a text, its overrides, and what is wanted besides.
struct Question {
    text: String,
    sets: Vec<String>,
    commands: String,
    /// Of a timeline from the beginning on, its length.
    timeline_ns: u64,
}

impl Question {
    fn of(bytes: &[u8]) -> Result<Question, UserError> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| UserError::new(format!("the question is no JSON: {error}")))?;
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
        let sets = value["sets"].as_array().into_iter().flatten();
        let sets = sets.filter_map(Value::as_str).map(ToString::to_string).collect();
        let timeline_ns = value["timeline_ns"].as_u64().unwrap_or(0);
        Ok(Question { text: text("text"), sets, commands: text("commands"), timeline_ns })
    }

    fn sources(&self) -> Sources<'_> {
        Sources { text: &self.text, path: "scenario.toml", sets: &self.sets }
    }

    fn window(&self) -> Window {
        let until = Time::from_ns(self.timeline_ns);
        Window { from: Time::ZERO, until, phases: true, slices_max: SLICES_MAX }
    }
}

impl Explorer {
    /// Opens the drive of a question; returns its scenario with every value.
    pub fn open(&mut self, question: &[u8]) -> Result<String, UserError> {
        *self = Explorer::default();
        let question = Question::of(question)?;
        let scenario = scenario::load(&question.sources(), registries())?;
        let printed = scenario::print(&scenario);
        let timeline = (question.timeline_ns > 0).then(|| question.window());
        let options = Options { log_requests: true, timeline, ..Options::default() };
        self.drive = Some(Ssd::with(scenario, &options)?);
        Ok(printed)
    }

    fn drive(&mut self) -> Result<&mut Ssd, UserError> {
        self.drive.as_mut().ok_or_else(|| UserError::new("no drive is open; open a scenario first"))
    }

    /// Lets so many requests more complete; false when the workload is done.
    pub fn step(&mut self, requests: u64) -> Result<bool, UserError> {
        let drive = self.drive()?;
        let goes_on = drive.step(requests)?;
        let log = drive.take_log();
        for row in 0..log.id.len() {
            if log.op[row] == 0 {
                let latency_ns = log.completion_ns[row] - log.arrival_ns[row];
                self.reads.push((latency_ns, log.blamed[row].0));
            }
        }
        Ok(goes_on)
    }

    /// What there is to see while it runs.
    pub fn glance(&self) -> Value {
        let Some(drive) = &self.drive else { return Value::Null };
        let (glance, (share, completed)) = (drive.snapshot(SHARES), drive.progress());
        json!({
            "is_ready": drive.is_preconditioned(),
            "share": share,
            "requests": completed,
            "simulated_ns": glance.simulated_ns,
            "completed": glance.completed,
            "read_ns": glance.percentiles_ns[0],
            "write_ns": glance.percentiles_ns[1],
            "suspensions": glance.suspensions,
            "die_busy_ns": glance.die_busy_ns,
            "suspended_dies": glance.suspended_dies,
        })
    }

    /// The summary, as `reprieve run` writes it, and what the slowest reads waited behind.
    pub fn summary(&mut self) -> Result<Value, UserError> {
        let summary = self.drive()?.summary();
        let slowest = (self.reads.len() as f64 * SLOWEST_SHARE).ceil() as usize;
        self.reads.sort_by_key(|(latency_ns, _)| std::cmp::Reverse(*latency_ns));
        let slowest = &self.reads[..slowest.min(self.reads.len())];
        let sum = |cause: usize| slowest.iter().map(|(_, by_ns)| by_ns[cause]).sum::<u64>();
        let blame: serde_json::Map<String, Value> =
            (0..).zip(BLAME_NAMES).map(|(cause, name)| (name.into(), sum(cause).into())).collect();
        let latency_ns: i64 = slowest.iter().map(|(latency_ns, _)| latency_ns).sum();
        Ok(json!({
            "summary": summary,
            "slowest_reads": {
                "share": SLOWEST_SHARE,
                "requests": slowest.len(),
                "latency_ns": latency_ns,
                "waited": blame,
            },
        }))
    }

    /// The bytes of the timeline since the last call.
    pub fn timeline(&mut self) -> Result<Vec<u8>, UserError> {
        Ok(self.drive()?.take_timeline())
    }
}

/// One die with raw commands: the bytes of its timeline.
pub fn rig(question: &[u8]) -> Result<Vec<u8>, UserError> {
    let question = Question::of(question)?;
    let scenario = scenario::load_rig_file(&question.sources(), registries())?;
    let commands = die_rig::parse(&question.commands, &scenario)?;
    let window = Window { phases: true, slices_max: SLICES_MAX, ..Window::ALL };
    Ok(die_rig::run_drawn(&scenario, &commands, window)?.1)
}

/// What the page lets one choose from.
pub fn choices() -> Value {
    let names = |entries: &[Entry]| -> Value {
        entries.iter().map(|entry| json!({"name": entry.name, "doc": entry.doc})).collect()
    };
    let presets = |presets: &[scenario::Preset]| -> Value {
        presets.iter().map(|preset| json!(preset.name)).collect()
    };
    json!({
        "devices": presets(scenario::devices()),
        "schedulers": names(registries().schedulers),
        "suspension": names(registries().suspend_policies),
        "victims": names(registries().gc_victims),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
