//! The device under test: a die that is probed, commanded and watched, and parts to make it from.

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::{
    Command, Die, Elapsed, EraseMode, EraseResume, Parallelism, Part, ProgramSuspension, Refusal,
    Restore, ResumeAt, Retention, SameBlock, Shape, Suspend, Suspension, Timing, VthReached,
};

/// Two planes of three blocks of four pages: enough for every way to be in the way.
pub const SHAPE: Shape = Shape { planes: 2, blocks_per_plane: 3, pages_per_block: 4 };

/// What a die can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Start(Command),
    Suspend,
    Resume,
}

/// What a die says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To a start or a resume: the end of the array's work, in nanoseconds.
    EndsAt(u64),
    /// To a suspend request: the array is free then.
    FreeAt(u64),
    /// To a suspend request: too late for it to take effect.
    RunsToEnd,
}

/// The first page of the first block, programmed.
pub const PROGRAM: Ask = Ask::Start(Command::Program(page(0, 0, 0)));
/// The second block of plane 0, erased.
pub const ERASE: Ask = Ask::Start(Command::Erase(page(0, 1, 0)));
/// A page of plane 1, read: never in the block that `PROGRAM` and `ERASE` work on.
pub const READ: Ask = Ask::Start(Command::Read(page(1, 0, 0)));

/// A page by its numbers.
pub const fn page(plane: u32, block: u32, page: u32) -> PageAddress {
    PageAddress { plane, block, page }
}

/// A part of which no two lengths are equal, so that a sum tells what it is made of.
///
/// Left alone and begun at 0, its program is: command to 100, data in to 2100, then pulse and
/// verify to 2400 and 2480, to 2780 and 2860, to 3160 and 3240. Its erase is: command to 100,
/// pulse to 5100, verify to 5190. Its read is: command to 100, sensing to 1100.
pub fn part() -> Timing {
    let ns = Dur::from_ns;
    Timing {
        command: ns(100),
        bus: ns(2_000),
        read: ns(1_000),
        program_iterations: 3,
        program_pulse: ns(300),
        verify: ns(80),
        erase: ns(5_000),
        erase_segments: 1,
        erase_verify: ns(90),
        voltage_reset: ns(40),
        buffer: ns(30),
        suspend_overhead: ns(0),
        erase_suspend_overhead: ns(0),
        ..Timing::default()
    }
}

/// The part, with 13 from the end of an iteration to a free array if it suspends there.
pub fn of_mode(timing: Timing, suspension: &Suspension) -> Timing {
    let is_atomic = suspension.program == ProgramSuspension::Iteration;
    let is_given = timing.suspend_overhead > Dur::ZERO;
    let suspend_overhead =
        if is_atomic && !is_given { Dur::from_ns(13) } else { timing.suspend_overhead };
    Timing { suspend_overhead, ..timing }
}

/// Everything can be suspended without limit; a cancelled pulse has not reached its target.
pub fn suspending(program: ProgramSuspension) -> Suspension {
    Suspension {
        program,
        erase: true,
        erase_resume: EraseResume::Exact,
        erase_mode: EraseMode::Immediate,
        reset_inside_phase: true,
        shadow_buffer: true,
        restore: Restore::Atomic,
        resume_at: ResumeAt::DataOut,
        vth_reached: VthReached::Never,
        same_block: SameBlock::Block,
        retention: Retention::NONE,
        ..Suspension::default()
    }
}

/// A die, and the instant that it promised last.
pub struct Device {
    pub die: Die,
    promise_ns: Option<u64>,
}

impl Device {
    /// A die of this part, all erased; its random stream is that of seed 1, die 0.
    pub fn new(timing: Timing, suspension: Suspension) -> Device {
        let timing = of_mode(timing, &suspension);
        Device::of_die(one_die(SHAPE, timing, suspension, 1, 0))
    }

    /// The device around a fresh die.
    pub fn of_die(die: Die) -> Device {
        Device { die, promise_ns: None }
    }

    /// The instant that it promised last.
    pub fn promised_ns(&self) -> u64 {
        self.promise_ns.expect("something is promised")
    }

    /// What the die would say; it is not changed.
    pub fn probe(&self, now_ns: u64, ask: Ask) -> Result<Answer, Refusal> {
        answer(&mut self.die.clone(), now_ns, ask)
    }

    /// Asks the die, and panics if it refuses.
    #[track_caller]
    pub fn issue(&mut self, now_ns: u64, ask: Ask) -> Answer {
        let late = self.promise_ns.is_some_and(|promise_ns| promise_ns < now_ns);
        assert!(!late, "asked at {now_ns}, after an instant promised and not lived through");
        let given = match answer(&mut self.die, now_ns, ask) {
            Ok(given) => given,
            Err(refusal) => panic!("{ask:?} at {now_ns} is refused: {refusal}"),
        };
        match given {
            Answer::EndsAt(at_ns) | Answer::FreeAt(at_ns) => self.promise_ns = Some(at_ns),
            Answer::RunsToEnd => {}
        }
        given
    }

    /// Lives through the promised instant, at which the array need not become free.
    #[track_caller]
    pub fn elapse(&mut self, now_ns: u64) -> Elapsed {
        assert_eq!(self.promise_ns.take(), Some(now_ns), "the die promised another instant");
        self.die.elapse(Time::from_ns(now_ns))
    }

    /// The array takes no read one nanosecond before, and takes one then; lives through it.
    #[track_caller]
    pub fn assert_free_exactly_at(&mut self, now_ns: u64) -> Elapsed {
        assert!(!self.die.is_free());
        assert_eq!(self.probe(now_ns - 1, READ), Err(Refusal::Busy), "free before {now_ns}");
        let elapsed = self.elapse(now_ns);
        assert!(self.die.is_free(), "not free at {now_ns}");
        assert!(self.probe(now_ns, READ).is_ok(), "no read at {now_ns}");
        elapsed
    }

    /// Suspends at `request_ns`, to be free at `free_ns`, and resumes: says when it will end.
    #[track_caller]
    pub fn suspend_and_resume(&mut self, request_ns: u64, free_ns: u64, resume_ns: u64) -> u64 {
        let before = self.die.operations().suspensions();
        assert_eq!(self.issue(request_ns, Ask::Suspend), Answer::FreeAt(free_ns));
        assert!(!self.die.is_running() && !self.die.is_suspended());
        assert_eq!(self.assert_free_exactly_at(free_ns), Elapsed::Suspended);
        assert!(self.die.is_suspended() && !self.die.is_running());
        let Answer::EndsAt(end_ns) = self.issue(resume_ns, Ask::Resume) else {
            panic!("a resume says when the operation ends");
        };
        assert!(self.die.is_running() && !self.die.is_suspended());
        assert_eq!(self.die.operations().suspensions(), before + 1);
        end_ns
    }
}

/// Puts the question to the die itself, in whole nanoseconds.
fn answer(die: &mut Die, now_ns: u64, ask: Ask) -> Result<Answer, Refusal> {
    let now = Time::from_ns(now_ns);
    Ok(match ask {
        Ask::Start(command) => Answer::EndsAt(die.start(now, command)?.ns()),
        Ask::Resume => Answer::EndsAt(die.resume(now)?.ns()),
        Ask::Suspend => match die.suspend(now)? {
            Suspend::FreeAt(at) => Answer::FreeAt(at.ns()),
            Suspend::RunsToEnd => Answer::RunsToEnd,
        },
    })
}

/// When the operations of the tables below are resumed: later than all that a request can wait for.
pub const RESUME_NS: u64 = 10_000;

/// One row for each request: its instant, when the array is free, and the operation's end after
/// a resume at `RESUME_NS`. `None`: the request comes too late and the operation runs to its end.
pub type Stops = [(u64, Option<(u64, u64)>)];

/// Begins `operation` at 0, once for each row, and holds what happens against it.
#[track_caller]
pub fn check_stops(timing: Timing, suspension: Suspension, operation: Ask, stops: &Stops) {
    for &(request_ns, stop) in stops {
        let mut device = Device::new(timing, suspension);
        let Answer::EndsAt(undisturbed_ns) = device.issue(0, operation) else {
            panic!("a start says when the operation ends");
        };
        let end_ns = match stop {
            Some((free_ns, end_ns)) => {
                let got_ns = device.suspend_and_resume(request_ns, free_ns, RESUME_NS);
                assert_eq!(got_ns, end_ns, "end after a request at {request_ns}");
                end_ns
            }
            None => {
                assert_eq!(device.issue(request_ns, Ask::Suspend), Answer::RunsToEnd);
                assert!(device.die.is_running());
                undisturbed_ns
            }
        };
        let done = if operation == ERASE { Elapsed::Erased } else { Elapsed::Programmed };
        assert_eq!(device.assert_free_exactly_at(end_ns), done);
        assert_eq!(device.die.operations().block(), None);
    }
}

/// A die with a part of its own.
pub fn one_die(shape: Shape, timing: Timing, suspension: Suspension, seed: u64, index: u64) -> Die {
    Die::new(
        Arc::new(Part { shape, timing, suspension, parallelism: Parallelism::NONE }),
        seed,
        index,
    )
}

/// A die of the usual shape that can do more than one thing at once.
pub fn parallel_die(timing: Timing, suspension: Suspension, parallelism: Parallelism) -> Die {
    Die::new(Arc::new(Part { shape: SHAPE, timing, suspension, parallelism }), 1, 0)
}
