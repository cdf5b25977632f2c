//! The die: one array, its page buffer and output register, and the operations suspended there.

use std::sync::Arc;

use reprieve_base::{Dur, PageAddress, Stream, Time};

use crate::operation::{Kind, Operation, Stop};
use crate::refusal::Refusal;
use crate::timing::{
    PAGE_TYPES_MAX, PageOrder, ProgramSuspension, ReadLaw, ResumeAt, Suspension, Timing,
};

/// How many of what a die has; each count is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Planes of the die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, at most 65,535.
    pub pages_per_block: u32,
}

/// What all dies of a drive have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// How many of what a die has.
    pub shape: Shape,
    /// Its times.
    pub timing: Timing,
    /// What it can suspend, and how often.
    pub suspension: Suspension,
}

/// What a die is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Sense a page into the page buffer.
    Read(PageAddress),
    /// Take a page over the channel and program it.
    Program(PageAddress),
    /// Erase the block; the page of the address is ignored.
    Erase(PageAddress),
    /// Sense a page into the page buffer and program it elsewhere in its plane, with one command
    /// after the other and no page over the channel.
    Copyback {
        /// The page that is moved.
        from: PageAddress,
        /// Where to.
        to: PageAddress,
    },
}

/// The answer to a suspend request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspend {
    /// The array is free, and the operation suspended, at this instant.
    FreeAt(Time),
    /// The request can only take effect at the operation's end: it runs to it, unsuspended.
    RunsToEnd,
}

/// What has come to pass at the instant that the die promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elapsed {
    /// The page is sensed and ready to leave; with a second register the array is free too.
    ReadReady,
    /// The page is sensed but the output register is still in use; it leaves after that.
    ReadHeld,
    /// The program is complete.
    Programmed,
    /// The erase is complete.
    Erased,
    /// The operation is suspended and the array free.
    Suspended,
}

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
}

/// One die. Every method names the instant at which it happens; instants never run back.
#[derive(Clone, Debug)]
pub struct Die {
    /// Shared, so that a thousand dies read their times from the same cache lines.
    part: Arc<Part>,
    array: Array,
    /// A sensed page that the array has let go of is waiting to leave, or leaving.
    output_in_use: bool,
    /// The program or erase that runs or was suspended last, and the block it works on.
    operation: Option<(Operation, PageAddress)>,
    /// Whether `operation` is suspended.
    suspended: bool,
    /// The suspended erase inside which `operation`, a program, runs or is suspended.
    outer: Option<(Operation, PageAddress)>,
    /// Next page of each block, plane by plane.
    next_page: Vec<u16>,
    vth: Stream,
    read: Stream,
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
        let segments = u64::from(timing.erase_segments);
        assert!(timing.erase.ns() % segments == 0, "an erase of segments of a fraction of 1 ns");
        let blocks = shape.planes as usize * shape.blocks_per_plane as usize;
        Die {
            part,
            array: Array::Idle,
            output_in_use: false,
            operation: None,
            suspended: false,
            outer: None,
            next_page: vec![0; blocks],
            vth: Stream::new(seed, "nand.vth", index),
            read: Stream::new(seed, "nand.read", index),
        }
    }

    /// Begins a command at `now`, when its cycles (and a program's data) start over the channel.
    ///
    /// Returns when the array work will have ended, if it is not suspended.
    #[inline]
    pub fn start(&mut self, now: Time, command: Command) -> Result<Time, Refusal> {
        let at = match command {
            Command::Read(at) | Command::Program(at) | Command::Copyback { to: at, .. } => at,
            Command::Erase(at) => PageAddress { page: 0, ..at },
        };
        let block = self.block_index(at)?;
        if self.array != Array::Idle {
            return Err(Refusal::Busy);
        }
        let issued = now + self.part.timing.command;
        let until = match command {
            Command::Read(_) => {
                if self.works_on(at) {
                    return Err(Refusal::SuspendedBlock);
                }
                let until = issued + self.read_time(at.page);
                self.array = Array::Reading(until);
                return Ok(until);
            }
            Command::Program(_) => {
                self.admit_operation(Kind::Program, at)?;
                if self.output_in_use {
                    return Err(Refusal::Busy);
                }
                self.take_page(block, at)?;
                let timing = &self.part.timing;
                let iterations = timing.iterations_of(at.page);
                let data_in = issued + timing.bus;
                self.begin(Operation::program(data_in, timing, iterations), at)
            }
            Command::Copyback { from, .. } => {
                self.admit_copyback(from, at)?;
                self.take_page(block, at)?;
                let data_in = issued + self.part.timing.command + self.read_time(from.page);
                let timing = &self.part.timing;
                let iterations = timing.iterations_of(at.page);
                self.begin(Operation::program(data_in, timing, iterations), at)
            }
            Command::Erase(_) => {
                self.admit_operation(Kind::Erase, at)?;
                self.next_page[block] = 0;
                self.begin(Operation::erase(issued, &self.part.timing), at)
            }
        };
        Ok(until)
    }

    #[inline]
    fn read_time(&mut self, page: u32) -> Dur {
        let read = self.part.timing.read_of(page);
        match self.part.timing.read_law {
            ReadLaw::Fixed => read,
            ReadLaw::Exponential => {
                // The argument is in (0, 1]; `libm` for the same bits on every machine.
                let times_mean = -libm::log(1.0 - self.read.unit());
                Dur::from_ns((times_mean * read.ns() as f64).round() as u64)
            }
        }
    }

    /// Whether a sensed page goes into a second register, so that the array is free.
    #[inline]
    fn has_output_register(&self) -> bool {
        self.part.timing.cache_register
            || self.suspended && self.part.suspension.resume_at == ResumeAt::ArrayRead
    }

    fn begin(&mut self, operation: Operation, at: PageAddress) -> Time {
        let until = operation.end(&self.part.timing);
        self.operation = Some((operation, at));
        self.array = Array::Running(until);
        until
    }

    /// The page that a program is about to take has to be the next one of its block.
    #[inline]
    fn take_page(&mut self, block: usize, at: PageAddress) -> Result<(), Refusal> {
        let expected = u32::from(self.next_page[block]);
        match at.page.cmp(&expected) {
            std::cmp::Ordering::Less => return Err(Refusal::AlreadyProgrammed),
            std::cmp::Ordering::Greater => return Err(Refusal::OutOfOrder { expected }),
            std::cmp::Ordering::Equal => self.next_page[block] += 1,
        }
        if self.suspended {
            self.enclose();
        }
        Ok(())
    }

    /// Whether a page can be moved within the die now.
    fn admit_copyback(&self, from: PageAddress, to: PageAddress) -> Result<(), Refusal> {
        self.block_index(from)?;
        if from.plane != to.plane {
            return Err(Refusal::OtherPlane);
        }
        let Suspension { program, shadow_buffer, .. } = self.part.suspension;
        if program != ProgramSuspension::None && !shadow_buffer {
            return Err(Refusal::CannotRestore);
        }
        if self.works_on(from) {
            return Err(Refusal::SuspendedBlock);
        }
        self.admit_operation(Kind::Program, to)
    }

    /// The suspended erase now lies around the program that begins.
    #[cold]
    fn enclose(&mut self) {
        self.outer = self.operation.take();
        self.suspended = false;
    }

    /// The program is complete; what is suspended now is the erase around it.
    #[cold]
    fn uncover(&mut self) {
        self.operation = self.outer.take();
        self.suspended = true;
    }

    /// Whether an operation of this kind may begin in an idle array.
    #[inline]
    fn admit_operation(&self, kind: Kind, at: PageAddress) -> Result<(), Refusal> {
        let Some((suspended, _)) = &self.operation else { return Ok(()) };
        if self.works_on(at) {
            return Err(Refusal::SuspendedBlock);
        }
        // What lies innermost is a program if there are two, so that there are never three.
        let fits = (kind, suspended.kind) == (Kind::Program, Kind::Erase);
        if fits && self.part.suspension.program_in_erase { Ok(()) } else { Err(Refusal::Nested) }
    }

    /// Whether an operation that runs or is suspended works on the block of `at`.
    #[inline]
    fn works_on(&self, at: PageAddress) -> bool {
        let own =
            |(_, own): &(Operation, PageAddress)| (own.plane, own.block) == (at.plane, at.block);
        match &self.operation {
            None => false,
            Some(operation) => own(operation) || self.outer.as_ref().is_some_and(own),
        }
    }

    /// Asks the running program or erase to make way at `now`.
    pub fn suspend(&mut self, now: Time) -> Result<Suspend, Refusal> {
        match self.array {
            Array::Running(_) => {}
            Array::Suspending(_) => return Err(Refusal::AlreadySuspending),
            _ if self.suspended => return Err(Refusal::Nested),
            _ => return Err(Refusal::NothingToSuspend),
        }
        let (operation, _) = self.operation.as_mut().expect("a running array has an operation");
        let able = match operation.kind {
            Kind::Program => self.part.suspension.program != ProgramSuspension::None,
            Kind::Erase => self.part.suspension.erase,
        };
        if !able {
            return Err(Refusal::NotSuspendable);
        }
        if self.part.suspension.max_per_operation.is_some_and(|max| operation.suspensions >= max) {
            return Err(Refusal::LimitReached);
        }
        let from = operation.suspendable_from(&self.part.suspension);
        if now < from {
            return Err(Refusal::TooSoon { until: from });
        }
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
        if self.array != Array::Idle || (self.output_in_use && self.resume_needs_channel()) {
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
                if self.outer.is_some() {
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

    /// The sensed page has left over the channel. Returns true if a held page can leave now.
    #[inline]
    pub fn release(&mut self) -> bool {
        let holds = self.array == Array::Holding;
        assert!(holds || self.output_in_use, "a page left a die that had none");
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

    /// Counts the first `pages` pages of a block as programmed, without taking time.
    pub fn precondition(&mut self, plane: u32, block: u32, pages: u32) {
        let at = PageAddress { plane, block, page: 0 };
        let index = self.block_index(at).expect("preconditioning stays inside the die");
        assert!(pages <= self.part.shape.pages_per_block, "more pages programmed than a block has");
        self.next_page[index] = u16::try_from(pages).expect("pages of a block fit 16 bits");
    }

    /// Whether the array and the page buffer are free for a read.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.array == Array::Idle
    }

    /// Whether a sensed page is still waiting to leave, or leaving, through the second register.
    #[inline]
    pub fn output_in_use(&self) -> bool {
        self.output_in_use
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
        self.outer.as_ref().map(|(_, at)| (at.plane, at.block))
    }

    /// Suspensions of the program or erase that runs or was suspended last.
    pub fn suspensions(&self) -> u32 {
        self.operation.as_ref().map_or(0, |(operation, _)| operation.suspensions)
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

    #[inline]
    fn block_index(&self, at: PageAddress) -> Result<usize, Refusal> {
        let Shape { planes, blocks_per_plane, pages_per_block } = self.part.shape;
        if at.plane >= planes || at.block >= blocks_per_plane || at.page >= pages_per_block {
            return Err(Refusal::NoSuchPage);
        }
        Ok(at.plane as usize * blocks_per_plane as usize + at.block as usize)
    }
}
