//! Erases in segments: broken off, deferred to the next safe point, or the one and then the other.
//!
//! The part erases in five segments of 1000: they end at 1100, 2100, 3100, 4100 and 5100, and the
//! verify at 5190; reset and set-up take 40 each.

use reprieve_base::Dur;
use reprieve_nand::{Elapsed, EraseMode, EraseResume, ProgramSuspension, Suspension, Timing};

use crate::device::{Answer, Ask, Device, ERASE, check_stops, part, suspending};

fn segmented() -> Timing {
    Timing { erase_segments: 5, ..part() }
}

fn with(erase_mode: EraseMode, erase_resume: EraseResume) -> Suspension {
    Suspension { erase_mode, erase_resume, ..suspending(ProgramSuspension::None) }
}

fn until(limit_ns: u64) -> EraseMode {
    EraseMode::Timeout(Dur::from_ns(limit_ns))
}

#[test]
fn segments_change_nothing_for_an_erase_that_nobody_suspends() {
    let mut device = Device::new(segmented(), with(EraseMode::Deferred, EraseResume::Exact));
    assert_eq!(device.issue(0, ERASE), Answer::EndsAt(5_190));
}

#[test]
fn exact_goes_on_within_the_segment_and_without_set_up_between_two() {
    let rows = [
        // 10000 + 40 + (5000 - elapsed) + 90.
        (101, Some((141, 15_129))),
        (1_059, Some((1_099, 14_171))),
        // In the reset of the first segment, or at its end: four more, and the verify.
        (1_060, Some((1_100, 14_090))),
        (1_100, Some((1_100, 14_090))),
        (1_101, Some((1_141, 14_129))),
        (4_059, Some((4_099, 11_171))),
        (4_060, Some((4_100, 11_090))),
        (5_060, Some((5_100, 10_090))),
        (5_101, Some((5_141, 10_090))),
        (5_150, None),
    ];
    check_stops(segmented(), with(EraseMode::Immediate, EraseResume::Exact), ERASE, &rows);
}

#[test]
fn redo_phase_does_the_whole_segment_again_and_no_other() {
    let rows = [
        (100, Some((100, 15_090))),
        (101, Some((141, 15_090))),
        (1_059, Some((1_099, 15_090))),
        (1_060, Some((1_100, 14_090))),
        (1_101, Some((1_141, 14_090))),
        (2_059, Some((2_099, 14_090))),
        (2_500, Some((2_540, 13_090))),
        (5_059, Some((5_099, 11_090))),
        (5_060, Some((5_100, 10_090))),
        (5_101, Some((5_141, 10_090))),
    ];
    check_stops(segmented(), with(EraseMode::Immediate, EraseResume::RedoPhase), ERASE, &rows);
}

#[test]
fn restart_does_all_segments_again() {
    let immediate = [
        (101, Some((141, 15_090))),
        (1_060, Some((1_100, 15_090))),
        (2_500, Some((2_540, 15_090))),
        (5_060, Some((5_100, 15_090))),
        (5_101, Some((5_141, 15_090))),
        (5_150, None),
    ];
    check_stops(segmented(), with(EraseMode::Immediate, EraseResume::Restart), ERASE, &immediate);
    let deferred = [
        (101, Some((1_100, 15_090))),
        (2_500, Some((3_100, 15_090))),
        (4_101, Some((5_100, 15_090))),
        (5_101, None),
    ];
    check_stops(segmented(), with(EraseMode::Deferred, EraseResume::Restart), ERASE, &deferred);
}

#[test]
fn deferred_waits_for_the_next_safe_point_and_loses_nothing() {
    for (resume, before_ns) in [(EraseResume::Exact, 15_130), (EraseResume::RedoPhase, 15_090)] {
        let rows = [
            // Before the pulse: it still has to set its voltages, where it does.
            (60, Some((100, before_ns))),
            (100, Some((100, before_ns))),
            (101, Some((1_100, 14_090))),
            (1_059, Some((1_100, 14_090))),
            (1_100, Some((1_100, 14_090))),
            (1_101, Some((2_100, 13_090))),
            (4_101, Some((5_100, 10_090))),
            (5_099, Some((5_100, 10_090))),
            (5_100, Some((5_100, 10_090))),
            // The verify is the last phase.
            (5_101, None),
            (5_149, None),
            (5_190, None),
        ];
        check_stops(segmented(), with(EraseMode::Deferred, resume), ERASE, &rows);
    }
}

#[test]
fn a_pulse_of_one_segment_has_its_safe_point_at_its_end() {
    let rows = [(101, Some((5_100, 10_090))), (5_101, None)];
    check_stops(part(), with(EraseMode::Deferred, EraseResume::Exact), ERASE, &rows);
}

#[test]
fn a_timeout_turns_immediate_into_deferred() {
    // 2500 after the command are over at 2600.
    let exact = [
        (101, Some((141, 15_129))),
        (2_599, Some((2_639, 12_631))),
        (2_600, Some((3_100, 12_090))),
        (3_101, Some((4_100, 11_090))),
        (5_101, None),
    ];
    check_stops(segmented(), with(until(2_500), EraseResume::Exact), ERASE, &exact);
    let redo = [(2_599, Some((2_639, 13_090))), (2_600, Some((3_100, 12_090)))];
    check_stops(segmented(), with(until(2_500), EraseResume::RedoPhase), ERASE, &redo);
    let never = [(101, Some((1_100, 14_090)))];
    check_stops(segmented(), with(until(0), EraseResume::Exact), ERASE, &never);
}

#[test]
fn the_time_in_suspension_counts_towards_the_timeout() {
    let mut device = Device::new(segmented(), with(until(2_500), EraseResume::Exact));
    device.issue(0, ERASE);
    // 1400 done, 3600 left: 3000 + 40 + 3600 + 90.
    assert_eq!(device.suspend_and_resume(1_500, 1_540, 3_000), 6_730);
    // The rest of the second segment, 600, goes on at 3040 and ends at 3640: three are left.
    assert_eq!(device.suspend_and_resume(3_041, 3_640, 4_000), 7_090);
    // At the instant of the resume the next has not begun.
    assert_eq!(device.suspend_and_resume(4_000, 4_000, 5_000), 8_090);
    assert_eq!(device.suspend_and_resume(5_001, 6_000, 6_000), 8_090);
    assert_eq!(device.assert_free_exactly_at(8_090), Elapsed::Erased);
}

#[test]
fn nested_immediate_suspensions_of_segments() {
    let mut device = Device::new(segmented(), with(EraseMode::Immediate, EraseResume::RedoPhase));
    device.issue(0, ERASE);
    // The second segment broken off: four to do, from 3000 on.
    assert_eq!(device.suspend_and_resume(2_000, 2_040, 3_000), 7_090);
    // Again: it would end at 4000.
    assert_eq!(device.suspend_and_resume(3_959, 3_999, 5_000), 9_090);
    // It ends at 6000; the third, to 7000, is broken off: three to do.
    assert_eq!(device.suspend_and_resume(6_001, 6_041, 7_000), 10_090);
    assert_eq!(device.issue(10_060, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.assert_free_exactly_at(10_090), Elapsed::Erased);
}

#[test]
#[should_panic(expected = "segments of a fraction of 1 ns")]
fn segments_that_do_not_divide_the_pulse_are_no_part() {
    Device::new(Timing { erase_segments: 3, ..part() }, suspending(ProgramSuspension::None));
}
