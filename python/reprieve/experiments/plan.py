"""Plan of a sweep file: a scenario, the keys that vary, the design, seeds and goals."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve import words
from reprieve._native import UserError
from reprieve.named_policies import reference, short
from reprieve.scenario import Source, read_file, toml_text, toml_value
from reprieve.toml_values import parse_toml

Value = Any
"""TOML value of a key: a bool, number, string or list."""

_EVERY = ("scenario", "design", "seeds", "set", "goals")
_ALLOWED = {
    "grid": ("axes",),
    "list": ("points",),
    "random": ("axes", "samples", "design_seed"),
    "sobol": ("axes", "samples", "design_seed"),
    "pareto": ("axes", "samples", "design_seed", "batch"),
}
_NEEDED = {
    "grid": ("axes",),
    "list": ("points",),
    "random": ("axes", "samples"),
    "sobol": ("axes", "samples"),
    "pareto": ("axes", "samples", "goals"),
}
_BATCH = 32
_POINTS_MAX = 10**7
RANGE_MAX = 2**1023
"""Half of the greatest number, so that a range has a length."""


@dataclass(frozen=True)
class Range:
    """All numbers from one to another, both included; whole numbers if both are."""

    low: int | float
    high: int | float
    is_log: bool = False
    """Whether the scale is logarithmic."""
    points: int | None = None
    """Number of values in a grid."""

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True)
class Axis:
    """A key of the scenario and the values it may take."""

    key: str
    values: tuple[Value, ...] | Range


@dataclass(frozen=True)
class Goal:
    """A column of the data set that should be small, or large."""

    column: str
    is_max: bool


@dataclass(frozen=True)
class Plan:
    """A sweep, checked as far as that is possible without its scenario."""

    path: str
    """Shown in errors."""
    source: Source
    design: str
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    """Each point runs with each; empty: with that of the scenario."""
    goals: tuple[Goal, ...]
    samples: int
    """Points of a design that draws them."""
    design_seed: int
    batch: int
    """Points that a search asks for at once."""
    listed: tuple[Mapping[str, Value], ...]
    """Points of a design that lists them."""

    def wrong(self, sentence: str) -> UserError:
        """Return an error about this sweep."""
        return UserError(f"{self.path}: {sentence}")

    def no_column(self, name: str, known: Sequence[str]) -> UserError:
        """Return an error about a goal that the data set does not know."""
        hint = words.hint(name, known, "see the columns of the data set")
        return self.wrong(f"goals: there is no column {name}; {hint}")

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that vary from point to point."""
        if self.design == "list":
            return tuple(self.listed[0])
        return tuple(axis.key for axis in self.axes)


class _Reader:
    """Takes the keys of a sweep file one by one, and says what is wrong with them."""

    def __init__(self, document: Mapping[str, Any], path: str, folder: Path) -> None:
        """Take paths in the sweep from a folder."""
        self.document = document
        self.folder = folder
        self._path = path

    def wrong(self, sentence: str) -> UserError:
        return UserError(f"{self._path}: {sentence}")

    def one_of(self, key: str, words: Sequence[str]) -> str:
        value = self.document.get(key)
        if value not in words:
            found = f'is "{value}"' if value is not None else "is missing"
            raise self.wrong(f"{key}: {found}; must be one of {', '.join(words)}")
        return str(value)

    def check_keys(self, design: str) -> None:
        allowed = (*_EVERY, *_ALLOWED[design])
        for key in self.document:
            if key not in allowed:
                hint = words.hint(key, allowed, f"it has {', '.join(allowed)}")
                raise self.wrong(f"{key}: the design {design} has no such key; {hint}")
        for key in _NEEDED[design]:
            if key not in self.document:
                raise self.wrong(f"{key}: is missing; the design {design} needs it")

    def whole(self, key: str, least: int, absent: int) -> int:
        value = self.document.get(key, absent)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(f"{key}: is {value!r}; must be a whole number from {least}")
        return value

    def table(self, key: str) -> dict[str, Any]:
        """Return a table of scenario keys, dotted ones as one."""
        value = self.document.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(f"{key}: is {value!r}; must be a table")
        return _flat(value)

    def toml(self, key: str, value: Any) -> str:
        """Write a value in TOML; UserError, which names the key, if TOML has no such value."""
        return toml_value(value, f"{self._path}: {key}")

    def axis(self, key: str, value: Any, design: str) -> Axis:
        if isinstance(value, Mapping):
            return Axis(key, self._range(key, value, design))
        if key == "workload.trace" and isinstance(value, str | os.PathLike):
            return Axis(key, self._traces(self.folder / value))
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            raise self.wrong(
                f"axes.{key}: is {value!r}; must be a list of values, or a range such as "
                "{ from = 1, to = 10 }"
            )
        values = tuple(reference(item) for item in value)
        texts = [self.toml(f"axes.{key}", short(key, item)) for item in values]
        for place, text in enumerate(texts):
            if text in texts[:place]:
                raise self.wrong(f"axes.{key}: has {text} twice; give each value once")
        return Axis(key, values)

    def _traces(self, where: Path) -> tuple[str, ...]:
        """Return the files of a folder, or those that a pattern fits, by name."""
        found = where.iterdir() if where.is_dir() else where.parent.glob(where.name)
        # Hidden files, and pages about the traces, are none.
        files = [each for each in found if each.is_file() and each.name[0] != "."]
        names = tuple(sorted(str(each) for each in files if each.suffix != ".md"))
        if not names:
            raise self.wrong(
                f"axes.workload.trace: {where} has no file; name a folder or a pattern"
            )
        return names

    def _range(self, key: str, table: Mapping[str, Any], design: str) -> Range:
        where = f"axes.{key}"
        for name in table:
            if name not in ("from", "to", "scale", "points"):
                raise self.wrong(f"{where}: {name} is unknown; a range has from, to, scale, points")
        for name in ("from", "to"):
            value: Any = table.get(name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not abs(value) < RANGE_MAX:
                raise self.wrong(f"{where}: {name} is {value!r}; must be a number below 2^1023")
        low, high, scale = table["from"], table["to"], table.get("scale", "linear")
        if scale not in ("linear", "log"):
            raise self.wrong(f'{where}: scale is {scale!r}; must be "linear" or "log"')
        if not low < high:
            raise self.wrong(f"{where}: from {low} to {high} is empty; from must be below to")
        if scale == "log" and low <= 0:
            raise self.wrong(f"{where}: from {low}: a logarithmic range begins above 0")
        points = table.get("points")
        is_grid = design == "grid"
        if (points is None) == is_grid:
            needs = "needs" if is_grid else "draws its own, and has no"
            raise self.wrong(f"{where}: the design {design} {needs} points of a range")
        if points is not None:
            words.whole(f"{self._path}: {where}.points", points, 2, _POINTS_MAX)
        return Range(low, high, scale == "log", points)

    def seeds(self) -> tuple[int, ...]:
        seeds = self.document.get("seeds", [])
        if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds > 0:
            return tuple(range(1, seeds + 1))
        is_list = isinstance(seeds, Sequence) and not isinstance(seeds, str)
        if not is_list or not all(type(seed) is int and seed >= 0 for seed in seeds):
            raise self.wrong(
                f"seeds: is {seeds!r}; must be a list of different seeds, or how many: 3 is 1, 2, 3"
            )
        if len(set(seeds)) < len(seeds):
            raise self.wrong(f"seeds: {seeds} has one twice; each would be the same run again")
        return tuple(seeds)

    def goals(self) -> tuple[Goal, ...]:
        goals = self.document.get("goals", {})
        if not isinstance(goals, Mapping) or not all(
            way in ("min", "max") for way in goals.values()
        ):
            raise self.wrong(
                f'goals: is {goals!r}; must be a table such as {{ read_latency_ns_p99 = "min" }}'
            )
        return tuple(Goal(column, way == "max") for column, way in goals.items())

    def points(self) -> tuple[Mapping[str, Value], ...]:
        listed = self.document.get("points", [])
        if not isinstance(listed, Sequence) or not all(isinstance(row, Mapping) for row in listed):
            raise self.wrong(f"points: is {listed!r}; must be tables [[points]]")
        rows = tuple(_flat(row) for row in listed)
        for number, row in enumerate(rows, 1):
            for key, value in row.items():
                self.toml(f"points.{key}", value)
            if not row or set(row) != set(rows[0]):
                raise self.wrong(
                    f"points: the {number}. has the keys {', '.join(row) or 'none'}, the first "
                    f"{', '.join(rows[0]) or 'none'}; all must have the same"
                )
        if "points" in self.document and not rows:
            raise self.wrong("points: there is none; add a table [[points]]")
        return rows


def read_plan(sweep: str | os.PathLike[str] | Mapping[str, Any]) -> Plan:
    """Read a sweep from a file or a dictionary of the same form; raises UserError if wrong."""
    if isinstance(sweep, Mapping):
        return _plan(sweep, "<dict>", Path.cwd())
    path = Path(sweep)
    text = read_file(path, "sweep")
    return _plan(parse_toml(text, str(path)), str(path), path.resolve().parent)


def _plan(document: Mapping[str, Any], path: str, folder: Path) -> Plan:
    read = _Reader(document, path, folder)
    design = read.one_of("design", tuple(_ALLOWED))
    read.check_keys(design)
    axes = tuple(read.axis(key, value, design) for key, value in read.table("axes").items())
    if "axes" in document and not axes:
        raise read.wrong("axes: there is none; name a key and its values")
    plan = Plan(
        path=path,
        source=_source(read),
        design=design,
        axes=axes,
        seeds=read.seeds(),
        goals=read.goals(),
        samples=read.whole("samples", 1, 1),
        design_seed=read.whole("design_seed", 0, 1),
        batch=read.whole("batch", 2, _BATCH),
        listed=read.points(),
    )
    _check_sets(plan)
    return plan


def _source(read: _Reader) -> Source:
    scenario = read.document.get("scenario")
    if scenario is None:
        raise read.wrong("scenario: is missing; name a scenario file")
    if isinstance(scenario, Mapping):
        source = Source(toml_text(scenario), str(read.folder / "<dict>"))
    elif isinstance(scenario, str | os.PathLike):
        source = Source.read(read.folder / scenario)
    else:
        raise read.wrong(f"scenario: is {scenario!r}; must be the path of a scenario file")
    sets = read.table("set").items()
    return source.with_sets([f"{key}={read.toml(f'set.{key}', value)}" for key, value in sets])


def _check_sets(plan: Plan) -> None:
    """Refuse a key that is given twice: which of the two counts would not be visible."""
    seen = plan.source.keys_set
    for key in plan.keys:
        if key in seen:
            raise plan.wrong(f"{key}: is set for all points, and varies; give it once")
        if key == "seed":
            raise plan.wrong("seed: is no axis; write seeds = [1, 2, 3], or a number of them")
    if plan.seeds and "seed" in seen:
        raise plan.wrong("seed: is set, and there are seeds too; give one of the two")


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Join nested tables to dotted keys; a table with `from` is a range."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{before}{key.replace('__', '.')}"
        if isinstance(value, Mapping) and "from" not in value:
            flat |= _flat(value, f"{name}.")
        else:
            flat[name] = reference(value)
    return flat
