"""Charts in the form of the papers: grouped bars of two devices, lines, clouds of points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log10
from statistics import fmean
from typing import Any, cast

import altair as alt
import numpy as np

from reprieve import Latency
from reprieve.plot import Chart, Theme, dashes, finished
from reprieve_studies.seeds import Estimate, estimate

_HEIGHT = 260
_ROW_HEIGHT = 20
_SEPARATOR = "|"
_WORD_LETTERS = 8
"""A device and a group longer than this overlap if they are written level."""
_SLANT_DEGREES = -35
_WIDE_LETTERS = {"left": 35, "right": 5, "top": 5, "bottom": 5}
"""Names of rows take a seventh more in the letters of some systems than they are counted for."""
_LABELS_APART = 10
"""Labels of an axis that are nearer than this read as one number."""
_CURVE_POINTS = 300
_LEAST_US = 1.0
"""Where a cumulative line starts: a logarithmic axis has no zero."""
_MARK = 8
"""Width of the line of a source's number."""


@dataclass(frozen=True)
class Bars:
    """Grouped bars: for each device its groups, in each group one bar a series."""

    values: Mapping[tuple[str, str, str], float]
    """By device, group and series, such as ("SLC", "F1", "RPS")."""
    title: str
    """Of the axis."""
    format: str = ".2f"
    errors: Mapping[tuple[str, str, str], Estimate] = field(default_factory=dict)
    """Estimates with ends, which have bars of error."""
    marks: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    """Numbers of the source, drawn as a line across their bar."""
    domain: tuple[float, float] | None = None
    """Ends of the axis, where they are those of a source: bars that leave it are cut off."""
    palette: Sequence[str] = ()
    """Series of all charts beside this one, of which each has one colour."""

    def draw(self, theme: Theme) -> Chart:
        """Draw it, the first device left."""
        series = _firsts(self.values, 2)
        spots: list[str] = []
        for place, device in enumerate(_firsts(self.values, 0)):
            # A band without bars, and a name of its own, keeps the devices apart.
            spots += [_SEPARATOR * place] if place else []
            spots += dict.fromkeys(
                device + _SEPARATOR + group for of, group, _ in self.values if of == device
            )
        rows = [
            {
                "spot": device + _SEPARATOR + group,
                "device": device,
                "group": group,
                "series": name,
                "value": value,
                **_ends(self.errors.get((device, group, name))),
                "paper": self.marks.get((device, group, name)),
            }
            for (device, group, name), value in self.values.items()
        ]
        label = f"split(datum.label, '{_SEPARATOR}')[1]"
        slant = _SLANT_DEGREES if max(len(spot) for spot in spots) > _WORD_LETTERS else 0
        axis = alt.Axis(labelExpr=label, labelAngle=slant, title=None, ticks=False)
        scale = alt.Scale(domain=spots, paddingInner=0.25)
        heights = (
            alt.Scale(zero=True)
            if self.domain is None
            else alt.Scale(domain=list(self.domain), clamp=True)
        )
        x = alt.X("spot:N", sort=None, scale=scale).axis(axis)
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=x,
            xOffset=alt.XOffset("series:N", sort=series),
            y=alt.Y("value:Q", title=self.title, scale=heights).axis(
                format=self.format, tickCount=6
            ),
            color=_colours(series, theme, self.palette),
            tooltip=["device:N", "group:N", "series:N", alt.Tooltip("value:Q", format=self.format)],
        )
        titles = alt.Chart(alt.InlineData(values=_middles(spots))).mark_text(
            color=theme.ink, fontSize=13, dy=-10
        )
        titles = titles.encode(x=x, y=alt.value(0), text="device:N")
        drawn: list[alt.Chart] = [base.mark_bar(clip=self.domain is not None)]
        if self.errors:
            ends = base.transform_filter("isValid(datum.low)")
            rule = ends.mark_rule(color=theme.ink, strokeWidth=1)
            drawn.append(rule.encode(y=alt.Y("low:Q"), y2="high:Q", color=alt.value(theme.ink)))
        if self.marks:
            marks = base.transform_filter("isValid(datum.paper)")
            tick = marks.mark_tick(thickness=2, size=_MARK, orient="horizontal")
            drawn.append(tick.encode(y=alt.Y("paper:Q"), color=alt.value(theme.ink)))
        return finished(cast("Chart", alt.layer(*drawn, titles)), theme, _HEIGHT)


def bars_over_seeds(
    found: Mapping[tuple[str, str, str], Sequence[float]],
    title: str,
    *,
    average: str = "",
    **how: Any,
) -> Bars:
    """Return bars that several seeds gave, with 95 % intervals; one that is no number is left out.

    `average`: name of a further group of each device, the mean of its groups seed by seed; `how`:
    other fields of the bars.
    """
    values: dict[tuple[str, str, str], Sequence[float]] = {}
    for device in _firsts(found, 0):
        own = {key: bars for key, bars in found.items() if key[0] == device}
        values |= own
        for series in _firsts(own, 2) if average else ():
            of_groups = [bars for key, bars in own.items() if key[2] == series]
            values[device, average, series] = [fmean(seed) for seed in zip(*of_groups, strict=True)]
    means = {key: estimate(bars) for key, bars in values.items()}
    means = {key: one for key, one in means.items() if isfinite(one.mean)}
    errors = {key: one for key, one in means.items() if _ends(one)}
    return Bars({key: one.mean for key, one in means.items()}, title, errors=errors, **how)


@dataclass(frozen=True)
class Lines:
    """Lines over a numeric axis, with their points and, where given, bars of error."""

    points: Sequence[Mapping[str, Any]]
    """Each with `series`, `x`, `y`, and `low` and `high` if there are bars of error."""
    x_title: str
    y_title: str
    x_log: bool = False
    y_log: bool = False
    x_ticks: Sequence[float] | None = None
    dots_only: Sequence[str] = ()
    """Series drawn without a line."""
    lines_only: Sequence[str] = ()
    """Series drawn without points."""
    palette: Sequence[str] = ()
    """Series of all charts beside this one, of which each has one colour."""

    def draw(self, theme: Theme) -> Chart:
        """Draw it."""
        series = list(dict.fromkeys(str(point["series"]) for point in self.points))
        x = alt.X("x:Q", title=self.x_title, scale=_scale(log=self.x_log, nice=False))
        x = x.axis(labelSeparation=_LABELS_APART)
        x = x.axis(values=list(self.x_ticks)) if self.x_ticks is not None else x
        y = alt.Y("y:Q", title=self.y_title, scale=_scale(log=self.y_log))
        colour = _colours(series, theme, self.palette)
        dash = alt.StrokeDash(
            "series:N", legend=None, scale=alt.Scale(domain=series, range=dashes(len(series)))
        )

        def layer(names: Sequence[str]) -> alt.Chart:
            rows = [dict(point) for point in self.points if point["series"] in names]
            return alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour)

        tooltip = [
            "series:N",
            alt.Tooltip("x:Q", title=self.x_title),
            alt.Tooltip("y:Q", title=self.y_title, format=".5~g"),
        ]
        drawn: list[alt.Chart] = []
        if lines := [name for name in series if name not in self.dots_only]:
            drawn.append(layer(lines).mark_line().encode(strokeDash=dash))
        if dots := [name for name in series if name not in self.lines_only]:
            points = layer(dots)
            if any("low" in point for point in self.points):
                drawn.append(points.mark_rule().encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
            marks = points.mark_point(filled=True, size=70, opacity=1).encode(tooltip=tooltip)
            if self.dots_only:
                scale = alt.Scale(domain=series)
                shape = alt.Shape("series:N", scale=scale, legend=_legend(series))
                marks = marks.encode(shape=shape)
            drawn.append(marks)
        return finished(cast("Chart", alt.layer(*drawn)), theme, _HEIGHT)


def lines_over_seeds(
    found: Mapping[tuple[str, float], Sequence[float]], x_title: str, y_title: str, **how: Any
) -> Lines:
    """Return lines that several seeds gave, by series and x; a point that is no number is left out.

    `how`: other fields of the lines.
    """
    means = {key: estimate(values) for key, values in found.items()}
    points = [{"series": series, "x": x, "y": one.mean, **_ends(one)}
              for (series, x), one in means.items() if isfinite(one.mean)]  # fmt: skip
    return Lines(points, x_title, y_title, **how)


@dataclass(frozen=True)
class Dots:
    """A row for each thing, with a dot for each series on a numeric axis, and rules across."""

    values: Mapping[tuple[str, str], float]
    """By row and series; rows stay in this order, the first on top."""
    title: str
    """Of the axis."""
    rules: Sequence[float] = ()
    log: bool = False
    palette: Sequence[str] = ()
    """Series of all charts beside this one, of which each has one colour."""

    def draw(self, theme: Theme) -> Chart:
        """Draw it."""
        series = list(dict.fromkeys(name for _, name in self.values))
        order = list(dict.fromkeys(row for row, _ in self.values))
        rows = [{"row": row, "series": name, "value": value}
                for (row, name), value in self.values.items()]  # fmt: skip
        x = alt.X("value:Q", title=self.title, scale=_scale(log=self.log))
        if self.log:
            x = x.axis(values=_log_ticks([*self.values.values(), *self.rules]))
        dots = alt.Chart(alt.InlineData(values=rows)).encode(
            x=x,
            y=alt.Y("row:N", sort=order, title=None).axis(labelLimit=260, grid=True),
            color=_colours(series, theme, self.palette),
            shape=alt.Shape("series:N", scale=alt.Scale(domain=series), legend=_legend(series)),
            tooltip=["row:N", "series:N", alt.Tooltip("value:Q", format=".3f")],
        )
        marks = [{"value": value} for value in self.rules]
        rules = alt.Chart(alt.InlineData(values=marks)).encode(x=x)
        drawn = alt.layer(
            rules.mark_rule(color=theme.muted, strokeDash=[4, 3]),
            dots.mark_point(filled=True, size=70, opacity=1),
        )
        chart = finished(cast("Chart", drawn), theme, _ROW_HEIGHT * len(order))
        return chart.properties(padding=_WIDE_LETTERS)


def _scale(*, log: bool, nice: bool = True) -> alt.Scale:
    """Return a scale; one that is not nice ends where its values do, and has no tick beyond."""
    if log:
        return alt.Scale(type="log", nice=False, padding=8)
    return alt.Scale(zero=False, padding=8, nice=nice)


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Return the ticks of a logarithmic axis: 1, 2 and 5 of each decade that the values reach."""
    least, most = min(values), max(values)
    decades = range(floor(log10(least)), ceil(log10(most)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    return [tick for tick in ticks if least <= tick <= most]


def _middles(spots: Sequence[str]) -> list[dict[str, str]]:
    """Return for each device the spot over which its name stands."""
    of_device: dict[str, list[str]] = {}
    for spot in spots:
        device, _, _ = spot.partition(_SEPARATOR)
        of_device.setdefault(device, []).append(spot)
    return [
        {"spot": group[len(group) // 2], "device": device}
        for device, group in of_device.items()
        if device
    ]


def _ends(one: Estimate | None) -> dict[str, float]:
    if one is None or one.low is None or one.high is None:
        return {}
    return {"low": one.low, "high": one.high}


def _firsts(keys: Iterable[tuple[str, str, str]], index: int) -> list[str]:
    return list(dict.fromkeys(key[index] for key in keys))


def _colours(series: Sequence[str], theme: Theme, palette: Sequence[str] = ()) -> alt.Color:
    names = [*palette, *(name for name in series if name not in palette)]
    colours = dict(zip(names, theme.run_colours(len(names)), strict=True))
    scale = alt.Scale(domain=list(series), range=[colours[name] for name in series])
    return alt.Color("series:N", scale=scale, legend=_legend(series))


def _legend(series: Sequence[str]) -> alt.Legend | None:
    if len(series) == 1:
        return None
    columns = 4 if max(len(name) for name in series) <= _WORD_LETTERS else 2
    return alt.Legend(title=None, orient="bottom", columns=columns, labelLimit=300)


def cumulative(latency: Latency, series: str) -> list[dict[str, object]]:
    """Return the points of a cumulative line, at most as many as a chart shows."""
    shares = np.cumsum(latency.count) / latency.requests
    wanted = np.linspace(0, len(shares) - 1, min(len(shares), _CURVE_POINTS)).round().astype(int)
    return [
        {"series": series, "x": max(_LEAST_US, latency.upper_ns[at] / 1e3), "y": float(shares[at])}
        for at in wanted
    ]


def exceeding(latency: Latency, series: str, from_ns: int) -> list[dict[str, object]]:
    """Return the points of a line of the share that takes longer, from a latency on."""
    shares = 1 - np.cumsum(latency.count) / latency.requests
    first = int(np.searchsorted(latency.upper_ns, from_ns))
    # The last bucket has nothing above it, and a logarithm no place for that.
    wanted = np.linspace(first, len(shares) - 2, _CURVE_POINTS).round().astype(int)
    return [
        {"series": series, "x": latency.upper_ns[at] / 1e3, "y": float(shares[at])}
        for at in np.unique(wanted)
    ]
