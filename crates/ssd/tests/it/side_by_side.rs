//! Planes of a die that collect side by side: courses of collection computed by hand, and its cost.
//!
//! SLC of FAST 2012 without a link: reads of 10 us, transfers of 20, programs of 140, erases of
//! 1508. A read of two planes takes 50 with both transfers, a program of two 180.

use super::drive::{self, Outcome, TraceRow};

const PARALLEL: &str = "ftl.gc_parallel_planes=true";
const PAGE: &str = "parallelism.multi_plane=page";

/// One die of two planes with eight blocks of four pages; the user has three of each, written in
/// order: page `p` of a plane, from 0 to 11, is sectors 8 p on, and in plane 1 those 4 further on.
/// The block filled longest ago is the victim, at first block 0 with pages 0 to 3.
const PAIR: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 2\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    gc_victim = \"fifo\"\nplacement = \"pcwd\"\nprecondition = \"sequential\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// A write of a page of a plane.
fn write(at_us: u64, plane: u64, page: u64) -> TraceRow {
    (us(at_us), 'W', 8 * page + 4 * plane, 4)
}

/// Each millisecond a write of both planes, which is one program of 180 us.
fn writes(pages: [&[u64]; 2]) -> Vec<TraceRow> {
    let each = pages[0].iter().zip(pages[1]).enumerate();
    let each = each.map(|(ms, (one, other))| (1000 * ms as u64, one, other));
    each.flat_map(|(at, one, other)| [write(at, 0, *one), write(at, 1, *other)]).collect()
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// When the last write is done, and commands of several planes for collection: reads, programs,
/// erases. The host's are one for each two of `together`.
fn course(sets: &[&str], rows: &[TraceRow], together: u64) -> (u64, [u64; 3]) {
    let outcome = drive::replay(PAIR, sets, rows);
    let count = |name| outcome.count(&format!("flash.multi_plane_commands.{name}"));
    let commands = [count("read"), count("program") - together / 2, count("erase")];
    (*done_us(&outcome).last().expect("there are writes"), commands)
}

/// Thirteen pages fill blocks 3 to 5 and open 6, at 12180; 7 is free, and both planes have to
/// collect.
const THIRTEEN: u64 = 26;

#[test]
fn two_planes_take_the_time_of_one() {
    // Of block 0 page 3 is left in both.
    let pages: &[u64] = &[0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 4, 5];
    let mut rows = writes([pages; 2]);
    rows.push(write(12_200, 1, 9));
    // One after the other: 190 for the move and 1508, to 13878 and 15576; then the write.
    assert_eq!(course(&[PAGE], &rows, THIRTEEN), (15_736, [0, 0, 0]));
    // Read to 12230, program to 12410, erase to 13918.
    assert_eq!(course(&[PAGE, PARALLEL], &rows, THIRTEEN), (14_078, [1, 1, 1]));
    // Blocks have the same numbers, too.
    let block = "parallelism.multi_plane=block";
    assert_eq!(course(&[block, PARALLEL], &rows, THIRTEEN), (14_078, [1, 1, 1]));
    // Nothing gets in between once the victims are begun; the write is not for what is left.
    let through = "ftl.gc_preemptible=false";
    assert_eq!(course(&[PAGE, PARALLEL, through], &rows, THIRTEEN), (14_078, [1, 1, 1]));
}

#[test]
fn pages_of_other_numbers_are_read_alone_and_programmed_together() {
    // Of block 0 page 3 is left in plane 0, page 0 in plane 1.
    let rest = [4, 5, 6, 7, 8, 9, 10, 11, 4, 5];
    let mut rows = writes([&[&[0, 1, 2], &rest[..]].concat(), &[&[1, 2, 3], &rest[..]].concat()]);
    rows.push(write(12_200, 1, 9));
    // Two reads of 30 to 12240, program to 12420, erase to 13928.
    assert_eq!(course(&[PAGE, PARALLEL], &rows, THIRTEEN), (14_088, [0, 1, 1]));
    // Both planes sense from 12180 to 12190, and the second page leaves until 12230.
    let apart = "parallelism.independent_plane_reads=true";
    assert_eq!(course(&[PAGE, PARALLEL, apart], &rows, THIRTEEN), (14_078, [0, 1, 1]));
    // Commands of 1: the first plane senses to 12193 and its page leaves to 12213. The second
    // command follows the first, to 12184; its page is sensed at 12194 and leaves to 12233. Program
    // of 182 to 12415, erase of 1510 to 13925, write of 161.
    let command = "timing.t_command_us=1";
    let outcome = drive::replay(PAIR, &[PAGE, PARALLEL, apart, command], &rows);
    let done = done_us(&outcome);
    assert_eq!(done[25..], [12_182, 14_086]);
}

#[test]
fn pages_that_planes_have_in_common_are_read_first() {
    // Of block 0 pages 0 and 1 are left in plane 0, page 1 in plane 1.
    let rest = [4, 5, 6, 7, 8, 9, 10, 11, 4, 5];
    let mut rows =
        writes([&[&[2, 3], &rest[..], &[6]].concat(), &[&[0, 2, 3], &rest[..]].concat()]);
    rows.push(write(12_200, 1, 9));
    // Both page 1 to 12230, program to 12410; page 0 to 12440 and 12600; erase to 14108.
    assert_eq!(course(&[PAGE, PARALLEL], &rows, THIRTEEN), (14_268, [1, 1, 1]));
}

#[test]
fn the_open_block_that_is_behind_comes_up_first() {
    // Plane 0 has opened block 6 at 12500; plane 1 has filled block 5 and has a block more than it
    // needs. Of both victims pages 2 and 3 are left.
    let pages: &[u64] = &[0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 4];
    let mut rows = writes([pages; 2]);
    rows.extend([write(11_000, 0, 5), write(12_000, 1, 5), write(12_500, 0, 6)]);
    rows.push(write(12_700, 0, 9));
    // Plane 0 alone: two moves and the erase, 12660 to 14548.
    assert_eq!(course(&[PAGE], &rows, 22), (14_708, [0, 0, 0]));
    // Both: read to 12710; plane 1 programs page 0 to 12870 and reads to 12900; both program page 1
    // to 13080; plane 0 reads to 13110, and programs to 13270; erase to 14778.
    assert_eq!(course(&[PAGE, PARALLEL], &rows, 22), (14_938, [1, 1, 1]));
}

#[test]
fn a_plane_that_has_room_does_not_join() {
    // Plane 1 is four pages behind plane 0: its free blocks are three.
    let pages: &[u64] = &[0, 1, 4, 5, 6, 7, 8];
    let mut rows = writes([pages; 2]);
    rows.extend((0..6).map(|index| write(7_000 + 1000 * index, 0, 6 + index % 3)));
    rows.push(write(12_200, 0, 9));
    // Two moves and the erase, from 12160 to 14048.
    for sets in [&[PAGE][..], &[PAGE, PARALLEL]] {
        let outcome = drive::replay(PAIR, sets, &rows);
        assert_eq!(done_us(&outcome).last(), Some(&14_208));
        assert_eq!(outcome.count("flash.erases"), 1);
    }
}

#[test]
fn wordlines_of_two_planes_are_moved_together() {
    // Two pages a program: 2 × 20 and 140 for a plane, 220 for two. Of block 0 pages 1 and 3 are
    // left in plane 0, pages 0 and 3 in plane 1; block 6 has its first wordline at 12220.
    let wordline = ["timing.wordline_pages=2", "ftl.wordline_timeout_us=0", PAGE, PARALLEL];
    let sets =
        [&wordline[..], &["ftl.over_provisioning=0.625", "ftl.gc_hard_free_blocks=1"]].concat();
    let rest: &[u64] = &[4, 5, 6, 7, 8, 9, 10, 11, 4, 5, 6, 7];
    let (one, other) = ([&[0, 2], rest].concat(), [&[1, 2], rest].concat());
    let mut rows = Vec::new();
    for (ms, index) in (0..14).step_by(2).enumerate() {
        for index in [index, index + 1] {
            rows.push(write(2000 * ms as u64, 0, one[index]));
            rows.push(write(2000 * ms as u64, 1, other[index]));
        }
    }
    rows.push(write(12_300, 1, 9));
    let outcome = drive::replay(PAIR, &sets, &rows);
    let done = done_us(&outcome);
    assert_eq!(done[27], 12_220);
    // Both page 3 to 12270; page 1 of plane 0 to 12300, page 0 of plane 1 to 12330; one program to
    // 12550, the erase to 14058; the write is a wordline of its own, of 180.
    assert_eq!(done[28], 14_238);
    assert_eq!(outcome.count("flash.gc_programs"), 4);
    assert_eq!(outcome.count("flash.multi_plane_commands.read"), 1);
}
