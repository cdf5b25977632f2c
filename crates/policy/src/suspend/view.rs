//! View for suspension policies, computed lazily.

use reprieve_base::{Dur, Time};

pub use crate::work::GcNeed;
use reprieve_config::Class;

/// An operation with a waiting read or write, and the state of its die and drive.
///
/// Of a suspended operation `remaining` is zero, and `safe_point`, `entry_cost` and `resume_cost`
/// are `None`. Where wordlines differ, the iterations of a program show only at its end; costs are
/// those of a program that continues.
pub trait OperationView {
    /// The instant of the decision.
    fn now(&self) -> Time;

    /// The die, counted over the drive.
    fn die(&self) -> u32;

    /// The plane in its die that is suspended alone; `None`: all its planes are.
    fn plane(&self) -> Option<u32>;

    /// Returns its class: a program of the host or of garbage collection, or an erase.
    fn class(&self) -> Class;

    /// Time since its start, with transfers and without suspensions.
    fn elapsed(&self) -> Dur;

    /// Time until it ends without suspension; where wordlines differ in iterations, the expected
    /// time of a program at this point.
    fn remaining(&self) -> Dur;

    /// Returns that time for the highest number of iterations; at least `remaining`.
    fn longest_remaining(&self) -> Dur;

    /// Number of its suspensions.
    fn suspensions(&self) -> u32;

    /// Reads that have started in its current suspension, or in its last one if it runs.
    fn reads_served(&self) -> u32;

    /// Total time in suspension.
    fn suspended(&self) -> Dur;

    /// The next instant at which a stop aborts no phase; `None`: it ends first.
    fn safe_point(&self) -> Option<Time>;

    /// Time from a request to a free array; `None`: the operation ends before that.
    fn entry_cost(&self) -> Option<Dur>;

    /// Upper bound of `entry_cost` at any instant of such an operation.
    fn longest_entry_cost(&self) -> Dur;

    /// Array time beyond `remaining` that a suspension now costs: restore or set-up, and repeated
    /// phases; `None` as `entry_cost`.
    fn resume_cost(&self) -> Option<Dur>;

    /// Number of reads that wait at the die.
    fn waiting_reads(&self) -> usize;

    /// When the oldest of them arrived.
    fn oldest_read(&self) -> Option<Time>;

    /// Arrivals of the waiting reads, in the order of service.
    fn read_arrivals(&self) -> Vec<Time>;

    /// Service levels of the loads of the waiting reads, in the same order.
    fn read_slos(&self) -> Vec<Option<Dur>>;

    /// Time of one read alone, from its command to the end of its transfer; of the slowest page
    /// type, the mean where the array read varies.
    fn read_time(&self) -> Dur;

    /// Deadline of the oldest read, under a scheduler that has one.
    fn read_deadline(&self) -> Option<Time>;

    /// Whether a read waits for the block or page of the operation, which no suspension helps.
    fn blocks_a_read(&self) -> bool;

    /// Number of programs and erases that wait at the die.
    fn waiting_writes(&self) -> usize;

    /// When the oldest of them arrived.
    fn oldest_write(&self) -> Option<Time>;

    /// Share of the write buffer in pages on their way to the flash.
    fn buffer_fill(&self) -> f64;

    /// Need of the die for garbage collection.
    fn gc_need(&self) -> GcNeed;

    /// Free blocks of the plane of the operation; `None` on the rig, which has no free list.
    fn free_blocks(&self) -> Option<u32>;

    /// Program and erase cycles of the block, with the wear of suspensions; `None` where cells do
    /// not wear.
    fn cycles(&self) -> Option<f64>;

    /// Suspensions on this die within the window of the policy.
    fn recent_suspensions(&self) -> u32;

    /// Returns the unused power of the budget over all dies; `None` without one.
    fn power_left_uw(&self) -> Option<u64>;
}
