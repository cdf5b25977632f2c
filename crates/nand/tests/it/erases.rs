//! Suspended erases: where they stop, and the three ways in which they go on.
//!
//! The times are those of `part`: command to 100, pulse to 5100, verify to 5190; reset and set-up
//! take 40 each.

use reprieve_base::Dur;
use reprieve_nand::{Elapsed, EraseResume, ProgramSuspension, Suspension, Timing};

use crate::device::{Answer, Ask, Device, ERASE, check_stops, part, suspending};

fn resuming(erase_resume: EraseResume) -> Suspension {
    Suspension { erase_resume, ..suspending(ProgramSuspension::None) }
}

#[test]
fn exact_goes_on_with_what_was_left_of_the_pulse() {
    let rows = [
        // Before the pulse: set-up, all of it, verify: 10000 + 40 + 5000 + 90.
        (0, Some((100, 15_130))),
        (60, Some((100, 15_130))),
        (100, Some((100, 15_130))),
        // In the pulse: 40 + (5000 - elapsed) + 90.
        (101, Some((141, 15_129))),
        (2_100, Some((2_140, 13_130))),
        (5_059, Some((5_099, 10_171))),
        // In the pulse's reset or at its end: the verify, without set-up.
        (5_060, Some((5_100, 10_090))),
        (5_061, Some((5_100, 10_090))),
        (5_100, Some((5_100, 10_090))),
        // In the verify: again, whole, without set-up.
        (5_101, Some((5_141, 10_090))),
        (5_149, Some((5_189, 10_090))),
        // In its reset the erase ends.
        (5_150, None),
        (5_189, None),
        (5_190, None),
    ];
    check_stops(part(), resuming(EraseResume::Exact), ERASE, &rows);
}

#[test]
fn redo_phase_goes_on_with_the_whole_phase() {
    let rows = [
        // 10000 + 5000 + 90.
        (100, Some((100, 15_090))),
        (101, Some((141, 15_090))),
        (2_100, Some((2_140, 15_090))),
        (5_059, Some((5_099, 15_090))),
        // The pulse is complete: 10000 + 90.
        (5_060, Some((5_100, 10_090))),
        (5_100, Some((5_100, 10_090))),
        (5_101, Some((5_141, 10_090))),
        (5_149, Some((5_189, 10_090))),
        (5_150, None),
        (5_190, None),
    ];
    check_stops(part(), resuming(EraseResume::RedoPhase), ERASE, &rows);
}

#[test]
fn restart_begins_again_whatever_was_broken_off() {
    let rows = [
        (100, Some((100, 15_090))),
        (101, Some((141, 15_090))),
        (5_059, Some((5_099, 15_090))),
        (5_060, Some((5_100, 15_090))),
        (5_100, Some((5_100, 15_090))),
        (5_101, Some((5_141, 15_090))),
        (5_149, Some((5_189, 15_090))),
        (5_150, None),
        (5_190, None),
    ];
    check_stops(part(), resuming(EraseResume::Restart), ERASE, &rows);
}

#[test]
fn the_mode_of_programs_does_not_matter_to_erases() {
    let modes = [ProgramSuspension::Ips, ProgramSuspension::Ipc, ProgramSuspension::Iteration];
    for mode in modes {
        for shadow_buffer in [true, false] {
            let suspension = Suspension { shadow_buffer, ..suspending(mode) };
            check_stops(part(), suspension, ERASE, &[(2_100, Some((2_140, 13_130)))]);
        }
    }
}

#[test]
fn a_set_up_is_atomic_and_due_again() {
    let mut device = Device::new(part(), resuming(EraseResume::Exact));
    device.issue(0, ERASE);
    // 2000 of the pulse are done: 10000 + 40 + 3000 + 90.
    assert_eq!(device.suspend_and_resume(2_100, 2_140, 10_000), 13_130);
    for (round, into_ns) in [(1, 0), (2, 1), (3, 39), (4, 40)] {
        let resumed_ns = round * 10_000;
        let again_ns = resumed_ns + 10_000;
        let end_ns = device.suspend_and_resume(resumed_ns + into_ns, resumed_ns + 40, again_ns);
        assert_eq!(end_ns, again_ns + 40 + 3_000 + 90, "{into_ns} into the set-up");
    }
}

#[test]
fn nested_exact_suspensions_add_up_to_the_nanosecond() {
    let mut device = Device::new(part(), resuming(EraseResume::Exact));
    device.issue(0, ERASE);
    // 2000 done, 3000 left: 3000 + 40 + 3000 + 90.
    assert_eq!(device.suspend_and_resume(2_100, 2_140, 3_000), 6_130);
    // The pulse goes on at 3040; one nanosecond later 2999 are left: 5000 + 40 + 2999 + 90.
    assert_eq!(device.suspend_and_resume(3_041, 3_081, 5_000), 8_129);
    // It goes on at 5040 and would end at 8039; at 7998 there are 41 left: 9000 + 40 + 41 + 90.
    assert_eq!(device.suspend_and_resume(7_998, 8_038, 9_000), 9_171);
    // It goes on at 9040 and ends at 9081. At 9041 its reset begins: the verify is left.
    assert_eq!(device.suspend_and_resume(9_041, 9_081, 10_000), 10_090);
    // No set-up: a request at the very instant of the resume is at a boundary.
    assert_eq!(device.suspend_and_resume(10_000, 10_000, 11_000), 11_090);
    // The verify again and again.
    assert_eq!(device.suspend_and_resume(11_001, 11_041, 12_000), 12_090);
    assert_eq!(device.suspend_and_resume(12_049, 12_089, 13_000), 13_090);
    assert_eq!(device.issue(13_050, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.die.operations().suspensions(), 7);
    assert_eq!(device.assert_free_exactly_at(13_090), Elapsed::Erased);
}

#[test]
fn the_least_that_can_be_left_is_a_nanosecond_more_than_the_reset() {
    let timing = Timing { voltage_reset: Dur::from_ns(10), ..part() };
    let mut device = Device::new(timing, resuming(EraseResume::Exact));
    device.issue(0, ERASE);
    // 11 are left at 5089: resumed at 6000, set-up to 6010, pulse to 6021, verify to 6111.
    assert_eq!(device.suspend_and_resume(5_089, 5_099, 6_000), 6_111);
    // At the set-up's end the 11 are still whole, and the set-up is due once more.
    assert_eq!(device.suspend_and_resume(6_010, 6_010, 7_000), 7_111);
    // One nanosecond on, the reset of the 11 has begun: the verify is left.
    assert_eq!(device.suspend_and_resume(7_011, 7_021, 8_000), 8_090);
}

#[test]
fn nested_redone_phases() {
    let mut device = Device::new(part(), resuming(EraseResume::RedoPhase));
    device.issue(0, ERASE);
    assert_eq!(device.suspend_and_resume(5_059, 5_099, 6_000), 11_090);
    // Without set-up the pulse begins at the resume: 6000 to 11000, its reset at 10960.
    assert_eq!(device.suspend_and_resume(6_001, 6_041, 7_000), 12_090);
    assert_eq!(device.suspend_and_resume(11_959, 11_999, 12_000), 17_090);
    assert_eq!(device.suspend_and_resume(16_960, 17_000, 18_000), 18_090);
    assert_eq!(device.suspend_and_resume(18_049, 18_089, 19_000), 19_090);
    assert_eq!(device.issue(19_050, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.assert_free_exactly_at(19_090), Elapsed::Erased);
}

#[test]
fn nested_restarts() {
    let mut device = Device::new(part(), resuming(EraseResume::Restart));
    device.issue(0, ERASE);
    assert_eq!(device.suspend_and_resume(5_149, 5_189, 6_000), 11_090);
    assert_eq!(device.suspend_and_resume(10_960, 11_000, 12_000), 17_090);
    assert_eq!(device.suspend_and_resume(12_001, 12_041, 13_000), 18_090);
    assert_eq!(device.issue(18_050, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.assert_free_exactly_at(18_090), Elapsed::Erased);
}
