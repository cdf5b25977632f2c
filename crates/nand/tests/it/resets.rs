//! Voltage resets that are no part of a phase: what is broken off takes one from the request on.
//!
//! The times are those of `part`: phases of a program end at 2400, 2480, 2780, 2860, 3160 and 3240,
//! those of an erase at 5100 and 5190; the reset takes 40.

use reprieve_nand::{EraseMode, ProgramSuspension, Suspension, VthReached};

use crate::device::{ERASE, PROGRAM, check_stops, part, suspending};

fn outside(program: ProgramSuspension) -> Suspension {
    Suspension { reset_inside_phase: false, ..suspending(program) }
}

#[test]
fn a_cancellation_takes_the_whole_reset_wherever_it_comes() {
    let rows = [
        // In the pulse's last 40: restore 30, verify 80, three iterations of 380.
        (2_360, Some((2_400, 11_250))),
        (2_399, Some((2_439, 11_250))),
        // At its end nothing is in progress: restore, verify, two iterations.
        (2_400, Some((2_400, 10_870))),
        (2_401, Some((2_441, 10_870))),
        (2_479, Some((2_519, 10_870))),
        (2_480, Some((2_480, 10_790))),
        // The last pulse, from 2860 on: restore, verify, iteration.
        (3_159, Some((3_199, 10_490))),
        // The last verify: the reset runs past the program's end, which has not come all the same.
        (3_199, Some((3_239, 10_110))),
        (3_239, Some((3_279, 10_110))),
        (3_240, None),
    ];
    check_stops(part(), outside(ProgramSuspension::Ipc), PROGRAM, &rows);
}

#[test]
fn a_late_cancellation_of_a_pulse_may_have_reached_its_target() {
    let always = Suspension { vth_reached: VthReached::Always, ..outside(ProgramSuspension::Ipc) };
    check_stops(part(), always, PROGRAM, &[(2_399, Some((2_439, 10_870)))]);
}

#[test]
fn a_stop_at_the_end_of_a_phase_adds_nothing() {
    let ips = [
        (2_101, Some((2_400, 10_870))),
        (2_399, Some((2_400, 10_870))),
        (3_159, Some((3_160, 10_110))),
        (3_161, None),
    ];
    check_stops(part(), outside(ProgramSuspension::Ips), PROGRAM, &ips);
    let iteration = [(2_399, Some((2_493, 10_790))), (2_481, Some((2_873, 10_410)))];
    check_stops(part(), outside(ProgramSuspension::Iteration), PROGRAM, &iteration);
}

#[test]
fn an_erase_keeps_what_its_pulse_has_done_until_the_request() {
    let rows = [
        // 10000 + 40 + what is left + 90.
        (5_059, Some((5_099, 10_171))),
        (5_060, Some((5_100, 10_170))),
        (5_099, Some((5_139, 10_131))),
        (5_100, Some((5_100, 10_090))),
        (5_101, Some((5_141, 10_090))),
        (5_150, Some((5_190, 10_090))),
        (5_189, Some((5_229, 10_090))),
        (5_190, None),
    ];
    check_stops(part(), outside(ProgramSuspension::None), ERASE, &rows);
}

#[test]
fn a_deferred_erase_has_no_reset_to_wait_for() {
    let deferred =
        Suspension { erase_mode: EraseMode::Deferred, ..outside(ProgramSuspension::None) };
    let rows = [(5_060, Some((5_100, 10_090))), (5_099, Some((5_100, 10_090))), (5_101, None)];
    check_stops(part(), deferred, ERASE, &rows);
}
