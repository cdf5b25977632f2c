//! Planes that read by themselves: a buffer and an output register each.
//!
//! A read is: command 100, sensing 1000.

use reprieve_base::Time;
use reprieve_nand::{
    Command, Die, Elapsed, MultiPlane, Parallelism, ProgramSuspension, Refusal, ResumeAt,
    Suspension, Timing,
};

use crate::device::{page, parallel_die, part, suspending};

const IPS: ProgramSuspension = ProgramSuspension::Ips;

fn die(timing: Timing, suspension: Suspension) -> Die {
    let parallelism = Parallelism { independent_plane_reads: true, ..Parallelism::NONE };
    parallel_die(timing, suspension, parallelism)
}

const fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn read(plane: u32) -> Command {
    Command::Read(page(plane, 0, 0))
}

#[test]
fn each_plane_reads_while_the_other_does() {
    let mut die = die(part(), suspending(IPS));
    assert_eq!(die.start(at(0), read(0)), Ok(at(1_100)));
    assert_eq!(die.start(at(500), read(0)), Err(Refusal::Busy));
    assert_eq!(die.start(at(500), read(1)), Ok(at(1_600)));
    assert_eq!(die.elapse_plane(at(1_100), 0), Elapsed::ReadReady);
    assert!(!die.plane_reads().is_free(0) && !die.plane_reads().is_free(1));
    assert!(!die.release_plane(0));
    assert!(die.plane_reads().is_free(0) && !die.is_free() && die.takes_reads());
    assert_eq!(die.start(at(1_300), read(0)), Ok(at(2_400)));
    assert_eq!(die.elapse_plane(at(1_600), 1), Elapsed::ReadReady);
    assert_eq!(die.elapse_plane(at(2_400), 0), Elapsed::ReadReady);
    assert!(!die.release_plane(1) && !die.release_plane(0));
    assert!(die.is_free());
}

#[test]
fn nothing_else_begins_while_a_plane_reads_or_holds_a_page() {
    let mut die = die(part(), suspending(IPS));
    die.start(at(0), read(0)).expect("it is idle");
    for now_ns in [500, 1_100] {
        if now_ns == 1_100 {
            die.elapse_plane(at(now_ns), 0);
        }
        for command in [
            Command::Program(page(1, 1, 0)),
            Command::Erase(page(1, 1, 0)),
            Command::Copyback { from: page(1, 0, 0), to: page(1, 1, 0) },
        ] {
            assert_eq!(die.clone().start(at(now_ns), command), Err(Refusal::Busy), "{command:?}");
        }
    }
    die.release_plane(0);
    assert!(die.start(at(3_100), Command::Program(page(1, 1, 0))).is_ok());
    // And no plane reads while something else runs.
    assert_eq!(die.start(at(3_200), read(0)), Err(Refusal::Busy));
    assert!(!die.takes_reads());
}

#[test]
fn with_a_cache_register_each_plane_has_one() {
    let cached = Timing { cache_register: true, ..part() };
    let mut die = die(cached, suspending(IPS));
    die.start(at(0), read(0)).expect("it is idle");
    die.start(at(0), read(1)).expect("its plane is idle");
    for plane in [0, 1] {
        assert_eq!(die.elapse_plane(at(1_100), plane), Elapsed::ReadReady);
    }
    assert!(die.is_free() && die.output_in_use());
    let program = Command::Program(page(1, 1, 0));
    assert_eq!(die.clone().start(at(1_100), program), Err(Refusal::Busy));
    die.start(at(1_100), read(0)).expect("its buffer is free");
    assert_eq!(die.elapse_plane(at(2_200), 0), Elapsed::ReadHeld);
    assert!(!die.release_plane(1));
    assert!(die.release_plane(0), "the page that was held can leave");
    assert!(die.is_free() && die.output_in_use());
    assert!(!die.release_plane(0));
    assert!(!die.output_in_use());
}

#[test]
fn a_resume_waits_for_all_planes() {
    let mut die = die(part(), suspending(IPS));
    die.start(at(0), Command::Program(page(0, 1, 0))).expect("it is idle");
    die.suspend(at(2_200)).expect("it runs");
    die.elapse(at(2_400));
    let own = Command::Read(page(0, 1, 0));
    assert_eq!(die.start(at(2_400), own), Err(Refusal::SuspendedBlock));
    die.start(at(2_400), read(0)).expect("another block");
    die.start(at(2_400), read(1)).expect("another plane");
    die.elapse_plane(at(3_500), 0);
    die.elapse_plane(at(3_500), 1);
    assert!(!die.release_plane(0));
    assert_eq!(die.resume(at(5_500)), Err(Refusal::Busy));
    assert!(!die.release_plane(1));
    assert_eq!(die.resume(at(7_500)), Ok(at(7_500 + 30 + 80 + 760)));
}

#[test]
fn pages_of_a_suspension_wait_in_second_registers() {
    let at_read = Suspension { resume_at: ResumeAt::ArrayRead, ..suspending(IPS) };
    let mut die = die(part(), at_read);
    die.start(at(0), Command::Program(page(0, 1, 0))).expect("it is idle");
    die.suspend(at(2_200)).expect("it runs");
    die.elapse(at(2_400));
    die.start(at(2_400), read(0)).expect("another block");
    die.start(at(2_400), read(1)).expect("another plane");
    die.elapse_plane(at(3_500), 0);
    assert_eq!(die.resume(at(3_500)), Err(Refusal::Busy));
    die.elapse_plane(at(3_500), 1);
    assert_eq!(die.resume(at(3_500)), Ok(at(3_500 + 30 + 80 + 760)));
}

#[test]
fn reads_of_one_command_are_not_for_planes_that_read_by_themselves() {
    let multi_plane = MultiPlane::Page;
    let parallelism =
        Parallelism { multi_plane, independent_plane_reads: true, ..Parallelism::NONE };
    let mut die = parallel_die(part(), suspending(IPS), parallelism);
    let together = die.start_together(at(0), read(0), &[page(1, 0, 0)]);
    assert_eq!(together, Err(Refusal::NotTogether));
    let program = Command::Program(page(0, 0, 0));
    assert_eq!(die.start_together(at(0), program, &[page(1, 0, 0)]), Ok(at(5_340)));
}
