"""The last steps of a search: least squares where simulated percentiles jump from point to point.

Near the end most of what a small difference shows is noise, and a point that happened to be lucky
looks better than all around it. So differences are wide, several steps are tried side by side, and
the best of them is where the next begins, even if the last was better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reprieve._native import UserError
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.least_squares import (
    INSIDE,
    Differences,
    Fit,
    Slopes,
    at,
    derivatives,
    number,
    slopes_at,
    values_at,
)
from reprieve.calibration.measured import Condition
from reprieve.calibration.parameters import Parameter, Value
from reprieve.calibration.replay import Effort

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDE = Differences(0.1, 0.05)
_CONVERGED = 2e-3
"""The steps end when one changes every value by less than this share."""
_DAMPINGS = (0.0, 0.1, 1.0, 10.0)
"""Of the steps that are tried side by side: each is one point, and derivatives take many."""


class _Tried(NamedTuple):
    """A point, and how far off it is."""

    cost: float
    position: NDArray[np.float64]
    residuals: NDArray[np.float64]


def settle(
    evaluator: Evaluator,
    free: Sequence[Parameter],
    start: dict[str, Value],
    conditions: Sequence[Condition],
    iterations: int,
    effort: Effort,
    told: Callable[[int], None],
    anew_every: int = 1,
) -> Fit:
    """Go on from a point by steps of Levenberg and Marquardt; return the best of all tried.

    Calls `told` at each step; raises UserError if the start is no drive. Derivatives are taken by
    differences once in `anew_every` steps.
    """
    import numpy as np

    if not free:
        return at(evaluator, [start], conditions, effort)[0]
    low, high = np.array([each.positions() for each in free]).T

    def tried(positions: Sequence[NDArray[np.float64]]) -> list[_Tried]:
        inside = [np.clip(each, low + INSIDE, high - INSIDE) for each in positions]
        points = [start | values_at(free, each) for each in inside]
        found = evaluator.residuals(points, conditions, effort)
        return [
            _Tried(float(each @ each) / 2, position, each)
            for position, each in zip(inside, found, strict=True)
            if each is not None
        ]

    begin = tried([np.array([math.log(number(start[each.key])) for each in free])])
    if not begin:
        why = evaluator.why_refused()
        raise UserError(f"the drive of the last steps of the search cannot be simulated: {why}")
    here = best = begin[0]
    slopes: Slopes | None = None
    for done in range(iterations):
        told(done)
        place, is_due = here.position, done % anew_every == 0
        by = partial(derivatives, evaluator, free, start, place, conditions, effort, True, WIDE)
        slopes = slopes_at(place, here.residuals, slopes, is_due, by)
        before = here
        steps = [before.position + step for step in _steps(slopes, high - low)]
        here = min(tried(steps), key=_cost, default=before)
        best = min(best, here, key=_cost)
        if np.abs(here.position - before.position).max() < _CONVERGED:
            break
    return Fit(start | values_at(free, best.position), best.cost)


def _steps(slopes: Slopes, ranges: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return steps to where the residuals are least by these slopes, the longest first.

    Damped ones change parameters of small slope little, relative to their range.
    """
    import numpy as np

    information = slopes.by.T @ slopes.by
    damping = np.diag(np.diag(information) + 4 / ranges**2)
    gradient = slopes.by.T @ slopes.residuals
    found = []
    for each in _DAMPINGS:
        step, *_ = np.linalg.lstsq(information + each * damping, gradient)
        found.append(-np.asarray(step, dtype=np.float64))
    return found


def _cost(tried: _Tried) -> float:
    return tried.cost
