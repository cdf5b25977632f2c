//! Streams, the course of garbage collection, wear and failures: sequences computed by hand.
//!
//! SLC of FAST 2012 without a link: read 30 us, program 160, erase 1508. A step of collection that
//! moves a page takes 190.

use reprieve_base::{Stream, UserError};
use reprieve_ssd::Ssd;

use super::drive::{self, Outcome, TraceRow};

/// One die of blocks of four pages; the user has three, written in order, and one is kept free.
const TINY: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    precondition = \"sequential\"\n[host]\nlink_bytes_per_s = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// Writes of these pages, one each millisecond; then `more`.
fn writes(pages: &[u64], more: &[TraceRow]) -> Vec<TraceRow> {
    let writes = pages.iter().enumerate();
    let writes = writes.map(|(index, page)| (us(1000) * index as u64, 'W', 4 * page, 4));
    writes.chain(more.iter().copied()).collect()
}

/// Of eight blocks the writes fill 3 to 5 and open 6; block 7 is free, and the victim is block 0,
/// of which only page 3 is valid.
const FILL: [u64; 13] = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9];

#[test]
fn moved_pages_go_to_a_block_of_their_own() {
    // Nine blocks: 3 to 6 are filled, 7 is opened, 8 is free. One page each is valid in blocks 0,
    // 1, 3 and 4, of which each can be the victim.
    let nine = ["policy=rps", "geometry.blocks_per_plane=9", "ftl.over_provisioning=0.666666"];
    let pages = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9, 4, 8, 6, 9];
    let rows = writes(&pages, &[(us(16_170), 'W', 40, 4)]);
    // Done at 16160; moved to block 7 until 16350, erased until 17858: two are free, and the host
    // writes.
    let outcome = drive::replay(TINY, &nine, &rows);
    assert_eq!(done_us(&outcome)[16..], [16_160, 18_018]);
    assert_eq!(outcome.count("flash.erases"), 1);
    // Moved to block 8, so that after the erase again only one is free: a second victim takes until
    // 19556.
    let separate = [&nine[..], &["ftl.gc_stream=separate"]].concat();
    let outcome = drive::replay(TINY, &separate, &rows);
    assert_eq!(done_us(&outcome)[16..], [16_160, 19_716]);
    assert_eq!(outcome.count("flash.erases"), 2);
    assert_eq!(outcome.count("flash.gc_programs"), 2);
}

#[test]
fn a_victim_runs_through_once_begun() {
    let more = [
        (us(12_170), 'R', 12, 4),
        (us(12_180), 'W', 24, 4),
        (us(12_300), 'R', 12, 4),
        (us(13_000), 'R', 12, 4),
    ];
    let rows = writes(&FILL, &more);
    // Read to 12190, program to 12350, erase to 13858; then the three reads, and the write.
    let through = "ftl.gc_preemptible=false";
    let outcome = drive::replay(TINY, &["policy=rps", through], &rows);
    assert_eq!(done_us(&outcome)[12..], [12_160, 13_888, 14_108, 13_918, 13_948]);
    let outcome = drive::replay(TINY, &["policy=fifo", through], &rows);
    assert_eq!(done_us(&outcome)[12..], [12_160, 13_888, 14_048, 14_078, 14_108]);
    // Suspended all the same: the program, from 12190, at the end of its data in, 12210, for the
    // read to 12240; restore to 12243; its third pulse to 12319, read to 12349, restore to 12352,
    // verify to 12360, two iterations to 12416. Erase broken off at 13000, free at 13004, read to
    // 13034, set-up to 13038, the other 916 to 13954, verify to 13962.
    let outcome = drive::replay(TINY, &["policy=pes-ips", through], &rows);
    assert_eq!(done_us(&outcome)[12..], [12_160, 12_240, 14_122, 12_349, 13_034]);
    // The same where a plane makes way by itself: the die has one.
    let own = ["parallelism.independent_plane_reads=true", "suspension.multi_plane=plane"];
    let outcome = drive::replay(TINY, &[&["policy=pes-ips", through], &own[..]].concat(), &rows);
    assert_eq!(done_us(&outcome)[12..], [12_160, 12_240, 14_122, 12_349, 13_034]);
}

#[test]
fn a_die_that_moves_pages_keeps_its_channel_if_it_is_to() {
    // The same on the first die of two. The other senses a page at 12165 and gets a write at 12200.
    let fill = FILL.map(|page| 2 * page);
    let more = [(us(12_165), 'R', 4, 4), (us(12_170), 'W', 48, 4), (us(12_200), 'W', 52, 4)];
    let rows = writes(&fill, &more);
    let sets = ["geometry.dies_per_channel=2", "policy=rps", "ftl.gc_preemptible=false"];
    // The moved page leaves until 12190, then that of the other die until 12210; it comes in again
    // until 12230 and is programmed until 12370, erased until 13878. The write: from 12230 on.
    let outcome = drive::replay(TINY, &sets, &rows);
    assert_eq!(done_us(&outcome)[13..], [12_210, 14_038, 12_390]);
    // Programmed until 12350, which nothing delays, and erased until 13858. Only then the page of
    // the other die leaves, until 12370, and the write has its register and the channel.
    let holds = [&sets[..], &["ftl.gc_holds_channel=true"]].concat();
    let outcome = drive::replay(TINY, &holds, &rows);
    assert_eq!(done_us(&outcome)[13..], [12_370, 14_018, 12_530]);
    assert_eq!(outcome.rows[13].part_ns("bus_wait_ns"), us(12_350 - 12_175));
    // With a channel of its own the other die goes on.
    let apart = [&holds[..], &["geometry.dies_per_channel=1", "geometry.channels=2"]].concat();
    let outcome = drive::replay(TINY, &apart, &rows);
    assert_eq!(done_us(&outcome)[13..], [12_195, 14_018, 12_360]);
}

#[test]
fn a_plane_at_rest_reads_beside_a_victim_that_runs_through() {
    // The same in plane 0 of two, with a read of plane 1 in each step: each is sensed at once
    // beside the program and the erase; between the two, at 12350, none gets in.
    let fill = FILL.map(|page| 2 * page);
    let more = [
        (us(12_200), 'R', 4, 4),
        (us(12_345), 'R', 4, 4),
        (us(12_360), 'R', 4, 4),
        (us(13_000), 'R', 4, 4),
    ];
    let rows = writes(&fill, &[&[(us(12_170), 'W', 48, 4)], &more[..]].concat());
    let sets = ["geometry.planes_per_die=2", "policy=pes-ips", "ftl.gc_preemptible=false"];
    let own = ["parallelism.independent_plane_reads=true", "suspension.multi_plane=plane"];
    let outcome = drive::replay(TINY, &[&sets[..], &own].concat(), &rows);
    // Sensed from 12345 to 12355 and out to 12375: the erase begins at 12375, not at 12350, and
    // ends at 13883; the read of 12360 is sensed beside it, out to 12395.
    assert_eq!(done_us(&outcome)[13..], [14_043, 12_230, 12_375, 12_405, 13_030]);
    assert_eq!(outcome.count("flash.suspensions.program"), 0);
}

#[test]
fn pages_are_moved_at_the_rate_of_the_host_s_writes() {
    // Collection from three free blocks on: the fifth write opens block 4 and leaves three.
    let start = ["policy=rps", "ftl.gc_start_free_share=0.4"];
    let mut rows = writes(&[0, 1, 2, 4, 5], &[(us(4_170), 'W', 32, 4), (us(5_000), 'W', 0, 4)]);
    rows.push((us(7_000), 'W', 4, 4));
    let outcome = drive::replay(TINY, &start, &rows);
    assert_eq!(done_us(&outcome)[4..], [4_160, 4_330, 5_160, 7_160]);
    assert_eq!(outcome.count("flash.gc_reads"), 0);
    // Of block 0 page 3 is moved, 4160 to 4350, before the next write, to 4510. That pays for the
    // erase, to 6018, and then the next, to 6178. Four are free: nothing more is moved.
    let rate = [&start[..], &["ftl.gc_rate_pages_per_write=1"]].concat();
    let outcome = drive::replay(TINY, &rate, &rows);
    assert_eq!(done_us(&outcome)[4..], [4_160, 4_510, 6_178, 7_160]);
    assert_eq!(outcome.count("flash.gc_programs"), 1);
    assert_eq!(outcome.count("flash.erases"), 1);
    // Half a page a write: the move begins after the second of them, and the erase is not paid.
    let half = [&start[..], &["ftl.gc_rate_pages_per_write=0.5"]].concat();
    let outcome = drive::replay(TINY, &half, &rows);
    assert_eq!(done_us(&outcome)[4..], [4_160, 4_330, 5_160, 7_160]);
    assert_eq!(outcome.count("flash.gc_programs"), 1);
    assert_eq!(outcome.count("flash.erases"), 0);
}

#[test]
fn every_page_of_a_wordline_pays_for_moves() {
    // Wordlines of two pages: the third write opens block 4 and leaves three blocks free. Its two
    // pages pay for one move at half a move each, and collection moves a wordline of them.
    let pages_moved = |rate: &str| {
        let sets = ["policy=rps", "ftl.gc_start_free_share=0.4", "timing.wordline_pages=2", rate];
        let rows = [(0, 'W', 0, 8), (us(1_000), 'W', 16, 8), (us(2_000), 'W', 32, 8)];
        let rows = [&rows[..], &[(us(9_000), 'R', 44, 4)]].concat();
        let outcome = drive::replay(TINY, &sets, &rows);
        assert_eq!(outcome.count("flash.host_programs"), 6);
        assert_eq!(outcome.count("flash.erases"), 0);
        outcome.count("flash.gc_programs")
    };
    assert_eq!(pages_moved("ftl.gc_rate_pages_per_write=0.5"), 2);
    assert_eq!(pages_moved("ftl.gc_rate_pages_per_write=0.25"), 0);
}

#[test]
fn dies_take_turns_to_collect() {
    // Two dies, each with one invalid page and one free block too few at 160: three moves and the
    // erase take 2078.
    let two = [
        "policy=rps",
        "geometry.channels=2",
        "ftl.gc_background=true",
        "ftl.gc_start_free_share=0.6",
    ];
    let rows = [(0, 'W', 0, 8), (us(3_000), 'R', 8, 4), (us(3_000), 'R', 12, 4)];
    let outcome = drive::replay(TINY, &two, &rows);
    assert_eq!(done_us(&outcome), [160, 3_030, 3_030]);
    assert_eq!(outcome.count("flash.erases"), 2);
    // The second begins at 2238; its erase, from 2808, is in the way of its read until 4316.
    let limited = [&two[..], &["ftl.gc_dies_max=1"]].concat();
    let outcome = drive::replay(TINY, &limited, &rows);
    assert_eq!(done_us(&outcome), [160, 3_030, 4_346]);
}

/// Writes of a few pages of a small plane, over and over.
fn worn(sets: &[&str]) -> [f64; 4] {
    let text = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
        [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\npages_per_block = 16\n\
        [ftl]\nover_provisioning = 0.3\nprecondition = \"sequential\"\ncount_erases = true\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 40000\nread_fraction = 0.0\n\
        request_bytes = 2048\nqueue_depth = 4\n";
    let outcome = drive::run(drive::load_with(text, sets));
    ["mean", "min", "max", "stddev"].map(|name| outcome.number(&format!("flash.wear.{name}")))
}

#[test]
fn cold_blocks_are_moved_when_others_are_worn() {
    // A tenth of the pages is written: the blocks of the others are never reclaimed.
    let hot = ["workload.footprint_share=0.1"];
    let [mean, min, max, apart] = worn(&hot);
    assert!(mean > 30.0 && min == 0.0 && max > 1.5 * mean, "{min} to {max}, mean {mean}");
    // The least worn full block is moved when an erased one is ten ahead: none is left behind.
    let levelled = [&hot[..], &["ftl.static_wear_spread=10"]].concat();
    let [mean, min, _, levelled] = worn(&levelled);
    assert!(min > mean - 10.0, "{min} of {mean}");
    assert!(levelled < 0.2 * apart, "deviation {levelled} of {apart}");
}

#[test]
fn the_least_worn_free_block_is_written_next() {
    // Victims at random: the counts of the blocks drift apart like those of a random walk. Taking
    // the least worn of a fifth of the blocks, which are free, pulls them together.
    let random = ["ftl.gc_victim=random", "ftl.gc_hard_free_blocks=12"];
    let [mean, _, _, oldest] = worn(&random);
    let least_worn = [&random[..], &["ftl.free_block=least-worn"]].concat();
    let [mean_levelled, _, _, levelled] = worn(&least_worn);
    assert!((mean / mean_levelled - 1.0).abs() < 0.05, "as much is erased: {mean}");
    assert!(levelled < 0.6 * oldest, "deviation {levelled} of {oldest}");
}

/// The end of a run that blocks or patience do not suffice for.
fn error_of(text: &str, sets: &[&str]) -> String {
    let mut ssd = Ssd::new(drive::load_with(text, sets), false).expect("a drive");
    let mut run = || {
        while ssd.step(1000)? {}
        Ok(())
    };
    let end: Result<(), UserError> = run();
    end.expect_err("the drive cannot go on").to_string()
}

/// A seed under which programs and erases of die 0 fail as `wanted` says, in order.
fn seed_of(wanted: &[bool], probability: f64) -> u64 {
    let fits = |seed: &u64| {
        let mut stream = Stream::new(*seed, "nand.failure", 0);
        wanted.iter().all(|fails| (stream.unit() < probability) == *fails)
    };
    (0..100_000).find(fits).expect("one of so many seeds")
}

#[test]
fn a_page_whose_program_fails_is_written_elsewhere() {
    let (good, fails) = (false, true);
    let none = ["policy=rps", "ftl.precondition=none", "nand.program_failure=0.3"];
    let none =
        [&none[..], &["geometry.blocks_per_plane=12", "ftl.over_provisioning=0.75"]].concat();
    // Nothing is in the block yet: the program alone is done again, twice.
    let seed = format!("seed={}", seed_of(&[fails, fails, good], 0.3));
    let outcome = drive::replay(TINY, &[&none[..], &[&seed]].concat(), &[(0, 'W', 0, 4)]);
    assert_eq!(done_us(&outcome), [480]);
    assert_eq!(outcome.count("flash.bad_blocks.grown"), 2);
    assert_eq!(outcome.count("flash.bad_blocks.failed_host_programs"), 2);
    assert_eq!(outcome.count("flash.host_programs"), 3);
    // The third page of a block fails, at 2160: the two before it move, to 2540, before it is
    // programmed, to 2700. All three are read where they are.
    let seed = format!("seed={}", seed_of(&[good, good, fails, good, good, good], 0.3));
    let more = [0, 4, 8].map(|sector| (us(3_000), 'R', sector, 4));
    let outcome = drive::replay(TINY, &[&none[..], &[&seed]].concat(), &writes(&[0, 1, 2], &more));
    assert_eq!(done_us(&outcome), [160, 1_160, 2_700, 3_030, 3_060, 3_090]);
    assert_eq!(outcome.count("flash.gc_programs"), 2);
    assert_eq!(outcome.count("flash.erases"), 0);
    // The first move fails too: read 2160 to 2190, program to 2350; programmed again to 2510; the
    // other to 2700. Of the block that failed second nothing is to be moved.
    let wanted = [good, good, fails, fails, good, good, good];
    let seed = format!("seed={}", seed_of(&wanted, 0.3));
    let outcome = drive::replay(TINY, &[&none[..], &[&seed]].concat(), &writes(&[0, 1, 2], &more));
    assert_eq!(done_us(&outcome), [160, 1_160, 2_860, 3_030, 3_060, 3_090]);
    assert_eq!(outcome.count("flash.bad_blocks.failed_gc_programs"), 1);
    assert_eq!(outcome.count("flash.bad_blocks.grown"), 2);
}

const ENDLESS: &str = "[workload]\ngenerator = \"mixed\"\nrequests = 100000\nread_fraction = 0.0\n\
    request_bytes = 2048\nqueue_depth = 1\n";

#[test]
fn a_plane_without_blocks_ends_the_run() {
    let text = format!("{TINY}{ENDLESS}");
    // Data of three blocks, one kept, three under way and one to gain: all eight are needed.
    let ends = ": blocks have failed by chance, and plane 0 has 7 good blocks left of 8, its \
        data and garbage collection need 8; lower the probabilities, or give it more with \
        ftl.over_provisioning";
    let erase = error_of(&text, &["nand.erase_failure=0.01"]);
    assert_eq!(erase, format!("nand.program_failure = 0, nand.erase_failure = 0.01{ends}"));
    let program = error_of(&text, &["nand.program_failure=0.01"]);
    assert_eq!(program, format!("nand.program_failure = 0.01, nand.erase_failure = 0{ends}"));
}

#[test]
fn failed_erases_use_up_the_spare_blocks() {
    // Sixteen blocks more than needed: the run ends with the seventeenth failure.
    let sets = ["geometry.blocks_per_plane=24", "ftl.over_provisioning=0.875"];
    let sets = [&sets[..], &["ftl.gc_hard_free_blocks=4", "nand.erase_failure=0.05"]].concat();
    let error = error_of(&format!("{TINY}{ENDLESS}"), &sets);
    assert!(error.contains("plane 0 has 10 good blocks left of 24, its data"), "{error}");
}
