"""The page of many points: a sentence first, the picture that shows it, then every point."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from altair.utils.schemapi import debug_mode
from markupsafe import Markup, escape

from reprieve.plot import landscape
from reprieve.plot.charts import Chart
from reprieve.plot.points import BEST, FRONT, OTHERS, Points, fields, quartered, thinned
from reprieve.plot.theme import Theme
from reprieve.report.figures import Figure
from reprieve.report.named_datasets import NamedDatasets
from reprieve.report.page import page

_DRAWN_MOST = 1000
_ROWS_MOST = 200
_SMALL_MOST = 8
_TWO = 2


@dataclass(frozen=True)
class Group:
    """Charts that stand beside each other."""

    title: str
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Words:
    """Texts of a page."""

    title: str
    command: str
    """Command line that repeats the run."""
    facts: Mapping[str, str]
    lead: str
    """The sentence that it begins with."""
    sentences: Sequence[str]
    caption: str
    """Of the table."""
    refresh_s: int | None = None
    """Seconds after which a browser reads the page again: it is of a search that runs."""


@debug_mode(False)
def render(points: Points, words: Words) -> str:
    """Return the page over these points."""
    shown = list(drawn(thinned(points, _DRAWN_MOST)))
    figures = [figure for group in shown for figure in group.figures]
    left_out = [
        f"Of {len(points):,} points {_DRAWN_MOST:,} are drawn: the best, and others evenly spaced."
    ] * (len(points) > _DRAWN_MOST)
    table = _listed(points)
    return page(
        "points.html",
        title=words.title,
        command=words.command,
        facts=words.facts,
        specs={figure.name: figure.spec for figure in figures},
        lead=words.lead,
        sentences=[*words.sentences, *left_out],
        groups=shown,
        caption=words.caption,
        keys=[_breakable(key.name) for key in points.keys],
        measures=[measure.name for measure in points.measures],
        has_kinds=any(kind != OTHERS for kind in points.kinds),
        rows=[_row(table, place) for place in range(len(table))],
        left_out=len(points) - len(table),
        refresh_s=words.refresh_s,
    )


def _listed(points: Points) -> Points:
    """Return the points of the table in their order, or of too many the best."""
    if len(points) <= _ROWS_MOST or not points.measures:
        return points.some(range(min(len(points), _ROWS_MOST)))
    judged = points.measures[0]
    known = [place for place, value in enumerate(judged.values) if value is not None]
    return points.some(sorted(known, key=judged.cost)[:_ROWS_MOST])


def _row(points: Points, place: int) -> dict[str, Any]:
    kind = points.kinds[place]
    return {
        "keys": [
            {"name": key.name.rpartition(".")[2], "value": key.shown(place)} for key in points.keys
        ],
        "kind": "" if kind == OTHERS else kind,
        "is_best": kind == BEST,
        "cells": [
            {"value": measure.text(measure.values[place]), "interval": measure.interval(place)}
            for measure in points.measures
        ],
    }


def _breakable(name: str) -> Markup:
    """Let a line end behind a dot or a dash of a key."""
    text = str(escape(name))
    return Markup(text.replace(".", ".<wbr>").replace("_", "_<wbr>"))


def drawn(points: Points) -> Iterator[Group]:
    """Yield the charts of these points; the first group is what the page begins with."""
    if not points.keys or not points.measures or len(points) == 1:
        return
    by_keys, others = _by_keys(points)
    has_bounds = any(measure.bounds for measure in points.measures)
    if len(points.measures) > 1 and (FRONT in points.kinds or has_bounds):
        yield Group("", [_front(points)])
        yield Group("By the keys", [by_keys])
    else:
        yield Group("", [by_keys])
    yield from (group for group in others if group.figures)


def _front(points: Points) -> Figure:
    up, across = points.measures[:2]
    ends = ", bars are its 95 % intervals" if up.low is not None else ""
    text = f"Each mark is a point{ends}. The line joins those that no other beats in everything."
    if up.bounds or across.bounds:
        text += " Dashed lines are bounds."
    title = f"{up.name} against {across.name}"
    return _figure("front", title, text, partial(landscape.front, points))


def _by_keys(points: Points) -> tuple[Figure, list[Group]]:
    """Return the chart that suits the number of keys, and groups of smaller ones."""
    if len(points.keys) == 1:
        first, *rest = _lines(points)
        return first, [Group("The other measures", rest)]
    if len(points.keys) == _TWO and landscape.has_fields(points):
        first, *rest = _heat_maps(points)
        return first, [Group("The other measures", rest)]
    points = quartered(points)
    small = Group(f"{points.measures[0].name}, key by key", list(_each_key(points)))
    if len(points.keys) == _TWO:
        ring = " The best has a ring." if BEST in points.kinds else ""
        text = f"Each mark is a point; the darker, the less.{ring}"
        title = f"{points.measures[0].name}, by {_both(points)}"
        return _figure("map", title, text, partial(landscape.map_of, points)), [small]
    text = (
        "A line is a point. It goes from axis to axis, from the least value at the left to the "
        "largest; lines of one value are drawn side by side."
    )
    draw = partial(landscape.parallel, points)
    first = _figure("keys", "All keys and measures", text, draw)
    return replace(first, is_narrow=True), [small]


def _lines(points: Points) -> Iterator[Figure]:
    key = points.keys[0].name
    for at, measure in enumerate(points.measures):
        text = "Bars are 95 % intervals." if measure.low is not None else ""
        title = measure.name if at else f"{measure.name}, by {key}"
        draw = partial(landscape.over_key, points, 0, at, is_large=at == 0)
        yield _figure(f"line-{at}", title, text, draw)


def _heat_maps(points: Points) -> Iterator[Figure]:
    for at, measure in enumerate(points.measures):
        best = "highest" if measure.is_max else "lowest"
        of_each = " of each load" if len(points.by_load()) > 1 else ""
        text = f"Darker is lower. The {best} value{of_each} is outlined."
        if len(points) > len(fields(points, at)):
            text += " Each field is the best of its points."
        title = measure.name if at else f"{measure.name}, by {_both(points)}"
        yield _figure(f"heat-{at}", title, text, partial(landscape.heat_map, points, at))


def _each_key(points: Points) -> Iterator[Figure]:
    for at, key in enumerate(points.keys[:_SMALL_MOST]):
        draw = partial(landscape.over_key, points, at, 0, is_large=False)
        yield _figure(f"key-{at}", key.name, "", draw)


def _both(points: Points) -> str:
    return " and ".join(key.name for key in points.keys[:2])


def _figure(name: str, title: str, caption: str, draw: Callable[[Theme], Chart]) -> Figure:
    datasets = NamedDatasets()
    return Figure(name, title, caption, datasets.spec(draw(datasets.theme), title, caption))
