//! What a controller knows of a program whose wordlines differ: never how long this one takes.
//!
//! The usual part, whose wordlines take three iterations of 380, a third of them, or seven. Data in
//! to 2100, the array to 3240 or to 4760.

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::{
    Command, Die, Estimate, IterationSpread, MultiPlane, Parallelism, Part, ProgramSuspension,
    Restore, Retention, Shape, Slices, Suspension, SuspensionCost, Timing, Wordline,
};

use crate::device::{RESUME_NS, SHAPE, of_mode, page, part, suspending};

const SPREAD: &[(u16, u16)] = &[(7, 2), (3, 1)];

fn timing(spread: &[(u16, u16)]) -> Timing {
    Timing { spread: Some(IterationSpread::new(spread)), ..part() }
}

fn die(timing: Timing, suspension: Suspension) -> Die {
    let shape = Shape { planes: 2, blocks_per_plane: 16, pages_per_block: 64 };
    let parallelism = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    let timing = of_mode(timing, &suspension);
    Die::new(Arc::new(Part { shape, timing, suspension, parallelism }), 1, 0)
}

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// The first page of a block whose wordline takes so many iterations.
fn first_of(die: &Die, iterations: u32) -> PageAddress {
    let pages = (0..16).map(|block| page(0, block, 0));
    pages.into_iter().find(|at| die.iterations_of(*at) == iterations).expect("one of sixteen")
}

/// A die that begins to program such a page at 0.
fn programming(timing: Timing, suspension: Suspension, iterations: u32) -> Die {
    let mut die = die(timing, suspension);
    let at = first_of(&die, iterations);
    die.start(Time::ZERO, Command::Program(at)).expect("the die is free");
    die
}

/// What is expected of it at some instants, and at most.
fn check(die: &Die, rows: &[(u64, u64, u64)]) {
    for (now_ns, expected_ns, longest_ns) in rows {
        let [expected, longest] = [*expected_ns, *longest_ns].map(Dur::from_ns);
        let found = die.active_operation(None).unwrap().estimate(at(*now_ns));
        assert_eq!(found, Some(Estimate { expected, longest }), "at {now_ns}");
    }
}

#[test]
fn what_has_been_seen_rules_counts_out() {
    let ips = suspending(ProgramSuspension::Ips);
    // A third of 2240, 840 and 1, two thirds of 3760, 2360 and 1521.
    let common = [(1_000, 3_253, 3_760), (2_400, 1_853, 2_360), (3_239, 1_014, 1_521)];
    check(&programming(timing(SPREAD), ips, 3), &common);
    let long = programming(timing(SPREAD), ips, 7);
    check(&long, &common);
    // On the border the third iteration may still be the last, a nanosecond later it was not.
    check(&long, &[(3_240, 1_013, 1_520), (3_241, 1_519, 1_519), (4_000, 760, 760)]);
}

#[test]
fn iterations_of_earlier_runs_count() {
    let mut die = programming(timing(SPREAD), suspending(ProgramSuspension::Iteration), 7);
    // Two iterations to 2860; restored to 10030, then one or five.
    die.suspend(at(2_500)).expect("it runs");
    die.elapse(at(2_873));
    die.resume(at(RESUME_NS)).expect("it is suspended");
    check(&die, &[(10_000, 1_423, 1_930), (10_030, 1_393, 1_900), (10_411, 1_519, 1_519)]);
}

#[test]
fn the_longest_of_two_wordlines_is_more_likely_long() {
    let mut die = die(timing(SPREAD), suspending(ProgramSuspension::Ips));
    let together = [page(0, 0, 0), page(1, 0, 0)];
    die.start_together(Time::ZERO, Command::Program(together[0]), &together[1..])
        .expect("the die is free");
    // Data in to 4200; a ninth of 1140 and eight ninths of 2660.
    check(&die, &[(4_200, 2_491, 2_660)]);
}

#[test]
fn slices_begin_with_their_overhead() {
    // To 2100 + 50 + 1140, or 2100 + 50 + 1520 + 50 + 1140.
    let slices = Some(Slices { iterations: 4, overhead: Dur::from_ns(50) });
    let sliced = Timing { slices, ..timing(SPREAD) };
    let die = programming(sliced, suspending(ProgramSuspension::Sliced), 7);
    check(&die, &[(2_150, 2_187, 2_710), (3_290, 1_047, 1_570), (3_291, 1_569, 1_569)]);
    check(&die, &[(3_700, 1_160, 1_160), (4_860, 0, 0)]);
}

#[test]
fn iterations_that_a_suspension_costs_are_known() {
    let retention =
        Retention { iterations: 2, first_share_ppm: 200_000, second_share_ppm: 500_000 };
    let lossy = Suspension { retention, ..suspending(ProgramSuspension::Iteration) };
    let mut die = programming(timing(&[(10, 1), (12, 1)]), lossy, 10);
    die.suspend(at(2_200)).expect("it runs");
    die.elapse(at(2_493));
    // Restored to 10030; then nine or eleven, and two more.
    die.resume(at(RESUME_NS)).expect("it is suspended");
    check(&die, &[(10_000, (4_210 + 4_970) / 2, 4_970)]);
    // The eleventh iteration may be the last but one that is due.
    check(&die, &[(13_451, (759 + 1_519) / 2, 1_519)]);
    // Six of them done, so that the two are due: three or five are left, and the two.
    die.suspend(at(12_300)).expect("it runs");
    die.elapse(at(12_323));
    die.resume(at(20_000)).expect("it is suspended");
    check(&die, &[(20_000, 30 + 6 * 380, 30 + 7 * 380)]);
    check(&die, &[(21_171, (759 + 1_519) / 2, 1_519)]);
}

#[test]
fn costs_are_those_of_a_program_that_goes_on() {
    // In its last verify; to a controller it may be the third iteration of seven.
    let die = programming(timing(SPREAD), suspending(ProgramSuspension::Iteration), 3);
    assert_eq!(die.active_operation(None).unwrap().suspension_cost(at(3_200)), None);
    let free_at = at(3_253);
    // The overhead of 13 and the restore of 30.
    let worst = SuspensionCost { free_at, resume_cost: Dur::from_ns(43) };
    assert_eq!(die.active_operation(None).unwrap().worst_suspension_cost(at(3_200)), Some(worst));
    assert_eq!(die.active_operation(None).unwrap().safe_point(at(3_200)), Some(free_at));
}

#[test]
fn what_is_the_same_on_all_wordlines_is_known() {
    let ips = suspending(ProgramSuspension::Ips);
    let mut same = die(part(), ips);
    same.start(Time::ZERO, Command::Program(page(0, 0, 0))).expect("the die is free");
    assert_eq!(same.active_operation(None).unwrap().estimate(at(2_200)), None);
    let mut erasing = die(timing(SPREAD), ips);
    erasing.start(Time::ZERO, Command::Erase(page(0, 0, 0))).expect("the die is free");
    assert_eq!(erasing.active_operation(None).unwrap().estimate(at(2_200)), None);
}

#[test]
fn the_longest_entry_has_a_page_that_is_sent_again_whole() {
    let over_channel = Suspension { shadow_buffer: false, ..suspending(ProgramSuspension::Ips) };
    let interruptible = Suspension { restore: Restore::Interruptible, ..over_channel };
    let longest = |timing, suspension, others: &[PageAddress]| {
        let parallelism = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
        let part = Part { shape: SHAPE, timing, suspension, parallelism };
        let mut die = Die::new(Arc::new(part), 1, 0);
        let begun = die.start_together(at(0), Command::Program(page(0, 0, 0)), others);
        begun.expect("it is idle");
        die.operations().longest_entry(die.part(), false, None).ns()
    };
    let (one, two) = (&[][..], &[page(1, 0, 0)][..]);
    // A page of 2000 and a pulse of 300; of two planes both pages.
    for suspension in [over_channel, interruptible] {
        assert_eq!([one, two].map(|others| longest(part(), suspension, others)), [2_300, 4_300]);
    }
    // Two pages of a wordline, 50 apart.
    let wordline = Some(Wordline { pages: 2, load_gap: Dur::from_ns(50) });
    assert_eq!(longest(Timing { wordline, ..part() }, over_channel, one), 4_350);
    // Out of a shadow buffer in 30, which can be broken off.
    let shadow = Suspension { shadow_buffer: true, ..over_channel };
    assert_eq!(longest(part(), shadow, two), 330);
    let shadow = Suspension { restore: Restore::Interruptible, ..shadow };
    assert_eq!(longest(part(), shadow, two), 300);
}
