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


class Tail:
    """Takes samples of runs and keeps those above a floor, by default all, for percentiles."""

    def __init__(self, floor: float = -math.inf) -> None:
        self._floor = floor
        self._runs: list[list[tuple[NDArray[np.uint32], NDArray[np.float32]]]] = []
        self._counts: list[int] = []

    def begin(self) -> None:
        """Begin another run."""
        self._runs.append([])
        self._counts.append(0)

    def add(self, values: NDArray[np.float64]) -> None:
        """Take the next samples of the run."""
        places = np.flatnonzero(values > self._floor)
        kept = values[places].astype(np.float32)
        self._runs[-1].append(((places + self._counts[-1]).astype(np.uint32), kept))
        self._counts[-1] += len(values)

    def percentiles(self, levels: Sequence[float]) -> list[Estimate]:
        """Percentiles and their standard errors, without the first twentieth of each run.

        One that is not above the floor is the floor, of which nothing more is known.
        """
        number, places, values = 0, [np.empty(0, np.uint32)], [np.empty(0, np.float32)]
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
        ordered = np.sort(value)
        return [self._percentile(place, value, ordered, number, level) for level in levels]

    def _percentile(
        self,
        places: NDArray[np.uint32],
        values: NDArray[np.float32],
        ordered: NDArray[np.float32],
        number: int,
        level: float,
    ) -> Estimate:
        """Percentile whose error is that of the share beyond it, on the scale of the samples.

        The share beyond is a mean, so its error comes from batches; the percentiles at the level
        one error lower and one higher then say how far the percentile itself may be off.
        """
        below, length = number - len(ordered), number // BATCHES

        def at(share: float) -> float:
            rank = min(number - 1, max(0, math.ceil(share * number) - 1)) - below
            return self._floor if rank < 0 else float(ordered[rank])

        found = at(level)
        batch = places[(values > np.float32(found)) & (places < length * BATCHES)] // length
        beyond = np.bincount(batch, minlength=BATCHES) / length
        error = float(beyond.std(ddof=1)) / math.sqrt(BATCHES)
        return Estimate(found, (at(level + error) - at(level - error)) / 2, number)


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
