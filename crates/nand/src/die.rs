//! The die: one array, its page buffer and output register, and the operations suspended there.

mod admit;
mod cache;
mod lengths;
mod limits;
mod multi_plane;
mod outlook;
mod pieces;
mod planes;

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Rare, Stream, Time};

use multi_plane::OtherPlanes;
pub use outlook::Outlook;
pub use pieces::PlaneWork;

use crate::command::{Command, Elapsed, Part, Suspend};
use crate::operation::{Kind, Operation, Run, Stop};
use crate::parallelism::Parallelism;
use crate::refusal::Refusal;
use crate::timing::{
    PAGE_TYPES_MAX, PageOrder, ProgramSuspension, ReadLaw, ResumeAt, Suspension, Timing,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Array {
    Idle,
    /// Sensing until then.
    Reading(Time),
    /// A sensed page waits in the page buffer, which is the array's only one.
    Holding,
    /// A program or erase runs until then.
    Running(Time),
    /// A program or erase is on its way into suspension, which it reaches then.
    Suspending(Time),
    /// Planes are at work that were stopped apart, or wait for it; nothing else is.
    InPieces,
}

/// One die. Every method names the instant at which it happens; instants never run back.
#[derive(Clone, Debug)]
pub struct Die {
    /// Shared, so that a thousand dies read their times from the same cache lines.
    part: Arc<Part>,
    array: Array,
    /// A sensed page that the array has let go of is waiting to leave, or leaving.
    output_in_use: bool,
    /// Pages sensed together by the last read, and how many of those that leave are left.
    sensed: u32,
    leaving: u32,
    /// The program or erase that runs or was suspended last, and the block it works on.
    operation: Option<(Operation, PageAddress)>,
    /// Whether `operation` is suspended.
    suspended: bool,
    /// What else there is.
    beside: Rare<OtherPlanes>,
    /// Planes that read by themselves whose page buffers are in use, and whose registers are.
    buffers_in_use: u32,
    registers_in_use: u32,
    /// Pages of a block that a program takes.
    pages_together: u16,
    /// The part does several things at once; else there is nothing beside `operation`.
    does_several: bool,
    /// Next page of each block, plane by plane.
    next_page: Box<[u16]>,
    vth: Stream,
}

impl Die {
    /// A die whose blocks are all erased. `index` selects its random stream.
    pub fn new(part: Arc<Part>, seed: u64, index: u64) -> Die {
        let Part { shape, timing, .. } = *part;
        assert!(shape.pages_per_block <= u32::from(u16::MAX), "a block of more than 65,535 pages");
        assert!(timing.program_iterations > 0, "a program without iterations");
        if let Some(types) = timing.page_types {
            let count = types.count as usize;
            assert!((2..=PAGE_TYPES_MAX).contains(&count), "a part of {count} page types");
            let three = count == 3 || types.order != PageOrder::Interleaved;
            assert!(three, "an order of three types, and there are {count}");
            let all = types.program_iterations[..count].iter();
            assert!(all.min() > Some(&0), "a type of page whose program has no iterations");
        }
        let together = timing.pages_together();
        assert!(
            together > 0 && shape.pages_per_block % together == 0,
            "a block of part of a wordline"
        );
        let segments = u64::from(timing.erase_segments);
        assert!(timing.erase.ns() % segments == 0, "an erase of segments of a fraction of 1 ns");
        let blocks = shape.planes as usize * shape.blocks_per_plane as usize;
        Die {
            array: Array::Idle,
            output_in_use: false,
            sensed: 1,
            leaving: 0,
            operation: None,
            suspended: false,
            beside: Rare::only_if(OtherPlanes::is_needed(&part), || {
                OtherPlanes::new(&part, seed, index)
            }),
            buffers_in_use: 0,
            registers_in_use: 0,
            does_several: part.parallelism != Parallelism::NONE,
            part,
            pages_together: u16::try_from(together).expect("it divides a block"),
            next_page: vec![0; blocks].into_boxed_slice(),
            vth: Stream::new(seed, "nand.vth", index),
        }
    }

    /// Begins a command at `now`, when its cycles (and a program's data) start over the channel.
    ///
    /// Returns when the array work will have ended, if it is not suspended.
    #[inline]
    pub fn start(&mut self, now: Time, command: Command) -> Result<Time, Refusal> {
        self.issue(now, command, &[])
    }

    /// Begins a command that works on pages or blocks of `others`, too, one for each further plane.
    ///
    /// Command cycles and data of one plane after the other cross the channel, then the array
    /// works on all planes at once.
    #[cold]
    pub fn start_together(
        &mut self,
        now: Time,
        command: Command,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        self.issue(now, command, others)
    }

    /// Twice in the machine code, so that commands for one plane cost no more than they did
    /// without others.
    #[inline(always)]
    fn issue(
        &mut self,
        now: Time,
        command: Command,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        let at = match command {
            Command::Read(at) | Command::Program(at) | Command::Copyback { to: at, .. } => at,
            Command::Erase(at) => PageAddress { page: 0, ..at },
        };
        let block = self.block_index(at)?;
        if self.array != Array::Idle && !self.reads_beside(command) {
            return Err(Refusal::Busy);
        }
        if !others.is_empty() {
            self.admit_together(command, others)?;
        }
        let planes = others.len() as u64 + 1;
        let issued = now + self.part.timing.command * planes;
        let until = match command {
            Command::Read(_) => {
                if self.bars_read(at) {
                    return Err(Refusal::SuspendedBlock);
                }
                return self.start_read(issued, at, others);
            }
            Command::Program(_) => {
                self.admit_operation(Kind::Program, at)?;
                if self.output_in_use() {
                    return Err(Refusal::Busy);
                }
                self.take_page(block, at)?;
                for other in others {
                    let block = self.block_index(*other)?;
                    self.next_page[block] += self.pages_together;
                }
                let iterations = self.iterations_together(at, others);
                self.accompany(others);
                let timing = &self.part.timing;
                let data_in = issued + timing.data_in() * planes;
                let operation = Operation::program(data_in, timing, iterations);
                let operation = match others {
                    [] => operation,
                    _ => operation.on_planes(planes as u32),
                };
                self.begin(operation, at)
            }
            Command::Copyback { from, .. } => {
                return self.start_copyback(issued, block, (from, at));
            }
            Command::Erase(_) => return self.start_erase(issued, block, at, others),
        };
        Ok(until)
    }

    #[inline(never)]
    fn start_copyback(
        &mut self,
        issued: Time,
        block: usize,
        (from, to): (PageAddress, PageAddress),
    ) -> Result<Time, Refusal> {
        self.admit_copyback(from, to)?;
        self.take_page(block, to)?;
        let data_in = issued + self.part.timing.command + self.read_time(from.page);
        let iterations = self.iterations_of(to);
        Ok(self.begin(Operation::program(data_in, &self.part.timing, iterations), to))
    }

    /// Out of the way of reads and programs, of which there are hundreds for each.
    #[inline(never)]
    fn start_erase(
        &mut self,
        issued: Time,
        block: usize,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        self.admit_operation(Kind::Erase, at)?;
        self.next_page[block] = 0;
        for other in others {
            let block = self.block_index(*other)?;
            self.next_page[block] = 0;
        }
        self.accompany(others);
        Ok(self.begin(Operation::erase(issued, &self.part.timing), at))
    }

    #[inline(always)]
    fn start_read(
        &mut self,
        issued: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        if self.beside.get().is_some_and(|beside| !beside.planes.is_empty()) {
            return self.start_on_plane(issued, at, others);
        }
        let mut longest = self.read_time(at.page);
        for other in others {
            longest = longest.max(self.read_time(other.page));
        }
        let until = issued + longest;
        self.sensed = others.len() as u32 + 1;
        self.array = Array::Reading(until);
        Ok(until)
    }

    #[inline]
    fn read_time(&mut self, page: u32) -> Dur {
        let read = self.part.timing.read_of(page);
        match self.part.timing.read_law {
            ReadLaw::Fixed => read,
            ReadLaw::Exponential => self.draw_read_time(read),
        }
    }

    #[inline(never)]
    fn draw_read_time(&mut self, mean: Dur) -> Dur {
        // The argument is in (0, 1]; `libm` for the same bits on every machine.
        let times_mean = -libm::log(1.0 - self.beside.read.unit());
        Dur::from_ns((times_mean * mean.ns() as f64).round() as u64)
    }

    /// Whether a sensed page goes into a second register, so that the array is free.
    #[inline]
    fn has_output_register(&self) -> bool {
        let has_one = self.part.timing.cache_register
            || self.suspended && self.part.suspension.resume_at == ResumeAt::ArrayRead;
        // The page of a program that waits in it leaves no room.
        has_one && self.beside.get().is_none_or(|beside| beside.loaded.is_none())
    }

    /// What begins works on `others`, too.
    #[inline]
    fn accompany(&mut self, others: &[PageAddress]) {
        if !others.is_empty() {
            self.beside.companions.extend_from_slice(others);
        }
    }

    #[inline]
    fn begin(&mut self, operation: Operation, at: PageAddress) -> Time {
        let until = operation.end(&self.part.timing);
        self.operation = Some((operation, at));
        self.array = Array::Running(until);
        until
    }

    /// Asks the running program or erase to make way at `now`.
    pub fn suspend(&mut self, now: Time) -> Result<Suspend, Refusal> {
        self.may_suspend(now, None)?;
        let (operation, _) = self.operation.as_mut().expect("a running array has an operation");
        match operation.stop(now, &self.part.timing, &self.part.suspension, &mut self.vth) {
            Stop::AtEnd => Ok(Suspend::RunsToEnd),
            Stop::At(free_at) => {
                self.array = Array::Suspending(free_at);
                Ok(Suspend::FreeAt(free_at))
            }
        }
    }

    /// Lets the operation suspended last go on from `now`, beginning with its restore or set-up.
    ///
    /// Without a shadow buffer the caller sends the page over the channel from `now` on.
    /// Returns when the operation will have ended, if it is not suspended again.
    pub fn resume(&mut self, now: Time) -> Result<Time, Refusal> {
        if !self.suspended {
            return Err(Refusal::NothingToResume);
        }
        if !self.is_free() || (self.output_in_use() && self.resume_needs_channel()) {
            return Err(Refusal::Busy);
        }
        let (operation, _) = self.operation.as_mut().expect("a suspended die has an operation");
        operation.resume(now, &self.part.timing, &self.part.suspension);
        let until = operation.end(&self.part.timing);
        self.suspended = false;
        self.array = Array::Running(until);
        Ok(until)
    }

    /// The instant that the die promised has come: says what has happened.
    ///
    /// Panics if nothing was promised for `now`: then the caller has lost track of the die.
    #[inline]
    pub fn elapse(&mut self, now: Time) -> Elapsed {
        match self.array {
            Array::Reading(until) if until == now => {
                if self.output_in_use {
                    self.array = Array::Holding;
                    return Elapsed::ReadHeld;
                }
                self.leaving = self.sensed;
                if !self.has_output_register() {
                    self.array = Array::Holding;
                    return Elapsed::ReadReady;
                }
                self.output_in_use = true;
                self.array = Array::Idle;
                Elapsed::ReadReady
            }
            Array::Running(until) if until == now => {
                let (operation, _) = self.operation.take().expect("a running array");
                self.array = Array::Idle;
                if self.does_several {
                    self.end_together(now);
                }
                if self.beside.get().is_some_and(|beside| beside.outer.is_some()) {
                    self.uncover();
                }
                match operation.kind {
                    Kind::Program => Elapsed::Programmed,
                    Kind::Erase => Elapsed::Erased,
                }
            }
            Array::Suspending(until) if until == now => {
                self.array = Array::Idle;
                self.suspended = true;
                Elapsed::Suspended
            }
            array => panic!("a die in {array:?} promised nothing for {now}"),
        }
    }

    /// A sensed page has left over the channel. Returns true if what is held can leave now.
    #[inline]
    pub fn release(&mut self) -> bool {
        let holds = self.array == Array::Holding;
        assert!(holds || self.output_in_use, "a page left a die that had none");
        self.leaving -= 1;
        if self.leaving > 0 {
            return false;
        }
        if holds && self.output_in_use {
            self.leaving = self.sensed;
        }
        if !self.output_in_use {
            self.array = Array::Idle;
            return false;
        }
        self.output_in_use = holds && self.has_output_register();
        if self.output_in_use {
            self.array = Array::Idle;
        }
        holds
    }

    /// Counts the first `pages` pages of a block, and the rest of their last wordline, as
    /// programmed, without taking time.
    pub fn precondition(&mut self, plane: u32, block: u32, pages: u32) {
        let at = PageAddress { plane, block, page: 0 };
        let index = self.block_index(at).expect("preconditioning stays inside the die");
        assert!(pages <= self.part.shape.pages_per_block, "more pages programmed than a block has");
        let pages = pages.next_multiple_of(u32::from(self.pages_together));
        self.next_page[index] = u16::try_from(pages).expect("pages of a block fit 16 bits");
    }

    /// Whether the array and all page buffers are free.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.array == Array::Idle && self.buffers_in_use == 0
    }

    /// Whether a sensed page is still waiting to leave, or leaving, through the second register.
    #[inline]
    pub fn output_in_use(&self) -> bool {
        self.output_in_use || self.registers_in_use > 0
    }

    /// Whether a program or erase is running and not on its way into suspension.
    #[inline]
    pub fn is_running(&self) -> bool {
        matches!(self.array, Array::Running(_))
    }

    /// Whether the operation begun last is suspended, its array free for what it makes way for.
    #[inline]
    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Plane and block of the program or erase that runs, is being suspended or was suspended last.
    #[inline]
    pub fn operation_block(&self) -> Option<(u32, u32)> {
        self.operation.as_ref().map(|(_, at)| (at.plane, at.block))
    }

    /// Plane and block of the suspended erase around that program.
    #[inline]
    pub fn outer_block(&self) -> Option<(u32, u32)> {
        let (_, at) = self.beside.get()?.outer.as_ref()?;
        Some((at.plane, at.block))
    }

    /// Suspensions of the program or erase that runs or was suspended last.
    pub fn suspensions(&self) -> u32 {
        self.operation.as_ref().map_or(0, |(operation, _)| operation.suspensions)
    }

    /// The program or erase that began or was resumed at `from`, to follow its phases.
    pub fn run(&self, from: Time) -> Option<Run> {
        let (operation, _) = self.operation.as_ref()?;
        self.is_running().then(|| Run::new(*operation, from))
    }

    /// Pages or blocks that the operation begun last works on together.
    #[inline]
    pub fn planes_at_work(&self) -> u32 {
        1 + self.beside.get().map_or(0, |beside| beside.companions.len() as u32)
    }

    /// Whether the page of the operation suspended last has to be sent again over the channel.
    pub fn resume_needs_channel(&self) -> bool {
        let program = self.operation.as_ref().is_some_and(|(op, _)| op.kind == Kind::Program);
        program && !self.part.suspension.shadow_buffer
    }

    /// The part's times.
    #[inline]
    pub fn timing(&self) -> &Timing {
        &self.part.timing
    }
}

/// Whether the part can suspend an operation at `now`.
#[inline]
fn may_stop(operation: &Operation, now: Time, suspension: &Suspension) -> Result<(), Refusal> {
    let (able, most) = match operation.kind {
        Kind::Program => {
            (suspension.program != ProgramSuspension::None, suspension.max_per_program)
        }
        Kind::Erase => (suspension.erase, suspension.max_per_erase),
    };
    if !able {
        return Err(Refusal::NotSuspendable);
    }
    if most.is_some_and(|most| operation.suspensions >= most) {
        return Err(Refusal::LimitReached);
    }
    let from = operation.suspendable_from(suspension);
    if now < from { Err(Refusal::TooSoon { until: from }) } else { Ok(()) }
}
