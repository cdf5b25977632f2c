"""Points of a sweep or a tuning: what varies, what came of it, and rows for their charts."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reprieve.plot.rows import Row
from reprieve.units import NOTHING, decimals

BEST, TIED, FRONT, BOUND = "best", "as good", "in the front", "no drive has this"
QUARTER, OTHERS = "best quarter", "others"
KINDS = (BEST, TIED, FRONT, BOUND, QUARTER, OTHERS)
"""Kinds of points; a chart draws them in the opposite order, the best on top."""
_SIZES = {BEST: 150, TIED: 90, FRONT: 70, BOUND: 70, QUARTER: 50, OTHERS: 40}
"""Of their marks."""

_MUCH = 20.0
"""Above this ratio of its ends a scale is logarithmic."""


@dataclass(frozen=True)
class Key:
    """A key that varies."""

    name: str
    values: Sequence[Any]
    """Of each point; None where it does not apply."""
    words: tuple[str, ...] | None = None
    """Its values in order, where they are not all numbers."""
    is_log: bool = False
    """Whether the scale is logarithmic."""

    def shown(self, place: int) -> str:
        """Return the value of a point for people."""
        return word(self.values[place])

    def known(self) -> list[Any]:
        """Return the different values in order."""
        if self.words is not None:
            return [each for each in self.words if each in self.values]
        return sorted({value for value in self.values if value is not None})


@dataclass(frozen=True)
class Measure:
    """Result of each point, in readable units."""

    name: str
    """With its unit."""
    values: Sequence[float | None]
    low: Sequence[float | None] | None = None
    """Ends of the 95 % intervals, where there are several seeds."""
    high: Sequence[float | None] | None = None
    is_max: bool = False
    """Whether more of it is better."""
    bounds: tuple[float, ...] = ()
    column: str = ""
    """Of the data set, where it is one."""

    @property
    def is_log(self) -> bool:
        """Whether its scale is logarithmic; an interval that reaches below 0 has no logarithm."""
        return is_wide([*self.values, *self.bounds, *(self.low or ())])

    def cost(self, place: int) -> float:
        """Return the value of a point that has one, so that less is better."""
        value = self.values[place]
        assert value is not None, "only points that have a value are ranked"
        return -value if self.is_max else value

    def said(self) -> str:
        """Return its name without the unit."""
        return self.name.partition(", ")[0]

    def with_unit(self, place: int) -> str:
        """Return the value of a point with its unit and interval."""
        return self.shown(place, self.name.partition(", ")[2])

    def interval(self, place: int) -> str:
        """Return the 95 % interval of a point for people; nothing where it is not known."""
        low = self.low[place] if self.low is not None else None
        high = self.high[place] if self.high is not None else None
        return "" if low is None or high is None else f"{self.text(low)} to {self.text(high)}"

    def shown(self, place: int, unit: str = "") -> str:
        """Return the value of a point for people, with its interval."""
        ends, value = self.interval(place), f"{self.text(self.values[place])} {unit}".rstrip()
        return f"{value} ({ends})" if ends else value

    @cached_property
    def _decimals(self) -> int:
        """All values have the same: a tenth of a microsecond, or four digits of the largest."""
        known = [value for value in self.values if value is not None and math.isfinite(value)]
        ends = zip(self.low or (), self.high or (), strict=True)
        widths = [high - low for low, high in ends if low is not None and high is not None]
        return decimals(known, widths, most=1 if self.name.endswith(", µs") else None)

    def text(self, value: float | None) -> str:
        """Write a value, or an end of an interval, as all of the measure."""
        if value is None or not math.isfinite(value):
            return NOTHING
        return f"{value:,.{self._decimals}f}"


@dataclass(frozen=True)
class Points:
    """All of them."""

    names: Sequence[str]
    """Name of each."""
    keys: Sequence[Key]
    measures: Sequence[Measure]
    """The first is what they are judged by."""
    kinds: Sequence[str]
    """Kind of each, of `KINDS`."""
    loads: Sequence[int] = ()
    """Number of the load of each, where there are several: none of them is the best."""

    def __len__(self) -> int:
        return len(self.names)

    def by_load(self) -> list[list[int]]:
        """Return the places of the points of each load."""
        found: dict[int, list[int]] = {}
        for place, load in enumerate(self.loads or [0] * len(self)):
            found.setdefault(load, []).append(place)
        return list(found.values())

    def best_of_loads(self, measure: int, among: Collection[int] | None = None) -> set[int]:
        """Return the best points of each load with two or more, of those that a drive can have."""
        what, best = self.measures[measure], set[int]()
        for places in self.by_load():
            known = [each for each in places if self.kinds[each] != BOUND]
            known = [each for each in known if what.values[each] is not None]
            if among is not None:
                known = [each for each in known if each in among]
            top = min(map(what.cost, known), default=None)
            best |= {each for each in known if len(places) > 1 and what.cost(each) == top}
        return best

    def where(self, place: int) -> str:
        """Return the keys of a point as a reader writes them."""
        known = [key for key in self.keys if key.values[place] is not None]
        return ", ".join(f"{key.name} = {key.shown(place)}" for key in known)

    def some(self, places: Sequence[int]) -> "Points":
        """Return these points alone."""

        def of(values: Sequence[Any]) -> list[Any]:
            return [values[place] for place in places]

        def ends(values: Sequence[float | None] | None) -> list[float | None] | None:
            return None if values is None else of(values)

        keys = [replace(key, values=of(key.values)) for key in self.keys]
        measures = [
            replace(each, values=of(each.values), low=ends(each.low), high=ends(each.high))
            for each in self.measures
        ]
        loads = of(self.loads) if self.loads else ()
        return Points(of(self.names), keys, measures, of(self.kinds), loads)


def word(value: Any) -> str:
    """Return a key's value for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def number(value: float | None) -> str:
    """Return a measure's value for people, in four digits or to a whole number."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004


def is_wide(values: Sequence[Any]) -> bool:
    """Return whether a scale over these numbers is logarithmic."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) / min(known) >= _MUCH


def share_of(value: float, values: Sequence[float], *, is_log: bool) -> float:
    """Return where a number lies between the least and the largest, from 0 to 1."""
    low, high = min(values), max(values)
    if high == low:
        return 0.5
    if is_log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def table(points: Points) -> list[Row]:
    """Return a row for each point: keys as `k0`, `k1`, … and measures as `m0`, …, others first."""
    rows: list[Row] = []
    on_front = _on_front(points)
    for place, (name, kind) in enumerate(zip(points.names, points.kinds, strict=True)):
        row: Row = {"point": name, "kind": kind, "size": _SIZES[kind], "front": place in on_front}
        for at, key in enumerate(points.keys):
            value = key.values[place]
            row[f"k{at}"] = word(value) if key.words is not None else value
        for at, measure in enumerate(points.measures):
            row[f"m{at}"] = measure.values[place]
            row[f"m{at}_said"] = measure.shown(place)
            if measure.low is not None and measure.high is not None:
                row |= {f"m{at}_low": measure.low[place], f"m{at}_high": measure.high[place]}
        rows.append(row)
    return sorted(rows, key=lambda row: -KINDS.index(row["kind"]))


def _on_front(points: Points) -> set[int]:
    """Return the points that no other beats in both of the first two measures."""
    found: set[int] = set()
    if len(points.measures) > 1:
        up, across = points.measures[:2]
        costs = sorted(
            (up.cost(place), across.cost(place), place)
            for place, kind in enumerate(points.kinds)
            if kind != BOUND and None not in (up.values[place], across.values[place])
        )
        least = math.inf
        for _, cost, place in costs:
            if cost < least:
                found.add(place)
                least = cost
    return found


def fields(points: Points, measure: int) -> list[Row]:
    """Return a row for each pair of values of the first two keys: its best point of a measure."""
    what = points.measures[measure]
    best: dict[tuple[Any, ...], tuple[float, int]] = {}
    for place, value in enumerate(what.values):
        at = tuple(key.values[place] for key in points.keys[:2])
        if value is None or None in at:
            continue
        if at not in best or what.cost(place) < what.cost(best[at][1]):
            best[at] = (value, place)
    values = [value for value, _ in best.values()]
    is_log = is_wide(values)
    outlined = points.best_of_loads(measure, {place for _, place in best.values()})
    return [
        {
            "point": points.names[place],
            "across": word(across),
            "up": word(up),
            "value": value,
            "said": what.text(value),
            "interval": what.shown(place),
            "share": share_of(value, values, is_log=is_log),
            "is_best": place in outlined,
        }
        for (across, up), (value, place) in best.items()
    ]


# A line is spread by this share of the axis, so that lines through one value can be told apart.
_SPREAD = 0.05
NOWHERE = 1.09
"""Where a point is drawn to which a key does not apply: beside its axis."""


def lines(points: Points) -> tuple[list[Row], list[Row]]:
    """Return rows of parallel coordinates, a row a point and axis, and rows of the axes' labels."""
    rows: list[Row] = []
    labels: list[Row] = []
    order = sorted(range(len(points)), key=lambda place: -KINDS.index(points.kinds[place]))
    axes: list[Key | Measure] = [*points.keys, *points.measures]
    for at, axis in enumerate(axes):
        own = {"axis": axis.name, "at": at}
        shares, ends = _key_axis(axis, points) if isinstance(axis, Key) else _measure_axis(axis)
        labels += [own | {"share": share, "text": text} for share, text in ends]
        for place in order:
            if (share := shares[place]) is not None:
                row = {"point": points.names[place], "kind": points.kinds[place]} | own
                rows.append(row | {"share": round(share, 4), "said": axis.shown(place)})
    return rows, labels


Ends = list[tuple[float, str]]
_LABELS_MOST = 4


def _key_axis(key: Key, points: Points) -> tuple[list[float | None], Ends]:
    known = key.known()
    if key.words is None:
        at = {value: share_of(value, known, is_log=key.is_log) for value in known}
    else:
        at = {value: place / max(len(known) - 1, 1) for place, value in enumerate(known)}
    shown = known if len(known) <= _LABELS_MOST else [known[0], known[-1]]
    ends = [(at[value], word(value)) for value in shown]
    if None in key.values:
        at[None], ends = NOWHERE, [*ends, (NOWHERE, "–")]
    return _spread(key, at, points), ends


def _spread(key: Key, at: dict[Any, float], points: Points) -> list[float | None]:
    """Place the points of one value beside each other, in the order of the first measure."""
    judged = points.measures[0].values
    width = min(_SPREAD, 0.4 / max(len(at) - 1, 1))
    shares: list[float | None] = [None] * len(points)
    for value, centre in at.items():
        here = [place for place, each in enumerate(key.values) if each == value]
        here.sort(key=lambda place: (judged[place] is None, judged[place] or 0.0, place))
        for rank, place in enumerate(here):
            shares[place] = centre + width * ((rank + 0.5) / len(here) - 0.5)
    return shares


def _measure_axis(measure: Measure) -> tuple[list[float | None], Ends]:
    known = [value for value in measure.values if value is not None]
    if not known:
        return [None] * len(measure.values), []
    at: dict[float | None, float] = {
        value: share_of(value, known, is_log=is_wide(known)) for value in known
    }
    shares = [at.get(value) for value in measure.values]
    ends = [(0.0, number(min(known))), (1.0, number(max(known)))]
    return shares, ends if min(known) < max(known) else [(0.5, number(known[0]))]


_QUARTERED_LEAST = 8


def quartered(points: Points) -> Points:
    """Mark the best quarter, where nothing else distinguishes points."""
    if not {*points.kinds} <= {BEST, OTHERS} or len(points) < _QUARTERED_LEAST:
        return points
    judged = points.measures[0]
    known = [place for place, value in enumerate(judged.values) if value is not None]
    known.sort(key=judged.cost)
    good = set(known[: len(points) // 4])
    kinds = [
        QUARTER if place in good and kind == OTHERS else kind
        for place, kind in enumerate(points.kinds)
    ]
    return replace(points, kinds=kinds)


def thinned(points: Points, most: int) -> Points:
    """Return at most `most` points: the best and the front first, then others evenly spaced."""
    if len(points) <= most:
        return points
    first = [place for place, kind in enumerate(points.kinds) if kind != OTHERS][:most]
    rest = [place for place, kind in enumerate(points.kinds) if kind == OTHERS]
    left = most - len(first)
    spaced = [rest[int(at)] for at in np.linspace(0, len(rest) - 1, left)] if left else []
    return points.some(sorted({*first, *spaced}))
