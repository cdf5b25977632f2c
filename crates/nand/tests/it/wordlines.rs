//! Wordlines whose pages one program takes: transfers with gaps, one time in the array.
//!
//! Of two pages with a gap of 7 between them: command to 100, data to 4107, iterations to 5247.

use reprieve_base::{Dur, Time};
use reprieve_nand::{
    Command, Elapsed, MultiPlane, Parallelism, ProgramSuspension, Refusal, Suspend, Suspension,
    Timing, Wordline,
};

use crate::device::suspending;
use crate::device::{Answer, Ask, Device, PROGRAM, check_stops, page, parallel_die, part};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

fn pairs() -> Timing {
    Timing { wordline: Some(Wordline { pages: 2, load_gap: Dur::from_ns(7) }), ..part() }
}

fn program(number: u32) -> Ask {
    Ask::Start(Command::Program(page(0, 0, number)))
}

#[test]
fn a_program_takes_all_pages_of_a_wordline() {
    let mut device = Device::new(pairs(), suspending(IPS));
    assert_eq!(device.issue(0, PROGRAM), Answer::EndsAt(5_247));
    assert_eq!(device.die.undisturbed_program(page(0, 0, 0)).ns(), 5_247);
    assert_eq!(device.assert_free_exactly_at(5_247), Elapsed::Programmed);
    assert_eq!(device.probe(6_000, program(1)), Err(Refusal::AlreadyProgrammed));
    assert_eq!(device.probe(6_000, program(3)), Err(Refusal::OutOfOrder { expected: 2 }));
    assert_eq!(device.issue(6_000, program(2)), Answer::EndsAt(11_247));
}

#[test]
fn preconditioning_fills_a_wordline_that_was_begun() {
    let mut device = Device::new(pairs(), suspending(IPS));
    device.die.precondition(0, 0, 1);
    assert_eq!(device.probe(0, program(1)), Err(Refusal::AlreadyProgrammed));
    assert!(device.probe(0, program(2)).is_ok());
}

#[test]
fn its_transfers_are_atomic_and_its_iterations_are_not() {
    let rows = [
        // Free when all data is in: 10000 + 30 + 3 x 380.
        (1_000, Some((4_107, 11_170))),
        (2_103, Some((4_107, 11_170))),
        // First pulse to 4407.
        (4_108, Some((4_407, 10_870))),
        (5_200, None),
    ];
    check_stops(pairs(), suspending(IPS), PROGRAM, &rows);
    // Without a shadow buffer all of it comes again: 10000 + 4007 + 80 + 760.
    let bare = Suspension { shadow_buffer: false, ..suspending(IPS) };
    check_stops(pairs(), bare, PROGRAM, &[(4_108, Some((4_407, 14_847)))]);
}

#[test]
fn several_planes_program_a_wordline_each() {
    let parallelism = Parallelism { multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    let mut die = parallel_die(pairs(), suspending(IPS), parallelism);
    let at = Time::from_ns;
    // Commands to 200, data to 8214.
    let pair = die.start_together(at(0), Command::Program(page(0, 0, 0)), &[page(1, 1, 0)]);
    assert_eq!(pair, Ok(at(8_214 + 1_140)));
    assert_eq!(die.suspend(at(8_000)), Ok(Suspend::FreeAt(at(8_214))));
    die.elapse(at(8_214));
    assert_eq!(die.resume(at(10_000)), Ok(at(11_170)));
    die.elapse(at(11_170));
    let next = die.start_together(at(12_000), Command::Program(page(0, 0, 2)), &[page(1, 1, 2)]);
    assert!(next.is_ok());
}

#[test]
fn a_wordline_is_not_copied_page_by_page() {
    let copy = Command::Copyback { from: page(0, 1, 0), to: page(0, 0, 0) };
    let device = Device::new(pairs(), suspending(IPS));
    assert_eq!(device.probe(0, Ask::Start(copy)), Err(Refusal::NotTogether));
}

#[test]
#[should_panic(expected = "a block of part of a wordline")]
fn a_block_is_made_of_whole_wordlines() {
    let thirds = Timing { wordline: Some(Wordline { pages: 3, load_gap: Dur::ZERO }), ..part() };
    Device::new(thirds, suspending(IPS));
}
