"""The page of a sweep: which point is best and whether that is significant, charts, every point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from reprieve import tables
from reprieve._native import Table
from reprieve.experiments.columns import column, has_requests, heading, scale, told
from reprieve.experiments.dataset import PAGE, POINTS, Row
from reprieve.experiments.designs import word
from reprieve.experiments.fleet import FLEET
from reprieve.experiments.plan import Plan, Range
from reprieve.experiments.store import Store
from reprieve.outputs import ResultDirectory
from reprieve.pairs import Paired, measures, paired
from reprieve.plot.points import BEST, FRONT, OTHERS, Key, Measure, Points, is_wide
from reprieve.report.points import Words, render
from reprieve.report.tables import decision


def write(plan: Plan, store: Store, rows: Iterable[Row], directory: Path, command: str) -> Path:
    """Write the page over the data set in a directory, which is there already."""
    is_fleet = plan.design == "fleet"
    table = tables.read(directory / (FLEET if is_fleet else POINTS))
    made = points_of(plan, table)
    runs: dict[str, list[str]] = {}
    finished, failed = set[str](), 0
    for row in rows:
        if not store.has(row.run):
            continue
        failed += store.has_failed(row.run) and row.run not in finished
        finished.add(row.run)
        runs.setdefault(str(row.point.index), []).append(row.run)
    told = list(_Told(plan, store, runs).sentences(made))
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
    if plan.design == "fleet":
        return "All drives together"
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
    keys = plan.keys[:-1] if plan.design == "fleet" else plan.keys
    places = range(len(table))
    names = table["point"] if "point" in table.names else places
    return Points(
        [str(name) for name in names],
        [_key(plan, place, table) for place in range(len(keys))],
        shown,
        _kinds(plan, table, shown),
    )


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


def _kinds(plan: Plan, table: Table, shown: Sequence[Measure]) -> list[str]:
    """Return the front of several goals, or the points whose first measure is best."""
    if len(plan.goals) > 1:
        return [FRONT if is_front else OTHERS for is_front in table["front"]]
    if not shown or len(table) == 1:
        return [OTHERS] * len(table)
    best = shown[0].best()
    return [BEST if value == best else OTHERS for value in shown[0].values]


class _Told:
    """Says what is best among points, and whether their runs decide it."""

    def __init__(self, plan: Plan, store: Store, runs: Mapping[str, Sequence[str]]) -> None:
        self._plan = plan
        self._store = store
        self._runs = runs

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
            yield from self._best(points)

    def _best(self, points: Points) -> Iterator[str]:
        judged = points.measures[0]
        known = [place for place, value in enumerate(judged.values) if value is not None]
        known.sort(key=judged.cost)
        best = known[0]
        alike = [place for place in known if judged.values[place] == judged.values[best]]
        most = "highest" if judged.is_max else "lowest"
        shared = f", and at {len(alike) - 1} more" if len(alike) > 1 else ""
        lead = f"The {most} {judged.said()} of {len(points)} points is {judged.with_unit(best)}"
        lead += f"{_at(points, best)}{shared}"
        first = points.names.index(min(points.names, key=int))
        if first in alike:
            yield f"{lead}; the first point is among the best."
        else:
            known_of = self._known(points, best, first, judged)
            yield f"{lead}. At the first{_in_brackets(points, first)} it is {known_of}."
        for place in known[len(alike) : len(alike) + 1]:
            known_of = self._known(points, best, place, judged)
            yield f"The next{_in_brackets(points, place)} has {known_of}."

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
        if self._plan.design == "fleet" or measure.column not in measures():
            return said
        sides = [
            [self._store.read(run) for run in self._runs[points.names[place]]]
            for place in (one, other)
        ]
        pair: Paired = paired(*sides)[measure.column]
        return f"{said}; {decision(pair)}"


def _said(measure: Measure, place: int) -> str:
    return f"{measure.said()} {measure.with_unit(place)}"


def _at(points: Points, place: int) -> str:
    where = points.where(place)
    return f" at {where}" if where else ""


def _in_brackets(points: Points, place: int) -> str:
    where = points.where(place)
    return f" ({where})" if where else ""
