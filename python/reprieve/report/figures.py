"""The report's charts: specifications in the page's own colours, with words for each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from reprieve.plot import charts, over_time, spread
from reprieve.plot.charts import Chart
from reprieve.plot.over_time import COURSES, Clock, Course
from reprieve.plot.rows import Row, Runs, ratios
from reprieve.plot.theme import PAGE, dashes
from reprieve.report.named_datasets import NamedDatasets
from reprieve.roles import bases
from reprieve.series import Op

# The page's script sets it to the runs whose boxes are ticked.
_SHOWN = "shown"
_SHOWN_FILTER = f"indexof({_SHOWN}, datum.run) >= 0"

_HEIGHT_TIME = 200

_OVER_TIME = {
    "read_latency": ("Latency of reads", "Of the reads that were completed in each bin of time."),
    "write_latency": ("Latency of writes", "Of the writes that were completed in each bin."),
    "requests": ("Requests", "Completed in each bin of time."),
    "bandwidth": ("Bandwidth", "Bytes of the requests that were completed, in millions."),
    "open_requests": ("Open requests", "That had arrived and were not complete: mean and most."),
    "suspensions": ("Suspensions", "That took effect in each bin of time."),
    "programs": ("Pages programmed", "By whom they were asked for."),
    "amplification": ("Write amplification", "1 where nothing but the host's pages is programmed."),
    "busy": ("Dies and channels in use", "Mean over all dies, and over all channels."),
}


@dataclass(frozen=True)
class Picks:
    """Choices that a chart offers beside the runs."""

    field: str
    """Of its rows."""
    words: Sequence[str]
    shown: Sequence[str]
    """At first."""
    is_many: bool
    """Any number of them, or one at a time."""
    swatches: Sequence[dict[str, str]] = ()
    """Colour and dashes of each, where lines differ by them."""


@dataclass(frozen=True)
class Figure:
    """A chart and what is said about it."""

    name: str
    title: str
    caption: str
    spec: dict[str, Any]
    picks: Picks | None = None
    is_over_time: bool = False
    by_run: bool = True
    """Whether runs have colours of their own in it."""
    is_narrow: bool = False
    """Whether it is no wider than text: its lines would be flat."""


class _Page(NamedDatasets):
    """The runs that charts are drawn of."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self.runs = runs

    def of(self, runs: Runs) -> "_Page":
        """Return the same for some of the runs."""
        return self if runs.keys() == self.runs.keys() else _Page(runs)

    def figure(
        self,
        name: str,
        title: str,
        caption: str,
        columns: Mapping[str, str],
        chart: Chart,
        picks: Picks | None = None,
        *,
        by_run: bool = True,
        time: Mapping[str, Any] | None = None,
    ) -> Figure:
        """Return a chart with what is said of it, and the columns of its table."""
        if time is None and (picks is None or picks.field != "run"):
            chart = chart.transform_filter(_SHOWN_FILTER)
        chart = chart.add_params(alt.param(name=_SHOWN, value=list(self.runs)))
        spec = self.spec(chart, title, caption)
        spec["usermeta"] = {"columns": columns} | ({} if time is None else {"time": time})
        if picks is not None and picks.field:
            spec["usermeta"]["picks"] = picks.field
        return Figure(name, title, caption, spec, picks, time is not None, by_run)


# Altair's checks take as long as all else that draws a page. Tests check its charts instead.
@debug_mode(False)
def figures(runs: Runs) -> dict[str, Figure]:
    """Return the charts for which these runs have numbers, by name."""
    page = _Page(runs)
    text = "Share complete within a time, each further nine of the percentile with the same height."
    columns, chart = _RUN | {"kind": "kind"} | _CURVE, charts.qos(runs, page.theme)
    drawn = [page.figure("qos", "Reads, writes and both", text, columns, chart)]
    drawn += [*_of_operation(page, "read"), *_of_operation(page, "write"), *_shares(page)]
    watched = {label: run for label, run in runs.items() if run.series is not None}
    if watched:
        seen = page.of(watched)
        for what, course in COURSES.items():
            name, data = f"time-{what.replace('_', '-')}", over_time.rows(watched, course)
            drawn += _course(seen, name, *_OVER_TIME[what], course, data)
        drawn += _spread(seen)
    metered = {label: run for label, run in runs.items() if run.power is not None}
    if metered:
        text = "Mean of each bin, of the supplies of the cores and of the interface."
        data = over_time.power_rows(metered)
        drawn += _course(page.of(metered), "time-power", "Power", text, over_time.POWER, data)
    return {figure.name: figure for figure in drawn}


_RUN = {"run": "run"}
_CURVE = {"latency_us": "latency, µs", "share": "share at or below"}
_MEAN = {"mean_us": "mean, µs"}


def _of_operation(page: _Page, op: str) -> Iterator[Figure]:
    groups = [run.summary["requests"][op] for run in page.runs.values()]
    if not any(group["count"] for group in groups):
        return
    text = f"Share of {op}s that are complete within a time; further left is better."
    columns, chart = _RUN | _CURVE, charts.cdf(page.runs, op, page.theme)
    yield page.figure(f"cdf-{op}", f"All {op}s", text, columns, chart)
    text = f"The same {op}s, each further nine of the percentile with the same height."
    chart = charts.tail(page.runs, op, page.theme)
    yield page.figure(f"tail-{op}", f"Tail of the {op}s", text, columns, chart)
    if any("components_ns" in group for group in groups):
        title = f"Where the time of {op}s went"
        text = f"Mean time of a {op} by what it was spent on."
        columns = _RUN | {"component": "component"} | _MEAN
        chart = charts.components(page.runs, op, page.theme)
        yield page.figure(f"components-{op}", title, text, columns, chart, by_run=False)
    yield from _blame(page, op)


def _blame(page: _Page, op: str) -> Iterator[Figure]:
    kept = {label: run for label, run in page.runs.items() if "blame" in run.summary}
    if not any(run.summary["requests"][op]["count"] for run in kept.values()):
        return
    text = f"Time of all {op}s and of the slowest, by what stood in the way at each nanosecond."
    columns = {"part": "requests", "cause": "behind", "share": "share"} | _MEAN
    title, own = f"What {op}s waited behind", page.of(kept)
    chart = charts.blame(kept, op, own.theme)
    yield own.figure(f"blame-{op}", title, text, columns, chart, by_run=False)


def _shares(page: _Page) -> Iterator[Figure]:
    columns = _RUN | {"what": "", "share": "share"}
    if len(page.runs) > 1:
        named = " and ".join(dict.fromkeys(bases(page.runs).values()))
        text = f"Latency as a multiple of {named}; less is better. Bars with too few requests "
        text += "have no 95 % interval."
        chart, picks = charts.bars(page.runs, page.theme), None
        if len(page.runs) > charts.GROUPED_MOST:
            picks = _one_of(ratios(page.runs), "metric", "read mean")
        multiples = _RUN | {"metric": "latency", "ratio": "multiple"}
        yield page.figure("bars", "Against the base", text, multiples, chart, picks)
    text = "Share of programs and of erases that were suspended at least once."
    chart = charts.suspended(page.runs, page.theme)
    yield page.figure("suspended", "What was suspended", text, columns, chart)
    text = "Shares of the simulated time: mean over the dies, mean over the channels, whole drive."
    chart = charts.busy(page.runs, page.theme)
    yield page.figure("busy", "How busy the drive was", text, columns, chart)


def _course(
    page: _Page, name: str, title: str, caption: str, course: Course, data: list[Row]
) -> Iterator[Figure]:
    if not data:
        return
    lines = over_time.lines(page.runs, course, data, page.theme).transform_filter(_SHOWN_FILTER)
    both: Chart = alt.LayerChart(layer=[lines, over_time.cursor(page.theme)])
    clock = Clock.of(page.runs)
    columns = _RUN | {"time": f"time, {clock.unit}", "series": "", "value": course.title}
    series = list(dict.fromkeys(row["series"] for row in data))
    picks = None
    if len(series) > 1:
        shown = over_time.picked(page.runs, course, series)
        several = len(page.runs) > 1
        picks = Picks("series", series, shown, not several, () if several else swatches(series))
    chart = charts.finished(both, page.theme, _HEIGHT_TIME)
    time = {"unit": clock.unit, "end": clock.end}
    yield page.figure(name, title, caption, columns, chart, picks, time=time)


def _spread(page: _Page) -> Iterator[Figure]:
    several = len(page.runs) > 1
    ops: tuple[Op, ...] = ("read", "write")
    for op in ops:
        if data := spread.slow(page.runs, op):
            text = "By class of latency: what the time of the slowest was spent on."
            title = f"Where the time of slow {op}s went"
            columns = _RUN | {"class": "class", "component": "component"} | _MEAN
            columns |= {"share": "share"}
            picks = _one_of(data, "class", spread.class_shown(data)) if several else None
            chart = spread.slow_chart(page.runs, data, page.theme)
            yield page.figure(f"slow-{op}", title, text, columns, chart, picks, by_run=False)
    if data := spread.ages(page.runs):
        text = "How much of an operation was done when its suspension was asked for."
        columns = _RUN | {"series": "operation", "done": "done from, %"}
        columns |= {"count": "suspensions", "share": "share"}
        kinds = list(dict.fromkeys(row["series"] for row in data))
        picks = _one_of(data, "series", kinds[0]) if several and len(kinds) > 1 else None
        chart = spread.ages_chart(page.runs, data, page.theme)
        picks = picks or _named(kinds, several)
        yield page.figure("ages", "Age at suspension", text, columns, chart, picks)
    data = spread.dies(page.runs)
    text = "Share of the simulated time in which each was in use."
    columns = _RUN | {"channel": "channel", "unit": "unit", "share": "share"}
    picks = _one_of(data, "run", next(iter(page.runs))) if several else None
    chart = spread.dies_chart(page.runs, data, page.theme)
    yield page.figure("dies", "Dies and channels", text, columns, chart, picks, by_run=False)
    columns = _RUN | {"erases": "erases", "blocks": "blocks"}
    chart = spread.wear_chart(page.runs, spread.wear(page.runs), page.theme)
    yield page.figure("wear", "Wear", "Blocks by how often they have been erased.", columns, chart)


def _one_of(data: list[Row], field: str, first: str) -> Picks:
    words = list(dict.fromkeys(row[field] for row in data))
    return Picks(field, words, [first], is_many=False)


def _named(words: list[str], several: bool) -> Picks | None:
    """Return the names of a single run's colours, which are all shown."""
    if several or len(words) == 1:
        return None
    return Picks("", words, words, is_many=True, swatches=swatches(words))


def swatches(labels: Sequence[str], bounds: Collection[str] = ()) -> list[dict[str, str]]:
    """Return colour and dashes of each of these lines, and what is a bound."""
    are_bounds = [label in bounds for label in labels]
    colours, patterns = PAGE.run_colours(len(labels)), dashes(len(labels), are_bounds)
    return [
        {"label": label, "colour": colour, "dash": " ".join(map(str, pattern)),
         "note": " (bound)" if is_bound else ""}
        for label, colour, pattern, is_bound in zip(
            labels, colours, patterns, are_bounds, strict=True
        )
    ]  # fmt: skip
