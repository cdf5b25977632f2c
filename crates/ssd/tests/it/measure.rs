//! From when on a run is measured: what is excluded, what is not, and that nothing else moves.

use std::collections::BTreeMap;

use reprieve_ssd::scenario::{Sources, load};
use reprieve_ssd::{Options, Ssd, registries};
use serde_json::Value;

use super::drive;

const DRIVE: &str = "seed = 7\ndevice = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n[geometry]\n\
    channels = 4\nblocks_per_plane = 48\npages_per_block = 16\n[ftl]\n\
    precondition = \"steady\"\nover_provisioning = 0.3\n[workload]\ngenerator = \"mixed\"\n\
    requests = 3000\nread_fraction = 0.6\nrequest_bytes = [[4096, 3], [16384, 1]]\n";
const CLOSED: &str = "arrivals = \"closed\"\nqueue_depth = 8\n";
const OPEN: &str = "arrivals = \"poisson\"\nrate_iops = 1500\n";

/// Summary and log of a run, checked all the way.
fn run(text: &str) -> (Value, BTreeMap<i64, Row>) {
    let sources = Sources { text, path: "measure.toml", sets: &[] };
    let scenario = load(&sources, registries()).expect("the scenario is right");
    let options = Options {
        log_requests: true,
        series: true,
        check: Some("measure".to_string()),
        ..Options::default()
    };
    let mut ssd = Ssd::with(scenario, &options).expect("the drive fits");
    while ssd.step(500).expect("something is measured") {}
    let log = ssd.take_log();
    let row = |at: usize| Row {
        arrival_ns: log.arrival_ns[at] as u64,
        completion_ns: log.completion_ns[at] as u64,
        bytes: log.bytes[at] as u64,
        is_read: log.op[at] == 0,
        parts_ns: log.parts_ns.iter().map(|part| part[at]).collect(),
    };
    let rows = log.id.iter().enumerate().map(|(at, id)| (*id, row(at))).collect();
    let summary = ssd.summary();
    let course = ssd.course().expect("the run is watched");
    let from_ns = number(&summary, "/measure/from_ns");
    assert_eq!(course.series.begin_ns, from_ns);
    let bins = &course.series.bins;
    for (kind, name) in ["read", "write"].iter().enumerate() {
        let inside: u64 = bins.iter().map(|bin| bin.completed[kind].count).sum();
        assert_eq!(inside, number(&summary, &format!("/requests/{name}/count")));
    }
    let sampled = |at: usize| bins.iter().map(|bin| bin.counted[at]).sum::<u64>();
    assert_eq!(sampled(0), number(&summary, "/flash/reads"));
    assert_eq!(sampled(4), number(&summary, "/flash/erases"));
    assert_eq!(sampled(5), number(&summary, "/flash/suspensions/program"));
    assert_eq!(course.ages[0].iter().sum::<u64>(), sampled(5));
    assert_eq!(sampled(7), course.die_busy_ns.iter().sum::<u64>());
    (summary, rows)
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    arrival_ns: u64,
    completion_ns: u64,
    bytes: u64,
    is_read: bool,
    parts_ns: Vec<i64>,
}

fn number(summary: &Value, place: &str) -> u64 {
    summary.pointer(place).and_then(Value::as_u64).unwrap_or_else(|| panic!("{place}"))
}

fn share(summary: &Value, place: &str) -> f64 {
    summary.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("{place}"))
}

/// The summary holds what the rows of the measured part come to.
fn assert_summary_of(summary: &Value, rows: &BTreeMap<i64, Row>, from_ns: u64) {
    let end_ns = rows.values().map(|row| row.completion_ns).max().expect("there are rows");
    assert_eq!(number(summary, "/measure/from_ns"), from_ns);
    assert_eq!(number(summary, "/device/simulated_ns"), end_ns - from_ns);
    let seconds = (end_ns - from_ns) as f64 / 1e9;
    for (name, is_read) in [("read", true), ("write", false)] {
        let mine: Vec<&Row> = rows.values().filter(|row| row.is_read == is_read).collect();
        let at = |field: &str| format!("/requests/{name}/{field}");
        assert_eq!(number(summary, &at("count")), mine.len() as u64);
        assert_eq!(number(summary, &at("bytes")), mine.iter().map(|row| row.bytes).sum::<u64>());
        let latency = |row: &&Row| row.completion_ns - row.arrival_ns;
        let sum: u64 = mine.iter().map(latency).sum();
        let mean = sum as f64 / mine.len() as f64;
        assert!((share(summary, &at("latency_ns/mean")) - mean).abs() < 1e-6);
        let longest = mine.iter().map(latency).max().expect("there are some");
        assert_eq!(number(summary, &at("latency_ns/max")), longest);
    }
    let bytes: u64 = rows.values().map(|row| row.bytes).sum();
    let close = |place: &str, expected: f64| {
        let got = share(summary, place);
        assert!((got / expected - 1.0).abs() < 1e-9, "{place}: {got} for {expected}");
    };
    close("/device/iops", rows.len() as f64 / seconds);
    close("/device/bandwidth_bytes_per_s", bytes as f64 / seconds);
    for place in ["idle_share", "die_busy_share", "channel_busy_share"] {
        let got = share(summary, &format!("/device/{place}"));
        assert!((0.0..=1.0).contains(&got), "{place} = {got}");
    }
    let written = number(summary, "/requests/write/bytes")
        + number(summary, "/measure/earlier_written_bytes");
    let programmed = number(summary, "/flash/programs") * 4096;
    close("/flash/waf", programmed as f64 / written as f64);
}

#[test]
fn what_counts_is_what_the_whole_run_has_from_there_on() {
    for load in [CLOSED, OPEN] {
        let (whole, all) = run(&format!("{DRIVE}{load}"));
        assert_eq!(whole["measure"]["requests_excluded"], 0);
        assert_summary_of(&whole, &all, 0);
        for from in [1i64, 3, 1500, 2999] {
            let text = format!("{DRIVE}{load}[measure]\nfrom_request = {from}\n");
            let (summary, rows) = run(&text);
            let expected: BTreeMap<_, _> = all.clone().split_off(&from);
            assert_eq!(rows, expected, "from {from}");
            assert_eq!(number(&summary, "/measure/requests_excluded"), from as u64);
            if from < 2999 {
                assert_summary_of(&summary, &rows, all[&from].arrival_ns);
            }
            // What the flash did is split at that instant, and none of it is lost.
            assert_eq!(summary["run"]["page_transactions"], whole["run"]["page_transactions"]);
        }
    }
}

#[test]
fn a_time_measures_from_that_time_on() {
    let (_, all) = run(&format!("{DRIVE}{OPEN}"));
    let from_ns = 700_000_000;
    let text = format!("{DRIVE}{OPEN}[measure]\nfrom_s = 0.7\n");
    let (summary, rows) = run(&text);
    let later = all.iter().filter(|(_, row)| row.arrival_ns >= from_ns);
    assert_eq!(rows, later.map(|(id, row)| (*id, row.clone())).collect());
    assert_summary_of(&summary, &rows, from_ns);
    // Of both the later holds: request 2,000 arrives after about 1.3 s, request 10 long before.
    let both = |from: i64| run(&format!("{text}from_request = {from}\n"));
    let (summary, rows) = both(2000);
    assert_summary_of(&summary, &rows, all[&2000].arrival_ns);
    assert_eq!(rows.keys().next(), Some(&2000));
    let (summary, also) = both(10);
    assert_summary_of(&summary, &also, from_ns);
    assert!(also.len() > rows.len());
}

#[test]
fn parts_of_a_run_add_up_to_the_whole() {
    // With one request at a time nothing is under way when the measured part begins.
    let load = "arrivals = \"closed\"\nqueue_depth = 1\n";
    let (whole, _) = run(&format!("{DRIVE}{load}"));
    let (late, _) = run(&format!("{DRIVE}{load}[measure]\nfrom_request = 1200\n"));
    // The same drive, whose load ends there.
    let early = DRIVE.replace("requests = 3000", "requests = 1200");
    let (early, _) = run(&format!("{early}{load}"));
    assert_eq!(number(&late, "/measure/from_ns"), number(&early, "/device/simulated_ns"));
    assert!(number(&early, "/flash/gc_programs") > 0, "nothing is collected");
    for place in [
        "/requests/read/bytes",
        "/requests/write/count",
        "/flash/host_reads",
        "/flash/host_programs",
        "/device/simulated_ns",
        "/device/buffer_hits",
        "/device/partial_writes",
    ] {
        let sum = number(&early, place) + number(&late, place);
        assert_eq!(sum, number(&whole, place), "{place}");
    }
}

/// Four writes of one page, one at a time, on a drive with nothing in it, by hand.
#[test]
fn a_short_run_is_what_a_hand_calculation_says() {
    let text = "device = \"fast12-mlc\"\npolicy = \"fifo\"\n[geometry]\nchannels = 1\n\
        planes_per_die = 1\nblocks_per_plane = 32\npages_per_block = 16\n[buffer]\n\
        acknowledge = \"through\"\n[host]\nlink_bytes_per_s = \"none\"\n[workload]\n\
        generator = \"mixed\"\nrequests = 4\nread_fraction = 0.0\nrequest_bytes = 4096\n\
        arrivals = \"closed\"\nqueue_depth = 1\n[measure]\nfrom_request = 1\n";
    let run = drive::run_text(text);
    // 40 us of data in, then 15 iterations of 20 and 24 us.
    let program_ns = 40_000 + 15 * 44_000;
    let summary = &run.summary;
    assert_eq!(number(summary, "/measure/from_ns"), program_ns);
    assert_eq!(number(summary, "/measure/requests_excluded"), 1);
    assert_eq!(number(summary, "/requests/write/count"), 3);
    assert_eq!(share(summary, "/requests/write/latency_ns/mean"), program_ns as f64);
    assert_eq!(number(summary, "/device/simulated_ns"), 3 * program_ns);
    assert_eq!(number(summary, "/flash/programs"), 3);
    assert_eq!(share(summary, "/flash/waf"), 1.0);
    assert_eq!(share(summary, "/device/idle_share"), 0.0);
    assert_eq!(share(summary, "/device/die_busy_share"), 1.0);
    let channel = 40_000.0 / program_ns as f64;
    assert!((share(summary, "/device/channel_busy_share") - channel).abs() < 1e-12);
    assert!((share(summary, "/device/iops") - 1e9 / program_ns as f64).abs() < 1e-6);
}

#[test]
fn what_is_under_way_counts_where_it_ends() {
    // All four at once: they queue for one die, and a program counts with its end. The third and
    // the fourth count; all arrive at 0, so the measured part is the whole time.
    let text = "device = \"fast12-mlc\"\npolicy = \"fifo\"\n[geometry]\nchannels = 1\n\
        planes_per_die = 1\nblocks_per_plane = 32\npages_per_block = 16\n[buffer]\n\
        acknowledge = \"through\"\n[host]\nlink_bytes_per_s = \"none\"\n[workload]\n\
        generator = \"mixed\"\nrequests = 4\nread_fraction = 0.0\nrequest_bytes = 4096\n\
        arrivals = \"closed\"\nqueue_depth = 4\n[measure]\nfrom_request = 2\n";
    let run = drive::run_text(text);
    let program_ns = 40_000 + 15 * 44_000;
    let summary = &run.summary;
    assert_eq!(number(summary, "/measure/from_ns"), 0);
    assert_eq!(number(summary, "/requests/write/count"), 2);
    assert_eq!(share(summary, "/requests/write/latency_ns/mean"), 3.5 * program_ns as f64);
    assert_eq!(number(summary, "/flash/programs"), 4);
    // The two others wrote 8 KiB in that time, so that nothing is amplified.
    assert_eq!(number(summary, "/measure/earlier_written_bytes"), 8192);
    assert_eq!(share(summary, "/flash/waf"), 1.0);
}

#[test]
fn flows_are_measured_from_there_on() {
    let text = "device = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n[geometry]\nchannels = 2\n\
        blocks_per_plane = 48\npages_per_block = 16\n[ftl]\nprecondition = \"steady\"\n\
        over_provisioning = 0.3\n[workload]\ngenerator = \"mixed\"\nrequests = 400\n\
        request_bytes = 4096\narrivals = \"closed\"\nqueue_depth = 1\n\
        [flow.a]\nread_fraction = 0.9\n[flow.b]\nread_fraction = 0.1\n";
    let whole = drive::run_text(text).summary;
    let late = drive::run_text(&format!("{text}[measure]\nfrom_request = 500\n")).summary;
    let count = |summary: &Value, flow: &str| {
        number(summary, &format!("/flows/{flow}/requests/total/count"))
    };
    assert_eq!(count(&whole, "a") + count(&whole, "b"), 800);
    assert_eq!(count(&late, "a") + count(&late, "b"), 300);
    assert!(number(&late, "/flows/a/active_ns") < number(&whole, "/flows/a/active_ns"));
}

/// The scenario, as it is refused.
fn refused(text: &str) -> String {
    let sources = Sources { text, path: "measure.toml", sets: &[] };
    load(&sources, registries()).expect_err("it is wrong").to_string()
}

#[test]
fn what_excludes_everything_is_refused() {
    let all = refused(&format!("{DRIVE}{CLOSED}[measure]\nfrom_request = 3000\n"));
    assert!(all.contains("excludes all 3000 requests; must be below 3000"), "{all}");
    let twice =
        refused(&format!("{DRIVE}{CLOSED}[measure]\nfrom_request = 3\nwarmup = \"auto\"\n"));
    assert!(twice.contains("give one of the two"), "{twice}");
    let text = format!("{DRIVE}{OPEN}[measure]\nfrom_s = 100\n");
    let sources = Sources { text: &text, path: "measure.toml", sets: &[] };
    let scenario = load(&sources, registries()).expect("when the load ends is not known");
    let mut ssd = Ssd::with(scenario, &Options::default()).expect("the drive fits");
    let error = loop {
        match ssd.step(1000) {
            Ok(goes_on) => assert!(goes_on, "it is not refused"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("measure.from_s = 100: excludes the whole run"), "{error}");
}

#[test]
fn a_run_excludes_what_another_has_found() {
    let text = format!("{DRIVE}{CLOSED}[measure]\nwarmup = \"auto\"\n");
    let sources = Sources { text: &text, path: "measure.toml", sets: &[] };
    let scenario = load(&sources, registries()).expect("the scenario is right");
    let make = || Ssd::with(scenario.clone(), &Options::default()).expect("the drive fits");
    let mut first = make();
    while first.step(500).expect("no block fails") {}
    let found = first.found().expect("it has looked");
    let mut second = make();
    second.exclude(found.clone());
    while second.step(500).expect("no block fails") {}
    assert!(second.found().is_none());
    let by_hand = format!("{DRIVE}{CLOSED}[measure]\nfrom_request = {}\n", found.from_request);
    let mut by_hand = drive::run_text(&by_hand).summary;
    let mut auto = second.summary();
    assert_eq!(auto["measure"]["reason"], found.reason.as_str());
    for summary in [&mut by_hand, &mut auto] {
        let measure = summary["measure"].as_object_mut().expect("a section");
        measure.remove("reason");
        measure.remove("warning");
    }
    assert_eq!(auto, by_hand);
}
