"""Search over choices and numbers together, by differential evolution, for where to go on from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reprieve.calibration.parameters import Parameter, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Point = dict[str, Value]
Costs = Callable[[Sequence[Point]], Sequence[float | None]]
"""Judges points side by side; None for a point at which there is no drive."""
Narrowed = Callable[[Sequence[Parameter], Point], Sequence[Parameter]]
"""Gives parameters their ranges, which may depend on what was chosen."""

_NO_DRIVE = 1e9
_MUTATION = (0.4, 0.9)
_RECOMBINATION = 0.8


def evolve(
    parameters: Sequence[Parameter],
    known: Point,
    costs: Costs,
    narrowed: Narrowed,
    population: int,
    generations: int,
    seed: int,
    told: Callable[[int], None],
) -> list[tuple[float, Point]]:
    """Return all points that were tried, the best first; `told` hears of each generation.

    What is chosen and what is a number change together: the best value of one depends on the
    other. Least squares from single points ended in whichever valley was near.
    """
    import numpy as np
    from scipy.optimize import differential_evolution

    chosen = [each for each in parameters if each.choices]
    free = [each for each in parameters if not each.choices]
    tried: list[tuple[float, Point]] = []

    def judged(positions: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = positions.T if positions.ndim > 1 else positions[np.newaxis]
        points = [_point(chosen, free, known, narrowed, each) for each in columns]
        found = costs(points)
        pairs = zip(found, points, strict=True)
        tried.extend((cost, point) for cost, point in pairs if cost is not None)
        return np.array([_NO_DRIVE if cost is None else cost for cost in found])

    if not parameters:
        judged(np.zeros((0, 1)))
        return tried
    done = 0

    def heard(*_: object, **__: object) -> None:
        nonlocal done
        done += 1
        told(done)

    differential_evolution(
        judged,
        [(0, len(each.choices) - 1) for each in chosen] + [(0, 1)] * len(free),
        integrality=[True] * len(chosen) + [False] * len(free),
        init="sobol",
        popsize=population,
        maxiter=generations,
        mutation=_MUTATION,
        recombination=_RECOMBINATION,
        vectorized=True,
        updating="deferred",
        polish=False,
        seed=seed,
        callback=heard,
    )
    return sorted(tried, key=lambda each: each[0])


def _point(
    chosen: Sequence[Parameter],
    free: Sequence[Parameter],
    known: Point,
    narrowed: Narrowed,
    position: NDArray[np.float64],
) -> Point:
    picked = (
        (each.key, each.choices[round(float(place))])
        for each, place in zip(chosen, position, strict=False)
    )
    point = known | dict(picked)
    for each, share in zip(narrowed(free, point), position[len(chosen) :], strict=True):
        low, high = each.positions()
        point[each.key] = each.at(low + float(share) * (high - low))
    return point
