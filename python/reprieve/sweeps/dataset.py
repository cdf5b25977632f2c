"""The data set of a sweep: what its runs gave, as Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from reprieve import tables
from reprieve._native import ParquetWriter, Table
from reprieve.named_policies import short
from reprieve.outputs import ResultDirectory
from reprieve.result import KINDS
from reprieve.sweeps.columns import MEASURED, column, flat
from reprieve.sweeps.designs import Point, word
from reprieve.sweeps.differences import differences_table
from reprieve.sweeps.intervals import mean_intervals
from reprieve.sweeps.pareto import front
from reprieve.sweeps.plan import Goal, Plan
from reprieve.sweeps.store import Store
from reprieve.tables import Column

if TYPE_CHECKING:
    from reprieve._native_tables import NewColumn

RUNS, POINTS, MEASURES = "runs.parquet", "points.parquet", "measured.parquet"
DIFFERENCES = "differences.parquet"
PAGE = "report.html"

# Rows that are in memory at once with their histograms; a row group of the file.
_BLOCK = 1000

Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Row:
    """A run of the sweep: a point under a seed."""

    point: Point
    seed: int | None
    """None: that of the scenario."""
    run: str


def write(plan: Plan, store: Store, rows: Sequence[Row], directory: Path) -> list[Path]:
    """Write the data set of these finished runs, whole or not at all; return its files."""
    numbers, measured = _read(plan, store, rows)
    with ResultDirectory(directory) as out:
        _write_runs(store, numbers, rows, out.open(RUNS))
        tables.write(tables.of_columns(points_columns(plan, numbers, rows)), out.open(POINTS))
        tables.write(tables.of_rows(measured), out.open(MEASURES))
        if plan.design != "fleet":  # whose points are different loads
            found = differences_table(store, _whole_points(plan, rows))
            tables.write(found, out.open(DIFFERENCES))
        # An older page would contradict the data.
        return out.commit(stale=(PAGE,))


def _write_runs(store: Store, numbers: Columns, rows: Sequence[Row], file: BinaryIO) -> None:
    writer = None
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = [column.take(block).given(name) for name, column in numbers.items()]
        table = Table([*columns, *_histograms(store, rows[block])])
        writer = writer or ParquetWriter(table, _BLOCK, packed=False)
        file.write(writer.write(table))
    assert writer is not None, "a data set has a run"
    file.write(writer.finish())


def _read(plan: Plan, store: Store, rows: Sequence[Row]) -> tuple[Columns, list[dict[str, Any]]]:
    """Read all runs once: their numbers, and what they took."""
    found, costs, seeds, seen = list[Columns](), list[dict[str, Any]](), list[int](), set[str]()
    for start in range(0, len(rows), _BLOCK):
        block = []
        for row in rows[start : start + _BLOCK]:
            record = store.read(row.run)
            summary = record.summary
            block.append(flat(summary))
            seeds.append(summary["run"]["seed"])
            if row.run not in seen:
                seen.add(row.run)
                costs.append({"run": row.run} | {key: record.machine[key] for key in MEASURED})
        names = dict.fromkeys(name for one in block for name in one)
        found.append({name: Column.of([one.get(name) for one in block]) for name in names})
    numbers = _joined(found)
    first = {
        "point": Column.of([row.point.index for row in rows]),
        "seed": Column.of_array(np.array(seeds, np.uint64)),
        "run": Column.of([row.run for row in rows]),
    }
    varied = _varied(plan, rows)
    for name in varied:
        assert name not in first and name not in numbers, f"a number is called like the key {name}"
    return first | varied | numbers, costs


def _joined(blocks: Sequence[Columns]) -> dict[str, Column]:
    """Put blocks of rows one behind the other; a column that one has not is null there."""
    names = dict.fromkeys(name for block in blocks for name in block)
    lengths = [len(next(iter(block.values())).values) for block in blocks]
    return {
        name: Column.joined(
            [
                block.get(name) or Column.of([None] * length)
                for block, length in zip(blocks, lengths, strict=True)
            ]
        )
        for name in names
    }


def _varied(plan: Plan, rows: Sequence[Row]) -> dict[str, Column]:
    """Return the columns of the keys that vary: numbers if all values are, else words."""
    columns = {}
    for place, key in enumerate(plan.keys):
        values = [row.point.values[place] for row in rows]
        if plan.volumes is not None and place == len(plan.keys) - 1:
            values = [device for (device,) in values]
        if len({type(value) for value in values} - {int}) > 1 or not _is_plain(values):
            values = [word(key, value) for value in values]
        elif str in map(type, values):
            values = [short(key, value) for value in values]
        columns[column(key)] = Column.of(values)
    assert len(columns) == len(plan.keys), "two keys of a scenario have the same column"
    return columns


def _is_plain(values: Sequence[Any]) -> bool:
    kinds = {type(value) for value in values}
    return kinds <= {int, float} or kinds in ({bool}, {str})


def _histograms(store: Store, rows: Sequence[Row]) -> Iterator[NewColumn]:
    found = [store.read(row.run).buckets() for row in rows]
    for what in KINDS:
        offsets = np.cumsum([0, *(len(one[what][0]) for one in found)], dtype=np.int32)
        upper_ns, count = (np.concatenate([one[what][side] for one in found]) for side in (0, 1))
        yield f"{what}_histogram", (offsets, upper_ns, count), None


def points_columns(plan: Plan, numbers: Columns, rows: Sequence[Row]) -> dict[str, Column]:
    """Return a row a point: means over its seeds, intervals if there are two seeds or more.

    Points of which a seed is not done are left out.
    """
    seeds = max(1, len(plan.seeds))
    chosen, start = list[int](), 0
    for _, group in groupby(rows, key=lambda row: row.point.index):
        length = len(list(group))
        if length == seeds:
            chosen.extend(range(start, start + seeds))
        start += length
    of_whole = np.array(chosen, np.int64)
    first = of_whole[::seeds]
    names = ["point", *(column(key) for key in plan.keys)]
    made = {name: numbers[name].take(first) for name in names}
    made["seeds"] = Column.of_array(np.full(len(first), seeds))
    for name, whole in list(numbers.items())[len(names) + 2 :]:
        if not whole.is_number:
            continue
        # Of all numbers of a summary, only a correlation can be negative.
        positive = not name.endswith("autocorrelation")
        samples = whole.take(of_whole).floats().reshape(-1, seeds)
        for ending, values in _over_seeds(samples, positive=positive):
            assert name + ending not in made, f"two columns of points are called {name + ending}"
            made[name + ending] = Column.of_array(values)
    if plan.goals:
        costs = goal_costs(
            plan.goals, {goal.column: _goal(plan, made, goal) for goal in plan.goals}
        )
        made["front"] = Column.of_array(np.array(front(costs), np.bool_))
    return made


def _whole_points(plan: Plan, rows: Sequence[Row]) -> list[tuple[int, list[str]]]:
    """Return the points of which every seed is done, each with its runs."""
    groups = groupby(rows, key=lambda row: row.point.index)
    points = [(index, [row.run for row in group]) for index, group in groups]
    return [(index, runs) for index, runs in points if len(runs) == max(1, len(plan.seeds))]


def _over_seeds(
    samples: NDArray[np.float64], *, positive: bool
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield means, and ends of intervals, with the endings of their columns; NaN for none."""
    if samples.shape[1] == 1:
        yield "", samples[:, 0]
        return
    yield from zip(("", "_low", "_high"), mean_intervals(samples, positive=positive), strict=True)


def _goal(plan: Plan, points: Columns, goal: Goal) -> NDArray[np.float64]:
    if goal.column not in points:
        raise plan.no_column(goal.column, list(points))
    return points[goal.column].floats()


def goal_costs(
    goals: Sequence[Goal], columns: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return a row a point and a column a goal, of which less is better; NaN for no value."""
    return np.stack(
        [-columns[goal.column] if goal.is_max else columns[goal.column] for goal in goals], axis=1
    )
