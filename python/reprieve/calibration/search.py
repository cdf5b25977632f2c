"""The search: reads alone first, then programs, then everything together.

Each of the first two begins with its shallowest loads: one request at a time, where few
parameters matter; those that only queues reveal are fitted from there. Searches over all of them
at once, by Sobol points or by evolution, ended in local minima in which one parameter stood in for
another: a program too short whose suspension cost too much.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from operator import attrgetter

import numpy as np

from reprieve._native import UserError
from reprieve.calibration import ranges
from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.least_squares import WIDE, Fit, at, polish, values_at
from reprieve.calibration.local_minima import other_minima
from reprieve.calibration.measured import Condition
from reprieve.calibration.parameters import PROGRAM, Parameter, Value
from reprieve.calibration.replay import Effort

_NOWHERE = "none of the drives that were tried for {what} can be simulated: {why}"
_cost = attrgetter("cost")
_HALVINGS = 2
_FAR_WORSE = 3.0
_ANY_COST = 10.0
"""Margin of cost above `_FAR_WORSE` times the best, up to which a start is followed."""
_FIRST = 2
"""Steps of least squares for several combinations of choices, before the best are followed."""


@dataclass(frozen=True)
class Depth:
    """Extent of a search."""

    rungs: int = 10
    """Lengths of a program at which the shallow loads are fitted, over the whole range."""
    spread: int = 8
    """Points of all loads for each combination of choices that only queues distinguish."""
    compared: int = 6
    """Combinations of choices that take first steps of least squares."""
    kept: int = 3
    """Number of these that are followed further."""
    iterations: int = 8
    """Steps of least squares for each of them."""
    last: int = 8
    """And of all parameters together."""
    coarse: Effort = field(default_factory=lambda: Effort(6_000, 12 << 20, 4.0))
    fine: Effort = field(default_factory=lambda: Effort(15_000, 24 << 20, 10.0))
    final: Effort = field(default_factory=lambda: Effort(40_000, 48 << 20, 20.0))
    """Effort of the steps of all parameters together, and of the intervals."""
    rungs_followed: int = 3
    """Lengths of a program that are followed after first steps at each."""
    anew_every: int = 2
    """Steps of least squares between derivatives by differences."""


QUICK = Depth(
    *(7, 4, 4, 2, 6, 5),
    *(Effort(4_000, 8 << 20, 3.0), Effort(8_000, 16 << 20, 5.0), Effort(20_000, 24 << 20, 10.0)),
    rungs_followed=2,
    anew_every=3,
)


@dataclass(frozen=True)
class _Stage:
    """A part of the search: what it fits, with what is known, to which loads."""

    what: str
    parameters: Sequence[Parameter]
    known: dict[str, Value]
    conditions: Sequence[Condition]
    follows_all: bool = False
    """Whether every promising start is followed, not just the best few."""


@dataclass
class Search:
    """Looks for the values at which simulated and measured conditions differ least."""

    conditions: Sequence[Condition]
    parameters: Sequence[Parameter]
    fixed: dict[str, Value]
    evaluator: Evaluator
    depth: Depth
    step: Step
    seed: int = 1
    runners_up: list[Fit] = field(default_factory=list)
    """The points that were followed, the best first."""
    shallow: list[Fit] = field(default_factory=list)
    """The best points for the shallow loads that were fitted last, the best first."""

    def run(self) -> Fit:
        """Return the best point; raises UserError if there is a drive nowhere."""
        fits = self._reads(dict(self.fixed))
        mixed = [each for each in self.conditions if ranges.has_writes(each)]
        if ranges.of_programs(self.parameters) and mixed:
            fits = self._in_turn(self._of_programs(fits[0].values, mixed))
        self.runners_up = fits
        return self.finish(fits[0].values)

    def finish(self, begin: dict[str, Value]) -> Fit:
        """Take the last steps from a point, and from the best in another valley.

        Returns the better of both ends; raises UserError if the point is no drive.
        """
        free = [each for each in self.parameters if not each.choices]
        first = self._settled(free, begin)
        points = other_minima(first.values, free)
        others = at(self.evaluator, points, self.conditions, self.depth.final)
        if not others:
            return first
        return min(first, self._settled(free, min(others, key=_cost).values), key=_cost)

    def _settled(self, free: Sequence[Parameter], begin: dict[str, Value]) -> Fit:
        steps = self.depth.last
        told = partial(self._told_steps, "all", steps)
        where = (self.evaluator, free, begin, self.conditions, steps, self.depth.final)
        # A whole number that is rounded to the other side would leave slopes of nothing.
        return polish(*where, told, 1, WIDE)

    def reads_alone(self) -> Fit:
        """Return the best point for the conditions without writes."""
        return self._reads(dict(self.fixed))[0]

    def begin_programs(self, known: dict[str, Value], near: Sequence[Fit] = ()) -> None:
        """Fit the shallow loads beside writes, with everything else as it is known.

        `near`: points of another search, near which these loads have their best ones.
        """
        self._begin(self._of_programs(known, self.conditions), near)

    def programs(self, known: dict[str, Value]) -> Fit:
        """Return the best point for programs, once their search has started."""
        return self._go_on(self._of_programs(known, self.conditions))[0]

    def _reads(self, known: dict[str, Value]) -> list[Fit]:
        written = ranges.of_programs(self.parameters)
        parameters = [each for each in self.parameters if each not in written]
        reads = [each for each in self.conditions if not ranges.has_writes(each)]
        # Few choices, and short runs: the number of dies may show in the last steps alone.
        return self._in_turn(_Stage("reads", parameters, known, reads, follows_all=True))

    def _of_programs(self, known: dict[str, Value], conditions: Sequence[Condition]) -> _Stage:
        return _Stage("programs", ranges.of_programs(self.parameters), known, conditions)

    def _in_turn(self, stage: _Stage) -> list[Fit]:
        """Fit the shallow loads, then choose by the deep ones, then follow; the best first."""
        self._begin(stage)
        return self._go_on(stage)

    def _begin(self, stage: _Stage, near: Sequence[Fit] = ()) -> None:
        """Fit the shallow loads with every combination of choices, or near points if given."""
        first: dict[str, Value] = {
            each.key: each.choices[0] if each.choices else each.middle()
            for each in stage.parameters
        }
        begin = {**first, **stage.known}
        early = [each for each in stage.parameters if ranges.shows_when_shallow(each)]
        what, conditions = f"{stage.what}: shallow loads", ranges.shallowest(stage.conditions)
        shallow = replace(stage, what=what, parameters=early, conditions=conditions)
        found = []
        for fit in near:
            own = {each.key: fit.values[each.key] for each in early if each.key in fit.values}
            found += self._fitted(shallow, begin | own, self.depth.iterations)
        if not found:
            for values in self._combined(what, early, begin):
                found += self._along(shallow, values)
        self.shallow = _worth_while(found)

    def _go_on(self, stage: _Stage) -> list[Fit]:
        late = [
            each
            for each in stage.parameters
            if not ranges.shows_when_shallow(each) and not ranges.stays_at_first(each)
        ]
        found, guesses = [], []
        for start in self.shallow:
            for values in self._combined(f"{stage.what}: screening", late, start.values):
                narrowed = self._narrowed(late, values)
                guessed = _guessed(narrowed, values)
                points = guessed + self._drawn(narrowed, values, len(guessed))
                judged = at(self.evaluator, points, stage.conditions, self.depth.coarse)
                guesses += [fit for fit in judged if fit.values in guessed]
                found += judged
        if not found:
            why = self.evaluator.why_refused()
            raise UserError(_NOWHERE.format(what=stage.what, why=why))
        chosen = [each.key for each in stage.parameters if each.choices]
        compared = _best_of_each(found, chosen)[: self.depth.compared]
        # What follows from the measurements may be next to the best point and not a good one yet,
        # where what is far from it happens to be better, and leads nowhere.
        combinations = {_choices(fit, chosen) for fit in compared}
        others = [
            fit
            for fit in _worth_while(guesses)
            if fit not in compared and _choices(fit, chosen) in combinations
        ]
        starts = [*compared, *others[: self.depth.compared]]
        first = self._stepped(stage, "first steps", starts, _FIRST, self.depth.coarse)
        kept = _worth_while(first) if stage.follows_all else first[: self.depth.kept]
        return self._stepped(stage, "following", kept, self.depth.iterations, self.depth.fine)

    def _fitted(self, stage: _Stage, start: dict[str, Value], steps: int) -> list[Fit]:
        """Return the point where least squares end; none if there is no drive."""
        coarse = self.depth.coarse
        if not at(self.evaluator, [start], stage.conditions, coarse):
            return []
        return [self._polish(stage, start, steps, coarse)]

    def _along(self, stage: _Stage, values: dict[str, Value]) -> list[Fit]:
        """Return the best points for shallow loads, one a guess; none if there is no drive.

        Where reads begin to meet programs a percentile jumps, and least squares see no slope: from
        one start they end with a program of any length and a suspension that costs what is left.
        So the length of a program goes over its range in steps, ever finer ones about the best, and
        the others are fitted at each.
        """
        free = self._narrowed(stage.parameters, values)
        along = [each for each in free if each.key == PROGRAM]
        rest = replace(stage, parameters=[each for each in free if each.key != PROGRAM])
        depth, fitted = self.depth, partial(self._fitted, rest)
        if not along:
            return fitted(values, depth.iterations)
        low, high = along[0].positions()
        step = (high - low) / depth.rungs
        tried = {}
        for rung in range(depth.rungs):
            position = low + (rung + 0.5) * step
            for fit in fitted(values | values_at(along, [position]), _FIRST):
                tried[position] = fit
        for _ in range(_HALVINGS):
            step /= 2
            for position in _beside(tried, step):
                best = min(tried.values(), key=_cost)
                for fit in fitted(best.values | values_at(along, [position]), _FIRST):
                    tried[position] = fit
        best_of = sorted(tried.values(), key=_cost)[: depth.rungs_followed]
        found = [each for fit in best_of for each in fitted(fit.values, depth.iterations)]
        best_of = sorted(found, key=_cost)[:1]
        # Few long iterations whose suspension costs little, and many short ones whose costs more,
        # are alike to one read at a time; queues tell them apart.
        return best_of + [
            each
            for best in best_of
            for other in _other_guesses(rest.parameters)
            for each in fitted(best.values | other, depth.iterations)
        ]

    def _stepped(
        self, stage: _Stage, name: str, starts: Sequence[Fit], steps: int, effort: Effort
    ) -> list[Fit]:
        """Take steps of least squares from each start; the best first."""
        found = []
        for place, fit in enumerate(starts):
            self.step(f"{stage.what}: {name}", place, len(starts))
            found.append(self._polish(stage, fit.values, steps, effort))
        return sorted(found, key=_cost)

    def _combined(
        self, what: str, parameters: Sequence[Parameter], values: dict[str, Value]
    ) -> Iterator[dict[str, Value]]:
        """Return the values with every combination of choices in turn."""
        chosen = [each for each in parameters if each.choices]
        combinations = list(product(*(each.choices for each in chosen)))
        for place, combination in enumerate(combinations):
            self.step(what, place, len(combinations))
            yield values | dict(zip((each.key for each in chosen), combination, strict=True))

    def _narrowed(
        self, parameters: Sequence[Parameter], values: dict[str, Value]
    ) -> list[Parameter]:
        """Return the numbers, with the range of a program that goes with a number of dies."""
        free = [each for each in parameters if not each.choices]
        dies = values.get(ranges.DIES)
        planes = values.get("geometry.planes_per_die")
        if not isinstance(dies, str) or not isinstance(planes, int):
            return free
        channels, _, each = dies.partition("x")
        range_ = ranges.program_range(self.conditions, int(channels) * int(each), planes)
        generic = {each.key: each for each in self.parameters}.get(PROGRAM)
        # A range that was given stays as it is.
        is_default = generic is not None and (generic.low, generic.high) == ranges.ANY_PROGRAM_US
        return [range_ if each.key == PROGRAM and is_default else each for each in free]

    def _drawn(
        self, free: Sequence[Parameter], values: dict[str, Value], guessed: int
    ) -> list[dict[str, Value]]:
        """Return points of Sobol's sequence, as many as are left beside those that are guessed."""
        from scipy.stats import qmc

        if not free:
            return []
        low, high = np.array([each.positions() for each in free]).T
        drawn = qmc.Sobol(len(free), seed=self.seed).random(self.depth.spread)[guessed:]
        return [values | values_at(free, low + each * (high - low)) for each in drawn]

    def _polish(
        self, stage: _Stage, start: dict[str, Value], iterations: int, effort: Effort
    ) -> Fit:
        told = partial(self._told_steps, stage.what, iterations)
        where = (start, stage.conditions, iterations, effort)
        free = self._narrowed(stage.parameters, start)
        return polish(self.evaluator, free, *where, told, self.depth.anew_every)

    def _told_steps(self, what: str, iterations: int, done: int) -> None:
        self.step(f"{what}: least squares", done, iterations)


def _guessed(free: Sequence[Parameter], values: dict[str, Value]) -> list[dict[str, Value]]:
    """Return the usual start of the search, and those at the other guesses of a parameter."""
    first = values | {each.key: each.middle() for each in free}
    return [first] + [first | other for other in _other_guesses(free)]


def _other_guesses(free: Sequence[Parameter]) -> list[dict[str, Value]]:
    return [
        {each.key: each.at(math.log(each.other_guess))}
        for each in free
        if each.other_guess is not None
    ]


def _beside(tried: Mapping[float, Fit], step: float) -> list[float]:
    """Return the positions a step below and above the best."""
    if not tried:
        return []
    best = min(tried, key=lambda position: tried[position].cost)
    return [best - step, best + step]


def _worth_while(fits: Sequence[Fit]) -> list[Fit]:
    """Return the points, the best first, without those that are far worse than it."""
    found = sorted(fits, key=_cost)
    return [fit for fit in found if fit.cost <= _FAR_WORSE * found[0].cost + _ANY_COST]


def _best_of_each(fits: Sequence[Fit], chosen: Sequence[str]) -> list[Fit]:
    """Return the best point of each combination of choices, the best first."""
    best: dict[tuple[Value, ...], Fit] = {}
    for fit in sorted(fits, key=_cost):
        best.setdefault(_choices(fit, chosen), fit)
    return list(best.values())


def _choices(fit: Fit, keys: Sequence[str]) -> tuple[Value, ...]:
    return tuple(fit.values[key] for key in keys)
