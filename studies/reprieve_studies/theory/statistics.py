"""Means of correlated samples and their standard errors, by batch means."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCHES = 40
"""Parts of a run whose means are taken to be independent."""

_WARM_UP_SHARE = 0.05
_BLOCK = 64


@dataclass(frozen=True)
class Estimate:
    """A mean, and how well it is known."""

    mean: float
    error: float | None
    """Standard error; None of a number that does not depend on chance."""
    samples: int


class Series:
    """Takes samples as they come and keeps only the means of short blocks of them."""

    def __init__(self) -> None:
        self._blocks: list[NDArray[np.float64]] = []
        self._rest: NDArray[np.float64] = np.empty(0)

    def add(self, values: NDArray[np.float64]) -> None:
        """Take the next samples."""
        values = np.concatenate([self._rest, values])
        whole = len(values) - len(values) % _BLOCK
        if whole:
            self._blocks.append(values[:whole].reshape(-1, _BLOCK).mean(axis=1))
        self._rest = values[whole:]

    def estimate(self) -> Estimate:
        """Mean and standard error, without the first twentieth; the last few samples are left."""
        blocks = np.concatenate(self._blocks) if self._blocks else np.empty(0)
        return batch_means(blocks, samples=_BLOCK)


def batch_means(values: NDArray[np.float64], samples: int = 1) -> Estimate:
    """Mean and standard error from batches, after a warm-up; each value stands for `samples`."""
    steady = values[math.ceil(len(values) * _WARM_UP_SHARE) :]
    length = len(steady) // BATCHES
    if length == 0:
        return Estimate(math.nan, math.nan, 0)
    means = steady[: length * BATCHES].reshape(BATCHES, length).mean(axis=1)
    error = float(means.std(ddof=1)) / math.sqrt(BATCHES)
    return Estimate(float(means.mean()), error, length * BATCHES * samples)


def ratio(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> Estimate:
    """Sum of `parts` over sum of `wholes`, one of each for a piece of the run, after a warm-up.

    Its variance is that of part − ratio · whole over batches, as of any estimator of a ratio.
    """
    skip = math.ceil(len(parts) * _WARM_UP_SHARE)
    length = (len(parts) - skip) // BATCHES
    if length == 0:
        return Estimate(math.nan, math.nan, 0)
    end = skip + length * BATCHES
    part, whole = (side[skip:end].reshape(BATCHES, length).sum(axis=1) for side in (parts, wholes))
    mean = float(part.sum() / whole.sum())
    deviation = float((part - mean * whole).std(ddof=1))
    return Estimate(mean, math.sqrt(BATCHES) * deviation / float(whole.sum()), int(whole.sum()))
