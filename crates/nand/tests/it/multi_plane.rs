//! One command on several planes: transfers one after the other, one time in the array.
//!
//! Of two planes a program is: commands to 200, the data of both to 4200, iterations to 5340; an
//! erase: commands to 200, pulse to 5200, verify to 5290; a read: commands to 200, sensing to 1200.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, Parallelism, ProgramSuspension, Refusal, Suspend,
    Suspension, Timing,
};

use crate::device::{page, parallel_die, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

fn die_with(timing: Timing, suspension: Suspension, multi_plane: MultiPlane) -> Die {
    parallel_die(timing, suspension, Parallelism { multi_plane, ..Parallelism::NONE })
}

fn die(multi_plane: MultiPlane) -> Die {
    die_with(part(), suspending(IPS), multi_plane)
}

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn start(die: &mut Die, now_ns: u64, command: Command, other: PageAddress) -> u64 {
    die.start_together(at(now_ns), command, &[other]).expect("a legal command").ns()
}

#[test]
fn a_program_takes_the_data_of_all_and_the_array_once() {
    let mut die = die(MultiPlane::Page);
    assert_eq!(start(&mut die, 0, Command::Program(page(0, 0, 0)), page(1, 2, 0)), 5_340);
    assert_eq!(die.elapse(at(5_340)), Elapsed::Programmed);
    // Both pages are programmed, and nothing else.
    let again = |to| die.clone().start(at(5_340), Command::Program(to));
    assert_eq!(again(page(0, 0, 0)), Err(Refusal::AlreadyProgrammed));
    assert_eq!(again(page(1, 2, 0)), Err(Refusal::AlreadyProgrammed));
    assert!(again(page(1, 2, 1)).is_ok() && again(page(1, 0, 0)).is_ok());
}

#[test]
fn an_erase_takes_one_pulse_for_all() {
    let mut die = die(MultiPlane::Page);
    for plane in [0, 1] {
        die.precondition(plane, plane, 4);
    }
    assert_eq!(start(&mut die, 0, Command::Erase(page(0, 0, 0)), page(1, 1, 0)), 5_290);
    assert_eq!(die.elapse(at(5_290)), Elapsed::Erased);
    for plane in [0, 1] {
        assert!(die.clone().start(at(5_290), Command::Program(page(plane, plane, 0))).is_ok());
    }
}

#[test]
fn the_pages_of_a_read_leave_one_after_the_other() {
    let mut die = die(MultiPlane::Page);
    assert_eq!(start(&mut die, 0, Command::Read(page(0, 0, 3)), page(1, 1, 3)), 1_200);
    assert_eq!(die.elapse(at(1_200)), Elapsed::ReadReady);
    assert!(!die.release() && !die.is_free(), "a page is left in its buffer");
    assert!(!die.release() && die.is_free());
}

#[test]
fn with_a_cache_register_the_next_read_waits_for_the_last_page() {
    let cached = Timing { cache_register: true, ..part() };
    let mut die = die_with(cached, suspending(IPS), MultiPlane::Page);
    start(&mut die, 0, Command::Read(page(0, 0, 3)), page(1, 1, 3));
    die.elapse(at(1_200));
    assert!(die.is_free() && die.output_in_use());
    start(&mut die, 1_200, Command::Read(page(0, 0, 1)), page(1, 1, 1));
    assert_eq!(die.elapse(at(2_400)), Elapsed::ReadHeld);
    assert!(!die.release() && !die.is_free(), "the second page of the first read is left");
    assert!(die.release() && die.is_free(), "now the pages that were held can leave");
    assert!(!die.release() && die.output_in_use());
    assert!(!die.release() && !die.output_in_use());
}

#[test]
fn a_suspension_stops_all_planes() {
    let mut die = die(MultiPlane::Page);
    start(&mut die, 0, Command::Program(page(0, 0, 0)), page(1, 2, 0));
    // In the first pulse, 4200 to 4500.
    assert_eq!(die.suspend(at(4_300)), Ok(Suspend::FreeAt(at(4_500))));
    die.elapse(at(4_500));
    for own in [page(0, 0, 3), page(1, 2, 3)] {
        let read = die.clone().start(at(4_500), Command::Read(own));
        assert_eq!(read, Err(Refusal::SuspendedBlock));
    }
    let pair =
        die.clone().start_together(at(4_500), Command::Read(page(0, 1, 3)), &[page(1, 2, 3)]);
    assert_eq!(pair, Err(Refusal::SuspendedBlock));
    assert!(die.clone().start(at(4_500), Command::Read(page(1, 0, 3))).is_ok());
    // Both pages come back at once: 10000 + 30 + 80 + 2 x 380.
    assert_eq!(die.resume(at(10_000)), Ok(at(10_870)));
    die.elapse(at(10_870));
    assert!(die.clone().start(at(10_870), Command::Read(page(1, 2, 3))).is_ok());
}

#[test]
fn without_a_shadow_buffer_every_page_comes_again_over_the_channel() {
    let bare = Suspension { shadow_buffer: false, ..suspending(IPS) };
    let mut die = die_with(part(), bare, MultiPlane::Page);
    start(&mut die, 0, Command::Program(page(0, 0, 0)), page(1, 2, 0));
    die.suspend(at(4_300)).expect("it runs");
    die.elapse(at(4_500));
    assert!(die.resume_needs_channel());
    assert_eq!(die.operations().planes(), 2);
    assert_eq!(die.resume(at(10_000)), Ok(at(14_840)));
}

#[test]
fn a_suspended_erase_of_two_planes_closes_both_blocks() {
    let mut die = die(MultiPlane::Page);
    start(&mut die, 0, Command::Erase(page(0, 0, 0)), page(1, 1, 0));
    assert_eq!(die.suspend(at(2_200)), Ok(Suspend::FreeAt(at(2_240))));
    die.elapse(at(2_240));
    let read = |die: &Die, own| die.clone().start(at(2_240), Command::Read(own));
    assert_eq!(read(&die, page(0, 0, 0)), Err(Refusal::SuspendedBlock));
    assert_eq!(read(&die, page(1, 1, 0)), Err(Refusal::SuspendedBlock));
    assert!(read(&die, page(1, 0, 0)).is_ok());
    // Set-up 40, 3000 of the pulse, verify 90.
    assert_eq!(die.resume(at(10_000)), Ok(at(13_130)));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |multi_plane, command, others: &[PageAddress]| {
        die(multi_plane).start_together(at(0), command, others).expect_err("not together")
    };
    let (read, program) = (Command::Read(page(0, 1, 2)), Command::Program(page(0, 1, 0)));
    let erase = Command::Erase(page(0, 1, 0));
    // The part has to be able to, the planes to differ, the numbers of the pages to be the same.
    for (multi_plane, command, other) in [
        (MultiPlane::None, read, page(1, 1, 2)),
        (MultiPlane::Page, read, page(0, 2, 2)),
        (MultiPlane::Page, read, page(1, 1, 1)),
        (MultiPlane::Block, read, page(1, 2, 2)),
        (MultiPlane::Block, program, page(1, 2, 0)),
        (MultiPlane::Block, erase, page(1, 2, 0)),
        (
            MultiPlane::Page,
            Command::Copyback { from: page(0, 0, 0), to: page(0, 1, 0) },
            page(1, 1, 0),
        ),
    ] {
        assert_eq!(refused(multi_plane, command, &[other]), Refusal::NotTogether, "{command:?}");
    }
    let twice = [page(1, 1, 2), page(1, 2, 2)];
    assert_eq!(refused(MultiPlane::Page, read, &twice), Refusal::NotTogether);
    assert_eq!(refused(MultiPlane::Page, read, &[page(2, 1, 2)]), Refusal::NoSuchPage);
    // The order of pages holds in every plane.
    let mut die = die(MultiPlane::Page);
    die.precondition(0, 1, 2);
    let second = Command::Program(page(0, 1, 2));
    let order = die.start_together(at(0), second, &[page(1, 1, 2)]);
    assert_eq!(order, Err(Refusal::OutOfOrder { expected: 0 }));
    die.precondition(1, 1, 3);
    let order = die.start_together(at(0), second, &[page(1, 1, 2)]);
    assert_eq!(order, Err(Refusal::AlreadyProgrammed));
    // A refusal has changed nothing.
    die.precondition(1, 1, 2);
    assert!(die.start_together(at(0), second, &[page(1, 1, 2)]).is_ok());
}
