"""Distance of a simulated drive from a measured one: weighted logarithms of percentiles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.replay import Prediction, Simulated

FIO_BIN = 1 / 64 / math.sqrt(12)
"""Relative standard deviation that fio's histogram adds: 64 bins to a power of two."""
PERCENT_MAX = 99.9
"""Percentiles above it are predicted and never fitted: few samples, and rare events of firmware."""
_BEND = 3.0
_MEDIAN = 50.0


@dataclass(frozen=True)
class Weights:
    """Weights of differences."""

    tolerance: float = 0.03
    """A relative difference that is no matter; added to the sampling errors in quadrature."""


@dataclass(frozen=True)
class Term:
    """One of the numbers that are compared."""

    condition: str
    job: int
    direction: str
    what: str
    """`p50`, `p99.9` or `iops`."""
    measured: float
    simulated: float
    sigma: float
    """Standard deviation of the logarithm of their ratio that is to be expected."""

    @property
    def difference(self) -> float:
        """Relative difference of the simulated from the measured value."""
        return self.simulated / self.measured - 1


def terms(condition: Condition, prediction: Prediction, weights: Weights) -> list[Term]:
    """Compare a condition with its simulation, number by number."""
    found = []
    for number, direction, measured in condition.figures():
        simulated = prediction[number, direction]
        where = (condition.name, number, direction)
        jobs = condition.jobs[number : number + 1] or condition.jobs
        outstanding = _outstanding(jobs, measured)
        for percent, value_ns in measured.percentile_ns.items():
            if percent in simulated.percentile_ns:
                sigma = _sigma(measured, simulated, percent, outstanding, weights)
                theirs = simulated.percentile_ns[percent]
                found.append(Term(*where, f"p{percent:g}", value_ns, theirs, sigma))
        if measured.has_rate:
            ours = max(simulated.iops, 1e-3)
            found.append(Term(*where, "iops", measured.iops, ours, weights.tolerance))
    return found


def _outstanding(jobs: Sequence[Job], measured: Measured) -> float:
    """Return the requests of some jobs at any time: their depth, or less where they are paced."""
    depth = sum(job.asked.depth for job in jobs)
    if not all(job.asked.is_paced for job in jobs):
        return depth
    latency_ns = measured.mean_ns or measured.percentile_ns.get(_MEDIAN, math.inf)
    return min(max(latency_ns * 1e-9 * measured.iops, 1.0), depth)


def residuals(compared: Sequence[Term]) -> NDArray[np.float64]:
    """Return what least squares adds up: each percentile and rate, in standard deviations.

    The percentiles of one job go together, so that all of them count as much as its rate. What is
    far off counts less than its square, so that one mechanism that the model lacks does not decide.
    """
    percentiles: dict[tuple[str, int, str], int] = {}
    fitted = [term for term in compared if is_fitted(term)]
    for term in fitted:
        if term.what != "iops":
            where = (term.condition, term.job, term.direction)
            percentiles[where] = percentiles.get(where, 0) + 1
    values = []
    for term in fitted:
        share = percentiles.get((term.condition, term.job, term.direction), 1)
        weight = 1.0 if term.what == "iops" else 1 / math.sqrt(share / 2)
        standard = math.log(term.simulated / term.measured) / term.sigma
        values.append(weight * _BEND * math.asinh(standard / _BEND))
    return np.array(values)


def is_fitted(term: Term) -> bool:
    """Return whether a number takes part in the fit."""
    return term.what == "iops" or float(term.what[1:]) <= PERCENT_MAX


def _sigma(
    measured: Measured, simulated: Simulated, percent: float, outstanding: float, weights: Weights
) -> float:
    """Return the standard deviation; `outstanding`: requests of the job at any time.

    Those wait in the same queues, so that a run has only as many independent observations as it
    has filled its queue: 40,000 reads at a depth of 64 estimate p99 like some hundreds.
    """
    slope = _slope(measured.percentile_ns, percent)
    share = percent / 100
    spread = math.sqrt(share * (1 - share)) * slope
    sampling = spread**2 * outstanding * (1 / measured.count + 1 / max(simulated.count, 1))
    return math.sqrt(weights.tolerance**2 + FIO_BIN**2 + sampling)


def _slope(percentile_ns: dict[float, float], percent: float) -> float:
    """Return how the logarithm of a quantile changes with its share, from those beside it."""
    percents = sorted(percentile_ns)
    place = percents.index(percent)
    low, high = percents[max(place - 1, 0)], percents[min(place + 1, len(percents) - 1)]
    if low == high:
        return 0.0
    rise = math.log(max(percentile_ns[high], 1) / max(percentile_ns[low], 1))
    return rise / ((high - low) / 100)
