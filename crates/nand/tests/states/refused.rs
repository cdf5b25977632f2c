//! Pairs of features that a scenario refuses: what a die would do without the refusal.

use std::sync::Arc;

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, Parallelism, Part, PlaneWork, ProgramSuspension, Refusal,
    Suspend, Suspension,
};

use crate::parts::{APART, suspension, two_planes};

const fn page(plane: u32, block: u32) -> PageAddress {
    PageAddress { plane, block, page: 0 }
}

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn die(parallelism: Parallelism, suspension: Suspension) -> Die {
    let part: Part = two_planes(suspension, parallelism);
    Die::new(Arc::new(part), 1, 0)
}

/// A die whose plane 1 has made way at 9 for a program of both planes, on which plane 0 still is.
///
/// Commands and data take 6, each of two iterations 7.
fn apart(parallelism: Parallelism, suspension: Suspension) -> Die {
    let mut die = die(parallelism, suspension);
    let begun = die.start_together(at(0), Command::Program(page(0, 0)), &[page(1, 0)]);
    assert_eq!(begun, Ok(at(20)));
    assert_eq!(die.suspend_plane(at(6), 1), Ok(Suspend::FreeAt(at(6))));
    assert_eq!(die.elapse_piece(at(6), 1), Elapsed::Suspended);
    assert_eq!(die.plane_work(0), PlaneWork::Running(at(20)));
    die
}

#[test]
fn a_page_that_is_loaded_is_in_the_way_of_one_that_is_sent_again() {
    let parallelism = Parallelism { cache_program: true, ..Parallelism::NONE };
    let over_channel = Suspension { shadow_buffer: false, ..suspension(ProgramSuspension::Ips) };
    let mut die = die(parallelism, over_channel);
    die.start(at(0), Command::Program(page(0, 0))).expect("it is idle");
    assert_eq!(die.load(at(4), page(0, 1), &[]), Err(Refusal::CannotRestore));
}

#[test]
fn a_plane_that_makes_way_alone_reads_into_the_only_buffer_over_what_still_runs() {
    let one_buffer = Parallelism { independent_plane_reads: false, ..APART };
    let mut die = apart(one_buffer, suspension(ProgramSuspension::Ips));
    assert!(die.start(at(6), Command::Read(page(1, 1))).is_ok());
    // The program of plane 0 is lost.
    assert_eq!(die.plane_work(0), PlaneWork::None);
}

#[test]
fn a_page_that_is_loaded_beside_a_suspended_plane_begins_on_it() {
    let mut die =
        apart(Parallelism { cache_program: true, ..APART }, suspension(ProgramSuspension::Ips));
    assert!(die.load(at(7), page(1, 1), &[]).is_ok());
    assert_eq!(die.elapse(at(20)), Elapsed::Programmed);
    // Two programs run on plane 1.
    assert_eq!(die.operations().block(), Some((1, 1)));
    assert!(die.running_until().is_some() && die.resume_plane(at(20), 1).is_ok());
}

#[test]
fn no_program_begins_inside_an_erase_of_which_a_plane_still_works() {
    assert_eq!(APART.multi_plane, MultiPlane::Page);
    let nesting = Suspension { program_in_erase: true, ..suspension(ProgramSuspension::Ips) };
    let mut die = die(APART, nesting);
    die.start_together(at(0), Command::Erase(page(0, 0)), &[page(1, 0)]).expect("it is idle");
    let Ok(Suspend::FreeAt(free_at)) = die.suspend_plane(at(4), 1) else { panic!("it makes way") };
    assert_eq!(die.elapse_piece(free_at, 1), Elapsed::Suspended);
    assert_eq!(die.start(free_at, Command::Program(page(1, 1))), Err(Refusal::Busy));
}
