//! The drive of FAST 2012 as its authors' simulator most likely had it, against sixteen dies.

use reprieve_base::Stream;

use super::drive::{self, Outcome, TraceRow};
use super::sixteen_dies::{Drive, Limit, Policy, Request, simulate};

const EXAMPLE: &str = include_str!("../../../../examples/fast12-papers-simulator.toml");

/// A small one of that form, so that it is soon full: 64 blocks a plane.
const SMALL: &str = "geometry.blocks_per_plane=64";
/// 16 dies of 4 planes of 64 blocks of 128 pages, of which 30 % are kept: rounded to whole pages.
const PAGES: u64 = 367_002;
const SECTORS_OF_PAGE: u64 = 8;

/// Table 1 of Wu and He, in nanoseconds.
const MLC: Drive = Drive {
    dies: 16,
    page_bytes: 4096,
    buffer_pages: 16_384,
    link_bytes_per_s: 2_000_000_000,
    bus: 40_000,
    read: 25_000,
    iterations: 15,
    pulse: 20_000,
    verify: 24_000,
    reset: 4_000,
    restore: 3_000,
    policy: Policy::Fifo,
    limit: Limit::None,
};

const POLICIES: [(Policy, &str); 6] = [
    (Policy::Fifo, "policy=fifo"),
    (Policy::Rps, "policy=rps"),
    (Policy::Per, "policy=per"),
    (Policy::Pe0, "policy=pe0"),
    (Policy::Ips, "policy=pes-ips"),
    (Policy::Ipc, "policy=pes-ipc"),
];

/// Requests of the kind of Financial1: runs of one operation, of which many come at one tick, to
/// several sequential streams and to what was used lately, by sectors.
fn load(seed: u64, requests: usize, mean_gap_us: u64, end: u64) -> Vec<TraceRow> {
    let mut stream = Stream::new(seed, "test.papers-simulator", 0);
    let mut cursors: Vec<u64> = (0..6).map(|_| stream.below(end)).collect();
    let mut rows: Vec<TraceRow> = Vec::with_capacity(requests);
    let (mut at_ns, mut left, mut op) = (0, 0, 'R');
    while rows.len() < requests {
        if left == 0 {
            left = 1 + stream.below(8);
            op = if stream.below(10) < 4 { 'R' } else { 'W' };
        }
        left -= 1;
        if !rows.is_empty() && stream.below(100) < 55 {
            // A clock of whole microseconds makes ties frequent.
            at_ns += 1000 * stream.below(4 * mean_gap_us);
        }
        let sectors = [1, 2, 4, 6, 7, 8, 16, 96][stream.below(8) as usize];
        let sector = match stream.below(10) {
            0..3 if !rows.is_empty() => {
                let back = stream.below(40) as usize % rows.len();
                rows[rows.len() - 1 - back].2
            }
            3 => stream.below(end),
            _ => {
                let cursor = &mut cursors[stream.below(6) as usize];
                *cursor += sectors;
                *cursor - sectors
            }
        };
        rows.push((at_ns, op, sector, sectors));
    }
    rows
}

/// When the reference has the requests complete, whose addresses wrap at the drive's end.
fn reference(drive: Drive, rows: &[TraceRow]) -> Vec<u64> {
    let end = PAGES * SECTORS_OF_PAGE;
    let request = |row: &TraceRow| {
        let (at, op, sector, sectors) = *row;
        let sector = (sector % end).min(end - sectors);
        Request { at, is_read: op == 'R', first_byte: sector * 512, bytes: sectors * 512 }
    };
    simulate(drive, &rows.iter().map(request).collect::<Vec<_>>())
}

fn ours(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    let (drive, _) = EXAMPLE.split_once("\n[workload]\n").expect("the example has a load");
    let sets = [&[SMALL, "workload.address=modulo"], sets].concat();
    drive::replay(&format!("{drive}\n"), &sets, rows)
}

fn completions(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns).collect()
}

/// Panics at the first request that is not complete when the reference says.
fn assert_same(what: &str, rows: &[TraceRow], ours: &[u64], theirs: &[u64]) {
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{what}: request {number}, {:?}", rows[number]);
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

/// Mean latency of the reads.
fn read_mean_ns(rows: &[TraceRow], done: &[u64]) -> f64 {
    let reads = rows.iter().zip(done).filter(|(row, _)| row.1 == 'R');
    let latencies: Vec<u64> = reads.map(|(row, done)| done - row.0).collect();
    latencies.iter().sum::<u64>() as f64 / latencies.len() as f64
}

/// Busy, and busy enough that dies have queues.
const GAPS_US: [u64; 2] = [150, 60];

#[test]
fn every_request_is_done_when_sixteen_dies_with_one_queue_each_have_it_done() {
    for (seed, gap_us) in (1..).zip(GAPS_US) {
        // Twice the drive: addresses wrap.
        let rows = load(seed, 4000, gap_us, 2 * PAGES * SECTORS_OF_PAGE);
        let mut means = Vec::new();
        for (policy, set) in POLICIES {
            let theirs = reference(Drive { policy, ..MLC }, &rows);
            let outcome = ours(&[set], &rows);
            assert_same(set, &rows, &completions(&outcome), &theirs);
            let mean = read_mean_ns(&rows, &theirs);
            assert_eq!(outcome.number("requests.read.latency_ns.mean"), mean, "{set}");
            assert_eq!(outcome.count("flash.erases"), 0, "{set}: the reference collects nothing");
            means.push(mean);
        }
        // They differ, and PE0 is the bound of what priority and suspension can give.
        let [fifo, rps, per, pe0, ips, ipc] = means[..] else { unreachable!("six policies") };
        assert!(fifo > rps && rps > ips && ips > ipc && ipc > pe0 && per > pe0, "{means:?}");
    }
}

#[test]
fn without_any_one_of_its_readings_it_is_another_drive() {
    let rows = load(3, 4000, GAPS_US[0], PAGES * SECTORS_OF_PAGE);
    let theirs = reference(Drive { policy: Policy::Ipc, ..MLC }, &rows);
    assert_same("pes-ipc", &rows, &completions(&ours(&["policy=pes-ipc"], &rows)), &theirs);
    for other in [
        "buffer.read_hits=true",
        "host.order=free",
        "suspension.same_block=block",
        "ftl.partial_write=read_modify_write",
    ] {
        let differs = completions(&ours(&["policy=pes-ipc", other], &rows)) != theirs;
        assert!(differs, "{other} moves nothing");
    }
}

#[test]
fn limits_of_dies_and_of_the_drive_are_kept_as_the_reference_keeps_them() {
    let rows = load(4, 4000, GAPS_US[1], PAGES * SECTORS_OF_PAGE);
    for (limit, scope) in [
        (Limit::OfDie(4), "die"),
        (Limit::OfDie(12), "die"),
        (Limit::OfDrive(16), "drive"),
        (Limit::OfDrive(64), "drive"),
    ] {
        let (Limit::OfDie(count) | Limit::OfDrive(count)) = limit else { unreachable!("limits") };
        let limits = [
            format!("scheduling.write_queue_limit={count}"),
            format!("scheduling.write_queue_limit_scope={scope}"),
        ];
        for (policy, set) in POLICIES {
            let theirs = reference(Drive { policy, limit, ..MLC }, &rows);
            let done = completions(&ours(&[set, &limits[0], &limits[1]], &rows));
            assert_same(&format!("{set}, {limits:?}"), &rows, &done, &theirs);
            let is_free = theirs == reference(Drive { policy, ..MLC }, &rows);
            match policy {
                Policy::Fifo => assert!(is_free, "{set} knows no limit"),
                Policy::Rps | Policy::Ips | Policy::Ipc => {
                    assert!(!is_free, "{set}, {limits:?}: the limit never binds");
                }
                Policy::Per | Policy::Pe0 => {}
            }
        }
    }
}
