"""Types of the compiled simulator, which the rest of the package wraps."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reprieve._native_policies import Choice as Choice
from reprieve._native_policies import Decision as Decision
from reprieve._native_policies import DieView as DieView
from reprieve._native_policies import Operation as Operation
from reprieve._native_policies import OperationView as OperationView
from reprieve._native_policies import SuspendView as SuspendView
from reprieve._native_policies import Waiter as Waiter
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
    """A user's mistake: one sentence that names the place, the value and what would be right.

    >>> try:
    ...     rp.device("nowhere")
    ... except rp.UserError as error:
    ...     print(error)
    there is no device "nowhere", only fast12-slc, fast12-mlc, ...
    """

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

class DriveArray:
    """Drives behind one address space. Its methods may be called from any thread, one at a time."""

    def __init__(self, text: str, path: str, sets: Sequence[str], options: str, load: bool) -> None:
        """Open it; `options`: a table of TOML. With `load` that of the scenario is submitted."""

    @property
    def capacity_bytes(self) -> int: ...
    @property
    def now_ns(self) -> int: ...
    def submit(
        self,
        arrival_ns: NDArray[np.uint64],
        op: NDArray[np.uint8],
        offset: NDArray[np.uint64],
        bytes: NDArray[np.uint64],
    ) -> None:
        """Submit requests, one a row of the columns, which have one length.

        `op`: 0 to 3: read, write, trim, flush.
        """

    def run(self, until_rebuilt: bool, watch: Callable[[float], None] | None) -> Table:
        """Run all submitted requests; return a row for each, in the order of their submission.

        With `until_rebuilt` it goes on until the replaced drive is. Now and then `watch`
        gets the share of the requests that were sent.
        """

    def summary(self) -> str:
        """Return the summary so far, as JSON."""

class KvTier:
    """Blocks of an LLM server's tokens in DRAM and on a drive."""

    def __init__(self, choices: Mapping[str, object], capacity_bytes: int) -> None: ...
    def serve(
        self, at_ns: int, tokens: int, blocks: list[int]
    ) -> tuple[tuple[int, ...], list[tuple[bool, int, int, int]]]:
        """Serve a prompt: computed tokens, and blocks in DRAM, in flash, stored and dropped.

        Then the requests of the drive: whether it writes, first byte, length, arrival in ns.
        """

def kv_plan(
    text: str, path: str, sets: list[str]
) -> tuple[list[tuple[int, int, tuple[int, ...]]], NDArray[np.uint64]]:
    """Plan a load of the generator kv-cache.

    A row a prompt: arrival in ns, tokens, and as above; and the number of the prompt of each
    request of the drive, in order of arrival.
    """

class Completion:
    """A completed request of a `Drive`; times are whole nanoseconds of simulated time.

    >>> drive = rp.Drive({"device": "fast12-slc"})
    >>> tag = drive.submit("read", lba=0, bytes=4096, at_ns=1000)
    >>> now_ns = drive.run(until_ns=1_000_000)
    >>> (done,) = drive.poll()
    >>> done.op, done.arrival_ns, done.completion_ns, done.latency_ns
    ('read', 1000, 33048, 32048)
    """

    @property
    def tag(self) -> int:
        """The number that `submit` took or returned for the request."""

    @property
    def number(self) -> int:
        """The number of the request in order of arrival, from 0."""

    @property
    def op(self) -> Literal["read", "write", "trim", "flush"]:
        """The operation: "read", "write", "trim" or "flush"."""

    @property
    def arrival_ns(self) -> int:
        """The time at which it reached the drive."""

    @property
    def completion_ns(self) -> int:
        """The time at which it was complete."""

    @property
    def latency_ns(self) -> int:
        """The time from its arrival to its completion."""

    @property
    def uncorrectable_pages(self) -> int:
        """The number of pages of a read that error correction could not restore."""

    @property
    def components_ns(self) -> dict[str, int] | None:
        """The components of the latency, which add up to it; None if the drive keeps no details."""

    @property
    def causes_ns(self) -> dict[str, int] | None:
        """The causes of its waits; None if the drive keeps no details."""

    @property
    def die(self) -> int | None:
        """The number of the die of its last page; None without one, or without details."""

    @property
    def retries(self) -> int | None:
        """The number of senses beyond the first of each page read for it; None without details."""

class Drive:
    """A drive inside another simulator: requests in, completions out, in simulated time.

    The caller keeps the time: `submit` requests with their arrivals, ask for the `next` time at
    which something will happen, `advance` to it, and `poll` the completions. No call reads a clock
    or starts a thread. Drives do not affect each other.

    `scenario` and `overrides`: as for `run`; a workload in the scenario is ignored.
    `from_state`: a file that `reprieve run --save-state` wrote: the drive starts in that state, and
    is not preconditioned.

    Times are whole nanoseconds since the drive was made. It is preconditioned before that, which
    may take seconds.

    Raises UserError if the scenario is wrong. So does each method if it is called wrongly; the
    drive is then as it was before the call.

    >>> drive = rp.Drive({"device": "fast12-slc"})
    >>> drive.submit("write", lba=0, bytes=4096, tag=7)
    7
    >>> while (at_ns := drive.next()) is not None:
    ...     drive.advance(at_ns)
    >>> [(done.tag, done.latency_ns) for done in drive.poll()], drive.now_ns
    ([(7, 162048)], 162048)
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        from_state: str | os.PathLike[str] | None = None,
        **overrides: object,
    ) -> None: ...
    @staticmethod
    def restore(saved: bytes) -> Drive:
        """Return the drive that `save` wrote: same time, same open requests, same future.

        Takes as long as reading the bytes. Raises UserError if they are not a saved drive, or are
        another release's.

        >>> drive = rp.Drive({"device": "fast12-slc"})
        >>> tag = drive.submit("read", bytes=4096)
        >>> rp.Drive.restore(drive.save()).open_requests
        1
        """

    @property
    def capacity_bytes(self) -> int:
        """The capacity that the drive offers to its users."""

    @property
    def now_ns(self) -> int:
        """The current simulated time."""

    @property
    def open_requests(self) -> int:
        """The number of requests not yet complete, including those that have not arrived."""

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
        queue: int | None = None,
        priority: Literal["urgent", "high", "medium", "low"] | None = None,
        handle: int | None = None,
    ) -> int:
        """Submit a request that arrives at `at_ns`, now or later; return its tag.

        `lba`: the first sector of 512 bytes.
        `bytes`: the length, a multiple of 512; a flush has neither.
        `at_ns`: the arrival; by default now.
        `fua`: a write completes only when its data is in flash (forced unit access).
        `tag`: a number for its completion; by default one that no earlier request has.
        `queue`: its submission queue, from 0; by default all take turns.
        `priority`: "urgent", "high", "medium" or "low": the queues with this class of
        `host.queue_priorities` take turns.
        `handle`: the placement handle of a write, below `ftl.placement_handles`; by default 0.

        Raises UserError if the request lies beyond the capacity, arrives in the past, or names a
        queue, class or handle that the drive does not have.
        """

    def next(self) -> int | None:
        """Return the time in ns of the next event; None if only a new request can cause one."""

    def advance(self, to_ns: int) -> None:
        """Simulate up to `to_ns`, with the events at that time.

        Raises UserError if `to_ns` is in the past, or later than `next()`: an event would be
        skipped.
        """

    def run(self, until_ns: int, completions: int = 1) -> int:
        """Simulate until `completions` are waiting, at most to `until_ns`; return the time in ns.

        Equivalent to `advance`, in fewer calls. If as many are waiting already,
        nothing is simulated. Raises UserError if `until_ns` is in the past.
        """

    def poll(self, max: int | None = None) -> list[Completion]:
        """Take the waiting completions, the oldest first, all or at most `max` of them."""

    def save(self) -> bytes:
        """Return the drive as bytes for `restore`, its tables and queues."""

    def clone(self) -> Drive:
        """Return a drive that is what this one is, and goes its own way from here.

        Raises UserError if there is no memory for a second one.

        >>> drive = rp.Drive({"device": "fast12-slc"})
        >>> tag = drive.submit("read", bytes=4096)
        >>> other = drive.clone()
        >>> other.run(until_ns=1_000_000), drive.now_ns
        (32048, 0)
        """

    def keep_details(self) -> None:
        """Keep details of completions: where the time of each went, its die and its retries.

        Raises UserError if the drive has had a request.

        >>> drive = rp.Drive({"device": "fast12-slc"})
        >>> drive.keep_details()
        >>> tag = drive.submit("read", lba=0, bytes=2048)
        >>> now_ns = drive.run(until_ns=1_000_000)
        >>> (done,) = drive.poll()
        >>> done.components_ns["array_ns"], done.components_ns["bus_ns"], done.die
        (10000, 20000, 0)
        """

    def measure_from(self, at_ns: int | None = None) -> None:
        """Have the summary count requests that arrive at `at_ns`, by default now, or later.

        Its other numbers begin there, too. Replaces `[measure]` of the scenario.

        Raises UserError if `at_ns` is in the past.

        >>> drive = rp.Drive({"device": "fast12-slc"})
        >>> for at_ns in 0, 1_000_000:
        ...     tag = drive.submit("read", bytes=2048, at_ns=at_ns)
        >>> drive.measure_from(500_000)
        >>> drive.run(until_ns=2_000_000, completions=2)
        1031024
        >>> drive.summary()["requests"]["read"]["count"]
        1
        """

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
def workload_info(text: str, path: str, sets: list[str], requests_max: int | None) -> str: ...
def workload_head(text: str, path: str, sets: list[str], rows: int) -> TraceRows: ...
def workload_times(text: str, path: str, sets: list[str], rows: int) -> NDArray[np.uint64]: ...
def trace_convert(path: str, format: str, options: list[str], output: str, to: str) -> str: ...
def registry(kind: str) -> list[tuple[str, str]]: ...
def preset(kind: str, name: str) -> str: ...
def reference() -> str: ...
def schema() -> str: ...
def json_schema() -> str: ...
def resolve_rig(text: str, path: str, sets: list[str]) -> str: ...
def capacity_bytes(text: str, path: str, sets: list[str]) -> int: ...
def fio_options(settings: list[tuple[str, str]]) -> str: ...
