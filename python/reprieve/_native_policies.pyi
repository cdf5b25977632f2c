"""Types of the compiled simulator: what policies see, and what they answer."""

from typing import ClassVar

class Decision:
    """What a suspension policy answers.

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
    """Ask for a suspension of the operation, which runs."""
    RESUME: ClassVar[Decision]
    """Let the operation, which is suspended, go on, though reads or writes are waiting."""
    LEAVE: ClassVar[Decision]
    """Leave it as it is."""

class Choice:
    """What a scheduler answers.

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
    """Serve the oldest read that may be served."""
    WRITE: ClassVar[Choice]
    """Serve the oldest host program or erase."""
    GC: ClassVar[Choice]
    """Do the next step of garbage collection."""
    RESUME: ClassVar[Choice]
    """Resume the suspended operation."""
    WAIT: ClassVar[Choice]
    """Do nothing, as nothing waits but garbage collection that can."""

class OperationView:
    """What a suspension policy sees: the operation in the way of a read or write.

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
        """The instant of the decision."""

    @property
    def die(self) -> int:
        """The die that it works on."""

    @property
    def is_erase(self) -> bool:
        """An erase; else a program."""

    @property
    def is_host_program(self) -> bool:
        """A program for the host or of the mapping; else one of garbage collection, or an erase."""

    @property
    def is_suspended(self) -> bool:
        """It is suspended; else it runs, or, an erase, is about to begin."""

    @property
    def remaining_ns(self) -> int:
        """Time until it ends; the mean where its wordlines may differ; 0 while it is suspended."""

    @property
    def longest_remaining_ns(self) -> int:
        """The same if its wordlines take as many iterations as any."""

    @property
    def reads_served(self) -> int:
        """Reads since it was suspended last; while it runs, in its last suspension."""

    @property
    def suspended_ns(self) -> int:
        """How long it has been suspended, in total."""

    @property
    def plane(self) -> int | None:
        """The plane in its die that makes way by itself; None: all its planes do."""

    @property
    def elapsed_ns(self) -> int:
        """Time since it began, transfers included and suspensions left out."""

    @property
    def suspensions(self) -> int:
        """How often it has been suspended."""

    @property
    def safe_point_ns(self) -> int | None:
        """The next instant at which it could stop without breaking off a phase; None: it ends."""

    @property
    def entry_cost_ns(self) -> int | None:
        """How long after a request the array is free; None: it ends before, or does not run."""

    @property
    def longest_entry_cost_ns(self) -> int:
        """The longest that entry_cost_ns can be at any instant of such an operation."""

    @property
    def resume_cost_ns(self) -> int | None:
        """Array time beyond what remains that a suspension now costs; None as entry_cost_ns."""

    @property
    def waiting_reads(self) -> int:
        """Reads that wait at the die."""

    @property
    def oldest_read_ns(self) -> int | None:
        """When the oldest of them came."""

    @property
    def read_arrivals_ns(self) -> list[int]:
        """When each of them came, in the order in which they will be served."""

    @property
    def read_slos_ns(self) -> list[int | None]:
        """The service level that the load of each of them has of its own, in the same order."""

    @property
    def read_time_ns(self) -> int:
        """How long one of them takes by itself, from its command to the end of its transfer."""

    @property
    def read_deadline_ns(self) -> int | None:
        """When that is due, under a scheduler that gives reads a deadline."""

    @property
    def blocks_a_read(self) -> bool:
        """Whether a read waits for what the operation holds, which no suspension lets through."""

    @property
    def waiting_writes(self) -> int:
        """Programs and erases that wait at the die."""

    @property
    def oldest_write_ns(self) -> int | None:
        """When the oldest of them came."""

    @property
    def buffer_fill(self) -> float:
        """Share of the write buffer that pages on their way to the flash take."""

    @property
    def gc_is_due(self) -> bool:
        """Garbage collection goes before the next write of the host."""

    @property
    def gc_is_urgent(self) -> bool:
        """A plane has no room for writes of the host until it is done."""

    @property
    def free_blocks(self) -> int | None:
        """Free blocks of the plane of the operation; None on the rig."""

    @property
    def cycles(self) -> float | None:
        """Cycles of its block, with what suspensions have worn; None where cells do not wear."""

    @property
    def power_left_uw(self) -> int | None:
        """What the budget of power has left over all dies; None without one."""

class Waiter:
    """Something that waits for a die."""

    @property
    def order(self) -> int:
        """Order of arrival at the queues, over the whole drive."""

    @property
    def since_ns(self) -> int:
        """When it arrived there."""

class Operation:
    """A program or erase that has begun."""

    @property
    def is_host_program(self) -> bool:
        """A host program; else garbage collection's program, or an erase."""

    @property
    def since_ns(self) -> int:
        """When it arrived at the queues; for garbage collection, when it began."""

class DieView:
    """What a scheduler sees of a free die.

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
        """The instant of the decision."""

    @property
    def die(self) -> int:
        """The die."""

    @property
    def suspended(self) -> Operation | None:
        """What is suspended here: it can resume, or what it makes way for be served."""

    @property
    def read(self) -> Waiter | None:
        """The oldest read that may be served now."""

    @property
    def write(self) -> Waiter | None:
        """The oldest host program or erase."""

    @property
    def write_fits_inside(self) -> bool:
        """While an operation is suspended: whether `write` may run inside it."""

    @property
    def writes_first(self) -> bool:
        """The write queue limit is reached: programs should go ahead of reads."""

    @property
    def urgent_gc(self) -> Waiter | None:
        """Garbage collection that a plane without room waits for."""

    @property
    def gc_gives_way(self) -> bool:
        """Its next step is an erase that `write` would suspend as soon as it had begun."""

    @property
    def idle_gc(self) -> bool:
        """Garbage collection is worth while in idle time."""

class SuspendView:
    """What a scheduler sees when something that waits could suspend the operation that runs.

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
        """The instant of the decision."""

    @property
    def die(self) -> int:
        """The die."""

    @property
    def running(self) -> Operation:
        """What runs."""

    @property
    def read(self) -> Waiter | None:
        """The oldest read for which it may be suspended."""

    @property
    def write(self) -> Waiter | None:
        """The oldest host program for which it may be suspended."""

    @property
    def queued_write(self) -> Waiter | None:
        """The oldest host program or erase, whether it may suspend anything or not."""

    @property
    def for_gc_read(self) -> bool:
        """A read of garbage collection may have it suspended."""
