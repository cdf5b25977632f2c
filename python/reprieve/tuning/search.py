"""The search: a small space whole; a large one by spread points, a model of them, neighbours."""

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from reprieve._native import UserError
from reprieve.experiments.columns import column, flat
from reprieve.experiments.engine import Progress, complete
from reprieve.experiments.executors import Executor
from reprieve.experiments.identity import Identities
from reprieve.experiments.pareto import space_of
from reprieve.experiments.plan import Axis, Range, Value
from reprieve.experiments.store import Store
from reprieve.experiments.work import Simulation, Task
from reprieve.extras import need
from reprieve.pairs import Paired, Run, measures, paired
from reprieve.parallel import Step, silent
from reprieve.roles import bounds_in
from reprieve.scenario import Source
from reprieve.tuning.question import Question

Row = Mapping[str, Any]
"""The flat summary of a run."""
Values = tuple[tuple[str, Value], ...]
Measure = Callable[[Sequence["Point"]], Sequence["list[Row] | str | None"]]
"""Runs points under every seed, and returns the rows of each, a row a seed, its error, or None if
an interrupt came first."""
Applying = Callable[[Mapping[str, Value]], tuple[Values, Sequence[str]]]
"""Keys that apply of some choices, and those of them that no drive can have."""

ENUMERATED = 256
"""Largest space, in points, that is tried whole."""
_COMBINATIONS = 1 << 12
"""Combinations of values that are looked through for such a space: many may be one point."""
BATCH = 8
"""Points that are asked for at once, whoever does them: so that no timing changes the search."""
_ELSEWHERE = re.compile(r"--set: (?P<key>[\w.\-]+) = .*: only while ", re.DOTALL)
"""Error for a key that requires another choice of another key."""


@dataclass(frozen=True)
class Point:
    """One value for each key that varies."""

    number: int
    values: Values
    """Keys that apply with these choices, and their values."""
    bounds: tuple[str, ...] = ()
    """Choices of it that no drive can have: it is shown, and never the best."""

    def __str__(self) -> str:
        """Name the point in errors and sentences."""
        return ", ".join(f"{key} = {value}" for key, value in self.values)


@dataclass
class Tried:
    """A point and what its runs gave."""

    point: Point
    rows: list[Row]
    """A row a seed."""
    asked: Mapping[str, Value]
    """The choice of every key, also of those that do not apply."""


@dataclass
class Found:
    """All that a search tried."""

    tried: list[Tried] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Points that are no drive, and why."""
    is_whole: bool = False
    """Whether every point of the space was tried."""
    is_cut_short: bool = False
    """Whether time or an interrupt ended it."""


@dataclass(frozen=True)
class Scenarios:
    """The scenario at each point of a question."""

    source: Source
    question: Question

    def applying(self, values: Mapping[str, Value]) -> tuple[Values, Sequence[str]]:
        """Leave out keys that do not apply with the others; raises UserError if it is no drive."""
        left = dict(values)
        while True:
            kept = tuple(left.items())
            try:
                return kept, bounds_in(self.source.with_sets(self.question.sets(kept)).resolve())
            except UserError as error:
                elsewhere = _ELSEWHERE.match(str(error))
                if elsewhere is None or elsewhere["key"] not in left:
                    raise
                del left[elsewhere["key"]]


@dataclass
class Search:
    """Tries points of a question's space, each at full length under every seed."""

    question: Question
    measure: Measure
    applying: Applying
    step: Step = silent
    until_s: float | None = None
    shown: Callable[[Found], None] | None = None
    """Called with all found after each batch."""
    found: Found = field(default_factory=Found)
    _known: dict[Values, Tried] = field(default_factory=dict)
    _asked: int = 0

    def run(self, tries: int, seed: int) -> Found:
        """Try a small space whole; of another, `tries` points and the neighbours of the best.

        A large space is searched again without each bound, to find the cost of the bound.
        """
        space = self._space()
        if space is not None:
            # In an order that a search cut short has seen all parts of the space.
            order = np.random.default_rng(seed).permutation(len(space))
            for at in range(0, len(space), BATCH):
                self.step("points", at, len(space))
                places = order[at : at + BATCH]
                self._try([space[place] for place in places], [int(place) for place in places])
            self.found.is_whole = not self.found.is_cut_short
        else:
            for asked in (self.question, *self.question.freed()):
                self._search(asked, tries if asked is self.question else tries // 4, seed)
        if not self.found.tried and self.found.is_cut_short:
            raise UserError("tune: --minutes are over before a point is done; give it more")
        if not self.found.tried:
            last = f"; the last: {self.found.refused[-1][1]}" if self.found.refused else ""
            raise UserError(f"tune: none of {self._asked} points is a drive{last}")
        return self.found

    def _space(self) -> list[dict[str, Value]] | None:
        """Return all points, where each key has a list of values and they are not too many."""
        spans: list[Sequence[Value]] = []
        for axis in self.question.axes:
            span = axis.values
            if isinstance(span, Range):
                if not span.is_whole:
                    return None
                spans.append(range(int(span.low), int(span.high) + 1))
            else:
                spans.append(span)
        if math.prod(map(len, spans)) > _COMBINATIONS:
            return None
        keys = [axis.key for axis in self.question.axes]
        points: dict[Values, dict[str, Value]] = {}
        refused = []
        for values in product(*spans):
            one = dict(zip(keys, values, strict=True))
            try:
                points.setdefault(self.applying(one)[0], one)
            except UserError as error:
                refused.append((_text(one), str(error)))
            if len(points) > ENUMERATED:
                return None
        self.found.refused = refused
        self._asked = len(refused)
        return list(points.values())

    def _search(self, question: Question, tries: int, seed: int) -> None:
        for batch in _asked(question, tries, seed):
            self.step("points", self._asked, tries)
            tried = self._try([values for values, _ in batch])
            for (_, tell), each in zip(batch, tried, strict=True):
                tell(each)
        while not self.found.is_cut_short and self.found.tried:
            best = min(self.found.tried, key=lambda each: rank(question, each.rows))
            self._try(neighbours(question.axes, best.asked))
            if best is min(self.found.tried, key=lambda each: rank(question, each.rows)):
                return

    def _try(
        self, asked: Sequence[Mapping[str, Value]], numbers: Sequence[int] | None = None
    ) -> list[Tried | None]:
        """Run these points, but those that ran; None for one that is no drive, or has no time."""
        numbers = numbers or range(self._asked, self._asked + len(asked))
        self._asked += len(asked)
        if self.until_s is not None and time.monotonic() > self.until_s and self.found.tried:
            self.found.is_cut_short = True
        if self.found.is_cut_short:
            return [None] * len(asked)
        points: list[Point | None] = []
        for number, values in zip(numbers, asked, strict=True):
            try:
                applying, bounds = self.applying(values)
                points.append(Point(number, applying, tuple(bounds)))
            except UserError as error:
                self.found.refused.append((_text(values), str(error)))
                points.append(None)
        new = {
            point.values: (point, values)
            for point, values in zip(points, asked, strict=True)
            if point is not None and point.values not in self._known
        }
        measured = self.measure([point for point, _ in new.values()])
        for (point, values), rows in zip(new.values(), measured, strict=True):
            if rows is None:
                continue
            if isinstance(rows, str):
                self.found.refused.append((str(point), rows))
                continue
            # A key that is a number can be the goal, such as the least over-provisioning.
            own = {column(key): value for key, value in point.values if type(value) in (int, float)}
            self._known[point.values] = Tried(point, [{**row, **own} for row in rows], values)
            self.found.tried.append(self._known[point.values])
        if None in measured:
            if self.until_s is None or time.monotonic() < self.until_s:
                raise KeyboardInterrupt
            self.found.is_cut_short = True
        if self.shown is not None and self.found.tried:
            self.shown(self.found)
        return [None if each is None else self._known.get(each.values) for each in points]


def rank(question: Question, rows: Sequence[Row]) -> tuple[float, float]:
    """Return what a point is judged by: how far beyond the bounds, then its cost."""
    means = {
        each.column: sum(each.of(row) for row in rows) / len(rows)
        for each in (question.goal, *(bound.field for bound in question.bounds))
    }
    return question.violation(means), question.cost(means)


def neighbours(axes: Sequence[Axis], values: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Return the points that differ in one key: by one step of a range, or in the choice."""
    found = []
    for axis in axes:
        span, here = axis.values, values[axis.key]
        if isinstance(span, Range):
            step = 1 if span.is_whole else (span.high - span.low) / 32
            others = [max(span.low, here - step), min(span.high, here + step)]
        else:
            others = list(span)
        found += [{**values, axis.key: other} for other in others if other != here]
    return found


def _text(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())


Told = Callable[["Tried | None"], None]


def _asked(
    question: Question, tries: int, seed: int
) -> Iterator[list[tuple[dict[str, Value], Told]]]:
    """Ask for points: of Sobol's sequence first, then of a tree-structured Parzen estimator."""
    optuna: Any = need("optuna", "reprieve tune", "optuna", "tune")
    qmc: Any = need("scipy.stats.qmc", "reprieve tune", "scipy", "tune")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spaces = {each.key: space_of(optuna, each) for each in question.axes}

    def constraints(trial: Any) -> Sequence[float]:
        return [float(trial.user_attrs["excess"])]

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
    for position in spread[:half]:
        study.enqueue_trial(_spread(question.axes, position))

    def told(trial: Any) -> Told:
        def tell(each: Tried | None) -> None:
            # A refused point is left out of the model: it says nothing of its neighbours.
            excess, cost = (math.inf, None) if each is None else rank(question, each.rows)
            trial.set_user_attr("excess", excess)
            if cost is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, cost)

        return tell

    left: Iterable[int] = iter(range(tries))
    while batch := [study.ask(spaces) for _ in islice(left, BATCH)]:
        yield [
            ({axis.key: _drawn(axis, trial.params[axis.key]) for axis in question.axes},
             told(trial))
            for trial in batch
        ]  # fmt: skip


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


@dataclass
class Measured:
    """Runs points on the experiment engine, and never again those that the store has."""

    store: Store
    executor: Executor
    scenarios: Scenarios
    seeds: Sequence[int]
    until_s: float | None = None
    """The time of the monotonic clock after which no run starts."""
    progress: Progress = field(default_factory=lambda: Progress(silent, 0))
    """Counts the runs done now."""

    def __post_init__(self) -> None:
        self._identities = Identities(self.scenarios.source)

    def __call__(self, asked: Sequence[Point]) -> list[list[Row] | str | None]:
        """Return the rows of points, a row a seed, or the error of one that failed.

        After an interrupt, or the time, None for points of which a run is missing.
        """
        try:
            named = self._complete(asked)
        except KeyboardInterrupt:
            named = [[run for run, _ in self._tasks([point])] for point in asked]
        is_done = (all(map(self.store.has, runs)) for runs in named)
        return [
            self._rows(runs) if done else None for runs, done in zip(named, is_done, strict=True)
        ]

    def runs(self, values: Values) -> list[Run]:
        """Return the runs of a point, one a seed, with their batches."""
        (runs,) = self._complete([Point(0, values)])
        return [self.store.read(run) for run in runs]

    def paired(self, one: Tried, other: Tried, column: str) -> Paired | None:
        """Return what the other point has more, batch by batch; None for what has no batches."""
        if column not in measures():
            return None
        ours, base = (self.runs(each.point.values) for each in (other, one))
        return paired(ours, base)[column]

    def _complete(self, asked: Sequence[Point]) -> list[list[str]]:
        """Do the runs of points that are missing, and return the names of all."""
        tasks = self._tasks(asked)
        complete(tasks, self.store, self.executor, self.progress, until_s=self.until_s)
        runs = iter([run for run, _ in tasks])
        return [[next(runs) for _ in self.seeds] for _ in asked]

    def _tasks(self, asked: Sequence[Point]) -> list[tuple[str, Callable[[], Task]]]:
        tasks: list[tuple[str, Callable[[], Task]]] = []
        for point in asked:
            for seed in self.seeds:
                sets = (*self.scenarios.question.sets(point.values), f"seed={seed}")
                run = self._identities.of(sets)
                work = Simulation(run, self.scenarios.source, sets)
                tasks.append((run, partial(Task, run, str(point), work)))
        return tasks

    def _rows(self, runs: Sequence[str]) -> list[Row] | str:
        for run in runs:
            if self.store.has_failed(run):
                return self.store.row(run).error or "a failed run has an error"
        return [flat(self.store.read(run).summary) for run in runs]
