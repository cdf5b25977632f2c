//! Every short script of requests on a drive of one die, with a loss of power at every instant.

mod ghost;
mod scripts;

use scripts::{Bound, visit};

/// Drives of one die, each with a rule of suspension of its own.
const DRIVES: [(&str, &[&str]); 6] = [
    ("IPS", &[]),
    (
        "a limit, progress between suspensions, whole blocks held",
        &[
            "suspension.max_per_operation=1",
            "suspension.min_progress_us=0.004",
            "suspension.same_block=block",
        ],
    ),
    (
        "pages over the channel, one read a suspension",
        &["suspension.shadow_buffer=false", "suspension.reads_per_suspension=1"],
    ),
    ("writes in erases", &["suspension.host_write_suspends=[\"erase\"]"]),
    ("a write-back buffer", &["buffer.acknowledge=back", "buffer.bytes=2048"]),
    (
        "two planes, each by itself",
        &[
            "geometry.planes_per_die=2",
            "parallelism.multi_plane=page",
            "parallelism.independent_plane_reads=true",
            "suspension.multi_plane=plane",
        ],
    ),
];

/// Visits the scripts of every drive and prints how many there were.
fn visit_all(bound: Bound) {
    for (name, sets) in DRIVES {
        let seen = visit(sets, bound);
        println!("{name}: {seen}");
        assert!(seen.suspensions > 0 && seen.cuts > 0 && seen.erases > 0, "{name}: {seen}");
    }
}

#[test]
fn every_short_script_is_served_and_survives_every_cut() {
    visit_all(Bound { requests: 3, gaps_ns: &[0, 9, 24], all_cuts: false });
}

/// Writes of a page that overtake each other, among others: what is acknowledged is kept, though
/// newer data is on its way.
#[test]
fn every_burst_of_four_requests_survives_every_cut() {
    for (name, sets) in DRIVES {
        let seen = visit(sets, Bound { requests: 4, gaps_ns: &[0], all_cuts: false });
        println!("{name}: {seen}");
        assert!(seen.cuts > 0 && seen.erases > 0, "{name}: {seen}");
    }
}

#[test]
#[ignore = "minutes: make long"]
fn every_longer_script_is_served_and_survives_every_cut() {
    visit_all(Bound { requests: 4, gaps_ns: &[0, 9, 24], all_cuts: false });
}

#[test]
#[ignore = "minutes: make long"]
fn every_script_survives_a_cut_in_every_nanosecond() {
    visit_all(Bound { requests: 3, gaps_ns: &[0, 3, 8, 15, 24, 37], all_cuts: true });
}
