"""The page of a sweep: which point is best and whether that is significant, charts, every point."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reprieve import tables
from reprieve._native import Table
from reprieve.experiments.columns import column, has_requests, heading, scale, told
from reprieve.experiments.dataset import PAGE, POINTS, Row
from reprieve.experiments.designs import Point, word
from reprieve.experiments.loads import bases, bound_points, given_keys
from reprieve.experiments.plan import Plan, Range
from reprieve.experiments.store import Store
from reprieve.outputs import ResultDirectory
from reprieve.pairs import Paired, measures, paired
from reprieve.plot.points import BEST, BOUND, FRONT, OTHERS, Key, Measure, Points, is_wide
from reprieve.report.points import Words, render
from reprieve.report.tables import decision

_LOADS_MOST = 4


def write(plan: Plan, store: Store, rows: Iterable[Row], directory: Path, command: str) -> Path:
    """Write the page over the data set in a directory, which is there already."""
    made = points_of(plan, tables.read(directory / POINTS))
    runs: dict[str, list[str]] = {}
    points: dict[int, Point] = {}
    finished, failed = set[str](), 0
    for row in rows:
        if not store.has(row.run):
            continue
        failed += store.has_failed(row.run) and row.run not in finished
        finished.add(row.run)
        runs.setdefault(str(row.point.index), []).append(row.run)
        points[row.point.index] = row.point
    told = list(_Told(plan, store, runs, bases(plan, points.values())).sentences(made))
    words = Words(
        title=Path(plan.path).name,
        command=command,
        facts=_facts(plan, made, len(finished), failed),
        lead=told[0],
        sentences=told[1:],
        caption=_caption(plan, made),
    )
    with ResultDirectory(directory) as out:
        out.write(PAGE, render(made, words))
        return out.commit()[0]


def _facts(plan: Plan, points: Points, runs: int, failed: int) -> dict[str, str]:
    seeds = f", {len(plan.seeds)} seeds each" if len(plan.seeds) > 1 else ""
    return {
        "Scenario": Path(plan.source.path).name,
        "Design": plan.design,
        "Points": f"{len(points):,}{seeds}",
        "Runs": f"{runs:,}" + (f", of which {failed:,} failed" if failed else ""),
    }


def _caption(plan: Plan, points: Points) -> str:
    has_ends = any(measure.low is not None for measure in points.measures)
    means = "Means over the seeds, with 95 % intervals" if has_ends else "A run each"
    return f"{means}; the front first" if plan.goals else means


def points_of(plan: Plan, table: Table) -> Points:
    """Return the points that did not fail, those of a search in the order of its first goal."""
    if "error" in table.names:
        table = table.take(np.flatnonzero([error is None for error in table["error"]]))
    if plan.goals:
        first = table.array(plan.goals[0].column)
        by_goal = -first if plan.goals[0].is_max else first
        table = table.take(np.lexsort((table.array("point"), by_goal, ~table.array("front"))))
    shown = list(_measures(plan, table))
    values = [*zip(*(table[column(key)] for key in plan.keys), strict=True)]
    numbers = dict[str, int]()
    given = given_keys(plan)
    made = Points(
        [str(name) for name in table["point"]],
        [_key(plan, place, table) for place in range(len(plan.keys))],
        shown,
        [BOUND if is_bound else OTHERS for is_bound in bound_points(plan, values)],
        [numbers.setdefault(repr([each[at] for at in given]), len(numbers)) for each in values],
    )
    return replace(made, kinds=_kinds(plan, table, made))


def _key(plan: Plan, place: int, table: Table) -> Key:
    name = plan.keys[place]
    values = table[column(name)]
    span = None if plan.design == "list" else plan.axes[place].values if plan.axes else None
    if all(type(value) in (int, float) for value in values):
        return Key(name, values, is_log=span.is_log if isinstance(span, Range) else is_wide(values))
    words = [word(name, value) for value in values]
    order = [word(name, value) for value in span] if isinstance(span, tuple) else words
    return Key(name, words, tuple(dict.fromkeys([*order, *words])))


def _measures(plan: Plan, table: Table) -> Iterator[Measure]:
    """Yield the goals, or the latencies where there is none."""
    wanted = {goal.column: goal.is_max for goal in plan.goals} or dict.fromkeys(
        told(tables.rows(table)), False
    )
    for name, is_max in wanted.items():
        if name not in table.names or not any(value is not None for value in table[name]):
            continue

        # A goal is shown as it was searched for; else a percentile by chance is none.
        enough = [bool(plan.goals) or has_requests(row, name) for row in tables.rows(table)]

        def scaled(
            column: str, factor: float = scale(name), enough: Sequence[bool] = enough
        ) -> list[float | None]:
            values = table[column]
            return [
                value * factor if is_enough and value is not None else None
                for value, is_enough in zip(values, enough, strict=True)
            ]

        has_ends = f"{name}_low" in table.names
        low, high = (scaled(f"{name}_{end}") if has_ends else None for end in ("low", "high"))
        yield Measure(heading(name), scaled(name), low, high, is_max, column=name)


def _kinds(plan: Plan, table: Table, points: Points) -> list[str]:
    """Return the front of several goals, or the best of each load by the first measure.

    A point that no drive can have is never the best, and neither is a load alone.
    """
    kinds = list(points.kinds)
    if len(plan.goals) > 1:
        return [FRONT if front and kind != BOUND else kind
                for front, kind in zip(table["front"], kinds, strict=True)]  # fmt: skip
    for place in points.best_of_loads(0) if points.measures else ():
        kinds[place] = BEST
    return kinds


@dataclass(frozen=True)
class _Told:
    """Says what is best among points, and whether their runs decide it."""

    plan: Plan
    store: Store
    runs: Mapping[str, Sequence[str]]
    base_of: Mapping[int, int]

    def sentences(self, points: Points) -> Iterator[str]:
        """Yield what a reader has to know first, then what supports it."""
        if not len(points):
            yield "No point is finished under all its seeds."
        elif not points.measures:
            yield "No point has served a request."
        elif len(points) == 1:
            values = ", ".join(_said(measure, 0) for measure in points.measures)
            yield f"One point{_at(points, 0)}: {values}."
        elif FRONT in points.kinds:
            yield from self._front(points)
        else:
            loads = points.by_load()
            if all(len(places) == 1 for places in loads):
                yield self._given(points)
                return
            for places in loads[:_LOADS_MOST]:
                yield from self._best(points, places, is_alone=len(loads) == 1)
            if (left := len(loads) - _LOADS_MOST) > 0:
                yield f"The table has the best of {left} more loads."
            for place in [at for at, kind in enumerate(points.kinds) if kind == BOUND][:1]:
                value = points.measures[0].with_unit(place)
                yield f"Only a bound, which no drive can have, is {value}{_at(points, place)}."

    def _given(self, points: Points) -> str:
        """Say how far a measure goes over loads, of which none is the best."""
        judged = points.measures[0]
        known = [place for place, value in enumerate(judged.values) if value is not None]
        known.sort(key=lambda place: judged.values[place] or 0.0)
        ends = [f"{judged.with_unit(place)}{_at(points, place)}" for place in known]
        span = ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"
        return f"The {judged.said()} of {len(points)} loads goes from {span}; all are given."

    def _best(self, points: Points, places: Sequence[int], *, is_alone: bool) -> Iterator[str]:
        """Say which point of a load is the best, and how it differs from base and next."""
        judged = points.measures[0]
        real = [place for place in places if points.kinds[place] != BOUND]
        known = [place for place in real if judged.values[place] is not None]
        if not known:
            return
        known.sort(key=judged.cost)
        best = known[0]
        alike = [place for place in known if judged.values[place] == judged.values[best]]
        most = "highest" if judged.is_max else "lowest"
        shared = f", and at {len(alike) - 1} more" if len(alike) > 1 else ""
        given = given_keys(self.plan)
        own = [at for at in range(len(points.keys)) if is_alone or at not in given]
        lead = "The" if is_alone else f"A{_at(points, best, given).lstrip()[1:]}, the"
        lead += f" {most} {judged.said()} of {len(real)} points is {judged.with_unit(best)}"
        lead += f"{_at(points, best, own)}{shared}"
        base, name = self._base(points, places)
        if base in alike:
            point = " point" if name == "the first" else ""
            yield f"{lead}; {name}{point} is among the best."
        else:
            known_of = self._known(points, best, base, judged)
            yield f"{lead}. At {name}{_in_brackets(points, base, own)} it is {known_of}."
        for place in known[len(alike) : len(alike) + 1]:
            known_of = self._known(points, best, place, judged)
            yield f"The next{_in_brackets(points, place, own)} has {known_of}."

    def _base(self, points: Points, places: Sequence[int]) -> tuple[int, str]:
        """Return the point by which those of a load are measured, and its name."""
        first = min(places, key=lambda place: int(points.names[place]))
        named = str(self.base_of[int(points.names[first])])
        # A base that failed is not there.
        base = points.names.index(named) if named in points.names else first
        return base, "the first" if base == first else "read priority"

    def _front(self, points: Points) -> Iterator[str]:
        ends = [place for place, kind in enumerate(points.kinds) if kind == FRONT]
        goals = points.measures
        names = " and ".join(goal.said() for goal in goals)
        first, last = (min(ends, key=goal.cost) for goal in (goals[0], goals[-1]))
        if first == last:
            values = ", ".join(_said(goal, first) for goal in goals)
            yield f"One of {len(points)} points is best in {names}{_at(points, first)}: {values}."
            return
        yield (
            f"{len(ends)} of {len(points)} points are in the front of {names}: from "
            f"{_said(goals[0], first)} and {_said(goals[-1], first)} to {_said(goals[0], last)} "
            f"and {_said(goals[-1], last)}."
        )
        for place, goal in ((first, goals[0]), (last, goals[-1])):
            other = last if place == first else first
            most = "highest" if goal.is_max else "lowest"
            yield (
                f"The {most} {goal.said()} is {goal.with_unit(place)}{_at(points, place)}. The "
                f"other end of the front has {self._known(points, place, other, goal)}."
            )

    def _known(self, points: Points, one: int, other: int, measure: Measure) -> str:
        """Return what the other of two points has, and whether they differ."""
        said = measure.with_unit(other)
        if measure.column not in measures():
            return said
        sides = [
            [self.store.read(run) for run in self.runs[points.names[place]]]
            for place in (one, other)
        ]
        pair: Paired = paired(*sides)[measure.column]
        return f"{said}; {decision(pair)}"


def _said(measure: Measure, place: int) -> str:
    return f"{measure.said()} {measure.with_unit(place)}"


def _at(points: Points, place: int, keys: Sequence[int] | None = None) -> str:
    """Return where a point is, by all its keys or by those at some places."""
    shown = points if keys is None else replace(points, keys=[points.keys[at] for at in keys])
    where = shown.where(place)
    return f" at {where}" if where else ""


def _in_brackets(points: Points, place: int, keys: Sequence[int]) -> str:
    where = _at(points, place, keys).removeprefix(" at ")
    return f" ({where})" if where else ""
