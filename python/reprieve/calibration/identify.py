"""Precision of the parameters: intervals, correlations, and the measurements to add next."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.least_squares import Fit, derivatives, number
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import FIO_BIN, is_fitted, residuals
from reprieve.calibration.parameters import Parameter
from reprieve.calibration.replay import Effort

SEEDS = 8
"""Runs of the fitted drive under other seeds, whose scatter is the noise."""
SLOPE_SEEDS = 2
"""Seeds under which derivatives are taken, to separate their noise from the signal."""
_SIGNIFICANT = 3.0
"""Standard deviations of that noise which a direction has to exceed."""
_COVERAGE = 2.1
"""Standard deviations of a 95 % interval, with as many seeds for every condition."""
_LOOSE = 0.6
"""Share of the searched range above which an interval is uninformative."""
_TIED = 0.9
_WORTH_WHILE = 0.8


@dataclass(frozen=True)
class Interval:
    """A fitted value and its 95 % interval."""

    key: str
    value: float
    low: float
    high: float
    is_determined: bool
    """Whether the measurements narrow the range that was searched."""


@dataclass(frozen=True)
class Pair:
    """Two parameters of which one can give way to the other."""

    first: str
    second: str
    correlation: float


@dataclass(frozen=True)
class Knowledge:
    """Precision of the parameters under the measurements."""

    intervals: tuple[Interval, ...]
    pairs: tuple[Pair, ...]
    inflation: float
    """Sum of squared residuals over what noise alone would leave; intervals are wider by its root.

    1 for a drive that the model can be; far above it, the model lacks something of the drive.
    """
    information: NDArray[np.float64]
    noise: NDArray[np.float64]
    """Covariance of the gradient, by which another measurement is judged."""


@dataclass(frozen=True)
class Advice:
    """A measurement that would narrow the interval of a parameter."""

    condition: str
    key: str
    narrower: float
    """Share of the interval that would be left."""


def knowledge(
    evaluator: Evaluator,
    conditions: Sequence[Condition],
    fit: Fit,
    free: Sequence[Parameter],
    effort: Effort,
) -> Knowledge:
    """Return intervals and trade-offs at a fitted point.

    To first order an estimate differs from the truth by the inverse of the information times the
    gradient of the noise. The noise of a run comes from runs under other seeds; that of a
    measurement is as much smaller as it has more requests, and fio's histogram adds its width.
    The range that was searched counts as a measurement of its own.
    """
    by_seed, noise, expected = _at(evaluator, conditions, fit, free, effort)
    slopes = np.mean(by_seed, axis=0)
    here = evaluator.residuals([fit.values], conditions, effort)[0]
    assert here is not None, "the fitted drive can be built"
    low, high = np.array([each.positions() for each in free]).T
    prior = np.diag(4 / (high - low) ** 2)
    information, onto = informed(by_seed)
    information, noise = information + prior, onto @ noise @ onto
    inverse = np.linalg.pinv(information, rcond=1e-9, hermitian=True)
    inflation = max(1.0, float(here @ here) / max(expected, 1e-9))
    noise = inflation * noise + prior
    covariance = inverse @ noise @ inverse
    # The way that least squares would still go is an error, too.
    rest = inverse @ onto @ slopes.T @ here
    deviation = np.sqrt(np.diag(covariance) + rest**2)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    correlation = covariance / np.where(scale > 0, scale, 1)
    intervals = tuple(
        interval_of(parameter, number(fit.values[parameter.key]), float(deviation[place]))
        for place, parameter in enumerate(free)
    )
    pairs = tuple(
        Pair(free[first].key, free[second].key, float(correlation[first, second]))
        for first in range(len(free))
        for second in range(first + 1, len(free))
        if abs(correlation[first, second]) >= _TIED
    )
    return Knowledge(intervals, pairs, inflation, information, noise)


def advise(
    evaluator: Evaluator,
    candidates: Sequence[Condition],
    fit: Fit,
    free: Sequence[Parameter],
    known: Knowledge,
    effort: Effort,
    step: Step,
) -> list[Advice]:
    """Say which of the candidates would narrow the intervals that are widest, and by how much."""

    def deviations(
        information: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        inverse = np.linalg.pinv(information, rcond=1e-9, hermitian=True)
        found: NDArray[np.float64] = np.sqrt(np.diag(inverse @ noise @ inverse))
        return found

    before = deviations(known.information, known.noise)
    best: dict[str, Advice] = {}
    for done, candidate in enumerate(candidates):
        step("what to measure next", done, len(candidates))
        by_seed, noise, _ = _at(evaluator, [candidate], fit, free, effort)
        information, onto = informed(by_seed)
        noise = known.inflation * onto @ noise @ onto
        after = deviations(known.information + information, known.noise + noise)
        for place in np.argsort(before)[::-1][:4]:
            key = free[place].key
            left = float(after[place] / before[place]) if before[place] > 0 else 1.0
            if left < min(_WORTH_WHILE, best[key].narrower if key in best else 1.0):
                best[key] = Advice(candidate.name, key, left)
    return sorted(best.values(), key=lambda each: each.narrower)


def informed(
    by_seed: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the information that slopes have, and the projection onto what they inform of.

    The slopes were taken under several seeds, and their noise is left out.

    Percentiles jump a little with every parameter, so that each slope is partly noise. Squared it
    would count as information, more of it the more numbers are compared, and most for the
    parameters that the measurements determine least. Products of slopes under different seeds have
    none of it on average; a direction that does not stand out of what is left is not informed of.
    """
    count, rows = len(by_seed), len(by_seed[0])
    total = np.sum(by_seed, axis=0)
    own = np.sum([each.T @ each for each in by_seed], axis=0)
    crossed = (total.T @ total - own) / (count * (count - 1))
    values, directions = np.linalg.eigh(crossed)
    squared = np.sum(directions * ((own / count - crossed) @ directions), axis=0)
    least = _SIGNIFICANT * np.abs(squared) / math.sqrt(rows * count * (count - 1) / 2)
    stands_out = values > least
    information = (directions * np.where(stands_out, values, 0.0)) @ directions.T
    return information, (directions * stands_out) @ directions.T


def _at(
    evaluator: Evaluator,
    conditions: Sequence[Condition],
    fit: Fit,
    free: Sequence[Parameter],
    effort: Effort,
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64], float]:
    """Return slopes by seed, covariance of the gradient, and the squares that noise leaves."""
    position = np.log([number(fit.values[each.key]) for each in free])
    slopes_by_seed = [
        derivatives(evaluator, free, fit.values, position, conditions, each)
        for each in (replace(effort, seed=effort.seed + 50 * n) for n in range(SLOPE_SEEDS))
    ]
    slopes = np.mean(slopes_by_seed, axis=0)
    by_seed = [
        evaluator.compare([fit.values], conditions, replace(effort, seed=effort.seed + each))[0]
        for each in range(1, SEEDS + 1)
    ]
    compared = [each for each in by_seed if each is not None]
    assert compared, "the fitted drive can be built under any seed"
    scatter = np.stack([residuals(each) for each in compared])
    scatter = scatter - scatter.mean(axis=0)
    fitted = [term for term in compared[0] if is_fitted(term)]
    noise = np.zeros((len(free), len(free)))
    expected = 0.0
    for condition in conditions:
        rows = [place for place, term in enumerate(fitted) if term.condition == condition.name]
        # Noise of the simulation, and that of a measurement by its number of requests.
        more = 1 + effort.requests / max(each.count for _, _, each in condition.figures())
        gradients = scatter[:, rows] @ slopes[rows]
        noise += more * gradients.T @ gradients / (len(compared) - 1)
        expected += more * float((scatter[:, rows] ** 2).sum()) / (len(compared) - 1)
    for place, term in enumerate(fitted):
        if term.what != "iops":
            weight = FIO_BIN / term.sigma / math.sqrt(len(fitted) / 2 / max(len(conditions), 1))
            noise += weight**2 * np.outer(slopes[place], slopes[place])
            expected += weight**2
    return slopes_by_seed, noise, expected


def interval_of(parameter: Parameter, value: float, deviation: float) -> Interval:
    """Return the interval of a value; `deviation`: the standard one of its logarithm."""
    low, high = parameter.positions()
    width = _COVERAGE * deviation
    position = math.log(value)
    bottom, top = max(low, position - width), min(high, position + width)
    is_determined = (top - bottom) < _LOOSE * (high - low)
    return Interval(parameter.key, value, math.exp(bottom), math.exp(top), is_determined)
