//! View for suspension policies. Each answer is worked out when it is asked for.

use reprieve_base::{Dur, Time};

pub use crate::work::GcNeed;
use reprieve_config::Class;

/// An operation that a read or write waits for, what else waits, and how the drive stands.
///
/// A suspended operation has no costs left: then `remaining` is zero and `safe_point`,
/// `entry_cost` and `resume_cost` are `None`. How many iterations a wordline takes where they
/// differ shows only at its end; costs are those of a program that goes on.
pub trait OperationView {
    /// The instant of the decision.
    fn now(&self) -> Time;

    /// The die that it works on, counted over the drive.
    fn die(&self) -> u32;

    /// The plane in its die that makes way by itself; `None`: all its planes do.
    fn plane(&self) -> Option<u32>;

    /// Returns its class: a program of the host or of garbage collection, or an erase.
    fn class(&self) -> Class;

    /// Time since it began, transfers included and suspensions left out.
    fn elapsed(&self) -> Dur;

    /// Time until it ends if it is left alone; where wordlines differ in iterations, what is to be
    /// expected of a program at this point.
    fn remaining(&self) -> Dur;

    /// Returns that time if its wordlines take as many iterations as any; at least `remaining`.
    fn longest_remaining(&self) -> Dur;

    /// How often it has been suspended.
    fn suspensions(&self) -> u32;

    /// Reads that have begun since it was suspended last; of what runs, in its last suspension.
    fn reads_served(&self) -> u32;

    /// How long it has been suspended, in total.
    fn suspended(&self) -> Dur;

    /// The next instant at which it could stop without breaking off a phase; `None`: it ends first.
    fn safe_point(&self) -> Option<Time>;

    /// How long after a request the array is free; `None`: it ends before that.
    fn entry_cost(&self) -> Option<Dur>;

    /// The longest that `entry_cost` can be at any instant of such an operation.
    fn longest_entry_cost(&self) -> Dur;

    /// Array time beyond `remaining` that a suspension now costs: restore or set-up, and phases
    /// that are done again; `None` as `entry_cost`.
    fn resume_cost(&self) -> Option<Dur>;

    /// Reads that wait at the die.
    fn waiting_reads(&self) -> usize;

    /// When the oldest of them came.
    fn oldest_read(&self) -> Option<Time>;

    /// When each of them came, in the order in which they will be served.
    fn read_arrivals(&self) -> Vec<Time>;

    /// The service level that the load of each of them has of its own, in the same order.
    fn read_slos(&self) -> Vec<Option<Dur>>;

    /// How long one of them takes by itself, from its command to the end of its transfer; the
    /// longest kind of page, its mean where the array read varies.
    fn read_time(&self) -> Dur;

    /// When that is due, under a scheduler that gives reads a deadline.
    fn read_deadline(&self) -> Option<Time>;

    /// Whether a read waits for what the operation holds, which no suspension lets through.
    fn blocks_a_read(&self) -> bool;

    /// Programs and erases that wait at the die.
    fn waiting_writes(&self) -> usize;

    /// When the oldest of them came.
    fn oldest_write(&self) -> Option<Time>;

    /// Share of the write buffer that pages on their way to the flash take.
    fn buffer_fill(&self) -> f64;

    /// How much the die needs garbage collection.
    fn gc_need(&self) -> GcNeed;

    /// Free blocks of the plane of the operation; `None` on the rig, which keeps no list of them.
    fn free_blocks(&self) -> Option<u32>;

    /// Program and erase cycles of the block, with what suspensions have worn; `None` where cells
    /// do not wear.
    fn cycles(&self) -> Option<f64>;

    /// Suspensions on this die within the window that the policy has asked for.
    fn recent_suspensions(&self) -> u32;

    /// Returns the power that its budget has left over all dies; `None` without one.
    fn power_left_uw(&self) -> Option<u64>;
}
