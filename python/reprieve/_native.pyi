"""Types of the compiled simulator, which the rest of the package wraps."""

import os

import numpy as np
from numpy.typing import NDArray

__version__: str

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
        log_requests: bool,
        from_state: str | os.PathLike[str] | None = None,
        check: str | None = None,
    ) -> None:
        """Load a scenario; `check` is the command that repeats the run, for the checker to name."""

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

    def take_log(self) -> dict[str, NDArray[np.generic]]:
        """Columns of the requests completed since the last call, in order of completion."""

    def power_loss(self, at_ns: int) -> str | None:
        """Simulate until then; a list of what a loss of power would come to, one a policy."""

    def summary(self) -> str:
        """`summary.json` without what the caller measures."""

    def power_series(self) -> dict[str, NDArray[np.int64]] | None:
        """Columns of the bins of power; None if the scenario keeps none."""

    def histogram(self, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Upper value in ns and count of each non-empty bucket: "read", "write" or "total"."""

class Server:
    """A drive as a network block device."""

    def __init__(self, source: tuple[str, str, list[str]], asked: dict[str, object]) -> None:
        """Load a scenario and take what the drive needs of the machine."""

    @property
    def stop_fd(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def prepare(self) -> bool:
        """Precondition the drive by a piece; False when it is ready."""

    def open(self) -> tuple[str | None, str | None, str | None]:
        """Let clients connect, and say where: the drive, metrics, control."""

    def run(self) -> str:
        """Serve until a byte is written to `stop_fd`; the summary as JSON."""

def rig(text: str, path: str, sets: list[str], commands: str, commands_path: str) -> str: ...
def characterize(
    text: str, path: str, sets: list[str], wordlines: int
) -> dict[str, NDArray[np.int64]]: ...
def rig_power(
    text: str, path: str, sets: list[str], commands: str, commands_path: str
) -> tuple[str, str]: ...
def rber(
    text: str, path: str, sets: list[str], pages: list[tuple[float, float, float, float]]
) -> list[float]: ...
def characterised_rber(
    text: str, path: str, sets: list[str], test: tuple[float, float, float, float]
) -> tuple[tuple[float, float], tuple[float, float]]: ...
def trace_info(path: str, format: str, options: list[str]) -> str: ...
def trace_devices(path: str, format: str, options: list[str]) -> str: ...
def trace_head(
    path: str, format: str, options: list[str], rows: int
) -> list[tuple[int, int, str, int, int]]: ...
def workload_info(text: str, path: str, sets: list[str]) -> str: ...
def trace_convert(path: str, format: str, options: list[str], output: str, to: str) -> str: ...
def registry(kind: str) -> list[tuple[str, str]]: ...
def preset(kind: str, name: str) -> str: ...
def reference() -> str: ...
