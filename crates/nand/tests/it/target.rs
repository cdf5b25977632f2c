//! Whether a cancelled pulse had reached its target, as `proportional` draws it.
//!
//! The verdicts come from the stream "nand.vth" of (seed, index of the die): one draw for each
//! cancelled pulse, below the pulse's length; it is reached if the draw is less than the time
//! elapsed.

use reprieve_base::{Stream, Time};
use reprieve_nand::{Command, ProgramSuspension, Suspension, Timing, VthReached};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, SHAPE, one_die, page, part, suspending};

fn proportional() -> Suspension {
    Suspension { vth_reached: VthReached::Proportional, ..suspending(ProgramSuspension::Ipc) }
}

fn device(timing: Timing, seed: u64, index: u64) -> Device {
    Device::of_die(one_die(SHAPE, timing, proportional(), seed, index))
}

#[test]
fn each_cancelled_pulse_takes_one_draw_of_the_die_s_own_stream() {
    const ITERATIONS: u32 = 2_000;
    for (seed, index) in [(1, 0), (1, 1), (2, 0), (u64::MAX, 7)] {
        let mut draws = Stream::new(seed, "nand.vth", index);
        let timing = Timing { program_iterations: ITERATIONS, ..part() };
        let mut device = device(timing, seed, index);
        device.issue(0, PROGRAM);
        let mut left = u64::from(ITERATIONS);
        let mut pulse_ns = 2_100;
        for round in 0..1_500 {
            let elapsed_ns = 1 + round % 259;
            // Reached or not, a verify follows; but the iteration is over only if it was reached.
            left -= u64::from(draws.below(300) < elapsed_ns);
            let request_ns = pulse_ns + elapsed_ns;
            let resume_ns = request_ns + 40;
            let end_ns = device.suspend_and_resume(request_ns, request_ns + 40, resume_ns);
            assert_eq!(end_ns, resume_ns + 30 + 80 + left * 380, "round {round}");
            pulse_ns = resume_ns + 30 + 80;
        }
    }
}

#[test]
fn the_probability_is_the_elapsed_share_of_the_pulse() {
    // Reached, the verify and two iterations follow; if not, the verify and three.
    let reached = |elapsed_ns: u64| {
        let is_reached = |&seed: &u64| {
            let mut device = device(part(), seed, 0);
            device.issue(0, PROGRAM);
            let request_ns = 2_100 + elapsed_ns;
            match device.suspend_and_resume(request_ns, request_ns + 40, 10_000) {
                10_870 => true,
                11_250 => false,
                other => panic!("the program ends at {other}"),
            }
        };
        (0..10_000).filter(is_reached).count()
    };
    // 195 of 300 is 0.65, with a standard deviation of 48 in 10,000; 15 of 300 is 0.05, with 22.
    // Five standard deviations are allowed.
    assert!(reached(195).abs_diff(6_500) < 240, "{}", reached(195));
    assert!(reached(15).abs_diff(500) < 110, "{}", reached(15));
}

#[test]
fn nothing_but_a_cancelled_pulse_takes_a_draw() {
    for seed in 0..100 {
        let mut device = device(part(), seed, 0);
        // An erase: its pulse and its verify are broken off.
        device.issue(0, ERASE);
        device.suspend_and_resume(2_100, 2_140, 3_000);
        let end_ns = device.suspend_and_resume(6_041, 6_081, 7_000);
        assert_eq!(end_ns, 7_090);
        device.elapse(7_090);
        // A program from 7900 on: its data is in at 10000.
        device.issue(7_900, PROGRAM);
        device.suspend_and_resume(9_000, 10_000, 20_000);
        // Pulse 1 from 20030 to 20330 ends by itself; its verify is cancelled.
        device.suspend_and_resume(20_300, 20_330, 30_000);
        device.suspend_and_resume(30_040, 30_080, 40_000);
        // Its verify ends at 40110, pulse 2 at 40410, verify 2 at 40490, pulse 3 at 40790.
        assert_eq!(device.issue(40_860, Ask::Suspend), Answer::RunsToEnd);
        device.elapse(40_870);
        // The next program: its first pulse from 52100 on, cancelled after 150 of 300.
        device.issue(50_000, Ask::Start(Command::Program(page(0, 0, 1))));
        let end_ns = device.suspend_and_resume(52_250, 52_290, 60_000);
        let is_reached = Stream::new(seed, "nand.vth", 0).below(300) < 150;
        assert_eq!(end_ns, if is_reached { 60_870 } else { 61_250 }, "seed {seed}");
    }
}

#[test]
fn refusals_and_probes_take_no_draw() {
    for seed in 0..100 {
        let mut device = device(part(), seed, 0);
        device.issue(0, PROGRAM);
        assert!(device.die.resume(Time::from_ns(2_200)).is_err());
        device.issue(2_250, Ask::Suspend);
        assert!(device.die.suspend(Time::from_ns(2_260)).is_err());
        device.elapse(2_290);
        assert_eq!(device.issue(3_000, Ask::Resume), {
            let is_reached = Stream::new(seed, "nand.vth", 0).below(300) < 150;
            Answer::EndsAt(if is_reached { 3_870 } else { 4_250 })
        });
    }
}
