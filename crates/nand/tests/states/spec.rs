//! A die as its specification has it: lists of steps that go on nanosecond by nanosecond.

use std::collections::VecDeque;

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Elapsed, EraseMode, EraseResume, Part, ProgramSuspension, Restore, ResumeAt};

/// Something that happens to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read(PageAddress, Option<PageAddress>),
    Program(PageAddress, Option<PageAddress>),
    Erase(PageAddress, Option<PageAddress>),
    Load(PageAddress, Option<PageAddress>),
    /// Of all that runs, or of one plane.
    Suspend(Option<u32>),
    Resume(Option<u32>),
    Release(Option<u32>),
    Elapse(Due),
    /// A nanosecond passes.
    Tick,
}

/// Whose promised instant has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Array,
    Piece(u32),
    PlaneRead(u32),
}

/// The answer to an action, with times from now on in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    EndsIn(u64),
    FreeIn(u64),
    RunsToEnd,
    Came(Elapsed),
    NextLeaves(bool),
    Passed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Program,
    Erase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Command, data in, or a page that is sent again.
    Transfer,
    Restore,
    SetUp,
    Pulse,
    Verify,
    CheckVerify,
}

/// A step of an operation; it is over at the instant at which nothing of it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    what: What,
    whole_ns: u64,
    left_ns: u64,
    /// The last step of an iteration or a loop.
    ends_loop: bool,
}

impl Step {
    fn new(what: What, whole_ns: u64, ends_loop: bool) -> Step {
        Step { what, whole_ns, left_ns: whole_ns, ends_loop }
    }

    fn is_prelude(&self) -> bool {
        matches!(self.what, What::Transfer | What::Restore | What::SetUp)
    }

    /// Work that every such operation does, however often it is suspended.
    fn is_nominal(&self) -> bool {
        matches!(self.what, What::Pulse | What::Verify)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Runs,
    Entering(u64),
    Suspended,
}

/// A program or erase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    pub kind: Kind,
    /// Its page or block on each plane, that of the command first.
    pub pages: Vec<PageAddress>,
    todo: VecDeque<Step>,
    pub work: Work,
    /// Whether it is of one plane that was suspended by itself.
    pub alone: bool,
    pub suspensions: u32,
    /// Time since its last resume, up to the longest that matters.
    since_resume_ns: Option<u64>,
    /// Time since the end of its command, up to the longest that matters.
    since_command_ns: i64,
    needs_set_up: bool,
}

impl Op {
    pub fn new(kind: Kind, pages: Vec<PageAddress>, part: &Part, prelude_ns: u64) -> Op {
        let mut op = Op {
            kind,
            pages,
            todo: VecDeque::new(),
            work: Work::Runs,
            alone: false,
            suspensions: 0,
            since_resume_ns: None,
            since_command_ns: -i64::try_from(prelude_ns).expect("a short command"),
            needs_set_up: true,
        };
        op.todo = op.phases(part);
        op.todo.push_front(Step::new(What::Transfer, prelude_ns, false));
        op
    }

    /// It as the operation of one plane that is suspended by itself.
    pub fn of_plane(&self, pages: Vec<PageAddress>) -> Op {
        Op { pages, alone: true, ..self.clone() }
    }

    /// All its phases, from the first on.
    fn phases(&self, part: &Part) -> VecDeque<Step> {
        let timing = &part.timing;
        let mut all = VecDeque::new();
        if self.kind == Kind::Program {
            for _ in 0..timing.program_iterations {
                all.push_back(Step::new(What::Pulse, timing.program_pulse.ns(), false));
                all.push_back(Step::new(What::Verify, timing.verify.ns(), true));
            }
            return all;
        }
        let verify = Step::new(What::Verify, timing.erase_verify.ns(), true);
        let Some(loops) = &timing.erase_loops else {
            let segment_ns = timing.erase.ns() / u64::from(timing.erase_segments);
            let segment = Step::new(What::Pulse, segment_ns, false);
            all.extend((0..timing.erase_segments).map(|_| segment));
            all.push_back(verify);
            return all;
        };
        // The loops of an erase that takes as long as the part says: the last ends where it does.
        let lengths_ns: Vec<u64> = loops.lengths().iter().map(|length| length.ns()).collect();
        let mut left_ns = timing.erase.ns() + timing.erase_verify.ns();
        for index in 0.. {
            let loop_ns = lengths_ns[index.min(lengths_ns.len() - 1)];
            let is_last = left_ns <= loop_ns + verify.whole_ns;
            let length_ns = if is_last { left_ns } else { loop_ns };
            all.push_back(Step::new(What::Pulse, length_ns - verify.whole_ns, false));
            all.push_back(verify);
            left_ns -= length_ns;
            if is_last {
                break;
            }
        }
        all
    }

    /// Time until its end if nobody suspends it; it runs.
    pub fn left_ns(&self) -> u64 {
        self.todo.iter().map(|step| step.left_ns).sum()
    }

    /// Nominal work that is left.
    pub fn nominal_left_ns(&self) -> u64 {
        self.todo.iter().filter(|step| step.is_nominal()).map(|step| step.left_ns).sum()
    }

    /// Whether its present step is work that counts as progress.
    pub fn makes_progress(&self) -> bool {
        let present = self.todo.iter().find(|step| step.left_ns > 0);
        self.work == Work::Runs && present.is_some_and(Step::is_nominal)
    }

    pub fn is_in_transfer(&self) -> bool {
        self.todo[0].what == What::Transfer && self.todo[0].left_ns > 0
    }

    pub fn is_in_prelude(&self) -> bool {
        self.todo[0].is_prelude()
    }

    pub fn prelude_left_ns(&self) -> u64 {
        self.todo[0].left_ns
    }

    pub fn is_in_pulse(&self) -> bool {
        self.todo[0].what == What::Pulse
    }

    /// All its nominal work.
    pub fn nominal_ns(&self, part: &Part) -> u64 {
        self.phases(part).iter().map(|step| step.whole_ns).sum()
    }

    pub fn works_on(&self, at: PageAddress) -> bool {
        self.pages.iter().any(|own| (own.plane, own.block) == (at.plane, at.block))
    }

    pub fn needs_channel(&self, part: &Part) -> bool {
        self.kind == Kind::Program && !part.suspension.shadow_buffer
    }

    pub fn tick(&mut self, part: &Part) {
        match &mut self.work {
            Work::Suspended => {}
            Work::Entering(left_ns) => *left_ns -= 1,
            Work::Runs => {
                while self.todo[0].left_ns == 0 {
                    self.todo.pop_front();
                }
                self.todo[0].left_ns -= 1;
            }
        }
        let limit_ns = match (self.kind, part.suspension.erase_mode) {
            (Kind::Erase, EraseMode::Timeout(limit)) => limit.ns() as i64,
            _ => self.since_command_ns,
        };
        self.since_command_ns = (self.since_command_ns + 1).min(limit_ns);
        let most_ns = part.suspension.min_progress.ns().max(1);
        self.since_resume_ns = self.since_resume_ns.map(|ns| (ns + 1).min(most_ns));
    }

    /// When its guards allow a suspension again, from now on.
    pub fn guarded_ns(&self, part: &Part) -> u64 {
        let min_ns = part.suspension.min_progress.ns();
        self.since_resume_ns.map_or(0, |ns| min_ns.saturating_sub(ns))
    }

    fn is_deferred(&self, part: &Part) -> bool {
        match part.suspension.erase_mode {
            EraseMode::Immediate => false,
            EraseMode::Deferred => true,
            EraseMode::Timeout(limit) => self.since_command_ns >= limit.ns() as i64,
        }
    }

    /// Makes way; `None`: it ends first. Returns the time until the array is free.
    pub fn suspend(&mut self, part: &Part) -> Option<u64> {
        let free_ns = match self.todo[0].is_prelude() {
            true => self.leave_prelude(part),
            false if self.kind == Kind::Program => {
                self.leave_program(part)? + part.timing.suspend_overhead.ns()
            }
            false => self.leave_erase(part)? + part.timing.erase_suspend_overhead.ns(),
        };
        self.work = Work::Entering(free_ns);
        self.suspensions += 1;
        Some(free_ns)
    }

    fn leave_prelude(&mut self, part: &Part) -> u64 {
        let prelude = self.todo.pop_front().expect("the prelude");
        let is_whole = prelude.what == What::Transfer || part.suspension.restore == Restore::Atomic;
        if is_whole || prelude.left_ns == 0 {
            return prelude.left_ns;
        }
        // Voltages that have begun to rise have to be reset.
        let has_set = prelude.what == What::SetUp && self.since_resume_ns != Some(0);
        if has_set { part.timing.voltage_reset.ns() } else { 0 }
    }

    fn breaks_off(&self, part: &Part) -> bool {
        let reset_ns = part.timing.voltage_reset.ns();
        let inside_ns = if part.suspension.reset_inside_phase { reset_ns } else { 0 };
        self.todo[0].left_ns > inside_ns
    }

    /// Goes on to the end of the present step, or of its loop; `None` if nothing comes after.
    fn run_on(&mut self, to_loop_end: bool) -> Option<u64> {
        let last = match to_loop_end {
            true => self.todo.iter().position(|step| step.ends_loop)?,
            false => 0,
        };
        if last + 1 == self.todo.len() {
            return None;
        }
        Some(self.todo.drain(..=last).map(|step| step.left_ns).sum())
    }

    fn leave_program(&mut self, part: &Part) -> Option<u64> {
        let mode = part.suspension.program;
        if mode != ProgramSuspension::Ipc || !self.breaks_off(part) {
            return self.run_on(mode == ProgramSuspension::Iteration);
        }
        let reached = part.suspension.vth_reached == reprieve_nand::VthReached::Always;
        let step = self.todo.pop_front().expect("a phase is in progress");
        if step.what != What::Pulse || !reached {
            self.todo.push_front(Step::new(step.what, step.whole_ns, step.ends_loop));
        }
        if step.what == What::Pulse && !reached {
            let verify_ns = part.timing.verify.ns();
            self.todo.push_front(Step::new(What::CheckVerify, verify_ns, false));
        }
        Some(part.timing.voltage_reset.ns())
    }

    fn leave_erase(&mut self, part: &Part) -> Option<u64> {
        let resume = part.suspension.erase_resume;
        let is_deferred = self.is_deferred(part);
        let free_ns = if is_deferred || !self.breaks_off(part) {
            let free_ns = self.run_on(is_deferred && part.timing.erase_loops.is_some())?;
            self.needs_set_up = false;
            free_ns
        } else {
            let step = &mut self.todo[0];
            let in_pulse = step.what == What::Pulse;
            if resume == EraseResume::RedoPhase || !in_pulse {
                step.left_ns = step.whole_ns;
            }
            self.needs_set_up = in_pulse && resume == EraseResume::Exact;
            part.timing.voltage_reset.ns()
        };
        if resume == EraseResume::Restart {
            self.todo = self.phases(part);
            self.needs_set_up = false;
        }
        Some(free_ns)
    }

    pub fn resume(&mut self, part: &Part) {
        let timing = &part.timing;
        let exact = part.suspension.erase_resume == EraseResume::Exact;
        let (what, ns) = match self.kind {
            Kind::Program if part.suspension.shadow_buffer => (What::Restore, timing.buffer.ns()),
            Kind::Program => (What::Transfer, timing.bus.ns() * self.pages.len() as u64),
            Kind::Erase if exact && self.needs_set_up => (What::SetUp, timing.voltage_reset.ns()),
            Kind::Erase => (What::Transfer, 0),
        };
        self.todo.push_front(Step::new(what, ns, false));
        self.work = Work::Runs;
        self.since_resume_ns = Some(0);
    }

    pub fn done(&self) -> Elapsed {
        match self.kind {
            Kind::Program => Elapsed::Programmed,
            Kind::Erase => Elapsed::Erased,
        }
    }

    /// Whether what it promised is due.
    pub fn is_due(&self) -> bool {
        match self.work {
            Work::Runs => self.left_ns() == 0,
            Work::Entering(left_ns) => left_ns == 0,
            Work::Suspended => false,
        }
    }

    pub fn until(&self, now: Time) -> Time {
        now + reprieve_base::Dur::from_ns(self.left_ns())
    }
}

/// A page buffer, and what reads into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    Free,
    Senses { left_ns: u64, pages: u32 },
    Holds { pages: u32 },
}

/// A page buffer with its output register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    pub buffer: Buffer,
    /// Pages that are to leave the register.
    pub register_pages: u32,
}

impl Reads {
    pub const FREE: Reads = Reads { buffer: Buffer::Free, register_pages: 0 };

    pub fn tick(&mut self) {
        if let Buffer::Senses { left_ns, .. } = &mut self.buffer {
            *left_ns -= 1;
        }
    }

    pub fn is_due(&self) -> bool {
        matches!(self.buffer, Buffer::Senses { left_ns: 0, .. })
    }

    pub fn sensed(&mut self, has_register: bool) -> Elapsed {
        let Buffer::Senses { pages, .. } = self.buffer else { panic!("nothing senses") };
        self.buffer = Buffer::Holds { pages };
        if self.register_pages > 0 {
            return Elapsed::ReadHeld;
        }
        if has_register {
            *self = Reads { buffer: Buffer::Free, register_pages: pages };
        }
        Elapsed::ReadReady
    }

    pub fn has_page(&self) -> bool {
        self.register_pages > 0 || matches!(self.buffer, Buffer::Holds { .. })
    }

    /// A page leaves, one from the register first. Returns true if held ones can leave now.
    pub fn release(&mut self, has_register: bool) -> bool {
        let Buffer::Holds { pages } = self.buffer else {
            self.register_pages -= 1;
            return false;
        };
        if self.register_pages == 0 {
            self.buffer =
                if pages == 1 { Buffer::Free } else { Buffer::Holds { pages: pages - 1 } };
            return false;
        }
        self.register_pages -= 1;
        let leaves = self.register_pages == 0;
        if leaves && has_register {
            *self = Reads { buffer: Buffer::Free, register_pages: pages };
        }
        leaves
    }
}

/// Whether a read in a suspension goes into a second register of the part.
pub fn lends_register(part: &Part, is_suspended: bool) -> bool {
    is_suspended && part.suspension.resume_at == ResumeAt::ArrayRead
}
