//! Reads during a suspension that free the array at the end of tR: who waits for the page to leave.
//!
//! The program is suspended from 2100 on, before its first pulse; a read takes 100 + 1000.

use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, ResumeAt, Suspension};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, page, part, suspending};

const OTHER_READ: Ask = Ask::Start(Command::Read(page(1, 2, 3)));
const NEXT_PROGRAM: Ask = Ask::Start(Command::Program(page(0, 0, 1)));

fn early() -> Suspension {
    Suspension { resume_at: ResumeAt::ArrayRead, ..suspending(ProgramSuspension::Ips) }
}

/// A program suspended from 2100 on, and a page sensed at 4100 that has not left.
fn sensed(suspension: Suspension) -> Device {
    let mut device = Device::new(part(), suspension);
    device.issue(0, PROGRAM);
    assert_eq!(device.issue(2_100, Ask::Suspend), Answer::FreeAt(2_100));
    device.elapse(2_100);
    device.issue(3_000, READ);
    assert_eq!(device.assert_free_exactly_at(4_100), Elapsed::ReadReady);
    assert!(device.die.output_in_use());
    device
}

#[test]
fn the_operation_goes_on_while_the_page_leaves() {
    let mut device = sensed(early());
    // Restore 30, three iterations of 380.
    assert_eq!(device.issue(4_100, Ask::Resume), Answer::EndsAt(5_270));
    assert!(!device.die.release(), "no other page waits");
    assert!(device.die.is_running() && !device.die.output_in_use());
    assert_eq!(device.assert_free_exactly_at(5_270), Elapsed::Programmed);
}

#[test]
fn without_a_shadow_buffer_the_page_that_comes_back_needs_the_register() {
    let device = sensed(Suspension { shadow_buffer: false, ..early() });
    assert_eq!(device.probe(4_100, Ask::Resume), Err(Refusal::Busy));
    let mut device = device;
    device.die.release();
    assert_eq!(device.probe(6_100, Ask::Resume), Ok(Answer::EndsAt(9_240)));
}

#[test]
fn the_next_read_goes_on_too_and_its_page_waits_for_the_register() {
    let mut device = sensed(early());
    device.issue(4_100, OTHER_READ);
    assert_eq!(device.elapse(5_200), Elapsed::ReadHeld);
    assert_eq!(device.probe(6_099, Ask::Resume), Err(Refusal::Busy));
    assert!(device.die.release(), "the held page leaves now");
    assert!(device.die.is_free() && device.die.output_in_use());
    assert!(device.probe(6_100, Ask::Resume).is_ok());
}

#[test]
fn a_program_after_the_resumed_one_waits_for_the_page_to_leave() {
    let mut device = sensed(early());
    device.issue(4_100, Ask::Resume);
    device.elapse(5_270);
    assert_eq!(device.probe(5_270, NEXT_PROGRAM), Err(Refusal::Busy));
    assert!(device.probe(5_270, ERASE).is_ok());
    assert!(device.probe(5_270, READ).is_ok());
    assert!(!device.die.release());
    assert!(device.probe(6_100, NEXT_PROGRAM).is_ok());
}

#[test]
fn a_read_after_the_resumed_operation_keeps_the_array_until_its_page_has_left() {
    let mut device = sensed(early());
    device.issue(4_100, Ask::Resume);
    device.elapse(5_270);
    // Nothing is suspended any more: the page stays in the page buffer, behind the first.
    device.issue(5_300, READ);
    assert_eq!(device.elapse(6_400), Elapsed::ReadHeld);
    assert!(device.die.release(), "the first has left, the second can");
    assert!(!device.die.is_free() && !device.die.output_in_use());
    assert_eq!(device.probe(7_000, READ), Err(Refusal::Busy));
    assert!(!device.die.release());
    assert!(device.die.is_free());
    // With the register empty it is as on any die without one.
    device.issue(9_000, READ);
    assert_eq!(device.elapse(10_100), Elapsed::ReadReady);
    assert!(!device.die.is_free() && !device.die.output_in_use());
}

#[test]
fn without_a_suspension_nothing_changes() {
    let mut device = Device::new(part(), early());
    device.issue(0, READ);
    assert_eq!(device.elapse(1_100), Elapsed::ReadReady);
    assert!(!device.die.is_free() && !device.die.output_in_use());
    assert!(!device.die.release());
    assert!(device.die.is_free());
}
