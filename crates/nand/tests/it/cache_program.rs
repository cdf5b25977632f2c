//! Programs whose data comes in while another one runs.
//!
//! The first: data in to 2100, to 3240. Data of the next takes 2100 as well, iterations 1140.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, Parallelism, ProgramSuspension, Refusal, Suspend,
    Suspension, Timing,
};

use crate::device::{page, parallel_die, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

fn die_with(timing: Timing, suspension: Suspension) -> Die {
    let parallelism =
        Parallelism { cache_program: true, multi_plane: MultiPlane::Page, ..Parallelism::NONE };
    parallel_die(timing, suspension, parallelism)
}

fn die() -> Die {
    die_with(part(), suspending(IPS))
}

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

const fn own(number: u32) -> PageAddress {
    page(0, 0, number)
}

/// A program that takes longer than the data of the next: iterations from 2100 to 21480.
fn long() -> Timing {
    Timing { program_iterations: 51, ..part() }
}

#[test]
fn the_next_program_begins_when_the_first_has_ended() {
    let mut die = die_with(long(), suspending(IPS));
    assert_eq!(die.start(at(0), Command::Program(own(0))), Ok(at(21_480)));
    assert_eq!(die.load(at(3_000), own(1), &[]), Ok(at(5_100)));
    assert!(!die.takes_load(at(6_000)), "the register is in use");
    assert_eq!(die.elapse(at(21_480)), Elapsed::Programmed);
    assert_eq!(die.running_until(), Some(at(21_480 + 51 * 380)));
    assert_eq!(die.operations().block(), Some((0, 0)));
    assert!(die.takes_load(at(21_480)), "its page has moved on");
    assert_eq!(die.elapse(at(40_860)), Elapsed::Programmed);
    assert!(die.is_free() && die.running_until().is_none());
    let again = die.start(at(40_860), Command::Program(own(1)));
    assert_eq!(again, Err(Refusal::AlreadyProgrammed));
}

#[test]
fn or_when_its_data_is_in() {
    let mut die = die();
    die.start(at(0), Command::Program(own(0))).expect("it is idle");
    assert_eq!(die.load(at(2_500), own(1), &[]), Ok(at(4_600)));
    die.elapse(at(3_240));
    assert_eq!(die.running_until(), Some(at(4_600 + 1_140)));
    // It has its register to itself again when its own data is in.
    assert!(!die.takes_load(at(4_599)) && die.takes_load(at(4_600)));
}

#[test]
fn a_die_loads_beside_a_program_whose_data_is_in_and_beside_nothing_else() {
    let load = |die: &Die, now_ns| die.clone().load(at(now_ns), own(1), &[]);
    let mut die = die();
    assert_eq!(load(&die, 0), Err(Refusal::Busy));
    let mut erasing = die.clone();
    erasing.start(at(0), Command::Erase(page(0, 1, 0))).expect("it is idle");
    assert_eq!(load(&erasing, 1_000), Err(Refusal::Busy));
    die.start(at(0), Command::Program(own(0))).expect("it is idle");
    assert_eq!(load(&die, 2_099), Err(Refusal::Busy));
    assert!(load(&die, 2_100).is_ok());
    assert_eq!(die.clone().load(at(2_100), own(2), &[]), Err(Refusal::OutOfOrder { expected: 1 }));
    assert_eq!(die.clone().load(at(2_100), own(0), &[]), Err(Refusal::AlreadyProgrammed));
    let mut suspended = die.clone();
    suspended.suspend(at(2_200)).expect("it runs");
    assert_eq!(load(&suspended, 2_300), Err(Refusal::Busy));
    suspended.elapse(at(2_400));
    assert_eq!(load(&suspended, 2_400), Err(Refusal::Busy));
    let mut plain = parallel_die(part(), suspending(IPS), Parallelism::NONE);
    plain.start(at(0), Command::Program(own(0))).expect("it is idle");
    assert_eq!(load(&plain, 2_500), Err(Refusal::Busy));
    // Its page could not come back past that of the next.
    let mut bare = die_with(part(), Suspension { shadow_buffer: false, ..suspending(IPS) });
    bare.start(at(0), Command::Program(own(0))).expect("it is idle");
    assert_eq!(load(&bare, 2_500), Err(Refusal::CannotRestore));
}

#[test]
fn a_suspension_stops_the_one_that_runs_and_the_next_waits() {
    let mut die = die_with(long(), suspending(IPS));
    die.start(at(0), Command::Program(own(0))).expect("it is idle");
    die.load(at(2_100), page(0, 1, 0), &[]).expect("the register is free");
    // In the first pulse, 2100 to 2400, while data comes in.
    assert_eq!(die.suspend(at(2_200)), Ok(Suspend::FreeAt(at(2_400))));
    die.elapse(at(2_400));
    let own_block = die.clone().start(at(2_400), Command::Read(own(2)));
    assert_eq!(own_block, Err(Refusal::SuspendedBlock));
    // The block of the one that has not begun is open.
    assert_eq!(die.start(at(2_400), Command::Read(page(0, 1, 2))), Ok(at(3_500)));
    die.elapse(at(3_500));
    die.release();
    // Restore 30, verify 80, fifty iterations: 5500 + 19110.
    assert_eq!(die.resume(at(5_500)), Ok(at(24_610)));
    die.elapse(at(24_610));
    assert_eq!(die.operations().block(), Some((0, 1)));
    assert_eq!(die.running_until(), Some(at(24_610 + 51 * 380)));
    assert_eq!(die.operations().suspensions(), 0);
    // Stopped at the instant of its beginning it restores its page like any other.
    assert_eq!(die.suspend(at(24_610)), Ok(Suspend::FreeAt(at(24_610))));
    die.elapse(at(24_610));
    assert_eq!(die.resume(at(30_000)), Ok(at(30_030 + 51 * 380)));
}

#[test]
fn its_page_takes_the_register_that_reads_would_use() {
    let cached = Timing { cache_register: true, ..long() };
    let mut die = die_with(cached, suspending(IPS));
    die.start(at(0), Command::Program(own(0))).expect("it is idle");
    let mut without = die.clone();
    die.load(at(2_100), own(1), &[]).expect("the register is free");
    for (die, is_free) in [(&mut die, false), (&mut without, true)] {
        die.suspend(at(2_200)).expect("it runs");
        die.elapse(at(2_400));
        die.start(at(2_400), Command::Read(page(1, 0, 0))).expect("it is suspended");
        die.elapse(at(3_500));
        assert_eq!(die.is_free(), is_free);
    }
}

#[test]
fn several_planes_load_together() {
    let mut die = die_with(long(), suspending(IPS));
    die.start_together(at(0), Command::Program(own(0)), &[page(1, 0, 0)]).expect("both are idle");
    // Data to 4200, 51 iterations to 23580.
    assert_eq!(die.load(at(4_200), own(1), &[page(1, 0, 1)]), Ok(at(8_400)));
    assert_eq!(die.elapse(at(23_580)), Elapsed::Programmed);
    assert_eq!(die.operations().planes(), 2);
    assert_eq!(die.running_until(), Some(at(23_580 + 51 * 380)));
    assert!(die.works_on(page(1, 0, 0)));
    let apart = die.load(at(23_580), own(2), &[page(1, 0, 3)]);
    assert_eq!(apart, Err(Refusal::NotTogether));
}
