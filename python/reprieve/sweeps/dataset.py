"""The data set of a sweep: what its runs gave, as Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

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

RUNS, POINTS, MEASURES = "runs.parquet", "points.parquet", "measured.parquet"
DIFFERENCES = "differences.parquet"
PAGE = "report.html"

# Rows that are in memory at once with their histograms; a row group of the file.
_BLOCK = 1000

_BUCKETS = pa.list_(pa.struct([("upper_ns", pa.int64()), ("count", pa.int64())]))


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
        schema = numbers.schema
        for what in KINDS:
            schema = schema.append(pa.field(f"{what}_histogram", _BUCKETS))
        with pq.ParquetWriter(out.open(RUNS), schema, compression="zstd") as writer:
            for start in range(0, len(rows), _BLOCK):
                block = numbers.slice(start, _BLOCK)
                for what, made in _histograms(store, rows[start : start + _BLOCK]).items():
                    block = block.append_column(f"{what}_histogram", made)
                writer.write_table(block)
        pq.write_table(points_table(plan, numbers, rows), out.open(POINTS))
        pq.write_table(measured, out.open(MEASURES))
        if plan.design != "fleet":  # whose points are different loads
            found = differences_table(store, _whole_points(plan, rows))
            pq.write_table(found, out.open(DIFFERENCES))
        # An older page would contradict the data.
        return out.commit(stale=(PAGE,))


def _read(plan: Plan, store: Store, rows: Sequence[Row]) -> tuple[pa.Table, pa.Table]:
    """Read all runs once: their numbers, and what they took."""
    varied = _varied(plan, rows)
    blocks, costs, seen = [], [], set()
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        found = []
        for row in block:
            summary = store.read(row.run).summary
            found.append(flat(summary) | {"seed": summary["run"]["seed"]})
            if row.run not in seen:
                seen.add(row.run)
                costs.append({"run": row.run} | {key: summary["run"][key] for key in MEASURED})
        blocks.append(_table(block, varied.slice(start, _BLOCK), found))
    numbers = pa.concat_tables(blocks, promote_options="permissive")
    # Parquet readers differ on a column that has no type: one without any value is of numbers.
    for place, field in enumerate(numbers.schema):
        if pa.types.is_null(field.type):
            empty = numbers.column(place).cast(pa.float64())
            numbers = numbers.set_column(place, field.name, empty)
    return numbers, pa.Table.from_pylist(costs)


def _table(rows: Sequence[Row], varied: pa.Table, found: Sequence[dict[str, Any]]) -> pa.Table:
    made = pa.table(
        {
            "point": pa.array([row.point.index for row in rows], pa.int64()),
            "seed": pa.array([one.pop("seed") for one in found], pa.uint64()),
            "run": pa.array([row.run for row in rows], pa.string()),
        }
    )
    for name in varied.column_names:
        made = made.append_column(name, varied.column(name))
    for name in dict.fromkeys(name for one in found for name in one):
        assert name not in made.column_names, f"a number is called like the varied key {name}"
        made = made.append_column(name, pa.array([one.get(name) for one in found]))
    return made


def _varied(plan: Plan, rows: Sequence[Row]) -> pa.Table:
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
        elif float in map(type, values):
            values = [float(value) for value in values]
        columns[column(key)] = pa.array(values)
    assert len(columns) == len(plan.keys), "two keys of a scenario have the same column"
    return pa.table(columns)


def _is_plain(values: Sequence[Any]) -> bool:
    kinds = {type(value) for value in values}
    return kinds <= {int, float} or kinds in ({bool}, {str})


def _histograms(store: Store, rows: Sequence[Row]) -> dict[str, pa.Array]:
    found = [store.read(row.run).buckets() for row in rows]
    made = {}
    for what in KINDS:
        offsets = pa.array(np.cumsum([0, *(len(one[what][0]) for one in found)]), pa.int32())
        parts = [pa.array(np.concatenate([one[what][side] for one in found])) for side in (0, 1)]
        inner = pa.StructArray.from_arrays(parts, fields=list(_BUCKETS.value_type))
        made[what] = pa.ListArray.from_arrays(offsets, inner, type=_BUCKETS)
    return made


def points_table(plan: Plan, numbers: pa.Table, rows: Sequence[Row]) -> pa.Table:
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
    whole = numbers.take(pa.array(chosen, pa.int64()))
    first = whole.take(pa.array(range(0, len(whole), seeds), pa.int64()))
    names = ["point", *(column(key) for key in plan.keys)]
    made = first.select(names)
    made = made.append_column("seeds", pa.array([seeds] * len(made), pa.int64()))
    for name in numbers.column_names[len(names) + 2 :]:
        if not _is_number(numbers.schema.field(name).type):
            continue
        # Of all numbers of a summary, only a correlation can be negative.
        positive = not name.endswith("autocorrelation")
        for ending, values in _over_seeds(whole.column(name), seeds, positive=positive):
            made = made.append_column(name + ending, pa.array(values, from_pandas=True))
    twice = {name for name in made.column_names if made.column_names.count(name) > 1}
    assert not twice, f"two columns of points are called {', '.join(sorted(twice))}"
    if plan.goals:
        costs = goal_costs(
            plan.goals, {goal.column: _goal(plan, made, goal) for goal in plan.goals}
        )
        made = made.append_column("front", pa.array(front(costs)))
    return made


def _whole_points(plan: Plan, rows: Sequence[Row]) -> list[tuple[int, list[str]]]:
    """Return the points of which every seed is done, each with its runs."""
    groups = groupby(rows, key=lambda row: row.point.index)
    points = [(index, [row.run for row in group]) for index, group in groups]
    return [(index, runs) for index, runs in points if len(runs) == max(1, len(plan.seeds))]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _over_seeds(
    values: pa.ChunkedArray, seeds: int, *, positive: bool
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield means, and ends of intervals, with the endings of their columns; NaN for none."""
    floats = pc.cast(values, pa.float64(), safe=False).to_numpy()
    samples = floats.reshape(-1, seeds)
    if seeds == 1:
        yield "", samples[:, 0]
        return
    yield from zip(("", "_low", "_high"), mean_intervals(samples, positive=positive), strict=True)


def _goal(plan: Plan, points: pa.Table, goal: Goal) -> NDArray[np.float64]:
    if goal.column not in points.column_names:
        raise plan.no_column(goal.column, points.column_names)
    return np.asarray(points.column(goal.column).to_numpy(), np.float64)


def goal_costs(
    goals: Sequence[Goal], columns: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return a row a point and a column a goal, of which less is better; NaN for no value."""
    return np.stack(
        [-columns[goal.column] if goal.is_max else columns[goal.column] for goal in goals], axis=1
    )
