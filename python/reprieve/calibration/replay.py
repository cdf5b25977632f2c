"""A condition simulated: the jobs of a fio run on a drive, and fio's figures of it."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.fio_results import Condition, Job, Measured
from reprieve.calibration.parameters import Values, overrides
from reprieve.calibration.ranges import depth

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIMULATED = (
    *("rw", "readwrite", "rwmixread", "rwmixwrite", "bs", "blocksize", "bssplit", "iodepth"),
    *("numjobs", "rate", "rate_iops", "rate_process", "thinktime", "thinktime_blocks"),
    *("random_distribution", "norandommap", "fsync", "fdatasync", "sync", "offset", "size"),
    *("offset_increment", "io_size"),
)
"""Options of fio that say what a drive is asked; the others say how fio asks it."""

_PLACES = ("offset", "size", "offset_increment", "io_size")
_ALL = 100.0
_KEPT_UP = 0.97
_RAMP_SHARE = 0.25
_RAMP_LEAST_S = 0.02
_DEEP = 16
_MOST_DEEP = 4
"""Reads alone at a greater depth are so many times as long as it is deeper, up to a limit: those
that are outstanding together wait in the same queues, and say less each. They cost little."""
_MOST_REQUESTS = 8
"""Where writes are so slow beside the reads, no more than so many times the requests asked for."""
_WORDLINE_BYTES = 3 * 16384
_RAMP_WRITES_S = 0.1
"""Until the write buffer of a drive that cannot keep up is full."""


@dataclass(frozen=True)
class Effort:
    """How much of a condition is simulated."""

    requests: int
    """Requests of its fastest job."""
    written_bytes: int = 24 << 20
    """Least that is written where anything is: programs have to be met."""
    seconds_max: float = 20.0
    seed: int = 1


@dataclass(frozen=True)
class Simulated:
    """What fio would say of one direction of a job, at the percentiles that were measured."""

    count: int
    iops: float
    percentile_ns: dict[float, float]


Prediction = dict[tuple[int, str], Simulated]
"""By the number of the job in its condition, and the direction."""


def ignored_places(condition: Condition) -> list[str]:
    """List options that name zones, which a simulated drive does not have."""
    found = {
        f"{name}={job.options[name]}"
        for job in condition.jobs
        for name in _PLACES
        if job.options.get(name, "").endswith("z")
    }
    return sorted(found)


def job_file(condition: Condition, ramp_s: float, runtime_s: float) -> str:
    """Write the job file of a condition, for the simulator: its jobs, for a time of our own."""
    lines = [
        "[global]",
        "time_based",
        f"ramp_time={round(ramp_s * 1e6)}us",
        f"runtime={round(runtime_s * 1e6)}us",
    ]
    for number, job in enumerate(condition.jobs):
        lines += ["", f"[job{number}]"]
        options = {name: job.options[name] for name in SIMULATED if name in job.options}
        for name in _PLACES:
            if options.get(name, "").endswith("z"):
                del options[name]
        # Without a size the region is the drive; a map of what was read is of no use here.
        options.setdefault("size", "100%")
        options.setdefault("norandommap", "1")
        lines += [f"{name}={value}" for name, value in options.items()]
    return "\n".join(lines) + "\n"


def times(condition: Condition, effort: Effort, stripe_bytes: int = 1) -> tuple[float, float]:
    """Return ramp and run time in seconds: long enough for the requests, and for programs.

    What is written is a whole number of stripes, a wordline of each plane, so that each die has
    programmed as often, and no share of reads depends on where the run ended; of deep reads beside
    slow writes the least that has programs at all.
    """
    measured = [each for job in condition.jobs for each in job.measured.values()]
    fastest = max(each.iops for each in measured)
    runtime_s = effort.requests / fastest
    written = sum(
        job.measured["write"].iops * _size(job) for job in condition.jobs if "write" in job.measured
    )
    if written > 0:
        wanted_s = min(effort.written_bytes / written, _MOST_REQUESTS * effort.requests / fastest)
        stripes = max(round(max(runtime_s, wanted_s) * written / stripe_bytes), 1)
        runtime_s = stripes * stripe_bytes / written
    else:
        deepest = max(map(depth, condition.jobs))
        runtime_s *= min(max(deepest / _DEEP, 1), _MOST_DEEP)
    runtime_s = min(runtime_s, effort.seconds_max)
    return _ramp_s(condition, runtime_s, stripe_bytes, written), runtime_s


def _ramp_s(condition: Condition, runtime_s: float, stripe_bytes: int, written: float) -> float:
    """Return how long the drive runs before anything counts."""
    usual_s = _RAMP_LEAST_S + _RAMP_SHARE * runtime_s
    if not written:
        return usual_s
    if not all(_keeps_up(job) for job in condition.jobs if "write" in job.measured):
        return max(_RAMP_WRITES_S, usual_s)
    # Programs have begun with the first stripe, and the buffer never fills.
    return min(max(2 * stripe_bytes / written, usual_s), max(_RAMP_WRITES_S, usual_s))


def _keeps_up(job: Job) -> bool:
    """Whether the drive wrote as much as the job was allowed to."""
    allowed = job.options.get("rate", "").split(",")[-1]
    if not allowed:
        return False
    return job.measured["write"].iops * _size(job) >= _KEPT_UP * _bytes(allowed)


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
        for number, job in enumerate(condition.jobs)
        for direction, measured in job.measured.items()
    }


def logged(
    condition: Condition, base: Any, values: Values, effort: Effort, drives: FilledDrives
) -> tuple[dict[tuple[int, str], NDArray[np.int64]], float]:
    """Simulate a condition; return latencies in ns by job and direction, and the time in s."""
    ramp_s, runtime_s = times(condition, effort, stripe_bytes(values))
    keys = {**overrides(values), "seed": effort.seed}
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        jobs = Path(folder, "jobs.fio")
        jobs.write_text(job_file(condition, ramp_s, runtime_s), encoding="utf-8")
        log = drives.requests(base, keys, jobs)
    arrival = log.array("arrival_ns")
    latency = log.array("completion_ns") - arrival
    counted = (arrival >= ramp_s * 1e9) & (arrival < (ramp_s + runtime_s) * 1e9)
    flow = log.array("flow")
    by_direction = {each: counted & log.is_word("op", each) for each in ("read", "write")}
    found = {
        (number, direction): latency[of_direction & (flow == number)]
        for number in range(len(condition.jobs))
        for direction, of_direction in by_direction.items()
    }
    return found, runtime_s


def _figures(
    latency_ns: NDArray[np.int64] | None, measured: Measured, runtime_s: float
) -> Simulated:
    import numpy as np

    if latency_ns is None or not len(latency_ns):
        return Simulated(0, 0.0, {})
    percents = [p for p in measured.percentile_ns if p < _ALL]
    values = np.percentile(latency_ns, percents, method="inverted_cdf")
    by_percent = dict(zip(percents, map(float, values), strict=True))
    return Simulated(len(latency_ns), len(latency_ns) / runtime_s, by_percent)


def _size(job: Job) -> int:
    """Bytes of a write, as fio's `bs` has it; the mean of what a split has is not needed."""
    return (
        _bytes(job.options.get("bs", job.options.get("blocksize", "4096")).split(",")[-1]) or 4096
    )


def _bytes(text: str) -> int:
    """Return bytes of a number with fio's `k`, `m` or `g`; 0 if it is none."""
    bare = text.lower().rstrip("ib")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(bare[-1:], 1)
    digits = bare.rstrip("kmg")
    return int(digits) * factor if digits.isdigit() else 0
