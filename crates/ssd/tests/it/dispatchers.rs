//! The dispatchers that a scenario can name: each on a few requests worked out by hand, and all on
//! random drives.
//!
//! SLC of FAST 2012 without a host link: 10 us to read, 20 over the channel, 140 to program.

use proptest::prelude::*;
use reprieve_ssd::scenario;

use super::cases::{case, many, mbm};
use super::conservation::{check_classes, check_log, check_pages};
use super::drive::{self, TraceRow};

/// One die of two planes, or as `sets` have it.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n[geometry]\nchannels = 1\n\
    dies_per_channel = 1\nplanes_per_die = 2\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n";

const PAGE: &str = "parallelism.multi_plane=page";
const TWO_DIES: [&str; 3] =
    ["geometry.dies_per_channel=2", "geometry.planes_per_die=1", "geometry.chips_per_channel=2"];

/// When requests `(us, op, first page, pages)` are done, in us.
fn done_us(sets: &[&str], rows: &[(u64, char, u64, u64)]) -> Vec<u64> {
    let rows: Vec<TraceRow> =
        rows.iter().map(|&(us, op, page, pages)| (us * 1000, op, 4 * page, 4 * pages)).collect();
    let outcome = drive::replay(SLC, sets, &rows);
    outcome.rows.iter().map(|row| row.completion_ns / 1000).collect()
}

/// The same under a dispatcher.
fn under(dispatch: &str, sets: &[&str], rows: &[(u64, char, u64, u64)]) -> Vec<u64> {
    let dispatch = format!("scheduling.dispatch={dispatch}");
    done_us(&[sets, &[dispatch.as_str()]].concat(), rows)
}

/// Ways to see the whole drive, as overrides.
const ALL_OVER: [&[&str]; 8] = [
    &["scheduling.dispatch=fcfs"],
    &["scheduling.dispatch=vas"],
    &["scheduling.dispatch=sprinkler"],
    &["scheduling.dispatch=paq"],
    &["scheduling.dispatch=slacker"],
    &["scheduling.dispatch=mbm"],
    &["ftl.twin_blocks=true"],
    &["ftl.gc_parallel_planes=true"],
];

/// On small drives that are full.
#[test]
fn every_device_serves_all_under_each_of_them_with_and_without_suspension() {
    const REQUESTS: usize = 600;
    for device in scenario::devices() {
        for policy in ["rps", "pes-ips", "pes-ipc"] {
            for way in ALL_OVER {
                let text = format!(
                    "device = \"{}\"\npolicy = \"{policy}\"\n[parallelism]\n\
                     multi_plane = \"page\"\n[geometry]\nblocks_per_plane = 32\n\
                     pages_per_block = 16\n[timing]\nwordline_pages = 1\n\
                     [ftl]\nover_provisioning = 0.4\ngc_parallel_planes = false\n\
                     precondition = \"sequential\"\n[workload]\ngenerator = \"mixed\"\n\
                     requests = {REQUESTS}\nread_fraction = 0.4\nqueue_depth = 24\n\
                     footprint_share = 0.01\n[zones]\nmodel = \"none\"\n\
                     [slc_cache]\nmode = \"none\"\n",
                    device.name
                );
                // Dispatchers place whole pages.
                let unit = format!("ftl.mapping_bytes={}", drive::load(&text).geometry.page_bytes);
                let outcome = drive::run(drive::load_with(&text, &[way, &[&*unit]].concat()));
                assert_eq!(outcome.rows.len(), REQUESTS, "{} {policy} {way:?}", device.name);
            }
        }
    }
}

#[test]
fn sprinkler_begins_with_what_most_planes_do_together() {
    // Even pages lie on plane 0, odd ones on plane 1; pages 6 and 7 at the same offset.
    let rows = [(0, 'R', 0, 1), (1, 'R', 2, 1), (2, 'R', 6, 1), (3, 'R', 7, 1)];
    assert_eq!(done_us(&[PAGE], &rows), [30, 60, 90, 110]);
    assert_eq!(under("sprinkler", &[PAGE], &rows), [30, 110, 60, 80]);
    // Where nothing goes together, the oldest goes first.
    assert_eq!(under("sprinkler", &[], &rows), [30, 60, 90, 120]);
}

#[test]
fn sprinkler_then_prefers_what_is_of_one_request() {
    let rows = [(0, 'R', 0, 1), (1, 'R', 2, 1), (2, 'R', 3, 1), (3, 'R', 6, 2)];
    assert_eq!(done_us(&[PAGE], &rows), [30, 60, 80, 130]);
    assert_eq!(under("sprinkler", &[PAGE], &rows), [30, 110, 130, 80]);
}

#[test]
fn sprinkler_visits_chips_in_order_and_deeper_dies_of_a_chip_first() {
    // All dies decide at the start, in order; these come later, that of the second die first.
    let trim = (0, 'D', 9, 1);
    let rows = [trim, (5, 'W', 1, 1), (5, 'W', 0, 1)];
    assert_eq!(done_us(&TWO_DIES, &rows)[1..], [165, 185]);
    assert_eq!(under("sprinkler", &TWO_DIES, &rows)[1..], [185, 165]);
    // Two dies of one chip, of two planes each: pages 1 and 3 both go to the second.
    let chip = ["geometry.dies_per_channel=2", "geometry.chips_per_channel=1", PAGE];
    let rows = [trim, (5, 'W', 0, 1), (5, 'W', 1, 1), (5, 'W', 3, 1)];
    assert_eq!(done_us(&chip, &rows)[1..], [165, 205, 205]);
    assert_eq!(under("sprinkler", &chip, &rows)[1..], [205, 185, 185]);
}

#[test]
fn paq_lets_go_what_shares_no_chip() {
    let one_chip = [&TWO_DIES[..], &["geometry.chips_per_channel=1"]].concat();
    let rows = [(0, 'R', 0, 1), (0, 'R', 1, 1)];
    assert_eq!(done_us(&one_chip, &rows), [30, 50]);
    assert_eq!(under("paq", &one_chip, &rows), [30, 60]);
    // Dies that do not count as one, and chips that are none.
    let by_die = [&one_chip[..], &["scheduling.paq_conflict=die"]].concat();
    assert_eq!(under("paq", &by_die, &rows), [30, 50]);
    assert_eq!(under("paq", &TWO_DIES, &rows), [30, 50]);
}

#[test]
fn paq_packs_what_one_command_takes() {
    assert_eq!(under("paq", &[PAGE], &[(0, 'R', 0, 1), (0, 'R', 1, 1)]), [30, 50]);
    // Other offsets do not go together, and what comes later finds the chip taken.
    assert_eq!(under("paq", &[PAGE], &[(0, 'R', 0, 1), (0, 'R', 3, 1)]), [30, 60]);
    assert_eq!(under("paq", &[PAGE], &[(0, 'W', 0, 1), (0, 'W', 1, 1)]), [180, 180]);
    assert_eq!(under("paq", &[], &[(0, 'W', 0, 1), (0, 'W', 1, 1)]), [160, 320]);
}

#[test]
fn pages_of_a_wordline_are_let_go_and_placed_together() {
    // Even pages lie on plane 0. Two transfers and one program; the third page waits 1 ms from its
    // arrival for more, and is padded.
    let wordlines = [PAGE, "timing.wordline_pages=2"];
    let rows = [(0, 'W', 0, 1), (0, 'W', 2, 1), (0, 'W', 4, 1)];
    assert_eq!(under("paq", &wordlines, &rows), [180, 180, 1180]);
    // On either plane two.
    let rows = [(0, 'W', 0, 1), (0, 'W', 2, 1), (0, 'W', 1, 1), (0, 'W', 3, 1)];
    assert_eq!(under("paq", &wordlines, &rows), [220; 4]);
    assert_eq!(under("mbm", &wordlines, &rows), [220; 4]);
}

#[test]
fn paq_sees_no_farther_than_its_window() {
    let rows = [(0, 'R', 0, 1), (0, 'R', 2, 1), (0, 'R', 1, 1)];
    let window = |pages: u32| {
        let pages = format!("scheduling.paq_window_pages={pages}");
        under("paq", &[&TWO_DIES[..], &[pages.as_str()]].concat(), &rows)
    };
    assert_eq!(window(1), [30, 60, 80]);
    assert_eq!(window(2), [30, 70, 50]);
}

#[test]
fn paq_still_suspends_for_a_read() {
    // A read at 50 finds a program whose pulse began at 48 and is broken off, 4 us for the reset.
    let rows = [(0, 'W', 0, 1), (50, 'R', 1, 1)];
    let suspends = ["policy=pes-ipc"];
    assert_eq!(under("paq", &[], &rows)[1], 190);
    assert_eq!(under("paq", &suspends, &rows), done_us(&suspends, &rows));
    assert_eq!(under("paq", &suspends, &rows)[1], 84);
}

#[test]
fn in_order_nobody_passes_who_waits_for_a_chip() {
    // Even pages lie on the first chip. The channel is free at 30, and both that wait sense to 40.
    let rows = [(0, 'R', 0, 1), (0, 'R', 2, 1), (0, 'R', 1, 1)];
    assert_eq!(under("paq", &TWO_DIES, &rows), [30, 70, 50]);
    for policy in ["fcfs", "vas"] {
        assert_eq!(under(policy, &TWO_DIES, &rows), [30, 60, 80], "{policy}");
    }
    // The first chip is free at 160; 20 over the channel for each, 140 to program.
    let rows = [(0, 'W', 0, 1), (0, 'W', 2, 1), (0, 'W', 1, 1)];
    assert_eq!(done_us(&TWO_DIES, &rows), [160, 320, 180]);
    for policy in ["fcfs", "vas"] {
        assert_eq!(under(policy, &TWO_DIES, &rows), [160, 320, 340], "{policy}");
    }
    // Dies of one chip are one.
    let one_chip = [&TWO_DIES[..], &["geometry.chips_per_channel=1"]].concat();
    assert_eq!(under("fcfs", &one_chip, &[(0, 'R', 0, 1), (0, 'R', 1, 1)]), [30, 60]);
}

#[test]
fn vas_orders_requests_and_fcfs_their_pages_too() {
    // Page 2 waits for the first chip until 30. Page 3, of its request, goes at once; sensed at
    // 10, it has the channel from 30 to 50, and page 2, sensed at 40, until 70.
    let rows = [(0, 'R', 0, 1), (0, 'R', 2, 2)];
    assert_eq!(under("vas", &TWO_DIES, &rows), [30, 70]);
    assert_eq!(under("fcfs", &TWO_DIES, &rows), [30, 80]);
}

#[test]
fn in_order_pages_of_one_command_go_together_and_reads_still_suspend() {
    for policy in ["fcfs", "vas"] {
        assert_eq!(under(policy, &[PAGE], &[(0, 'W', 0, 1), (0, 'W', 1, 1)]), [180, 180]);
        let rows = [(0, 'W', 0, 1), (50, 'R', 1, 1)];
        assert_eq!(under(policy, &["policy=pes-ipc"], &rows)[1], 84, "{policy}");
    }
}

#[test]
fn slacker_lets_pass_who_can_wait() {
    // Two channels. Pages 2 and 4 of the second die-0 reader end at 90, so its page 3 may too.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1"];
    let rows = [(0, 'R', 0, 1), (0, 'R', 1, 1), (1, 'R', 2, 3), (2, 'R', 5, 1)];
    assert_eq!(done_us(&sets, &rows), [30, 30, 90, 90]);
    assert_eq!(under("slacker", &sets, &rows), [30, 30, 90, 60]);
    // Without slack nobody passes.
    let rows = [(0, 'R', 0, 1), (0, 'R', 1, 1), (1, 'R', 2, 2), (2, 'R', 5, 1)];
    assert_eq!(under("slacker", &sets, &rows), [30, 30, 60, 90]);
}

/// Ways to work in parallel, one of them none.
const WAYS: [&[&str]; 4] = [
    &["parallelism.multi_plane=none"],
    &[PAGE],
    &["parallelism.multi_plane=block"],
    &["parallelism.independent_plane_reads=true", PAGE],
];

proptest! {
    #![proptest_config(many(300))]

    /// Under each dispatcher, beside all that a scenario can say, nothing is lost.
    #[test]
    fn under_a_dispatcher_all_is_conserved(
        case in case(),
        name in 0..64usize,
        way in 0..WAYS.len(),
        window in 1..40u32,
        mbm in mbm(),
        parallel_planes in any::<bool>(),
    ) {
        let entries = reprieve_ssd::registries().dispatchers;
        let name = entries[name % entries.len()].name;
        let dispatch = format!("scheduling.dispatch={name}");
        let window = format!("scheduling.paq_window_pages={window}");
        let mut sets = vec!["suspension.host_write_suspends=[]", &dispatch];
        sets.extend(WAYS[way]);
        if name == "paq" {
            sets.push(&window);
        } else if name == "mbm" {
            sets.push("ftl.stream=single");
            sets.extend(mbm.iter().map(String::as_str));
        }
        if parallel_planes && way > 0 {
            sets.push("ftl.gc_parallel_planes=true");
        }
        let outcome = drive::run_drawn(&case.toml(), &sets);
        check_log(&case, &outcome);
        check_classes(&outcome);
        check_pages(&case, &outcome);
    }

    /// The same where programs take whole wordlines.
    #[test]
    fn under_a_dispatcher_wordlines_are_conserved(
        mut case in case(),
        name in 0..64usize,
        planes in any::<bool>(),
        mbm in mbm(),
    ) {
        case.shape.pages = 4 * case.shape.pages.div_ceil(4);
        case.shape.extra_spare = case.shape.blocks.max(16);
        case.shape.blocks = 2 * case.shape.extra_spare;
        let entries = reprieve_ssd::registries().dispatchers;
        let name = entries[name % entries.len()].name;
        let dispatch = format!("scheduling.dispatch={name}");
        let mut sets = vec![
            "suspension.host_write_suspends=[]",
            "ftl.stream=single",
            "timing.wordline_pages=2",
            "ftl.wordline_timeout_us=300",
            if planes { PAGE } else { "parallelism.multi_plane=none" },
            &dispatch,
        ];
        if name == "mbm" {
            sets.extend(mbm.iter().map(String::as_str));
        }
        let outcome = drive::run_drawn(&case.toml(), &sets);
        check_log(&case, &outcome);
        check_classes(&outcome);
        check_pages(&case, &outcome);
    }
}
