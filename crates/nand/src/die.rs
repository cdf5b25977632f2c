//! The die: one array, its page buffer and output register, and its suspended operations.

mod admit;
mod cache;
mod erases;
mod lengths;
mod limits;
mod operations;
mod pieces;
mod planes;
mod programmed;
mod suspension_estimate;

use std::sync::Arc;

use reprieve_base::{Archive, PageAddress, Rare, Stream, Time, parts};

use cache::LoadRegister;
use erases::BlockErases;
use lengths::Lengths;
pub use operations::Operations;
pub use pieces::PlaneWork;
pub use planes::PlaneReads;
use programmed::ProgrammedPages;
pub use suspension_estimate::{ActiveOperation, SuspensionCost};

use crate::command::{Command, Elapsed, Part, Suspend};
use crate::operation::{Kind, Operation, Run, Stop};
use crate::refusal::Refusal;
use crate::timing::{PAGE_TYPES_MAX, PageOrder, ResumeAt};

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Array {
    Idle,
    /// Senses until this instant.
    Reading(Time),
    /// A sensed page is in the page buffer, the array's only one.
    Holding,
    /// A program or erase runs until this instant.
    Running(Time),
    /// A program or erase enters suspension, until this instant.
    Suspending(Time),
    /// Planes with plane suspension work, or are suspended; the others are idle.
    InPieces,
}

/// One die. Every method takes the instant at which it happens; instants never decrease.
#[derive(Clone, Debug)]
pub struct Die {
    /// Shared, so that a thousand dies read their times from the same cache lines.
    part: Arc<Part>,
    array: Array,
    /// A sensed page in the output register waits for its transfer, or is transferred.
    output_in_use: bool,
    /// Pages sensed by the last read, and those of the leaving ones that are left.
    sensed: u32,
    leaving: u32,
    operations: Operations,
    /// Page buffers and registers of planes with independent reads.
    plane_reads: PlaneReads,
    /// The second register of a part with cache program.
    loaded: Rare<LoadRegister>,
    pages: ProgrammedPages,
    lengths: Lengths,
    /// Erase times of its blocks; absent on a part that erases with one pulse.
    erases: Option<Box<BlockErases>>,
    /// Whether the part runs several operations at once.
    does_several: bool,
    vth: Stream,
}

impl Die {
    /// Saves or restores the state that changes.
    pub fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.array, self.output_in_use, self.sensed, self.leaving, self.operations);
        parts!(archive; self.plane_reads, self.loaded, self.pages, self.lengths, self.vth);
        self.erases.iter_mut().for_each(|erases| erases.archive(archive));
    }

    /// Creates a die with all blocks erased. `index` selects its random stream.
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
        Die {
            array: Array::Idle,
            output_in_use: false,
            sensed: 1,
            leaving: 0,
            operations: Operations::new(&part),
            plane_reads: PlaneReads::new(&part),
            loaded: Rare::only_if(part.parallelism.cache_program, LoadRegister::default),
            pages: ProgrammedPages::new(&part),
            lengths: Lengths::new(&part, seed, index),
            erases: None,
            does_several: part.does_several(),
            part,
            vth: Stream::new(seed, "nand.vth", index),
        }
    }

    /// Starts a command at `now`, when its cycles (and a program's data) start over the channel.
    ///
    /// Returns the end of the array time without suspension.
    #[inline]
    pub fn start(&mut self, now: Time, command: Command) -> Result<Time, Refusal> {
        self.issue(now, command, &[])
    }

    /// Starts a command that also works on pages or blocks of `others`, one for each further plane.
    ///
    /// Command cycles and data of the planes cross the channel in turn, then the array works on all
    /// planes at once.
    #[cold]
    pub fn start_together(
        &mut self,
        now: Time,
        command: Command,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        self.issue(now, command, others)
    }

    /// Compiled twice, so that single-plane commands cost no more than without others.
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
        let block = self.part.shape.block_index(at)?;
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
                self.take_pages(block, at, others)?;
                let iterations = self.lengths.longest(&self.part, at, others);
                let (timing, is_slc) = (&self.part.timing, self.lengths.is_slc(&self.part, at));
                let data_in = issued + timing.data_in_of(is_slc) * planes;
                let operation = Operation::program(data_in, iterations).in_slc(is_slc);
                let operation = match others {
                    [] => operation,
                    _ => operation.on_planes(planes as u32),
                };
                self.begin(operation, at, others)
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
        self.take_pages(block, to, &[])?;
        let timing = &self.part.timing;
        let data_in = issued + timing.command + self.lengths.read(&self.part, from);
        let iterations = self.lengths.iterations(&self.part, to);
        Ok(self.begin(Operation::program(data_in, iterations), to, &[]))
    }

    /// Not inlined, as there are hundreds of reads and programs for each erase.
    #[inline(never)]
    fn start_erase(
        &mut self,
        issued: Time,
        block: usize,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        self.admit_operation(Kind::Erase, at)?;
        self.pages.erase(block);
        self.lengths.set_slc(block, false);
        for other in others {
            let block = self.part.shape.block_index(*other)?;
            self.pages.erase(block);
            self.lengths.set_slc(block, false);
        }
        let (loops, last) = self.loops_of(at, others);
        let operation = Operation::erase(issued, &self.part.timing, loops, last);
        Ok(self.begin(operation, at, others))
    }

    #[inline(always)]
    fn start_read(
        &mut self,
        issued: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        if self.plane_reads.has_planes() {
            return self.start_on_plane(issued, at, others);
        }
        let mut longest = self.lengths.read(&self.part, at);
        for other in others {
            longest = longest.max(self.lengths.read(&self.part, *other));
        }
        let until = issued + longest;
        self.sensed = others.len() as u32 + 1;
        self.array = Array::Reading(until);
        Ok(until)
    }

    /// Whether a sensed page moves into a second register, so that the array is free.
    #[inline]
    fn has_output_register(&self) -> bool {
        let has_one = self.part.timing.cache_register
            || self.operations.is_suspended()
                && self.part.suspension.resume_at == ResumeAt::ArrayRead;
        // A waiting program's page occupies it.
        has_one && self.loaded.get().is_none_or(LoadRegister::is_empty)
    }

    #[inline]
    fn begin(&mut self, operation: Operation, at: PageAddress, others: &[PageAddress]) -> Time {
        let until = operation.end(&self.part.timing);
        self.operations.begin(operation, at, others);
        self.array = Array::Running(until);
        until
    }

    /// Suspends the running program or erase at `now`.
    pub fn suspend(&mut self, now: Time) -> Result<Suspend, Refusal> {
        self.may_suspend(now, None)?;
        match self.operations.stop(now, &self.part, &mut self.vth) {
            Stop::AtEnd => Ok(Suspend::RunsToEnd),
            Stop::At(free_at) => {
                self.array = Array::Suspending(free_at);
                Ok(Suspend::FreeAt(free_at))
            }
        }
    }

    /// Resumes the operation suspended last at `now`, with its restore or set-up first.
    ///
    /// Without a shadow buffer the caller sends the page over the channel from `now` on. Returns
    /// the end of the operation, if it is not suspended again.
    pub fn resume(&mut self, now: Time) -> Result<Time, Refusal> {
        if !self.operations.is_suspended() {
            return Err(Refusal::NothingToResume);
        }
        if !self.is_free() || (self.output_in_use() && self.resume_needs_channel()) {
            return Err(Refusal::Busy);
        }
        let until = self.operations.resume(now, &self.part);
        self.array = Array::Running(until);
        Ok(until)
    }

    /// Advances to the instant of the last answer; returns the event.
    ///
    /// Panics if no event is due at `now`: then the caller has lost track of the die.
    #[inline(always)]
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
                let kind = self.operations.end();
                self.array = Array::Idle;
                if self.does_several {
                    self.end_one_of_several(now);
                }
                kind.complete()
            }
            Array::Suspending(until) if until == now => {
                self.array = Array::Idle;
                self.operations.suspended();
                Elapsed::Suspended
            }
            array => panic!("a die in {array:?} promised nothing for {now}"),
        }
    }

    /// Completes the transfer of a page. Returns true if a held page can be transferred now.
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

    /// Marks the first `pages` pages of a block, and the rest of their last wordline, as
    /// programmed, without array time.
    pub fn precondition(&mut self, plane: u32, block: u32, pages: u32) {
        let at = PageAddress { plane, block, page: 0 };
        let index = self.part.shape.block_index(at).expect("preconditioning stays inside the die");
        assert!(pages <= self.part.shape.pages_per_block, "more pages programmed than a block has");
        self.pages.fill(index, pages);
    }

    /// Whether the array and all page buffers are free.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.array == Array::Idle && self.plane_reads.are_free()
    }

    /// Whether the second register holds a sensed page.
    #[inline]
    pub fn output_in_use(&self) -> bool {
        self.output_in_use || self.plane_reads.any_output_in_use()
    }

    /// Whether a program or erase is running and not entering suspension.
    #[inline]
    pub fn is_running(&self) -> bool {
        matches!(self.array, Array::Running(_))
    }

    /// Whether the last operation is suspended, with its array free for others.
    #[inline]
    pub fn is_suspended(&self) -> bool {
        self.operations.is_suspended()
    }

    /// Returns the programs and erases that are not complete.
    #[inline]
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Returns the program or erase that started or resumed at `from`, to follow its phases.
    pub fn run(&self, from: Time) -> Option<Run> {
        self.operations.run(from).filter(|_| self.is_running())
    }

    /// Whether the page of the operation suspended last has to be sent over the channel again.
    pub fn resume_needs_channel(&self) -> bool {
        let program = self.operations.innermost().is_some_and(|one| one.kind == Kind::Program);
        program && !self.part.suspension.shadow_buffer
    }
}
