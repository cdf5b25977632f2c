//! A steady drive starts in one equilibrium, whoever brings the requests: a generator, a trace of
//! them, or somebody who hands them over.

use std::fmt::Write as _;

use reprieve_base::{Op, Request, Time};
use reprieve_ssd::{Options, Route, Ssd};
use serde_json::Value;

use super::cases;
use super::drive::{self, Row};

const REQUESTS: u64 = 20_000;
const SEEDS: u64 = 4;
/// Student's t, 97.5 %, of differences over four seeds.
const STUDENT: f64 = 3.182;
/// What is compared, and by how much it may differ where four runs happen to differ alike.
const MEASURES: [(&str, f64); 3] = [
    ("/flash/waf", 0.03),
    ("/requests/read/latency_ns/p99", 0.05),
    ("/requests/read/latency_ns/p99_9", 0.05),
];

const LOAD: &str = "generator = \"mixed\"\nrequests = 20000\nread_fraction = 0.5\n\
    request_bytes = 16384\nalign_bytes = 16384\narrivals = \"poisson\"\nrate_iops = 2000\n";

fn drive_of(device: &str, background: bool, seed: u64) -> String {
    // Units of 4 KiB take four times as long: 16 dies.
    let fewer = match device {
        "tlc-nvme" => "dies_per_channel = 2\n",
        "tlc-enterprise" => "dies_per_channel = 1\n",
        _ => "",
    };
    format!(
        "device = \"{device}\"\nseed = {seed}\n[geometry]\n{fewer}blocks_per_plane = 64\n[ftl]\n\
         precondition = \"steady\"\ngc_background = {background}\nover_provisioning = 0.25\n"
    )
}

fn values(summary: &Value) -> [f64; 3] {
    MEASURES.map(|(pointer, _)| summary.pointer(pointer).and_then(Value::as_f64).expect("there"))
}

/// The summary of what somebody gets who hands over the requests of a log.
fn handed_over(text: &str, rows: &[Row]) -> Value {
    let options = Options { served: true, handed_over: true, ..Options::default() };
    let scenario = drive::load_served(&format!("{text}[precondition.load]\n{LOAD}"));
    let mut ssd = Ssd::with(scenario, &options).expect("a drive without mistakes");
    while !ssd.is_preconditioned() {
        ssd.step(1).expect("it can be preconditioned");
    }
    ssd.start_serving().expect("it is ready");
    let mut in_order: Vec<&Row> = rows.iter().collect();
    in_order.sort_by_key(|row| row.id);
    for row in in_order {
        let (arrival, bytes) = (Time::from_ns(row.arrival_ns), row.bytes as u32);
        let request = Request { arrival, op: row.op, lba: row.lba, bytes, fua: false };
        ssd.hand_over(request, row.id, Route::default());
    }
    ssd.advance_to_done(Time::from_ns(1 << 60), REQUESTS as usize).expect("nothing fails");
    ssd.summary()
}

/// The summary of a replay of a log as a trace.
fn replayed(text: &str, rows: &[Row], name: &str) -> Value {
    let mut trace = String::new();
    let mut in_order: Vec<&Row> = rows.iter().collect();
    in_order.sort_by_key(|row| row.id);
    for row in in_order {
        let kind = u8::from(row.op == Op::Read);
        writeln!(trace, "{} 0 {} {} {kind}", row.arrival_ns, row.lba, row.bytes / 512)
            .expect("a string takes all");
    }
    let path = std::env::temp_dir().join(format!("reprieve-entrances-{name}.trace"));
    std::fs::write(&path, trace).expect("there is room");
    let load = format!("[workload]\ntrace = {path:?}\nformat = \"mqsim\"\n");
    let summary = drive::run(drive::load(&format!("{text}{load}"))).summary;
    std::fs::remove_file(path).expect("it was just written");
    summary
}

fn compare(device: &str, background: bool) {
    let mut differences = [[0.0; SEEDS as usize]; MEASURES.len()];
    for seed in 1..=SEEDS {
        let text = drive_of(device, background, seed);
        let generated = drive::run(drive::load(&format!("{text}[workload]\n{LOAD}")));
        let handed = handed_over(&text, &generated.rows);
        assert_eq!(handed["flash"], generated.summary["flash"], "{device} {background} {seed}");
        assert_eq!(handed["requests"]["read"], generated.summary["requests"]["read"]);
        let name = format!("{device}-{background}-{seed}");
        let traced = values(&replayed(&text, &generated.rows, &name));
        for (at, (own, other)) in values(&generated.summary).iter().zip(traced).enumerate() {
            differences[at][seed as usize - 1] = (other / own).ln();
        }
    }
    for ((pointer, alike), logs) in MEASURES.iter().zip(differences) {
        let mean = logs.iter().sum::<f64>() / SEEDS as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let half = STUDENT * (squares / (SEEDS * (SEEDS - 1)) as f64).sqrt();
        let told = format!("{device}, background {background}, {pointer}: {logs:?}");
        assert!(mean.abs() <= half.max(*alike), "{told}");
        // An interval so wide that it holds anything would say nothing.
        assert!(mean.abs() <= 0.15, "{told}");
    }
}

/// `make test` has each device with or without collection in the background, not both.
macro_rules! entrances_agree {
    ($($name:ident: $device:literal, $quick:literal;)*) => {$(
        #[test]
        fn $name() {
            compare($device, $quick);
            if cases::times() >= 1.0 {
                compare($device, !$quick);
            }
        }
    )*};
}

// Tests of their own, as each takes long and none needs another.
entrances_agree! {
    entrances_agree_on_fast12_mlc: "fast12-mlc", true;
    entrances_agree_on_tlc_enterprise: "tlc-enterprise", false;
    entrances_agree_on_tlc_nvme: "tlc-nvme", true;
    entrances_agree_on_mqsim_default_like: "mqsim-default-like", false;
}

/// The other devices, at the same size of a plane.
#[test]
#[ignore = "a quarter of an hour"]
fn entrances_agree_on_all_devices() {
    let others =
        ["fast12-slc", "970pro-like", "mbm", "qlc-enterprise", "tlc3d-1tb", "znand-like", "zns-a"];
    for device in others {
        compare(device, true);
        compare(device, false);
    }
}
