//! Several loads at once: by hand on one die, and their figures against the log of requests.
//!
//! SLC of FAST 2012 without a link: read 30 us.

use std::io::Write as _;

use reprieve_base::Op;

use super::drive::{self, Outcome, Row};

const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// What all flows have in common: reads of a page, one at a time.
const READS: &str = "[workload]\ngenerator = \"mixed\"\nread_fraction = 1.0\n\
    request_bytes = 2048\nqueue_depth = 1\n";

fn run(sets: &[&str], flows: &str) -> Outcome {
    drive::run(drive::load_with(&format!("{SLC}{READS}{flows}"), sets))
}

fn of(outcome: &Outcome, flow: u64) -> Vec<&Row> {
    outcome.rows.iter().filter(|row| row.flow == flow).collect()
}

fn latencies_us(outcome: &Outcome, flow: u64) -> Vec<u64> {
    of(outcome, flow).iter().map(|row| row.latency_ns() / 1000).collect()
}

#[test]
fn two_loads_share_a_die() {
    let outcome = run(&[], "[flow.a]\nrequests = 4\n[flow.b]\nrequests = 2\n");
    // By turns from 0: a to 30, b to 60, a to 90, b to 120, a to 150, and a alone to 180.
    assert_eq!(latencies_us(&outcome, 0), [30, 60, 60, 30]);
    assert_eq!(latencies_us(&outcome, 1), [60, 60]);
    assert_eq!(outcome.count("flows.a.requests.read.count"), 4);
    assert_eq!(outcome.count("flows.b.requests.total.count"), 2);
    assert_eq!(outcome.number("flows.a.requests.read.latency_ns.mean"), us(45) as f64);
    assert_eq!(outcome.count("flows.a.active_ns"), us(180));
    assert_eq!(outcome.count("flows.b.active_ns"), us(120));
    let (a, b) = (4.0 / 180e-6, 2.0 / 120e-6);
    let close = |key: &str, want: f64| {
        let got = outcome.number(key);
        assert!((got / want - 1.0).abs() < 1e-12, "{key}: {got}, by hand {want}");
    };
    close("flows.a.iops", a);
    close("flows.b.iops", b);
    close("flows.b.bandwidth_bytes_per_s", b * 2048.0);
    close("fairness.jain_iops", (a + b).powi(2) / (2.0 * (a * a + b * b)));
    close("fairness.jain_bandwidth", (a + b).powi(2) / (2.0 * (a * a + b * b)));
    assert_eq!(outcome.count("workload.requests"), 6);
    // A load alone has neither.
    let alone = run(&["workload.requests=2"], "");
    assert!(alone.summary.get("flows").is_none() && alone.summary.get("fairness").is_none());
}

#[test]
fn a_flow_draws_from_streams_of_its_own() {
    let asked = |flows: &str, flow| -> Vec<(Op, u64)> {
        let outcome = run(&["workload.read_fraction=0.5", "workload.requests=50"], flows);
        of(&outcome, flow).iter().map(|row| (row.op, row.lba)).collect()
    };
    let alone = asked("[flow.b]\n", 0);
    assert_eq!(alone.len(), 50);
    // One before it in the order of names changes its number and nothing else.
    assert_eq!(asked("[flow.b]\n[flow.a]\nrequests = 7\n", 1), alone);
    assert_ne!(asked("[flow.b]\n[flow.a]\nrequests = 50\n", 0), alone);
}

const TWO: &str = "[flow.bulk]\nrequests = 40\nqueue_depth = 8\n[flow.urgent]\nrequests = 10\n";
const STRICT: [&str; 5] = [
    "host.interface=nvme",
    "host.queues=2",
    "host.outstanding=1",
    "host.arbitration=strict-priority",
    "host.queue_priorities=[\"low\", \"high\"]",
];

#[test]
fn a_trace_in_a_closed_loop_can_be_one_of_them() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let rows = "0.0 ; 8 ; 4 ; R ; 0.0 ; 0.0\n5.0 ; 16 ; 4 ; R ; 0.0 ; 0.0\n";
    file.write_all(rows.as_bytes()).expect("room for two rows");
    let path = file.path().display();
    let flows = format!(
        "[flow.a]\ntrace = '{path}'\nformat = \"blkreplay\"\nreplay = \"closed\"\nqueue_depth = 1\n\
         [flow.b]\ngenerator = \"mixed\"\nread_fraction = 1.0\nrequest_bytes = 2048\n\
         requests = 3\nqueue_depth = 1\n"
    );
    let outcome = drive::run(drive::load(&format!("{SLC}{flows}")));
    // By turns from 0, whenever the rows were recorded.
    assert_eq!(latencies_us(&outcome, 0), [30, 60]);
    assert_eq!(latencies_us(&outcome, 1), [60, 60, 30]);
}

#[test]
fn traces_keep_the_distance_at_which_they_were_recorded() {
    let trace = |rows: &str| {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(rows.as_bytes()).expect("room for a row");
        file
    };
    let (late, early) = (trace("700000 0 8 4 1\n"), trace("200000 0 8 4 1\n210000 0 16 4 1\n"));
    let flow = |name: &str, file: &tempfile::NamedTempFile, more: &str| {
        let path = file.path().display();
        format!("[flow.{name}]\ntrace = '{path}'\nformat = \"mqsim\"\n{more}\n")
    };
    let arrivals = |more: &str| {
        let flows = flow("a", &late, more) + &flow("b", &early, "repeat = 2");
        let outcome = drive::run(drive::load(&format!("{SLC}{flows}")));
        let of = |flow| of(&outcome, flow).iter().map(|row| row.arrival_ns).collect::<Vec<_>>();
        (of(0), of(1))
    };
    // The second pass begins twice the only gap after the first.
    let passes = vec![0, 10_000, 20_000, 30_000];
    assert_eq!(arrivals(""), (vec![500_000], passes.clone()));
    assert_eq!(arrivals("clock = \"own\""), (vec![0], passes));
    let alone = format!("{SLC}[workload]\ntrace = '{}'\n", late.path().display());
    let error = drive::bad(&alone, &["workload.clock=own"]);
    assert!(error.contains("workload.clock") && error.contains("where several flows"), "{error}");
}

#[test]
fn each_flow_has_a_queue_and_its_class() {
    let outcome = run(&STRICT, TWO);
    assert_eq!(latencies_us(&outcome, 1), [30; 10]);
    // The other starts when the urgent one is through.
    assert_eq!(latencies_us(&outcome, 0)[..8], [330, 360, 390, 420, 450, 480, 510, 540]);
    // The other way round, by name of the queue.
    let swapped = ["flow.bulk.queues=[1]", "flow.urgent.queues=[0]"];
    let outcome = run(&[&STRICT[..], &swapped].concat(), TWO);
    assert_eq!(latencies_us(&outcome, 1)[0], 40 * 30 + 30);
    // In the same queue eight others go before each, until after five times eight it is alone.
    let same = ["flow.bulk.queues=[1]", "flow.urgent.queues=[1]"];
    let outcome = run(&[&STRICT[..], &same].concat(), TWO);
    assert_eq!(latencies_us(&outcome, 1), [[270; 5], [30; 5]].concat());
}

#[test]
fn a_flow_goes_to_its_queues_by_turns() {
    // Queue 0 comes first in its class: requests 0 and 2 of the one flow go there.
    let sets = ["workload.queues=[1, 0]", "workload.queue_depth=4", "workload.requests=4"];
    let weights = ["host.arbitration=weighted", "host.queue_weights=[2, 1]"];
    let sets = [&STRICT[..3], &weights, &sets].concat();
    assert_eq!(latencies_us(&run(&sets, ""), 0), [90, 30, 120, 60]);
}

const THREE: &str = "[workload]\ngenerator = \"mixed\"\nrequests = 2000\nread_fraction = 0.6\n\
    request_bytes = [[512, 1], [6144, 2]]\nalign_bytes = 512\n\
    [flow.closed]\nqueue_depth = 5\nrequests = 3000\n\
    [flow.poisson]\narrivals = \"poisson\"\nrate_iops = 3000\nfua_fraction = 0.5\n\
    [flow.fixed]\narrivals = \"fixed\"\nrate_iops = 1000\nflush_every_requests = 10\n";

#[test]
fn the_figures_of_a_flow_are_those_of_its_requests() {
    let text = format!("{SLC}{THREE}");
    let sets = [
        "host.interface=nvme",
        "host.queues=2",
        "host.outstanding=20",
        "buffer.acknowledge=back",
        "buffer.replacement=lru",
        "read_cache.bytes=1000000",
    ];
    let scenario = drive::load_with(&text, &sets);
    let outcome = drive::run(scenario.clone());
    assert_eq!(drive::run_in_steps(scenario, 7), outcome);
    assert!(outcome.rows.is_sorted_by_key(|row| row.arrival_ns));
    for (number, (name, requests)) in
        [("closed", 3000), ("fixed", 2000), ("poisson", 2000)].into_iter().enumerate()
    {
        let rows = of(&outcome, number as u64);
        assert_eq!(rows.len(), requests, "{name}");
        for (class, op) in [("read", Op::Read), ("write", Op::Write)] {
            let rows: Vec<_> = rows.iter().filter(|row| row.op == op).collect();
            let at = |key: &str| outcome.number(&format!("flows.{name}.requests.{class}.{key}"));
            assert_eq!(at("count"), rows.len() as f64, "{name} {class}");
            let sum: u64 = rows.iter().map(|row| row.latency_ns()).sum();
            assert_eq!(at("latency_ns.mean"), sum as f64 / rows.len() as f64, "{name} {class}");
        }
        let last_ns = rows.iter().map(|row| row.completion_ns).max().expect("requests");
        let first_ns = rows.iter().map(|row| row.arrival_ns).min().expect("requests");
        assert_eq!(outcome.count(&format!("flows.{name}.active_ns")), last_ns - first_ns);
    }
    assert_eq!(outcome.count("flows.fixed.requests.flush.count"), 200);
    let fua = outcome.count("flows.poisson.requests.fua.count");
    assert!(fua > 0 && fua == outcome.count("requests.fua.count"));
    // Of the closed one five are always open.
    let closed = of(&outcome, 0);
    let mut done: Vec<u64> = closed.iter().map(|row| row.completion_ns).collect();
    done.sort_unstable();
    for (row, done) in closed.iter().skip(5).zip(done) {
        assert_eq!(row.arrival_ns, done);
    }
}
