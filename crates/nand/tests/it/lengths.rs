//! Programs of different lengths: by wordline, by early retention loss, and cut into slices.
//!
//! The usual part with ten iterations of 380, left alone: data in to 2100, the array to 5900.

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::{
    Command, Die, IterationSpread, MultiPlane, Parallelism, Part, ProgramSuspension, Retention,
    Shape, Slices, Suspension, Timing, Wordline,
};

use crate::device::{
    Answer, Ask, Device, PROGRAM, RESUME_NS, check_stops, of_mode, page, part, suspending,
};

const ITERATION: ProgramSuspension = ProgramSuspension::Iteration;
const LOSS: Retention =
    Retention { iterations: 2, first_share_ppm: 200_000, second_share_ppm: 500_000 };

fn ten() -> Timing {
    Timing { program_iterations: 10, ..part() }
}

fn losing(program: ProgramSuspension) -> Suspension {
    Suspension { retention: LOSS, ..suspending(program) }
}

/// The program of `losing(ITERATION)`, suspended once after its first iteration.
fn early() -> (Device, u64) {
    let mut device = Device::new(ten(), losing(ITERATION));
    device.issue(0, PROGRAM);
    let end_ns = device.suspend_and_resume(2_200, 2_493, RESUME_NS);
    (device, end_ns)
}

#[test]
fn an_early_suspension_and_a_long_run_cost_iterations_at_the_end() {
    // A fifth of the array time are two iterations, half of it are five.
    let rows = [
        // Nothing done: 10030 + 3800, and 2 x 380.
        (2_000, Some((2_100, 14_590))),
        // One done: 10030 + 3420, and 760.
        (2_101, Some((2_493, 14_210))),
        (2_480, Some((2_493, 14_210))),
        // Two done are no longer less than the share.
        (2_481, Some((2_873, 13_070))),
    ];
    check_stops(ten(), losing(ITERATION), PROGRAM, &rows);
    // Pulse and verify parted: after the pulse of 300, 10030 + 3500 + 760.
    check_stops(ten(), losing(ProgramSuspension::Ips), PROGRAM, &[(2_200, Some((2_400, 14_290)))]);
    // Cancelled: a verify of 80 and all ten iterations, 10030 + 3880 + 760.
    check_stops(ten(), losing(ProgramSuspension::Ipc), PROGRAM, &[(2_200, Some((2_240, 14_670)))]);
    // Switched off: 10030 + 3420.
    let off = Retention { iterations: 0, ..LOSS };
    let off = Suspension { retention: off, ..suspending(ITERATION) };
    check_stops(ten(), off, PROGRAM, &[(2_101, Some((2_493, 13_450)))]);
}

#[test]
fn a_run_that_is_suspended_too_soon_owes_nothing() {
    // Four more iterations, to 11550: five are left, which is half of all, and would be long.
    let (mut device, end_ns) = early();
    assert_eq!(end_ns, 14_210);
    assert_eq!(device.suspend_and_resume(11_550, 11_563, 20_000), 20_030 + 5 * 380 + 2 * 380);
    // One more: four are left, which is less than half.
    assert_eq!(device.suspend_and_resume(20_031, 20_423, 30_000), 30_030 + 4 * 380);
    device.assert_free_exactly_at(31_550);
}

#[test]
fn a_run_that_was_long_owes_its_iterations_whatever_follows() {
    // Five iterations, to 11930, are half of all: of twelve now, six are left.
    let (mut device, _) = early();
    assert_eq!(device.suspend_and_resume(11_551, 11_943, 20_000), 20_030 + 6 * 380);
    // They are owed once, though what follows is long again: five left, then.
    assert_eq!(device.suspend_and_resume(20_031, 20_423, 30_000), 30_030 + 5 * 380);
    device.assert_free_exactly_at(31_930);
}

#[test]
fn the_iterations_owed_can_be_suspended_like_any_other() {
    // Without them the run ends at 13450; with them at 13830 and 14210.
    let (mut device, _) = early();
    assert_eq!(device.suspend_and_resume(13_450, 13_463, 20_000), 20_030 + 2 * 380);
    let (mut device, _) = early();
    assert_eq!(device.suspend_and_resume(13_451, 13_843, 20_000), 20_030 + 380);
    let (device, _) = early();
    assert_eq!(device.probe(13_831, Ask::Suspend), Ok(Answer::RunsToEnd));
}

#[test]
fn a_late_first_suspension_makes_no_later_one_early() {
    let mut device = Device::new(ten(), losing(ITERATION));
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(2_481, 2_873, 10_000), 13_070);
    assert_eq!(device.suspend_and_resume(10_031, 10_423, 20_000), 20_030 + 7 * 380);
}

/// Slices of four iterations and an overhead of 50: to 3670, 5240 and, with two iterations, 6050.
fn sliced() -> Timing {
    Timing { slices: Some(Slices { iterations: 4, overhead: Dur::from_ns(50) }), ..ten() }
}

#[test]
fn a_sliced_program_stops_between_its_slices_only() {
    let rows = [
        // 10030 + 3950; 10030 + 1570 + 810; 10030 + 810.
        (2_000, Some((2_100, 13_980))),
        (2_101, Some((3_670, 12_410))),
        (3_670, Some((3_670, 12_410))),
        (3_671, Some((5_240, 10_840))),
        (5_241, None),
    ];
    let parting = suspending(ProgramSuspension::Sliced);
    check_stops(sliced(), parting, PROGRAM, &rows);
    // Without a shadow buffer: 12000 + 1570 + 810.
    let bare = Suspension { shadow_buffer: false, ..parting };
    check_stops(sliced(), bare, PROGRAM, &[(2_101, Some((3_670, 14_380)))]);
    let device = Device::new(sliced(), parting);
    assert_eq!(device.die.undisturbed_program(page(0, 0, 0)).ns(), 6_050);
    // The second suspension: 20030 + 810.
    let mut device = Device::new(sliced(), parting);
    device.issue(0, PROGRAM);
    device.suspend_and_resume(3_000, 3_670, 10_000);
    assert_eq!(device.suspend_and_resume(11_600, 11_600, 20_000), 20_840);
}

#[test]
fn iterations_owed_get_slices_of_their_own() {
    // After the first slice 39.7 % are done, and what is left is 60.3 %: eight iterations then.
    let retention = Retention { first_share_ppm: 400_000, ..LOSS };
    let lossy = Suspension { retention, ..suspending(ProgramSuspension::Sliced) };
    check_stops(sliced(), lossy, PROGRAM, &[(2_101, Some((3_670, 10_030 + 2 * 1_570)))]);
}

fn die_of(spread: &[(u16, u16)], seed: u64, index: u64) -> Die {
    let shape = Shape { planes: 2, blocks_per_plane: 16, pages_per_block: 256 };
    let timing = Timing {
        spread: Some(IterationSpread::new(spread)),
        wordline: Some(Wordline { pages: 2, load_gap: Dur::ZERO }),
        ..part()
    };
    let parallelism = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    Die::new(
        Arc::new(Part {
            shape,
            timing: of_mode(timing, &suspending(ITERATION)),
            suspension: suspending(ITERATION),
            parallelism,
        }),
        seed,
        index,
    )
}

/// Every first page of a wordline.
fn wordlines() -> impl Iterator<Item = PageAddress> {
    let of_block = |plane, block| (0..128).map(move |number| page(plane, block, 2 * number));
    (0..2).flat_map(move |plane| (0..16).flat_map(move |block| of_block(plane, block)))
}

#[test]
fn wordlines_have_the_counts_of_the_spread_in_their_shares() {
    let die = die_of(&[(3, 1), (7, 2)], 1, 0);
    let mut counts = [0u32; 8];
    for at in wordlines() {
        counts[die.iterations_of(at) as usize] += 1;
        assert_eq!(
            die.iterations_of(at),
            die.iterations_of(PageAddress { page: at.page + 1, ..at })
        );
    }
    // A third of 4096, within five standard deviations of 30.2.
    assert_eq!(counts[3] + counts[7], 4_096);
    assert!((1_214..=1_516).contains(&counts[3]), "{}", counts[3]);
}

#[test]
fn a_wordline_takes_as_long_whenever_it_is_programmed() {
    let mut die = die_of(&[(3, 1), (7, 1)], 1, 0);
    let mut now = Time::ZERO;
    for _ in 0..3 {
        for number in 0..128 {
            let at = page(1, 5, 2 * number);
            // Command 100 and two pages of 2000, then the iterations.
            let length = Dur::from_ns(4_100 + 380 * u64::from(die.iterations_of(at)));
            assert_eq!(die.undisturbed_program(at), length);
            assert_eq!(die.start(now, Command::Program(at)), Ok(now + length));
            now = now + length;
            die.elapse(now);
        }
        now = die.start(now, Command::Erase(page(1, 5, 0))).expect("the die is free");
        die.elapse(now);
    }
}

#[test]
fn seed_and_die_decide_which_wordline_is_long() {
    let lengths = |seed, index| {
        let die = die_of(&[(3, 1), (7, 1)], seed, index);
        wordlines().map(move |at| die.iterations_of(at)).collect::<Vec<_>>()
    };
    assert_eq!(lengths(1, 0), lengths(1, 0));
    assert!(lengths(1, 0) != lengths(2, 0) && lengths(1, 0) != lengths(1, 1));
    let own = lengths(1, 0);
    assert!(own[..128] != own[128..256] && own[..2_048] != own[2_048..]);
}

#[test]
fn programs_of_several_planes_last_as_long_as_the_longest() {
    let die = die_of(&[(3, 1), (7, 1)], 1, 0);
    let mut met = [false; 3];
    for block in 0..16 {
        let (first, second) = (page(0, block, 0), page(1, block, 0));
        let both = [die.iterations_of(first), die.iterations_of(second)];
        met[both.iter().filter(|count| **count == 7).count()] = true;
        let longest = if both == [3, 3] { 3 } else { 7 };
        let end = die.clone().start_together(Time::ZERO, Command::Program(first), &[second]);
        assert_eq!(end, Ok(Time::from_ns(8_200 + 380 * longest)));
    }
    assert_eq!(met, [true; 3], "blocks with none, one and two long wordlines");
}

#[test]
#[should_panic(expected = "a spread of 0 counts")]
fn a_spread_has_a_count() {
    IterationSpread::new(&[]);
}
