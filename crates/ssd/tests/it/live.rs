//! Drives that get their requests one by one: they answer when a run of the same requests does.

use std::fmt::Write as _;
use std::path::Path;

use reprieve_base::{Op, Request, Stream, Time};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::{Options, Ssd, registries};

use super::drive::{self, Row};

/// A busy little drive; the workload is left out when it is served.
const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 8\n[ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 3000\nunwritten = \"zero\"\n";

/// What makes a difference to when things happen.
const DRIVES: [&[&str]; 9] = [
    &[],
    &[
        "reliability.model=power",
        "timing.t_erase_loops_us=[100, 300]",
        "timing.t_erase_us_by_cycles=[[0, [[150, 1], [900, 2]]], [3, [[1900, 1]]]]",
    ],
    &["buffer.acknowledge=back", "ftl.gc_background=false"],
    &["host.interface=nvme", "host.queues=3", "host.t_command_us=1", "host.pcie_generation=3"],
    &["buffer.acknowledge=back", "buffer.replacement=lru", "buffer.flush_idle_us=500"],
    &["ftl.precondition=none", "buffer.acknowledge=back", "ftl.gc_start_free_share=0.5"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &["ftl.mapping_bytes=512", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &["host.interface=sata", "ftl.placement=dynamic", "policy=fifo"],
];

fn served(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text: DRIVE, path: "test.toml", sets: &sets };
    scenario::load_served(&sources, registries()).unwrap_or_else(|error| panic!("{error}"))
}

fn start(scenario: &Scenario) -> Ssd {
    let options = Options { served: true, log_requests: true, ..Options::default() };
    let mut ssd = Ssd::with(scenario.clone(), &options).expect("it fits into memory");
    while !ssd.is_preconditioned() {
        ssd.step(1).expect("it can be preconditioned");
    }
    ssd.start_serving().expect("it is ready");
    ssd
}

/// Requests at random times: in bursts, and with gaps in which the drive falls idle.
fn requests(scenario: &Scenario, count: u64) -> Vec<Request> {
    let mut stream = Stream::new(1, "requests", 0);
    let sectors = scenario.capacity_bytes() / 512;
    let mut at_ns = 0;
    let mut next = |number: u64| {
        let arrival = Time::from_ns(at_ns);
        at_ns += match stream.below(10) {
            0 => stream.below(5_000_000),
            1..4 => 1,
            _ => 1 + stream.below(100_000),
        };
        let op = match stream.below(20) {
            _ if number == 0 => Op::Write,
            0 => Op::Flush,
            1 => Op::Trim,
            2..10 => Op::Read,
            _ => Op::Write,
        };
        let length = 1 + stream.below(24);
        let lba = stream.below(sectors - length);
        let fua = op == Op::Write && stream.below(4) == 0;
        match op {
            Op::Flush => Request { arrival, op, lba: 0, bytes: 0, fua },
            _ => Request { arrival, op, lba, bytes: length as u32 * 512, fua },
        }
    };
    (0..count).map(&mut next).collect()
}

/// Hands over the requests, looking in between at times that have nothing to do with them.
fn serve(ssd: &mut Ssd, requests: &[Request]) -> Vec<Row> {
    let mut stream = Stream::new(2, "looks", 0);
    let (mut rows, mut log) = (Vec::new(), LogBatch::default());
    for (number, pair) in (0..).zip(requests.windows(2)) {
        assert_eq!(ssd.submit(pair[0]).expect("no block fails"), number);
        let gap_ns = (pair[1].arrival - pair[0].arrival).ns();
        let look_ns = pair[0].arrival.ns() + stream.below(gap_ns);
        ssd.advance(Time::from_ns(look_ns)).expect("no block fails");
        assert!(ssd.next_instant() > Time::from_ns(look_ns));
        ssd.take_completed(&mut log);
        assert!(log.completion_ns.iter().all(|&at_ns| at_ns as u64 <= look_ns));
        drive::take_rows(&log, &mut rows);
    }
    ssd.submit(requests[requests.len() - 1]).expect("no block fails");
    while ssd.activity().open_requests > 0 {
        ssd.advance(ssd.next_instant()).expect("no block fails");
    }
    ssd.take_completed(&mut log);
    drive::take_rows(&log, &mut rows);
    rows.sort_by_key(|row| row.id);
    rows
}

/// The requests as `reprieve serve --record` writes them.
fn recording(rows: &[Row], requests: &[Request]) -> String {
    let mut text = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n".to_string();
    for (row, request) in rows.iter().zip(requests) {
        let Row { op, lba, bytes, arrival_ns, completion_ns, .. } = row;
        let (op, fua) = (op.name(), u8::from(request.fua));
        writeln!(text, "{arrival_ns},{op},{lba},{bytes},{fua},{completion_ns},0")
            .expect("a string takes any text");
    }
    text
}

/// The run of a recording, of which nothing but the printed scenario is known.
fn replay(scenario: &Scenario, path: &Path) -> Vec<Row> {
    let text = scenario::print(&scenario::replaying(scenario, path.to_owned()));
    drive::run_text(&text).rows
}

#[test]
fn a_recording_is_replayed_to_the_nanosecond() {
    for sets in DRIVES {
        let scenario = served(sets);
        let requests = requests(&scenario, 3000);
        let rows = serve(&mut start(&scenario), &requests);
        assert_eq!(rows.len(), requests.len(), "{sets:?}");
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), recording(&rows, &requests)).expect("room for some rows");
        let replayed = replay(&scenario, file.path());
        for (served, run) in rows.iter().zip(&replayed) {
            // A served drive does not keep what its requests waited behind.
            let bare = Row { by_ns: served.by_ns, die: served.die, ..*run };
            assert_eq!(*served, bare, "{sets:?}");
        }
        assert_eq!(rows.len(), replayed.len(), "{sets:?}");
    }
}

#[test]
fn a_drive_given_other_rules_is_one_that_had_them_from_the_start() {
    let changes: [&[&str]; 4] = [
        &["suspension.max_per_operation=1"],
        &["suspension.host_read_suspends=[]"],
        &["suspension.policy=threshold", "suspension.min_remaining_us=90"],
        &["scheduling.write_queue_limit=2"],
    ];
    let plain = served(&[]);
    let requests = requests(&plain, 2000);
    let unchanged = serve(&mut start(&plain), &requests);
    for sets in changes {
        let other = served(sets);
        let expected = serve(&mut start(&other), &requests);
        assert_ne!(expected, unchanged, "{sets:?} changes nothing");
        let mut ssd = start(&plain);
        ssd.set_rules(other);
        assert_eq!(serve(&mut ssd, &requests), expected, "{sets:?}");
    }
    let elsewhere = served(&["ftl.gc_victim=fifo"]);
    assert!(!plain.may_become(&elsewhere), "a victim policy has a state");
}

#[test]
fn an_override_of_the_workload_is_refused() {
    for (key, set) in
        [("workload.read_fraction", "workload.read_fraction=0.5"), ("load", "load=oltp")]
    {
        let sets = [set.to_string()];
        let sources = Sources { text: DRIVE, path: "test.toml", sets: &sets };
        let error = scenario::load_served(&sources, registries()).expect_err("no workload");
        let error = error.to_string();
        assert!(error.contains(key) && error.contains("from its clients"), "{error}");
    }
    assert!(!served(&[]).host.unwritten_costs_read, "the file's workload.unwritten holds");
}

#[test]
#[should_panic(expected = "a request arrives at")]
fn no_request_arrives_at_an_instant_that_has_passed() {
    let scenario = served(&[]);
    let mut ssd = start(&scenario);
    let request = requests(&scenario, 1)[0];
    ssd.submit(Request { arrival: Time::from_ns(5), ..request }).expect("no block fails");
    let _ = ssd.submit(Request { arrival: Time::from_ns(5), ..request });
}
