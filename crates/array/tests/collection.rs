//! Drives that collect by turns, and reads that they refuse, by hand, to the nanosecond.
//!
//! A mirror of drives of one plane without a link: a read of a page takes 10 us in the array and 20
//! on the bus, a program 160 us. A block has four pages, and of 24 blocks fewer than 23 free ones
//! are few. Pages of even numbers are read from drive 0.

use reprieve_array::{Array, Options, Read, Request};
use reprieve_base::{Dur, Op, Time};
use serde_json::Value;

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 4\n\
    [host]\nlink_bytes_per_s = \"none\"\n\
    [ftl]\nover_provisioning = 0.5\ngc_start_free_share = 0.9\ngc_stream = \"separate\"\n";
const PAGE: u64 = 2048;

fn mirror(collecting_drives: Option<usize>, read: Read) -> Options {
    let (drives, mirrors, chunk_bytes) = (2, 2, PAGE);
    let (collection_poll_us, threads) = (2_000.0, Some(1));
    let more = Options { collecting_drives, collection_poll_us, read, ..Options::default() };
    Options { drives, mirrors, chunk_bytes, threads, ..more }
}

/// Nine writes until 1440 us, which fill two blocks, overwrite page 0 of the first, and begin a
/// third; then reads of pages. Returns when these are done, in us, with the chunks that came from
/// the other drive; and the pages that each drive has moved.
fn run(options: &Options, sets: &[&str], reads: &[(u64, u64)]) -> (Vec<(u64, u32)>, [u64; 2]) {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let mut array = Array::open(DRIVE, "test.toml", &sets, options).expect("an array");
    let request = |op, at_us, page| Request {
        arrival: Time::ZERO + Dur::from_us(at_us),
        op,
        offset: page * PAGE,
        bytes: PAGE,
    };
    array.submit((0..8).chain([0]).map(|page| request(Op::Write, 0, page))).expect("good writes");
    array.submit(reads.iter().map(|(at, page)| request(Op::Read, *at, *page))).expect("good reads");
    let rows = array.run().expect("drives last");
    let done = rows[9..].iter().map(|row| (row.completion.ns() / 1000, row.reconstructed));
    let summary: Value = serde_json::from_str(&array.summary()).expect("JSON");
    let moved = |drive: usize| summary["drives"][drive]["flash"]["gc_programs"].as_u64();
    (done.collect(), [0, 1].map(|drive| moved(drive).expect("a count")))
}

#[test]
fn drives_collect_by_turns() {
    // Both drives are as short at the poll of 2 ms. Drive 0 reads a page to move until 2030, before
    // page 4; it moves three in 570 us, and erases in 1508. At 6 ms it has nothing to collect, and
    // drive 1 begins, which goes on until the poll behind the last read.
    let reads = [(2_005, 4), (2_105, 5), (5_900, 5), (6_005, 5), (6_105, 4)];
    let options = mirror(Some(1), Read::Direct);
    let (done, moved) = run(&options, &[], &reads);
    assert_eq!(done, [(2_060, 0), (2_135, 0), (5_930, 0), (6_060, 0), (6_135, 0)]);
    assert_eq!(moved, [3, 3]);
    assert_eq!(run(&options, &[], &reads[..3]).1, [3, 0]);
    // Around the drive that has the turn.
    let (done, _) = run(&mirror(Some(1), Read::AroundWindows), &[], &reads);
    assert_eq!(done, [(2_035, 1), (2_135, 0), (5_930, 0), (6_035, 1), (6_135, 0)]);
    // A turn is given at a poll alone.
    let rare = Options { collection_poll_us: 3_000.0, ..options };
    assert_eq!(run(&rare, &[], &[(2_005, 4), (3_005, 4)]).0, [(2_035, 0), (3_060, 0)]);
}

#[test]
fn a_drive_that_collects_refuses_a_read() {
    // The refusal takes the controller 1 us; drive 1 does not collect.
    let fast = mirror(Some(1), Read::FastFail);
    let reads = [(2_005, 4), (2_105, 5), (4_900, 4)];
    let refused = [(2_036, 1), (2_135, 0), (4_930, 0)];
    assert_eq!(run(&fast, &[], &reads).0, refused);
    // Drives whose collection does not pause: until the erase ends, at 4078 us, a read waits.
    let whole = ["ftl.gc_preemptible=false"];
    assert_eq!(run(&mirror(Some(1), Read::Direct), &whole, &reads[..1]).0, [(4_108, 0)]);
    assert_eq!(run(&fast, &whole, &reads).0, refused);
    // Where both collect at a time, from 1440 us on, nothing helps.
    let both = mirror(None, Read::FastFail);
    assert_eq!(run(&both, &whole, &[(2_005, 4)]).0, [(1_440 + 570 + 1_508 + 30, 0)]);
}
