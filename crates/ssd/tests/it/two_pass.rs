//! Wordlines that are programmed in two passes, by hand: lengths, and reads between the passes.
//!
//! The part of FAST 2012 on one plane, with wordlines of two pages: a page over the channel takes
//! 20 us, an array read 10. A coarse pass has two iterations of 28 us, a fine one five. Data goes
//! to the die twice, 80 us. A block has four wordlines: its programs take 80 + 56 = 136 us, twice
//! 80 + 56 + 140 = 276, and 80 + 56 + 280 = 416 with both fine passes at its end.

use super::drive::{self, Outcome, TraceRow};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 8\n\
    [timing]\nwordline_pages = 2\ncoarse_iterations = 2\n\
    [host]\nlink_bytes_per_s = \"none\"\n[ftl]\nover_provisioning = 0.5\n";

fn at_us(us: u64, op: char, page: u64) -> TraceRow {
    (us * 1000, op, 4 * page, 4)
}

fn run(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    drive::replay(DRIVE, sets, rows)
}

fn writes(pages: u64) -> Vec<TraceRow> {
    (0..pages).map(|page| at_us(0, 'W', page)).collect()
}

/// When each request is complete, in microseconds.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns / 1000).collect()
}

#[test]
fn the_fine_pass_of_a_wordline_is_in_the_program_of_the_next() {
    let done = done_us(&run(&[], &writes(10)));
    let ends = [136, 136 + 276, 136 + 2 * 276, 136 + 2 * 276 + 416, 1_104 + 136];
    assert_eq!(done, ends.map(|end| [end; 2]).concat());
    // In one pass, of as many iterations, each takes 40 + 7 x 28.
    let once = ["timing.coarse_iterations=none", "timing.program_iterations=7"];
    let done = done_us(&run(&once, &writes(10)));
    assert_eq!(done, [236, 472, 708, 944, 1_180].map(|end| [end; 2]).concat());
}

#[test]
fn pages_are_read_from_the_controller_until_their_second_pass() {
    // Page 0 at 200 us, between its passes, costs nothing. At 3 ms the last wordline of the first
    // block has had both; the first of the second block has had one, which holds pages 8 and 9.
    let later = [
        at_us(200, 'R', 0),
        at_us(3_000, 'R', 0),
        at_us(3_100, 'R', 7),
        at_us(3_200, 'R', 8),
        at_us(3_300, 'R', 9),
    ];
    let outcome = run(&[], &[writes(10), later.to_vec()].concat());
    assert_eq!(done_us(&outcome)[10..], [200, 3_030, 3_130, 3_200, 3_300]);
    assert_eq!(outcome.count("device.buffer_hits"), 3);
    assert_eq!(outcome.count("flash.host_reads"), 2);
    // A wordline of the other block takes its place in that one's program, of 276 us, and then the
    // read finds it in the flash.
    let next = [at_us(4_000, 'W', 10), at_us(4_000, 'W', 11), at_us(5_000, 'R', 8)];
    let outcome = run(&[], &[writes(10), next.to_vec()].concat());
    assert_eq!(done_us(&outcome)[10..], [4_276, 4_276, 5_030]);
}

#[test]
fn a_program_of_two_passes_is_suspended_like_any() {
    // The second runs from 136; its iterations begin at 216, and at 300 three of 28 us are over.
    // The read senses to 310, its page leaves to 330, the buffer is restored to 333, and 112 us
    // are left.
    let rows = [writes(4), vec![at_us(300, 'R', 64)]].concat();
    let done = done_us(&run(&["policy=pes-ips"], &rows));
    assert_eq!(done, [136, 136, 445, 445, 330]);
}

#[test]
fn moved_pages_have_two_passes_too() {
    // As many overwrites as fill the drive many times; each program of collection counts, and the
    // checker follows the array time of each.
    let text = format!(
        "{DRIVE}[workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0.3\n\
         request_bytes = 2048\nqueue_depth = 8\n"
    );
    let outcome = drive::run_text(&text);
    assert!(outcome.count("flash.gc_programs") > 500);
    assert!(outcome.count("device.buffer_hits") > 0);
    // A block is programmed and erased as a whole: 4 x (80 + 196) us of programs for 8 pages, all
    // but for the blocks that are open at the end.
    let programmed = (outcome.count("flash.host_programs")
        + outcome.count("flash.gc_programs")
        + outcome.count("flash.padded_pages")) as f64;
    let busy_us =
        outcome.number("device.die_busy_share") * outcome.number("device.simulated_ns") / 1e3;
    let reads = outcome.count("flash.host_reads") + outcome.count("flash.gc_reads");
    let expected_us = programmed / 8.0 * 4.0 * 276.0
        + reads as f64 * 30.0
        + outcome.count("flash.erases") as f64 * 1_508.0;
    assert!((busy_us / expected_us - 1.0).abs() < 0.01, "{busy_us} {expected_us}");
}

#[test]
fn what_is_not_modelled_is_refused() {
    let cases = [
        ("timing.wordline_pages=1", "two passes are not modelled with this: timing.wordline_pages"),
        (
            "parallelism.cache_program=true",
            "two passes are not modelled with this: parallelism.cache_program",
        ),
        ("ftl.mapping=demand", "two passes are not modelled with this: ftl.mapping"),
    ];
    drive::assert_refused(DRIVE, &cases);
}
