"""The charts, each built from the results of one or more runs."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

import altair as alt

from reprieve.latency import KINDS
from reprieve.plot import rows
from reprieve.plot.points import is_wide
from reprieve.plot.rows import Row, Runs
from reprieve.plot.theme import BLAME, COMPONENTS, LIGHT, Theme, dashes
from reprieve.roles import bases, bound_runs

Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.ConcatChart

_HEIGHT_CURVE = 260
_HEIGHT_BAR = 15

_HEIGHT_NAMED = 36
"""Of a bar with its name above it."""
_HEIGHT_NAMED_BAR = 12
_LONGEST = 16
"""Letters of a name that has its place beside a bar on a telephone; longer ones stand above it."""
GROUPED_MOST = 6
"""Runs whose bars stand side by side in each group; of more, one group is shown at a time."""
PICKED = "picked"
"""The parameter of a chart that says which of its lines, classes or groups it shows."""

MEAN = alt.Tooltip("mean_us:Q", title="mean, µs", format=",.1f")

NAMES: dict[str, Any] = {"ticks": False, "domain": False, "labelPadding": 6, "labelLimit": 240}
"""An axis of words: no lines, and a little air before the bars."""

DECADES: dict[str, Any] = {
    "condition": {"test": "abs(log(datum.value) / LN10 % 1) < 1e-9", "value": 1},
    "value": 0.3,
}
"""Of a logarithmic axis's lines, only those at powers of ten are drawn in full."""

# 0 → "0 %", 1 → "90 %", 2 → "99 %", 3 → "99.9 %", …
_NINES_LABEL = (
    "datum.value == 0 ? '0 %' : datum.value == 1 ? '90 %' : datum.value == 2 ? '99 %' : "
    "'99.' + substring('99999999', 0, datum.value - 2) + ' %'"
)


def cdf(runs: Runs, op: str, theme: Theme) -> Chart:
    """Share of requests at or below each latency; latency on a logarithmic axis."""
    y = alt.Y("share:Q", title="share of requests", scale=alt.Scale(domain=[0, 1]))
    return _curves(runs, op, theme, y.axis(format=".0%", tickCount=5))


def tail(runs: Runs, op: str, theme: Theme) -> Chart:
    """Share of requests again, with the same height for each nine of the percentile."""
    y = alt.Y("nines:Q", title="percentile")
    return _curves(runs, op, theme, y.axis(labelExpr=_NINES_LABEL, values=list(range(10))))


def _curves(runs: Runs, op: str, theme: Theme, y: alt.Y) -> Chart:
    log = alt.Scale(type="log", nice=False, padding=6)
    x = alt.X("latency_us:Q", title=f"{op} latency, µs", scale=log)
    base = chart_of(rows.curve(runs, op), theme).encode(
        x=x.axis(format=",~r", tickCount=6, labelOverlap=True, gridOpacity=DECADES),
        y=y,
        color=_colour(runs, theme),
    )
    lines = base.mark_line(interpolate="step-after", strokeWidth=theme.line_px).encode(
        strokeDash=dashed("run", list(runs), _legend(runs, theme), bound_runs(runs))
    )
    # Invisible points carry the tooltips: a line has only one for its whole length.
    hover = base.mark_point(size=90, opacity=0, filled=True).encode(
        tooltip=[
            "run:N",
            alt.Tooltip("latency_us:Q", title=f"{op} latency, µs", format=",.1f"),
            alt.Tooltip("share:Q", title="share at or below", format=".4%"),
        ]
    )
    return finished(lines if theme.is_paper else lines + hover, theme, _HEIGHT_CURVE)


def qos(runs: Runs, theme: Theme) -> Chart:
    """Percentiles of reads, of writes and of both in one chart, each further nine alike high."""
    log = alt.Scale(type="log", nice=False, padding=6)
    dash = alt.Scale(domain=list(KINDS), range=dashes(len(KINDS)))
    legend = alt.Legend(title=None, orient="bottom", symbolSize=400, symbolType="stroke")
    x = alt.X("latency_us:Q", title="latency, µs", scale=log)
    y = alt.Y("nines:Q", title="percentile")
    data = [row | {"kind": kind} for kind in KINDS for row in rows.curve(runs, kind)]
    chart = chart_of(data, theme).encode(
        x=x.axis(format=",~r", tickCount=6, labelOverlap=True, gridOpacity=DECADES),
        y=y.axis(labelExpr=_NINES_LABEL, values=list(range(10))),
        color=_colour(runs, theme),
        strokeDash=alt.StrokeDash("kind:N", scale=dash, legend=legend),
    )
    lines = chart.mark_line(interpolate="step-after", strokeWidth=theme.line_px)
    return finished(lines, theme, _HEIGHT_CURVE)


class _Bars(NamedTuple):
    """Fields and title of a chart of grouped bars."""

    group: str
    value: str
    title: str
    format: str


def bars(runs: Runs, theme: Theme) -> Chart:
    """Mean and tail latencies as multiples of the base's, with their 95 % intervals."""
    found = {*bases(runs).values()}
    what = found.pop() if len(found) == 1 else "its base"
    shown = _Bars("metric", "ratio", f"latency, multiple of {what}", ".3~r")
    data = rows.ratios(runs)
    return (_grouped if len(runs) <= GROUPED_MOST else _one_group)(runs, theme, data, shown)


def suspended(runs: Runs, theme: Theme) -> Chart:
    """Shares of programs and of erases that were suspended at least once."""
    words = {"suspended_share.program": "programs", "suspended_share.erase": "erases"}
    shown = _Bars("what", "share", "share suspended at least once", ".3~p")
    return _grouped(runs, theme, rows.shares(runs, "flash", words), shown)


def busy(runs: Runs, theme: Theme) -> Chart:
    """Shares of the simulated time that dies and channels were busy, and the drive idle."""
    words = {
        "die_busy_share": "dies busy",
        "channel_busy_share": "channels busy",
        "idle_share": "drive idle",
    }
    shown = _Bars("what", "share", "share of simulated time", ".3~p")
    return _grouped(runs, theme, rows.shares(runs, "device", words), shown)


def _grouped(runs: Runs, theme: Theme, data: list[Row], shown: _Bars) -> Chart:
    value = alt.Tooltip(f"{shown.value}:Q", format=shown.format)
    gap = alt.Scale(paddingInner=0.15)
    group = alt.Y(f"{shown.group}:N", title=None, sort=None).axis(**NAMES)
    base = chart_of(data, theme).encode(
        x=alt.X(f"{shown.value}:Q", title=shown.title).axis(format=shown.format, tickCount=6),
        y=group,
        yOffset=alt.YOffset("run:N", sort=list(runs), scale=gap),
        tooltip=["run:N", f"{shown.group}:N", value],
    )
    drawn = base.mark_bar().encode(color=_colour(runs, theme))
    text = alt.Text(f"{shown.value}:Q", format=shown.format)
    middle = alt.YOffset("run:N", sort=list(runs), scale=gap, bandPosition=0.5)
    values = base.mark_text(align="left", dx=4, fontSize=10, color=theme.ink)
    values = values.encode(yOffset=middle, text=text)
    groups = len({row[shown.group] for row in data})
    layers = drawn + values
    if any("low" in row for row in data):
        # Rows without an interval have no whisker: nothing is known of them.
        whiskers = base.transform_filter("isValid(datum.low)").mark_rule(color=theme.ink)
        layers = drawn + values.encode(x="end:Q")
        layers += whiskers.encode(x="low:Q", x2="high:Q", yOffset=middle)
    whole = finished(layers, theme, _HEIGHT_BAR * groups * (len(runs) + 1))
    # The numbers beside the bars need room, which the axis does not give.
    return whole.properties(padding={"left": 5, "top": 5, "bottom": 5, "right": 3 * theme.font_px})


def _one_group(runs: Runs, theme: Theme, data: list[Row], shown: _Bars) -> Chart:
    """Draw the group that is picked, a row for each run: colours would not distinguish them."""
    is_log = is_wide([row[shown.value] for row in data])
    # On a logarithmic axis a bar goes from the first run's, 1, to either side.
    ends = [row | {"end": max(row["end"], 1.0)} for row in data] if is_log else data
    x = alt.X(f"{shown.value}:Q", title=shown.title)
    grid: dict[str, Any] = {"gridOpacity": DECADES} if is_log else {}
    if is_log:
        x = x.scale(type="log", nice=False, padding=20)
    base = chart_of(ends, theme).encode(y=alt.Y("run:N", sort=list(runs), axis=None))
    drawn = base.mark_bar(height=_HEIGHT_NAMED_BAR, yOffset=8).encode(
        x=x.axis(format=shown.format, tickCount=5, labelOverlap=True, **grid),
        color=_colour(runs, theme),
        tooltip=["run:N", alt.Tooltip(f"{shown.value}:Q", format=shown.format)],
    )
    values = base.mark_text(align="left", dx=4, dy=8, fontSize=11, color=theme.ink)
    both = [drawn.encode(x2=alt.datum(1)) if is_log else drawn]
    if any("low" in row for row in data):
        known = base.transform_filter("isValid(datum.low)")
        whiskers = known.mark_rule(color=theme.ink, yOffset=8)
        both.append(whiskers.encode(x="low:Q", x2="high:Q"))
    both.append(values.encode(x="end:Q", text=alt.Text(f"{shown.value}:Q", format=shown.format)))
    layers: Chart = alt.LayerChart(layer=[*both, names_above(base, "run", theme)])
    layers = layers.transform_filter(f"indexof({PICKED}, datum.{shown.group}) >= 0")
    layers = layers.add_params(alt.param(name=PICKED, value=[data[0][shown.group]]))
    return finished(layers, theme, _HEIGHT_NAMED * len(runs))


def names_above(base: alt.Chart, field: str, theme: Theme) -> alt.Chart:
    """Write the name of each row above its bar, where it takes no width."""
    one = base.transform_aggregate(rows="count()", groupby=[field])
    text = one.mark_text(align="left", dx=2, dy=-8, fontSize=11, color=theme.ink)
    named: alt.Chart = text.encode(x=alt.value(0), text=f"{field}:N")
    return named


def stacked(
    data: list[Row],
    theme: Theme,
    x: alt.X,
    field: str,
    names: Sequence[str],
    colour: alt.Color,
    tooltip: Sequence[Any],
) -> Chart:
    """Draw stacked bars, each with its name beside it or, if it is long, above it."""
    bars = chart_of(data, theme).encode(x=x, color=colour, order="index:Q", tooltip=tooltip)
    y = alt.Y(f"{field}:N", title=None, sort=list(names))
    if max(map(len, names), default=0) <= _LONGEST:
        drawn = bars.mark_bar(height={"band": 0.7}).encode(y=y.axis(**NAMES))
        return finished(drawn, theme, 2 * _HEIGHT_BAR * len(names) + 10)
    base = alt.Chart(bars.data).encode(y=y.axis(None))
    drawn = bars.mark_bar(height=_HEIGHT_NAMED_BAR, yOffset=8).encode(y=y.axis(None))
    both = alt.LayerChart(layer=[drawn, names_above(base, field, theme)])
    return finished(both, theme, _HEIGHT_NAMED * len(names) + 10)


def components(runs: Runs, op: str, theme: Theme) -> Chart:
    """Mean time of an operation's requests, by what it was spent on."""
    data = rows.components(runs, op)
    x = alt.X("mean_us:Q", title=f"mean {op} latency, µs").axis(format=",~r", tickCount=6)
    colour, tooltip = component_colours(data, theme), ["run:N", "component:N", MEAN]
    return stacked(data, theme, x, "run", list(runs), colour, tooltip)


def blame(runs: Runs, op: str, theme: Theme) -> Chart:
    """Shares of the time of an operation's requests by what they waited behind."""
    data = rows.blame(runs, op)
    parts = list(dict.fromkeys(row["part"] for row in data))
    x = alt.X("share:Q", title=f"share of the {op}s' time", scale=alt.Scale(domain=[0, 1]))
    x = x.axis(format=".0%", tickCount=6)
    colour = _colours_of("cause", BLAME, data, theme)
    tooltip = ["part:N", "cause:N", alt.Tooltip("share:Q", format=".1%"), MEAN]
    return stacked(data, theme, x, "part", parts, colour, tooltip)


def component_colours(data: list[Row], theme: Theme) -> alt.Color:
    """Give each component that any of the rows has its colour."""
    return _colours_of("component", COMPONENTS, data, theme)


def _colours_of(
    field: str, words: Mapping[str, tuple[str, ...]], data: list[Row], theme: Theme
) -> alt.Color:
    """Give each word of a field that any of the rows has its colour, in the order of the words."""
    used = {row[field] for row in data}
    palette = {word: theme.parts[name] for name, (word, *_) in words.items() if word in used}
    scale = alt.Scale(domain=list(palette), range=theme.shades(list(palette.values())))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=240, symbolType="square")
    return alt.Color(f"{field}:N", scale=scale, legend=legend)


def chart_of(data: list[Row], theme: Theme) -> alt.Chart:
    """Begin a chart of these rows."""
    if theme.store_rows is None:
        return alt.Chart(alt.InlineData(values=data))
    return alt.Chart(alt.NamedData(theme.store_rows(data)))


def _colour(runs: Runs, theme: Theme) -> alt.Color:
    scale = alt.Scale(domain=list(runs), range=theme.run_colours(len(runs)))
    return alt.Color("run:N", scale=scale, legend=_legend(runs, theme))


def _legend(runs: Runs, theme: Theme) -> alt.Legend | None:
    legend, bounds = legend_of(theme, len(runs)), bound_runs(runs)
    if legend is not None and bounds:
        is_bound = f"indexof({json.dumps(bounds)}, datum.label) >= 0"
        legend.labelExpr = f"datum.label + ({is_bound} ? ' (bound)' : '')"
    return legend


def legend_of(theme: Theme, names: int) -> alt.Legend | None:
    """Return the legend of `names` names; None if the theme has none, or there is only one."""
    if not theme.legends or names == 1:
        return None
    return alt.Legend(title=None, orient="bottom", labelLimit=240)


def dashed(
    field: str, names: list[str], legend: alt.Legend | None, bounds: Collection[str] = ()
) -> alt.StrokeDash:
    """Give each name its dashes, dots to bounds; a legend has lines of some length."""
    patterns = dashes(len(names), [name in bounds for name in names])
    scale = alt.Scale(domain=names, range=patterns)
    legend = legend if legend is None else alt.Legend(**legend.to_dict(), symbolSize=400)
    return alt.StrokeDash(f"{field}:N", scale=scale, legend=legend)


def finished(chart: Chart, theme: Theme, height: int) -> Chart:
    """Give a chart its size and the theme's look."""
    height = round(height * theme.font_px / LIGHT.font_px)
    sized = chart.properties(width=theme.width, height=height)
    return cast("Chart", sized.configure(**theme.config()))
