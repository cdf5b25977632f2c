//! One load through a run, or through the C interface, for benches/embedded.py.
//!
//! `instructions run|steps|stops|batches REQUESTS`: a run; `reprieve_next` and `reprieve_advance`;
//! `reprieve_run` to each completion; or to many, with requests handed over ahead, as of a trace.
//! All have the same requests from the same generator.

use std::ptr::{from_ref, null_mut};

use reprieve::{Completion, Request, reprieve_advance, reprieve_next, reprieve_open};
use reprieve::{reprieve_close, reprieve_poll, reprieve_run, reprieve_submit};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::{Options, Ssd, registries};
use reprieve_trace::Workload;

/// The main load of the benchmarks on a small drive, but open: the caller has the arrivals.
const LOAD: &str = "device = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nblocks_per_plane = 64\n\
    [ftl]\nprecondition = \"sequential\"\nover_provisioning = 0.2\n\
    [workload]\ngenerator = \"mixed\"\nread_fraction = 0.7\nrequest_bytes = 4096\n\
    arrivals = \"poisson\"\nrate_iops = 6000\n";

/// Requests submitted ahead, and completions taken in one call.
const BATCH: usize = 64;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, how, requests] = &words[..] else { panic!("how, and how many requests") };
    let sets = [format!("workload.requests={requests}")];
    let sources = Sources { text: LOAD, path: "the load", sets: &sets };
    let scenario = scenario::load(&sources, registries()).expect("a scenario");
    let (completed, latency_ns) = match how.as_str() {
        "run" => run(scenario),
        how => embedded(&scenario, how),
    };
    println!("{completed} requests, {latency_ns} ns in all");
}

fn run(scenario: Scenario) -> (u64, u64) {
    let mut ssd = Ssd::with(scenario, &Options::default()).expect("it fits into memory");
    while ssd.step(1_000).expect("no bad rows") {}
    let all = &ssd.latencies()[2];
    (all.count(), all.sum_ns() as u64)
}

fn embedded(scenario: &Scenario, how: &str) -> (u64, u64) {
    let text = scenario::print(scenario);
    let config = scenario.workload.as_ref().expect("the load has one");
    let mut load =
        Workload::open(config, scenario.capacity_bytes(), scenario.seed).expect("a generator");
    let mut drive = null_mut();
    let mut all = (0, 0);
    // SAFETY: as the header requires: one thread, and valid pointers.
    unsafe {
        assert_eq!(reprieve_open(text.as_ptr().cast(), text.len(), &raw mut drive), 0);
        let mut done: [Completion; BATCH] = std::mem::zeroed();
        let mut poll = || {
            let count = reprieve_poll(drive, done.as_mut_ptr(), BATCH);
            for one in &done[..count as usize] {
                all.0 += 1;
                all.1 += one.completion_ns - one.arrival_ns;
            }
        };
        let wanted = if how == "batches" { BATCH } else { 1 };
        let mut go = |until_ns: u64| loop {
            let mut now_ns = 0;
            if how == "steps" {
                reprieve_next(drive, &raw mut now_ns);
                if now_ns > until_ns {
                    break;
                }
                assert_eq!(reprieve_advance(drive, now_ns), 0);
                poll();
            } else {
                assert_eq!(reprieve_run(drive, until_ns, wanted, &raw mut now_ns), 0);
                if now_ns == until_ns {
                    break;
                }
                poll();
            }
        };
        let (mut number, mut last_ns) = (0, 0);
        while let Some(request) = load.next_request().expect("no bad rows") {
            let at_ns = request.arrival.ns();
            let (op, fua) = (request.op as u8, u8::from(request.fua));
            let (lba, bytes) = (request.lba, request.bytes);
            let asked = Request { tag: 0, lba, bytes, op, fua, reserved: 0 };
            // A trace is known beforehand; a reactive caller submits each request at its arrival.
            number += 1;
            if how != "batches" || number % BATCH == 0 {
                go(last_ns);
            }
            assert_eq!(reprieve_submit(drive, at_ns, from_ref(&asked)), 0);
            last_ns = at_ns;
        }
        go(1 << 60);
        poll();
        reprieve_close(drive);
    }
    all
}
