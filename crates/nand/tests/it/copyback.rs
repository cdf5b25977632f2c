//! Copybacks: a page read and programmed within its plane, without a transfer.
//!
//! Left alone and begun at 0: two commands to 200, sensing to 1200, iterations to 2340.

use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, Suspension, Timing};

use crate::device::{Answer, Ask, Device, READ, check_stops, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;
const COPY: Ask = copy(0, 0, 0);

/// From block 1 of plane 0 to a page of another block.
const fn copy(plane: u32, block: u32, number: u32) -> Ask {
    Ask::Start(Command::Copyback { from: page(0, 1, 2), to: page(plane, block, number) })
}

#[test]
fn a_copyback_is_a_read_and_a_program_without_data() {
    let mut device = Device::new(part(), suspending(IPS));
    assert_eq!(device.issue(0, COPY), Answer::EndsAt(2_340));
    assert_eq!(device.die.undisturbed_copyback(page(0, 1, 2), page(0, 0, 0)).ns(), 2_340);
    assert_eq!(device.assert_free_exactly_at(2_340), Elapsed::Programmed);
    // Its page is programmed.
    assert_eq!(device.probe(3_000, COPY), Err(Refusal::AlreadyProgrammed));
    assert!(device.probe(3_000, copy(0, 0, 1)).is_ok());
}

#[test]
fn its_read_is_atomic_and_its_program_suspends_like_any_other() {
    let rows = [
        // Commands and sensing: free when the page is there; 10000 + 30 + 3 x 380.
        (0, Some((1_200, 11_170))),
        (700, Some((1_200, 11_170))),
        (1_200, Some((1_200, 11_170))),
        // First pulse to 1500, its verify to 1580.
        (1_201, Some((1_500, 10_870))),
        (1_501, Some((1_580, 10_790))),
        (2_261, None),
    ];
    check_stops(part(), suspending(IPS), COPY, &rows);
    // Broken off in the second pulse, 1580 to 1880, of which nothing counts.
    let rows = [(1_700, Some((1_740, 10_000 + 30 + 80 + 2 * 380)))];
    check_stops(part(), suspending(ProgramSuspension::Ipc), COPY, &rows);
}

#[test]
fn the_block_it_writes_to_is_closed_and_the_one_it_reads_from_is_not() {
    let mut device = Device::new(part(), suspending(IPS));
    device.issue(0, COPY);
    device.issue(1_300, Ask::Suspend);
    device.elapse(1_500);
    let read = |block| Ask::Start(Command::Read(page(0, block, 3)));
    assert_eq!(device.probe(1_500, read(0)), Err(Refusal::SuspendedBlock));
    assert!(device.probe(1_500, read(1)).is_ok());
}

#[test]
fn copybacks_that_no_chip_does_are_refused() {
    let device = Device::new(part(), suspending(IPS));
    assert_eq!(device.probe(0, copy(1, 0, 0)), Err(Refusal::OtherPlane));
    assert_eq!(device.probe(0, copy(0, 0, 1)), Err(Refusal::OutOfOrder { expected: 0 }));
    assert_eq!(device.probe(0, copy(0, 3, 0)), Err(Refusal::NoSuchPage));
    let outside = Command::Copyback { from: page(0, 3, 0), to: page(0, 0, 0) };
    assert_eq!(device.probe(0, Ask::Start(outside)), Err(Refusal::NoSuchPage));
    let bare = Suspension { shadow_buffer: false, ..suspending(IPS) };
    let device = Device::new(part(), bare);
    assert_eq!(device.probe(0, COPY), Err(Refusal::CannotRestore));
    // What cannot be suspended need not be restored.
    let bare = Suspension { program: ProgramSuspension::None, ..bare };
    assert!(Device::new(part(), bare).probe(0, COPY).is_ok());
}

#[test]
fn nothing_is_copied_from_the_block_of_a_suspended_operation() {
    let mut device = Device::new(part(), Suspension { program_in_erase: true, ..suspending(IPS) });
    device.issue(0, Ask::Start(Command::Erase(page(0, 1, 0))));
    device.issue(2_100, Ask::Suspend);
    device.elapse(2_140);
    assert_eq!(device.probe(2_140, COPY), Err(Refusal::SuspendedBlock));
}

#[test]
fn a_page_may_still_be_leaving_through_the_cache_register() {
    let mut device = Device::new(Timing { cache_register: true, ..part() }, suspending(IPS));
    device.issue(0, READ);
    device.elapse(1_100);
    let program = Ask::Start(Command::Program(page(0, 0, 0)));
    assert_eq!(device.probe(1_100, program), Err(Refusal::Busy));
    assert_eq!(device.issue(1_100, COPY), Answer::EndsAt(3_440));
}
