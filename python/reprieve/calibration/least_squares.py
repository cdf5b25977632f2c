"""Least squares over the parameters that are numbers, all derivatives of a point side by side."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.measured import Condition
from reprieve.calibration.parameters import Parameter, Value
from reprieve.calibration.replay import Effort

_CONVERGED = 2e-3
"""Least squares end when a step changes the sum, or the way from the start, by less than this
share."""
INSIDE = 1e-6
"""Distance that logarithms keep from the ends of their range."""


class Differences(NamedTuple):
    """Steps of numerical derivatives."""

    least: float
    """Relative to a value: several times what the noise of a run hides."""
    of_range: float
    """And to its range: over two orders of magnitude a small step has too little effect."""
    to_both_sides: bool
    """Evens out what jumps: a percentile between two peaks does."""


ROUGH = Differences(0.04, 0.03, to_both_sides=False)
NARROW = Differences(0.04, 0.03, to_both_sides=True)
WIDE = Differences(0.1, 0.05, to_both_sides=True)
"""Near the end most of what a small difference shows is noise."""


@dataclass(frozen=True)
class Fit:
    """A point of the search, and how far it is from the measurements."""

    values: dict[str, Value]
    cost: float
    """Half the sum of squared residuals, as `residuals` has them."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the residuals at a point."""

    at: NDArray[np.float64]
    residuals: NDArray[np.float64]
    by: NDArray[np.float64]

    def moved(self, to: NDArray[np.float64], residuals: NDArray[np.float64]) -> "Slopes":
        """Return those at another point, as Broyden has them; nothing is simulated.

        They are changed least so that they account for the step.
        """
        way = to - self.at
        length = float(way @ way)
        missing = residuals - self.residuals - self.by @ way
        by = self.by + np.outer(missing, way) / length if length > 0 else self.by
        return Slopes(to, residuals, by)


def polish(
    evaluator: Evaluator,
    free: Sequence[Parameter],
    start: dict[str, Value],
    conditions: Sequence[Condition],
    iterations: int,
    effort: Effort,
    told: Callable[[int], None],
    anew_every: int = 1,
    differences: Differences = ROUGH,
) -> Fit:
    """Go on from a point; calls `told` at each step. Raises UserError if it is no drive.

    Derivatives are taken by differences once in `anew_every` steps; between them they follow from
    what the last step changed, which simulates nothing.
    """
    from scipy.optimize import least_squares

    if not free:
        return at(evaluator, [start], conditions, effort)[0]
    low, high = np.array([each.positions() for each in free]).T
    # From the start, so that the length of a step is not judged by the size of the logarithms: a
    # link of 2e9 bytes a second, whose logarithm is 21, would end a search whose step is 5 %.
    origin = np.clip(
        np.log([number(start[each.key]) for each in free]), low + INSIDE, high - INSIDE
    )
    done = tried = 0
    slopes: Slopes | None = None
    latest = np.empty(0)

    def residuals(step: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal latest, tried
        point = start | values_at(free, origin + step)
        found = evaluator.residuals([point], conditions, effort)[0]
        latest = np.full(1, 1e6) if found is None else found
        tried += 1
        return latest

    def jacobian(step: NDArray[np.float64]) -> NDArray[np.float64]:
        # It is asked for where the latest residuals are, and once more after the last step.
        nonlocal done, slopes
        told(done)
        is_due = done % anew_every == 0 and tried <= iterations
        if slopes is None or is_due or len(latest) != len(slopes.residuals):
            place = origin + step
            by = derivatives(evaluator, free, start, place, conditions, effort, differences)
            slopes = Slopes(step, latest, by)
        else:
            slopes = slopes.moved(step, latest)
        done += 1
        return slopes.by

    found = least_squares(
        residuals,
        np.zeros(len(free)),
        jac=jacobian,
        bounds=(low - origin, high - origin),
        max_nfev=iterations + 1,
        ftol=_CONVERGED,
        xtol=_CONVERGED,
    )
    return Fit(start | values_at(free, origin + found.x), float(found.cost))


def at(
    evaluator: Evaluator,
    points: Sequence[dict[str, Value]],
    conditions: Sequence[Condition],
    effort: Effort,
) -> list[Fit]:
    """Judge points as they are; those at which there is no drive are left out."""
    found = evaluator.residuals(points, conditions, effort)
    return [
        Fit(point, float(each @ each) / 2)
        for point, each in zip(points, found, strict=True)
        if each is not None
    ]


def derivatives(
    evaluator: Evaluator,
    free: Sequence[Parameter],
    values: dict[str, Value],
    position: NDArray[np.float64],
    conditions: Sequence[Condition],
    effort: Effort,
    differences: Differences = NARROW,
) -> NDArray[np.float64]:
    """Return how each residual changes with the logarithm of each parameter, by differences."""
    sides = (1, -1) if differences.to_both_sides else (1,)
    widths = [
        _width(parameter, each, differences) for parameter, each in zip(free, position, strict=True)
    ]
    points = [values | values_at(free, position)]
    for place, width in enumerate(widths):
        for side in sides:
            moved = position.copy()
            moved[place] += side * width
            points.append(values | values_at(free, moved))
    here, *found = evaluator.residuals(points, conditions, effort)
    columns = []
    for place, width in enumerate(widths):
        # Where there is no drive at one side, the difference is from the middle.
        known = [
            (side, each)
            for side, each in [*zip(sides, found[len(sides) * place :], strict=False), (0, here)]
            if each is not None
        ]
        if len(known) == 1:
            why = evaluator.why_refused()
            raise UserError(f"{free[place].key}: no drive can be simulated near the best: {why}")
        (first, one), (second, other) = known[:2]
        columns.append((one - other) / ((first - second) * width))
    return np.stack(columns, axis=1)


def _width(parameter: Parameter, position: float, differences: Differences) -> float:
    """Return the step of a difference; a whole number has to change by one at least."""
    low, high = parameter.positions()
    width = max(differences.least, differences.of_range * (high - low))
    return max(width, 1.01 / math.exp(position)) if parameter.whole else width


def values_at(
    free: Sequence[Parameter], position: Sequence[float] | NDArray[np.float64]
) -> dict[str, Value]:
    """Return the values at a position on the scale on which they are searched."""
    pairs = zip(free, position, strict=True)
    return {parameter.key: parameter.at(float(each)) for parameter, each in pairs}


def number(value: Value) -> float:
    """Return a value that is searched as a number."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is searched as a number")
    return float(value)
