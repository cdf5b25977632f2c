//! The page buffer and the output register: who holds them, and what has to wait for them.

use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, Suspension, Timing};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const OTHER_READ: Ask = Ask::Start(Command::Read(page(1, 2, 3)));

fn cached() -> Timing {
    Timing { cache_register: true, ..part() }
}

fn without_shadow_buffer() -> Suspension {
    Suspension { shadow_buffer: false, ..suspending(IPS) }
}

/// A die with the program or the erase suspended from `at_ns` on.
fn suspended(timing: Timing, suspension: Suspension, ask: Ask, at_ns: u64) -> Device {
    let mut device = Device::new(timing, suspension);
    device.issue(0, ask);
    assert_eq!(device.issue(2_100, Ask::Suspend), Answer::FreeAt(at_ns));
    device.elapse(at_ns);
    device
}

#[test]
fn without_a_cache_register_a_page_holds_the_array_until_it_has_left() {
    let mut device = Device::new(part(), suspending(IPS));
    device.issue(0, READ);
    assert_eq!(device.elapse(1_100), Elapsed::ReadReady);
    assert!(!device.die.is_free() && !device.die.output_in_use());
    for ask in [READ, OTHER_READ, PROGRAM, ERASE] {
        assert_eq!(device.probe(3_100, ask), Err(Refusal::Busy));
    }
    assert!(!device.die.release(), "there is no second page that could leave");
    assert!(device.die.is_free());
    for ask in [READ, OTHER_READ, PROGRAM, ERASE] {
        assert!(device.probe(3_100, ask).is_ok());
    }
}

#[test]
fn without_a_cache_register_a_resume_waits_for_the_page_to_leave() {
    for ask in [PROGRAM, ERASE] {
        let free_ns = if ask == ERASE { 2_140 } else { 2_100 };
        let mut device = suspended(part(), suspending(IPS), ask, free_ns);
        device.issue(3_000, READ);
        assert_eq!(device.probe(3_500, Ask::Resume), Err(Refusal::Busy));
        device.elapse(4_100);
        assert_eq!(device.probe(4_100, Ask::Resume), Err(Refusal::Busy));
        device.die.release();
        assert!(device.probe(6_100, Ask::Resume).is_ok());
    }
}

#[test]
fn with_a_cache_register_the_array_is_free_when_the_page_is_sensed() {
    let mut device = Device::new(cached(), suspending(IPS));
    device.issue(0, READ);
    assert!(!device.die.output_in_use());
    assert_eq!(device.assert_free_exactly_at(1_100), Elapsed::ReadReady);
    assert!(device.die.output_in_use());
    assert!(!device.die.release());
    assert!(!device.die.output_in_use() && device.die.is_free());
}

#[test]
fn a_second_page_is_held_until_the_register_is_empty() {
    let mut device = Device::new(cached(), suspending(IPS));
    device.issue(0, READ);
    device.elapse(1_100);
    // Sensed while the first page leaves, from 1100 to 3100.
    device.issue(1_100, OTHER_READ);
    assert_eq!(device.elapse(2_200), Elapsed::ReadHeld);
    assert!(!device.die.is_free() && device.die.output_in_use());
    assert_eq!(device.probe(3_099, READ), Err(Refusal::Busy));
    assert!(device.die.release(), "the held page leaves now");
    assert!(device.die.is_free() && device.die.output_in_use());
    // And a third one finds the register in use as well.
    device.issue(3_100, READ);
    assert_eq!(device.elapse(4_200), Elapsed::ReadHeld);
    assert!(device.die.release());
    assert!(!device.die.release());
    assert!(!device.die.output_in_use());
}

#[test]
fn a_second_page_that_comes_after_the_first_has_left_is_not_held() {
    let mut device = Device::new(cached(), suspending(IPS));
    device.issue(0, READ);
    device.elapse(1_100);
    device.issue(2_500, OTHER_READ);
    assert!(!device.die.release(), "a page that is being sensed cannot leave");
    assert!(!device.die.is_free(), "and its sensing goes on");
    assert_eq!(device.assert_free_exactly_at(3_600), Elapsed::ReadReady);
}

#[test]
fn a_program_waits_for_the_output_register_and_an_erase_does_not() {
    let mut device = Device::new(cached(), suspending(IPS));
    device.issue(0, READ);
    device.elapse(1_100);
    assert_eq!(device.probe(1_100, PROGRAM), Err(Refusal::Busy));
    assert_eq!(device.probe(1_100, ERASE), Ok(Answer::EndsAt(6_290)));
    device.die.release();
    assert_eq!(device.probe(3_100, PROGRAM), Ok(Answer::EndsAt(6_340)));
}

#[test]
fn a_page_leaves_while_an_erase_runs() {
    let mut device = Device::new(cached(), suspending(IPS));
    device.issue(0, READ);
    device.elapse(1_100);
    device.issue(1_100, ERASE);
    assert!(!device.die.release());
    assert!(device.die.is_running(), "the erase goes on");
    assert_eq!(device.assert_free_exactly_at(6_290), Elapsed::Erased);
}

#[test]
fn a_resume_waits_for_the_channel_only_to_send_a_page_again() {
    // Operation, shadow buffer, end if resumed at 4100, or `None` where the page that leaves is
    // in the way: 30 + 1140, 2000 + 1140, 40 + 3000 + 90.
    let rows = [
        (PROGRAM, suspending(IPS), 2_100, Some(5_270)),
        (PROGRAM, without_shadow_buffer(), 2_100, None),
        (ERASE, suspending(IPS), 2_140, Some(7_230)),
        (ERASE, without_shadow_buffer(), 2_140, Some(7_230)),
    ];
    for (ask, suspension, free_ns, end_ns) in rows {
        let mut device = suspended(cached(), suspension, ask, free_ns);
        assert_eq!(device.die.resume_needs_channel(), end_ns.is_none());
        device.issue(3_000, READ);
        device.elapse(4_100);
        let want = end_ns.map(Answer::EndsAt).ok_or(Refusal::Busy);
        assert_eq!(device.probe(4_100, Ask::Resume), want);
        device.die.release();
        let after_ns = end_ns.map_or(6_100 + 3_140, |end_ns| end_ns + 2_000);
        assert_eq!(device.probe(6_100, Ask::Resume), Ok(Answer::EndsAt(after_ns)));
    }
}

#[test]
fn a_die_without_a_suspended_program_needs_no_channel_to_resume() {
    let mut device = Device::new(part(), without_shadow_buffer());
    assert!(!device.die.resume_needs_channel());
    device.issue(0, PROGRAM);
    assert!(device.die.resume_needs_channel());
    device.elapse(3_240);
    assert!(!device.die.resume_needs_channel());
}

#[test]
#[should_panic(expected = "a page left a die that had none")]
fn no_page_leaves_an_idle_die() {
    Device::new(part(), suspending(IPS)).die.release();
}

#[test]
#[should_panic(expected = "a page left a die that had none")]
fn no_page_leaves_an_empty_register() {
    Device::new(cached(), suspending(IPS)).die.release();
}

#[test]
#[should_panic(expected = "a page left a die that had none")]
fn no_page_leaves_while_it_is_sensed() {
    let mut device = Device::new(part(), suspending(IPS));
    device.issue(0, READ);
    device.die.release();
}
