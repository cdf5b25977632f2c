//! Programs inside a suspended erase: what may begin there, when it ends, what resumes first.
//!
//! The times are those of `part`: an erase has its pulse from 100 to 5100, a program three pulses
//! of 300 with verifies of 80 after a command of 100 and data in of 2000.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, Suspension, Timing};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const IPC: ProgramSuspension = ProgramSuspension::Ipc;

/// The block of `ERASE` and that of `PROGRAM`.
const ERASED: (u32, u32) = (0, 1);
const PROGRAMMED: (u32, u32) = (0, 0);

fn nesting(program: ProgramSuspension) -> Suspension {
    Suspension { program_in_erase: true, ..suspending(program) }
}

/// An erase suspended at 2140, with 3000 of its pulse left.
fn erase_suspended(timing: Timing, suspension: Suspension) -> Device {
    let mut device = Device::new(timing, suspension);
    device.issue(0, ERASE);
    assert_eq!(device.issue(2_100, Ask::Suspend), Answer::FreeAt(2_140));
    assert_eq!(device.assert_free_exactly_at(2_140), Elapsed::Suspended);
    device
}

/// The same with a program in it from 3000: data in to 5100, phases to 6240.
fn program_begun(timing: Timing, suspension: Suspension) -> Device {
    let mut device = erase_suspended(timing, suspension);
    assert_eq!(device.issue(3_000, PROGRAM), Answer::EndsAt(6_240));
    device
}

/// The same with that program suspended: asked at 5150, in its first pulse, 5100 to 5400.
fn both_suspended(timing: Timing, suspension: Suspension, free_ns: u64) -> Device {
    let mut device = program_begun(timing, suspension);
    assert_eq!(device.issue(5_150, Ask::Suspend), Answer::FreeAt(free_ns));
    assert_eq!(device.assert_free_exactly_at(free_ns), Elapsed::Suspended);
    device
}

/// Resumes the erase, which has its set-up, 3000 of its pulse and its verify before it.
#[track_caller]
fn erase_to_its_end(mut device: Device, resume_ns: u64) {
    assert!(device.die.is_suspended());
    assert_eq!(device.die.operations().block(), Some(ERASED));
    assert_eq!(device.die.operations().outer_block(), None);
    assert_eq!(device.die.operations().suspensions(), 1);
    let end_ns = resume_ns + 40 + 3_000 + 90;
    assert_eq!(device.issue(resume_ns, Ask::Resume), Answer::EndsAt(end_ns));
    assert_eq!(device.assert_free_exactly_at(end_ns), Elapsed::Erased);
    assert_eq!(device.die.operations().block(), None);
    assert!(!device.die.is_suspended());
}

#[track_caller]
fn assert_refused(device: &Device, now_ns: u64, ask: Ask, refusal: Refusal) {
    assert_eq!(device.probe(now_ns, ask), Err(refusal), "{ask:?} at {now_ns}");
}

#[test]
fn a_program_runs_inside_a_suspended_erase() {
    let mut device = program_begun(part(), nesting(IPS));
    assert!(device.die.is_running() && !device.die.is_suspended());
    assert_eq!(device.die.operations().block(), Some(PROGRAMMED));
    assert_eq!(device.die.operations().outer_block(), Some(ERASED));
    assert_eq!(device.die.operations().suspensions(), 0, "of the program");
    assert_eq!(device.assert_free_exactly_at(6_240), Elapsed::Programmed);
    erase_to_its_end(device, 7_000);
}

#[test]
fn programs_and_reads_follow_each_other_inside_an_erase() {
    let mut device = program_begun(part(), nesting(IPS));
    device.elapse(6_240);
    assert_eq!(device.issue(6_240, READ), Answer::EndsAt(7_340));
    assert_eq!(device.elapse(7_340), Elapsed::ReadReady);
    device.die.release();
    let next = Ask::Start(Command::Program(page(0, 0, 1)));
    // 100 + 2000 + 3 x 380.
    assert_eq!(device.issue(9_000, next), Answer::EndsAt(12_240));
    assert_eq!(device.assert_free_exactly_at(12_240), Elapsed::Programmed);
    erase_to_its_end(device, 12_240);
}

#[test]
fn a_read_goes_between_a_program_inside_an_erase() {
    // IPS: the pulse ends at 5400; restore 30, verify 80, two iterations of 380 after the resume.
    // IPC: free at 5190; restore 30, verify 80, then all three iterations.
    for (mode, free_ns, left_ns) in [(IPS, 5_400, 870), (IPC, 5_190, 1_250)] {
        let mut device = both_suspended(part(), nesting(mode), free_ns);
        assert!(device.die.is_suspended());
        assert_eq!(device.die.operations().block(), Some(PROGRAMMED));
        assert_eq!(device.die.operations().outer_block(), Some(ERASED));
        assert_eq!(device.issue(6_000, READ), Answer::EndsAt(7_100));
        assert_eq!(device.elapse(7_100), Elapsed::ReadReady);
        device.die.release();
        // The program resumes first, and only after its end the erase.
        let end_ns = 7_100 + left_ns;
        assert_eq!(device.issue(7_100, Ask::Resume), Answer::EndsAt(end_ns));
        assert_eq!(device.die.operations().suspensions(), 1);
        assert_refused(&device, 7_200, Ask::Resume, Refusal::NothingToResume);
        assert_eq!(device.assert_free_exactly_at(end_ns), Elapsed::Programmed);
        erase_to_its_end(device, 9_000);
    }
}

#[test]
fn an_erase_is_suspended_again_after_a_program_inside_it() {
    let mut device = program_begun(part(), nesting(IPS));
    device.elapse(6_240);
    assert_eq!(device.issue(7_000, Ask::Resume), Answer::EndsAt(10_130));
    // Set-up to 7040, then 60 of the 3000: 2940 are left.
    assert_eq!(device.issue(7_100, Ask::Suspend), Answer::FreeAt(7_140));
    device.elapse(7_140);
    let next = Ask::Start(Command::Program(page(0, 0, 1)));
    assert_eq!(device.issue(7_140, next), Answer::EndsAt(10_380));
    device.elapse(10_380);
    // 40 + 2940 + 90.
    assert_eq!(device.issue(10_380, Ask::Resume), Answer::EndsAt(13_450));
    assert_eq!(device.die.operations().suspensions(), 2);
    assert_eq!(device.assert_free_exactly_at(13_450), Elapsed::Erased);
}

#[test]
fn the_guards_of_the_two_are_their_own() {
    let min_progress = Dur::from_ns(500);
    let (max_per_program, max_per_erase) = (Some(1), Some(1));
    let guarded = Suspension { max_per_program, max_per_erase, min_progress, ..nesting(IPS) };
    // The erase has used up its one suspension, the program inside it has one of its own, and no
    // resume before it from which it would have to make progress.
    let mut device = both_suspended(part(), guarded, 5_400);
    assert_eq!(device.issue(6_000, Ask::Resume), Answer::EndsAt(6_870));
    assert_refused(&device, 6_600, Ask::Suspend, Refusal::LimitReached);
    device.elapse(6_870);
    assert_eq!(device.issue(7_000, Ask::Resume), Answer::EndsAt(10_130));
    assert_refused(&device, 8_000, Ask::Suspend, Refusal::LimitReached);
    // Without the limit, the erase makes progress from its own resume.
    let guarded = Suspension { max_per_erase: None, ..guarded };
    let mut device = program_begun(part(), guarded);
    device.elapse(6_240);
    device.issue(7_000, Ask::Resume);
    let until = Time::from_ns(7_500);
    assert_refused(&device, 7_499, Ask::Suspend, Refusal::TooSoon { until });
    assert!(device.probe(7_500, Ask::Suspend).is_ok());
}

#[test]
fn only_a_program_goes_inside_and_only_inside_an_erase() {
    let other = |command: fn(_) -> Command| Ask::Start(command(page(1, 2, 0)));
    let (program, erase) = (other(Command::Program), other(Command::Erase));
    let device = erase_suspended(part(), nesting(IPC));
    assert_refused(&device, 3_000, erase, Refusal::Nested);
    assert_refused(&device, 3_000, Ask::Suspend, Refusal::Nested);
    assert!(device.probe(3_000, program).is_ok());
    // Inside the program inside the erase: reads alone, and no third suspension.
    let device = both_suspended(part(), nesting(IPC), 5_190);
    assert_refused(&device, 6_000, program, Refusal::Nested);
    assert_refused(&device, 6_000, erase, Refusal::Nested);
    assert_refused(&device, 6_000, Ask::Suspend, Refusal::Nested);
    assert!(device.probe(6_000, READ).is_ok());
    // Inside a program by itself neither, whatever the part can do inside an erase.
    let mut device = Device::new(part(), nesting(IPC));
    device.issue(0, PROGRAM);
    device.issue(2_200, Ask::Suspend);
    device.elapse(2_240);
    assert_refused(&device, 3_000, program, Refusal::Nested);
    assert_refused(&device, 3_000, erase, Refusal::Nested);
    // A part that cannot do it.
    let device = erase_suspended(part(), suspending(IPC));
    assert_refused(&device, 3_000, program, Refusal::Nested);
}

#[test]
fn the_blocks_of_both_are_closed() {
    let in_block = |(plane, block): (u32, u32), command: fn(_) -> Command| {
        Ask::Start(command(page(plane, block, 0)))
    };
    let commands = [Command::Read, Command::Program, Command::Erase];
    let device = erase_suspended(part(), nesting(IPC));
    for command in commands {
        assert_refused(&device, 3_000, in_block(ERASED, command), Refusal::SuspendedBlock);
    }
    assert!(device.probe(3_000, in_block(PROGRAMMED, Command::Read)).is_ok());
    let mut device = both_suspended(part(), nesting(IPC), 5_190);
    for block in [ERASED, PROGRAMMED] {
        for command in commands {
            assert_refused(&device, 6_000, in_block(block, command), Refusal::SuspendedBlock);
        }
    }
    // When the program is complete its block is as any other, and that of the erase is not.
    device.issue(6_000, Ask::Resume);
    device.elapse(7_250);
    assert!(device.probe(7_250, in_block(PROGRAMMED, Command::Read)).is_ok());
    assert_refused(&device, 7_250, in_block(ERASED, Command::Read), Refusal::SuspendedBlock);
}

#[test]
fn buffers_are_as_for_any_program() {
    // The page of a read still leaves through the register that the program's page comes in by.
    let cached = Timing { cache_register: true, ..part() };
    let mut device = erase_suspended(cached, nesting(IPC));
    device.issue(2_140, READ);
    device.elapse(3_240);
    assert_refused(&device, 3_240, PROGRAM, Refusal::Busy);
    device.die.release();
    assert!(device.probe(3_240, PROGRAM).is_ok());
    // Without a shadow buffer the program's page comes again: 2000 and no 30; an erase has none.
    let bare = Suspension { shadow_buffer: false, ..nesting(IPC) };
    let mut device = both_suspended(part(), bare, 5_190);
    assert!(device.die.resume_needs_channel());
    assert_eq!(device.issue(6_000, Ask::Resume), Answer::EndsAt(6_000 + 2_000 + 80 + 1_140));
    device.elapse(9_220);
    assert!(!device.die.resume_needs_channel());
    erase_to_its_end(device, 9_220);
}
