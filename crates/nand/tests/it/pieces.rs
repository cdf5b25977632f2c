//! Planes that are stopped apart, calculated by hand.
//!
//! A program of two planes: commands to 200, data in to 4200, then pulse and verify to 4500 and
//! 4580, to 4880 and 4960, to 5260 and 5340. An erase of two: commands to 200, pulse to 5200,
//! verify to 5290.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, Parallelism, PlaneWork, ProgramSuspension, Refusal,
    ResumeAt, Suspend, Suspension,
};

use crate::device::{page, parallel_die, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

const APART: Parallelism = Parallelism {
    multi_plane: MultiPlane::Page,
    pages_end_together: false,
    independent_plane_reads: true,
    cache_program: false,
    plane_suspension: true,
};

const OWN: PageAddress = page(0, 1, 0);
const OTHER: PageAddress = page(1, 1, 0);

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

const fn read(plane: u32) -> Command {
    Command::Read(page(plane, 0, 0))
}

fn running(command: Command, suspension: Suspension) -> Die {
    let mut die = parallel_die(part(), suspension, APART);
    die.start_together(at(0), command, &[OTHER]).expect("it is idle");
    die
}

/// A program of both planes, begun at 0.
fn programming() -> Die {
    running(Command::Program(OWN), suspending(IPS))
}

/// Stops a plane at `now_ns`, which is free at `free_ns`.
#[track_caller]
fn stop(die: &mut Die, plane: u32, now_ns: u64, free_ns: u64) {
    assert_eq!(die.suspend_plane(at(now_ns), plane), Ok(Suspend::FreeAt(at(free_ns))));
    assert_eq!(die.plane_work(plane), PlaneWork::Suspending(at(free_ns)));
    assert_eq!(die.elapse_piece(at(free_ns), plane), Elapsed::Suspended);
    assert_eq!(die.plane_work(plane), PlaneWork::Suspended);
}

#[test]
fn one_plane_makes_way_and_the_other_goes_on() {
    let mut die = programming();
    assert_eq!(die.start(at(4_300), read(1)), Err(Refusal::Busy));
    // The first pulse is from 4200 to 4500.
    stop(&mut die, 1, 4_300, 4_500);
    assert_eq!(die.plane_work(0), PlaneWork::Running(at(5_340)));
    assert_eq!(die.start(at(4_500), read(0)), Err(Refusal::Busy));
    assert_eq!(die.start(at(4_500), Command::Read(OTHER)), Err(Refusal::SuspendedBlock));
    assert_eq!(die.start(at(4_500), read(1)), Ok(at(5_600)));
    assert_eq!(die.elapse(at(5_340)), Elapsed::Programmed);
    assert_eq!(die.plane_work(0), PlaneWork::None);
    // The plane that is done reads, and nothing else begins.
    assert!(die.clone().start(at(5_340), read(0)).is_ok());
    let erase = Command::Erase(page(0, 2, 0));
    assert_eq!(die.start(at(5_340), erase), Err(Refusal::Busy));
    assert_eq!(die.elapse_plane(at(5_600), 1), Elapsed::ReadReady);
    assert_eq!(die.resume_plane(at(5_700), 1), Err(Refusal::Busy));
    assert!(!die.release_plane(1));
    // Restore 30, verify 80, two iterations of 380.
    assert_eq!(die.resume_plane(at(7_600), 1), Ok(at(8_470)));
    assert_eq!(die.plane_work(1), PlaneWork::Running(at(8_470)));
    assert!(!die.is_free() && !die.takes_reads());
    assert_eq!(die.elapse_piece(at(8_470), 1), Elapsed::Programmed);
    assert!(die.is_free() && die.start(at(8_470), erase).is_ok());
}

#[test]
fn both_planes_make_way_one_after_the_other() {
    let mut die = programming();
    stop(&mut die, 0, 4_300, 4_500);
    assert_eq!(die.plane_work(1), PlaneWork::Running(at(5_340)));
    // In the verify from 4500 to 4580.
    stop(&mut die, 1, 4_550, 4_580);
    assert!(!die.is_running() && !die.is_suspended() && !die.is_free());
    assert_eq!(die.suspend(at(4_590)), Err(Refusal::NothingToSuspend));
    assert_eq!(die.resume(at(4_590)), Err(Refusal::NothingToResume));
    // Restore 30; the one has its verify to go, and both two iterations of 380.
    assert_eq!(die.resume_plane(at(4_600), 0), Ok(at(5_470)));
    assert_eq!(die.resume_plane(at(4_600), 1), Ok(at(5_390)));
    assert_eq!(die.elapse_piece(at(5_390), 1), Elapsed::Programmed);
    assert!(!die.is_free());
    assert_eq!(die.elapse_piece(at(5_470), 0), Elapsed::Programmed);
    assert!(die.is_free());
}

#[test]
fn a_plane_of_an_erase_keeps_what_its_pulse_has_left() {
    let mut die = running(Command::Erase(OWN), suspending(IPS));
    // Broken off, with a voltage reset of 40; 4000 of the pulse are left.
    stop(&mut die, 0, 1_200, 1_240);
    assert_eq!(die.plane_work(1), PlaneWork::Running(at(5_290)));
    // Set-up 40, the rest of the pulse, verify 90.
    assert_eq!(die.resume_plane(at(3_000), 0), Ok(at(7_130)));
    // From 3040 on 960 of it have passed.
    stop(&mut die, 0, 4_000, 4_040);
    assert_eq!(die.resume_plane(at(4_100), 0), Ok(at(7_270)));
    assert_eq!(die.elapse(at(5_290)), Elapsed::Erased);
    assert_eq!(die.elapse_piece(at(7_270), 0), Elapsed::Erased);
    assert!(die.is_free());
}

#[test]
fn a_plane_on_which_nothing_runs_stops_nothing() {
    let mut die = parallel_die(part(), suspending(IPS), APART);
    assert_eq!(die.start(at(0), Command::Program(OWN)), Ok(at(3_240)));
    assert_eq!(die.suspend_plane(at(2_500), 1), Err(Refusal::NothingToSuspend));
    assert_eq!(die.start(at(2_500), Command::Program(OTHER)), Err(Refusal::Busy));
    assert_eq!(die.start(at(2_500), read(1)), Ok(at(3_600)));
    assert_eq!(die.start(at(2_600), read(1)), Err(Refusal::Busy));
    assert_eq!(die.elapse(at(3_240)), Elapsed::Programmed);
    assert!(die.takes_reads() && !die.is_free());
    assert_eq!(die.elapse_plane(at(3_600), 1), Elapsed::ReadReady);
    assert!(!die.release_plane(1) && die.is_free());
}

#[test]
fn guards_are_of_a_plane() {
    let limits = Suspension { max_per_program: Some(1), ..suspending(IPS) };
    let mut die = running(Command::Program(OWN), limits);
    stop(&mut die, 0, 4_300, 4_500);
    assert_eq!(die.suspend_plane(at(4_500), 0), Err(Refusal::Nested));
    assert_eq!(die.resume_plane(at(4_500), 0), Ok(at(5_370)));
    assert_eq!(die.suspend_plane(at(4_700), 0), Err(Refusal::LimitReached));
    assert_eq!(die.suspend_plane(at(4_700), 1), Ok(Suspend::FreeAt(at(4_880))));
    assert_eq!(die.suspend_plane(at(4_800), 1), Err(Refusal::AlreadySuspending));
    assert_eq!(die.resume_plane(at(4_800), 1), Err(Refusal::NothingToResume));
    // In its last verify a plane runs to its end.
    let mut die = programming();
    assert_eq!(die.suspend_plane(at(5_300), 1), Ok(Suspend::RunsToEnd));
    assert_eq!(die.elapse(at(5_340)), Elapsed::Programmed);
    assert!(die.is_free());
}

#[test]
fn parts_that_stop_all_planes_stop_no_single_one() {
    let whole = Parallelism { plane_suspension: false, ..APART };
    let mut die = parallel_die(part(), suspending(IPS), whole);
    die.start_together(at(0), Command::Program(OWN), &[OTHER]).expect("it is idle");
    assert_eq!(die.suspend_plane(at(4_300), 1), Err(Refusal::NotSuspendable));
    let mut die = running(Command::Program(OWN), suspending(ProgramSuspension::None));
    assert_eq!(die.suspend_plane(at(4_300), 1), Err(Refusal::NotSuspendable));
}

#[test]
fn the_page_of_a_plane_that_made_way_waits_in_a_second_register() {
    let at_read = Suspension { resume_at: ResumeAt::ArrayRead, ..suspending(IPS) };
    let mut die = running(Command::Program(OWN), at_read);
    stop(&mut die, 1, 4_300, 4_500);
    assert_eq!(die.start(at(4_500), read(1)), Ok(at(5_600)));
    assert_eq!(die.resume_plane(at(5_590), 1), Err(Refusal::Busy));
    assert_eq!(die.elapse_plane(at(5_600), 1), Elapsed::ReadReady);
    assert_eq!(die.resume_plane(at(5_600), 1), Ok(at(6_470)));
    assert!(!die.release_plane(1));
}
