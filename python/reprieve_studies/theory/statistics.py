"""Means and percentiles of correlated samples and their standard errors, by batch means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCHES = 40
"""Parts of a run whose means are taken to be independent."""

_WARM_UP_SHARE = 0.05
_BLOCK = 64


@dataclass(frozen=True)
class Estimate:
    """A mean or a percentile, and how well it is known."""

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


class Sample:
    """Takes samples as they come and keeps them all, for percentiles."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float32]] = []

    def add(self, values: NDArray[np.float64]) -> None:
        """Take the next samples."""
        self._parts.append(values.astype(np.float32))

    def percentiles(self, levels: Sequence[float]) -> list[Estimate]:
        """Percentiles and their standard errors, without the first twentieth."""
        values = np.concatenate(self._parts) if self._parts else np.empty(0, np.float32)
        steady = values[math.ceil(len(values) * _WARM_UP_SHARE) :]
        if len(steady) < BATCHES:
            return [Estimate(math.nan, math.nan, 0)] * len(levels)
        ordered = np.sort(steady)
        return [_percentile(steady, ordered, level) for level in levels]


class Tail:
    """Counts the samples of several runs, and keeps those above a floor, for high percentiles."""

    def __init__(self, floor: float) -> None:
        self._floor = floor
        self._runs: list[list[tuple[NDArray[np.int64], NDArray[np.float32]]]] = []
        self._counts: list[int] = []

    def begin(self) -> None:
        """Begin another run."""
        self._runs.append([])
        self._counts.append(0)

    def add(self, values: NDArray[np.float64]) -> None:
        """Take the next samples of the run."""
        places = np.flatnonzero(values > self._floor)
        kept = values[places].astype(np.float32)
        self._runs[-1].append((places + self._counts[-1], kept))
        self._counts[-1] += len(values)

    def percentiles(self, levels: Sequence[float]) -> list[Estimate]:
        """Percentiles and their standard errors, without the first twentieth of each run.

        One that is not above the floor is the floor, of which nothing more is known.
        """
        number, places, values = 0, [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for run, count in zip(self._runs, self._counts, strict=True):
            skipped = math.ceil(count * _WARM_UP_SHARE)
            for place, value in run:
                steady = place >= skipped
                places.append(place[steady] - skipped + number)
                values.append(value[steady])
            number += count - skipped
        if number < BATCHES:
            return [Estimate(math.nan, math.nan, 0)] * len(levels)
        place, value = np.concatenate(places), np.concatenate(values)
        return [self._percentile(place, value, number, level) for level in levels]

    def _percentile(
        self, places: NDArray[np.int64], values: NDArray[np.float32], number: int, level: float
    ) -> Estimate:
        """As of a `Sample`, of which only the highest are there."""
        ordered, below = np.sort(values), number - len(values)

        def at(share: float) -> float:
            rank = min(number - 1, math.ceil(share * number) - 1) - below
            return self._floor if rank < 0 else float(ordered[rank])

        found, length = at(level), number // BATCHES
        batch = places[(values > np.float32(found)) & (places < length * BATCHES)] // length
        beyond = np.bincount(batch, minlength=BATCHES) / length
        error = float(beyond.std(ddof=1)) / math.sqrt(BATCHES)
        return Estimate(found, (at(level + error) - at(level - error)) / 2, number)


def _percentile(
    steady: NDArray[np.float32], ordered: NDArray[np.float32], level: float
) -> Estimate:
    """Percentile whose error is that of the share beyond it, on the scale of the samples.

    The share beyond is a mean, so its error comes from batches; the percentiles at the level one
    error lower and one higher then say how far the percentile itself may be off.
    """
    number = len(ordered)
    found = ordered[min(number - 1, math.ceil(level * number) - 1)]
    length = number // BATCHES
    beyond = (steady[: length * BATCHES] > found).reshape(BATCHES, length).mean(axis=1)
    error = float(beyond.std(ddof=1)) / math.sqrt(BATCHES)
    low, high = (
        float(ordered[min(number - 1, max(0, math.ceil(at * number) - 1))])
        for at in (level - error, level + error)
    )
    return Estimate(float(found), (high - low) / 2, number)


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
