"""Runs of fio as they were measured: conditions, their jobs, and the figures of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reprieve.calibration.fio_options import Asked


@dataclass(frozen=True)
class Measured:
    """One direction of one job."""

    count: int
    """Requests that completed."""
    iops: float
    latency: str
    """`lat`, from submission to completion, or `clat`, without the time of the submission itself:
    that of which there are percentiles."""
    percentile_ns: dict[float, float]
    """By percent, 50.0 the median."""
    mean_ns: float
    min_ns: float
    max_ns: float


@dataclass(frozen=True)
class Job:
    """A job of fio."""

    name: str
    options: dict[str, str]
    """Those of the job over the global ones."""
    measured: dict[str, Measured]
    """By direction; those that had any request."""

    @cached_property
    def asked(self) -> Asked:
        """Load that the options describe; raises UserError if it cannot be simulated."""
        return Asked.of(self.options)


@dataclass(frozen=True)
class Condition:
    """One run of fio: jobs that ran at the same time."""

    name: str
    """The stem of its file."""
    path: Path
    fio_version: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Amount:
    """Bytes and time of a direction of an entry; None where fio does not report them."""

    bytes: int | None
    runtime_s: float | None


@dataclass(frozen=True)
class Entry:
    """An entry of the list of jobs, before it is compared with its options."""

    where: str
    job: Job
    amounts: dict[str, Amount]
    """By direction, those of `job.measured`."""
    group: int
    elapsed_s: float | None
    """Of the whole run of fio."""
    threads_s: float | None
    """Time of all clones together."""
    levels: dict[int, float]
    """Share of the requests that were issued at this depth or above, below the next."""
