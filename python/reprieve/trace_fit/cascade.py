"""Dispersion of counts where trains start in a cascade, in closed form."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MANY = 64
"""Number of starts in an interval above which the rounding of a share is negligible."""
_IMPROBABLE = 1e-15


@dataclass(frozen=True)
class Trains:
    """Length and gaps of trains, as in the keys `train_...`."""

    requests: float
    gap_ns: float
    simultaneous_fraction: float

    def neighbours(self, window_ns: Floats) -> Floats:
        """Return how many others of its train a request has with it in a window, on average.

        After a request come some at the same time, then with a constant chance a gap, and so on.
        The gaps being exponential, those that come later do so at a rate that decays with the time
        since, at both of its sides.
        """
        goes_on = 1 - 1 / self.requests
        at_once = goes_on * self.simultaneous_fraction
        together = at_once / (1 - at_once)
        later = (goes_on - at_once) / (1 - at_once)
        if later == 0 or self.gap_ns == 0:
            return np.full_like(window_ns, 2 * (self.requests - 1))
        gaps = window_ns * (1 - later) / self.gap_ns
        within = 1 - -np.expm1(-gaps) / gaps
        return 2 * (together + (1 + together) * later / (1 - later) * within)


@dataclass(frozen=True)
class Counts:
    """Moments of the requests counted in windows."""

    dispersion: Floats
    """Variance over mean, on each scale."""
    second: Floats
    """Logarithm of the mean square over the square of the mean, in intervals of each halving."""
    third: Floats
    """Logarithm of the mean cube over the cube of the mean, there; trains lie in one interval."""


class Cascade:
    """Halvings of a span, and windows of some mean gaps each in which requests are counted.

    `bias` is what the key `train_bias` is as a list: the share of the starts that the busier half
    of an interval has, for each halving from the span on, the last one for all that follow.
    """

    def __init__(
        self, requests: int, span_ns: float, tick_ns: float, scales: Sequence[float]
    ) -> None:
        self._requests = requests
        self._scales = np.array(scales, dtype=np.float64)
        # A scenario has span and tick with six digits, and may have one halving less for it.
        to_the_tick = max(math.ceil(math.log2(span_ns / tick_ns) - 1e-4), 0)
        # Within a 32nd of a mean gap it does not matter for windows where a start is.
        self.halvings = min(to_the_tick, math.ceil(math.log2(requests)) + 5)
        self._window_ns = self._scales * span_ns / requests
        self._windows = np.floor(requests / self._scales * (1 + 1e-12))
        length = self._scales / requests
        self._in_a_window = np.array(
            [
                _together(one, int(count), self.halvings)
                for one, count in zip(length, self._windows, strict=True)
            ]
        )
        self._in_any = np.array(
            [_together(one, 1, self.halvings) for one in length * self._windows]
        )

    def halvings_to(self, scale: float) -> int:
        """Return the number of halvings to get below `scale` mean gaps, at least one."""
        wanted = math.floor(math.log2(self._requests / scale)) + 1
        return max(min(wanted, self.halvings), 1)

    def counts(self, trains: Trains, bias: Sequence[float] | Floats) -> Counts:
        """Return how the counts of such trains are dispersed."""
        law = self._law(self._requests / trains.requests, np.asarray(bias, dtype=np.float64))
        return Counts(self._dispersion(trains, law), *_moments(trains, law[1:]))

    def _dispersion(self, trains: Trains, law: Floats) -> Floats:
        pairs = _pairs(law)
        own = self._scales * (1 + trains.neighbours(self._window_ns))
        windows, squared = self._windows, trains.requests**2
        squares = own + squared * (self._in_a_window @ pairs) / windows
        square_of_mean = own / windows + squared * (self._in_any @ pairs) / windows**2
        found: Floats = (squares - square_of_mean) / self._scales
        return found

    def _law(self, starts: float, bias: Floats) -> Floats:
        """Return the mean of n, n² and n³ after each number of halvings, if n start in an interval.

        The law of n is followed from halving to halving, with its rounding.
        """
        number, chance = _rounded(np.array([starts]), np.array([1.0]))
        law = [_powers(number, chance)]
        for halving in range(self.halvings):
            share = bias[min(halving, len(bias) - 1)]
            number = np.concatenate([number * share, number * (1 - share)])
            chance = np.concatenate([chance, chance]) / 2
            if starts / 2 ** (halving + 1) < _MANY:
                number, chance = _rounded(number, chance)
            law.append(_powers(number, chance))
        return np.array(law)


def _powers(number: Floats, chance: Floats) -> list[float]:
    return [float(chance @ number), float(chance @ number**2), float(chance @ number**3)]


def _pairs(law: Floats) -> Floats:
    """Return how many pairs of starts part at each halving, and how many at none.

    If n start in an interval, n² is the sum over its halves of n² and of the pairs that part.
    """
    squares = law[:, 1]
    intervals = 2.0 ** np.arange(len(squares))
    parted = intervals[:-1] * (squares[:-1] - 2 * squares[1:])
    return np.append(parted, intervals[-1] * (squares[-1] - law[-1, 0]))


def _moments(trains: Trains, law: Floats) -> tuple[Floats, Floats]:
    """Return the logarithms of the second and third moment of requests, over powers of the mean.

    If n trains start, each with a geometric number b of requests, these are sums over one, two and
    three of the trains.
    """
    mean = trains.requests
    squares, cubes = 2 * mean**2 - mean, 6 * mean**3 - 6 * mean**2 + mean
    one, two, three = law[:, 0], law[:, 1] - law[:, 0], law[:, 2] - 3 * law[:, 1] + 2 * law[:, 0]
    second = one * squares + two * mean**2
    third = one * cubes + 3 * two * squares * mean + three * mean**3
    return np.log(second / (one * mean) ** 2), np.log(third / (one * mean) ** 3)


def _rounded(number: Floats, chance: Floats) -> tuple[Floats, Floats]:
    """Return the law of numbers that are rounded up or down so that their means are kept."""
    below = np.floor(number + 1e-9)
    up = np.clip(number - below, 0.0, 1.0)
    index = np.concatenate([below, below + 1]).astype(np.int64)
    weights = np.concatenate([chance * (1 - up), chance * up])
    law = np.bincount(index, weights).astype(np.float64)
    kept = np.flatnonzero(law > _IMPROBABLE)
    return kept.astype(np.float64), law[kept]


def _together(length: float, windows: int, halvings: int) -> Floats:
    """Return the chance that two starts lie in one window if they part at a halving, or at none.

    Windows of a length, as a share of the span, lie one behind the other from its begin on.
    """
    inside = np.array([_inside(length, windows, halving) for halving in range(halvings + 1)])
    intervals = 2.0 ** np.arange(halvings + 1)
    return np.append((inside[:-1] - inside[1:]) * intervals[1:], inside[-1] * intervals[-1])


def _inside(length: float, windows: int, halving: int) -> float:
    """Return the sum of the squares of what each window has of each interval of a halving."""
    count = 2.0**halving
    edges = np.arange(1, windows + 1) * length * count
    if length * count < 1:
        # Intervals are longer than windows: all pieces between two edges of either kind.
        every = np.union1d(edges, np.arange(count + 1))
        return float(np.sum(np.diff(every[every <= edges[-1]]) ** 2)) / count**2
    # Whole intervals, but for those that an edge cuts in two, and the last that it ends in.
    before = edges - np.floor(edges)
    cut = 2 * np.sum(before[:-1] * (1 - before[:-1]))
    return float(np.floor(edges[-1]) + before[-1] ** 2 - cut) / count**2
