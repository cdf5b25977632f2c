//! Queues, classes, handles, details and the measured part, as a run of the same requests has them.

use reprieve_base::{Op, Time};
use reprieve_embed::{Ask, Details, Drive, Error, LAST, Priority, Queue, Route};
use reprieve_ssd::causes::CAUSE_NAMES;
use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::stats::LogBatch;
use reprieve_ssd::txn::PART_NAMES;
use reprieve_ssd::{Options, Ssd, registries};
use serde_json::Value;

/// Two loads on a drive whose queues and handles make a difference, as their files differ in age.
const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\nseed = 5\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.45\nprecondition = \"sequential\"\nstream = \"placement\"\n\
    placement_handles = 3\ngc_hard_free_blocks = 3\n\
    [host]\ninterface = \"nvme\"\nqueues = 3\noutstanding = 5\n\
    arbitration = \"strict-priority\"\nqueue_priorities = [\"low\", \"high\", \"medium\"]\n";

/// A load to which queue 1 and handle 2 belong, and one to which queue 2 and handle 1 do.
const LOADS: &str = "[workload]\ngenerator = \"mixed\"\nrequests = 1500\nread_fraction = 0.5\n\
    request_bytes = 4096\narrivals = \"poisson\"\n\
    [flow.bulk]\nrate_iops = 9000\nqueues = [2]\nplacement = 1\n\
    [flow.small]\nrate_iops = 3000\nqueues = [1]\nplacement = 2\n";

/// The routes of both loads, by number and by class.
const ROUTES: [[Route; 2]; 2] = [
    [
        Route { queue: Queue::Number(2), handle: Some(1) },
        Route { queue: Queue::Number(1), handle: Some(2) },
    ],
    [
        Route { queue: Queue::Class(Priority::Medium as u8), handle: Some(1) },
        Route { queue: Queue::Class(Priority::High as u8), handle: Some(2) },
    ],
];

/// The log of a run in order of arrival, and its summary.
fn run(text: &str, sets: &[String]) -> (Vec<LoggedRow>, Value) {
    let sources = Sources { text, path: "test.toml", sets };
    let scenario = scenario::load(&sources, registries()).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { log_requests: true, ..Options::default() };
    let mut ssd = Ssd::with(scenario, &options).expect("it fits into memory");
    let mut rows = Vec::new();
    let mut goes_on = true;
    while goes_on {
        goes_on = ssd.step(500).expect("nothing fails");
        let log = ssd.take_log();
        rows.extend((0..log.id.len()).map(|row| LoggedRow::of(&log, row)));
    }
    rows.sort_by_key(|row| row.id);
    // As text, as a decimal of some digits may be another number when it is read.
    (rows, serde_json::from_str(&ssd.summary().to_string()).expect("a summary is JSON"))
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq)]
struct LoggedRow {
    id: i64,
    ask: Ask,
    at: Time,
    end: Time,
    parts: [u64; PART_NAMES.len()],
    causes: [u64; CAUSE_NAMES.len()],
    die: Option<u32>,
    flow: usize,
}

impl LoggedRow {
    fn of(log: &LogBatch, row: usize) -> LoggedRow {
        let (lba, bytes) = (log.lba[row] as u64, log.bytes[row] as u32);
        let ask = Ask {
            tag: log.id[row] as u64,
            op: Op::ALL[usize::from(log.op[row])],
            lba,
            bytes,
            fua: false,
        };
        let [at, end] =
            [&log.arrival_ns, &log.completion_ns].map(|ns| Time::from_ns(ns[row] as u64));
        let parts = log.parts_ns.each_ref().map(|part| part[row] as u64);
        let (causes, die, flow) = (log.causes[row].0, log.die[row], log.flow[row] as usize);
        LoggedRow { id: log.id[row], ask, at, end, parts, causes, die, flow }
    }
}

impl LoggedRow {
    /// Its route among those of the loads; only writes have a handle.
    fn route(&self, routes: [Route; 2]) -> Route {
        let Route { queue, handle } = routes[self.flow];
        Route { queue, handle: handle.filter(|_| self.ask.op == Op::Write) }
    }
}

/// Lets a drive complete all requests, and returns what it says of each, in order of arrival.
fn finish(drive: &mut Drive) -> Vec<(u64, Time, Details)> {
    let mut seen = Vec::new();
    while drive.open_requests() > 0 {
        drive.run(LAST, 1).expect("nothing fails");
        while let Some(details) = drive.details().copied() {
            let done = drive.poll().expect("it has details");
            assert_eq!(details.parts.sum_ns(), (done.completion - done.arrival).ns());
            seen.push((done.number, done.completion, details));
        }
    }
    seen.sort_by_key(|(number, ..)| *number);
    seen
}

#[test]
fn routes_and_details_are_those_of_a_run_of_two_loads() {
    let (rows, summary) = run(&format!("{DRIVE}{LOADS}"), &[]);
    let expected: Vec<_> =
        rows.iter().map(|row| (row.end, row.parts, row.causes, row.die)).collect();
    let with = |routes: [Route; 2]| {
        let mut drive = Drive::open(DRIVE, "test.toml", &[]).expect("a drive");
        drive.keep_details().expect("it has had no request");
        for row in &rows {
            drive.submit_by(row.at, row.ask, row.route(routes)).expect("a request");
        }
        let done: Vec<_> = finish(&mut drive)
            .into_iter()
            .map(|(_, end, details)| (end, details.parts.0, details.causes.0, details.die))
            .collect();
        (done, serde_json::from_str::<Value>(&drive.summary()).expect("a summary is JSON"))
    };
    for routes in ROUTES {
        let (done, told) = with(routes);
        assert!(done == expected, "{routes:?}");
        assert_eq!(told["flash"].to_string(), summary["flash"].to_string(), "{routes:?}");
    }
    // The load is such that each choice matters.
    let plain = Route::default();
    assert!(with([plain; 2]).0 != expected);
    assert!(with(ROUTES[0].map(|route| Route { handle: None, ..route })).0 != expected);
    assert!(with(ROUTES[0].map(|route| Route { queue: Queue::Any, ..route })).0 != expected);
}

/// A read of a page has 10 us in the array and 20 us on the bus.
#[test]
fn details_of_two_reads_by_hand() {
    let text = "device = \"fast12-slc\"\npolicy = \"fifo\"\n[geometry]\nchannels = 1\n\
        dies_per_channel = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
        [host]\nlink_bytes_per_s = \"none\"\n";
    let mut drive = Drive::open(text, "test.toml", &[]).expect("a drive");
    drive.keep_details().expect("it has had no request");
    for (at_ns, lba) in [(0, 0), (10, 400)] {
        let ask = Ask { tag: 0, op: Op::Read, lba, bytes: 2048, fua: false };
        drive.submit(Time::from_ns(at_ns), ask).expect("a request");
    }
    let named = |details: &Details| {
        let parts = PART_NAMES.into_iter().zip(details.parts.0);
        let all = parts.chain(CAUSE_NAMES.into_iter().zip(details.causes.0));
        all.filter(|(_, ns)| *ns > 0).collect::<Vec<_>>()
    };
    let seen = finish(&mut drive);
    assert_eq!(named(&seen[0].2), [("array_ns", 10_000), ("bus_ns", 20_000)]);
    let second = [
        ("queue_ns", 29_990),
        ("array_ns", 10_000),
        ("bus_ns", 20_000),
        ("by_host_read_ns", 29_990),
    ];
    assert_eq!(named(&seen[1].2), second);
    assert_eq!((seen[1].2.die, seen[1].2.retries), (Some(0), 0));
}

/// Retries of reads of worn pages add up to those of the summary.
#[test]
fn retries_add_up_to_those_of_the_summary() {
    let sets = [
        "reliability.model=power",
        "reliability.epsilon=0.001",
        "reliability.cycles_at_start=1000",
        "ecc.code=ldpc",
        "ecc.retries_max=3",
        "ecc.correctable_bits=12",
        "ftl.gc_background=false",
    ];
    let mut drive = Drive::open(DRIVE, "test.toml", &sets.map(str::to_owned)).expect("a drive");
    drive.keep_details().expect("it has had no request");
    for number in 0..200 {
        let op = if number % 4 == 0 { Op::Write } else { Op::Read };
        let ask = Ask { tag: 0, op, lba: number * 8 + 1, bytes: 2048, fua: false };
        drive.submit(Time::from_ns(number * 1_000_000), ask).expect("a request");
    }
    let seen = finish(&mut drive);
    let retries: u32 = seen.iter().map(|(.., details)| details.retries).sum();
    let summary: Value = serde_json::from_str(&drive.summary()).expect("a summary is JSON");
    assert_eq!(summary["flash"]["gc_reads"], 0, "the other reads would have retries, too");
    assert_eq!(summary["reliability"]["further_senses"], retries);
    assert!(retries > 100, "{retries}");
}

#[test]
fn the_measured_part_is_that_of_a_run() {
    let from_s = 0.061_234_567;
    let from = Time::from_ns(61_234_567);
    let text = format!("{DRIVE}{LOADS}");
    let (rows, _) = run(&text, &[]);
    let (logged, summary) = run(&text, &[format!("measure.from_s={from_s}")]);
    let late = rows.iter().filter(|row| row.at >= from).count();
    assert!(late == logged.len() && late > 100 && rows.len() > late + 100, "{late}");
    for called_ns in [0, 30_000_000, from.ns()] {
        let mut drive = Drive::open(DRIVE, "test.toml", &[]).expect("a drive");
        drive.keep_details().expect("it has had no request");
        for row in &rows {
            drive.submit_by(row.at, row.ask, row.route(ROUTES[0])).expect("a request");
        }
        // An earlier measured part is forgotten; the instant before `from` passes, it does not.
        if called_ns > 0 {
            drive.measure_from(Time::from_ns(2_000_000)).expect("it is to come");
            while drive.next() < Time::from_ns(called_ns) {
                drive.advance(drive.next()).expect("it is the next instant");
            }
            drive.advance(Time::from_ns(called_ns)).expect("nothing is due before");
        }
        drive.measure_from(from).expect("it is to come");
        let seen = finish(&mut drive);
        let ends: Vec<_> = seen.iter().map(|(_, end, details)| (*end, details.causes.0)).collect();
        assert!(ends == rows.iter().map(|row| (row.end, row.causes)).collect::<Vec<_>>());
        let told: Value = serde_json::from_str(&drive.summary()).expect("a summary is JSON");
        for (part, value) in summary.as_object().expect("an object") {
            let of_load = ["workload", "flows", "fairness"].contains(&part.as_str());
            assert!(of_load || told[part] == *value, "{part} {called_ns}: {value} {}", told[part]);
        }
    }
}

#[test]
fn what_the_drive_does_not_have_is_refused() {
    let direct = "device = \"fast12-slc\"\n";
    let queue = |queue| Route { queue, handle: None };
    let handle = |handle| Route { queue: Queue::Any, handle: Some(handle) };
    let none = "queue = 0: the drive has none; host.interface = \"nvme\" gives it queues";
    let few = "queue = 3: must be below host.queues, which is 3";
    let class = "priority = \"urgent\": no queue of host.queue_priorities has it";
    let streams = "handle = 0: the drive has none; ftl.stream = \"placement\" gives it handles";
    let handles = "handle = 3: must be below ftl.placement_handles, which is 3";
    let read = "a read with a placement handle: only a write has that";
    let all = [
        (direct, Op::Read, queue(Queue::Number(0)), none),
        (direct, Op::Write, handle(0), streams),
        (direct, Op::Read, queue(Queue::Class(0)), class),
        (DRIVE, Op::Read, queue(Queue::Number(3)), few),
        (DRIVE, Op::Read, queue(Queue::Class(0)), class),
        (DRIVE, Op::Write, handle(3), handles),
        (DRIVE, Op::Read, handle(2), read),
    ];
    for (text, op, route, sentence) in all {
        let mut drive = Drive::open(text, "test.toml", &[]).expect("a drive");
        let ask = Ask { tag: 0, op, lba: 0, bytes: 512, fua: false };
        let refused = drive.submit_by(Time::ZERO, ask, route).expect_err(sentence);
        assert_eq!(refused.to_string(), sentence);
        assert_eq!(drive.submitted(), 0);
    }
    let mut drive = Drive::open(direct, "test.toml", &[]).expect("a drive");
    let ask = Ask { tag: 0, op: Op::Read, lba: 0, bytes: 512, fua: false };
    drive.submit(Time::from_ns(5), ask).expect("a request");
    assert!(matches!(drive.keep_details(), Err(Error::User(_))));
    drive.run(LAST, 1).expect("it completes");
    assert!(drive.details().is_none() && drive.poll().is_some());
    assert!(matches!(drive.measure_from(Time::from_ns(5)), Err(Error::Time(_))));
    assert!(matches!(drive.measure_from(LAST + (LAST - Time::ZERO)), Err(Error::User(_))));
}
