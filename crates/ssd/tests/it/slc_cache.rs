//! Blocks in SLC mode, calculated by hand: cached and direct writes, folding, suspension.
//!
//! The part of FAST 2012 on one plane, with wordlines of two pages: a page over the channel takes
//! 20 us, an array read 10, a program 2 x 20 + 5 x 28 = 180, an erase 1508. In SLC mode a read
//! takes 5 in the array, and a program of one page 20 + 2 x 28 = 76. A block has four wordlines.

use super::drive::{self, Outcome, TraceRow};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 8\n\
    [timing]\nwordline_pages = 2\n[host]\nlink_bytes_per_s = \"none\"\n\
    [ftl]\nover_provisioning = 0.5\n\
    [slc_cache]\nt_slc_read_us = 5\nslc_program_iterations = 2\n";

const STATIC: &[&str] = &["slc_cache.mode=static", "slc_cache.blocks_per_plane=1"];
const DYNAMIC: &[&str] = &["slc_cache.mode=dynamic", "slc_cache.min_free_share=0.5"];

fn at_us(us: u64, op: char, page: u64) -> TraceRow {
    (us * 1000, op, 4 * page, 4)
}

fn run(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    drive::replay(DRIVE, sets, rows)
}

/// When each request is complete, in microseconds.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns / 1000).collect()
}

/// Pages cached, direct and folded, and erases of blocks in SLC mode.
fn counts(outcome: &Outcome) -> [u64; 4] {
    ["cached_pages", "direct_pages", "folded_pages", "erases"]
        .map(|name| outcome.count(&format!("slc_cache.{name}")))
}

#[test]
fn a_page_in_slc_mode_has_times_of_its_own() {
    let rows = [at_us(0, 'W', 0), at_us(2_000, 'R', 0)];
    assert_eq!(done_us(&run(STATIC, &rows)), [76, 2_000 + 5 + 20]);
    assert_eq!(done_us(&run(DYNAMIC, &rows)), [76, 2_000 + 5 + 20]);
    // Else it waits for the rest of its wordline, which is padded after 1 ms.
    assert_eq!(done_us(&run(&["slc_cache.mode=none"], &rows)), [1_180, 2_030]);
}

#[test]
fn a_full_block_is_folded_in_idle_time() {
    // Full at 304. Two pages are read, 5 + 20 each, to 354, and programmed to 534; the others are
    // read to 584 and programmed to 764, with a read of the host before the erase: from another
    // block, it takes 10 + 20. The erase ends at 794 + 1508 = 2302. What was folded is read in 30.
    let writes: Vec<TraceRow> = (0..4).map(|page| at_us(0, 'W', page)).collect();
    let later = [at_us(700, 'R', 0), at_us(2_400, 'W', 4), at_us(2_600, 'R', 3)];
    let outcome = run(STATIC, &[&writes[..], &later].concat());
    assert_eq!(done_us(&outcome), [76, 152, 228, 304, 794, 2_476, 2_630]);
    assert_eq!(counts(&outcome), [5, 0, 4, 1]);
    assert_eq!((outcome.count("flash.gc_reads"), outcome.count("flash.gc_programs")), (4, 4));
    assert_eq!(outcome.count("flash.erases"), 1);
    // A program in SLC mode leaves out nothing of a page that it could have held.
    assert_eq!(outcome.count("flash.padded_pages"), 0);
    // A read that comes as the first step begins waits for that: 304 to 329, then 25.
    let outcome = run(STATIC, &[&writes[..], &[at_us(305, 'R', 0)]].concat());
    assert_eq!(done_us(&outcome)[4], 354);
}

#[test]
fn writes_go_past_a_full_cache_or_wait_for_its_folding() {
    let rows: Vec<TraceRow> = (0..6).map(|page| at_us(0, 'W', page)).collect();
    let direct = run(STATIC, &rows);
    assert_eq!(done_us(&direct), [76, 152, 228, 304, 484, 484]);
    assert_eq!(counts(&direct), [4, 2, 0, 0]);
    // Folded from 304 on without the read of above: to 764, and erased to 2272.
    let waits = run(&[STATIC, &["slc_cache.fold=pressure"]].concat(), &rows);
    assert_eq!(done_us(&waits), [76, 152, 228, 304, 2_348, 2_424]);
    assert_eq!(counts(&waits), [6, 0, 4, 1]);
}

#[test]
fn free_blocks_are_in_slc_mode_while_enough_are_free() {
    // Of 24 blocks 12 are kept free: 12 of four pages are cached, and two pages go past them.
    let mut rows: Vec<TraceRow> = (0..50).map(|page| at_us(0, 'W', page)).collect();
    rows.push(at_us(1_000_000, 'R', 0));
    let outcome = run(DYNAMIC, &rows);
    let done = done_us(&outcome);
    let cached: Vec<u64> = (1..=48).map(|number| 76 * number).collect();
    assert_eq!(done[..48], cached);
    assert_eq!(done[48..50], [48 * 76 + 180; 2]);
    // All are folded in the second that follows, and any write is cached again.
    assert_eq!(done[50], 1_000_030);
    assert_eq!(counts(&outcome), [48, 2, 48, 12]);
}

#[test]
fn what_was_overwritten_or_trimmed_is_not_folded() {
    // Of four cached pages one is overwritten, one trimmed: two are moved, by one program.
    let rows = [
        at_us(0, 'W', 0),
        at_us(100, 'W', 1),
        at_us(200, 'W', 0),
        at_us(300, 'D', 1),
        at_us(400, 'W', 2),
        at_us(100_000, 'R', 0),
        at_us(200_000, 'R', 1),
    ];
    let outcome = run(STATIC, &rows);
    assert_eq!(counts(&outcome), [4, 0, 2, 1]);
    assert_eq!(outcome.count("flash.gc_programs"), 2);
    assert_eq!(done_us(&outcome)[5], 100_030);
}

#[test]
fn a_read_suspends_a_program_in_slc_mode_where_it_may() {
    // Data in to 20, pulse to 40, verify to 48. A read of another block, written before, asks at
    // 30: it is sensed from 40 to 50 and out at 70. The page is restored to 73, verified to 81, and
    // pulse and verify follow: 109.
    let on = &["policy=pes-ips", "ftl.precondition=sequential"];
    let rows = [at_us(0, 'W', 0), at_us(30, 'R', 9)];
    let suspended = run(&[STATIC, on].concat(), &rows);
    assert_eq!(done_us(&suspended), [109, 70]);
    // Without a shadow buffer one page comes in again, not a wordline: 70 to 90, and 36 more.
    let reloaded = run(&[STATIC, on, &["suspension.shadow_buffer=false"]].concat(), &rows);
    assert_eq!(done_us(&reloaded), [126, 70]);
    let whole = run(&[STATIC, on, &["slc_cache.program_suspends=false"]].concat(), &rows);
    assert_eq!(done_us(&whole), [76, 106]);
}

#[test]
fn planes_program_together_in_one_mode() {
    // Two pages to 40, then 56; a third goes past a plane whose cache is full, and waits.
    let two = ["geometry.planes_per_die=2", "parallelism.multi_plane=page"];
    let rows: Vec<TraceRow> = (0..2).map(|page| at_us(0, 'W', page)).collect();
    assert_eq!(done_us(&run(&[STATIC, &two].concat(), &rows)), [96, 96]);
}

#[test]
fn a_page_in_slc_mode_is_filled_with_its_mapping_units() {
    // Units of half a page: two share a program; one waits for another 1 ms, and is padded.
    let halves = ["ftl.mapping_bytes=1024", "ftl.over_provisioning=0.7"];
    let rows = [(0, 'W', 0, 2), (0, 'W', 2, 2), (1_000_000, 'W', 4, 2)];
    let outcome = run(&[STATIC, &halves].concat(), &rows);
    assert_eq!(done_us(&outcome), [76, 76, 2_076]);
    assert_eq!((outcome.count("flash.padded_pages"), counts(&outcome)[0]), (0, 3));
}

#[test]
fn an_erase_in_slc_mode_wears_by_its_share() {
    // One erase of 24 blocks: of a whole cycle, and of a tenth.
    let mut rows: Vec<TraceRow> = (0..4).map(|page| at_us(0, 'W', page)).collect();
    rows.push(at_us(100_000, 'R', 0));
    let cycles = |share| {
        let more = ["reliability.model=power", "reliability.epsilon=0", share];
        run(&[STATIC, &more].concat(), &rows).number("wear.cycles.max")
    };
    assert_eq!(cycles("slc_cache.wear_per_erase=1"), 1.0);
    assert_eq!(cycles("slc_cache.wear_per_erase=0.1"), 0.1);
}

#[test]
fn what_is_not_modelled_is_refused() {
    let refused = |sets: &[&str]| drive::bad_drive(DRIVE, &[STATIC, sets].concat());
    assert_eq!(
        refused(&["timing.wordline_pages=1"]),
        "--set: slc_cache.mode = \"static\": blocks in SLC mode are not modelled with this: \
         timing.wordline_pages = 1, where a program is not of a whole cell; must be \"none\" with \
         it"
    );
    assert!(
        refused(&["slc_cache.blocks_per_plane=16"])
            .contains("there is room for 24; must be larger")
    );
}
