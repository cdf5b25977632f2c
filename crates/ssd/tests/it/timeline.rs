//! Timelines: they change nothing, are the same in any steps, and end where they are full.

use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::{Options, Ssd, Window, registries};
use serde_json::Value;

const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 8\n[ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0.5\n\
    request_bytes = 4096\nqueue_depth = 8\n";

/// The summary of a run, and its timeline in the pieces that steps of so many requests gave.
fn run(window: Option<Window>, step: u64) -> (Value, Vec<Vec<u8>>) {
    let sources = Sources { text: DRIVE, path: "the test", sets: &[] };
    let scenario = scenario::load(&sources, registries()).expect("the scenario is right");
    let options = Options { timeline: window, ..Options::default() };
    let mut ssd = Ssd::with(scenario, &options).expect("the drive fits");
    let mut pieces = Vec::new();
    while ssd.step(step).expect("the run goes on") {
        pieces.push(ssd.take_timeline());
    }
    pieces.push(ssd.take_timeline());
    (ssd.summary(), pieces)
}

/// The summary of a run without what it says of its timeline.
fn rest(mut summary: Value) -> (Value, Option<Value>) {
    let fields = summary.as_object_mut().expect("a summary has fields");
    let timeline = fields.shift_remove("timeline");
    (summary, timeline)
}

#[test]
fn a_timeline_changes_nothing_and_does_not_depend_on_steps() {
    let (bare, nothing) = run(None, 100);
    assert!(nothing.iter().all(Vec::is_empty), "bytes of a timeline that nobody asked for");
    let window = Window { phases: true, ..Window::ALL };
    let (by_tens, pieces) = run(Some(window), 10);
    let (at_once, whole) = run(Some(window), u64::MAX);
    assert_eq!(pieces.concat(), whole.concat());
    assert!(pieces.iter().filter(|piece| !piece.is_empty()).count() > 1, "not as it goes on");
    assert_eq!(by_tens, at_once);
    let (drawn, timeline) = rest(at_once);
    assert_eq!(rest(bare), (drawn, None));
    let timeline = timeline.expect("it says how large it is");
    assert_eq!(timeline["cut_ns"], Value::Null);
    // Each of 3000 requests is a slice, as are its operation and at least one transfer.
    assert!(timeline["slices"].as_u64() > Some(9000), "{timeline}");
}

#[test]
fn a_full_timeline_ends_and_says_when() {
    let (bare, _) = run(None, 100);
    let window = Window { slices_max: 1000, ..Window::ALL };
    let (cut, pieces) = run(Some(window), 10);
    let (drawn, timeline) = rest(cut);
    assert_eq!(rest(bare), (drawn.clone(), None));
    let timeline = timeline.expect("it says how large it is");
    // What was open when it was full, on four dies and of eight requests, and what else ended at
    // that instant, comes on top.
    let slices = timeline["slices"].as_u64().expect("a count");
    assert!((1000..1100).contains(&slices), "{slices} slices");
    let cut_ns = timeline["cut_ns"].as_u64().expect("it was cut");
    assert!(cut_ns > 0 && Some(cut_ns) < drawn["device"]["simulated_ns"].as_u64());
    assert!(pieces.last().is_some_and(Vec::is_empty), "drawn on after it had ended");
}
