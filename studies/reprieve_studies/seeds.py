"""A measure that several seeds gave: its mean, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import fmean, stdev

from scipy.stats import t as student

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
    quantile = float(student.ppf((1 + _CONFIDENCE) / 2, len(values) - 1))
    half = quantile * stdev(values) / sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)
