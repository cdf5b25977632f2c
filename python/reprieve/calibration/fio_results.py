"""What fio measured: its JSON output, read and checked."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from reprieve._native import UserError

DIRECTIONS = ("read", "write", "trim")
PERCENTS = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0),
    *(99.0, 99.5, 99.9, 99.95, 99.99),
)
"""Percentiles that fio reports by default, and that are taken from a histogram."""

_WRAPPED_NS = 2**34
"""17.18 s: about what fio reports for completions that it did not see in time."""
_NEAR = 0.02
_LITTLE = 1.3
"""Depth that mean latency and rate imply, over the depth of the job, from which on they contradict
each other: fio's own time a request makes it less than one, and never more."""


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


@dataclass(frozen=True)
class Condition:
    """One run of fio: jobs that ran at the same time."""

    name: str
    """The stem of its file."""
    path: Path
    fio_version: str
    jobs: tuple[Job, ...]


def read_results(paths: Iterable[Path]) -> list[Condition]:
    """Read the files that `fio --output-format=json --output=FILE` wrote; raises UserError if bad.

    Lines of fio before the JSON are passed over. A file of `--status-interval` has an object for
    each interval: the last is taken, whose figures are of the whole run.
    """
    found: dict[str, Condition] = {}
    for path in paths:
        condition = _read(Path(path))
        if condition.name in found:
            other = found[condition.name].path
            raise UserError(f"{path}: has the name of {other}; each must have its own")
        found[condition.name] = condition
    return list(found.values())


def _read(path: Path) -> Condition:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is no text; must be fio's --output-format=json") from None
    content = _last_object(path, text)
    jobs = content.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise UserError(f'{path}: has no "jobs"; must be fio\'s --output-format=json')
    options = content.get("global options", {})
    found = tuple(_job(path, options, job) for job in jobs)
    if not any(job.measured for job in found):
        raise UserError(f"{path}: no job has completed a request")
    version = str(content.get("fio version", "fio"))
    return Condition(path.stem, path, version, tuple(job for job in found if job.measured))


def _last_object(path: Path, text: str) -> dict[str, Any]:
    """Return the last of the JSON objects of a file."""
    decoder = json.JSONDecoder()
    place, found = text.find("{"), None
    while place >= 0:
        try:
            found, end = decoder.raw_decode(text, place)
        except ValueError as error:
            line = text.count("\n", 0, getattr(error, "pos", place)) + 1
            raise UserError(
                f"{path}:{line}: is no whole JSON: {getattr(error, 'msg', error)}; the file may "
                "have been cut off"
            ) from None
        place = text.find("{", end)
    if not isinstance(found, dict):
        raise UserError(f"{path}: has no JSON; must be written with --output-format=json")
    return found


def _job(path: Path, options: Mapping[str, Any], job: Mapping[str, Any]) -> Job:
    name = str(job.get("jobname", "?"))
    where = f'{path}: job "{name}"'
    if job.get("error", 0):
        raise UserError(f"{where}: ended with error {job['error']}; must have run to its end")
    merged = {**options, **job.get("job options", {})}
    # fio writes an option without a value as an empty text.
    texts = {str(key): str(value) for key, value in merged.items()}
    measured = {
        direction: _measured(where, direction, job[direction])
        for direction in DIRECTIONS
        if isinstance(job.get(direction), dict) and job[direction].get("total_ios", 0) > 0
    }
    for direction, each in measured.items():
        _check(where, direction, each, texts)
    return Job(name, texts, measured)


def _measured(where: str, direction: str, content: Mapping[str, Any]) -> Measured:
    latency, found, unit_ns = _latency(content)
    percentiles, bins = found.get("percentile", {}), found.get("bins", {})
    if not percentiles and not bins:
        raise UserError(
            f"{where}: has no percentiles of its {direction}s; fio must run with lat_percentiles=1"
        )
    by_percent = {
        float(percent): float(value) * unit_ns
        for percent, value in percentiles.items()
        if percent.replace(".", "", 1).isdigit()
    }
    # What `percentile_list` left out, the histogram of json+ has.
    by_percent = _of_histogram(where, direction, bins, unit_ns) | by_percent
    by_percent = {percent: by_percent[percent] for percent in sorted(by_percent)}
    values = list(by_percent.values())
    if values != sorted(values) or values[0] <= 0:
        raise UserError(f"{where}: its percentiles of {direction}s decrease, or are not above 0")
    return Measured(
        int(content["total_ios"]),
        float(content["iops"]),
        latency,
        by_percent,
        *(float(found.get(figure, 0)) * unit_ns for figure in ("mean", "min", "max")),
    )


def _of_histogram(where: str, direction: str, bins: object, unit_ns: float) -> dict[float, float]:
    """Return percentiles by nearest rank from the bins of `--output-format=json+`, value: count."""
    if not bins:
        return {}
    if not isinstance(bins, dict) or not all(
        str(value).isdigit() and isinstance(count, int) and count > 0
        for value, count in bins.items()
    ):
        raise UserError(
            f'{where}: "bins" of its {direction}s must have whole numbers above 0 by latencies'
        )
    values = sorted(map(int, bins))
    until = list(accumulate(bins[str(value)] for value in values))
    # As fio has it, a percentage is the binary number next to it, which may be above it.
    ranks = {percent: math.ceil(Fraction(percent) * until[-1] / 100) for percent in PERCENTS}
    return {
        percent: values[bisect_left(until, max(rank, 1))] * unit_ns
        for percent, rank in ranks.items()
    }


def _latency(content: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], float]:
    """Return which latency has percentiles, its figures, and their unit in ns."""
    # Whole latencies first; fio 2 has microseconds, and no unit in its names.
    for latency in ("lat", "clat"):
        for key, unit_ns in ((f"{latency}_ns", 1.0), (latency, 1000.0)):
            found = content.get(key)
            if isinstance(found, dict) and (found.get("percentile") or found.get("bins")):
                return latency, found, unit_ns
    return "lat", {}, 1.0


def _check(where: str, direction: str, measured: Measured, options: Mapping[str, str]) -> None:
    """Refuse figures that contradict each other."""
    high = [value for value in measured.percentile_ns.values() if _is_wrapped(value)]
    polls = "sqthread_poll" in options or "hipri" in options
    depth = int(options.get("iodepth", "1")) * int(options.get("numjobs", "1"))
    implied = measured.mean_ns * 1e-9 * measured.iops
    if high and polls:
        raise UserError(
            f"{where}: completions of its {direction}s take {high[0] / 1e9:.1f} s: fio measures so "
            "with hipri and sqthread_poll, whose completions it does not see in time; it must run "
            "without one of them, or with another engine"
        )
    if implied > _LITTLE * depth:
        raise UserError(
            f"{where}: its mean latency of {measured.mean_ns / 1e3:.1f} us and {measured.iops:.0f} "
            f"{direction}s a second need {implied:.0f} requests at a time, and its depth is {depth}"
        )


def _is_wrapped(value_ns: float) -> bool:
    return abs(value_ns / _WRAPPED_NS - 1) < _NEAR
