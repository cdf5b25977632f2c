"""Charts of how runs went over time: latencies, throughput, suspensions, programs, power."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import altair as alt
import numpy as np

from reprieve._native import UserError
from reprieve.plot.charts import DECADES, PICKED, chart_of, dashed, legend_of
from reprieve.plot.rows import Row, Runs, rounded
from reprieve.plot.theme import Theme
from reprieve.series import Array, Op, Series

# Lines of all runs of a chart together have no more points than this, whatever their number.
_POINTS = 2560

_Measure = Callable[[Series], Array]


@dataclass(frozen=True)
class Course:
    """Measures of a chart over time."""

    title: str
    """Of its axis, with the unit."""
    measures: Mapping[str, _Measure]
    """Its lines, by label."""
    shown: str
    """The one that a comparison begins with."""
    is_log: bool = False


def _ratio(dividend: Array, divisor: Array, otherwise: float) -> Array:
    ratio = np.full(len(dividend), otherwise)
    np.divide(dividend, divisor, out=ratio, where=divisor > 0)
    return ratio


def _a_second(name: str, scale: float = 1.0) -> _Measure:
    """Return a column as a rate."""

    def rate(series: Series) -> Array:
        length_ns = series.bins["length_ns"]
        counts = series.bins[name] / scale * 1e9
        return _ratio(counts, length_ns, 0.0)

    return rate


def _column(name: str) -> _Measure:
    """Return a column as it is."""
    return lambda series: series.bins[name]


def _share(name: str) -> _Measure:
    """Return time in use as a share of the time of all that the series has under the same name."""

    def share(series: Series) -> Array:
        whole_ns = series.bins["length_ns"] * max(len(getattr(series, name)), 1)
        return _ratio(series.bins[name], whole_ns, 0.0)

    return share


def _latency(op: Op) -> Course:
    def percentile(percent: float) -> _Measure:
        return lambda series: series.percentile_ns(op, percent) / 1000

    def longest(series: Series) -> Array:
        latency_us = series.bins[f"{op}_latency_ns_max"] / 1000
        return np.where(series.bins[f"{op}_count"] > 0, latency_us, np.nan)

    measures = {"median": percentile(50), "p99": percentile(99), "p99.9": percentile(99.9)}
    return Course(f"{op} latency, µs", measures | {"longest": longest}, "p99", is_log=True)


def _amplification(series: Series) -> Array:
    host = series.bins["host_programs"].astype(float)
    both = host + series.bins["gc_programs"] + series.bins["map_programs"]
    return _ratio(both, host, np.nan)


COURSES: Mapping[str, Course] = {
    "read_latency": _latency("read"),
    "write_latency": _latency("write"),
    "requests": Course(
        "requests a second",
        {"reads": _a_second("read_count"), "writes": _a_second("write_count")},
        "reads",
    ),
    "bandwidth": Course(
        "MB a second",
        {"reads": _a_second("read_bytes", 1e6), "writes": _a_second("write_bytes", 1e6)},
        "reads",
    ),
    "open_requests": Course(
        "open requests",
        {"mean": _column("open_requests_mean"), "most": _column("open_requests_max")},
        "mean",
    ),
    "suspensions": Course(
        "suspensions a second",
        {
            "of programs": _a_second("program_suspensions"),
            "of erases": _a_second("erase_suspensions"),
        },
        "of programs",
    ),
    "programs": Course(
        "pages programmed a second",
        {
            "for the host": _a_second("host_programs"),
            "by collection": _a_second("gc_programs"),
            "of the mapping": _a_second("map_programs"),
        },
        "by collection",
    ),
    "amplification": Course(
        "pages programmed for each of the host",
        {"write amplification": _amplification},
        "write amplification",
        is_log=True,
    ),
    "busy": Course(
        "share of time in use",
        {"dies": _share("die_busy_ns"), "channels": _share("channel_busy_ns")},
        "dies",
    ),
}
"""Charts over time, by name."""


@dataclass(frozen=True)
class Clock:
    """The unit of the time axis, and where it ends."""

    unit: str
    ns: int
    end: float

    @classmethod
    def of(cls, runs: Runs) -> "Clock":
        """Choose the unit in which the longest of the runs is no more than some thousands."""
        # The bins of a run's measured part count from its start, too.
        parts = [(run.summary["measure"], run.summary["device"]) for run in runs.values()]
        end_ns = max(int(part["from_ns"]) + int(whole["simulated_ns"]) for part, whole in parts)
        for unit, ns in (("µs", 1000), ("ms", 10**6)):
            if end_ns < 2000 * ns:
                return cls(unit, ns, end_ns / ns)
        return cls("s", 10**9, end_ns / 1e9)


def rows(runs: Runs, course: Course) -> list[Row]:
    """Return the value of each measure in each bin, at the middle of the bin; None without one.

    A measure that is 0 throughout in every run is left out, unless all are.
    """
    at_most, series_of = max(_POINTS // len(runs), 16), dict[str, Series]()
    for label, result in runs.items():
        if result.series is None:
            raise UserError("this run kept nothing over time; run it with series=True")
        series_of[label] = result.series.in_bins(at_most)
    clock, drawn = Clock.of(runs), list[Row]()
    for word, measure in course.measures.items():
        columns = {label: measure(series) for label, series in series_of.items()}
        if any(np.nan_to_num(column).any() for column in columns.values()):
            for label, column in columns.items():
                drawn += _line(label, word, series_of[label].bins, column, clock)
    return drawn


def _line(
    label: str, word: str, bins: Mapping[str, Array], column: Array, clock: Clock
) -> Iterator[Row]:
    middle = (bins["start_ns"] + bins["length_ns"] / 2) / clock.ns
    for time, value in zip(middle.tolist(), column.tolist(), strict=True):
        yield {"run": label, "series": word, "time": rounded(time, 6), "value": rounded(value)}


def power_rows(runs: Runs) -> list[Row]:
    """Return the mean power of each bin in mW, of core and I/O supply."""
    clock, at_most, drawn = Clock.of(runs), max(_POINTS // len(runs), 16), list[Row]()
    for label, result in runs.items():
        if result.power is not None and len(result.power["start_ns"]):
            bins = _in_bins(result.power, at_most)
            for word, column in (("core", "core_pj"), ("I/O", "io_pj")):
                # A picojoule in a nanosecond is a milliwatt.
                drawn += _line(
                    label, word, bins, _ratio(bins[column], bins["length_ns"], 0.0), clock
                )
    return drawn


def _in_bins(power: Mapping[str, Array], at_most: int) -> dict[str, Array]:
    """Return bins of power with neighbours made one, so that there are no more than these."""
    firsts = np.arange(0, len(power["start_ns"]), -(-len(power["start_ns"]) // at_most))
    sums = {name: np.add.reduceat(column, firsts) for name, column in power.items()}
    return sums | {"start_ns": power["start_ns"][firsts]}


POWER = Course("mean power, mW", {}, "core")
"""Power over time, whose rows come from the run's account of power."""


def lines(runs: Runs, course: Course, data: list[Row], theme: Theme) -> alt.Chart:
    """Draw rows of `rows`: of one run all measures, of several the one that is picked."""
    words = list(dict.fromkeys(row["series"] for row in data))
    clock = Clock.of(runs)
    span = alt.Scale(domainMin=alt.ExprRef("begin"), domainMax=alt.ExprRef("end"), nice=False)
    y = alt.Y("value:Q", title=course.title)
    if course.is_log:
        y = y.scale(type="log", nice=False, padding=4)
        y = y.axis(format=",~r", tickCount=6, labelOverlap=True, gridOpacity=DECADES)
    else:
        y = y.axis(format=",~r", tickCount=5)
    names = list(runs) if len(runs) > 1 else words
    field = "run" if len(runs) > 1 else "series"
    legend = legend_of(theme, len(names))
    scale = alt.Scale(domain=names, range=theme.run_colours(len(names)))
    chart = chart_of(data, theme).encode(
        x=alt.X("time:Q", title=f"time, {clock.unit}", scale=span).axis(format=",~r"),
        y=y,
        color=alt.Color(f"{field}:N", scale=scale, legend=legend),
        strokeDash=dashed(field, names, legend),
    )
    chart = chart.mark_line(interpolate="step", strokeWidth=0.75 * theme.line_px, clip=True)
    chart = chart.transform_filter(f"indexof({PICKED}, datum.series) >= 0")
    shown = {"begin": 0, "cursor": -1, "end": clock.end, PICKED: picked(runs, course, words)}
    drawn: alt.Chart = chart.add_params(
        *(alt.param(name=name, value=value) for name, value in shown.items())
    )
    return drawn


def picked(runs: Runs, course: Course, words: list[str]) -> list[str]:
    """Return which of these lines a chart begins with."""
    if len(runs) == 1 or course.shown not in words:
        return words if len(runs) == 1 else words[:1]
    return [course.shown]


def cursor(theme: Theme) -> alt.Chart:
    """Draw a line at the time that a reader looks at; the page says which."""
    seen = "cursor >= 0 && cursor >= begin && cursor <= end ? 1 : 0"
    line = chart_of([{"line": 1}], theme).transform_calculate(time="clamp(cursor, begin, end)")
    line = line.mark_rule(color=theme.muted, strokeWidth=1, opacity=alt.ExprRef(seen))
    drawn: alt.Chart = line.encode(x="time:Q")
    return drawn
