"""The report's charts: specifications in the page's own colours, with words for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from reprieve.plot import charts
from reprieve.plot.charts import Chart
from reprieve.plot.rows import Runs
from reprieve.plot.theme import COMPONENTS, RUNS_LIGHT, Theme

THEME = Theme(
    runs=[f"var(--run-{index})" for index in range(len(RUNS_LIGHT))],
    components=[f"var(--{name.replace('_', '-')})" for name in COMPONENTS],
    ink="var(--ink)",
    muted="var(--muted)",
    grid="var(--grid)",
    width="container",
    legends=False,
)
"""Colours are names that the style sheet gives a value, one for light and one for dark pages."""

# The page's script sets it to the runs whose boxes are ticked.
_SHOWN = "shown"


@dataclass(frozen=True)
class Figure:
    """A chart and what is said about it."""

    name: str
    title: str
    caption: str
    spec: dict[str, Any]


def figures(runs: Runs) -> dict[str, Figure]:
    """Return the charts for which these runs have numbers, by name."""
    text = "Share complete within a time, each further nine of the percentile with the same height."
    title = "Reads, writes and both"
    drawn = [_figure("qos", title, text, charts.qos(runs, THEME), runs)]
    drawn += [figure for op in ("read", "write") for figure in _of_operation(runs, op)]
    if len(runs) > 1:
        text = f"Latency as a multiple of {next(iter(runs))}, with 95 % intervals; less is better."
        drawn.append(_figure("bars", "Against the first", text, charts.bars(runs, THEME), runs))
    text = "Share of programs and of erases that were suspended at least once."
    chart = charts.suspended(runs, THEME)
    drawn.append(_figure("suspended", "What was suspended", text, chart, runs))
    text = "Shares of the simulated time: mean over the dies, mean over the channels, whole drive."
    drawn.append(_figure("busy", "How busy the drive was", text, charts.busy(runs, THEME), runs))
    return {figure.name: figure for figure in drawn}


def _of_operation(runs: Runs, op: str) -> list[Figure]:
    groups = [run.summary["requests"][op] for run in runs.values()]
    if not any(group["count"] for group in groups):
        return []
    text = f"Share of {op}s that are complete within a time; further left is better."
    drawn = [_figure(f"cdf-{op}", f"All {op}s", text, charts.cdf(runs, op, THEME), runs)]
    text = f"The same {op}s, each further nine of the percentile with the same height."
    chart = charts.tail(runs, op, THEME)
    drawn.append(_figure(f"tail-{op}", f"Tail of the {op}s", text, chart, runs))
    if any("components_ns" in group for group in groups):
        text = f"Mean time of a {op} by what it was spent on."
        chart = charts.components(runs, op, THEME)
        title = f"Where the time of {op}s went"
        drawn.append(_figure(f"components-{op}", title, text, chart, runs))
    return drawn


def _figure(name: str, title: str, caption: str, chart: Chart, runs: Runs) -> Figure:
    shown = alt.param(name=_SHOWN, value=list(runs))
    chart = chart.add_params(shown).transform_filter(f"indexof({_SHOWN}, datum.run) >= 0")
    spec = chart.properties(description=f"{title}. {caption}").to_dict()
    return Figure(name, title, caption, spec)
