//! Twin blocks: planes of a die that are filled, collected and erased in step.
//!
//! SLC of FAST 2012 without a host link: 10 us to read, 20 over the channel, 140 to program.

use proptest::prelude::*;

use super::cases::{case, many};
use super::conservation::{check_classes, check_log, check_pages};
use super::drive::{self, Outcome, TraceRow};

/// One die of two planes.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n[geometry]\nchannels = 1\n\
    dies_per_channel = 1\nplanes_per_die = 2\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n";
const HAND: &str = "[host]\nlink_bytes_per_s = \"none\"\n";

const BLOCK: &str = "parallelism.multi_plane=block";
const TWINS: &str = "ftl.twin_blocks=true";

/// When requests `(us, op, page)` are done, in us.
fn done_us(sets: &[&str], rows: &[(u64, char, u64)]) -> Vec<u64> {
    let rows: Vec<TraceRow> =
        rows.iter().map(|&(us, op, page)| (us * 1000, op, 4 * page, 4)).collect();
    let outcome = drive::replay(&format!("{SLC}{HAND}"), sets, &rows);
    outcome.rows.iter().map(|row| row.completion_ns / 1000).collect()
}

#[test]
fn whatever_waits_for_a_die_is_written_side_by_side() {
    // Pages 0 and 2 would both lie on plane 0.
    let rows = [(0, 'W', 0), (0, 'W', 2), (500, 'R', 0), (500, 'R', 2)];
    assert_eq!(done_us(&[BLOCK], &rows), [160, 320, 530, 560]);
    assert_eq!(done_us(&[BLOCK, TWINS], &rows), [180, 180, 530, 550]);
}

#[test]
fn a_page_by_itself_is_written_alone_and_the_next_beside_it() {
    // The second and the third come while the first is programmed: the second lies beside it, at
    // another page offset than the third, so that the two are two programs.
    let rows = [(0, 'W', 0), (50, 'W', 1), (60, 'W', 2)];
    assert_eq!(done_us(&[BLOCK, TWINS], &rows), [160, 320, 480]);
    // From then on the planes are level again: the next two go together.
    let rows = [(0, 'W', 0), (50, 'W', 1), (400, 'W', 2), (400, 'W', 3)];
    assert_eq!(done_us(&[BLOCK, TWINS], &rows), [160, 320, 580, 580]);
}

/// A drive that is overwritten many times.
fn overwritten(sets: &[&str]) -> Outcome {
    let load = "[workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0\n\
        request_bytes = 2048\nqueue_depth = 8\n";
    drive::run(drive::load_with(&format!("{SLC}{load}"), sets))
}

#[test]
fn pages_of_the_mapping_have_a_superblock_of_their_own() {
    // Eight entries are kept; a page holds all. The user has eight superblocks, written in order.
    let mapped = [
        BLOCK,
        TWINS,
        "ftl.precondition=sequential",
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=64",
        "ftl.map_cache_policy=lru",
    ];
    // The page of the mapping is read once for both, to 30; then both are written side by side.
    assert_eq!(done_us(&mapped, &[(0, 'W', 0), (0, 'W', 2)]), [210, 210]);
    // Eight writes of a page each, at 30 + 160. Then an entry to 8030 and its page to 8060;
    // meanwhile entry 0 has left, and with it all changes: the page of the mapping is read to 8090
    // and written, alone, to 8250. It is still in the controller when entry 9 is asked for.
    let mut rows: Vec<_> = (0..8).map(|page| (1_000 * page, 'W', page)).collect();
    rows.extend([(8_000, 'R', 8), (8_100, 'R', 9)]);
    assert_eq!(done_us(&mapped, &rows)[7..], [7_190, 8_060, 8_280]);
    // Entry 36 is read to 9130, and two more writes are side by side, whatever the page of the
    // mapping has taken.
    rows.extend([(9_000, 'R', 20), (9_100, 'W', 20), (9_100, 'W', 36)]);
    assert_eq!(done_us(&mapped, &rows)[10..], [9_060, 9_310, 9_310]);
}

#[test]
fn all_planes_are_erased_at_once() {
    let outcome = overwritten(&[BLOCK, TWINS, "ftl.precondition=sequential"]);
    let erases = outcome.count("flash.erases");
    assert!(erases > 100, "{}", outcome.summary);
    assert_eq!(
        erases,
        2 * outcome.count("flash.multi_plane_commands.erase"),
        "{}",
        outcome.summary
    );
    // Apart, planes are seldom ready together to erase blocks of the same number.
    let apart = overwritten(&[BLOCK, "ftl.precondition=sequential"]);
    let (erases, together) =
        (apart.count("flash.erases"), apart.count("flash.multi_plane_commands.erase"));
    assert!(together * 4 < erases, "{together} of {erases}");
}

#[test]
fn superblocks_may_have_more_pages_than_16_bits_count() {
    // Twelve superblocks of 80,000 pages; the user has three, written in order, and writes 4,000
    // pages of them anew.
    let large = [
        "geometry.pages_per_block=40000",
        "geometry.blocks_per_plane=12",
        "ftl.over_provisioning=0.75",
        "ftl.precondition=sequential",
    ];
    let outcome = overwritten(&[&large[..], &[BLOCK, TWINS]].concat());
    assert_eq!(outcome.count("flash.host_programs"), 4_000);
    assert_eq!(outcome.count("flash.erases"), 0);
}

#[test]
fn a_die_of_one_plane_has_no_twins() {
    let one = ["geometry.planes_per_die=1", "ftl.precondition=steady"];
    assert_eq!(overwritten(&one).rows, overwritten(&[&one[..], &[TWINS]].concat()).rows);
}

proptest! {
    #![proptest_config(many(150))]

    /// Under the checker, which compares the planes of a die after each instant at which an FTL is
    /// looked at, its blocks are never out of step, and nothing is lost.
    #[test]
    fn twins_stay_in_step(
        mut case in case(),
        by_block in any::<bool>(),
        dispatch in prop::sample::select(vec!["none", "sprinkler", "slacker"]),
        roomy in any::<bool>(),
        mapped in any::<bool>(),
    ) {
        let dispatch = format!("scheduling.dispatch={dispatch}");
        let mut sets = vec![TWINS, "suspension.host_write_suspends=[]"];
        sets.push(if by_block { BLOCK } else { "parallelism.multi_plane=page" });
        sets.push(&dispatch);
        if mapped {
            // One open block more, and a page of the mapping or several.
            case.shape.reserve += 1;
            case.shape.blocks += 8;
            case.shape.extra_spare += 8;
            sets.extend(["ftl.mapping=demand", "ftl.map_cache_bytes=96"]);
        }
        if roomy {
            case.shape.extra_spare = case.shape.blocks;
            case.shape.blocks *= 2;
        } else {
            // Blocks of all planes are large for so small a drive, which may never be steady.
            sets.push("ftl.precondition=sequential");
        }
        let outcome = drive::run_drawn(&case.toml(), &sets);
        check_log(&case, &outcome);
        check_classes(&outcome);
        check_pages(&case, &outcome);
    }
}
