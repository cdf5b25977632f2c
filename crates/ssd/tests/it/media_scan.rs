//! The scan of all data and the refresh of blocks that read badly, by hand.
//!
//! SLC of FAST 2012 on one die without a link: a read is 10 us in the array and 20 us on the bus, a
//! program 160 us, an erase 1508. A block has four pages, and the user sees 48: a period of 48 ms
//! is a page a millisecond.

use super::drive::{self, Outcome, TraceRow};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 4\n\
    [host]\nlink_bytes_per_s = \"none\"\n\
    [ftl]\nover_provisioning = 0.5\nscan_period_s = 0.048\n\
    gc_stream = \"separate\"\n";

/// A read of any page takes one retry: 20 us of decoding in vain, 30 more, and 1 of decoding.
const ONE_RETRY: &[&str] = &[
    "reliability.model=power",
    "reliability.epsilon=0.5",
    "ecc.code=ldpc",
    "ecc.retry_rber_factor=0",
    "ecc.code_rate=1",
    "ecc.correctable_bits=64",
];

fn at_us(us: u64, op: char, page: u64) -> TraceRow {
    (us * 1000, op, 4 * page, 4)
}

/// Five writes, which fill a block and open another, and these rows.
fn run(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    let writes: Vec<TraceRow> = (0..5).map(|page| at_us(0, 'W', page)).collect();
    drive::replay(DRIVE, sets, &[&writes[..], rows].concat())
}

/// Completions of the rows behind the writes, in microseconds.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    outcome.rows[5..].iter().map(|row| row.completion_ns / 1000).collect()
}

/// Pages scanned and blocks refreshed; pages read, pages programmed and blocks erased by moves.
fn counts(outcome: &Outcome) -> [u64; 5] {
    let names = ["media_scan.scanned_pages", "media_scan.refreshed_blocks"];
    let moves = ["flash.gc_reads", "flash.gc_programs", "flash.erases"];
    let count = |name| outcome.count(name);
    let [scanned, refreshed] = names.map(count);
    let [reads, programs, erases] = moves.map(count);
    [scanned, refreshed, reads, programs, erases]
}

#[test]
fn a_scan_reads_page_by_page_and_begins_anew() {
    // The first at 1 ms, in the way of a read of the host; at 6 ms the five written pages are
    // through, and the 43 others are passed over.
    let outcome = run(&[], &[at_us(1_005, 'R', 3), at_us(6_010, 'R', 3), at_us(6_990, 'R', 3)]);
    assert_eq!(done_us(&outcome), [1_060, 6_060, 7_020]);
    // That of 7 ms waits for the last read.
    assert_eq!(counts(&outcome), [6, 0, 0, 0, 0]);
    assert_eq!(outcome.count("flash.host_reads"), 3);
    let none = run(&["ftl.scan_period_s=none"], &[at_us(1_005, 'R', 3)]);
    assert_eq!(done_us(&none), [1_035]);
}

#[test]
fn a_scan_does_not_suspend() {
    // The program of page 5 runs from 900 to 1060: the read of the scan waits, that of the host
    // does not; the phase in progress at 1010 ends at 1012, 900 + 20 + 3 x 28 + 8.
    let rows = [at_us(900, 'W', 5), at_us(1_300, 'R', 0)];
    let outcome = run(&["policy=pes-ips"], &rows);
    assert_eq!(done_us(&outcome), [1_060, 1_330]);
    assert_eq!(counts(&outcome)[0], 1);
    let outcome = run(&["policy=pes-ips"], &[at_us(900, 'W', 5), at_us(1_010, 'R', 0)]);
    assert!(done_us(&outcome)[0] > 1_060, "the host suspends it");
}

#[test]
fn a_scan_that_is_too_fast_lets_others_in() {
    // A page a microsecond: the read that is under way ends within 30, and the write begins.
    let outcome = run(&["ftl.scan_period_s=0.000048"], &[at_us(1_005, 'W', 5)]);
    assert!(done_us(&outcome)[0] <= 1_005 + 30 + 160);
    // One page is read each 31 us, once the first is written, at 160; programs take 160 as well.
    assert!((5..=40).contains(&counts(&outcome)[0]));
}

#[test]
fn a_block_that_reads_badly_is_moved_in_idle_time() {
    // The scan reads page 0 from 1000 to 1081. Four pages are read, 81 us each, and programmed, 160
    // each, to 2045. The page of 2000 is sensed from then to 2055; while it is decoded the erase
    // begins, and its retry waits to 3583 or so: the page of 3000 is left out, those of 4000 and
    // 5000 are not. The block of the copies is not full: it is not moved again.
    let sets = [ONE_RETRY, &["ftl.refresh_retries=1"]].concat();
    let outcome = run(&sets, &[at_us(3_600, 'R', 4), at_us(5_500, 'R', 0)]);
    let [scanned, rest @ ..] = counts(&outcome);
    assert_eq!((scanned, rest), (4, [1, 4, 4, 1]));
    // Not by the writes of the host, of which one has to wait for a step at most.
    assert_eq!(outcome.count("flash.host_programs"), 5);
    // Two retries are not reached.
    let sets = [ONE_RETRY, &["ftl.refresh_retries=2"]].concat();
    assert_eq!(counts(&run(&sets, &[at_us(5_500, 'R', 0)]))[1..], [0, 0, 0, 0]);
}

#[test]
fn a_read_of_the_host_has_a_block_moved_too() {
    let sets = [ONE_RETRY, &["ftl.refresh_retries=1", "ftl.scan_period_s=48000"]].concat();
    let outcome = run(&sets, &[at_us(1_000, 'R', 2), at_us(5_000, 'R', 2)]);
    assert_eq!(counts(&outcome), [0, 1, 4, 4, 1]);
    // Of an open block it has not.
    let outcome = run(&sets, &[at_us(1_000, 'R', 4), at_us(5_000, 'R', 4)]);
    assert_eq!(counts(&outcome), [0, 0, 0, 0, 0]);
}

#[test]
fn victims_of_a_set_are_not_refreshed() {
    let sets = [
        ONE_RETRY,
        &[
            "ftl.refresh_retries=1",
            "geometry.planes_per_die=2",
            "parallelism.multi_plane=page",
            "ftl.gc_parallel_planes=true",
            "ftl.gc_victims_in_step=true",
        ],
    ]
    .concat();
    assert!(drive::bad_drive(DRIVE, &sets).contains("victims that are chosen as a set"));
}
