//! Erases in loops: where they stop, how they go on, how long the erase of a block takes.
//!
//! The loops take 1000, 2500, and 3500 each from then on, with a verify of 90 in each. An erase of
//! 5000 has three, the last of 1500: command to 100, pulse to 1010 and verify to 1100, pulse to
//! 3510 and verify to 3600, pulse to 5010 and verify to 5100. Reset and set-up take 40 each.

use std::sync::Arc;

use proptest::prelude::*;
use reprieve_base::{Dur, Time};
use reprieve_nand::{
    Activity, Command, Die, Elapsed, EraseLengths, EraseLoops, EraseMode, EraseResume, MultiPlane,
    Parallelism, Part, ProgramSuspension, Run, Shape, Suspend, Suspension, Timing,
};

use crate::device::{
    Answer, Ask, Device, ERASE, RESUME_NS, SHAPE, Stops, one_die, page, parallel_die, part,
    suspending,
};

fn loops(lengths_ns: &[u64]) -> Timing {
    let lengths: Vec<Dur> = lengths_ns.iter().map(|ns| Dur::from_ns(*ns)).collect();
    Timing { erase_loops: EraseLoops::new(&lengths), ..part() }
}

fn looped() -> Timing {
    loops(&[1_000, 2_500, 3_500])
}

/// A table of lengths in nanoseconds.
fn table(rows: &[(u32, &[(u64, u16)])]) -> Arc<EraseLengths> {
    let row = |(cycles, lengths): &(u32, &[(u64, u16)])| {
        let lengths = lengths.iter().map(|(ns, weight)| (Dur::from_ns(*ns), *weight));
        (*cycles, lengths.collect())
    };
    Arc::new(EraseLengths::new(&rows.iter().map(row).collect::<Vec<_>>()))
}

/// A die of which every erase takes so long.
fn die_of(timing: Timing, suspension: Suspension, whole_ns: u64) -> Die {
    let mut die = one_die(SHAPE, timing, suspension, 1, 0);
    die.erase_in_loops(&table(&[(0, &[(whole_ns, 1)])]), 1, 0);
    die
}

fn with(erase_mode: EraseMode, erase_resume: EraseResume) -> Suspension {
    Suspension { erase_mode, erase_resume, ..suspending(ProgramSuspension::None) }
}

/// As the check of other operations is, with an erase of three loops.
#[track_caller]
fn check(timing: Timing, suspension: Suspension, stops: &Stops) {
    for &(request_ns, stop) in stops {
        let mut device = Device::of_die(die_of(timing, suspension, 5_000));
        assert_eq!(device.issue(0, ERASE), Answer::EndsAt(5_100));
        let end_ns = match stop {
            Some((free_ns, end_ns)) => {
                let got_ns = device.suspend_and_resume(request_ns, free_ns, RESUME_NS);
                assert_eq!(got_ns, end_ns, "end after a request at {request_ns}");
                end_ns
            }
            None => {
                assert_eq!(device.issue(request_ns, Ask::Suspend), Answer::RunsToEnd);
                5_100
            }
        };
        assert_eq!(device.assert_free_exactly_at(end_ns), Elapsed::Erased);
    }
}

#[test]
fn exact_goes_on_with_what_was_left_of_the_pulse_and_the_loops_after_it() {
    let rows = [
        // Before the first pulse: set-up and all of it.
        (100, Some((100, 15_040))),
        // In the first pulse: 10000 + 40 + (910 - elapsed) + 90 + 2500 + 1500.
        (101, Some((141, 15_039))),
        (969, Some((1_009, 14_171))),
        // In the pulse's reset or at its end: its verify, then two loops.
        (970, Some((1_010, 14_090))),
        (1_010, Some((1_010, 14_090))),
        // In the middle verify: again, whole, without set-up.
        (1_011, Some((1_051, 14_090))),
        (1_059, Some((1_099, 14_090))),
        // In its reset or at the loop's end: two loops, without set-up.
        (1_060, Some((1_100, 14_000))),
        (1_100, Some((1_100, 14_000))),
        (1_101, Some((1_141, 14_039))),
        (3_469, Some((3_509, 11_671))),
        (3_470, Some((3_510, 11_590))),
        (3_511, Some((3_551, 11_590))),
        (3_600, Some((3_600, 11_500))),
        // In the last loop.
        (3_601, Some((3_641, 11_539))),
        (4_970, Some((5_010, 10_090))),
        (5_011, Some((5_051, 10_090))),
        (5_060, None),
        (5_100, None),
    ];
    check(looped(), with(EraseMode::Immediate, EraseResume::Exact), &rows);
}

#[test]
fn a_reset_outside_the_phases_breaks_off_to_their_ends() {
    let suspension = with(EraseMode::Immediate, EraseResume::Exact);
    let suspension = Suspension { reset_inside_phase: false, ..suspension };
    let rows = [
        // 40 are left of the pulse, then 1: 10000 + 40 + left + 90 + 4000.
        (970, Some((1_010, 14_170))),
        (1_009, Some((1_049, 14_131))),
        (1_010, Some((1_010, 14_090))),
        (1_099, Some((1_139, 14_090))),
        (1_100, Some((1_100, 14_000))),
        (5_099, Some((5_139, 10_090))),
        (5_100, None),
    ];
    check(looped(), suspension, &rows);
}

#[test]
fn redo_phase_does_the_pulse_of_the_loop_again_and_no_other() {
    let rows = [
        (100, Some((100, 15_000))),
        (101, Some((141, 15_000))),
        (969, Some((1_009, 15_000))),
        (970, Some((1_010, 14_090))),
        (1_011, Some((1_051, 14_090))),
        (1_060, Some((1_100, 14_000))),
        (2_000, Some((2_040, 14_000))),
        (3_511, Some((3_551, 11_590))),
        // The last pulse of 1410 and its verify.
        (4_000, Some((4_040, 11_500))),
        (5_060, None),
    ];
    check(looped(), with(EraseMode::Immediate, EraseResume::RedoPhase), &rows);
}

#[test]
fn restart_begins_with_the_first_loop() {
    let immediate = [
        (101, Some((141, 15_000))),
        (1_011, Some((1_051, 15_000))),
        (1_100, Some((1_100, 15_000))),
        (4_000, Some((4_040, 15_000))),
        (5_060, None),
    ];
    check(looped(), with(EraseMode::Immediate, EraseResume::Restart), &immediate);
    let deferred = [(101, Some((1_100, 15_000))), (3_600, Some((3_600, 15_000))), (3_601, None)];
    check(looped(), with(EraseMode::Deferred, EraseResume::Restart), &deferred);
}

#[test]
fn deferred_makes_way_at_the_ends_of_loops_and_not_in_the_last() {
    let rows = [
        (100, Some((100, 15_040))),
        (101, Some((1_100, 14_000))),
        (1_010, Some((1_100, 14_000))),
        (1_011, Some((1_100, 14_000))),
        (1_100, Some((1_100, 14_000))),
        (1_101, Some((3_600, 11_500))),
        (3_600, Some((3_600, 11_500))),
        (3_601, None),
        (5_011, None),
    ];
    check(looped(), with(EraseMode::Deferred, EraseResume::Exact), &rows);
    let redo = [(101, Some((1_100, 14_000))), (1_011, Some((1_100, 14_000))), (3_601, None)];
    check(looped(), with(EraseMode::Deferred, EraseResume::RedoPhase), &redo);
    // Seven from a loop's end to a free array.
    let dear = Timing { erase_suspend_overhead: Dur::from_ns(7), ..looped() };
    let rows = [(101, Some((1_107, 14_000))), (3_600, Some((3_607, 11_500))), (3_601, None)];
    check(dear, with(EraseMode::Deferred, EraseResume::Exact), &rows);
}

#[test]
fn a_timeout_counts_from_the_command_on_through_the_loops() {
    let timeout = EraseMode::Timeout(Dur::from_ns(1_000));
    let rows = [
        (1_011, Some((1_051, 14_090))),
        (1_099, Some((1_100, 14_000))),
        (1_100, Some((1_100, 14_000))),
        (1_101, Some((3_600, 11_500))),
        (3_601, None),
    ];
    check(looped(), with(timeout, EraseResume::Exact), &rows);
}

#[test]
fn a_second_suspension_finds_the_loop_that_the_first_left() {
    for (request_ns, free_ns, end_ns) in [
        // Resumed at 10000: set-up to 10040, pulse to 11550, verify to 11640, pulse to 13050.
        (10_020, 10_040, 23_140),
        (11_000, 11_040, 20_000 + 40 + 550 + 90 + 1_500),
        (11_551, 11_591, 21_590),
        (11_600, 11_640, 21_500),
        (12_000, 12_040, 20_000 + 40 + 1_050 + 90),
    ] {
        let suspension = with(EraseMode::Immediate, EraseResume::Exact);
        let mut device = Device::of_die(die_of(looped(), suspension, 5_000));
        device.issue(0, ERASE);
        assert_eq!(device.suspend_and_resume(2_000, 2_040, 10_000), 13_140);
        assert_eq!(device.suspend_and_resume(request_ns, free_ns, 20_000), end_ns);
        assert_eq!(device.assert_free_exactly_at(end_ns), Elapsed::Erased);
    }
}

#[test]
fn what_is_no_longer_than_a_verify_belongs_to_the_loop_before() {
    let deferred = with(EraseMode::Deferred, EraseResume::Exact);
    for (whole_ns, safe_points_ns) in [
        (1_000, &[][..]),
        (1_090, &[]),
        (1_091, &[1_100]),
        (3_590, &[1_100]),
        (3_591, &[1_100, 3_600]),
        (10_590, &[1_100, 3_600, 7_100]),
        (10_591, &[1_100, 3_600, 7_100, 10_600]),
    ] {
        let mut found_ns = Vec::new();
        for request_ns in 101..=whole_ns + 100 {
            let mut device = Device::of_die(die_of(looped(), deferred, whole_ns));
            assert_eq!(device.issue(0, ERASE), Answer::EndsAt(whole_ns + 100));
            if let Answer::FreeAt(free_ns) = device.issue(request_ns, Ask::Suspend) {
                found_ns.push(free_ns);
            }
        }
        found_ns.dedup();
        assert_eq!(found_ns, safe_points_ns, "{whole_ns}");
    }
}

/// The lengths of the erases of all blocks, in nanoseconds.
fn lengths_ns(die: &Die, shape: Shape) -> Vec<u64> {
    let blocks = |plane| (0..shape.blocks_per_plane).map(move |block| page(plane, block, 0));
    (0..shape.planes).flat_map(blocks).map(|at| die.erase_of(Some(at)).ns()).collect()
}

fn set_all(die: &mut Die, shape: Shape, cycles: f64) {
    for plane in 0..shape.planes {
        (0..shape.blocks_per_plane).for_each(|block| die.set_cycles(plane, block, cycles));
    }
}

#[test]
fn a_block_keeps_its_rank_and_its_length_follows_its_cycles() {
    let rows: &[(u32, &[(u64, u16)])] =
        &[(10, &[(7_000, 1), (3_500, 2)]), (20, &[(7_000, 3), (10_500, 3)])];
    let mut die = one_die(SHAPE, looped(), Suspension::default(), 1, 0);
    die.erase_in_loops(&table(rows), 1, 0);
    // Of six blocks four and two, then three and three; the fourth has 3500, then 10500.
    let cases = [
        (0.0, [3_500, 3_500, 3_500, 3_500, 7_000, 7_000]),
        (10.0, [3_500, 3_500, 3_500, 3_500, 7_000, 7_000]),
        (12.5, [4_375, 4_375, 4_375, 5_250, 7_875, 7_875]),
        (15.0, [5_250, 5_250, 5_250, 7_000, 8_750, 8_750]),
        (20.0, [7_000, 7_000, 7_000, 10_500, 10_500, 10_500]),
        (90.0, [7_000, 7_000, 7_000, 10_500, 10_500, 10_500]),
    ];
    let mut order: Option<Vec<usize>> = None;
    for (cycles, expected) in cases {
        set_all(&mut die, SHAPE, cycles);
        let found = lengths_ns(&die, SHAPE);
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{cycles}");
        if cycles == 12.5 {
            let mut by_length: Vec<usize> = (0..6).collect();
            by_length.sort_by_key(|block| found[*block]);
            order = Some(by_length);
        }
        let in_order = order.iter().flatten().map(|block| found[*block]);
        assert!(in_order.is_sorted(), "{cycles}: blocks change places");
    }
    // A third of the way rounds to the nearest: 3500 + 3500 / 3 is 4666.67.
    set_all(&mut die, SHAPE, 10.0 + 10.0 / 3.0);
    assert_eq!(lengths_ns(&die, SHAPE).into_iter().min(), Some(4_667));
}

#[test]
fn cycles_of_one_block_change_no_other() {
    let rows: &[(u32, &[(u64, u16)])] = &[(0, &[(2_000, 1)]), (100, &[(3_000, 1)])];
    let mut die = one_die(SHAPE, looped(), Suspension::default(), 1, 0);
    die.erase_in_loops(&table(rows), 1, 0);
    die.set_cycles(1, 2, 50.0);
    assert_eq!(lengths_ns(&die, SHAPE), [2_000, 2_000, 2_000, 2_000, 2_000, 2_500]);
    let end = die.start(Time::ZERO, Command::Erase(page(1, 2, 3))).expect("a legal erase");
    assert_eq!(end.ns(), 100 + 2_500);
}

/// Shares of erase lengths in steps of 0.5 ms from 5 ms on: AERO, ASPLOS 2024, at 2,500 cycles.
const AERO: [u16; 14] = [4, 9, 23, 14, 13, 10, 7, 5, 4, 5, 3, 1, 1, 1];

#[test]
fn the_blocks_of_a_die_meet_the_mean_of_the_table_exactly() {
    let lengths = AERO.iter().enumerate().map(|(step, share)| (5_000 + 500 * step as u64, *share));
    let lengths: Vec<_> = lengths.collect();
    let table = table(&[(2_500, &lengths)]);
    let mut orders = Vec::new();
    for (blocks_per_plane, seed, index) in [(50, 1, 0), (50, 1, 1), (50, 2, 0), (150, 1, 0)] {
        let shape = Shape { blocks_per_plane, ..SHAPE };
        let mut die = one_die(shape, looped(), Suspension::default(), seed, index);
        die.erase_in_loops(&table, seed, index);
        let found = lengths_ns(&die, shape);
        // The mean is 7.095 ms.
        assert_eq!(found.iter().sum::<u64>(), found.len() as u64 * 7_095);
        let of = |ns: u64| found.iter().filter(|found| **found == ns).count() * 100 / found.len();
        assert_eq!([of(5_000), of(6_000), of(11_500)], [4, 23, 1]);
        orders.push(found);
    }
    // Dies, and seeds, have their blocks in different orders.
    assert!(orders[0] != orders[1] && orders[0] != orders[2] && orders[1] != orders[2]);
}

#[test]
fn an_erase_of_two_blocks_takes_as_long_as_the_longer() {
    let multi_plane = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    let mut die = parallel_die(looped(), Suspension::default(), multi_plane);
    let lengths = [(1_500, 1), (2_000, 1), (2_500, 1), (3_000, 1), (4_000, 1), (5_000, 1)];
    die.erase_in_loops(&table(&[(0, &lengths)]), 1, 0);
    for (one, other) in [(0, 0), (0, 1), (1, 2), (2, 0)] {
        let [first, second] = [page(0, one, 0), page(1, other, 0)];
        let longest_ns = die.erase_of(Some(first)).max(die.erase_of(Some(second))).ns();
        let mut die = die.clone();
        let end = die.start_together(Time::ZERO, Command::Erase(first), &[second]);
        // Two commands of 100.
        assert_eq!(end.expect("a legal erase").ns(), 200 + longest_ns);
    }
}

/// Splits a run into its pulses and its verifies: phase by phase, and in closed form.
#[track_caller]
fn spent(run: &Run, end_ns: u64, timing: &Timing) -> [u64; 2] {
    let (mut walked, mut from_ns) = ([0; 2], 0);
    let mut segment = Some(run.first());
    while let Some(now) = segment {
        if let Some(activity) = now.activity {
            walked[usize::from(activity == Activity::EraseVerify)] += now.end.ns() - from_ns;
        }
        from_ns = now.end.ns();
        segment = run.after(&now, timing);
    }
    assert_eq!(from_ns, end_ns, "the last phase does not end with the run");
    assert_eq!(run.spent(Time::from_ns(end_ns), timing).map(Dur::ns), walked);
    walked
}

#[test]
fn pulses_and_verifies_have_times_of_their_own() {
    let timing = looped();
    for (suspension, asked_ns, free_ns, expected) in [
        // Undisturbed: three pulses of 910, 2410, 1410.
        (with(EraseMode::Immediate, EraseResume::Exact), None, 5_100, [4_730, 270]),
        // Cancelled in the second pulse, reset until 2040.
        (with(EraseMode::Immediate, EraseResume::Exact), Some(2_000), 2_040, [1_850, 90]),
        (with(EraseMode::Immediate, EraseResume::Exact), Some(1_011), 1_051, [910, 41]),
        (with(EraseMode::Immediate, EraseResume::Exact), Some(1_060), 1_100, [910, 90]),
        // To the end of the loop: its verify too.
        (with(EraseMode::Deferred, EraseResume::Exact), Some(50), 100, [0, 0]),
        (with(EraseMode::Deferred, EraseResume::Exact), Some(101), 1_100, [910, 90]),
        (with(EraseMode::Deferred, EraseResume::Exact), Some(1_100), 1_100, [910, 90]),
        (with(EraseMode::Deferred, EraseResume::Exact), Some(2_000), 3_600, [3_320, 180]),
    ] {
        let mut device = Device::of_die(die_of(timing, suspension, 5_000));
        device.issue(0, ERASE);
        let begun = device.die.run(Time::ZERO).expect("it runs");
        assert_eq!(begun.undisturbed(&timing).map(Dur::ns), [4_730, 270]);
        let whole = Part { shape: SHAPE, timing, suspension, parallelism: Parallelism::NONE };
        let run = match asked_ns {
            None => begun,
            Some(ns) => {
                assert_eq!(device.issue(ns, Ask::Suspend), Answer::FreeAt(free_ns));
                begun.stopped(Time::from_ns(ns), Time::from_ns(free_ns), &whole)
            }
        };
        assert_eq!(spent(&run, free_ns, &timing), expected, "{asked_ns:?}");
    }
}

/// Phases that are left of an erase: whether each is a pulse, and its length.
type Phases = Vec<(bool, u64)>;

/// The phases of an erase of so much in loops of these lengths, with a verify of 90 in each.
fn phases_by_hand(lengths_ns: &[u64], mut left_ns: u64) -> Phases {
    let mut phases = Phases::new();
    let mut next_ns = lengths_ns.iter().chain(std::iter::repeat(lengths_ns.last().expect("one")));
    while left_ns > 0 {
        let next_ns = *next_ns.next().expect("the last repeats");
        let own_ns = if left_ns <= next_ns + 90 { left_ns } else { next_ns };
        phases.extend([(true, own_ns - 90), (false, 90)]);
        left_ns -= own_ns;
    }
    phases
}

/// Stops an erase in its phases `since_ns` after they began: by hand, for `exact` and a reset that
/// is no part of a phase. Says what is left, and whether a pulse was broken off; `None`: its end.
fn stop_by_hand(phases: &Phases, mut since_ns: u64) -> Option<(Phases, Option<bool>)> {
    let mut rest = phases.clone();
    loop {
        let (is_pulse, ns) = rest[0];
        if since_ns > ns {
            since_ns -= ns;
            rest.remove(0);
        } else if since_ns == ns {
            rest.remove(0);
            return (!rest.is_empty()).then_some((rest, None));
        } else {
            rest[0].1 -= if is_pulse { since_ns } else { 0 };
            return Some((rest, Some(is_pulse)));
        }
    }
}

proptest! {
    /// Pulses broken off and resumed exactly are together as long as undisturbed ones.
    #[test]
    fn no_pulse_is_lost_or_done_twice(
        lengths in prop::collection::vec(91_u64..4_000, 1..6),
        whole_ns in 91_u64..20_000,
        reset_ns in prop::sample::select(vec![0_u64, 40]),
        requests in prop::collection::vec(0_u64..8_000, 0..12),
    ) {
        let timing = Timing { voltage_reset: Dur::from_ns(reset_ns), ..loops(&lengths) };
        let suspension = Suspension {
            reset_inside_phase: false,
            ..with(EraseMode::Immediate, EraseResume::Exact)
        };
        let whole = Part { shape: SHAPE, timing, suspension, parallelism: Parallelism::NONE };
        let mut die = die_of(timing, suspension, whole_ns);
        let mut phases = phases_by_hand(&lengths, whole_ns);
        let verifies_ns = 90 * phases.len() as u64 / 2;
        let pulses_ns = whole_ns - verifies_ns;
        let (mut from_ns, mut begin_ns) = (0, 100);
        let mut needs_set_up = true;
        let mut end_ns = die.start(Time::ZERO, ERASE_COMMAND).expect("a legal erase").ns();
        let (mut in_pulses_ns, mut in_verifies_ns, mut extra_ns, mut again_ns) = (0, 0, 0, 0);
        for after_ns in requests {
            let asked_ns = begin_ns + after_ns;
            if asked_ns >= end_ns {
                break;
            }
            prop_assert_eq!(end_ns, begin_ns + phases.iter().map(|(_, ns)| ns).sum::<u64>());
            let begun = die.run(Time::from_ns(from_ns)).expect("it runs");
            let (by_hand, cut) = match after_ns {
                0 => (phases.clone(), None),
                _ => stop_by_hand(&phases, after_ns).expect("it ends later"),
            };
            let free_ns = asked_ns + if cut.is_some() { reset_ns } else { 0 };
            let stop = die.suspend(Time::from_ns(asked_ns)).expect("it may be suspended");
            prop_assert_eq!(stop, Suspend::FreeAt(Time::from_ns(free_ns)));
            let run = begun.stopped(Time::from_ns(asked_ns), Time::from_ns(free_ns), &whole);
            let [pulse, verify] = run.spent(Time::from_ns(free_ns), &timing).map(Dur::ns);
            (in_pulses_ns, in_verifies_ns) = (in_pulses_ns + pulse, in_verifies_ns + verify);
            match cut {
                Some(true) => extra_ns += reset_ns,
                Some(false) => {
                    let done_ns: u64 = phases.iter().map(|(_, ns)| ns).sum::<u64>()
                        - by_hand.iter().map(|(_, ns)| ns).sum::<u64>();
                    again_ns += after_ns - done_ns + reset_ns;
                }
                None => {}
            }
            needs_set_up = if after_ns == 0 { needs_set_up } else { cut == Some(true) };
            phases = by_hand;
            prop_assert_eq!(die.elapse(Time::from_ns(free_ns)), Elapsed::Suspended);
            from_ns = free_ns + 1_000;
            let set_up_ns = if needs_set_up { reset_ns } else { 0 };
            extra_ns += set_up_ns;
            begin_ns = from_ns + set_up_ns;
            end_ns = die.resume(Time::from_ns(from_ns)).expect("it is suspended").ns();
        }
        let last = die.run(Time::from_ns(from_ns)).expect("it runs");
        let [pulse, verify] = last.spent(Time::from_ns(end_ns), &timing).map(Dur::ns);
        prop_assert_eq!(in_pulses_ns + pulse, pulses_ns + extra_ns);
        prop_assert_eq!(in_verifies_ns + verify, verifies_ns + again_ns);
        prop_assert_eq!(die.elapse(Time::from_ns(end_ns)), Elapsed::Erased);
    }
}

const ERASE_COMMAND: Command = Command::Erase(page(0, 1, 0));
