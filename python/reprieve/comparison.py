"""Runs of one scenario at each value of one or more keys, side by side."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve import frames
from reprieve._native import UserError
from reprieve.extras import has_plots, need_plots
from reprieve.named_policies import short
from reprieve.notebook import bars
from reprieve.outputs import ResultDirectory, replace_file
from reprieve.pairs import Paired, half_width, latency, paired
from reprieve.parallel import each
from reprieve.precision import Aim, narrowed
from reprieve.result import Result
from reprieve.roles import bases, bounds_in, is_named
from reprieve.scenario import ScenarioLike, Source, toml_value
from reprieve.simulation import Files, Watch, run_into, simulate
from reprieve.words import toml_or_word

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from reprieve.plot import Plots
_FIGURES = ("mean", "p99", "p99_9", "p99_99")
_NO_FOLDER = r"^\.|\.(?=json$|html$)|[^\w.=+-]+"
"""Parts of a label that would lead out of the folder of results, or to a file in it."""
_METRICS = tuple((op, figure) for op in ("read", "write") for figure in _FIGURES)


@dataclass(frozen=True)
class Axis:
    """A key of the scenario and the values it takes."""

    key: str
    values: tuple[str, ...]
    """As TOML, or bare words."""
    arms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Overrides of arms, by the name that is the value; `key` is then none of the scenario."""

    def sets(self, value: str) -> tuple[str, ...]:
        """Return the overrides `KEY=VALUE` of a value."""
        return self.arms[value] if self.arms else (f"{self.key}={value}",)

    @classmethod
    def of_arms(cls, texts: Sequence[str]) -> Axis:
        """Parse arms, `NAME KEY=VALUE …` each, as a shell splits words."""
        arms = dict[str, tuple[str, ...]]()
        for text in texts:
            try:
                name, *sets = shlex.split(text) or [""]
            except ValueError:
                raise UserError(f"--arm {text}: a quote is not closed") from None
            if not name or "=" in name or any("=" not in one for one in sets):
                raise UserError(
                    f"--arm {text}: must be NAME KEY=VALUE …, such as 'cancel policy=PES-IPC'"
                )
            given = [one.partition("=")[0].strip() for one in sets]
            if twice := next((key for key in given if given.count(key) > 1), None):
                raise UserError(f"--arm {text}: has {twice} twice; give it once")
            if name in arms:
                raise UserError(f"--arm {text}: there is another arm {name}; give each a name")
            arms[name] = tuple(sets)
        return cls("arm", tuple(arms), arms)

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Parse `KEY=V1,V2,…`; a comma inside quotes or brackets belongs to its value."""
        key, equals, values = text.partition("=")
        if not equals or not key.strip():
            raise UserError(f"--axis {text}: must be KEY=V1,V2,…, such as policy=FIFO,RPS")
        return cls(key.strip(), tuple(_split(values, text)))


def _split(values: str, text: str) -> list[str]:
    pieces, piece, depth, quote = [], "", 0, ""
    for character in values:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[]":
            depth += 1 if character == "[" else -1
        if character == "," and depth == 0 and not quote:
            pieces.append(piece.strip())
            piece = ""
        else:
            piece += character
    if quote or depth != 0:
        raise UserError(f"--axis {text}: a quote or bracket is not closed")
    return [*pieces, piece.strip()]


@dataclass(frozen=True)
class Run:
    """One point of the comparison, before it has run."""

    label: str
    """Unique among the runs, short enough for a table."""
    directory: str
    """Where its results go, below the comparison's directory."""
    sets: tuple[str, ...]
    """Overrides of this run, `KEY=VALUE`."""


def plan(source: Source, axes: Sequence[Axis], baseline: str | None = None) -> list[Run]:
    """Cross the axes, the last varying fastest, and check every scenario before any runs."""
    _check(source, axes)
    runs = []
    for values in product(*(axis.values for axis in axes)):
        words = [_word(axis.key, value) for axis, value in zip(axes, values, strict=True)]
        if len(axes) > 1:
            names = [axis.key.rsplit(".", 1)[-1] for axis in axes]
            words = [f"{name}={word}" for name, word in zip(names, words, strict=True)]
        label = " ".join(words)
        pairs = zip(axes, values, strict=True)
        sets = tuple(one for axis, value in pairs for one in axis.sets(value))
        runs.append(Run(label, re.sub(_NO_FOLDER, "_", label), sets))
    for index, run in enumerate(runs):
        for earlier in runs[:index]:
            if run.directory == earlier.directory:
                other = ", and different classes different names"
                raise UserError(
                    f"--axis: {' '.join(earlier.sets)} and {' '.join(run.sets)} would share the "
                    f"directory {run.directory}; give each value once"
                    f"{other if run.sets != earlier.sets else ''}"
                )
        _resolve(source, axes, run)
    if baseline is not None and not any(is_named(run.label, baseline) for run in runs):
        labels = ", ".join(run.label for run in runs)
        raise UserError(f"--baseline {baseline}: must be one of the runs {labels}")
    return runs


def _resolve(source: Source, axes: Sequence[Axis], run: Run) -> None:
    """Check the scenario of a run; an error of an axis's key names the axis."""
    try:
        source.with_sets(run.sets).resolve()
    except UserError as error:
        text = str(error)
        for axis in axes:
            keys = [one.partition("=")[0] for value in axis.values for one in axis.sets(value)]
            told = tuple(f"--set: {key}{end}" for key in keys for end in (":", " ="))
            if text.startswith(told):
                option = f"--arm {run.label}:" if axis.arms else "--axis"
                raise UserError(f"{option} {text.removeprefix('--set: ')}") from None
        raise


def _check(source: Source, axes: Sequence[Axis]) -> None:
    if not axes:
        raise UserError("compare: no axis is given; add one, such as --axis policy=FIFO,RPS")
    seen = source.keys_set
    for axis in axes:
        if axis.key in seen:
            raise UserError(f"--axis {axis.key}: the key is also set elsewhere; give it once")
        if not axis.values or not all(axis.values):
            raise UserError(f"--axis {axis.key}: a value is empty; must be KEY=V1,V2,…")
        seen += axis.arms or [axis.key]


def _word(key: str, value: str) -> str:
    """Return a value as a reader writes it: a TOML string without its quotes, a policy's name."""
    parsed = toml_or_word(value)
    return str(short(key, parsed)) if isinstance(parsed, str) else value


class Comparison(Mapping[str, Result]):
    """Results by label, in the order of the axes, each measured by one of `bases`.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> found = rp.compare({"device": "fast12-mlc", "workload": load}, {"policy": ["FIFO", "PE0"]})
    >>> found["PE0"].latency("read").mean < found["FIFO"].latency("read").mean
    True
    >>> found.paired("PE0")["read_latency_ns_mean"]["decided"]
    True
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        runs: Sequence[Run],
        results: Mapping[str, Result],
        baseline: str | None = None,
    ) -> None:
        self.axes = tuple(axes)
        self.runs = tuple(run for run in runs if run.label in results)
        self.missing = tuple(run.label for run in runs if run.label not in results)
        """Runs that an interrupt ended."""
        self._results = {run.label: results[run.label] for run in self.runs}
        self.known = ""
        """How narrow the intervals are, if that ended the runs."""
        self.bases = bases(self._results, baseline)
        """For each run the one that it is measured by: read priority under the same load."""

    def __getitem__(self, label: str) -> Result:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<reprieve.Comparison: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        from reprieve.html import latencies

        axes = ", ".join(axis.key for axis in self.axes)
        return "".join(
            latencies(
                f"{op}s", {name: run.summary["requests"][op] for name, run in self.items()}, axes
            )
            for op in ("read", "write")
            if any(run.summary["requests"][op]["count"] for run in self.values())
        )

    def normalised(self) -> dict[str, dict[str, float | None]]:
        """Return latencies of each run as multiples of its base: `read_mean`, `read_p99`, ….

        None where one of the two runs has no such request.
        """
        return {
            label: {
                f"{op}_{metric}": _ratio(result, self[self.bases[label]], op, metric)
                for op, metric in _METRICS
            }
            for label, result in self.items()
        }

    def paired(self, label: str, base: str | None = None) -> dict[str, Paired]:
        """Return the differences of a run from another, by default its base, at 95 %.

        Keys are measures with their units, such as `read_latency_ns_p99` or `device_iops`. Batches
        of the same requests are compared. A measure is `decided` if its interval excludes 0.

        Raises UserError if there is no run of this label.
        """
        other = self.bases.get(label, label) if base is None else base
        for name in (label, other):
            if name not in self:
                raise UserError(f'paired("{name}"): must be one of {", ".join(self)}')
        return paired([self[label]], [self[other]])

    def to_arrow(self) -> pa.Table:
        """Return one row a run: its `label`, the value of each axis, and its summary, flat.

        Raises UserError if pyarrow is not installed.
        """
        pa = frames.pyarrow("to_arrow()")
        rows = []
        for run in self.runs:
            values = [text.partition("=")[::2] for text in run.sets]
            row = {"label": run.label} | {key: toml_or_word(value) for key, value in values}
            rows.append(row | frames.flat(self[run.label].summary))
        # A run may have what the first has not, such as a read cache.
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])

    def to_pandas(self) -> pd.DataFrame:
        """Return the same as a pandas frame; raises UserError if pandas is not installed."""
        return frames.to_pandas(self.to_arrow)

    def to_polars(self) -> pl.DataFrame:
        """Return the same as a polars frame; raises UserError if polars is not installed."""
        return frames.to_polars(self.to_arrow)

    @property
    def plot(self) -> Plots:
        """Charts of all runs; raises UserError without the packages of `reprieve[plots]`."""
        need_plots("a chart")
        from reprieve.plot import Plots

        return Plots(self)

    def report(self, path: str | Path, command: str = "reprieve compare") -> None:
        """Write one report over all runs; raises UserError if it cannot be written."""
        need_plots("a report")
        from reprieve.report.page import render

        replace_file(Path(path), render(self, command))

    def to_json(self) -> str:
        """Return `compare.json`: axes, runs with summaries, each run against those before it."""
        document = {
            "schema": 1,
            "partial": bool(self.missing),
            "axes": [{"key": axis.key, "values": list(axis.values)} for axis in self.axes],
            "runs": [
                {
                    "label": run.label,
                    "directory": run.directory,
                    "sets": list(run.sets),
                    "base": self.bases[run.label],
                    "is_bound": bool(bounds_in(self[run.label].scenario)),
                    "summary": self[run.label].summary,
                }
                for run in self.runs
            ],
            "paired": [
                {"run": label, "base": base, "measures": self.paired(label, base)}
                for base, label in combinations(self, 2)
            ],
        }
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _ratio(result: Result, first: Result, op: str, metric: str) -> float | None:
    ours, base = (side.summary["requests"][op]["latency_ns"][metric] for side in (result, first))
    return ours / base if ours and base else None


def compare(
    scenario: ScenarioLike,
    axes: Mapping[str, Sequence[Any]],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    series: bool = False,
    baseline: str | None = None,
    until_decided: str | None = None,
    minutes: float | None = None,
    **overrides: Any,
) -> Comparison:
    """Run a scenario at every combination of the axes' values, in threads.

    `axes`: key to values, such as `{"policy": ["FIFO", "RPS"]}`. A policy of your own is a value
    of `suspension.policy` or `scheduling.policy`: its class, or `"FILE.py:NAME"`.
    `out`: a directory for the results of each run, `compare.json` and, where `reprieve[plots]` is
    installed, `report.html`.
    `jobs`: runs at a time; by default one a core.
    `series`: keep how each run goes over time; a directory's report has it anyway.
    `until_decided`: with `out`, run all again with more requests until the interval of every ratio
    to the base is as narrow, such as `"read.p99 5%"`, or a longer run would begin after `minutes`.
    `baseline`: the label that others are measured by; by default read priority without suspension.
    `scenario` and `overrides` as for `run`.

    Raises UserError before anything runs if any of the scenarios is wrong.

    >>> load = {"generator": "mixed", "requests": 500, "read_fraction": 0.7, "queue_depth": 8}
    >>> axes = {"policy": ["FIFO", "RPS"], "workload.queue_depth": [1, 16]}
    >>> list(rp.compare({"device": "fast12-mlc", "workload": load}, axes))[:2]
    ['policy=FIFO queue_depth=1', 'policy=FIFO queue_depth=16']
    """
    source = Source.of(scenario, overrides)
    for key, values in axes.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise UserError(
                f"axes: {key} = {values!r}: must be a list of values, [{values!r}, ...]"
            )
    parsed = [
        Axis(key.replace("__", "."), tuple(toml_value(value) for value in values))
        for key, values in axes.items()
    ]
    with bars() as update:

        def show(run: Run, share: float | None, requests: int) -> None:
            update(run.label, share, f"{requests:,} requests")

        if out is not None:
            aim = None if until_decided is None else Aim.parse(until_decided)
            settings = Settings(jobs, watch=show, baseline=baseline, aim=aim, minutes=minutes)
            return compare_into(source, parsed, Path(out), settings)

        def one(_run: Run, made: Source, watch: Watch) -> Result:
            return simulate(made, keep_series=series, watch=watch)

        runs = plan(source, parsed, baseline)
        return _made(source, parsed, runs, Settings(jobs, watch=show, baseline=baseline), one)


def _nobody(_run: Run, _share: float | None, _requests: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Settings:
    """Settings of `compare_into`."""

    jobs: int | None = None
    """Runs at a time; None: one a core."""
    command: str = "reprieve compare"
    """Shown in the report as what repeats it."""
    watch: Callable[[Run, float | None, int], None] = _nobody
    """Called from the threads with a run, its share done and its requests completed."""
    interrupted: Callable[[], None] | None = None
    """Called on an interrupt, after which the whole runs are compared; None: it ends all."""
    baseline: str | None = None
    """Label of the run that others are measured by; None: read priority."""
    aim: Aim | None = None
    """Width of the ratios to the base that ends the runs."""
    minutes: float | None = None
    """With an aim: no longer run begins after this time."""


def compare_into(
    source: Source, axes: Sequence[Axis], directory: Path, settings: Settings
) -> Comparison:
    """Run all points, each into its own directory, and write what covers them all.

    After an interrupt the comparison has the runs that are whole, the first among them. With an
    aim all are run again with more requests, until the widest interval of a ratio is as narrow.
    """
    if settings.aim is None:
        return _compare_once(source, axes, directory, settings)
    aim = settings.aim

    def widest(made: Comparison) -> float | None:
        column = latency(aim.op, aim.figure)
        found = [made.paired(one)[column] for one, base in made.bases.items() if one != base]
        return max((half_width(pair) for pair in found), default=math.inf)

    again = partial(_compare_once, axes=axes, directory=directory, settings=settings)
    found = narrowed(source, aim, settings.minutes, again, widest, Comparison.values)
    found.made.known = f"the widest ratio of {found.sentence}"
    return found.made


def _compare_once(
    source: Source, axes: Sequence[Axis], directory: Path, settings: Settings
) -> Comparison:
    runs = plan(source, axes, settings.baseline)
    with ResultDirectory(directory) as out:
        # The runs of an earlier comparison stay with it.
        outer = out if (directory / "compare.json").exists() else None

        def one(run: Run, made: Source, watch: Watch) -> Result:
            files = Files(series=True)
            return run_into(made, directory / run.directory, files, watch, outer=outer)[0]

        comparison = _made(source, axes, runs, settings, one)
        if comparison.missing and (directory / "compare.json").exists():
            return comparison
        if has_plots() and not comparison.missing:
            from reprieve.report.page import render

            out.write("report.html", render(comparison, settings.command))
        out.write("compare.json", comparison.to_json())
        out.commit(stale=("report.html",))
    return comparison


def _made(
    source: Source,
    axes: Sequence[Axis],
    runs: Sequence[Run],
    settings: Settings,
    one: Callable[[Run, Source, Watch], Result],
) -> Comparison:
    """Do `one` for every run, side by side, and compare those that are whole."""
    whole = dict[str, Result]()

    def done(run: Run, watch: Watch) -> None:
        def both(share: float | None, requests: int) -> None:
            watch(share, requests)
            settings.watch(run, share, requests)

        whole[run.label] = one(run, source.with_sets(run.sets), both)

    try:
        each(runs, settings.jobs, done)
    except KeyboardInterrupt:
        if settings.interrupted is None or runs[0].label not in whole:
            raise
        settings.interrupted()
    return Comparison(axes, runs, whole, settings.baseline)
