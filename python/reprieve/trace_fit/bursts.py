"""Trains whose counts are dispersed on each scale as those of a trace are."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reprieve.trace_fit.cascade import Cascade, Floats, Trains
from reprieve.trace_fit.order import counts_of, dispersion

SCALES = (0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000)
"""Windows of counts, in mean gaps, as far as a trace has four of them and they have two ticks."""
_FINEST = 0.15
"""Shortest intervals whose shares are fitted, in mean gaps."""
_CUTS = (0.0, 1.5, 3.0)
"""Gaps that end a train: longer than this number of ticks, and than a thirtieth of it in mean gaps;
0: every gap that takes time."""
_CUBED = 3
"""Shorter windows may cut trains in two, so that cubes of counts reveal little of their starts."""
_SMOOTH = 0.001
"""Weight of the squared step from one halving's bias to the next, beside the squared logarithms of
dispersions and cubes: of biases that fit equally well, the smoothest win."""
_BIAS_MAX = 0.98
_STEP = 1e-3
_STEPS_MAX = 40
_DAMPING = (1e-6, 1e6)
_ENOUGH = 1e-3
"""Steps end where the sum of squares no longer falls by this share of it."""


@dataclass(frozen=True)
class Bursts:
    """Trains, and how their starts cluster."""

    trains: Trains
    bias: tuple[float, ...]
    """Of each halving; the last one holds for all that follow."""
    miss: float
    """Sum of the squares of the logarithms of dispersions and cubes, load over trace."""


@dataclass(frozen=True)
class _Wanted:
    """Measurements of a trace on each scale, with the second and third moments from `_CUBED` on.

    The moments are logarithms, over powers of the mean.
    """

    scales: Sequence[float]
    dispersion: Floats
    second: Floats
    third: Floats


def bursts(time_ns: NDArray[np.int64], span_ns: float, tick_ns: float) -> list[Bursts]:
    """Return the clustering of trains for each of the cuts that separate them."""
    mean_gap_ns = span_ns / len(time_ns)
    kinds = [trains_of(time_ns, max(cut * tick_ns, cut / 30 * mean_gap_ns)) for cut in _CUTS]
    wanted = _wanted(time_ns, span_ns, 2 * tick_ns)
    if not wanted.scales:
        return [Bursts(trains, (0.5,), 0.0) for trains in kinds]
    cascade = Cascade(len(time_ns), span_ns, tick_ns, wanted.scales)
    return [_clustered(cascade, trains, wanted) for trains in kinds]


def _wanted(time_ns: NDArray[np.int64], span_ns: float, shortest_ns: float) -> _Wanted:
    scales = [scale for scale in SCALES if scale * span_ns / len(time_ns) >= shortest_ns]
    found = {scale: dispersion(time_ns, scale, span_ns) for scale in scales}
    known = {scale: value for scale, value in found.items() if value}
    moments = []
    for scale in known:
        if scale >= _CUBED:
            counts = counts_of(time_ns, scale * span_ns / len(time_ns), span_ns).astype(np.float64)
            mean = counts.mean()
            moments.append(np.log([np.mean(counts**2) / mean**2, np.mean(counts**3) / mean**3]))
    second, third = np.array(moments).reshape(-1, 2).T
    return _Wanted(list(known), np.array(list(known.values())), second, third)


def trains_of(time_ns: NDArray[np.int64], longest_ns: float) -> Trains:
    """Return the trains that end with the first gap longer than that."""
    gaps = np.diff(time_ns)
    within = gaps[gaps <= longest_ns]
    taking = within[within > 0]
    return Trains(
        requests=len(time_ns) / (len(gaps) - len(within) + 1),
        gap_ns=float(taking.mean()) if len(taking) else 0.0,
        simultaneous_fraction=1 - len(taking) / len(within) if len(within) else 0.0,
    )


def _clustered(cascade: Cascade, trains: Trains, wanted: _Wanted) -> Bursts:
    """Return the trains with the biases whose counts come nearest to the wanted ones.

    Few halvings with a large bias and many with a small one disperse counts alike, but the cubes of
    counts differ: they are compared where the squares are the same.
    """

    def miss(excess: Floats) -> Floats:
        counts = cascade.counts(trains, 0.5 + excess / 2)
        third = np.interp(wanted.second, counts.second, counts.third)
        found = np.log(np.maximum(counts.dispersion, 1e-3) / wanted.dispersion)
        return np.append(found, third - wanted.third)

    def residuals(excess: Floats) -> Floats:
        return np.append(miss(excess), math.sqrt(_SMOOTH) * np.diff(excess))

    halvings = np.arange(cascade.halvings_to(_FINEST))
    starts = [np.full(len(halvings), 0.3)]
    starts += [np.where(halvings % 2 == which, 0.6, 0.05) for which in (0, 1)]
    ends = [_least_squares(residuals, start, 2 * _BIAS_MAX - 1) for start in starts]
    excess = min(ends, key=lambda end: float(np.sum(residuals(end) ** 2)))
    bias = tuple(round(0.5 + float(one) / 2, 3) for one in excess)
    return Bursts(trains, bias, float(np.sum(miss(2 * np.array(bias) - 1) ** 2)))


def _least_squares(residuals: Callable[[Floats], Floats], start: Floats, highest: float) -> Floats:
    """Return the numbers from 0 to the highest with the least sum of squares near a start.

    Steps of Levenberg and Marquardt; a number at an end that a step would leave stays there.
    """
    at, damping = start, 1e-2
    now = residuals(at)
    for _ in range(_STEPS_MAX):
        steps = _STEP * np.eye(len(at))
        slopes = np.array([residuals(at + step) - now for step in steps]) / _STEP
        gradient, curvature = slopes @ now, slopes @ slopes.T
        free = np.flatnonzero(((at > 0) | (gradient < 0)) & ((at < highest) | (gradient > 0)))
        before = float(now @ now)
        while damping < _DAMPING[1]:
            part = curvature[np.ix_(free, free)] + damping * np.eye(len(free))
            step = np.zeros_like(at)
            step[free] = np.linalg.solve(part, -gradient[free])
            tried = np.clip(at + step, 0.0, highest)
            then = residuals(tried)
            if then @ then < before:
                break
            damping *= 4
        else:
            break
        at, now, damping = tried, then, max(damping / 4, _DAMPING[0])
        if before - now @ now < _ENOUGH * (before + _ENOUGH):
            break
    return at
