"""Types of the compiled simulator, which the rest of the package wraps."""

import os
from collections.abc import Callable
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
    """A user's mistake: one sentence that names place, value and what would be right.

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

class Completion:
    """A request of a `Drive` that is complete.

    >>> drive = rp.Drive({"device": "fast12-slc"})
    >>> tag = drive.submit("read", lba=0, bytes=4096, at_ns=1000)
    >>> now_ns = drive.run(until_ns=1_000_000)
    >>> (done,) = drive.poll()
    >>> done.op, done.arrival_ns, done.completion_ns, done.latency_ns
    ('read', 1000, 33048, 32048)
    """

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

    >>> drive = rp.Drive({"device": "fast12-slc"})
    >>> drive.submit("write", lba=0, bytes=4096, tag=7)
    7
    >>> while (at_ns := drive.next()) is not None:
    ...     drive.advance(at_ns)
    >>> [(done.tag, done.latency_ns) for done in drive.poll()], drive.now_ns
    ([(7, 162048)], 162048)
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
