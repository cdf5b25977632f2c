"""A condition simulated: the jobs of a fio run on a drive, and fio's figures of it."""

import math
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.calibration.filled_drives import FilledDrives, capacity_bytes
from reprieve.calibration.fio_results import DIRECTIONS
from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.parameters import Values, overrides

_OURS = frozenset(
    (
        *("time_based", "runtime", "timeout", "ramp_time", "startdelay", "start_delay"),
        *("loops", "number_ios", "io_size", "io_limit", "stonewall", "wait_for_previous"),
    )
)
"""Options of when jobs begin and end, in whose place a simulated run has times of its own."""

_PLACES = ("offset", "offset_increment", "size")
_MIB = 1 << 20
_ALL = 100.0
_KEPT_UP = 0.97
_RAMP_SHARE = 0.25
_RAMP_LEAST_S = 0.02
_DEEP = 16
_MOST_DEEP = 4
"""Limit of the factor by which runs of reads alone are longer at a greater depth than `_DEEP`:
outstanding reads share queues, so that each adds less information. They cost little."""
_MOST_REQUESTS = 8
"""Limit of the requests where writes are much slower than reads, as a multiple of the target."""
_WORDLINE_BYTES = 3 * 16384
_RAMP_WRITES_S = 0.1
"""Until the write buffer of a drive that cannot keep up is full."""


@dataclass(frozen=True)
class Effort:
    """Limits of the simulation of a condition."""

    requests: int
    """Requests of its fastest job."""
    written_bytes: int = 24 << 20
    """Least that is written where anything is: programs have to be met."""
    seconds_max: float = 20.0
    seed: int = 1


@dataclass(frozen=True)
class Simulated:
    """Simulated results of one direction of a job, at the percentiles that were measured."""

    count: int
    iops: float
    percentile_ns: dict[float, float]


Prediction = dict[tuple[int, str], Simulated]
"""By the number of the job in its condition, one more for the totals, and the direction."""


def ignored_places(condition: Condition) -> list[str]:
    """List options that name zones, which a simulated drive does not have."""
    return sorted({each for job in condition.jobs for each in job.asked.of_zones})


def job_file(
    condition: Condition, ramp_s: float, runtime_s: float, capacity_bytes: int | None = None
) -> str:
    """Write the job file of a condition, for the simulator: its jobs, for a time of our own.

    Regions that end behind `capacity_bytes` are scaled to it, all by the same factor. Raises
    UserError where a law of places depends on the size of its region.
    """
    lines = [
        "[global]",
        "time_based",
        f"ramp_time={round(ramp_s * 1e6)}us",
        f"runtime={round(runtime_s * 1e6)}us",
    ]
    end = max(job.asked.end_bytes for job in condition.jobs)
    scale = Fraction(1)
    if capacity_bytes is not None and end > capacity_bytes:
        scale = Fraction(capacity_bytes, end)
    for number, job in enumerate(condition.jobs):
        if scale < 1:
            _check_scalable(condition, job, end, capacity_bytes)
        lines += ["", f"[job{number}]"]
        options = {name: value for name, value in job.options.items() if name not in _OURS}
        for each in job.asked.of_zones:
            options.pop(each.partition("=")[0], None)
        if scale < 1:
            options |= _scaled(job, scale)
        options.setdefault("norandommap", "1")
        lines += [f"{name}={value}" for name, value in options.items()]
    return "\n".join(lines) + "\n"


def _check_scalable(condition: Condition, job: Job, end: int, capacity_bytes: int | None) -> None:
    if not job.asked.is_plain:
        law = job.options["random_distribution"]
        raise UserError(
            f'{condition.path}: job "{job.name}": its region ends at {end} bytes, and the drive '
            f"that is simulated has {capacity_bytes}: a region is scaled only where its places are "
            f"drawn alike, and random_distribution={law} must be left out"
        )


def _scaled(job: Job, scale: Fraction) -> dict[str, str]:
    """Return the options of a region that is smaller by a factor, in whole MiB."""
    asked = job.asked
    given = dict(
        zip(_PLACES, (asked.offset_bytes, asked.step_bytes, asked.size_bytes), strict=True)
    )
    return {
        name: str(max(int(value * scale) // _MIB, name == "size") * _MIB)
        for name, value in given.items()
        if value is not None and name in job.options
    }


def times(condition: Condition, effort: Effort, stripe_bytes: int = 1) -> tuple[float, float]:
    """Return ramp and run time in seconds: long enough for the requests, and for programs.

    What is written is a whole number of stripes, a wordline of each plane, so that each die has
    programmed as often, and no share of reads depends on where the run ended; of deep reads beside
    slow writes the least that has programs at all.
    """
    measured = [each for job in condition.jobs for each in job.measured.values()]
    fastest = max(each.iops for each in measured or condition.totals.values())
    runtime_s = effort.requests / fastest
    written = _written(condition)
    if written > 0:
        wanted_s = min(effort.written_bytes / written, _MOST_REQUESTS * effort.requests / fastest)
        stripes = max(round(max(runtime_s, wanted_s) * written / stripe_bytes), 1)
        runtime_s = stripes * stripe_bytes / written
    else:
        deepest = max(
            (job.asked.depth for job in condition.jobs if not job.asked.is_paced), default=1
        )
        runtime_s *= min(max(deepest / _DEEP, 1), _MOST_DEEP)
    runtime_s = min(runtime_s, effort.seconds_max)
    return _ramp_s(condition, runtime_s, stripe_bytes, written), runtime_s


def _ramp_s(condition: Condition, runtime_s: float, stripe_bytes: int, written: float) -> float:
    """Return how long the drive runs before anything counts."""
    usual_s = _RAMP_LEAST_S + _RAMP_SHARE * runtime_s
    if not written:
        return usual_s
    if not _keeps_up(condition):
        return max(_RAMP_WRITES_S, usual_s)
    # Programs start with the first stripe, and the buffer never fills.
    return min(max(2 * stripe_bytes / written, usual_s), max(_RAMP_WRITES_S, usual_s))


def _written(condition: Condition) -> float:
    """Return the bytes that were written a second, by jobs without figures as they were allowed."""
    rates = [(job.rate("write") or 0.0, job) for job in condition.jobs]
    written = sum(rate * job.asked.bytes_mean("write") for rate, job in rates if rate)
    total = condition.totals.get("write")
    if total is None or not written:
        return written
    return written * total.iops / sum(rate for rate, _ in rates)


def _keeps_up(condition: Condition) -> bool:
    """Return whether the drive wrote as much as the jobs were allowed to."""
    writers = [job for job in condition.jobs if job.rate("write")]
    limits = [job.limit("write") for job in writers]
    total = condition.totals.get("write")
    if total is not None:
        return None not in limits and total.iops >= _KEPT_UP * sum(each or 0 for each in limits)
    return all(
        limit is not None and (job.rate("write") or 0) >= _KEPT_UP * limit
        for job, limit in zip(writers, limits, strict=True)
    )


def stripe_bytes(values: Values) -> int:
    """Return the bytes of a wordline of every plane, as the values have it; 1 if they do not."""
    keys = ("geometry.channels", "geometry.dies_per_channel", "geometry.planes_per_die")
    counts = [values[key] for key in keys if isinstance(values.get(key), int)]
    if len(counts) < len(keys):
        return 1
    return _WORDLINE_BYTES * math.prod(int(each) for each in counts if isinstance(each, int))


def predict(
    condition: Condition, base: Any, values: Values, effort: Effort, drives: FilledDrives
) -> Prediction:
    """Simulate a condition on the drive `base` with these values.

    `base` is what `reprieve.run` takes as a scenario. Latencies are in ns, by nearest rank.
    """
    log, runtime_s = logged(condition, base, values, effort, drives)
    return {
        (number, direction): _figures(log.get((number, direction)), measured, runtime_s)
        for number, direction, measured in condition.figures()
    }


def logged(
    condition: Condition, base: Any, values: Values, effort: Effort, drives: FilledDrives
) -> tuple[dict[tuple[int, str], NDArray[np.int64]], float]:
    """Simulate a condition; return latencies in ns by job and direction, and the time in s.

    The totals are one job more.
    """
    ramp_s, runtime_s = times(condition, effort, stripe_bytes(values))
    keys = {**overrides(values), "seed": effort.seed}
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        jobs = Path(folder, "jobs.fio")
        has_bytes = any(job.asked.end_bytes for job in condition.jobs)
        drive_bytes = capacity_bytes(base, keys) if has_bytes else None
        jobs.write_text(job_file(condition, ramp_s, runtime_s, drive_bytes), encoding="utf-8")
        log = drives.requests(base, keys, jobs)
    arrival = log.array("arrival_ns")
    latency = log.array("completion_ns") - arrival
    counted = (arrival >= ramp_s * 1e9) & (arrival < (ramp_s + runtime_s) * 1e9)
    flow = log.array("flow")
    by_direction = {each: counted & log.is_word("op", each) for each in DIRECTIONS}
    found = {
        (number, direction): latency[of_direction & (flow == number)]
        for number in range(len(condition.jobs))
        for direction, of_direction in by_direction.items()
    }
    totals = {(len(condition.jobs), each): latency[by_direction[each]] for each in condition.totals}
    return found | totals, runtime_s


def _figures(
    latency_ns: NDArray[np.int64] | None, measured: Measured, runtime_s: float
) -> Simulated:
    if latency_ns is None or not len(latency_ns):
        return Simulated(0, 0.0, {})
    percents = [p for p in measured.percentile_ns if p < _ALL]
    values = np.percentile(latency_ns, percents, method="inverted_cdf")
    by_percent = dict(zip(percents, map(float, values), strict=True))
    return Simulated(len(latency_ns), len(latency_ns) / runtime_s, by_percent)
