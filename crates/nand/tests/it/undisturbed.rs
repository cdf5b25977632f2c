//! Operations that nobody interrupts: their exact times, and the order of pages in a block.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed, ProgramSuspension, Refusal, Shape, Timing};

use crate::device::{
    Answer, Ask, Device, ERASE, PROGRAM, READ, SHAPE, one_die, page, part, suspending,
};

fn program(plane: u32, block: u32, number: u32) -> Ask {
    Ask::Start(Command::Program(page(plane, block, number)))
}

/// Wu and He, FAST 2012, Table 1: single-level cells.
fn slc() -> Timing {
    let us = Dur::from_us;
    Timing {
        command: Dur::ZERO,
        bus: us(20),
        read: us(10),
        program_iterations: 5,
        program_pulse: us(20),
        verify: us(8),
        erase: us(1_500),
        erase_segments: 1,
        erase_verify: us(8),
        voltage_reset: us(4),
        buffer: us(3),
        suspend_overhead: Dur::ZERO,
        erase_suspend_overhead: Dur::ZERO,
        ..Timing::default()
    }
}

/// The same table: multi-level cells.
fn mlc() -> Timing {
    let us = Dur::from_us;
    Timing {
        bus: us(40),
        read: us(25),
        program_iterations: 15,
        verify: us(24),
        erase: us(3_300),
        erase_verify: us(24),
        ..slc()
    }
}

#[test]
fn a_program_takes_command_data_and_iterations() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    assert!(device.die.is_free() && !device.die.is_running());
    // 100 + 2000 + 3 * (300 + 80), from 7 on.
    assert_eq!(device.issue(7, PROGRAM), Answer::EndsAt(3_247));
    assert!(device.die.is_running());
    assert_eq!(device.die.operations().block(), Some((0, 0)));
    assert_eq!(device.assert_free_exactly_at(3_247), Elapsed::Programmed);
    assert!(!device.die.is_running());
    assert_eq!((device.die.operations().block(), device.die.operations().suspensions()), (None, 0));
}

#[test]
fn an_erase_takes_command_pulse_and_verify() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    // 100 + 5000 + 90, from 7 on.
    assert_eq!(device.issue(7, ERASE), Answer::EndsAt(5_197));
    assert_eq!(device.die.operations().block(), Some((0, 1)));
    assert_eq!(device.assert_free_exactly_at(5_197), Elapsed::Erased);
}

#[test]
fn a_read_takes_command_and_sensing() {
    let timing = Timing { cache_register: true, ..part() };
    let mut device = Device::new(timing, suspending(ProgramSuspension::Ips));
    // 100 + 1000, from 7 on.
    assert_eq!(device.issue(7, READ), Answer::EndsAt(1_107));
    assert!(!device.die.is_running());
    assert_eq!(device.assert_free_exactly_at(1_107), Elapsed::ReadReady);
}

#[test]
fn the_times_do_not_depend_on_what_could_be_suspended() {
    let all = [
        ProgramSuspension::None,
        ProgramSuspension::Ips,
        ProgramSuspension::Ipc,
        ProgramSuspension::Iteration,
    ];
    for program in all {
        let device = Device::new(part(), suspending(program));
        assert_eq!(device.probe(0, PROGRAM), Ok(Answer::EndsAt(3_240)));
        assert_eq!(device.probe(0, ERASE), Ok(Answer::EndsAt(5_190)));
    }
}

#[test]
fn the_parts_of_fast12() {
    // SLC: 20 + 5 * 28, 1500 + 8, 10. MLC: 40 + 15 * 44, 3300 + 24, 25; all in microseconds.
    for (timing, [program_us, erase_us, read_us]) in
        [(slc(), [160, 1_508, 10]), (mlc(), [700, 3_324, 25])]
    {
        let device = Device::new(timing, suspending(ProgramSuspension::Ips));
        for (ask, us) in [(PROGRAM, program_us), (ERASE, erase_us), (READ, read_us)] {
            assert_eq!(device.probe(0, ask), Ok(Answer::EndsAt(us * 1_000)));
        }
    }
}

#[test]
fn the_worked_examples_of_the_model() {
    // Part, mode, array free after a request at 61, and, since the read takes the page buffer for
    // tR and its bus time, resume and end of the program; all in microseconds.
    let rows = [
        (slc(), ProgramSuspension::Ips, 68, 98, 193),
        (slc(), ProgramSuspension::Ipc, 65, 95, 218),
        (mlc(), ProgramSuspension::Ips, 84, 149, 768),
        (mlc(), ProgramSuspension::Ipc, 65, 130, 773),
    ];
    for (timing, mode, free_us, resume_us, end_us) in rows {
        let mut device = Device::new(timing, suspending(mode));
        device.issue(0, PROGRAM);
        let end_ns = device.suspend_and_resume(61_000, free_us * 1_000, resume_us * 1_000);
        assert_eq!(end_ns, end_us * 1_000, "{mode:?}");
    }
    let mut device = Device::new(slc(), suspending(ProgramSuspension::Ips));
    device.issue(0, ERASE);
    assert_eq!(device.suspend_and_resume(500_000, 504_000, 534_000), 1_546_000);
    assert_eq!(device.suspend_and_resume(900_000, 904_000, 934_000), 1_584_000);
}

#[test]
fn pages_of_a_block_are_programmed_in_order_and_once() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    for number in 0..4 {
        let now_ns = u64::from(number) * 10_000;
        for earlier in 0..number {
            let got = device.probe(now_ns, program(0, 0, earlier));
            assert_eq!(got, Err(Refusal::AlreadyProgrammed));
        }
        for later in number + 1..4 {
            let got = device.probe(now_ns, program(0, 0, later));
            assert_eq!(got, Err(Refusal::OutOfOrder { expected: number }));
        }
        device.issue(now_ns, program(0, 0, number));
        device.elapse(now_ns + 3_240);
    }
    // Every other block, the same block number of the other plane among them, begins at page 0.
    for (plane, block) in [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        assert!(device.probe(50_000, program(plane, block, 0)).is_ok());
        let got = device.probe(50_000, program(plane, block, 1));
        assert_eq!(got, Err(Refusal::OutOfOrder { expected: 0 }));
    }
}

#[test]
fn an_erase_opens_its_own_block_again_and_no_other() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    device.die.precondition(0, 0, 2);
    device.die.precondition(1, 2, 4);
    // The page of the address is ignored, be it outside the block.
    device.issue(0, Ask::Start(Command::Erase(page(1, 2, 99))));
    device.elapse(5_190);
    assert!(device.probe(6_000, program(1, 2, 0)).is_ok());
    assert!(device.probe(6_000, program(0, 0, 2)).is_ok());
    assert_eq!(device.probe(6_000, program(0, 0, 0)), Err(Refusal::AlreadyProgrammed));
}

#[test]
fn the_longest_block_is_programmed_to_its_end() {
    let shape = Shape { pages_per_block: 65_535, ..SHAPE };
    let die = one_die(shape, part(), suspending(ProgramSuspension::Ips), 1, 0);
    let mut device = Device::of_die(die);
    device.die.precondition(0, 0, 65_534);
    assert_eq!(device.probe(0, program(0, 0, 65_533)), Err(Refusal::AlreadyProgrammed));
    device.issue(0, program(0, 0, 65_534));
    device.elapse(3_240);
    assert_eq!(device.probe(3_240, program(0, 0, 65_534)), Err(Refusal::AlreadyProgrammed));
    assert_eq!(device.probe(3_240, program(0, 0, 65_535)), Err(Refusal::NoSuchPage));
}

#[test]
#[should_panic(expected = "more than 65,535 pages")]
fn a_block_with_too_many_pages_is_no_die() {
    let shape = Shape { pages_per_block: 65_536, ..SHAPE };
    one_die(shape, part(), suspending(ProgramSuspension::Ips), 1, 0);
}

#[test]
#[should_panic(expected = "a program without iterations")]
fn a_program_without_iterations_is_no_part() {
    let timing = Timing { program_iterations: 0, ..part() };
    Device::new(timing, suspending(ProgramSuspension::Ips));
}

#[test]
#[should_panic(expected = "preconditioning stays inside the die")]
fn preconditioning_a_block_that_is_not_there_panics() {
    Device::new(part(), suspending(ProgramSuspension::Ips)).die.precondition(0, 3, 1);
}

#[test]
#[should_panic(expected = "promised nothing for 3239 ns")]
fn the_promised_instant_is_not_one_nanosecond_earlier() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    device.issue(0, PROGRAM);
    device.die.elapse(Time::from_ns(3_239));
}

#[test]
#[should_panic(expected = "promised nothing for 3241 ns")]
fn the_promised_instant_is_not_one_nanosecond_later() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    device.issue(0, PROGRAM);
    device.die.elapse(Time::from_ns(3_241));
}

#[test]
#[should_panic(expected = "promised nothing for 3240 ns")]
fn a_suspension_takes_the_old_promise_back() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    device.issue(0, PROGRAM);
    device.issue(2_101, Ask::Suspend);
    device.die.elapse(Time::from_ns(3_240));
}
