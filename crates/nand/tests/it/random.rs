//! Random legal sequences on random parts: what a die promises comes true and all time adds up.

use proptest::prelude::*;
use reprieve_base::{Dur, PageAddress, Stream};
use reprieve_nand::{
    Command, Elapsed, EraseMode, EraseResume, ProgramSuspension, Restore, ResumeAt, Retention,
    SameBlock, Suspension, Timing, VthReached,
};

use crate::device::{Answer, Ask, Device, SHAPE, one_die, page};
use crate::ledger::{Kind, Ledger};

/// What the array is doing, as far as its user can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Array {
    Idle,
    Reading,
    Holding,
    Running,
    Suspending,
}

/// Something that the user of a die may do.
#[derive(Clone, Copy, Debug)]
enum Move {
    Ask(Ask),
    Release,
}

/// A user of one die, who keeps books of all that it does.
struct User {
    device: Device,
    timing: Timing,
    suspension: Suspension,
    vth: Stream,
    now_ns: u64,
    array: Array,
    promise_ns: u64,
    output_in_use: bool,
    /// The operation that runs or was suspended last, and its block.
    operation: Option<(Ledger, PageAddress)>,
    suspended: bool,
    /// The suspended erase around it.
    outer: Option<(Ledger, PageAddress)>,
    next_page: [[u32; 3]; 2],
    suspensions: u32,
    resumes: u32,
}

/// A step of a script: what to choose among the legal moves, and how long to wait before.
type Step = (u8, u64);

impl User {
    fn new(timing: Timing, suspension: Suspension, seed: u64) -> User {
        User {
            device: Device::of_die(one_die(SHAPE, timing, suspension, seed, 3)),
            timing,
            suspension,
            vth: Stream::new(seed, "nand.vth", 3),
            now_ns: 0,
            array: Array::Idle,
            promise_ns: 0,
            output_in_use: false,
            operation: None,
            suspended: false,
            outer: None,
            next_page: [[0; 3]; 2],
            suspensions: 0,
            resumes: 0,
        }
    }

    fn promised(&self) -> bool {
        matches!(self.array, Array::Reading | Array::Running | Array::Suspending)
    }

    /// Waits, but not beyond a promise: at that instant, the request may still come before it.
    fn step(&mut self, (choice, wait_ns): Step) {
        self.now_ns += wait_ns;
        if self.promised() && self.now_ns >= self.promise_ns {
            self.now_ns = self.promise_ns;
            if choice % 2 == 0 {
                self.live_through_promise();
            }
        }
        self.check_forbidden();
        let moves = self.legal();
        match moves.get(usize::from(choice) % (moves.len() + 1)) {
            Some(&Move::Ask(ask)) => self.ask(ask),
            Some(&Move::Release) => self.release(),
            None => {}
        }
        self.check_view();
    }

    fn live_through_promise(&mut self) {
        let elapsed = self.device.elapse(self.promise_ns);
        let (want, array) = match self.array {
            Array::Reading if self.output_in_use => (Elapsed::ReadHeld, Array::Holding),
            Array::Reading if !self.lets_go() => (Elapsed::ReadReady, Array::Holding),
            Array::Reading => {
                self.output_in_use = true;
                (Elapsed::ReadReady, Array::Idle)
            }
            Array::Suspending => {
                self.suspended = true;
                (Elapsed::Suspended, Array::Idle)
            }
            Array::Running => {
                let (ledger, _) = self.operation.take().expect("an operation runs");
                ledger.close(self.promise_ns);
                let done = match ledger.kind {
                    Kind::Program => Elapsed::Programmed,
                    Kind::Erase => Elapsed::Erased,
                };
                self.operation = self.outer.take();
                self.suspended = self.operation.is_some();
                (done, Array::Idle)
            }
            Array::Idle | Array::Holding => panic!("nothing was promised"),
        };
        assert_eq!(elapsed, want);
        self.array = array;
    }

    /// The blocks, each with one page of it to read, program or erase.
    fn commands(&self) -> impl Iterator<Item = Command> + '_ {
        (0..2u32).flat_map(|plane| (0..3u32).map(move |block| (plane, block))).flat_map(
            |(plane, block)| {
                let next = self.next_page[plane as usize][block as usize];
                let at = page(plane, block, next);
                [
                    Command::Read(PageAddress { page: 0, ..at }),
                    Command::Read(PageAddress { page: 1, ..at }),
                    Command::Program(at),
                    Command::Erase(at),
                ]
            },
        )
    }

    fn own_block(&self, at: PageAddress) -> bool {
        let mut own = self.operation.iter().chain(&self.outer).map(|(_, own)| own);
        own.any(|own| (own.plane, own.block) == (at.plane, at.block))
    }

    /// Whether a page may not be read for what runs or is suspended; a wordline has one page here.
    fn held(&self, at: PageAddress) -> bool {
        self.operation.iter().chain(&self.outer).any(|(ledger, own)| {
            let whole =
                ledger.kind == Kind::Erase || self.suspension.same_block == SameBlock::Block;
            (own.plane, own.block) == (at.plane, at.block) && (whole || own.page == at.page)
        })
    }

    fn may_start(&self, command: Command) -> bool {
        let free = self.array == Array::Idle;
        free && match command {
            Command::Read(at) => !self.held(at),
            Command::Program(at) => {
                let room = !self.output_in_use && at.page < SHAPE.pages_per_block;
                room && (!self.suspended || (self.takes_program() && !self.own_block(at)))
            }
            Command::Erase(_) => !self.suspended,
            Command::Copyback { .. } => unreachable!("no script copies back"),
        }
    }

    /// Whether a program may begin though an operation is suspended: an erase, and by itself.
    fn takes_program(&self) -> bool {
        let erase = self.operation.as_ref().is_some_and(|(ledger, _)| ledger.kind == Kind::Erase);
        erase && self.suspension.program_in_erase
    }

    fn may_suspend(&self) -> bool {
        let Some((ledger, _)) = &self.operation else { return false };
        let able = match ledger.kind {
            Kind::Program => self.suspension.program != ProgramSuspension::None,
            Kind::Erase => self.suspension.erase,
        };
        let most = match ledger.kind {
            Kind::Program => self.suspension.max_per_program,
            Kind::Erase => self.suspension.max_per_erase,
        };
        let used_up = most.is_some_and(|most| ledger.suspensions >= most);
        let min_ns = self.suspension.min_progress.ns();
        let guarded = ledger.resumed_ns.is_some_and(|resumed_ns| self.now_ns < resumed_ns + min_ns);
        self.array == Array::Running && able && !used_up && !guarded
    }

    fn may_resume(&self) -> bool {
        let Some((ledger, _)) = &self.operation else { return false };
        let sends = ledger.kind == Kind::Program && !self.suspension.shadow_buffer;
        self.suspended && self.array == Array::Idle && !(sends && self.output_in_use)
    }

    fn may_release(&self) -> bool {
        self.output_in_use || self.array == Array::Holding
    }

    /// Whether a sensed page leaves the array to others.
    fn lets_go(&self) -> bool {
        let in_between = self.suspended && self.suspension.resume_at == ResumeAt::ArrayRead;
        self.timing.cache_register || in_between
    }

    /// Suspends and resumes come twice, so that they are not lost among the many starts.
    fn legal(&self) -> Vec<Move> {
        let starts = self.commands().filter(|&command| self.may_start(command)).map(Ask::Start);
        let mut moves: Vec<Move> = starts.map(Move::Ask).collect();
        if self.may_suspend() {
            moves.extend([Move::Ask(Ask::Suspend); 2]);
        }
        if self.may_resume() {
            moves.extend([Move::Ask(Ask::Resume); 2]);
        }
        if self.may_release() {
            moves.push(Move::Release);
        }
        moves
    }

    /// All that a die must refuse now it does refuse.
    fn check_forbidden(&self) {
        for command in self.commands().filter(|&command| !self.may_start(command)) {
            let got = self.device.probe(self.now_ns, Ask::Start(command));
            assert!(got.is_err(), "{command:?} was allowed: {got:?}");
        }
        for (may, ask) in [(self.may_suspend(), Ask::Suspend), (self.may_resume(), Ask::Resume)] {
            let got = self.device.probe(self.now_ns, ask);
            assert_eq!(got.is_ok(), may, "{ask:?}: {got:?}");
        }
    }

    fn ask(&mut self, ask: Ask) {
        let answer = self.device.issue(self.now_ns, ask);
        match ask {
            Ask::Start(command) => self.book_start(command, answer),
            Ask::Suspend => {
                let (ledger, _) = self.operation.as_mut().expect("an operation runs");
                match ledger.suspend(self.now_ns, &mut self.vth) {
                    Some(free_ns) => {
                        assert_eq!(answer, Answer::FreeAt(free_ns), "{ledger:#?}");
                        self.promise(Array::Suspending, free_ns);
                        self.suspensions += 1;
                    }
                    None => assert_eq!(answer, Answer::RunsToEnd, "{ledger:#?}"),
                }
            }
            Ask::Resume => {
                let (ledger, _) = self.operation.as_mut().expect("an operation is suspended");
                ledger.resume(self.now_ns);
                let end_ns = ledger.end_ns();
                assert_eq!(answer, Answer::EndsAt(end_ns), "{ledger:#?}");
                self.promise(Array::Running, end_ns);
                self.suspended = false;
                self.resumes += 1;
            }
        }
    }

    fn book_start(&mut self, command: Command, answer: Answer) {
        let issued_ns = self.now_ns + self.timing.command.ns();
        let (kind, at, phases_ns) = match command {
            Command::Read(_) => {
                let end_ns = issued_ns + self.timing.read.ns();
                assert_eq!(answer, Answer::EndsAt(end_ns));
                return self.promise(Array::Reading, end_ns);
            }
            Command::Program(at) => (Kind::Program, at, issued_ns + self.timing.bus.ns()),
            Command::Erase(at) => (Kind::Erase, at, issued_ns),
            Command::Copyback { .. } => unreachable!("no script copies back"),
        };
        let next_page = &mut self.next_page[at.plane as usize][at.block as usize];
        *next_page = if kind == Kind::Program { *next_page + 1 } else { 0 };
        let ledger = Ledger::new(kind, self.timing, self.suspension, phases_ns);
        let end_ns = ledger.end_ns();
        assert_eq!(answer, Answer::EndsAt(end_ns));
        if self.suspended {
            self.outer = self.operation.take();
            self.suspended = false;
        }
        self.operation = Some((ledger, at));
        self.promise(Array::Running, end_ns);
    }

    fn promise(&mut self, array: Array, at_ns: u64) {
        assert!(at_ns >= self.now_ns, "a promise for {at_ns}, which is past");
        self.array = array;
        self.promise_ns = at_ns;
    }

    fn release(&mut self) {
        // The page in the second register came first and leaves first.
        let next = self.array == Array::Holding && self.output_in_use;
        assert_eq!(self.device.die.release(), next);
        let stays = next && !self.lets_go();
        if self.array == Array::Holding && !stays {
            self.array = Array::Idle;
        }
        self.output_in_use = next && !stays;
    }

    /// What the die tells of itself is what its user knows.
    fn check_view(&self) {
        let die = &self.device.die;
        assert_eq!(die.is_free(), self.array == Array::Idle);
        assert_eq!(die.is_running(), self.array == Array::Running);
        assert_eq!(die.is_suspended(), self.suspended);
        assert_eq!(die.output_in_use(), self.output_in_use);
        let block = self.operation.as_ref().map(|(_, at)| (at.plane, at.block));
        assert_eq!(die.operations().block(), block);
        let block = self.outer.as_ref().map(|(_, at)| (at.plane, at.block));
        assert_eq!(die.operations().outer_block(), block);
        let suspensions = self.operation.as_ref().map_or(0, |(ledger, _)| ledger.suspensions);
        assert_eq!(die.operations().suspensions(), suspensions);
    }

    /// Brings everything to its end: every suspension is resumed, every page has left.
    fn finish(mut self) {
        while self.array != Array::Idle || self.output_in_use || self.suspended {
            if self.promised() {
                self.now_ns = self.promise_ns;
                self.live_through_promise();
            } else if self.may_release() {
                self.release();
            } else {
                self.ask(Ask::Resume);
            }
            self.check_view();
        }
        assert_eq!(self.suspensions, self.resumes);
        assert!(self.operation.is_none() && self.outer.is_none());
    }
}

/// Phases of a few nanoseconds, so that every instant of them is met, boundaries above all.
fn timings() -> impl Strategy<Value = Timing> {
    let transfers = (0..6u64, 0..12u64, 1..15u64);
    let phases = (1..5u32, 1..25u64, 1..15u64, 1..60u64, 1..15u64);
    let segments = prop_oneof![Just(1u32), 2..6u32];
    let overheads = (0..10u64, 0..8u64, 0..8u64, any::<bool>());
    (transfers, phases, overheads, segments).prop_map(|(transfers, phases, overheads, segments)| {
        let ns = Dur::from_ns;
        let (iterations, pulse_ns, verify_ns, erase_ns, erase_verify_ns) = phases;
        let (reset_ns, buffer_ns, overhead_ns, cache_register) = overheads;
        let shortest_ns = pulse_ns.min(verify_ns).min(erase_ns).min(erase_verify_ns);
        Timing {
            command: ns(transfers.0),
            bus: ns(transfers.1),
            read: ns(transfers.2),
            program_iterations: iterations,
            program_pulse: ns(pulse_ns),
            verify: ns(verify_ns),
            erase: ns(erase_ns * u64::from(segments)),
            erase_segments: segments,
            erase_verify: ns(erase_verify_ns),
            voltage_reset: ns(reset_ns.min(shortest_ns)),
            buffer: ns(buffer_ns),
            suspend_overhead: ns(overhead_ns),
            erase_suspend_overhead: ns(overhead_ns / 2),
            cache_register,
            ..Timing::default()
        }
    })
}

fn suspensions() -> impl Strategy<Value = Suspension> {
    let programs = prop_oneof![
        1 => Just(ProgramSuspension::None),
        3 => Just(ProgramSuspension::Ips),
        6 => Just(ProgramSuspension::Ipc),
        3 => Just(ProgramSuspension::Iteration),
    ];
    let erases = prop_oneof![
        Just(EraseResume::Exact),
        Just(EraseResume::RedoPhase),
        Just(EraseResume::Restart),
    ];
    let targets = prop_oneof![
        Just(VthReached::Never),
        Just(VthReached::Always),
        Just(VthReached::Proportional),
    ];
    let most = || prop_oneof![3 => Just(None), 1 => (0..4u32).prop_map(Some)];
    let holds =
        prop_oneof![Just(SameBlock::Block), Just(SameBlock::Wordline), Just(SameBlock::Page),];
    let limits = (most(), most(), holds);
    let min_progress_ns = prop_oneof![3 => Just(0), 1 => 1..40u64];
    let able = (prop::bool::weighted(0.9), any::<bool>(), any::<bool>());
    let erase_modes = prop_oneof![
        3 => Just(EraseMode::Immediate),
        1 => Just(EraseMode::Deferred),
        2 => (0..150u64).prop_map(|ns| EraseMode::Timeout(Dur::from_ns(ns))),
    ];
    let restores = prop_oneof![Just(Restore::Atomic), Just(Restore::Interruptible)];
    let resume_ats = prop_oneof![Just(ResumeAt::DataOut), Just(ResumeAt::ArrayRead)];
    let modes = (erase_modes, restores, resume_ats, any::<bool>());
    (programs, erases, targets, limits, min_progress_ns, able, modes).prop_map(
        |(program, erase_resume, vth_reached, limits, min_progress_ns, able, modes)| Suspension {
            program,
            erase: able.0,
            erase_resume,
            erase_mode: modes.0,
            reset_inside_phase: modes.3,
            shadow_buffer: able.1,
            restore: modes.1,
            resume_at: modes.2,
            vth_reached,
            same_block: limits.2,
            max_per_program: limits.0,
            max_per_erase: limits.1,
            min_progress: Dur::from_ns(min_progress_ns),
            program_in_erase: able.2,
            retention: Retention::NONE,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn time_adds_up_and_nothing_illegal_is_done(
        timing in timings(),
        suspension in suspensions(),
        seed in any::<u64>(),
        script in prop::collection::vec((any::<u8>(), 0..12u64), 1..80),
    ) {
        let mut user = User::new(timing, suspension, seed);
        for step in script {
            user.step(step);
        }
        user.finish();
    }
}
