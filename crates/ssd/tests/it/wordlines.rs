//! Programs of whole wordlines, gathered or padded, calculated by hand on rig and drive.
//!
//! The SLC part with wordlines of two pages: two transfers of 20 with a gap of 1, five iterations
//! of 28, so that a program takes 181.

use reprieve_ssd::rig::RigOp::{Erase, Program, Read};

use super::drive;
use super::multi_plane::{Row, rig_us};

const TWO: [&str; 2] = ["timing.wordline_pages=2", "timing.t_load_gap_us=1"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TWO[..], more].concat()
}

fn done_us(more: &[&'static str], rows: &[Row]) -> Vec<u64> {
    rig_us(&with(more), rows).into_iter().map(|(us, _)| us).collect()
}

#[test]
fn pages_of_a_wordline_are_programmed_together() {
    let rows = [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1)];
    assert_eq!(done_us(&[], &rows), [181, 181]);
    assert_eq!(done_us(&["timing.t_command_us=1"], &rows), [182, 182]);
    let rows: Vec<Row> = (0..4).map(|page| (0, Program, 0, 0, page)).collect();
    assert_eq!(done_us(&[], &rows), [181, 181, 362, 362]);
    // On two planes: data in to 82.
    let rows: Vec<Row> = (0..4).map(|index| (0, Program, index % 2, 0, index / 2)).collect();
    assert_eq!(done_us(&[], &rows), [181, 362, 181, 362]);
    assert_eq!(done_us(&["parallelism.multi_plane=page"], &rows), [222; 4]);
    // A page that waits for its wordline joins nothing.
    assert_eq!(done_us(&["parallelism.multi_plane=page"], &rows[..3]), [181, 1_181, 181]);
}

#[test]
fn a_page_waits_for_the_rest_of_its_wordline_and_not_for_ever() {
    let rows = [(0, Program, 0, 0, 0), (50, Program, 0, 0, 1)];
    assert_eq!(done_us(&[], &rows), [231, 231]);
    let soon = "ftl.wordline_timeout_us=30";
    assert_eq!(done_us(&[soon], &rows[..1]), [30 + 181]);
    assert_eq!(done_us(&[], &rows[..1]), [1_181]);
    // Another plane whose wordline is complete goes first, and a read waits for neither.
    let rows = [
        (0, Program, 0, 0, 0),
        (5, Program, 1, 0, 0),
        (10, Program, 1, 0, 1),
        (200, Read, 2, 0, 0),
    ];
    assert_eq!(done_us(&[], &rows), [1_181, 191, 191, 230]);
    // An erase of the same plane waits behind it, one of another does not.
    let rows = [(0, Program, 0, 0, 0), (0, Erase, 0, 1, 0), (0, Erase, 1, 1, 0)];
    assert_eq!(done_us(&[], &rows), [1_508 + 181, 3_197, 1_508]);
    // At the write queue limit what cannot begin goes ahead of no read.
    let rows = [(0, Program, 0, 0, 0), (5, Read, 1, 0, 0)];
    assert_eq!(done_us(&["scheduling.write_queue_limit=1"], &rows), [1_181, 35]);
}

#[test]
fn a_wordline_waits_for_those_of_other_planes() {
    let planes = ["geometry.planes_per_die=2", "parallelism.multi_plane=page"];
    let waits = [&planes[..], &["ftl.wait_for_planes=true"]].concat();
    let first = [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1)];
    let other = [(50, Program, 1, 0, 0), (50, Program, 1, 0, 1)];
    let rows = [first, other].concat();
    // Without it the second program begins when the die is free; with it both are one command,
    // whose four pages cross the channel from 50 to 132.
    assert_eq!(done_us(&planes, &rows), [181, 181, 362, 362]);
    assert_eq!(done_us(&waits, &rows), [272; 4]);
    // No longer than a page waits for its wordline.
    assert_eq!(done_us(&waits, &first), [1_181, 1_181]);
    // Two wordlines of a plane and one of the other: one of the two waits on, until 1000.
    let second = [(0, Program, 0, 0, 2), (0, Program, 0, 0, 3)];
    let rows = [first, second, other].concat();
    assert_eq!(done_us(&waits, &rows), [272, 272, 1_181, 1_181, 272, 272]);
    // And goes with the next of the other plane, at 400.
    let next = [(400, Program, 1, 0, 2), (400, Program, 1, 0, 3)];
    let rows = [first, second, other, next].concat();
    assert_eq!(done_us(&waits, &rows), [272, 272, 622, 622, 272, 272, 622, 622]);
    // Blocks whose pages have other numbers share no command: one follows the other at once.
    let ahead = [(0, Program, 1, 0, 0), (0, Program, 1, 0, 1), (0, Program, 0, 0, 0)];
    let late = [(0, Program, 0, 0, 1), (700, Program, 1, 0, 2), (700, Program, 1, 0, 3)];
    let rest = [(700, Program, 0, 1, 0), (700, Program, 0, 1, 1)];
    let rows = [&ahead[..], &late, &rest].concat();
    assert_eq!(done_us(&waits, &rows)[4..], [881, 881, 1_062, 1_062]);
}

#[test]
fn a_wordline_is_suspended_whole() {
    // Data in to 41; the first verify is from 61 to 69: the read to 99, restore 3, 4 x 28.
    let rows = [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1), (62, Read, 1, 0, 0)];
    let done = rig_us(&with(&["policy=pes-ips"]), &rows);
    assert_eq!(done, [(214, 1), (214, 1), (99, 0)]);
    // Both pages cross the channel again: 41.
    let bare = ["policy=pes-ips", "suspension.shadow_buffer=false"];
    assert_eq!(rig_us(&with(&bare), &rows), [(252, 1), (252, 1), (99, 0)]);
}

/// One channel, one die of one plane; nothing is written.
const ONE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.6\ngc_background = false\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

#[test]
fn a_drive_gathers_pages_and_pads_what_is_left() {
    // Three pages: two go at once; the last, which came at 0, is padded at 1000.
    let rows = [(0, 'W', 0, 12), (3_000_000, 'R', 8, 4)];
    let outcome = drive::replay(ONE, &TWO, &rows);
    let done: Vec<_> = outcome.rows.iter().map(|row| row.completion_ns).collect();
    assert_eq!(done, [1_181_000, 3_030_000]);
    assert_eq!(outcome.count("flash.programs"), 3);
    assert_eq!(outcome.count("flash.padded_pages"), 1);
    let parts = ["queue_ns", "bus_ns", "array_ns"].map(|name| outcome.rows[0].part_ns(name));
    assert_eq!(parts, [1_000_000, 41_000, 140_000]);
    let alone = drive::replay(ONE, &[], &rows);
    assert!(alone.summary.pointer("/flash/padded_pages").is_none());
}

#[test]
fn dies_take_turns_by_pages_or_by_wordlines() {
    // Two pages come at 0, two at 500. By pages each die has the first of a wordline and waits
    // for the second, which comes with the other two: 41 of transfers and 140 for the array.
    let two_dies = "geometry.channels=2";
    let rows = [(0, 'W', 0, 8), (500_000, 'W', 8, 8)];
    let done_us = |placement: &str| {
        let outcome = drive::replay(ONE, &with(&[two_dies, placement]), &rows);
        let done: Vec<_> = outcome.rows.iter().map(|row| row.completion_ns / 1_000).collect();
        done
    };
    assert_eq!(done_us("ftl.placement=aligned"), [681, 681]);
    // By wordlines the first two are a wordline of one die, and the others of the other.
    assert_eq!(done_us("ftl.placement=wordline"), [181, 681]);
}

#[test]
fn pages_of_two_streams_share_no_wordline() {
    // Page 0 is rewritten: it is hot, and pages 1 and 2 are cold.
    let first = (0, 'W', 0, 4);
    let again = |rest: u64| [first, (2_000_000, 'W', 0, 4), (2_000_000, 'W', 4, rest)];
    let done_us = |sets: &[&str], rest| {
        let sets = [sets, &["geometry.pages_per_block=8"]].concat();
        let outcome = drive::replay(ONE, &with(&sets), &again(rest));
        let done: Vec<_> = outcome.rows.iter().map(|row| row.completion_ns / 1_000).collect();
        (done, outcome.count("flash.padded_pages"))
    };
    // One open block: pages 0 and 1 are one program.
    assert_eq!(done_us(&[], 4), (vec![1_181, 2_181, 2_181], 1));
    // Two: each waits for a page that does not come, and is padded; one program after the other.
    let apart = "ftl.stream=hot-cold";
    assert_eq!(done_us(&[apart], 4), (vec![1_181, 3_181, 3_362], 3));
    // Pages 1 and 2 are a wordline, and go ahead of page 0, which came first and waits.
    assert_eq!(done_us(&[apart], 8), (vec![1_181, 3_181, 2_181], 2));
}

#[test]
fn a_flush_waits_for_no_timeout() {
    let text = format!(
        "{ONE}[workload]\ngenerator = \"mixed\"\nrequests = 20\nread_fraction = 0\n\
         request_bytes = 2048\nqueue_depth = 2\nflush_every_requests = 2\n"
    );
    let outcome = drive::run(drive::load_with(&text, &TWO));
    let writes = outcome.count("requests.write.count");
    assert_eq!(outcome.count("flash.padded_pages"), writes);
    assert_eq!(outcome.count("requests.write.latency_ns.max"), 181_000);
}

#[test]
fn a_forced_write_waits_for_no_timeout() {
    let text = format!(
        "{ONE}[workload]\ngenerator = \"mixed\"\nrequests = 20\nread_fraction = 0\n\
         request_bytes = 2048\nqueue_depth = 1\nfua_fraction = 1\n"
    );
    let outcome = drive::run(drive::load_with(&text, &TWO));
    assert_eq!(outcome.count("flash.padded_pages"), 20);
    assert_eq!(outcome.count("requests.fua.latency_ns.max"), 181_000);
    // Two pages of one request share their wordline.
    let both = text.replace("= 2048", "= 4096");
    let outcome = drive::run(drive::load_with(&both, &TWO));
    assert_eq!(outcome.count("flash.padded_pages"), 0);
}

#[test]
fn a_busy_drive_of_wordlines_comes_to_its_end() {
    for (policy, more) in [
        ("fifo", ""),
        ("per", ""),
        ("rps", "timing.wordline_pages=4"),
        ("pes-ips", "parallelism.multi_plane=page"),
        ("pes-ipc", "suspension.shadow_buffer=false"),
        ("pes-ipc", "parallelism.independent_plane_reads=true"),
        ("pes-ips", "timing.cache_register=true"),
        ("pes-ips", "buffer.acknowledge=back"),
        ("rps", "scheduling.write_queue_limit=4"),
        ("rps", "ftl.placement=dynamic"),
        ("rps", "ftl.gc_victim=random"),
        ("rps", "ftl.stream=hot-cold ftl.gc_hard_free_blocks=2"),
        ("pes-ips", "ftl.stream=hot-cold ftl.gc_stream=separate parallelism.multi_plane=page"),
        ("pes-ips", "ftl.mapping=demand ftl.map_cache_bytes=1024 ftl.gc_hard_free_blocks=2"),
    ] {
        let text = format!(
            "seed = 5\ndevice = \"fast12-mlc\"\npolicy = \"{policy}\"\n\
             [geometry]\nchannels = 1\ndies_per_channel = 2\nplanes_per_die = 4\n\
             blocks_per_plane = 24\npages_per_block = 16\n\
             [ftl]\nover_provisioning = 0.45\nprecondition = \"steady\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 8000\nread_fraction = 0.3\n\
             request_bytes = 4096\nqueue_depth = 32\nflush_every_requests = 100\n"
        );
        let sets: Vec<_> = TWO.into_iter().chain(more.split_whitespace()).collect();
        let outcome = drive::run(drive::load_with(&text, &sets));
        let what = format!("{policy} {more}");
        assert_eq!(outcome.count("requests.total.count"), 7_920, "{what}");
        let pages = if more == "timing.wordline_pages=4" { 4 } else { 2 };
        let taken = outcome.count("flash.programs") + outcome.count("flash.padded_pages");
        assert_eq!(taken % pages, 0, "{what}: programs are of whole wordlines");
        // Each page taken has a place that an erase has made, or that was free at first.
        let free_at_first = 8 * 24 * 16 / 2;
        assert!(taken <= free_at_first + 16 * outcome.count("flash.erases"), "{what}");
        // Collection fills all wordlines but the last of a victim; page by page it would pad
        // as many as it moves.
        let moved = outcome.count("flash.gc_programs");
        let padded = outcome.count("flash.padded_pages");
        assert!(moved > 500 && padded < moved, "{what}: {moved} moved, {padded} padded");
        assert_eq!(drive::run(drive::load_with(&text, &sets)), outcome, "{what}");
    }
}
