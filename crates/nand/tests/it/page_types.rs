//! Pages whose types differ in the times of reads and programs.
//!
//! Iterations take 380 each, and data is in 2100 after the start.

use reprieve_base::Dur;
use reprieve_nand::{Command, PageOrder, PageTypes, ProgramSuspension, Timing};

use crate::device::{Answer, Ask, Device, check_stops, page, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

/// Reads of 1000, 1500 and 2200, programs of 1, 2 and 4 iterations.
fn typed(count: u32, order: PageOrder) -> Timing {
    let read = [1_000, 1_500, 2_200, 3_000].map(Dur::from_ns);
    let types = PageTypes { count, order, read, program_iterations: [1, 2, 4, 6] };
    Timing { page_types: Some(types), ..part() }
}

#[test]
fn types_come_by_turns() {
    let of = |count: u32| {
        let types = typed(count, PageOrder::Modulo).page_types.expect("it has types");
        (0..6).map(|page| types.of(page)).collect::<Vec<_>>()
    };
    assert_eq!(of(2), [0, 1, 0, 1, 0, 1]);
    assert_eq!(of(3), [0, 1, 2, 0, 1, 2]);
    assert_eq!(of(4), [0, 1, 2, 3, 0, 1]);
}

#[test]
fn interleaved_types_are_those_of_the_paper() {
    let types = typed(3, PageOrder::Interleaved).page_types.expect("it has types");
    let first: Vec<_> = (0..22).map(|page| types.of(page)).collect();
    assert_eq!(first, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0]);
}

#[test]
fn each_page_takes_its_own_time() {
    let mut device = Device::new(typed(3, PageOrder::Modulo), suspending(IPS));
    let mut now_ns = 0;
    for (index, (read_ns, iterations)) in
        [(1_000, 1), (1_500, 2), (2_200, 4), (1_000, 1)].into_iter().enumerate()
    {
        let at = page(0, 0, index as u32);
        let end_ns = now_ns + 2_100 + 380 * iterations;
        let program = device.issue(now_ns, Ask::Start(Command::Program(at)));
        assert_eq!(program, Answer::EndsAt(end_ns));
        device.elapse(end_ns);
        let sensed_ns = end_ns + 100 + read_ns;
        let read = device.issue(end_ns, Ask::Start(Command::Read(at)));
        assert_eq!(read, Answer::EndsAt(sensed_ns));
        device.elapse(sensed_ns);
        device.die.release();
        now_ns = sensed_ns + 2_000;
    }
}

#[test]
fn a_program_is_suspended_within_its_own_iterations() {
    // The first page has one iteration, 2100 to 2480, where the part's others have three.
    let first = Ask::Start(Command::Program(page(0, 0, 0)));
    let rows = [
        // 10000 + 30 + 380; 10000 + 30 + 80.
        (2_000, Some((2_100, 10_410))),
        (2_200, Some((2_400, 10_110))),
        (2_450, None),
    ];
    check_stops(typed(3, PageOrder::Modulo), suspending(IPS), first, &rows);
}

#[test]
fn the_length_alone_is_that_of_the_page() {
    let timing = typed(3, PageOrder::Modulo);
    let length = |page| timing.undisturbed_program(false, timing.iterations_of(page)).ns();
    let lengths: Vec<_> = (0..3).map(length).collect();
    assert_eq!(lengths, [2_480, 2_860, 3_620]);
}

#[test]
#[should_panic(expected = "an order of three types")]
fn only_three_types_are_interleaved() {
    Device::new(typed(2, PageOrder::Interleaved), suspending(IPS));
}
