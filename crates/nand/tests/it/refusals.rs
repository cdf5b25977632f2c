//! Every reason to refuse, provoked from every state that has it; a refusal changes nothing.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, ProgramSuspension, Refusal, Suspension, Timing};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, READ, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const IPC: ProgramSuspension = ProgramSuspension::Ipc;

/// What is asked, when, and the refusal that answers it.
type Row = (u64, Ask, Refusal);

/// The device refuses each row, and is the same before and after.
#[track_caller]
fn check_refusals(device: &mut Device, rows: &[Row]) {
    for &(now_ns, ask, refusal) in rows {
        let before = format!("{:?}", device.die);
        let now = Time::from_ns(now_ns);
        let got = match ask {
            Ask::Start(command) => device.die.start(now, command).map(drop),
            Ask::Suspend => device.die.suspend(now).map(drop),
            Ask::Resume => device.die.resume(now).map(drop),
        };
        assert_eq!(got, Err(refusal), "{ask:?} at {now_ns}");
        assert_eq!(format!("{:?}", device.die), before, "{ask:?} at {now_ns} is refused");
    }
}

fn read(plane: u32, block: u32, number: u32) -> Ask {
    Ask::Start(Command::Read(page(plane, block, number)))
}

fn program(plane: u32, block: u32, number: u32) -> Ask {
    Ask::Start(Command::Program(page(plane, block, number)))
}

fn erase(plane: u32, block: u32) -> Ask {
    Ask::Start(Command::Erase(page(plane, block, 0)))
}

fn idle(suspension: Suspension) -> Device {
    Device::new(part(), suspension)
}

/// Busy at `ask` from 0 on.
fn begun(suspension: Suspension, ask: Ask) -> Device {
    let mut device = idle(suspension);
    device.issue(0, ask);
    device
}

/// Suspended from `free_ns` on after a request at 2200.
fn suspended(suspension: Suspension, ask: Ask, free_ns: u64) -> Device {
    let mut device = begun(suspension, ask);
    assert_eq!(device.issue(2_200, Ask::Suspend), Answer::FreeAt(free_ns));
    device.elapse(free_ns);
    device
}

#[test]
fn busy() {
    let starts = |now_ns| [READ, PROGRAM, ERASE].map(|ask| (now_ns, ask, Refusal::Busy));
    check_refusals(&mut begun(suspending(IPC), READ), &starts(1_099));
    check_refusals(&mut begun(suspending(IPC), ERASE), &starts(5_189));
    let mut programming = begun(suspending(IPC), PROGRAM);
    check_refusals(&mut programming, &starts(0));
    check_refusals(&mut programming, &starts(3_239));
    // On the way into suspension the array is not free either.
    programming.issue(2_200, Ask::Suspend);
    check_refusals(&mut programming, &starts(2_239));
    programming.elapse(2_240);
    programming.issue(2_240, READ);
    check_refusals(&mut programming, &[(3_000, READ, Refusal::Busy)]);
    check_refusals(&mut programming, &[(3_000, Ask::Resume, Refusal::Busy)]);
}

#[test]
fn busy_with_the_output_register() {
    let cached = Timing { cache_register: true, ..part() };
    let bare = Suspension { shadow_buffer: false, ..suspending(IPC) };
    let mut device = Device::new(cached, bare);
    device.issue(0, READ);
    device.elapse(1_100);
    check_refusals(&mut device, &[(1_100, PROGRAM, Refusal::Busy)]);
    device.die.release();
    device.issue(10_000, PROGRAM);
    device.issue(12_100, Ask::Suspend);
    device.elapse(12_100);
    device.issue(12_100, READ);
    device.elapse(13_200);
    check_refusals(&mut device, &[(13_200, Ask::Resume, Refusal::Busy)]);
}

#[test]
fn no_such_page() {
    let places = [(2, 0, 0), (0, 3, 0), (0, 0, 4), (u32::MAX, u32::MAX, u32::MAX)];
    for (plane, block, number) in places {
        let at = page(plane, block, number);
        for command in [Command::Read(at), Command::Program(at)] {
            let row = (0, Ask::Start(command), Refusal::NoSuchPage);
            check_refusals(&mut idle(suspending(IPS)), &[row]);
        }
    }
    for (plane, block) in [(2, 0), (0, 3)] {
        let row = (0, erase(plane, block), Refusal::NoSuchPage);
        check_refusals(&mut idle(suspending(IPS)), &[row]);
    }
    // The last page of all is there.
    assert!(idle(suspending(IPS)).probe(0, read(1, 2, 3)).is_ok());
}

#[test]
fn out_of_order_and_already_programmed() {
    let mut device = idle(suspending(IPS));
    device.die.precondition(1, 1, 2);
    let rows = [
        (0, program(1, 1, 3), Refusal::OutOfOrder { expected: 2 }),
        (0, program(1, 1, 1), Refusal::AlreadyProgrammed),
        (0, program(1, 1, 0), Refusal::AlreadyProgrammed),
        (0, program(1, 0, 1), Refusal::OutOfOrder { expected: 0 }),
        (0, program(0, 1, 2), Refusal::OutOfOrder { expected: 0 }),
    ];
    check_refusals(&mut device, &rows);
}

#[test]
fn suspended_block() {
    let own_block = |block: u32| {
        [read(0, block, 3), program(0, block, 1), erase(0, block)]
            .map(|ask| (3_000, ask, Refusal::SuspendedBlock))
    };
    let mut programming = suspended(suspending(IPC), PROGRAM, 2_240);
    check_refusals(&mut programming, &own_block(0));
    let mut erasing = suspended(suspending(IPC), ERASE, 2_240);
    check_refusals(&mut erasing, &own_block(1));
    // The same block number of the other plane, and the other blocks of the plane, can be read.
    for other in [read(1, 1, 0), read(0, 0, 0), read(0, 2, 0)] {
        assert!(erasing.probe(3_000, other).is_ok());
    }
    // Resumed and complete, the block is as any other.
    device_completes(&mut erasing);
    assert!(erasing.probe(20_000, read(0, 1, 0)).is_ok());
}

fn device_completes(device: &mut Device) {
    let Answer::EndsAt(end_ns) = device.issue(10_000, Ask::Resume) else {
        panic!("a resume says when the operation ends");
    };
    device.elapse(end_ns);
}

#[test]
fn nested() {
    for (ask, other_blocks) in
        [(PROGRAM, [program(0, 1, 0), erase(1, 0)]), (ERASE, [program(0, 0, 0), erase(0, 0)])]
    {
        let mut device = suspended(suspending(IPC), ask, 2_240);
        let rows = other_blocks.map(|other| (3_000, other, Refusal::Nested));
        check_refusals(&mut device, &rows);
        // Neither is a suspend request nested, be the array idle, sensing or holding a page.
        check_refusals(&mut device, &[(3_000, Ask::Suspend, Refusal::Nested)]);
        device.issue(3_000, READ);
        check_refusals(&mut device, &[(3_500, Ask::Suspend, Refusal::Nested)]);
        device.elapse(4_100);
        check_refusals(&mut device, &[(4_100, Ask::Suspend, Refusal::Nested)]);
    }
}

#[test]
fn nothing_to_suspend() {
    let row = |now_ns| [(now_ns, Ask::Suspend, Refusal::NothingToSuspend)];
    check_refusals(&mut idle(suspending(IPS)), &row(0));
    let mut reading = begun(suspending(IPS), READ);
    check_refusals(&mut reading, &row(500));
    reading.elapse(1_100);
    check_refusals(&mut reading, &row(1_100));
    let mut programmed = begun(suspending(IPS), PROGRAM);
    programmed.elapse(3_240);
    check_refusals(&mut programmed, &row(3_240));
}

#[test]
fn nothing_to_resume() {
    let row = |now_ns| [(now_ns, Ask::Resume, Refusal::NothingToResume)];
    check_refusals(&mut idle(suspending(IPS)), &row(0));
    check_refusals(&mut begun(suspending(IPS), READ), &row(500));
    let mut programming = begun(suspending(IPS), PROGRAM);
    check_refusals(&mut programming, &row(500));
    // On the way into suspension it is not yet suspended, nor any more once it is resumed.
    programming.issue(2_101, Ask::Suspend);
    check_refusals(&mut programming, &row(2_399));
    programming.elapse(2_400);
    programming.issue(3_000, Ask::Resume);
    check_refusals(&mut programming, &row(3_000));
}

#[test]
fn already_suspending() {
    for (ask, free_ns) in [(PROGRAM, 2_240), (ERASE, 2_240)] {
        let mut device = begun(suspending(IPC), ask);
        device.issue(2_200, Ask::Suspend);
        let rows = [2_200, 2_239, free_ns].map(|at| (at, Ask::Suspend, Refusal::AlreadySuspending));
        check_refusals(&mut device, &rows);
    }
}

#[test]
fn not_suspendable() {
    let rows = [0, 2_100, 2_200, 3_240].map(|at| (at, Ask::Suspend, Refusal::NotSuspendable));
    let no_programs = suspending(ProgramSuspension::None);
    check_refusals(&mut begun(no_programs, PROGRAM), &rows);
    let no_erases = Suspension { erase: false, ..suspending(IPC) };
    check_refusals(&mut begun(no_erases, ERASE), &rows);
    // Each of the two is able to do the other.
    assert!(begun(no_programs, ERASE).probe(2_200, Ask::Suspend).is_ok());
    assert!(begun(no_erases, PROGRAM).probe(2_200, Ask::Suspend).is_ok());
}

#[test]
fn limit_reached() {
    let once = Suspension { max_per_program: Some(1), max_per_erase: Some(1), ..suspending(IPC) };
    for ask in [PROGRAM, ERASE] {
        let mut device = suspended(once, ask, 2_240);
        device.issue(3_000, Ask::Resume);
        check_refusals(&mut device, &[(3_100, Ask::Suspend, Refusal::LimitReached)]);
    }
}

#[test]
fn too_soon() {
    let guarded = Suspension { min_progress: Dur::from_ns(200), ..suspending(IPC) };
    let refusal = Refusal::TooSoon { until: Time::from_ns(3_200) };
    for ask in [PROGRAM, ERASE] {
        let mut device = suspended(guarded, ask, 2_240);
        device.issue(3_000, Ask::Resume);
        check_refusals(&mut device, &[3_000, 3_199].map(|at| (at, Ask::Suspend, refusal)));
        assert!(device.probe(3_200, Ask::Suspend).is_ok());
    }
}

#[test]
fn a_request_that_runs_to_the_end_changes_nothing_either() {
    for (ask, request_ns) in [(PROGRAM, 3_200), (ERASE, 5_150)] {
        let mut device = begun(suspending(IPC), ask);
        let before = format!("{:?}", device.die);
        assert_eq!(device.issue(request_ns, Ask::Suspend), Answer::RunsToEnd);
        assert_eq!(format!("{:?}", device.die), before);
    }
}

#[test]
fn a_refusal_names_what_the_asker_needs_to_know() {
    let text = Refusal::OutOfOrder { expected: 17 }.to_string();
    assert!(text.ends_with("the next of this one is 17"), "{text}");
    let text = Refusal::TooSoon { until: Time::from_ns(3_200) }.to_string();
    assert!(text.ends_with("allowed from 3200 ns"), "{text}");
}
