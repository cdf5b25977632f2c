//! The guards of the part itself: how often an operation is suspended, and how soon again.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, Suspension};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

fn at_most(suspensions: u32) -> Suspension {
    let most = Some(suspensions);
    Suspension { max_per_program: most, max_per_erase: most, ..suspending(IPS) }
}

fn no_sooner_than(min_progress_ns: u64) -> Suspension {
    Suspension { min_progress: Dur::from_ns(min_progress_ns), ..suspending(IPS) }
}

#[test]
fn an_operation_that_has_used_up_its_suspensions_runs_to_its_end() {
    let mut device = Device::new(part(), at_most(2));
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(2_101, 2_400, 5_000), 5_870);
    assert_eq!(device.suspend_and_resume(5_031, 5_110, 6_000), 6_790);
    for request_ns in [6_000, 6_031, 6_790] {
        assert_eq!(device.probe(request_ns, Ask::Suspend), Err(Refusal::LimitReached));
    }
    assert_eq!(device.die.operations().suspensions(), 2);
    assert_eq!(device.assert_free_exactly_at(6_790), Elapsed::Programmed);
}

#[test]
fn every_operation_has_its_own_count() {
    let mut device = Device::new(part(), at_most(1));
    device.issue(0, PROGRAM);
    device.suspend_and_resume(2_101, 2_400, 5_000);
    assert_eq!(device.probe(5_500, Ask::Suspend), Err(Refusal::LimitReached));
    device.elapse(5_870);
    assert_eq!(device.die.operations().suspensions(), 0);
    device.issue(10_000, Ask::Start(Command::Program(page(0, 0, 1))));
    assert_eq!(device.suspend_and_resume(12_101, 12_400, 15_000), 15_870);
    device.elapse(15_870);
    device.issue(20_000, ERASE);
    // 2000 of the pulse are done at 22100: 25000 + 40 + 3000 + 90.
    assert_eq!(device.suspend_and_resume(22_100, 22_140, 25_000), 28_130);
    assert_eq!(device.probe(26_000, Ask::Suspend), Err(Refusal::LimitReached));
    assert_eq!(device.assert_free_exactly_at(28_130), Elapsed::Erased);
}

#[test]
fn programs_and_erases_have_limits_of_their_own() {
    let of_programs = Suspension { max_per_program: Some(1), ..suspending(IPS) };
    let of_erases = Suspension { max_per_erase: Some(1), ..suspending(IPS) };
    for (limits, program, erase) in [
        (of_programs, Err(Refusal::LimitReached), Ok(())),
        (of_erases, Ok(()), Err(Refusal::LimitReached)),
    ] {
        let mut device = Device::new(part(), limits);
        device.issue(0, PROGRAM);
        device.suspend_and_resume(2_101, 2_400, 5_000);
        assert_eq!(device.probe(5_500, Ask::Suspend).map(|_| ()), program);
        device.elapse(5_870);
        device.issue(20_000, ERASE);
        device.suspend_and_resume(22_100, 22_140, 25_000);
        assert_eq!(device.probe(26_000, Ask::Suspend).map(|_| ()), erase);
    }
}

#[test]
fn a_limit_of_none_at_all() {
    let mut device = Device::new(part(), at_most(0));
    device.issue(0, PROGRAM);
    for request_ns in [0, 2_100, 2_101, 3_240] {
        assert_eq!(device.probe(request_ns, Ask::Suspend), Err(Refusal::LimitReached));
    }
}

#[test]
fn a_suspension_in_a_prelude_counts() {
    let mut device = Device::new(part(), at_most(2));
    device.issue(0, PROGRAM);
    device.suspend_and_resume(50, 2_100, 5_000);
    device.suspend_and_resume(5_001, 5_030, 6_000);
    assert_eq!(device.probe(6_500, Ask::Suspend), Err(Refusal::LimitReached));
}

#[test]
fn a_request_that_takes_effect_at_the_end_suspends_nothing() {
    let mut device = Device::new(part(), at_most(1));
    device.issue(0, PROGRAM);
    for request_ns in [3_161, 3_200, 3_240] {
        assert_eq!(device.issue(request_ns, Ask::Suspend), Answer::RunsToEnd);
        assert_eq!(device.die.operations().suspensions(), 0);
    }
}

#[test]
fn an_operation_makes_progress_between_a_resume_and_the_next_suspension() {
    let mut device = Device::new(part(), no_sooner_than(500));
    device.issue(0, PROGRAM);
    // Before the first resume there is nothing to guard.
    assert_eq!(device.suspend_and_resume(0, 2_100, 5_000), 6_170);
    let too_soon = Err(Refusal::TooSoon { until: Time::from_ns(5_500) });
    for request_ns in [5_000, 5_030, 5_031, 5_499] {
        assert_eq!(device.probe(request_ns, Ask::Suspend), too_soon);
    }
    // The guard begins with the resume, not with the end of its restore: pulse 1 to 5330, verify
    // 1 to 5410, pulse 2 to 5710.
    assert_eq!(device.suspend_and_resume(5_500, 5_710, 8_000), 8_490);
    let too_soon = Err(Refusal::TooSoon { until: Time::from_ns(8_500) });
    // The program has 460 left and ends at 8490, under guard to its end.
    assert_eq!(device.probe(8_490, Ask::Suspend), too_soon);
    assert_eq!(device.assert_free_exactly_at(8_490), Elapsed::Programmed);
    // Another operation begins without a guard, though it is not yet 8500.
    device.issue(8_490, ERASE);
    assert_eq!(device.probe(8_491, Ask::Suspend), Ok(Answer::FreeAt(8_590)));
}

#[test]
fn an_erase_makes_progress_too() {
    let mut device = Device::new(part(), no_sooner_than(700));
    device.issue(0, ERASE);
    // 2000 of the pulse are done: 3000 + 40 + 3000 + 90.
    assert_eq!(device.suspend_and_resume(2_100, 2_140, 3_000), 6_130);
    let too_soon = Err(Refusal::TooSoon { until: Time::from_ns(3_700) });
    assert_eq!(device.probe(3_699, Ask::Suspend), too_soon);
    // 660 more at 3700, after the set-up to 3040: 5000 + 40 + 2340 + 90.
    assert_eq!(device.suspend_and_resume(3_700, 3_740, 5_000), 7_470);
}

#[test]
fn without_guards_a_suspension_may_follow_at_once_and_for_ever() {
    let mut device = Device::new(part(), suspending(IPS));
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(2_100, 2_100, 3_000), 4_170);
    for round in 1..1_000 {
        let resumed_ns = 2_000 + 1_000 * round;
        let end_ns = device.suspend_and_resume(resumed_ns, resumed_ns + 30, resumed_ns + 1_000);
        assert_eq!(end_ns, resumed_ns + 1_000 + 1_170);
    }
    assert_eq!(device.die.operations().suspensions(), 1_000);
}
