//! One NAND die: a pure state machine without queue, mapping or clock.
//!
//! It takes commands with their times and returns until when it is busy; it refuses, with a reason,
//! commands that a chip must never get. Specification: `docs/model`.

mod command;
mod die;
mod ecc;
mod loops;
mod operation;
mod parallelism;
mod power;
mod refusal;
pub mod reliability;
mod timing;
mod wordlines;
mod worst_codeword;

pub use command::{Command, Elapsed, Part, Shape, Suspend};
pub use die::{ActiveOperation, Die, Operations, PlaneReads, PlaneWork, SuspensionCost};
pub use ecc::{Ecc, Soft};
pub use loops::{ERASE_LOOPS_MAX, EraseLengths, EraseLoops};
pub use operation::{Estimate, PhaseTimes, Run, Segment};
pub use parallelism::{MultiPlane, Parallelism};
pub use power::{ACTIVITIES, Activity, CommandPower, CorePower};
pub use refusal::Refusal;
pub use timing::{
    EraseMode, EraseResume, PAGE_TYPES_MAX, PageOrder, PageTypes, ProgramSuspension, ReadLaw,
    Restore, ResumeAt, Retention, SameBlock, SlcMode, Suspension, Timing, VthReached, Wordline,
};
pub use wordlines::{IterationSpread, SPREAD_MAX, Slices};
