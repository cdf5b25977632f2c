"""The search for points that no other point beats in every goal, in batches that repeat exactly."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve.experiments.designs import Point, fitting
from reprieve.experiments.plan import Axis, Plan, Range, Value
from reprieve.extras import need


class Search:
    """Asks for points and receives their costs, in an order that no timing changes.

    After an interruption it starts again with the same seed and receives the costs of finished
    points, so that it asks for the points that it would have asked for.
    """

    def __init__(self, plan: Plan) -> None:
        optuna: Any = need("optuna", "the design pareto", "optuna")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._plan = plan
        self._spaces = {axis.key: space_of(optuna, axis) for axis in plan.axes}
        # A generation is a batch: what is asked for within one depends on those before it only.
        sampler = optuna.samplers.NSGAIISampler(population_size=plan.batch, seed=plan.design_seed)
        self._study = optuna.create_study(
            directions=["minimize"] * len(plan.goals), sampler=sampler
        )
        self._failed = optuna.trial.TrialState.FAIL
        self._asked: list[Any] = []
        self._points = 0

    def ask(self) -> list[Point]:
        """Return the next batch, the last one shorter; nothing once all samples are drawn."""
        size = min(self._plan.batch, self._plan.samples - self._points)
        self._asked = [self._study.ask(self._spaces) for _ in range(size)]
        made = []
        for trial in self._asked:
            values = tuple(_value(axis, trial.params[axis.key]) for axis in self._plan.axes)
            made.append(Point(self._points, values))
            self._points += 1
        return made

    def tell(self, costs: NDArray[np.float64]) -> None:
        """Take the costs of the points of the last batch, a row each, NaN where they failed."""
        for trial, row in zip(self._asked, costs.tolist(), strict=True):
            if math.isnan(sum(row)):
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, row)


def space_of(optuna: Any, axis: Axis) -> Any:
    """Return what Optuna draws of an axis from: a range, or the places of its values."""
    span = axis.values
    if not isinstance(span, Range):
        return optuna.distributions.CategoricalDistribution(range(len(span)))
    kind = "IntDistribution" if span.is_whole else "FloatDistribution"
    return getattr(optuna.distributions, kind)(span.low, span.high, log=span.is_log)


def _value(axis: Axis, drawn: Any) -> Value:
    return fitting(axis, drawn) if isinstance(axis.values, Range) else axis.values[drawn]


def front(costs: NDArray[np.float64] | Sequence[Sequence[float]]) -> list[bool]:
    """Return for each row whether no other is at least as small everywhere and smaller somewhere.

    Rows that are equal are all in the front or all out of it; a row with a NaN is out.
    """
    table = np.asarray(costs, np.float64)
    is_front = [False] * len(table)
    kept: list[NDArray[np.float64]] = []
    # In this order no later row beats an earlier one, so that one pass is enough.
    for row in np.lexsort(table.T[::-1]):
        cost = table[row]
        if np.isnan(cost).any():
            continue
        others = np.array(kept).reshape(-1, table.shape[1])
        if not ((others <= cost).all(axis=1) & (others < cost).any(axis=1)).any():
            is_front[row] = True
            kept.append(cost)
    return is_front
