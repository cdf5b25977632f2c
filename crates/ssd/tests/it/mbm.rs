//! MBM: the figures of its paper as schedules, with the numbers of its Table I.
//!
//! A page of 8 KiB at 10 ns a byte is 81.92 us on the channel; reads take 78 us, programs 1300.
//! Command cycles are left out, as the paper's figures leave them out.

use super::drive::{self, Outcome, TraceRow};

/// One channel; chips of one die each, and planes as `sets` have them.
const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n[geometry]\nchannels = 1\n\
    planes_per_die = 2\nblocks_per_plane = 16\npages_per_block = 4\npage_bytes = 8192\n\
    [timing]\nt_bus_us = 81.92\nt_read_us = 78\nprogram_iterations = 1\n\
    t_program_pulse_us = 1300\nt_verify_us = 0\nt_erase_us = 15000\n\
    [ftl]\nover_provisioning = 0.5\ngc_stream = \"separate\"\n\
    [parallelism]\nmulti_plane = \"page\"\n[host]\nlink_bytes_per_s = \"none\"\n";

const BUS: u64 = 81_920;
const READ: u64 = 78_000;
const PROGRAM: u64 = 1_300_000;
const MBM: &str = "scheduling.dispatch=mbm";

fn chips(chips: u32) -> Vec<String> {
    vec![
        format!("geometry.dies_per_channel={chips}"),
        format!("geometry.chips_per_channel={chips}"),
    ]
}

/// What comes of requests `(ns, op, first page, pages)`.
fn replay(chip_count: u32, sets: &[&str], rows: &[(u64, char, u64, u64)]) -> Outcome {
    let rows: Vec<TraceRow> =
        rows.iter().map(|&(ns, op, page, pages)| (ns, op, 16 * page, 16 * pages)).collect();
    let chips = chips(chip_count);
    let sets: Vec<&str> = chips.iter().map(String::as_str).chain(sets.iter().copied()).collect();
    drive::replay(DRIVE, &sets, &rows)
}

/// When they are done, in order of arrival.
fn done(chip_count: u32, sets: &[&str], rows: &[(u64, char, u64, u64)]) -> Vec<u64> {
    replay(chip_count, sets, rows).rows.iter().map(|row| row.completion_ns).collect()
}

/// Pages that are written one by one, all at once.
fn writes(pages: u64) -> Vec<(u64, char, u64, u64)> {
    (0..pages).map(|page| (0, 'W', page, 1)).collect()
}

/// Two rounds of chips that take `degree` pages each, one after the other on the channel.
fn rounds(chips: u64, degree: u64) -> Vec<u64> {
    let page = |index: u64| {
        let (round, chip) = (index / (chips * degree), index / degree % chips);
        let transfer = degree * BUS;
        (chip + 1) * transfer + PROGRAM + round * (transfer + PROGRAM)
    };
    (0..2 * chips * degree).map(page).collect()
}

#[test]
fn writes_of_figure_3_keep_each_chip_busy() {
    // Cases 1 and 2: five chips and four, two pages at a time. Case 3: four chips, four pages.
    assert_eq!(done(5, &[MBM], &writes(20)), rounds(5, 2));
    assert_eq!(done(4, &[MBM], &writes(16)), rounds(4, 2));
    let four_planes = ["geometry.planes_per_die=4", MBM];
    assert_eq!(done(4, &four_planes, &writes(32)), rounds(4, 4));
}

/// How long the channel transfers, and how long all takes.
fn used_ns(chip_count: u32, sets: &[&str], rows: &[(u64, char, u64, u64)]) -> (f64, f64) {
    let outcome = replay(chip_count, sets, rows);
    let all_ns = outcome.number("device.simulated_ns");
    (outcome.number("device.channel_busy_share") * all_ns, all_ns)
}

fn is_about(got: f64, expected: f64) -> bool {
    (got - expected).abs() < 1e-6 * expected
}

#[test]
fn the_channel_of_figure_3_is_used_for_56_and_45_and_80_per_cent_of_a_round() {
    // A round more takes one chip's transfers and its program longer, in which every chip
    // transfers. Case 1: 5 x 163.84 us of 163.84 + 1300 us. Case 2: 4 x 163.84 of as much.
    // Case 3: 4 x 327.68 of 327.68 + 1300.
    let share = |chips: u64, degree: u64| {
        let planes = format!("geometry.planes_per_die={degree}");
        let of = |rounds| used_ns(chips as u32, &[&planes, MBM], &writes(rounds * chips * degree));
        let ((two, two_all), (three, three_all)) = (of(2), of(3));
        (three - two) / (three_all - two_all)
    };
    assert!(is_about(share(5, 2), 819.2 / 1463.84), "56.0 %");
    assert!(is_about(share(4, 2), 655.36 / 1463.84), "44.8 %");
    assert!(is_about(share(4, 4), 1310.72 / 1627.68), "80.5 %");
}

#[test]
fn the_channel_of_figures_4_6_and_7_is_used_as_their_schedules_say() {
    let share = |chips: u32, sets: &[&str], rows: &[(u64, char, u64, u64)]| {
        let (used, all) = used_ns(chips, sets, rows);
        used / all
    };
    // Figure 4. Case 4: ten pages behind the first sense, 91 %. Case 5: after five pages six times
    // a sense and a page, 62 %.
    let one_plane = ["geometry.planes_per_die=1", MBM];
    assert!(is_about(share(4, &one_plane, &reads([4, 1, 4, 1])), 819.2 / (78.0 + 819.2)));
    let all = 78.0 + 5.0 * 81.92 + 6.0 * (78.0 + 81.92);
    assert!(is_about(share(4, &one_plane, &reads([8, 1, 1, 1])), 11.0 * 81.92 / all));
    // Figure 6. Three senses for three pages, 51 %, or two, 61 %.
    let apart = [(0, 'R', 4, 1), (1000, 'R', 0, 1), (2000, 'R', 1, 1)];
    let together = [apart[0], (1000, 'R', 0, 2)];
    assert!(is_about(share(1, &[MBM], &apart), 3.0 * 81.92 / (3.0 * 159.92)));
    assert!(is_about(share(1, &[MBM], &together), 3.0 * 81.92 / (2.0 * 78.0 + 3.0 * 81.92)));
    // Figure 7. Seven pages in a row and a program, 31 %; three more later, until 11,545.76 us.
    assert!(is_about(share(4, &[MBM], &writes(7)), 573.44 / (573.44 + 1300.0)));
    let more: Vec<_> = (7..10).map(|page| (10_000_000, 'W', page, 1)).collect();
    let rows = [writes(7), more].concat();
    assert!(is_about(share(4, &[MBM], &rows), 819.2 / (10_000.0 + 245.76 + 1300.0)));
}

/// Reads of figure 4: so many of each of four chips, all at once, by turns.
fn reads(of_chip: [u64; 4]) -> Vec<(u64, char, u64, u64)> {
    let most = of_chip.into_iter().max().expect("four chips");
    let all = (0..most).flat_map(|turn| (0..4).map(move |chip| (turn, chip)));
    let wanted = all.filter(|(turn, chip)| *turn < of_chip[*chip as usize]);
    wanted.map(|(turn, chip)| (0, 'R', 4 * turn + chip, 1)).collect()
}

#[test]
fn reads_of_figure_4_fill_the_channel_unless_one_chip_has_most() {
    let one_plane = ["geometry.planes_per_die=1", MBM];
    // Case 4: four, one, four and one. The channel is never idle, once the first page is sensed.
    let all: Vec<u64> = (1..=10).map(|pages| READ + pages * BUS).collect();
    assert_eq!(done(4, &one_plane, &reads([4, 1, 4, 1])), all);
    // Case 5: after the others the chip that has eight senses and sends by turns.
    let mut expected: Vec<u64> = (1..=5).map(|pages| READ + pages * BUS).collect();
    for _ in 0..6 {
        let last = expected.last().expect("five are there");
        expected.push(last + READ + BUS);
    }
    assert_eq!(done(4, &one_plane, &reads([8, 1, 1, 1])), expected);
}

#[test]
fn reads_of_figure_6_go_together_if_they_are_of_one_request() {
    // Pages 0 and 1 lie on both planes at one offset; page 4 is in their way.
    let apart = [(0, 'R', 4, 1), (1000, 'R', 0, 1), (2000, 'R', 1, 1)];
    let first = READ + BUS;
    assert_eq!(done(1, &[MBM], &apart), [first, 2 * first, 3 * first]);
    let any = [MBM, "scheduling.mbm_joint_reads=any"];
    assert_eq!(done(1, &any, &apart), [first, 2 * first, 2 * first + BUS]);
    let one = [(0, 'R', 4, 1), (1000, 'R', 0, 2)];
    assert_eq!(done(1, &[MBM], &one), [first, 2 * first + BUS]);
}

#[test]
fn pages_of_one_command_are_there_one_by_one_or_together() {
    // As in figure 6 with reads of any requests: the second and the third leave behind one another,
    // and the second is there at once or with the third.
    let apart = [(0, 'R', 4, 1), (1000, 'R', 0, 1), (2000, 'R', 1, 1)];
    let first = READ + BUS;
    for (at, second) in [("page", 2 * first), ("command", 2 * first + BUS)] {
        let key = format!("parallelism.joint_read_done={at}");
        let sets = [MBM, "scheduling.mbm_joint_reads=any", &key];
        let outcome = replay(1, &sets, &apart);
        let done: Vec<u64> = outcome.rows.iter().map(|row| row.completion_ns).collect();
        assert_eq!(done, [first, second, 2 * first + BUS], "{at}");
        // The wait for the other page is one for the channel.
        let row = outcome.rows[1];
        assert_eq!(row.part_ns("bus_wait_ns"), second - 2 * first, "{at}");
        assert_eq!(row.parts_ns.iter().sum::<u64>(), row.latency_ns(), "{at}");
    }
    // A page that is read by itself has nobody to wait for.
    let alone = [MBM, "parallelism.joint_read_done=command"];
    assert_eq!(done(1, &alone, &apart), [first, 2 * first, 3 * first]);
}

#[test]
fn a_chip_begins_writes_when_all_of_it_is_idle_or_each_die_by_itself() {
    // One chip of two dies, a read at the first and two writes. The chip waits for the read. The
    // second die alone takes the first write at once, so that the page of the read leaves behind
    // it, and then the first die takes the other.
    let chip = ["geometry.dies_per_channel=2", "geometry.planes_per_die=1", MBM];
    let rows = [(0, 'R', 0, 1), (0, 'W', 10, 1), (0, 'W', 11, 1)];
    let with = |unit: &str| {
        let key = format!("scheduling.mbm_unit={unit}");
        done(1, &[&chip[..], &["geometry.chips_per_channel=1", &key]].concat(), &rows)
    };
    let read = READ + BUS;
    assert_eq!(with("chip"), [read, read + BUS + PROGRAM, read + 2 * BUS + PROGRAM]);
    assert_eq!(with("die"), [2 * BUS, BUS + PROGRAM, 3 * BUS + PROGRAM]);
}

#[test]
fn the_chip_of_figure_7_that_can_least_goes_first() {
    // Seven pages leave the last of four chips with a plane that lags behind.
    let later = 10_000_000;
    let mut rows = writes(7);
    rows.extend((7..10).map(|page| (later, 'W', page, 1)));
    let after = |sets: &[&str]| -> Vec<u64> {
        done(4, sets, &rows)[7..].iter().map(|ns| ns - later).collect()
    };
    // One page to chip 3, then two to chip 0: two chips are left with all their planes level.
    assert_eq!(after(&[MBM]), [BUS + PROGRAM, 3 * BUS + PROGRAM, 3 * BUS + PROGRAM]);
    let in_order = [MBM, "scheduling.mbm_chips=in-order"];
    assert_eq!(after(&in_order), [2 * BUS + PROGRAM, 2 * BUS + PROGRAM, 3 * BUS + PROGRAM]);
}

#[test]
fn a_channel_begins_no_more_than_its_share() {
    // Two channels of one chip, four planes. Three reads wait at the first; of three writes the
    // second channel gets all: 0 + 3 = 3. Without the limit the first chip that is idle does too,
    // but with four writes two channels without reads get two each.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=4", MBM];
    let four = done(1, &sets, &writes(4));
    assert_eq!(four, [2 * BUS + PROGRAM; 4]);
    let unlimited = [&sets[..], &["scheduling.mbm_channel_limit=none"]].concat();
    assert_eq!(done(1, &unlimited, &writes(4)), [4 * BUS + PROGRAM; 4]);
    // Rounded up as printed, one channel may take two of three: so does the exact share here.
    assert_eq!(done(1, &sets, &writes(3))[2], BUS + PROGRAM);
}

#[test]
fn writes_to_what_long_reads_touched_go_around_the_dies() {
    // Two channels of one chip, one plane. Pages 0 and 2 both belong to the first by their numbers.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", MBM];
    let short = [(0, 'R', 0, 4), (10_000_000, 'W', 0, 1), (10_000_000, 'W', 2, 1)];
    let done_of = |sets: &[&str], rows: &[(u64, char, u64, u64)]| -> Vec<u64> {
        done(1, sets, rows)[1..].iter().map(|ns| ns - 10_000_000).collect()
    };
    let one = BUS + PROGRAM;
    assert_eq!(done_of(&sets, &short), [one, one]);
    let long = [(0, 'R', 0, 5), short[1], short[2]];
    assert_eq!(done_of(&sets, &long), [one, 2 * one]);
    let off = [&sets[..], &["scheduling.mbm_read_areas=as-others"]].concat();
    assert_eq!(done_of(&off, &long), [one, one]);
    let even = [&sets[..], &["scheduling.mbm_read_areas=even"]].concat();
    assert_eq!(done_of(&even, &long), [one, one]);
    // An area ends where it ends: eight pages of 8 KiB in, page 16 was not touched.
    let small = [&sets[..], &["scheduling.mbm_read_area_bytes=65536"]].concat();
    let elsewhere = [long[0], (10_000_000, 'W', 16, 1), (10_000_000, 'W', 18, 1)];
    assert_eq!(done_of(&small, &elsewhere), [one, one]);
    assert_eq!(done_of(&sets, &elsewhere), [one, 2 * one]);
}

/// A full drive of one die whose two planes get two pages at a time.
fn overwritten(gc_stream: &str) -> Outcome {
    let load = "[workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0\n\
        request_bytes = 16384\nalign_bytes = 8192\nqueue_depth = 1\n";
    let gc_stream = format!("ftl.gc_stream={gc_stream}");
    let chips = chips(1);
    let mut sets = vec![gc_stream.as_str(), MBM, "ftl.precondition=sequential"];
    sets.extend(chips.iter().map(String::as_str));
    drive::run(drive::load_with(&format!("{DRIVE}{load}"), &sets))
}

#[test]
fn planes_stay_aligned_if_collection_has_blocks_of_its_own() {
    let share = |outcome: &Outcome| {
        assert!(outcome.count("flash.erases") > 300, "{}", outcome.summary);
        let commands = outcome.number("flash.multi_plane_commands.program");
        2.0 * commands / outcome.number("flash.host_programs")
    };
    assert_eq!(share(&overwritten("separate")), 1.0);
    assert!(share(&overwritten("shared")) < 0.9);
}

/// Writes of single pages that are far apart, so that every chip is idle at each.
fn apart(pages: u64) -> Vec<(u64, char, u64, u64)> {
    (0..pages).map(|page| (20_000_000 * page, 'W', page, 1)).collect()
}

#[test]
fn equals_take_turns_or_the_lowest_goes_first() {
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", MBM];
    let later = 100_000_000;
    let rows = [apart(2), vec![(later, 'R', 0, 1), (later, 'R', 1, 1)]].concat();
    let reads = |sets: &[&str]| -> Vec<u64> {
        done(1, sets, &rows)[2..].iter().map(|ns| ns - later).collect()
    };
    let one = READ + BUS;
    assert_eq!(reads(&sets), [one, one]);
    let in_order = [&sets[..], &["scheduling.mbm_ties=in-order"]].concat();
    assert_eq!(reads(&in_order), [one, 2 * one]);
}

#[test]
fn shares_are_computed_at_every_instant_or_when_writes_come() {
    // Two channels of one chip, one plane. The first has three reads; of four writes the second
    // gets all: 0 + 4 = 3 + 1 + 0, and what does not divide goes to who had less.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", MBM];
    let mut rows = vec![(0, 'R', 0, 1), (0, 'R', 2, 1), (0, 'R', 4, 1)];
    rows.extend((10..14).map(|page| (0, 'W', page, 1)));
    let at = |when: &str| {
        let key = format!("scheduling.mbm_share_when={when}");
        done(1, &[&sets[..], &[&key]].concat(), &rows)[3..].to_vec()
    };
    let one = BUS + PROGRAM;
    assert_eq!(at("arrival"), [one, 2 * one, 3 * one, 4 * one]);
    // When its reads are done the first has nothing to do, and the second one program: from then
    // on they take turns.
    let first = 3 * (READ + BUS);
    assert_eq!(at("instant"), [one, first + one, 2 * one, first + 2 * one]);
}

#[test]
fn writes_under_way_count_or_all_that_ever_were() {
    // Two writes far apart. What is done does not count: both go to the first channel, and are
    // read one after the other. If it does count the second channel gets the second.
    let later = 100_000_000;
    let rows = [apart(2), vec![(later, 'R', 0, 1), (later, 'R', 1, 1)]].concat();
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", "scheduling.mbm_ties=in-order"];
    let reads = |writes: &str| -> Vec<u64> {
        let key = format!("scheduling.mbm_share_writes={writes}");
        let done = done(1, &[&sets[..], &[MBM, &key]].concat(), &rows);
        done[2..].iter().map(|ns| ns - later).collect()
    };
    let one = READ + BUS;
    assert_eq!(reads("under-way"), [one, 2 * one]);
    assert_eq!(reads("all"), [one, one]);
}

#[test]
fn a_read_counts_for_as_many_writes_as_it_is_said_to() {
    // Two channels of two chips, four planes. One read waits at the first chip of the first
    // channel, whose other chip is idle; four writes come.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=4", MBM];
    let mut rows = vec![(0, 'R', 0, 1)];
    rows.extend((10..14).map(|page| (0, 'W', page, 1)));
    let with = |weight: u32| {
        let key = format!("scheduling.mbm_share_read_weight={weight}");
        done(2, &[&sets[..], &[&key]].concat(), &rows)[1..].to_vec()
    };
    let of = |pages: u64| pages * BUS + PROGRAM;
    // 0 + 2 and 0 + 2.
    assert_eq!(with(0), [of(2); 4]);
    // 1 + 1 and 0 + 3, which go first.
    assert_eq!(with(1), [of(3), of(3), of(3), of(1)]);
    // 5 + 0 and 0 + 4.
    assert_eq!(with(5), [of(4); 4]);
}

#[test]
fn a_die_that_collects_counts_for_a_page_if_it_is_to() {
    // Two channels of two dies, one plane of 16 blocks of four pages. Page 0 is written five times,
    // 20 ms apart, each time on die 0: the fifth opens its second block, so that 14 are free, where
    // fewer than 0.9 x 16 = 14.4, rounded up, are too few. What is in the first block is overtaken:
    // the die erases it, from 81.4 to 96.4 ms. At 85 ms page 3 is written.
    let sets = [
        "geometry.channels=2",
        "geometry.planes_per_die=1",
        "ftl.gc_background=true",
        "ftl.gc_start_free_share=0.9",
        "scheduling.mbm_ties=in-order",
        MBM,
    ];
    let later = 200_000_000;
    let mut rows: Vec<_> = (0..5).map(|turn| (20_000_000 * turn, 'W', 0, 1)).collect();
    // Page 1 was never written: it counts as lying on the first die of the second channel.
    rows.extend([(85_000_000, 'W', 3, 1), (later, 'R', 3, 1), (later, 'R', 1, 1)]);
    let reads = |counts: bool| -> Vec<u64> {
        let key = format!("scheduling.mbm_share_collection={counts}");
        let outcome = replay(2, &[&sets[..], &[&key]].concat(), &rows);
        assert_eq!(outcome.count("flash.erases"), 1, "{}", outcome.summary);
        outcome.rows[6..].iter().map(|row| row.completion_ns - later).collect()
    };
    let one = READ + BUS;
    // To die 1, whose channel comes first among equals, or to the second channel.
    assert_eq!(reads(false), [one, one]);
    assert_eq!(reads(true), [one, 2 * one]);
}

#[test]
fn the_first_chip_is_of_each_channel_or_of_the_drive() {
    // Two channels of two chips, two planes. Six pages fill the first chip of each channel and
    // leave the second with a plane that lags behind. Four more come.
    let later = 10_000_000;
    let mut rows = writes(6);
    rows.extend((6..10).map(|page| (later, 'W', page, 1)));
    let after = |first: &str| -> Vec<u64> {
        let key = format!("scheduling.mbm_first_chip={first}");
        let done = done(2, &["geometry.channels=2", MBM, &key], &rows);
        done[6..].iter().map(|ns| ns - later).collect()
    };
    let (one, two) = (BUS + PROGRAM, 2 * BUS + PROGRAM);
    // Each channel begins with its chip that lags, then has a page for the other.
    assert_eq!(after("channel"), [one, one, two, two]);
    // The first channel does, the second begins with two pages for its level chip.
    assert_eq!(after("instant"), [one, two, two, two]);
}

#[test]
fn the_first_chip_is_of_each_request_too() {
    // Three chips of two planes. Three pages leave the second chip with a plane that lags; one that
    // comes meanwhile, the third. Two requests of a page come next, and then six.
    let (then, last) = (10_000_000, 20_000_000);
    let mut rows = writes(3);
    rows.push((500_000, 'W', 3, 1));
    rows.extend((4..6).map(|page| (then, 'W', page, 1)));
    rows.extend((6..12).map(|page| (last, 'W', page, 1)));
    let after = |first: &str| -> Vec<u64> {
        let key = format!("scheduling.mbm_first_chip={first}");
        let done = done(3, &[MBM, &key], &rows);
        done[6..].iter().map(|ns| ns - last).collect()
    };
    let of = |pages: u64| pages * BUS + PROGRAM;
    // Both went to chips that lagged: all planes are level.
    assert_eq!(after("request"), [of(2), of(2), of(4), of(4), of(6), of(6)]);
    // The second went to the level chip, which now lags as the third does: one page, two, one, and
    // two when the first chip is done.
    let again = of(1) + of(2);
    assert_eq!(after("channel"), [of(1), of(3), of(3), of(4), again, again]);
}

#[test]
fn what_a_long_read_marked_ends_with_a_short_read_or_never() {
    // As above, with a read of one page between.
    let later = 10_000_000;
    let rows = [(0, 'R', 0, 5), (5_000_000, 'R', 1, 1), (later, 'W', 0, 1), (later, 'W', 2, 1)];
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", MBM];
    let writes = |end: &str| -> Vec<u64> {
        let key = format!("scheduling.mbm_read_area_end={end}");
        let done = done(1, &[&sets[..], &[&key]].concat(), &rows);
        done[2..].iter().map(|ns| ns - later).collect()
    };
    let one = BUS + PROGRAM;
    assert_eq!(writes("short-read"), [one, one]);
    assert_eq!(writes("never"), [one, 2 * one]);
}

#[test]
fn planes_that_lag_catch_up_or_the_most_go_first() {
    // Three of four planes have a page; four more pages come.
    let later = 100_000_000;
    let mut rows = writes(3);
    rows.extend((3..7).map(|page| (later, 'W', page, 1)));
    let after = |sets: &[&str]| -> Vec<u64> {
        done(1, sets, &rows)[3..].iter().map(|ns| ns - later).collect()
    };
    let sets = ["geometry.planes_per_die=4", MBM];
    let (one, three) = (BUS + PROGRAM, 3 * BUS + PROGRAM);
    assert_eq!(after(&sets), [one, one + three, one + three, one + three]);
    let largest = [&sets[..], &["scheduling.mbm_alignment=largest"]].concat();
    assert_eq!(after(&largest), [three, three, three, three + one]);
}

#[test]
fn pages_of_a_long_read_that_lie_on_one_channel_move_to_the_other() {
    // Five pages on the first of two channels; by their numbers 1 and 3 belong to the second.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", "scheduling.mbm_ties=in-order"];
    let (first, again) = (200_000_000, 300_000_000);
    let rows = [apart(5), vec![(first, 'R', 0, 5), (again, 'R', 0, 5)]].concat();
    let reads = |redistribution: &str| {
        let key = format!("scheduling.mbm_redistribution={redistribution}");
        let done = done(1, &[&sets[..], &[MBM, &key]].concat(), &rows);
        [done[5] - first, done[6] - again]
    };
    let one = READ + BUS;
    assert_eq!(reads("none"), [5 * one, 5 * one]);
    // Two beyond an even share of three.
    assert_eq!(reads("channels"), [5 * one, 3 * one]);
    // A die that needs five commands where three would do.
    assert_eq!(reads("transactions"), [5 * one, 3 * one]);
    assert_eq!(reads("either"), [5 * one, 3 * one]);
}

#[test]
fn pages_are_written_anew_where_the_mapping_is_in_flash() {
    // As above; all entries are in memory once the first write has read the page that holds them.
    let sets = [
        MBM,
        "geometry.channels=2",
        "geometry.planes_per_die=1",
        "scheduling.mbm_ties=in-order",
        "scheduling.mbm_redistribution=either",
        "ftl.mapping=demand",
        "ftl.over_provisioning=0.8",
    ];
    let (first, again) = (200_000_000, 300_000_000);
    let rows = [apart(5), vec![(first, 'R', 0, 5), (again, 'R', 0, 5)]].concat();
    let one = READ + BUS;
    let read = |sets: &[&str]| {
        let done = done(1, sets, &rows);
        [done[0], done[5] - first, done[6] - again]
    };
    assert_eq!(read(&sets), [one + BUS + PROGRAM, 5 * one, 3 * one]);
}

#[test]
fn pages_are_written_anew_within_their_budget() {
    // As above: five pages of the host, of which two would move.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", "scheduling.mbm_ties=in-order"];
    let (first, again) = (200_000_000, 300_000_000);
    let rows = [apart(5), vec![(first, 'R', 0, 5), (again, 'R', 0, 5)]].concat();
    let pages_in_turn = |writes: u32| {
        let key = format!("scheduling.mbm_writes_per_redistributed_page={writes}");
        let done = done(1, &[&sets[..], &[MBM, &key]].concat(), &rows);
        (done[6] - again) / (READ + BUS)
    };
    // 2 for the first, and 4 for both; 3 for the first, and both would take 6; 6 for the first.
    assert_eq!([2, 3, 6].map(pages_in_turn), [3, 4, 5]);
}

#[test]
fn pages_are_written_anew_where_writes_wait_or_only_where_none_does() {
    // As above; six pages of another request come just before the first read, and four wait.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", "scheduling.mbm_ties=in-order"];
    let (first, again) = (200_000_000, 300_000_000);
    let turns = |when: &str, busy: bool| {
        let mut rows = apart(5);
        rows.extend(busy.then_some((first - 1, 'W', 16, 6)));
        rows.extend([(first, 'R', 0, 5), (again, 'R', 0, 5)]);
        let key = format!("scheduling.mbm_redistribution_when={when}");
        let done = done(1, &[&sets[..], &[MBM, &key]].concat(), &rows);
        (done.last().expect("there are reads") - again) / (READ + BUS)
    };
    assert_eq!([turns("any-time", true), turns("any-time", false)], [3, 3]);
    assert_eq!([turns("spare", true), turns("spare", false)], [5, 3]);
}

#[test]
fn even_writes_of_a_marked_area_go_around_the_channels() {
    // Two channels, dies of two planes; four pages get two places on each channel.
    let rows = [(0, 'R', 0, 5), (10_000_000, 'W', 0, 4), (20_000_000, 'R', 0, 2)];
    let last = |areas: &str| {
        let key = format!("scheduling.mbm_read_areas={areas}");
        let sets = ["geometry.channels=2", MBM, &key];
        let done = done(1, &sets, &rows);
        // Which places there are is the same: two transfers on each channel, one program.
        assert_eq!(done[1] - 10_000_000, 2 * BUS + PROGRAM, "{areas}");
        done[2] - 20_000_000
    };
    assert_eq!(last("as-others"), READ + 2 * BUS);
    assert_eq!(last("even"), READ + BUS);
}

#[test]
fn a_channel_that_is_full_holds_nobody_up() {
    // All 64 logical pages of two planes, each of which has room for 48.
    let sets = ["geometry.channels=2", "geometry.planes_per_die=1", "scheduling.mbm_ties=in-order"];
    assert_eq!(done(1, &[&sets[..], &[MBM]].concat(), &apart(64)).len(), 64);
}
