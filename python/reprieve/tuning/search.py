"""The search: many short runs first, the best of them longer, the best of those over all seeds."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reprieve._native import UserError
from reprieve.experiments.columns import flat
from reprieve.experiments.engine import Progress, complete
from reprieve.experiments.executors import Executor
from reprieve.experiments.identity import Identities
from reprieve.experiments.pareto import space_of
from reprieve.experiments.plan import Axis, Range, Value
from reprieve.experiments.store import Store
from reprieve.experiments.work import Simulation, Task
from reprieve.extras import need
from reprieve.parallel import Step, silent
from reprieve.scenario import Source, toml_value
from reprieve.tuning.question import Question

Row = Mapping[str, Any]
"""The flat summary of a run."""
Measure = Callable[[Sequence[tuple["Point", int, int]]], list[Row]]
"""Runs points, each with a seed and on a rung, and returns their rows in that order."""

BATCH = 8
"""Points that are asked for at once, whoever does them: so that no timing changes the search."""
RUNGS = 3
"""Lengths of runs: a ninth, a third, and the whole."""
_THIRD = 3
_REQUESTS_LEAST = 2000
_ELSEWHERE = re.compile(r"--set: (?P<key>[\w.\-]+) = .*: only while ", re.DOTALL)
"""Error for a key that requires another choice of another key."""


@dataclass(frozen=True)
class Point:
    """One value for each key that varies."""

    number: int
    values: tuple[tuple[str, Value], ...]
    """Keys that apply with these choices, and their values."""

    @property
    def sets(self) -> list[str]:
        """Overrides of the scenario."""
        return [f"{key}={toml_value(value)}" for key, value in self.values]

    def __str__(self) -> str:
        """Name the point in errors."""
        return ", ".join(f"{key} = {value}" for key, value in self.values)


@dataclass
class Tried:
    """A point and what its runs gave."""

    point: Point
    by_rung: dict[int, list[Row]] = field(default_factory=dict)
    """A row a seed."""

    @property
    def rung(self) -> int:
        """The highest that it came to."""
        return max(self.by_rung)

    @property
    def rows(self) -> list[Row]:
        """Those of that rung."""
        return self.by_rung[self.rung]


@dataclass
class Found:
    """All that a search tried."""

    tried: list[Tried]
    refused: list[tuple[str, str]]
    """Points that are no drive, and why."""

    def whole(self) -> list[Tried]:
        """Return those that ran at full length over all seeds."""
        return [each for each in self.tried if each.rung == RUNGS - 1]


class Scenarios:
    """The scenario at a point, with a seed, on a rung."""

    def __init__(self, source: Source) -> None:
        self.source = source
        resolved = tomllib.loads(source.resolve())
        workload = resolved.get("workload", {})
        self._length: tuple[str, int] | None = None
        if "flow" not in resolved:
            key = "requests" if "generator" in workload else "max_requests"
            count = workload.get(key)
            if isinstance(count, int):
                self._length = (f"workload.{key}", count)

    def sets_at(self, point: Point, seed: int, rung: int) -> list[str]:
        """Return its overrides; a run is shorter on a lower rung, where its length is a key."""
        sets = [*point.sets, f"seed={seed}"]
        if self._length is not None and rung < RUNGS - 1:
            key, count = self._length
            shorter = max(count // _THIRD ** (RUNGS - 1 - rung), min(count, _REQUESTS_LEAST))
            sets.append(f"{key}={shorter}")
        return sets

    def applying(self, values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
        """Leave out keys that do not apply with the others; raises UserError if it is no drive."""
        left = dict(values)
        while True:
            sets = [f"{key}={toml_value(value)}" for key, value in left.items()]
            try:
                self.source.with_sets(sets).resolve()
            except UserError as error:
                elsewhere = _ELSEWHERE.match(str(error))
                if elsewhere is None or elsewhere["key"] not in left:
                    raise
                del left[elsewhere["key"]]
            else:
                return tuple(left.items())


def search(
    question: Question,
    measure: Measure,
    applying: Callable[[Mapping[str, Value]], tuple[tuple[str, Value], ...]],
    *,
    tries: int,
    seeds: Sequence[int],
    search_seed: int,
    step: Step,
) -> Found:
    """Try `tries` points, half of them spread evenly and half chosen by a model of them.

    A quarter goes on to each higher rung: by what is beyond the bounds first, by the goal then.
    """
    found = Found([], [])
    for batch in _asked(question, tries, search_seed):
        points: list[Point | None] = []
        for number, values, _ in batch:
            try:
                points.append(Point(number, applying(values)))
            except UserError as error:
                found.refused.append((_text(values), str(error)))
                points.append(None)
        step("points", batch[0][0], tries)
        there = [point for point in points if point is not None]
        rows = iter(measure([(point, seeds[0], 0) for point in there]))
        for (_, _, tell), point in zip(batch, points, strict=True):
            if point is None:
                tell(None)
                continue
            row = next(rows)
            found.tried.append(Tried(point, {0: [row]}))
            tell(row)
    if not found.tried:
        raise UserError(
            f"tune: none of {tries} points is a drive; the last: {found.refused[-1][1]}"
        )
    for rung in range(1, RUNGS):
        best = sorted(found.tried, key=lambda each: (-each.rung, *_rank(question, each.rows)))
        kept = _distinct(best)[: max(math.ceil(tries / 4**rung), 6)]
        here = list(seeds) if rung == RUNGS - 1 else [seeds[0]]
        step("the best of them longer", rung, RUNGS)
        rows = iter(measure([(each.point, seed, rung) for each in kept for seed in here]))
        for each in kept:
            each.by_rung[rung] = [next(rows) for _ in here]
    return found


def rank(question: Question, rows: Sequence[Row]) -> tuple[float, float]:
    """Return what a point is judged by: how far beyond the bounds, then its cost."""
    return _rank(question, rows)


def _rank(question: Question, rows: Sequence[Row]) -> tuple[float, float]:
    means = {
        each.column: sum(each.of(row) for row in rows) / len(rows)
        for each in (question.goal, *(bound.field for bound in question.bounds))
    }
    return question.violation(means), question.cost(means)


def _distinct(tried: Sequence[Tried]) -> list[Tried]:
    seen: dict[tuple[tuple[str, Value], ...], Tried] = {}
    for each in tried:
        seen.setdefault(each.point.values, each)
    return list(seen.values())


def _text(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())


Told = Callable[[Row | None], None]


def _asked(
    question: Question, tries: int, seed: int
) -> Iterator[list[tuple[int, dict[str, Value], Told]]]:
    """Ask for points: of Sobol's sequence first, then of a tree-structured Parzen estimator."""
    optuna: Any = need("optuna", "reprieve tune", "optuna", "tune")
    qmc: Any = need("scipy.stats.qmc", "reprieve tune", "scipy", "tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spaces = {each.key: space_of(optuna, each) for each in question.axes}

    def constraints(trial: Any) -> Sequence[float]:
        return list(trial.user_attrs["excess"])

    import warnings

    with warnings.catch_warnings():
        # Of what is said to be experimental nothing is used but by this name.
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=0, multivariate=True, constraints_func=constraints
        )
    study = optuna.create_study(direction="minimize", sampler=sampler)
    # The sequence is even in powers of two; the first of them are so, too.
    half = max(1, tries // 2)
    spread = qmc.Sobol(len(question.axes), seed=seed).random_base2(math.ceil(math.log2(half)))
    spread = spread[:half]

    def told(trial: Any) -> Told:
        def tell(row: Row | None) -> None:
            bounds = question.bounds
            if row is None:
                # Left out of the model; a refused point says nothing of its neighbours.
                trial.set_user_attr("excess", [math.inf for _ in bounds])
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                return
            trial.set_user_attr("excess", [each.excess(each.field.of(row)) for each in bounds])
            study.tell(trial, question.cost(row))

        return tell

    done = 0
    while done < tries:
        batch = []
        for _ in range(min(BATCH, tries - done)):
            if done < len(spread):
                study.enqueue_trial(_spread(question.axes, spread[done]))
            trial = study.ask(spaces)
            values = {each.key: _drawn(each, trial.params[each.key]) for each in question.axes}
            batch.append((done, values, told(trial)))
            done += 1
        yield batch


def _spread(axes: Sequence[Axis], position: Sequence[float]) -> dict[str, Any]:
    """Return the values at a point of the unit cube."""
    found: dict[str, Any] = {}
    for each, share in zip(axes, map(float, position), strict=True):
        span = each.values
        if not isinstance(span, Range):
            found[each.key] = min(int(share * len(span)), len(span) - 1)
            continue
        low, high = float(span.low), float(span.high)
        value = low * (high / low) ** share if span.is_log else low + share * (high - low)
        found[each.key] = min(max(round(value), span.low), span.high) if span.is_whole else value
    return found


def _drawn(axis: Axis, drawn: Any) -> Value:
    span = axis.values
    if not isinstance(span, Range):
        return span[drawn]
    # Three digits more than anybody would write, and none that only the computer has.
    return drawn if span.is_whole else float(f"{drawn:.4g}")


class Measured:
    """Runs points on the experiment engine, and never again those that the store has."""

    def __init__(self, store: Store, executor: Executor, scenarios: Scenarios) -> None:
        self._store = store
        self._executor = executor
        self._scenarios = scenarios
        self._identities = Identities(scenarios.source)
        self._progress = Progress(silent, 0)

    @property
    def ran(self) -> int:
        """The number of runs done now."""
        return self._progress.ran

    def __call__(self, asked: Sequence[tuple[Point, int, int]]) -> list[Row]:
        """Return the rows of points, each with a seed and on a rung, in that order."""
        tasks: list[tuple[str, Callable[[], Task]]] = []
        for point, seed, rung in asked:
            sets = tuple(self._scenarios.sets_at(point, seed, rung))
            run = self._identities.of(sets)
            work = Simulation(run, self._scenarios.source, sets)
            tasks.append((run, partial(Task, run, str(point), work)))
        complete(tasks, self._store, self._executor, self._progress)
        return [flat(self._store.read(run).summary) for run, _ in tasks]
