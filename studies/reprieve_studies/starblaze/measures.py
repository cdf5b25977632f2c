"""What the slides' tables measure, from the results of runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median

from reprieve import Result
from reprieve_studies.starblaze.readings import FIRMWARE, Spot

Runs = Mapping[Spot, Result]


@dataclass(frozen=True)
class Measured:
    """A row of ours, over all runs with different seeds."""

    iops: float
    mean_us: float
    us_max: float
    """The middle one of the runs."""
    us_max_least: float
    us_max_most: float
    outstanding: float
    """Rate times mean latency."""


def measured(runs: Runs, reading: str, setting: str, case: str, kind: str) -> Measured:
    """Return it of a case's reads or writes, without the ramp."""
    found = [
        measured_of(result, kind)
        for spot, result in runs.items()
        if (spot.reading, spot.setting, spot.case) == (reading, setting, case)
    ]
    iops, mean_us = (fmean(one[at] for one in found) for at in (0, 1))
    maxima = [one[2] for one in found]
    return Measured(iops, mean_us, median(maxima), min(maxima), max(maxima), iops * mean_us / 1e6)


def measured_of(result: Result, kind: str) -> tuple[float, float, float]:
    """Return of a run rate, mean and longest of the host's jobs that have requests of the kind."""
    count, total_us, us_max, active_ns = 0, 0.0, 0.0, 0
    for name, job in result.summary["flows"].items():
        group = job["requests"][kind]
        if not group["count"] or name.startswith(FIRMWARE):
            continue
        latency = group["latency_ns"]
        count += group["count"]
        total_us += group["count"] * latency["mean"] / 1e3
        us_max = max(us_max, latency["max"] / 1e3)
        active_ns = max(active_ns, job["active_ns"])
    return 1e9 * count / active_ns, total_us / count, us_max


def amplification(result: Result) -> float:
    """Pages programmed over pages programmed for the host."""
    return float(result.summary["flash"]["gc_waf"])


def change_percent(before: float, after: float) -> float:
    """Return what is added, in percent of what was."""
    return 100 * (after - before) / before
