//! Views and decisions of Python policies; the stub has the same docstrings.

use pyo3::prelude::*;
use reprieve_base::{Dur, Time};
use reprieve_ssd::scenario::Class;
use reprieve_ssd::sched;
use reprieve_ssd::suspend::{self, GcNeed};

/// Defines a class that shows a view to Python: each field with its value.
macro_rules! view {
    ($(#[$attribute:meta])* $name:ident of ($($argument:ident: $type:ty),*) {
        $($(#[$doc:meta])* $field:ident: $kind:ty = $value:expr;)*
    }) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $name {
            pub fn of($($argument: $type),*) -> $name {
                $name { $($field: $value,)* }
            }
        }
    };
}

/// The decision of a suspension policy.
///
/// `SUSPEND`: suspend the operation, which is running.
/// `RESUME`: resume the operation, which is suspended, although reads or writes are waiting.
/// `LEAVE`: leave the operation as it is.
///
/// >>> class Patient(rp.SuspensionPolicy):
/// ...     def decide(self, view):
/// ...         if view.is_suspended or view.oldest_read_ns is None:
/// ...             return rp.Decision.LEAVE
/// ...         due_ns = view.oldest_read_ns + 200_000
/// ...         return rp.Decision.SUSPEND if view.now_ns >= due_ns else due_ns
/// >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
/// >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
/// >>> mine = rp.run(scenario, suspension_policy=Patient())
/// >>> mine.latency("read").mean > rp.run(scenario).latency("read").mean
/// True
#[pyclass(module = "reprieve._native", frozen, eq, hash, rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    Suspend,
    Resume,
    Leave,
}

/// The decision of a scheduler.
///
/// `READ`: serve the oldest read that may be served.
/// `WRITE`: serve the oldest host program or erase.
/// `GC`: do the next step of garbage collection.
/// `RESUME`: resume the suspended operation.
/// `WAIT`: do nothing; allowed only if nothing waits except garbage collection that can wait.
///
/// >>> class ReadsFirst(rp.Scheduler):
/// ...     def choose(self, view):
/// ...         if view.read:
/// ...             return rp.Choice.READ
/// ...         if view.suspended:
/// ...             return rp.Choice.RESUME
/// ...         if view.write:
/// ...             return rp.Choice.WRITE
/// ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
/// >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
/// >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
/// >>> mine, built_in = rp.run(scenario, scheduler=ReadsFirst()), rp.run(scenario)
/// >>> mine.latency("read").mean == built_in.latency("read").mean
/// True
#[pyclass(module = "reprieve._native", frozen, eq, hash, rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    Read,
    Write,
    Gc,
    Resume,
    Wait,
}

view! {
    /// A suspension policy's view of the operation that a read or write waits for.
    ///
    /// Times are whole nanoseconds of simulated time.
    ///
    /// >>> class NotNearTheEnd(rp.SuspensionPolicy):
    /// ...     def decide(self, view):
    /// ...         worth_it = not view.is_suspended and view.remaining_ns > view.read_time_ns
    /// ...         return rp.Decision.SUSPEND if worth_it else rp.Decision.LEAVE
    /// >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    /// >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    /// >>> result = rp.run(scenario, suspension_policy=NotNearTheEnd())
    /// >>> result.summary["flash"]["suspensions"]["program"] > 0
    /// True
    #[pyclass(module = "reprieve._native", frozen, get_all)]
    OperationView of (operation: &dyn suspend::OperationView, is_suspended: bool) {
        /// The time of the decision.
        now_ns: u64 = operation.now().ns();
        /// The number of the die that the operation occupies.
        die: u32 = operation.die();
        /// Whether it is an erase; otherwise it is a program.
        is_erase: bool = operation.class() == Class::Erase;
        /// Whether it programs host data or the mapping; not for garbage collection.
        is_host_program: bool = operation.class() == Class::HostWrite;
        /// Whether it is suspended; otherwise it runs, or is an erase about to start.
        is_suspended: bool = is_suspended;
        /// The number of the plane that is suspended alone; None if all its planes are.
        plane: Option<u32> = operation.plane();
        /// The time since it began, with transfers, without suspensions.
        elapsed_ns: u64 = operation.elapsed().ns();
        /// The time it still needs; a mean if its wordlines differ; 0 while suspended.
        remaining_ns: u64 = operation.remaining().ns();
        /// As `remaining_ns`, if its wordlines take the largest number of iterations.
        longest_remaining_ns: u64 = operation.longest_remaining().ns();
        /// The number of times that it has been suspended.
        suspensions: u32 = operation.suspensions();
        /// The number of reads started in its current or latest suspension.
        reads_served: u32 = operation.reads_served();
        /// The time that it has been suspended in total.
        suspended_ns: u64 = operation.suspended().ns();
        /// The next time at which it can stop between phases; None if it ends before.
        safe_point_ns: Option<u64> = ns(operation.safe_point());
        /// Time from a request until the array is free; None if it ends first or does not run.
        entry_cost_ns: Option<u64> = operation.entry_cost().map(Dur::ns);
        /// The largest value of entry_cost_ns at any point of such an operation.
        longest_entry_cost_ns: u64 = operation.longest_entry_cost().ns();
        /// The array time that a suspension now would add; None as for entry_cost_ns.
        resume_cost_ns: Option<u64> = operation.resume_cost().map(Dur::ns);
        /// The number of reads that wait at the die.
        waiting_reads: usize = operation.waiting_reads();
        /// The arrival of the oldest waiting read; None if no read waits.
        oldest_read_ns: Option<u64> = ns(operation.oldest_read());
        /// The arrivals of the waiting reads, in the order in which they will be served.
        read_arrivals_ns: Vec<u64> = operation.read_arrivals().iter().map(|at| at.ns()).collect();
        /// The latency objective of each waiting read, in the same order; None without one.
        read_slos_ns: Vec<Option<u64>> =
            operation.read_slos().iter().map(|slo| slo.map(Dur::ns)).collect();
        /// The time that one read takes alone, from its command to the end of its transfer.
        read_time_ns: u64 = operation.read_time().ns();
        /// The deadline of the oldest read; None if the scheduler sets none.
        read_deadline_ns: Option<u64> = ns(operation.read_deadline());
        /// Whether a read waits for data of this operation, so that no suspension helps it.
        blocks_a_read: bool = operation.blocks_a_read();
        /// The number of programs and erases that wait at the die.
        waiting_writes: usize = operation.waiting_writes();
        /// The arrival of the oldest of them; None if there is none.
        oldest_write_ns: Option<u64> = ns(operation.oldest_write());
        /// The share of the write buffer taken by pages on their way to flash, from 0 to 1.
        buffer_fill: f64 = operation.buffer_fill();
        /// Whether garbage collection goes before the next host write.
        gc_is_due: bool = operation.gc_need() >= GcNeed::Due;
        /// Whether a plane has no room for host writes until garbage collection is done.
        gc_is_urgent: bool = operation.gc_need() >= GcNeed::Urgent;
        /// The number of free blocks in the plane of the operation; None on the rig.
        free_blocks: Option<u32> = operation.free_blocks();
        /// The P/E cycles of its block, with the wear of suspensions; None if cells do not wear.
        cycles: Option<f64> = operation.cycles();
        /// The unused power budget of all dies, in µW; None without a budget.
        power_left_uw: Option<u64> = operation.power_left_uw();
    }
}

/// A request or operation that waits for a die, as `DieView` and `SuspendView` show it.
#[pyclass(module = "reprieve._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub struct Waiter {
    /// Its number in order of arrival at the queues of the whole drive.
    pub order: u64,
    /// The time at which it arrived there.
    pub since_ns: u64,
}

/// A started program or erase, as `DieView` and `SuspendView` show it.
#[pyclass(module = "reprieve._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub struct Operation {
    /// Whether it is a host program; else a program of garbage collection, or an erase.
    pub is_host_program: bool,
    /// The time at which it arrived at the queues, or at which garbage collection began it.
    pub since_ns: u64,
}

view! {
    /// A scheduler's view of a free die.
    ///
    /// Times are whole nanoseconds of simulated time.
    ///
    /// >>> class OldestFirst(rp.Scheduler):
    /// ...     suspends = False
    /// ...     def choose(self, view):
    /// ...         waiting = [
    /// ...             (waiter.order, choice)
    /// ...             for waiter, choice in ((view.read, "READ"), (view.write, "WRITE"))
    /// ...             if waiter
    /// ...         ]
    /// ...         if waiting and not view.urgent_gc:
    /// ...             return getattr(rp.Choice, min(waiting)[1])
    /// ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    /// >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    /// >>> scenario = {"device": "fast12-mlc", "policy": "FIFO", "workload": load}
    /// >>> mine = rp.run(scenario, scheduler=OldestFirst())
    /// >>> mine.latency().mean == rp.run(scenario).latency().mean
    /// True
    #[pyclass(module = "reprieve._native", name = "DieView", frozen, get_all)]
    FreeDie of (view: &sched::DieView) {
        /// The time of the decision.
        now_ns: u64 = view.now.ns();
        /// The number of the die.
        die: u32 = view.die;
        /// The operation suspended on this die; None if there is none.
        suspended: Option<Operation> = view.suspended.map(operation);
        /// The oldest read that may be served now; None if there is none.
        read: Option<Waiter> = waiter(view.read);
        /// The oldest host program or erase; None if there is none.
        write: Option<Waiter> = waiter(view.write);
        /// Whether `write` may run while an operation stays suspended.
        write_fits_inside: bool = view.write_fits_inside;
        /// Whether the write queue limit is reached: programs should go ahead of reads.
        writes_first: bool = view.writes_first;
        /// Garbage collection that a plane without free pages needs; None if there is none.
        urgent_gc: Option<Waiter> = waiter(view.urgent_gc);
        /// Whether its next step is an erase that `write` would suspend at once.
        gc_gives_way: bool = view.gc_gives_way;
        /// Whether garbage collection is worthwhile in idle time.
        idle_gc: bool = view.idle_gc;
    }
}

view! {
    /// A scheduler's view of a running operation that a waiting read or program could suspend.
    ///
    /// Times are whole nanoseconds of simulated time.
    ///
    /// >>> class Patient(rp.Scheduler):
    /// ...     def choose(self, view):
    /// ...         if view.read:
    /// ...             return rp.Choice.READ
    /// ...         if view.suspended:
    /// ...             return rp.Choice.RESUME
    /// ...         if view.write:
    /// ...             return rp.Choice.WRITE
    /// ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    /// ...     def lets_suspend(self, view):
    /// ...         return view.read is not None and view.now_ns - view.read.since_ns >= 100_000
    /// ...     def asks_again(self, view):
    /// ...         return view.read.since_ns + 100_000 if view.read else None
    /// >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    /// >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    /// >>> mine = rp.run(scenario, scheduler=Patient())
    /// >>> rp.run(scenario).latency("read").mean < mine.latency("read").mean
    /// True
    #[pyclass(module = "reprieve._native", name = "SuspendView", frozen, get_all)]
    BusyDie of (view: &sched::SuspendView) {
        /// The time of the decision.
        now_ns: u64 = view.now.ns();
        /// The number of the die.
        die: u32 = view.die;
        /// The operation that is running.
        running: Operation = operation(view.running);
        /// The oldest read that may suspend it; None if there is none.
        read: Option<Waiter> = waiter(view.read);
        /// The oldest host program that may suspend it; None if there is none.
        write: Option<Waiter> = waiter(view.write);
        /// The oldest host program or erase, whether or not it may suspend anything.
        queued_write: Option<Waiter> = waiter(view.queued_write);
        /// Whether a read of garbage collection may suspend it.
        for_gc_read: bool = view.for_gc_read;
    }
}

fn ns(time: Option<Time>) -> Option<u64> {
    time.map(Time::ns)
}

fn waiter(waiter: Option<sched::Waiter>) -> Option<Waiter> {
    waiter.map(|waiter| Waiter { order: waiter.order, since_ns: waiter.since.ns() })
}

fn operation(operation: sched::Operation) -> Operation {
    let sched::Operation { is_host_program, since } = operation;
    Operation { is_host_program, since_ns: since.ns() }
}
