"""Types of the compiled simulator: what policies see, and what they answer."""

from typing import ClassVar

class Decision:
    """The decision of a suspension policy.

    `SUSPEND`: suspend the operation, which is running.
    `RESUME`: resume the operation, which is suspended, although reads or writes are waiting.
    `LEAVE`: leave the operation as it is.

    >>> class Patient(rp.SuspensionPolicy):
    ...     def decide(self, view):
    ...         if view.is_suspended or view.oldest_read_ns is None:
    ...             return rp.Decision.LEAVE
    ...         due_ns = view.oldest_read_ns + 200_000
    ...         return rp.Decision.SUSPEND if view.now_ns >= due_ns else due_ns
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> mine = rp.run(scenario, suspension_policy=Patient())
    >>> mine.latency("read").mean > rp.run(scenario).latency("read").mean
    True
    """

    SUSPEND: ClassVar[Decision]
    RESUME: ClassVar[Decision]
    LEAVE: ClassVar[Decision]

class Choice:
    """The decision of a scheduler.

    `READ`: serve the oldest read that may be served.
    `WRITE`: serve the oldest host program or erase.
    `GC`: do the next step of garbage collection.
    `RESUME`: resume the suspended operation.
    `WAIT`: do nothing; allowed only if nothing waits except garbage collection that can wait.

    >>> class ReadsFirst(rp.Scheduler):
    ...     def choose(self, view):
    ...         if view.read:
    ...             return rp.Choice.READ
    ...         if view.suspended:
    ...             return rp.Choice.RESUME
    ...         if view.write:
    ...             return rp.Choice.WRITE
    ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> mine, built_in = rp.run(scenario, scheduler=ReadsFirst()), rp.run(scenario)
    >>> mine.latency("read").mean == built_in.latency("read").mean
    True
    """

    READ: ClassVar[Choice]
    WRITE: ClassVar[Choice]
    GC: ClassVar[Choice]
    RESUME: ClassVar[Choice]
    WAIT: ClassVar[Choice]

class OperationView:
    """A suspension policy's view of the operation that a read or write waits for.

    Times are whole nanoseconds of simulated time.

    >>> class NotNearTheEnd(rp.SuspensionPolicy):
    ...     def decide(self, view):
    ...         worth_it = not view.is_suspended and view.remaining_ns > view.read_time_ns
    ...         return rp.Decision.SUSPEND if worth_it else rp.Decision.LEAVE
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> result = rp.run(scenario, suspension_policy=NotNearTheEnd())
    >>> result.summary["flash"]["suspensions"]["program"] > 0
    True
    """

    @property
    def now_ns(self) -> int:
        """The time of the decision."""

    @property
    def die(self) -> int:
        """The number of the die that the operation occupies."""

    @property
    def is_erase(self) -> bool:
        """Whether it is an erase; otherwise it is a program."""

    @property
    def is_host_program(self) -> bool:
        """Whether it programs host data or the mapping; not for garbage collection."""

    @property
    def is_suspended(self) -> bool:
        """Whether it is suspended; otherwise it runs, or is an erase about to start."""

    @property
    def remaining_ns(self) -> int:
        """The time it still needs; a mean if its wordlines differ; 0 while suspended."""

    @property
    def longest_remaining_ns(self) -> int:
        """As `remaining_ns`, if its wordlines take the largest number of iterations."""

    @property
    def reads_served(self) -> int:
        """The number of reads started in its current or latest suspension."""

    @property
    def suspended_ns(self) -> int:
        """The time that it has been suspended in total."""

    @property
    def plane(self) -> int | None:
        """The number of the plane that is suspended alone; None if all its planes are."""

    @property
    def elapsed_ns(self) -> int:
        """The time since it began, with transfers, without suspensions."""

    @property
    def suspensions(self) -> int:
        """The number of times that it has been suspended."""

    @property
    def safe_point_ns(self) -> int | None:
        """The next time at which it can stop between phases; None if it ends before."""

    @property
    def entry_cost_ns(self) -> int | None:
        """Time from a request until the array is free; None if it ends first or does not run."""

    @property
    def longest_entry_cost_ns(self) -> int:
        """The largest value of entry_cost_ns at any point of such an operation."""

    @property
    def resume_cost_ns(self) -> int | None:
        """The array time that a suspension now would add; None as for entry_cost_ns."""

    @property
    def waiting_reads(self) -> int:
        """The number of reads that wait at the die."""

    @property
    def oldest_read_ns(self) -> int | None:
        """The arrival of the oldest waiting read; None if no read waits."""

    @property
    def read_arrivals_ns(self) -> list[int]:
        """The arrivals of the waiting reads, in the order in which they will be served."""

    @property
    def read_slos_ns(self) -> list[int | None]:
        """The latency objective of each waiting read, in the same order; None without one."""

    @property
    def read_time_ns(self) -> int:
        """The time that one read takes alone, from its command to the end of its transfer."""

    @property
    def read_deadline_ns(self) -> int | None:
        """The deadline of the oldest read; None if the scheduler sets none."""

    @property
    def blocks_a_read(self) -> bool:
        """Whether a read waits for data of this operation, so that no suspension helps it."""

    @property
    def waiting_writes(self) -> int:
        """The number of programs and erases that wait at the die."""

    @property
    def oldest_write_ns(self) -> int | None:
        """The arrival of the oldest of them; None if there is none."""

    @property
    def buffer_fill(self) -> float:
        """The share of the write buffer taken by pages on their way to flash, from 0 to 1."""

    @property
    def gc_is_due(self) -> bool:
        """Whether garbage collection goes before the next host write."""

    @property
    def gc_is_urgent(self) -> bool:
        """Whether a plane has no room for host writes until garbage collection is done."""

    @property
    def free_blocks(self) -> int | None:
        """The number of free blocks in the plane of the operation; None on the rig."""

    @property
    def cycles(self) -> float | None:
        """The P/E cycles of its block, with the wear of suspensions; None if cells do not wear."""

    @property
    def power_left_uw(self) -> int | None:
        """The unused power budget of all dies, in µW; None without a budget."""

class Waiter:
    """A request or operation that waits for a die, as `DieView` and `SuspendView` show it."""

    @property
    def order(self) -> int:
        """Its number in order of arrival at the queues of the whole drive."""

    @property
    def since_ns(self) -> int:
        """The time at which it arrived there."""

class Operation:
    """A started program or erase, as `DieView` and `SuspendView` show it."""

    @property
    def is_host_program(self) -> bool:
        """Whether it is a host program; else a program of garbage collection, or an erase."""

    @property
    def since_ns(self) -> int:
        """The time at which it arrived at the queues, or at which garbage collection began it."""

class DieView:
    """A scheduler's view of a free die.

    Times are whole nanoseconds of simulated time.

    >>> class OldestFirst(rp.Scheduler):
    ...     suspends = False
    ...     def choose(self, view):
    ...         waiting = [
    ...             (waiter.order, choice)
    ...             for waiter, choice in ((view.read, "READ"), (view.write, "WRITE"))
    ...             if waiter
    ...         ]
    ...         if waiting and not view.urgent_gc:
    ...             return getattr(rp.Choice, min(waiting)[1])
    ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "FIFO", "workload": load}
    >>> mine = rp.run(scenario, scheduler=OldestFirst())
    >>> mine.latency().mean == rp.run(scenario).latency().mean
    True
    """

    @property
    def now_ns(self) -> int:
        """The time of the decision."""

    @property
    def die(self) -> int:
        """The number of the die."""

    @property
    def suspended(self) -> Operation | None:
        """The operation suspended on this die; None if there is none."""

    @property
    def read(self) -> Waiter | None:
        """The oldest read that may be served now; None if there is none."""

    @property
    def write(self) -> Waiter | None:
        """The oldest host program or erase; None if there is none."""

    @property
    def write_fits_inside(self) -> bool:
        """Whether `write` may run while an operation stays suspended."""

    @property
    def writes_first(self) -> bool:
        """Whether the write queue limit is reached: programs should go ahead of reads."""

    @property
    def urgent_gc(self) -> Waiter | None:
        """Garbage collection that a plane without free pages needs; None if there is none."""

    @property
    def gc_gives_way(self) -> bool:
        """Whether its next step is an erase that `write` would suspend at once."""

    @property
    def idle_gc(self) -> bool:
        """Whether garbage collection is worthwhile in idle time."""

class SuspendView:
    """A scheduler's view of a running operation that a waiting read or program could suspend.

    Times are whole nanoseconds of simulated time.

    >>> class Patient(rp.Scheduler):
    ...     def choose(self, view):
    ...         if view.read:
    ...             return rp.Choice.READ
    ...         if view.suspended:
    ...             return rp.Choice.RESUME
    ...         if view.write:
    ...             return rp.Choice.WRITE
    ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    ...     def lets_suspend(self, view):
    ...         return view.read is not None and view.now_ns - view.read.since_ns >= 100_000
    ...     def asks_again(self, view):
    ...         return view.read.since_ns + 100_000 if view.read else None
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> mine = rp.run(scenario, scheduler=Patient())
    >>> rp.run(scenario).latency("read").mean < mine.latency("read").mean
    True
    """

    @property
    def now_ns(self) -> int:
        """The time of the decision."""

    @property
    def die(self) -> int:
        """The number of the die."""

    @property
    def running(self) -> Operation:
        """The operation that is running."""

    @property
    def read(self) -> Waiter | None:
        """The oldest read that may suspend it; None if there is none."""

    @property
    def write(self) -> Waiter | None:
        """The oldest host program that may suspend it; None if there is none."""

    @property
    def queued_write(self) -> Waiter | None:
        """The oldest host program or erase, whether or not it may suspend anything."""

    @property
    def for_gc_read(self) -> bool:
        """Whether a read of garbage collection may suspend it."""
