"""What the paper lacks: each part of MBM switched off, and every FTL with every suspension."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean

import numpy as np

from reprieve_studies.mbm.experiment import ABLATED, GRID, Outcome, Spot
from reprieve_studies.mbm.measured import Measured
from reprieve_studies.mbm.measures import geometric
from reprieve_studies.mbm.readings import (
    FIFO,
    GRID_FTLS,
    IPC,
    MBM,
    NO_SUSPENSION,
    SUSPENSION,
)

MEASURES: dict[str, Callable[[Measured], float | None]] = {
    "mean": lambda run: run.mean_us(),
    "read mean": lambda run: run.mean_us("read"),
    "read p99": lambda run: run.percentile_us("read", 99.0),
    "write mean": lambda run: run.mean_us("write"),
    "write p99": lambda run: run.percentile_us("write", 99.0),
}
"""In µs, by what a column is called; None where it would rest on too few requests."""

FIRST = f"{FIFO}, {NO_SUSPENSION}"
"""What a firmware team starts from."""
_WHOLE = f"{MBM}, {IPC}"
_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Quantile 0.975 of Student's distribution for a mean of so many samples."""
_ALIKE = 0.02
"""Of a mean: two drafts of the drive's first state differ by as much."""


def ratio(outcome: Outcome, of: Spot, base: Spot, measure: str) -> float:
    """Return the geometric mean, over all loads, of a measure over that of another run.

    Loads of which either rests on too few requests are left out.
    """
    take = MEASURES[measure]
    pairs = [
        (take(outcome.runs[of._replace(load=load)]), take(outcome.runs[base._replace(load=load)]))
        for load in outcome.loads
    ]
    found = [one / other for one, other in pairs if one is not None and other is not None]
    return geometric(found) if found else float("nan")


@dataclass(frozen=True)
class Estimate:
    """A multiple, from several drafts of loads and drives."""

    mean: float
    """Geometric."""
    factor: float | None
    """The interval of 95 % reaches from the mean over this to the mean times this; None where one
    draft says nothing of it."""

    def __str__(self) -> str:
        """Return the mean, and half the interval."""
        if self.factor is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ± {self.mean * (self.factor - 1):.3f}"


def estimate(drafts: list[float]) -> Estimate:
    """Return mean and interval of multiples, whose logarithms are taken as normal."""
    logs = [log(one) for one in drafts]
    if not logs[1:]:
        return Estimate(exp(fmean(logs)), None)
    half = _STUDENT[len(logs)] * float(np.std(logs, ddof=1)) / sqrt(len(logs))
    return Estimate(exp(fmean(logs)), exp(half))


def _of_drafts(outcome: Outcome, of: Spot, base: Spot, measure: str) -> Estimate:
    each = range(outcome.plan.drafts)
    return estimate(
        [ratio(outcome, of._replace(draft=n), base._replace(draft=n), measure) for n in each]
    )


def part_estimate(outcome: Outcome, part: str, measure: str) -> Estimate:
    """Return what MBM without a part has, over what it has with all of them."""
    load = outcome.loads[0]
    return _of_drafts(outcome, Spot(ABLATED, load, part), Spot(GRID, load, _WHOLE), measure)


def part_ratio(outcome: Outcome, part: str, measure: str) -> float:
    """Return the mean of that."""
    return part_estimate(outcome, part, measure).mean


def grid_estimate(
    outcome: Outcome, row: str, way: str, measure: str, base: str = FIRST
) -> Estimate:
    """Return what a row of the grid has with a way of suspending, over FIFO without any."""
    load = outcome.loads[0]
    of = Spot(GRID, load, f"{row}, {way}")
    return _of_drafts(outcome, of, Spot(GRID, load, base), measure)


def grid_ratio(outcome: Outcome, row: str, way: str, measure: str, base: str = FIRST) -> float:
    """Return the mean of that."""
    return grid_estimate(outcome, row, way, measure, base).mean


@dataclass(frozen=True)
class Step:
    """One thing built."""

    what: str
    leads_to: str
    ratio: float
    """Of the mean latency to what was there before."""


def neighbours(spot: str) -> dict[str, str]:
    """Return what one thing more makes of a scheme, by what is built."""
    row, _, way = spot.partition(", ")
    rows = list(GRID_FTLS)
    found: dict[str, str] = {}
    if way == NO_SUSPENSION:
        found |= {f"suspension ({name})": f"{row}, {name}" for name in SUSPENSION
                  if name != NO_SUSPENSION}  # fmt: skip
    if row == rows[0]:
        found["read priority"] = f"{rows[1]}, {way}"
    elif row == rows[1]:
        found |= {f"{name}": f"{name}, {way}" for name in rows[2:]}
    return found


def pairs(spot: str) -> dict[str, str]:
    """Return what two things more make of a scheme."""
    return {
        f"{first} and {second}": end
        for first, middle in neighbours(spot).items()
        for second, end in neighbours(middle).items()
    }


def steps(outcome: Outcome, measure: str = "mean") -> list[Step]:
    """Return what to build, one after the other, each the one that shortens latency most.

    Where none does by two per cent it is two at once; it ends where they do not either.
    """
    at, found = FIRST, []
    while step := _best(outcome, measure, at, neighbours) or _best(outcome, measure, at, pairs):
        at = step.leads_to
        found.append(step)
    return found


def _best(
    outcome: Outcome, measure: str, at: str, ways: Callable[[str], dict[str, str]]
) -> Step | None:
    ratios = {
        what: grid_ratio(outcome, *_parts(spot), measure, at) for what, spot in ways(at).items()
    }
    what = min(ratios, key=lambda name: ratios[name], default=None)
    if what is None or ratios[what] > 1 - _ALIKE:
        return None
    return Step(what, ways(at)[what], ratios[what])


def _parts(spot: str) -> tuple[str, str]:
    row, _, way = spot.partition(", ")
    return row, way


def sentence(outcome: Outcome, measure: str = "mean") -> str:
    """Say in what order to build things, by their effect on a latency."""
    found = steps(outcome, measure)
    name = {"mean": "the mean of all requests", "read p99": "the p99 of reads"}[measure]
    if not found:
        return f"By {name}: neither one nor two of these shorten it by two per cent."
    words = [f"{one.what} (× {one.ratio:.2f})" for one in found]
    first, rest = words[0], words[1:]
    then = f"; then {', then '.join(rest)}" if rest else ""
    return f"By {name}, build {first} first{then}; nothing after that gains two per cent."
