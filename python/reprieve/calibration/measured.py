"""Runs of fio as they were measured: conditions, their jobs, and the figures of each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from reprieve._native import UserError
from reprieve.calibration.fio_options import Asked

ALL_JOBS = "all"
"""Name of the totals of a condition, which no job may have."""


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
    has_rate: bool = True
    """False: `iops` is the rate that the options allow, and was not measured."""


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

    def limit(self, direction: str) -> float | None:
        """Return the most requests a second that the options allow; None without a limit."""
        asked = self.asked
        if direction not in asked.sizes:
            return None
        if direction in asked.bytes_per_s:
            return asked.bytes_per_s[direction] / asked.bytes_mean(direction) * asked.clones
        return asked.iops[direction] * asked.clones if direction in asked.iops else None

    def rate(self, direction: str) -> float | None:
        """Return requests a second, as measured or else as limited; None if neither is known."""
        measured = self.measured.get(direction)
        return self.limit(direction) if measured is None else measured.iops


@dataclass(frozen=True)
class Condition:
    """One run of fio: jobs that ran at the same time."""

    name: str
    """The stem of its file, or its name in a table."""
    path: Path
    fio_version: str
    jobs: tuple[Job, ...]
    totals: Mapping[str, Measured] = field(default_factory=dict)
    """By direction, figures of all jobs together."""

    @property
    def ops(self) -> set[str]:
        """Kinds of requests that its jobs issue: `read`, `write`, `trim`."""
        return {op for job in self.jobs for op in job.asked.sizes}

    def figures(self) -> Iterator[tuple[int, str, Measured]]:
        """Yield all figures with job number and direction; totals come as one job more."""
        for number, job in enumerate(self.jobs):
            for direction, measured in job.measured.items():
                yield number, direction, measured
        for direction, measured in self.totals.items():
            yield len(self.jobs), direction, measured

    def job_name(self, number: int) -> str:
        """Return the name of a job by its number, `all` for the totals."""
        return self.jobs[number].name if number < len(self.jobs) else ALL_JOBS


def by_name(conditions: Iterable[Condition]) -> dict[str, Condition]:
    """Return conditions by their names; UserError if two have the same."""
    found: dict[str, Condition] = {}
    for each in conditions:
        if each.name in found:
            other = found[each.name].path
            raise UserError(f"{each.path}: has the name of {other}; each must have its own")
        found[each.name] = each
    return found


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
