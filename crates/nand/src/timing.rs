//! Times and suspension properties of a part.

use reprieve_base::Dur;

use crate::loops::EraseLoops;
use crate::wordlines::{IterationSpread, Slices};

/// Lengths of the operations of one die, in nanoseconds.
///
/// Where `Suspension::reset_inside_phase` holds, the last `voltage_reset` of every pulse and verify
/// is part of that phase's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Command and address cycles on the channel (tCMD).
    pub command: Dur,
    /// One page over the channel (tBUS).
    pub bus: Dur,
    /// Array read (tR); its mean where `read_law` draws it.
    pub read: Dur,
    /// Distribution of array reads.
    pub read_law: ReadLaw,
    /// ISPP iterations of a page program, 1 or more.
    pub program_iterations: u32,
    /// Program pulse of one iteration.
    pub program_pulse: Dur,
    /// Program verify of one iteration.
    pub verify: Dur,
    /// Erase pulse, all its segments together.
    pub erase: Dur,
    /// Segments of the erase pulse, 1 or more; they divide it into equal whole nanoseconds.
    pub erase_segments: u32,
    /// Verify after the erase pulse.
    pub erase_verify: Dur,
    /// Loops of an erase, in place of its one pulse and verify; they have no segments.
    pub erase_loops: Option<EraseLoops>,
    /// Reset of the operating voltages; where it lies inside the phases, at most as long as any
    /// phase that can be cancelled.
    pub voltage_reset: Dur,
    /// Restoring the page buffer from the shadow buffer.
    pub buffer: Dur,
    /// Time from the stop of a program's phases to a free array.
    pub suspend_overhead: Dur,
    /// Time from the stop of an erase to a free array.
    pub erase_suspend_overhead: Dur,
    /// The array is free at the end of tR, because the data waits in a second register.
    pub cache_register: bool,
    /// Page types with different times; `None`: all pages are equal.
    pub page_types: Option<PageTypes>,
    /// Pages that are programmed together; `None`: one by one.
    pub wordline: Option<Wordline>,
    /// Iterations by wordline, in place of the part's and of its page types.
    pub spread: Option<IterationSpread>,
    /// Iterations of a first, coarse pass over a wordline; the iterations above are then those of
    /// the second, fine pass, which follows that of the next wordline. `None`: one pass.
    pub coarse_iterations: Option<u32>,
    /// Slices of a program, where it is suspended between them.
    pub slices: Option<Slices>,
    /// Times of a block in SLC mode; `None`: the part has no such mode.
    pub slc: Option<SlcMode>,
}

/// A block of a multi-level part in SLC mode: a program takes one page of each wordline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlcMode {
    /// Array read.
    pub read: Dur,
    /// Iterations of a program, 1 or more.
    pub program_iterations: u32,
}

impl Timing {
    /// Returns the time of a program of `iterations` loops without suspension, with command and
    /// data-in; of a block in SLC mode or not.
    pub fn undisturbed_program(&self, is_slc: bool, iterations: u32) -> Dur {
        self.command + self.data_in_of(is_slc) + self.program_array(iterations)
    }

    /// Returns the time from the stop of an operation's phases to a free array.
    #[inline]
    pub fn suspend_overhead_of(&self, is_erase: bool) -> Dur {
        if is_erase { self.erase_suspend_overhead } else { self.suspend_overhead }
    }

    /// Returns the array time of `iterations` iterations, with the overheads of their slices.
    #[inline]
    pub fn program_array(&self, iterations: u32) -> Dur {
        let phases = (self.program_pulse + self.verify) * u64::from(iterations);
        match self.slices {
            None => phases,
            Some(slices) => {
                phases + slices.overhead * u64::from(iterations.div_ceil(slices.iterations))
            }
        }
    }

    /// Returns the data-in of a program, of a block in SLC mode or not.
    #[inline(always)]
    pub fn data_in_of(&self, is_slc: bool) -> Dur {
        if is_slc { self.bus } else { self.data_in() }
    }

    /// Returns the data-in of a program: a page, or those of a wordline, for each pass.
    #[inline(always)]
    pub fn data_in(&self) -> Dur {
        match self.wordline {
            None => self.bus,
            Some(Wordline { pages, load_gap }) => {
                let once = self.bus * u64::from(pages) + load_gap * u64::from(pages - 1);
                once * u64::from(self.passes())
            }
        }
    }

    /// Returns the number of transfers of a wordline's data to the die.
    #[inline]
    pub fn passes(&self) -> u32 {
        1 + u32::from(self.coarse_iterations.is_some())
    }

    /// Returns the pages of a block in a program.
    #[inline]
    pub fn pages_together(&self) -> u32 {
        self.wordline.map_or(1, |wordline| wordline.pages)
    }

    /// Returns the wordline of a page, counted in its block: of pages programmed together, else of
    /// a cell's pages, else the page itself.
    pub fn wordline_of(&self, page: u32) -> u32 {
        match (&self.wordline, &self.page_types) {
            (Some(wordline), _) => page / wordline.pages,
            (None, Some(types)) => types.wordline_of(page),
            (None, None) => page,
        }
    }

    /// Returns the time of a copyback from a page, of `iterations` iterations, without suspension,
    /// with its two commands.
    pub fn undisturbed_copyback(&self, from: u32, iterations: u32) -> Dur {
        self.command * 2 + self.read_of(from) + self.program_array(iterations)
    }

    /// Returns the array read of a page of a block; its mean where `read_law` draws it.
    #[inline]
    pub fn read_of(&self, page: u32) -> Dur {
        match &self.page_types {
            None => self.read,
            Some(types) => types.read[types.of(page)],
        }
    }

    /// Returns the iterations of the program of a page, where they do not go by wordline.
    #[inline]
    pub fn iterations_of(&self, page: u32) -> u32 {
        match &self.page_types {
            None => self.program_iterations,
            Some(types) => types.program_iterations[types.of(page)],
        }
    }

    /// Returns the pulse of a loop of an erase, counted from 0, that is not its last.
    pub(crate) fn erase_pulse_of(&self, index: u32) -> Dur {
        let loops = self.erase_loops.as_ref().expect("an erase of one pulse has one loop");
        loops.length(index) - self.erase_verify
    }

    /// Returns a segment of such a pulse of an erase.
    pub(crate) fn erase_segment_of(&self, pulse: Dur) -> Dur {
        match self.erase_loops {
            None => Dur::from_ns(self.erase.ns() / u64::from(self.erase_segments)),
            Some(_) => pulse,
        }
    }

    /// Returns the longest time of an erase to its next safe point: a segment, or a loop.
    pub(crate) fn longest_to_safe_point(&self) -> Dur {
        match self.erase_loops {
            None => self.erase_segment_of(self.erase),
            // The last loop may be longer by a verify, but nothing follows it.
            Some(loops) => loops.longest(),
        }
    }

    /// Returns pulse and verify of an erase, or of its repeated loop.
    pub fn erase_phases(&self) -> [Dur; 2] {
        let repeated = self.erase_loops.map(|loops| loops.length(u32::MAX) - self.erase_verify);
        [repeated.unwrap_or(self.erase), self.erase_verify]
    }
}

/// A wordline whose pages are programmed together, by one program (one shot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wordline {
    /// Pages, 2 or more; they divide a block.
    pub pages: u32,
    /// Time between the transfers of two of them.
    pub load_gap: Dur,
}

/// Most page types of a part: the bits of a QLC cell.
pub const PAGE_TYPES_MAX: usize = 4;

/// Page types, one for each bit of a cell, and their differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTypes {
    /// Number of types, from 2 to [`PAGE_TYPES_MAX`]; the first entries of the arrays.
    pub count: u32,
    /// Order of the types in a block.
    pub order: PageOrder,
    /// Array read of each type.
    pub read: [Dur; PAGE_TYPES_MAX],
    /// Iterations of a program of each type, 1 or more.
    pub program_iterations: [u32; PAGE_TYPES_MAX],
}

/// Order of the page types in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrder {
    /// The types in turn.
    Modulo,
    /// As Yaakobi et al., ICNC 2012, found it in a TLC part: six pages of the first type, two of
    /// the second, then two of each by turns. Of three types only.
    Interleaved,
}

impl PageTypes {
    /// Returns the type of a page of a block, from 0.
    #[inline(never)]
    pub fn of(&self, page: u32) -> usize {
        let by_turns = match (self.order, page) {
            (PageOrder::Modulo, page) => page,
            (PageOrder::Interleaved, 0..=5) => 0,
            (PageOrder::Interleaved, 6..=7) => 1,
            (PageOrder::Interleaved, page) => (page - 8) / 2,
        };
        (by_turns % self.count) as usize
    }

    /// Returns the wordline of a page, from 0: it has one page of each type, and pages of a type
    /// are programmed in the order of their wordlines.
    pub fn wordline_of(&self, page: u32) -> u32 {
        match (self.order, page) {
            (PageOrder::Modulo, page) => page / self.count,
            (PageOrder::Interleaved, 0..=5) => page,
            (PageOrder::Interleaved, 6..=7) => page - 6,
            (PageOrder::Interleaved, page) => {
                // Pairs of pages of the three types by turns; the first two have had theirs.
                let (pair, of_pair) = ((page - 8) / 2, page % 2);
                let had = [6, 2, 0][pair as usize % 3];
                had + 2 * (pair / 3) + of_pair
            }
        }
    }
}

/// Distribution of the times of array reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadLaw {
    /// Every read takes the same time.
    #[default]
    Fixed,
    /// Exponentially, each read drawn anew: hypothetical, to compare with queueing theory.
    Exponential,
}

/// Suspension of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramSuspension {
    /// Never.
    #[default]
    None,
    /// Inter-phase suspension: at the end of the current phase.
    Ips,
    /// Intra-phase cancellation: the phase is aborted, a voltage reset later the array is free.
    Ipc,
    /// At the end of the current pulse-and-verify iteration, plus `Timing::suspend_overhead`.
    Iteration,
    /// At the end of the slice in progress, one of `Timing::slices`.
    Sliced,
}

/// The iterations that early retention loss costs a program which is suspended in its beginning
/// and then runs for long (Zambelli et al., Electronics 10, 1394, 2021, section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Additional iterations; 0: none, whatever happens.
    pub iterations: u32,
    /// Early is a first suspension before this share of the undisturbed array time is done, in
    /// millionths.
    pub first_share_ppm: u32,
    /// Long is a later run of at least this share without a suspension, in millionths.
    pub second_share_ppm: u32,
}

impl Retention {
    /// No cost of suspensions; the shares are those of the paper.
    pub const NONE: Retention =
        Retention { iterations: 0, first_share_ppm: 200_000, second_share_ppm: 700_000 };
}

/// Resumption of a suspended erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraseResume {
    /// With the rest of the pulse (FAST'12).
    #[default]
    Exact,
    /// With the whole of the phase that was broken off.
    RedoPhase,
    /// From the beginning of the erase pulse, whatever was broken off (OneNAND).
    Restart,
}

/// Entry of an erase into suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraseMode {
    /// The phase in progress is broken off; a voltage reset later the array is free.
    #[default]
    Immediate,
    /// At the end of the current segment, a safe point; in the verify not at all.
    Deferred,
    /// Immediate until this long after the end of the erase's command, then deferred.
    Timeout(Dur),
}

/// From when on the array of a die with a suspended operation is free again after a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResumeAt {
    /// After the transfer of the page.
    #[default]
    DataOut,
    /// At the end of tR: the page waits in a second register, which only this is used for.
    ArrayRead,
}

/// Whether a request can break off the restore of a page or the set-up of the erase voltages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restore {
    /// No: it takes effect at their end.
    #[default]
    Atomic,
    /// Yes, and they are done anew on the next resume.
    Interruptible,
}

/// Whether a cancelled program pulse had already brought the cells to their target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VthReached {
    /// Never: the worst case.
    #[default]
    Never,
    /// Always: the best case.
    Always,
    /// With a probability equal to the elapsed share of the pulse.
    Proportional,
}

/// Which reads wait for a program that runs or is suspended; an erase always holds its block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameBlock {
    /// Those of its block.
    Block,
    /// Those of its wordline, as [`Timing::wordline_of`] has it.
    #[default]
    Wordline,
    /// Those of the pages that it programs.
    Page,
}

/// Operations that the part can suspend, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspension {
    /// How a program stops.
    pub program: ProgramSuspension,
    /// Whether an erase can be suspended.
    pub erase: bool,
    /// Resumption of a suspended erase.
    pub erase_resume: EraseResume,
    /// Entry of an erase into suspension.
    pub erase_mode: EraseMode,
    /// Whether a phase ends with its voltage reset; else only aborted phases are reset.
    pub reset_inside_phase: bool,
    /// With it the page buffer is restored in `Timing::buffer`; without, over the channel.
    pub shadow_buffer: bool,
    /// Whether a request can break off a restore or a set-up.
    pub restore: Restore,
    /// From when on the array is free after a read that is served during a suspension.
    pub resume_at: ResumeAt,
    /// The verdict of the verify that follows a cancelled pulse.
    pub vth_reached: VthReached,
    /// Which reads wait for a program.
    pub same_block: SameBlock,
    /// A program that was suspended this often runs to its end; `None`: no limit.
    pub max_per_program: Option<u32>,
    /// Suspensions of an erase; `None`: any number.
    pub max_per_erase: Option<u32>,
    /// An operation is not suspended again sooner than this after its resume.
    pub min_progress: Dur,
    /// Whether a program can run, and be suspended itself, inside a suspended erase.
    pub program_in_erase: bool,
    /// Iterations that early retention loss costs a program.
    pub retention: Retention,
}
