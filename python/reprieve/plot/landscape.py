"""Charts of many points: front, lines over a key, heat map of two, parallel coordinates of all."""

from typing import Any, Literal, TypeVar

import altair as alt

from reprieve.plot import points as rows_of
from reprieve.plot.charts import DECADES, NAMES, Chart, chart_of, finished
from reprieve.plot.points import (
    BEST,
    BOUND,
    FRONT,
    KINDS,
    OTHERS,
    QUARTER,
    TIED,
    Key,
    Measure,
    Points,
    is_wide,
)
from reprieve.plot.theme import Theme

_HEIGHT = 280
_HEIGHT_SMALL = 190
_HEIGHT_FIELD = 34
_HEIGHT_AXIS = 84

_LABELLED_MOST = 6
"""Columns of a heat map whose fields have room for their numbers on a telephone."""
_FIELDS_MOST = 16
"""Values of a key that are fields of a heat map; more are places on a scale."""

_LOOKS = {
    BEST: ("diamond", 3.0, 1.0, 0.5, 30),
    TIED: ("diamond", 2.0, 0.9, 0.3, 60),
    FRONT: ("square", 1.5, 0.8, 0.15, 60),
    BOUND: ("cross", 1.2, 0.8, 0.15, 60),
    QUARTER: ("square", 1.2, 0.8, 0.15, 60),
    OTHERS: ("circle", 1.0, 0.55, 0.06, 30),
}
"""Of each kind: shape of its marks; of its lines the width, and of their opacity the most, the
least, and what many of them share."""

# The name of an upright axis stands above it: there it takes no width.
_ON_TOP: dict[str, Any] = {
    "titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0, "titleY": -8,
}  # fmt: skip


# Words at the ends of an axis stay within it.
_INWARDS = alt.expr(
    "datum.share < 0.02 ? 'left' : abs(datum.share - 1) < 0.02 ? 'right' : 'center'"
)


def front(points: Points, theme: Theme) -> Chart:
    """Draw every point by its first two measures, and a line along those that none beats."""
    up, across = points.measures[:2]
    base = chart_of(rows_of.table(points), theme).encode(
        x=_placed(alt.X, "m1", across), y=_placed(alt.Y, "m0", up)
    )
    layers = _whiskers(base, points, 1, "x", theme) + _whiskers(base, points, 0, "y", theme)
    # What is beaten lies on the far side of the line, whichever way is better.
    step: Literal["step-before", "step-after"] = "step-before" if across.is_max else "step-after"
    line = base.transform_filter("datum.front").mark_line(
        interpolate=step, color=theme.runs[1], strokeWidth=1.5, opacity=0.7
    )
    layers += [line.encode(order=alt.Order("m1:Q")), _marks(base, points, theme)]
    layers += _bounds(across, "x", theme) + _bounds(up, "y", theme)
    return finished(alt.LayerChart(layer=layers), theme, _HEIGHT)


def over_key(
    points: Points, key: int, measure: int, theme: Theme, *, is_large: bool = True
) -> Chart:
    """Draw a measure of every point over one of its keys, as a line where there is no other."""
    of, what, alone = points.keys[key], points.measures[measure], len(points.keys) == 1
    data = rows_of.table(points)
    base = chart_of(data, theme).encode(
        x=_placed(alt.X, f"k{key}", of), y=_placed(alt.Y, f"m{measure}", what)
    )
    layers = _whiskers(base, points, measure, "y", theme) if alone else []
    if alone and (of.words is None or any(each.isdigit() for each in of.words)):
        # Where the key is not a number everywhere, its values come in the order of the axis.
        line = base.mark_line(color=theme.runs[0], strokeWidth=1.5)
        layers.append(line if of.words else line.encode(order=alt.Order(f"k{key}:Q")))
    layers.append(_marks(base, points, theme, legend=is_large))
    layers += _bounds(what, "y", theme)
    height = _HEIGHT if is_large else _HEIGHT_SMALL
    return finished(alt.LayerChart(layer=layers), theme, height)


def has_fields(points: Points) -> bool:
    """Return whether the first two keys have so few values that each pair of them is a field."""
    return all(len(key.known()) <= _FIELDS_MOST for key in points.keys[:2])


def heat_map(points: Points, measure: int, theme: Theme) -> Chart:
    """Draw a measure as a field for each pair of values of the first two keys."""
    across, up = points.keys[:2]
    data = rows_of.fields(points, measure)
    columns, lines = ([rows_of.word(value) for value in key.known()] for key in (across, up))
    x = alt.X("across:N", title=across.name, sort=columns)
    y = alt.Y("up:N", title=up.name, sort=lines[::-1])
    base = chart_of(data, theme).encode(
        x=x.axis(**NAMES, labelAngle=0, labelOverlap="greedy"), y=y.axis(**NAMES, **_ON_TOP)
    )
    tooltip = [alt.Tooltip("point:N"), alt.Tooltip("across:N", title=across.name)]
    tooltip.append(alt.Tooltip("up:N", title=up.name))
    tooltip.append(alt.Tooltip("interval:N", title=points.measures[measure].name))
    colour = _heat("value", [row["value"] for row in data])
    # Outlined after all are drawn, so that no neighbour covers it.
    best = base.transform_filter("datum.is_best").mark_rect(filled=False, strokeWidth=3)
    layers = [base.mark_rect().encode(color=colour, tooltip=tooltip)]
    # Seen on the dark end of the colours, where the least is, and on the bright one.
    outline = "#111111" if points.measures[measure].is_max else "#ff8c4d"
    layers.append(best.encode(stroke=alt.value(outline)))
    if len(columns) <= _LABELLED_MOST:
        ink = alt.condition("datum.share > 0.6", alt.value("#111111"), alt.value("#ffffff"))
        layers.append(base.mark_text(fontSize=11).encode(text="said:N", color=ink))
    return finished(alt.LayerChart(layer=layers), theme, _HEIGHT_FIELD * max(len(lines), 2))


def map_of(points: Points, theme: Theme) -> Chart:
    """Draw every point at the place of its first two keys, in the colour of the first measure."""
    across, up = points.keys[:2]
    base = chart_of(rows_of.table(points), theme).encode(
        x=_placed(alt.X, "k0", across), y=_placed(alt.Y, "k1", up)
    )
    dots = base.mark_point(filled=True, size=110, opacity=0.9)
    best = base.transform_filter(f"datum.kind == '{BEST}'").mark_point(
        size=260, filled=False, strokeWidth=2.5, opacity=1
    )
    colour = _heat("m0", points.measures[0].values)
    layers = [dots.encode(color=colour, tooltip=_tooltips(points))]
    if BEST in points.kinds:
        layers.append(best.encode(stroke=alt.value(theme.ink)))
    return finished(alt.LayerChart(layer=layers), theme, _HEIGHT)


def parallel(points: Points, theme: Theme) -> Chart:
    """Draw a line for each point from axis to axis: those of the keys, then of the measures."""
    data, labels = rows_of.lines(points)
    axes = [*(key.name for key in points.keys), *(each.name for each in points.measures)]
    most = max(row["share"] for row in data)
    scale = alt.Scale(domain=[-0.04, max(1.04, most + 0.03)], nice=False, zero=False)
    x = alt.X("share:Q", axis=None, scale=scale)
    y = alt.Y("axis:N", sort=axes, axis=None)
    rails = chart_of([{"axis": axis, "share": 0, "end": 1} for axis in axes], theme)
    rails = rails.encode(x=x, y=y)
    base = chart_of(data, theme).encode(x=x, y=y)
    lines = base.encode(
        detail="point:N", order=alt.Order("at:Q"), color=_colours(points, theme, legend=True)
    )
    layers = [rails.mark_rule(color=theme.grid, strokeWidth=2).encode(x2="end:Q")]
    for kind in _kinds(points)[::-1]:
        chosen = lines.transform_filter(f"datum.kind == '{kind}'")
        # The more there are, the fainter is each; no kind hides another altogether.
        _, width, most, least, shared = _LOOKS[kind]
        opacity = min(most, max(least, shared / points.kinds.count(kind)))
        layers.append(chosen.mark_line(strokeWidth=width, opacity=opacity))
    tooltip = [alt.Tooltip("point:N"), alt.Tooltip("axis:N", title="axis")]
    tooltip.append(alt.Tooltip("said:N", title="value"))
    # Invisible points carry the tooltips: a line has only one for its whole length.
    layers.append(base.mark_point(size=70, opacity=0, filled=True).encode(tooltip=tooltip))
    # A border in the colour of the page keeps the words legible above the lines.
    for look in ({"stroke": theme.paper, "strokeWidth": 4}, {"color": theme.ink}):
        names = rails.mark_text(align="left", dy=-15, fontSize=12, **look)
        ends = chart_of(labels, theme).mark_text(align=_INWARDS, dy=15, fontSize=11, **look)
        layers += [names.encode(text="axis:N"), ends.encode(x=x, y=y, text="text:N")]
    return finished(alt.LayerChart(layer=layers), theme, _HEIGHT_AXIS * len(axes))


def _kinds(points: Points) -> list[str]:
    return [kind for kind in KINDS if kind in points.kinds]


def _colours(points: Points, theme: Theme, *, legend: bool) -> alt.Color:
    """Give each kind of point its colour."""
    kinds = _kinds(points)
    blue, orange, grey = theme.runs[1], theme.runs[2], theme.runs[0]
    palette = {BEST: orange, TIED: orange, FRONT: blue, QUARTER: blue, OTHERS: grey}
    palette[BOUND] = theme.muted
    scale = alt.Scale(domain=kinds, range=[palette[kind] for kind in kinds])
    return alt.Color("kind:N", scale=scale, legend=_legend(kinds, legend))


def _legend(kinds: list[str], wanted: bool) -> alt.Legend | None:
    is_shown = wanted and len(kinds) > 1
    return alt.Legend(title=None, orient="bottom", symbolOpacity=1) if is_shown else None


def _marks(base: alt.Chart, points: Points, theme: Theme, *, legend: bool = True) -> alt.Chart:
    """Draw each point, its kind told by colour, shape and size."""
    kinds = _kinds(points)
    shapes = alt.Scale(domain=kinds, range=[_LOOKS[kind][0] for kind in kinds])
    is_best = f"datum.kind == '{BEST}'"
    marks: alt.Chart = base.mark_point(filled=True).encode(
        opacity=alt.condition(is_best, alt.value(1.0), alt.value(0.8)),
        color=_colours(points, theme, legend=legend),
        shape=alt.Shape("kind:N", scale=shapes, legend=_legend(kinds, legend)),
        size=alt.Size("size:Q", scale=None, legend=None),
        tooltip=_tooltips(points),
    )
    return marks


def _tooltips(points: Points) -> list[alt.Tooltip]:
    found = [alt.Tooltip("point:N")]
    found += [alt.Tooltip(f"k{at}:N", title=key.name) for at, key in enumerate(points.keys)]
    measures = enumerate(points.measures)
    return found + [alt.Tooltip(f"m{at}_said:N", title=each.name) for at, each in measures]


def _whiskers(base: alt.Chart, points: Points, at: int, way: str, theme: Theme) -> list[alt.Chart]:
    """Draw the 95 % intervals of a measure, where they are known."""
    if points.measures[at].low is None:
        return []
    field = f"m{at}"
    known = base.transform_filter(f"isValid(datum.{field}_low)")
    rule = known.mark_rule(color=theme.muted, strokeWidth=1.5, opacity=0.6)
    return [rule.encode(**{way: f"{field}_low:Q", f"{way}2": f"{field}_high:Q"})]


def _bounds(measure: Measure, way: str, theme: Theme) -> list[alt.Chart]:
    """Draw the bounds of a measure as dashed lines."""
    if not measure.bounds:
        return []
    data = chart_of([{"bound": bound} for bound in measure.bounds], theme)
    rule = data.mark_rule(color=theme.ink, strokeDash=[5, 4], strokeWidth=1.5)
    return [rule.encode(**{way: "bound:Q"})]


_Place = TypeVar("_Place", alt.X, alt.Y)


def _placed(way: type[_Place], field: str, axis: Key | Measure) -> _Place:
    """Place across or upwards by a key or a measure, logarithmically over a wide range."""
    is_across = way is alt.X
    look: dict[str, Any] = {"tickCount": 6, "labelOverlap": True}
    on_top = {} if is_across else _ON_TOP
    if isinstance(axis, Key) and axis.words is not None:
        words = axis.known() if is_across else axis.known()[::-1]
        look = NAMES | ({"labelAngle": 0, "labelOverlap": "greedy"} if is_across else on_top)
        return way(f"{field}:N", title=axis.name, sort=words).axis(**look)
    scale = alt.Scale(zero=False, padding=12)
    if axis.is_log:
        look |= {"format": ",~r", "gridOpacity": DECADES}
        scale = alt.Scale(type="log", nice=False, padding=12)
    return way(f"{field}:Q", title=axis.name, scale=scale).axis(**look, **on_top)


def _heat(field: str, values: Any) -> alt.Color:
    """Give numbers colours from dark for the least to bright for the largest."""
    if is_wide(values):
        scale = alt.Scale(type="log", scheme="viridis", nice=False)
    else:
        scale = alt.Scale(scheme="viridis", nice=False, zero=False)
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal", gradientLength=170)
    return alt.Color(f"{field}:Q", scale=scale, legend=legend)
