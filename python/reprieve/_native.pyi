"""Types of the compiled simulator, which the rest of the package wraps."""

import os
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reprieve._native_tables import ParquetReader as ParquetReader
from reprieve._native_tables import ParquetWriter as ParquetWriter
from reprieve._native_tables import Table as Table
from reprieve._native_tables import empty_log as empty_log
from reprieve.scenario import ScenarioLike
from reprieve.simulation import Glance

__version__: str
TraceRows = list[tuple[int, int, str, int, int]]
Four = tuple[float, float, float, float]

class UserError(ValueError):
    """A user's mistake: one sentence that names place, value and what would be right."""

def resolve(text: str, path: str, sets: list[str]) -> str:
    """Resolve a scenario with its presets and overrides into canonical TOML."""

class Simulation:
    """One run, advanced from outside."""

    def __init__(
        self,
        text: str,
        path: str,
        sets: list[str],
        kept: tuple[bool, bool, tuple[int, int | None, bool] | None] = ...,
        from_state: str | os.PathLike[str] | None = None,
        check: str | None = None,
        own: dict[str, object] | None = None,
    ) -> None:
        """Load a scenario; `check` is the command that repeats the run, for the checker to name.

        `kept`: whether requests are logged, whether the run is watched over time, and what of it is
        drawn: from when and until when in ns, and whether with phases.
        `own`: policies of the user's. `given` has them as bound methods: `decide` of a suspension
        policy; `choose`, `lets_suspend`, `asks_again`, `suspends` and `reads_first` of a scheduler.
        `again` returns the same of new objects, or is None if there can be none.
        """

    @property
    def scenario(self) -> str: ...
    def step(self, requests: int) -> bool:
        """Simulate until about that many more requests are complete; False at the end."""

    def is_preconditioned(self) -> bool:
        """Whether the next step brings requests; steps before it prepare the drive."""

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write the drive's state, once it is preconditioned or after the last request."""

    def progress(self) -> tuple[float | None, int]:
        """Share done (None if unknown) and requests completed."""

    def glance(self) -> Glance | None:
        """Return what the run has come to so far; None before the first step."""

    def take_log(self) -> Table:
        """Return the requests completed since the last call, in order of completion."""

    def take_timeline(self) -> bytes:
        """Bytes of the timeline since the last call; after the last step all that are left."""

    def power_loss(self, at_ns: int) -> str | None:
        """Simulate until then; a list of what a loss of power would come to, one a policy."""

    def summary(self) -> str:
        """`summary.json` without what the caller measures."""

    def batches(self) -> str:
        """Return the complete batches of the run as JSON, by column."""

    def power_series(self) -> dict[str, NDArray[np.int64]] | None:
        """Columns of the bins of power; None if the scenario keeps none."""

    def course(self) -> dict[str, Any] | None:
        """How the run went over time, by name; None if that was not asked for."""

    def histogram(self, what: str) -> tuple[bytes, bytes]:
        """Upper value in ns and count of each non-empty bucket: "read", "write" or "total"."""

class Decision:
    """What a suspension policy answers."""

    SUSPEND: ClassVar[Decision]
    """Ask for a suspension of the operation, which runs."""
    RESUME: ClassVar[Decision]
    """Let the operation, which is suspended, go on, though reads or writes are waiting."""
    LEAVE: ClassVar[Decision]
    """Leave it as it is."""

class Choice:
    """What a scheduler answers."""

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
    """What a suspension policy sees: the operation in the way of a read or write."""

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
    """What a scheduler sees of a free die."""

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
    """What a scheduler sees when something that waits could suspend the operation that runs."""

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

class Server:
    """A drive as a network block device."""

    def __init__(self, source: tuple[str, str, list[str]], asked: dict[str, object]) -> None:
        """Load a scenario and take what the drive needs of the machine."""

    @property
    def stop_fd(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def data_note(self) -> str | None: ...
    def prepare(self) -> bool:
        """Precondition the drive by a piece; False when it is ready."""

    def open(self) -> tuple[str | None, str | None, str | None]:
        """Let clients connect, and say where: the drive, metrics, control."""

    def run(self, say: Callable[[str], None]) -> str:
        """Serve until a byte is written to `stop_fd`; the summary as JSON.

        `say` is called with what is to be known at once.
        """

class Completion:
    """A request of a `Drive` that is complete."""

    @property
    def tag(self) -> int:
        """That of the request."""

    @property
    def number(self) -> int:
        """Of the request, in order of arrival, from 0."""

    @property
    def op(self) -> Literal["read", "write", "trim", "flush"]:
        """What was asked."""

    @property
    def arrival_ns(self) -> int:
        """When it reached the drive."""

    @property
    def completion_ns(self) -> int:
        """When it was complete."""

    @property
    def latency_ns(self) -> int:
        """From its arrival to its completion."""

    @property
    def uncorrectable_pages(self) -> int:
        """Pages of a read that nothing corrected."""

class Drive:
    """A drive inside another simulator: requests in, completions out, in simulated time.

    Whoever owns it keeps the time: `submit` requests with their arrivals, ask for the `next`
    instant at which something will happen, `advance` to it, and `poll` what is complete. No call
    looks at a clock or starts a thread; several drives do not meet.

    `scenario` and `overrides` are as of `run`; a workload in it is left out. `journal`: keep all
    requests, about a dozen bytes each, so that the drive can be saved. The drive is preconditioned
    when it is made, which may take seconds.

    Times are whole nanoseconds since then. A mistake is a `UserError`, and leaves the drive as it
    was.
    """

    def __init__(
        self, scenario: ScenarioLike, *, journal: bool = False, **overrides: object
    ) -> None: ...
    @staticmethod
    def restore(saved: bytes) -> Drive:
        """Return the drive that was saved: same time, same open requests, same future.

        All that it was asked is simulated again, which takes as long as it took.
        """

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the drive has for its users."""

    @property
    def now_ns(self) -> int:
        """The instant up to which everything has passed."""

    @property
    def open_requests(self) -> int:
        """Requests that are not complete, those included that have not arrived."""

    @property
    def scenario(self) -> str:
        """The resolved scenario as TOML."""

    def submit(
        self,
        op: Literal["read", "write", "trim", "flush"],
        lba: int = 0,
        bytes: int = 0,
        *,
        at_ns: int | None = None,
        fua: bool = False,
        tag: int | None = None,
    ) -> int:
        """Hand over a request that arrives at `at_ns`, now or later; return its tag.

        `lba`: the first sector of 512 bytes. `bytes`: the length, a multiple of 512; a flush has
        neither. `at_ns`: now, if it is left out. `fua`: a write that is complete only when it is in
        flash. `tag`: its completion has it; if it is left out, a number that no earlier one has.
        """

    def next(self) -> int | None:
        """Return when something will happen next; None: nothing without another request."""

    def advance(self, to_ns: int) -> None:
        """Let time pass up to `to_ns`, with what happens then.

        UserError if that lies before now, or behind `next()`: an instant would be left out.
        """

    def run(self, until_ns: int, completions: int = 1) -> int:
        """Let time pass until so many completions wait, but not beyond `until_ns`.

        Return where it is. The same instants pass as by steps, with fewer calls; none does while so
        many wait already.
        """

    def poll(self, max: int | None = None) -> list[Completion]:
        """Take completions, the oldest first, all or `max` of them; none is later than now."""

    def save(self) -> bytes:
        """Return the drive as bytes, in mid-flight or at rest; it must keep a journal."""

    def summary(self) -> dict[str, Any]:
        """Return the summary so far: the fields of `summary.json`."""

def rig(
    source: tuple[str, str, list[str]],
    commands: tuple[str, str],
    kept: tuple[bool, bool] = ...,
    own: dict[str, object] | None = None,
) -> tuple[str, str, bytes]: ...
def characterize(
    text: str, path: str, sets: list[str], wordlines: int, variety: tuple[float, float]
) -> dict[str, NDArray[np.int64]]: ...
def rber(text: str, path: str, sets: list[str], pages: list[Four]) -> list[float]: ...
def characterised_rber(
    text: str, path: str, sets: list[str], test: Four
) -> tuple[tuple[float, float], tuple[float, float]]: ...
def trace_info(path: str, format: str, options: list[str]) -> str: ...
def trace_devices(path: str, format: str, options: list[str]) -> str: ...
def trace_head(path: str, format: str, options: list[str], rows: int) -> TraceRows: ...
def workload_info(text: str, path: str, sets: list[str]) -> str: ...
def workload_head(text: str, path: str, sets: list[str], rows: int) -> TraceRows: ...
def workload_times(text: str, path: str, sets: list[str], rows: int) -> NDArray[np.uint64]: ...
def trace_convert(path: str, format: str, options: list[str], output: str, to: str) -> str: ...
def registry(kind: str) -> list[tuple[str, str]]: ...
def preset(kind: str, name: str) -> str: ...
def reference() -> str: ...
def schema() -> str: ...
def json_schema() -> str: ...
def resolve_rig(text: str, path: str, sets: list[str]) -> str: ...
