"""The data set of a sweep as Parquet files, written block by block in the order of its points."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from reprieve import tables
from reprieve._native import ParquetWriter, Table
from reprieve.experiments.columns import MEASURED, column, flat
from reprieve.experiments.designs import Point, word
from reprieve.experiments.differences import differences_table
from reprieve.experiments.intervals import mean_intervals
from reprieve.experiments.loads import bases
from reprieve.experiments.pareto import front
from reprieve.experiments.plan import Goal, Plan, Range
from reprieve.experiments.store import Record, Store
from reprieve.latency import KINDS
from reprieve.named_policies import short
from reprieve.outputs import ResultDirectory, explained
from reprieve.tables import Column

if TYPE_CHECKING:
    from reprieve._native_tables import NewColumn

RUNS, POINTS, MEASURES = "runs.parquet", "points.parquet", "measured.parquet"
DIFFERENCES = "differences.parquet"
PAGE = "report.html"
_STAMP = ".dataset"
DIFFERENCES_POINTS_MAX = 10_000

# Rows that are in memory at once with their histograms; a row group of the file.
_BLOCK = 1000

Columns = dict[str, Column]
Kinds = dict[str, type | None]
"""Type of each column; None: no value so far."""


@dataclass(frozen=True)
class Row:
    """A run of the sweep: a point under a seed."""

    point: Point
    seed: int | None
    """None: that of the scenario."""
    run: str


class _WiderError(Exception):
    """Ends a pass whose columns turn out to be more, or wider, than those written so far."""


def current(plan: Plan, directory: Path, stamp: str, *, with_page: bool) -> list[Path]:
    """Return the files of the data set if they are of this stamp; none if it is to be written."""
    names = [RUNS, POINTS, MEASURES]
    files = [directory / name for name in names]
    if (directory / DIFFERENCES).exists():
        files.append(directory / DIFFERENCES)
    if with_page:
        files.append(directory / PAGE)
    try:
        is_known = (directory / _STAMP).read_text(encoding="utf-8") == _mark(directory, stamp)
    except OSError:
        return []
    return files if is_known and all(file.exists() for file in files) else []


def remember(directory: Path, stamp: str) -> None:
    """Note what the data set is of."""
    with explained(directory / _STAMP):
        (directory / _STAMP).write_text(_mark(directory, stamp), encoding="utf-8")


def _mark(directory: Path, stamp: str) -> str:
    """Return a stamp with the lengths of the files, which tell a damaged one."""
    files = (directory / name for name in (RUNS, POINTS, MEASURES, DIFFERENCES))
    return " ".join([stamp, *(str(file.stat().st_size) for file in files if file.exists())])


def forget(directory: Path) -> None:
    """Let the data set be written anew."""
    (directory / _STAMP).unlink(missing_ok=True)


def write(
    plan: Plan, store: Store, rows: Iterable[Row], directory: Path, tell: Callable[[str], None]
) -> list[Path]:
    """Write the data set of those runs that are finished, whole or not at all; return its files.

    `rows` can be iterated several times.
    """
    forget(directory)
    costs = costs_of(plan, store, rows) if plan.goals else None
    kinds: Kinds = {}
    stale = [PAGE]
    with ResultDirectory(directory) as out:
        files = [out.open(name) for name in (RUNS, POINTS, MEASURES)]
        while True:
            try:
                _Pass(plan, store, kinds, costs, [*map(_Out, files)]).write(rows)
                break
            except _WiderError:
                for file in files:
                    file.seek(0)
                    file.truncate()
        most = DIFFERENCES_POINTS_MAX * max(1, len(plan.seeds))
        if sum(1 for _ in islice(rows, most + 1)) <= most:
            whole = _whole_points(plan, store, rows)
            made = {row.point.index: row.point for row in rows if row.point.index in whole}
            found = differences_table(store, whole, bases(plan, made.values()))
            tables.write(found, out.open(DIFFERENCES))
        else:
            stale.append(DIFFERENCES)
            tell(
                f"{DIFFERENCES} is not written of more than {DIFFERENCES_POINTS_MAX:,} "
                "points; sweep those of interest alone"
            )
        # An older page would contradict the data.
        return out.commit(stale=tuple(stale))


@dataclass
class _Pass:
    """One pass over all runs, with the columns that are known so far."""

    plan: Plan
    store: Store
    kinds: Kinds
    costs: NDArray[np.float64] | None
    outs: Sequence["_Out"]
    points: int = 0
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._seeds = max(1, len(self.plan.seeds))
        self._front = None if self.costs is None else np.array(front(self.costs), np.bool_)
        self._varied = [_key_kind(self.plan, place) for place in range(len(self.plan.keys))]

    def write(self, rows: Iterable[Row]) -> None:
        """Write runs, points and costs."""
        block = list[Row]()
        finished = (row for row in rows if self.store.has(row.run))
        for _, group in groupby(finished, key=lambda row: row.point.index):
            block += group
            if len(block) >= _BLOCK:
                self._block(block)
                block = []
        if block:
            self._block(block)
        for out in self.outs:
            out.finish()

    def _block(self, rows: Sequence[Row]) -> None:
        runs, means, costs = self.outs
        stored = [self.store.row(row.run) for row in rows]
        records = [None if one.text is None else self.store.decoded(one) for one in stored]
        found = [{} if one is None else flat(one.summary) for one in records]
        self._widen(found, is_first=not runs.has_rows)
        numbers = {
            name: Column.of([one.get(name) for one in found], kind or float)
            for name, kind in self.kinds.items()
        }
        first = self._first(rows, records, [one.error for one in stored])
        for name in first:
            assert name not in numbers, f"a number is called like the key {name}"
        columns = [one.given(name) for name, one in (first | numbers).items()]
        runs.write(Table([*columns, *_histograms(records)]))
        means.write(tables.of_columns(self._points_of(rows, first, numbers)))
        new = [
            {"run": row.run} | {key: None if one is None else one.machine[key] for key in MEASURED}
            for row, one in zip(rows, records, strict=True)
            if self._is_new(row.run)
        ]
        if new:
            kinds = {"run": str} | dict.fromkeys(MEASURED, float) | {"peak_rss_bytes": int}
            costs.write(
                tables.of_columns(
                    {key: Column.of([one[key] for one in new], kinds[key]) for key in new[0]}
                )
            )

    def _is_new(self, run: str) -> bool:
        before = len(self.seen)
        self.seen.add(hash(run))
        return len(self.seen) > before

    def _widen(self, found: Sequence[Mapping[str, Any]], *, is_first: bool) -> None:
        """Take in the columns of a block; raises _WiderError if others have been written."""
        kinds = self.kinds
        before = dict(kinds)
        for name in dict.fromkeys(name for one in found for name in one):
            told = {type(one[name]) for one in found if name in one} - {type(None)}
            known = kinds.get(name)
            told |= set() if known is None else {known}
            assert len(told) <= 1 or told == {int, float}, f"{name} has values of several types"
            kinds[name] = float if len(told) > 1 else next(iter(told), None)
        if before != kinds and not is_first:
            raise _WiderError

    def _first(
        self, rows: Sequence[Row], records: Sequence[Record | None], errors: Sequence[str | None]
    ) -> Columns:
        """Return the columns before the numbers: which run it is, its error, its keys."""
        # A failed run has no summary that names the seed of the scenario.
        seeds = [
            row.seed if one is None else one.summary["run"]["seed"]
            for row, one in zip(rows, records, strict=True)
        ]
        made = {
            "point": Column.of([row.point.index for row in rows]),
            "seed": Column(
                np.array([seed or 0 for seed in seeds], np.uint64),
                np.array([seed is not None for seed in seeds], np.bool_),
            ),
            "run": Column.of([row.run for row in rows]),
            "error": Column.of(list(errors), str),
        }
        for place, key in enumerate(self.plan.keys):
            values = [row.point.values[place] for row in rows]
            kind = self._varied[place]
            if kind is None:
                values, kind = [word(key, value) for value in values], str
            elif kind is str:
                values = [short(key, value) for value in values]
            assert column(key) not in made, "two keys of a scenario have the same column"
            made[column(key)] = Column.of(values, kind)
        return made

    def _points_of(self, rows: Sequence[Row], first: Columns, numbers: Columns) -> Columns:
        """Return a row a point: means over its seeds, intervals if there are two or more.

        Points of which a seed is not done are left out.
        """
        groups: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            groups.setdefault(row.point.index, []).append(place)
        chosen = [places for places in groups.values() if len(places) == self._seeds]
        every = np.array(chosen, np.int64).reshape(-1, self._seeds)
        heads = every[:, 0]
        made = {name: first[name].take(heads) for name in first if name not in _OF_RUNS}
        made["seeds"] = Column.of_array(np.full(len(heads), self._seeds))
        errors = first["error"]
        made["error"] = Column.of(
            [
                next((str(errors.values[at]) for at in places if errors.valid[at]), None)
                for places in chosen
            ],
            str,
        )
        for name, whole in numbers.items():
            if not whole.is_number:
                continue
            # Of all numbers of a summary, only a correlation can be negative.
            positive = not name.endswith("autocorrelation")
            samples = whole.take(every.ravel()).floats().reshape(-1, self._seeds)
            for ending, values in _over_seeds(samples, positive=positive):
                assert name + ending not in made, (
                    f"two columns of points are called {name + ending}"
                )
                made[name + ending] = Column.of_array(values)
        if self._front is not None:
            mine = self._front[self.points : self.points + len(chosen)]
            made["front"] = Column.of_array(mine)
        self.points += len(chosen)
        return made


_OF_RUNS = ("seed", "run", "error")


class _Out:
    """A Parquet file that is written table by table."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._writer: ParquetWriter | None = None

    @property
    def has_rows(self) -> bool:
        return self._writer is not None

    def write(self, table: Table) -> None:
        if self._writer is None:
            self._writer = ParquetWriter(table, _BLOCK, packed=False)
        self._file.write(self._writer.write(table))

    def finish(self) -> None:
        if self._writer is not None:
            self._file.write(self._writer.finish())


def _key_kind(plan: Plan, place: int) -> type | None:
    """Return the type of a key's column; None: words, as its values are of several types."""
    if plan.design == "list":
        values: list[Any] = [row[plan.keys[place]] for row in plan.listed]
    else:
        span = plan.axes[place].values
        if isinstance(span, Range):
            return int if span.is_whole else float
        values = list(span)
    kinds = {type(value) for value in values}
    if kinds <= {int, float}:
        return float if float in kinds else int
    return kinds.pop() if kinds in ({bool}, {str}) else None


def _histograms(records: Sequence[Record | None]) -> Iterator["NewColumn"]:
    empty = np.empty(0, np.int64)
    found = [
        dict.fromkeys(KINDS, (empty, empty)) if one is None else one.buckets for one in records
    ]
    for what in KINDS:
        offsets = np.cumsum([0, *(len(one[what][0]) for one in found)], dtype=np.int32)
        upper_ns, count = (np.concatenate([one[what][side] for one in found]) for side in (0, 1))
        yield f"{what}_histogram", (offsets, upper_ns, count), None


def _whole_points(plan: Plan, store: Store, rows: Iterable[Row]) -> dict[int, list[str]]:
    """Return the points of which every seed is done without an error, each with its runs."""
    found: dict[int, list[str]] = {}
    for row in rows:
        if store.has(row.run) and not store.has_failed(row.run):
            found.setdefault(row.point.index, []).append(row.run)
    seeds = max(1, len(plan.seeds))
    return {index: runs for index, runs in found.items() if len(runs) == seeds}


def _over_seeds(
    samples: NDArray[np.float64], *, positive: bool
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield means, and ends of intervals, with the endings of their columns; NaN for none."""
    if samples.shape[1] == 1:
        yield "", samples[:, 0]
        return
    yield from zip(("", "_low", "_high"), mean_intervals(samples, positive=positive), strict=True)


def costs_of(
    plan: Plan, store: Store, rows: Iterable[Row], *, is_search: bool = False
) -> NDArray[np.float64]:
    """Return the costs of the finished points, means over their seeds, a row each.

    NaN where there is no value; raises UserError for that in a search, unless the run has failed.
    """
    seeds = max(1, len(plan.seeds))
    costs: dict[int, list[list[float]]] = {}
    for row in rows:
        if not store.has(row.run):
            continue
        found = {} if store.has_failed(row.run) else flat(store.read(row.run).summary)
        values = []
        for goal in plan.goals:
            if found and goal.column not in found:
                raise plan.no_column(goal.column, list(found))
            value = found.get(goal.column)
            if is_search and found and not isinstance(value, int | float):
                raise plan.wrong(
                    f"goals: {goal.column} has no value at {row.point.label(plan)}; "
                    "search where every point has such requests"
                )
            values.append(float(value) if isinstance(value, int | float) else np.nan)
        costs.setdefault(row.point.index, []).append(values)
    means = [np.mean(values, axis=0) for values in costs.values() if len(values) == seeds]
    table = np.array(means).reshape(-1, len(plan.goals))
    return goal_costs(
        plan.goals, {goal.column: table[:, place] for place, goal in enumerate(plan.goals)}
    )


def goal_costs(
    goals: Sequence[Goal], columns: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return a row a point and a column a goal, of which less is better; NaN for no value."""
    return np.stack(
        [-columns[goal.column] if goal.is_max else columns[goal.column] for goal in goals], axis=1
    )
