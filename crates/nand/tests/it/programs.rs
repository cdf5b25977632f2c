//! Suspended programs: where each mode stops, what is then left, nested suspensions.
//!
//! The times are those of `part`: data in to 2100, pulse and verify to 2400 and 2480, to 2780 and
//! 2860, to 3160 and 3240. After a resume at 10000 the restore from the shadow buffer ends at
//! 10030; of the 3 * (300 + 80) = 1140 of the iterations follows what is left.

use reprieve_base::Dur;
use reprieve_nand::{Elapsed, ProgramSuspension, Suspension, Timing, VthReached};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, check_stops, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const IPC: ProgramSuspension = ProgramSuspension::Ipc;
const ITERATION: ProgramSuspension = ProgramSuspension::Iteration;

#[test]
fn command_and_data_in_are_not_interrupted() {
    // Nothing is lost and no overhead is due in any mode: 10030 + 1140.
    for mode in [IPS, IPC, ITERATION] {
        let at_data_in_end = Some((2_100, 11_170));
        let rows = [0, 1, 99, 100, 101, 2_060, 2_099, 2_100].map(|at| (at, at_data_in_end));
        check_stops(part(), suspending(mode), PROGRAM, &rows);
    }
}

#[test]
fn ips_stops_at_the_end_of_each_phase() {
    let rows = [
        // Pulse 1: 1140 - 300 left.
        (2_101, Some((2_400, 10_870))),
        (2_250, Some((2_400, 10_870))),
        (2_360, Some((2_400, 10_870))),
        (2_399, Some((2_400, 10_870))),
        (2_400, Some((2_400, 10_870))),
        // Verify 1: 2 * 380 left.
        (2_401, Some((2_480, 10_790))),
        (2_440, Some((2_480, 10_790))),
        (2_480, Some((2_480, 10_790))),
        // Pulse 2: 80 + 380 left.
        (2_481, Some((2_780, 10_490))),
        (2_780, Some((2_780, 10_490))),
        // Verify 2: 380 left.
        (2_781, Some((2_860, 10_410))),
        (2_860, Some((2_860, 10_410))),
        // Pulse 3: 80 left.
        (2_861, Some((3_160, 10_110))),
        (3_160, Some((3_160, 10_110))),
        // Verify 3 is the last phase: its end is the program's.
        (3_161, None),
        (3_200, None),
        (3_239, None),
        (3_240, None),
    ];
    check_stops(part(), suspending(IPS), PROGRAM, &rows);
}

#[test]
fn ipc_cancels_until_the_voltage_reset_of_the_phase() {
    let rows = [
        // Pulse 1, cancelled: a verify, then all that there was: 80 + 1140.
        (2_101, Some((2_141, 11_250))),
        (2_250, Some((2_290, 11_250))),
        (2_359, Some((2_399, 11_250))),
        // Its voltage reset has begun: as IPS.
        (2_360, Some((2_400, 10_870))),
        (2_361, Some((2_400, 10_870))),
        (2_400, Some((2_400, 10_870))),
        // Verify 1, cancelled: done again, whole, with 2 * 380 to follow.
        (2_401, Some((2_441, 10_870))),
        (2_439, Some((2_479, 10_870))),
        (2_440, Some((2_480, 10_790))),
        (2_480, Some((2_480, 10_790))),
        // Pulse 2, cancelled: 80 + 2 * 380.
        (2_481, Some((2_521, 10_870))),
        (2_739, Some((2_779, 10_870))),
        (2_740, Some((2_780, 10_490))),
        // Verify 2.
        (2_781, Some((2_821, 10_490))),
        (2_820, Some((2_860, 10_410))),
        (2_860, Some((2_860, 10_410))),
        // Pulse 3, cancelled: 80 + 380.
        (2_861, Some((2_901, 10_490))),
        (3_119, Some((3_159, 10_490))),
        (3_120, Some((3_160, 10_110))),
        (3_160, Some((3_160, 10_110))),
        // The last verify can be cancelled too, until its reset.
        (3_161, Some((3_201, 10_110))),
        (3_199, Some((3_239, 10_110))),
        (3_200, None),
        (3_240, None),
    ];
    check_stops(part(), suspending(IPC), PROGRAM, &rows);
}

#[test]
fn ipc_goes_on_with_the_pulse_s_verify_if_the_target_was_reached() {
    let rows = [
        // Pulse 1: its verify and 2 * 380.
        (2_101, Some((2_141, 10_870))),
        (2_359, Some((2_399, 10_870))),
        (2_360, Some((2_400, 10_870))),
        // A cancelled verify is the same whatever the pulse had reached.
        (2_401, Some((2_441, 10_870))),
        (2_440, Some((2_480, 10_790))),
        // Pulse 2: its verify and 380.
        (2_481, Some((2_521, 10_490))),
        // Pulse 3: its verify.
        (2_861, Some((2_901, 10_110))),
        (3_161, Some((3_201, 10_110))),
        (3_200, None),
    ];
    let always = Suspension { vth_reached: VthReached::Always, ..suspending(IPC) };
    check_stops(part(), always, PROGRAM, &rows);
}

#[test]
fn an_atomic_iteration_is_not_parted_and_costs_its_overhead() {
    let rows = [
        // Iteration 1 ends at 2480, and 13 later the array is free.
        (2_101, Some((2_493, 10_790))),
        (2_399, Some((2_493, 10_790))),
        (2_400, Some((2_493, 10_790))),
        (2_401, Some((2_493, 10_790))),
        (2_480, Some((2_493, 10_790))),
        // Iteration 2 ends at 2860.
        (2_481, Some((2_873, 10_410))),
        (2_780, Some((2_873, 10_410))),
        (2_860, Some((2_873, 10_410))),
        // Iteration 3 is the last one.
        (2_861, None),
        (3_160, None),
        (3_161, None),
        (3_240, None),
    ];
    check_stops(part(), suspending(ITERATION), PROGRAM, &rows);
}

#[test]
fn the_overhead_comes_after_the_stop_in_every_kind_of_suspension() {
    let ns = Dur::from_ns;
    let dear = Timing { suspend_overhead: ns(1_000), erase_suspend_overhead: ns(700), ..part() };
    check_stops(dear, suspending(IPS), PROGRAM, &[(2_101, Some((3_400, 10_870)))]);
    check_stops(dear, suspending(IPC), PROGRAM, &[(2_101, Some((3_141, 11_250)))]);
    check_stops(dear, suspending(ITERATION), PROGRAM, &[(2_101, Some((3_480, 10_790)))]);
    check_stops(dear, suspending(ITERATION), ERASE, &[(2_100, Some((2_840, 13_130)))]);
    // Before the first phase there is nothing to be stopped.
    check_stops(dear, suspending(IPS), PROGRAM, &[(50, Some((2_100, 11_170)))]);
}

#[test]
fn without_a_shadow_buffer_the_page_is_sent_again() {
    // Resumed at 10000, the page is there at 12000, without another command cycle.
    for (mode, free_ns, end_ns) in [(IPS, 2_400, 12_840), (IPC, 2_141, 13_220)] {
        let bare = Suspension { shadow_buffer: false, ..suspending(mode) };
        check_stops(part(), bare, PROGRAM, &[(2_101, Some((free_ns, end_ns)))]);
        // Data in itself is sent again as well: 12000 + 1140.
        check_stops(part(), bare, PROGRAM, &[(50, Some((2_100, 13_140)))]);
    }
}

#[test]
fn a_restore_is_atomic_with_and_without_a_shadow_buffer() {
    for (shadow_buffer, restore_ns) in [(true, 30), (false, 2_000)] {
        for mode in [IPS, IPC, ITERATION] {
            let mut device = Device::new(part(), Suspension { shadow_buffer, ..suspending(mode) });
            device.issue(0, PROGRAM);
            let end_ns = device.suspend_and_resume(2_100, 2_100, 5_000);
            assert_eq!(end_ns, 5_000 + restore_ns + 1_140);
            let mut resumed_ns = 5_000;
            for into_ns in [0, 1, restore_ns - 1, restore_ns] {
                let again_ns = resumed_ns + 5_000;
                let free_ns = resumed_ns + restore_ns;
                let end_ns = device.suspend_and_resume(resumed_ns + into_ns, free_ns, again_ns);
                assert_eq!(end_ns, again_ns + restore_ns + 1_140, "{into_ns} into the restore");
                resumed_ns = again_ns;
            }
        }
    }
}

#[test]
fn nested_inter_phase_suspensions_add_a_restore_each_and_nothing_else() {
    let mut device = Device::new(part(), suspending(IPS));
    device.issue(0, PROGRAM);
    // Pulse 1 ends; 5000 + 30 + 840.
    assert_eq!(device.suspend_and_resume(2_101, 2_400, 5_000), 5_870);
    // Verify 1 runs from 5030 to 5110; 6000 + 30 + 760.
    assert_eq!(device.suspend_and_resume(5_031, 5_110, 6_000), 6_790);
    // Into the restore, to 6030.
    assert_eq!(device.suspend_and_resume(6_029, 6_030, 7_000), 7_790);
    // Pulse 2 runs from 7030 to 7330, verify 2 to 7410, pulse 3 to 7710; 8000 + 30 + 80.
    assert_eq!(device.suspend_and_resume(7_411, 7_710, 8_000), 8_110);
    assert_eq!(device.issue(8_031, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.die.operations().suspensions(), 4);
    assert_eq!(device.assert_free_exactly_at(8_110), Elapsed::Programmed);
}

#[test]
fn nested_cancellations_do_over_what_they_broke_off() {
    let mut device = Device::new(part(), suspending(IPC));
    device.issue(0, PROGRAM);
    // Pulse 1 cancelled; resumed at 3000: check verify from 3030 to 3110, then 1140.
    assert_eq!(device.suspend_and_resume(2_101, 2_141, 3_000), 4_250);
    // The check verify is cancelled: done again, whole.
    assert_eq!(device.suspend_and_resume(3_031, 3_071, 4_000), 5_250);
    assert_eq!(device.suspend_and_resume(4_069, 4_109, 5_000), 6_250);
    // In its reset, from 5070 on, it ends by itself; the pulse follows: 6000 + 30 + 1140.
    assert_eq!(device.suspend_and_resume(5_070, 5_110, 6_000), 7_170);
    // That pulse, from 6030 to 6330, is cancelled again.
    assert_eq!(device.suspend_and_resume(6_289, 6_329, 7_000), 8_250);
    // The check verify runs from 7030 to 7110, the pulse to 7410. It comes to its end at last.
    assert_eq!(device.suspend_and_resume(7_370, 7_410, 8_000), 8_870);
    // Its verify, from 8030 to 8110, is cancelled, and done again from 9030 on.
    assert_eq!(device.suspend_and_resume(8_069, 8_109, 9_000), 9_870);
    // Verify 1 to 9110, pulse 2 to 9410, verify 2 to 9490: cancelled there, 80 + 380 left.
    assert_eq!(device.suspend_and_resume(9_411, 9_451, 10_000), 10_490);
    assert_eq!(device.die.operations().suspensions(), 8);
    // The last verify runs from 10410 to 10490.
    assert_eq!(device.issue(10_450, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.assert_free_exactly_at(10_490), Elapsed::Programmed);
}

#[test]
fn a_boundary_after_a_check_verify_loses_nothing() {
    let mut device = Device::new(part(), suspending(IPC));
    device.issue(0, PROGRAM);
    device.suspend_and_resume(2_101, 2_141, 3_000);
    // At 3110, the end of the check verify, the whole of pulse 1 is ahead: 4030 + 1140.
    assert_eq!(device.suspend_and_resume(3_110, 3_110, 4_000), 5_170);
    // One nanosecond into it, it is cancelled: 80 + 1140.
    assert_eq!(device.suspend_and_resume(4_031, 4_071, 5_000), 6_250);
    // Check verify to 5110, pulse 1 to 5410, verify 1 to 5490, pulse 2 to 5790.
    assert_eq!(device.suspend_and_resume(5_790, 5_790, 6_000), 6_490);
}

#[test]
fn nested_atomic_iterations() {
    let mut device = Device::new(part(), suspending(ITERATION));
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(2_480, 2_493, 3_000), 3_790);
    // Iteration 2 runs from 3030 to 3410.
    assert_eq!(device.suspend_and_resume(3_331, 3_423, 4_000), 4_410);
    assert_eq!(device.issue(4_031, Ask::Suspend), Answer::RunsToEnd);
    assert_eq!(device.assert_free_exactly_at(4_410), Elapsed::Programmed);
}

#[test]
fn a_verify_no_longer_than_the_reset_is_never_cancelled() {
    // Verify 1 runs from 2400 to 2440: 2 * 340 follow it. The last one from 3080 to 3120.
    let timing = Timing { verify: Dur::from_ns(40), ..part() };
    let rows = [(2_401, Some((2_440, 10_710))), (2_440, Some((2_440, 10_710))), (3_081, None)];
    check_stops(timing, suspending(IPC), PROGRAM, &rows);
}

#[test]
fn without_a_voltage_reset_a_phase_is_cancelled_to_its_last_nanosecond() {
    let timing = Timing { voltage_reset: Dur::ZERO, ..part() };
    let rows = [
        (2_101, Some((2_101, 11_250))),
        (2_399, Some((2_399, 11_250))),
        (2_400, Some((2_400, 10_870))),
        (3_239, Some((3_239, 10_110))),
        (3_240, None),
    ];
    check_stops(timing, suspending(IPC), PROGRAM, &rows);
}

#[test]
fn a_last_verify_of_no_length_is_no_place_to_stop() {
    // The pulses end at 2400, 2700 and 3000, and with the last one the program.
    let timing = Timing { verify: Dur::ZERO, voltage_reset: Dur::ZERO, ..part() };
    let rows = [(2_400, Some((2_400, 10_630))), (2_401, Some((2_700, 10_330)))];
    check_stops(timing, suspending(IPS), PROGRAM, &rows);
    let mut device = Device::new(timing, suspending(IPS));
    device.issue(0, PROGRAM);
    for request_ns in [2_701, 2_702, 3_000] {
        assert_eq!(device.issue(request_ns, Ask::Suspend), Answer::RunsToEnd);
    }
    assert_eq!(device.die.operations().suspensions(), 0);
    assert_eq!(device.assert_free_exactly_at(3_000), Elapsed::Programmed);
}

#[test]
fn reads_while_suspended_leave_the_program_as_it_was() {
    let mut device = Device::new(part(), suspending(IPC));
    device.issue(0, PROGRAM);
    device.issue(2_250, Ask::Suspend);
    assert_eq!(device.assert_free_exactly_at(2_290), Elapsed::Suspended);
    for began_ns in [2_290, 6_000] {
        assert_eq!(device.issue(began_ns, READ), Answer::EndsAt(began_ns + 1_100));
        assert_eq!(device.elapse(began_ns + 1_100), Elapsed::ReadReady);
        assert!(!device.die.release());
        assert!(device.die.is_suspended());
    }
    assert_eq!(device.die.operations().block(), Some((0, 0)));
    assert_eq!(device.issue(10_000, Ask::Resume), Answer::EndsAt(11_250));
}
