//! A run is a function of its scenario: not of the clock, of threads, or of draws elsewhere.

use std::thread;

use reprieve_ssd::scenario;

use super::drive::{self, Outcome};

/// A busy little drive whose every source of randomness is in use.
const BUSY: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 8\n\
    [suspension]\nvth_reached = \"proportional\"\n\
    [ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 5000\nread_fraction = 0.6\n\
    trim_fraction = 0.05\nrequest_bytes = [[512, 1], [2048, 3], [6144, 1]]\nalign_bytes = 512\n\
    addresses = \"zipf\"\nzipf_theta = 0.9\narrivals = \"poisson\"\nrate_iops = 4000\n";

/// The same in a closed loop.
const CLOSED: [&str; 2] = ["workload.arrivals=closed", "workload.queue_depth=16"];

fn busy(sets: &[&str]) -> Outcome {
    drive::run(drive::load_with(BUSY, sets))
}

/// What was asked of the drive, without what became of it.
fn workload(outcome: &Outcome) -> Vec<(&'static str, u64, u64, u64)> {
    let asked = |row: &drive::Row| (row.op.name(), row.lba, row.bytes, row.arrival_ns);
    outcome.rows.iter().map(asked).collect()
}

#[test]
fn the_drive_is_busy_enough_to_tell() {
    for sets in [&[][..], &CLOSED] {
        let outcome = busy(sets);
        for key in
            ["erases", "gc_programs", "rmw_reads", "suspensions.program", "suspensions.erase"]
        {
            assert!(outcome.count(&format!("flash.{key}")) > 100, "{key}: {}", outcome.summary);
        }
    }
}

#[test]
fn twice_is_the_same() {
    for sets in [&[][..], &CLOSED] {
        assert_eq!(busy(sets), busy(sets));
    }
}

#[test]
fn threads_side_by_side_are_the_same() {
    let alone = busy(&[]);
    let others: Vec<_> = (0..4)
        .map(|number| {
            // Every second one is another drive, in whose way the first would be if any state were
            // shared.
            let sets: &[&str] = if number % 2 == 0 { &[] } else { &["seed=8"] };
            thread::spawn(move || busy(sets))
        })
        .collect();
    for (number, other) in others.into_iter().enumerate() {
        let outcome = other.join().expect("the thread does not panic");
        assert_eq!(outcome == alone, number % 2 == 0, "thread {number}");
    }
}

#[test]
fn another_seed_is_another_run() {
    let (one, other) = (busy(&[]), busy(&["seed=8"]));
    assert_ne!(workload(&one), workload(&other));
    assert_ne!(one.summary["requests"], other.summary["requests"]);
}

#[test]
fn how_often_one_looks_does_not_matter() {
    for sets in [&[][..], &CLOSED] {
        let scenario = || drive::load_with(BUSY, sets);
        let whole = drive::run_in_steps(scenario(), u64::MAX);
        for step in [1, 7, 1000] {
            assert_eq!(drive::run_in_steps(scenario(), step), whole, "steps of {step}");
        }
    }
}

#[test]
fn the_printed_scenario_gives_the_same_run() {
    for sets in [&[][..], &CLOSED] {
        let scenario = drive::load_with(BUSY, sets);
        let printed = drive::load(&scenario::print(&scenario));
        assert_eq!(printed, scenario);
        assert_eq!(drive::run(printed), drive::run(scenario));
    }
}

#[test]
fn draws_elsewhere_do_not_change_the_workload() {
    let base = busy(&[]);
    let others = [
        "suspension.vth_reached=never",
        "suspension.vth_reached=always",
        "ftl.precondition=none",
        "ftl.precondition=sequential",
        "scheduling.policy=fifo",
        "ftl.placement=dynamic",
        "buffer.acknowledge=back",
        "timing.t_read_us=50",
    ];
    for set in others {
        let other = busy(&[set]);
        assert_eq!(workload(&other), workload(&base), "{set}");
        assert_ne!(other.rows, base.rows, "{set} changes nothing at all");
    }
}

#[test]
fn one_choice_of_the_workload_does_not_change_the_others() {
    let column = |outcome: &Outcome, pick: fn(&drive::Row) -> u64| -> Vec<u64> {
        outcome.rows.iter().map(pick).collect()
    };
    let base = busy(&[]);
    // More reads: the same addresses, lengths and times.
    let reads = busy(&["workload.read_fraction=0.9"]);
    assert_eq!(column(&reads, |row| row.lba), column(&base, |row| row.lba));
    assert_eq!(column(&reads, |row| row.bytes), column(&base, |row| row.bytes));
    assert_eq!(column(&reads, |row| row.arrival_ns), column(&base, |row| row.arrival_ns));
    assert_ne!(column(&reads, |row| row.op as u64), column(&base, |row| row.op as u64));
    // Other addresses: the same operations, lengths and times.
    let uniform = busy(&["workload.addresses=uniform"]);
    assert_ne!(column(&uniform, |row| row.lba), column(&base, |row| row.lba));
    assert_eq!(column(&uniform, |row| row.op as u64), column(&base, |row| row.op as u64));
    assert_eq!(column(&uniform, |row| row.bytes), column(&base, |row| row.bytes));
    assert_eq!(column(&uniform, |row| row.arrival_ns), column(&base, |row| row.arrival_ns));
    // Other times: the same operations, addresses and lengths.
    let fixed = busy(&["workload.arrivals=fixed"]);
    assert_ne!(column(&fixed, |row| row.arrival_ns), column(&base, |row| row.arrival_ns));
    assert_eq!(column(&fixed, |row| row.lba), column(&base, |row| row.lba));
    assert_eq!(column(&fixed, |row| row.op as u64), column(&base, |row| row.op as u64));
}
