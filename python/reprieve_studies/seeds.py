"""A measure that several seeds gave: its mean, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from statistics import fmean, stdev

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A measure over seeds."""

    mean: float
    low: float | None = None
    high: float | None = None
    """95 % interval by Student's distribution; None with fewer than two seeds."""


def estimate(values: Sequence[float]) -> Estimate:
    """Return mean and interval of a measure that each seed gave once."""
    mean = fmean(values)
    if len(values) < 2 or not isfinite(mean):  # noqa: PLR2004
        return Estimate(mean)
    # Takes a fifth of a second to import, which every command of a study would take too.
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(values) - 1, (1 + _CONFIDENCE) / 2))
    half = quantile * stdev(values) / sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return an interval for a table."""
    return "–" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"


def shown(found: Mapping[str, float | None]) -> str:
    """Return the numbers of an estimate for a table: its mean, and its interval if it has one."""
    ends = interval(found["low"], found["high"])
    return f"{found['mean']:.2f}" + ("" if found["low"] is None else f" ({ends})")


def ratio(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Return how one measure is to another in pairs of a seed: a mean of logarithms."""
    found = estimate([log(of / to) for of, to in pairs])
    ends = [None if end is None else exp(end) for end in (found.low, found.high)]
    return Estimate(exp(found.mean), *ends)
