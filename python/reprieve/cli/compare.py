"""`reprieve compare`: the same scenario at each value of some keys."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli.console import progress, say, sentence, show, table
from reprieve.cli.notes import certainty, mark_of, measured
from reprieve.cli.options import AllowPython, Force, ScenarioFile, Sets, given, keys, out_dir
from reprieve.comparison import Axis, Comparison, Settings, compare_into
from reprieve.confidence import TOO_FEW, is_known
from reprieve.extras import has_plots, missing
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write
from reprieve.pairs import Paired, latency
from reprieve.report.tables import waf
from reprieve.result import Result
from reprieve.scenario import Source
from reprieve.units import NOTHING

_LONG_NS = 1_000_000
_METRICS = {"mean": "mean", "p99": "p99", "p99_99": "p99.99"}


def compare(
    scenario: ScenarioFile,
    axes: Annotated[
        list[str],
        given(
            "A key and its values, such as policy=FIFO,RPS; repeated, all combinations run.",
            "KEY=V1,V2,…",
            "--axis",
            complete=keys,
        ),
    ],
    sets: Sets = None,
    out: Annotated[Path | None, out_dir("out/SCENARIO-compare")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time.", show_default="one a core")
    ] = None,
    allow_python: AllowPython = False,
    force: Force = False,
) -> None:
    """Run a scenario at each value of a key and compare all with the first.

    Each run's results go to DIR/LABEL, a report over all of them to DIR/report.html
    where the extra `plots` is installed.
    """
    source = Source.read(scenario, sets or ())
    parsed = [Axis.parse(text) for text in axes]
    directory = Path("out", f"{scenario.stem}-compare") if out is None else out
    trust(is_trusted=allow_python)
    may_write([], directory, inputs=inputs_of(source), force=force)
    with progress() as bars:
        settings = Settings(
            jobs,
            shlex.join(["reprieve", *sys.argv[1:]]),
            lambda run, share, done: bars(run.label, share, done),
        )
        comparison = compare_into(source, parsed, directory, settings)
    _show(comparison)
    names = ["compare.json", "report.html"] if has_plots() else ["compare.json"]
    say("wrote " + ", ".join(str(directory / name) for name in names))
    if not has_plots():
        say(missing("report.html", "altair", "plots"))


def _show(comparison: Comparison) -> None:
    first = next(iter(comparison))
    columns = [f"{op} {metric}" for op in ("read", "write") for metric in _METRICS.values()]
    rows = table(
        f"Latency, as multiples of {first}",
        [", ".join(axis.key for axis in comparison.axes), *columns, "suspensions", "WAF"],
    )
    rows.add_row(f"{first}, µs", *_absolute(comparison[first]), "", "", style="dim")
    found = {label: comparison.paired(label) for label in comparison if label != first}
    marked = set[str]()
    for label, ratios in comparison.normalised().items():
        flash = comparison[label].summary["flash"]
        cells = [
            (NOTHING, "")
            if ratio is None
            else (f"{ratio:.3f}", mark)
            if is_known
            else (TOO_FEW, "")
            for mark, ratio, is_known in zip(
                _marks(found.get(label)), ratios.values(), _known(comparison, label), strict=True
            )
        ]
        marked.update(mark for _, mark in cells)
        rows.add_row(
            label,
            *(f"{mark}{text}" for text, mark in cells),
            f"{sum(flash['suspensions'].values()):,}",
            waf(comparison[label]),
        )
    show(rows)
    for note in [*measured(comparison), *certainty(comparison, found, marked=marked)]:
        sentence(note)


def _marks(found: Mapping[str, Paired] | None) -> list[str]:
    """Return the mark before each multiple; none for the first run."""
    names = [latency(op, figure) for op in ("read", "write") for figure in _METRICS]
    return ["" if found is None else mark_of(found[name]) for name in names]


def _known(comparison: Comparison, label: str) -> list[bool]:
    """Return of each multiple whether both runs have enough requests for the figure."""
    both = (next(iter(comparison.values())), comparison[label])
    return [
        all(is_known(run.summary["requests"][op]["count"], figure) for run in both)
        for op in ("read", "write")
        for figure in _METRICS
    ]


def _absolute(result: Result) -> list[str]:
    groups = [result.summary["requests"][op] for op in ("read", "write")]
    return [
        NOTHING
        if not group["count"]
        else microseconds(group["latency_ns"][key])
        if is_known(group["count"], key)
        else TOO_FEW
        for group in groups
        for key in _METRICS
    ]


def microseconds(ns: float) -> str:
    """Return a time in µs: of a millisecond and more, a tenth of one is nothing but width."""
    return f"{ns / 1000:,.{0 if ns >= _LONG_NS else 1}f}"
