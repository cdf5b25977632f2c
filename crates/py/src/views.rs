//! Views and decisions of Python policies; the stub has the same docstrings.

use pyo3::prelude::*;
use reprieve_base::{Dur, Time};
use reprieve_ssd::scenario::Class;
use reprieve_ssd::sched;
use reprieve_ssd::suspend::{self, GcNeed};

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
pub struct OperationView {
    /// The time of the decision.
    pub now_ns: u64,
    /// The number of the die that the operation occupies.
    pub die: u32,
    /// Whether it is an erase; otherwise it is a program.
    pub is_erase: bool,
    /// Whether it programs host data or the mapping; not for garbage collection.
    pub is_host_program: bool,
    /// Whether it is suspended; otherwise it runs, or is an erase about to start.
    pub is_suspended: bool,
    /// The number of the plane that is suspended alone; None if all its planes are.
    pub plane: Option<u32>,
    /// The time since it began, with transfers, without suspensions.
    pub elapsed_ns: u64,
    /// The time it still needs; a mean if its wordlines differ; 0 while suspended.
    pub remaining_ns: u64,
    /// As `remaining_ns`, if its wordlines take the largest number of iterations.
    pub longest_remaining_ns: u64,
    /// The number of times that it has been suspended.
    pub suspensions: u32,
    /// The number of reads started in its current or latest suspension.
    pub reads_served: u32,
    /// The time that it has been suspended in total.
    pub suspended_ns: u64,
    /// The next time at which it can stop between phases; None if it ends before.
    pub safe_point_ns: Option<u64>,
    /// Time from a request until the array is free; None if it ends first or does not run.
    pub entry_cost_ns: Option<u64>,
    /// The largest value of entry_cost_ns at any point of such an operation.
    pub longest_entry_cost_ns: u64,
    /// The array time that a suspension now would add; None as for entry_cost_ns.
    pub resume_cost_ns: Option<u64>,
    /// The number of reads that wait at the die.
    pub waiting_reads: usize,
    /// The arrival of the oldest waiting read; None if no read waits.
    pub oldest_read_ns: Option<u64>,
    /// The arrivals of the waiting reads, in the order in which they will be served.
    pub read_arrivals_ns: Vec<u64>,
    /// The latency objective of each waiting read, in the same order; None without one.
    pub read_slos_ns: Vec<Option<u64>>,
    /// The time that one read takes alone, from its command to the end of its transfer.
    pub read_time_ns: u64,
    /// The deadline of the oldest read; None if the scheduler sets none.
    pub read_deadline_ns: Option<u64>,
    /// Whether a read waits for data of this operation, so that no suspension helps it.
    pub blocks_a_read: bool,
    /// The number of programs and erases that wait at the die.
    pub waiting_writes: usize,
    /// The arrival of the oldest of them; None if there is none.
    pub oldest_write_ns: Option<u64>,
    /// The share of the write buffer taken by pages on their way to flash, from 0 to 1.
    pub buffer_fill: f64,
    /// Whether garbage collection goes before the next host write.
    pub gc_is_due: bool,
    /// Whether a plane has no room for host writes until garbage collection is done.
    pub gc_is_urgent: bool,
    /// The number of free blocks in the plane of the operation; None on the rig.
    pub free_blocks: Option<u32>,
    /// The P/E cycles of its block, with the wear of suspensions; None if cells do not wear.
    pub cycles: Option<f64>,
    /// The unused power budget of all dies, in µW; None without a budget.
    pub power_left_uw: Option<u64>,
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
pub struct FreeDie {
    /// The time of the decision.
    pub now_ns: u64,
    /// The number of the die.
    pub die: u32,
    /// The operation suspended on this die; None if there is none.
    pub suspended: Option<Operation>,
    /// The oldest read that may be served now; None if there is none.
    pub read: Option<Waiter>,
    /// The oldest host program or erase; None if there is none.
    pub write: Option<Waiter>,
    /// Whether `write` may run while an operation stays suspended.
    pub write_fits_inside: bool,
    /// Whether the write queue limit is reached: programs should go ahead of reads.
    pub writes_first: bool,
    /// Garbage collection that a plane without free pages needs; None if there is none.
    pub urgent_gc: Option<Waiter>,
    /// Whether its next step is an erase that `write` would suspend at once.
    pub gc_gives_way: bool,
    /// Whether garbage collection is worthwhile in idle time.
    pub idle_gc: bool,
}

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
pub struct BusyDie {
    /// The time of the decision.
    pub now_ns: u64,
    /// The number of the die.
    pub die: u32,
    /// The operation that is running.
    pub running: Operation,
    /// The oldest read that may suspend it; None if there is none.
    pub read: Option<Waiter>,
    /// The oldest host program that may suspend it; None if there is none.
    pub write: Option<Waiter>,
    /// The oldest host program or erase, whether or not it may suspend anything.
    pub queued_write: Option<Waiter>,
    /// Whether a read of garbage collection may suspend it.
    pub for_gc_read: bool,
}

fn waiter(waiter: Option<sched::Waiter>) -> Option<Waiter> {
    waiter.map(|waiter| Waiter { order: waiter.order, since_ns: waiter.since.ns() })
}

fn operation(operation: sched::Operation) -> Operation {
    let sched::Operation { is_host_program, since } = operation;
    Operation { is_host_program, since_ns: since.ns() }
}

impl OperationView {
    pub fn of(operation: &dyn suspend::OperationView, is_suspended: bool) -> OperationView {
        let (class, need) = (operation.class(), operation.gc_need());
        let ns = |time: Option<Time>| time.map(Time::ns);
        OperationView {
            now_ns: operation.now().ns(),
            die: operation.die(),
            is_erase: class == Class::Erase,
            is_host_program: class == Class::HostWrite,
            is_suspended,
            plane: operation.plane(),
            elapsed_ns: operation.elapsed().ns(),
            remaining_ns: operation.remaining().ns(),
            longest_remaining_ns: operation.longest_remaining().ns(),
            suspensions: operation.suspensions(),
            reads_served: operation.reads_served(),
            suspended_ns: operation.suspended().ns(),
            safe_point_ns: ns(operation.safe_point()),
            entry_cost_ns: operation.entry_cost().map(Dur::ns),
            longest_entry_cost_ns: operation.longest_entry_cost().ns(),
            resume_cost_ns: operation.resume_cost().map(Dur::ns),
            waiting_reads: operation.waiting_reads(),
            oldest_read_ns: ns(operation.oldest_read()),
            read_arrivals_ns: operation.read_arrivals().iter().map(|at| at.ns()).collect(),
            read_slos_ns: operation.read_slos().iter().map(|slo| slo.map(Dur::ns)).collect(),
            read_time_ns: operation.read_time().ns(),
            read_deadline_ns: ns(operation.read_deadline()),
            blocks_a_read: operation.blocks_a_read(),
            waiting_writes: operation.waiting_writes(),
            oldest_write_ns: ns(operation.oldest_write()),
            buffer_fill: operation.buffer_fill(),
            gc_is_due: need >= GcNeed::Due,
            gc_is_urgent: need >= GcNeed::Urgent,
            free_blocks: operation.free_blocks(),
            cycles: operation.cycles(),
            power_left_uw: operation.power_left_uw(),
        }
    }
}

impl FreeDie {
    pub fn of(view: &sched::DieView) -> FreeDie {
        FreeDie {
            now_ns: view.now.ns(),
            die: view.die,
            suspended: view.suspended.map(operation),
            read: waiter(view.read),
            write: waiter(view.write),
            write_fits_inside: view.write_fits_inside,
            writes_first: view.writes_first,
            urgent_gc: waiter(view.urgent_gc),
            gc_gives_way: view.gc_gives_way,
            idle_gc: view.idle_gc,
        }
    }
}

impl BusyDie {
    pub fn of(view: &sched::SuspendView) -> BusyDie {
        BusyDie {
            now_ns: view.now.ns(),
            die: view.die,
            running: operation(view.running),
            read: waiter(view.read),
            write: waiter(view.write),
            queued_write: waiter(view.queued_write),
            for_gc_read: view.for_gc_read,
        }
    }
}
