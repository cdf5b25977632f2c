"""The page of a tuning: the answer in words, the front, a map of two keys, all keys, the table."""

from __future__ import annotations

from typing import Any

from reprieve.sweeps.plan import Range
from reprieve.tuning.answer import Answer, estimate
from reprieve.tuning.search import Tried

_WIDTH, _HEIGHT = 520, 300


def rows(answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each point that ran at full length, the best first."""
    found = []
    for place, (tried, is_front) in enumerate(zip(answer.ranked, answer.in_front, strict=True)):
        row: dict[str, Any] = {"place": place + 1, "front": is_front}
        row |= dict(tried.point.values)
        for what in _fields(answer):
            each = estimate(what, tried)
            row |= {what.said: each.mean, f"{what.said}_low": each.low}
            row[f"{what.said}_high"] = each.high
        found.append(row)
    return found


def _fields(answer: Answer) -> list[Any]:
    fields = [answer.question.goal, *(bound.field for bound in answer.question.bounds)]
    return list({each.said: each for each in fields}.values())


def render(answer: Answer, sentences: Any, command: str) -> str:
    """Return the page, which needs no network."""
    from reprieve.report.page import page

    question = answer.question
    specs = {"front": _front(answer), "keys": _parallel(answer)}
    if len(_numeric(answer)) > 1:
        specs["map"] = _map(answer)
    shown = [
        [
            *(str(dict(each.point.values).get(axis.key, "–")) for axis in question.axes),
            *(what.show(estimate(what, each).mean) for what in _fields(answer)),
        ]
        for each in answer.ranked
    ]
    return page(
        "tune.html",
        package="reprieve.tuning",
        title="Tuning",
        command=command,
        facts={"Points": f"{answer.tried}, {len(answer.ranked)} of them at full length"},
        specs=specs,
        charts=list(specs),
        sentences=list(sentences),
        columns=[axis.key for axis in question.axes] + [each.said for each in _fields(answer)],
        table=shown,
    )


def _value(what: Any, tried: Tried) -> float:
    """Return a number as it is drawn: times in µs."""
    mean = estimate(what, tried).mean
    return mean / 1000 if what.is_time else mean


def _unit(what: Any) -> str:
    return f"{what.said}, µs" if what.is_time else str(what.said)


def _base(answer: Answer) -> list[dict[str, Any]]:
    data = []
    for place, (tried, is_front) in enumerate(zip(answer.ranked, answer.in_front, strict=True)):
        row: dict[str, Any] = {"place": place + 1, "kind": "in the front" if is_front else "beaten"}
        row["kind"] = "best" if place == 0 else row["kind"]
        row |= {key.replace(".", "_"): value for key, value in tried.point.values}
        row |= {f"y{i}": _value(what, tried) for i, what in enumerate(_fields(answer))}
        data.append(row)
    return data


def _front(answer: Answer) -> dict[str, Any]:
    fields = _fields(answer)
    across = 1 if len(fields) > 1 else 0
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "point", "filled": True, "size": 70},
            "encoding": {
                "x": _axis(f"y{across}", _unit(fields[across])),
                "y": _axis("y0", _unit(fields[0])),
                "color": {"field": "kind", "type": "nominal", "title": None},
                "shape": {"field": "kind", "type": "nominal", "title": None},
                "tooltip": [{"field": name} for name in _base(answer)[0]],
            },
        }
    ]
    for bound in answer.question.bounds:
        if bound.field.said == fields[across].said:
            limit = bound.limit / 1000 if bound.field.is_time else bound.limit
            layers.append(
                {
                    "mark": {"type": "rule", "strokeDash": [4, 4]},
                    "encoding": {"x": {"datum": limit}},
                }
            )
    return _chart({"layer": layers}, _base(answer))


def _axis(field: str, title: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}}


def _chart(spec: dict[str, Any], data: list[dict[str, Any]]) -> dict[str, Any]:
    from reprieve.report.page import vega_lite_version

    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/v{vega_lite_version()}.json",
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": data},
        **spec,
    }


def _numeric(answer: Answer) -> list[str]:
    return [axis.key for axis in answer.question.axes if isinstance(axis.values, Range)]


def _map(answer: Answer) -> dict[str, Any]:
    first, second, *_ = _numeric(answer)
    what = answer.question.goal
    encoding = {
        axis: {
            "field": key.replace(".", "_"),
            "type": "quantitative",
            "bin": {"maxbins": 8},
            "title": key,
        }
        for axis, key in (("x", first), ("y", second))
    }
    best = "max" if answer.question.is_max else "min"
    colour = {"field": "y0", "aggregate": best, "type": "quantitative", "title": _unit(what)}
    return _chart({"mark": "rect", "encoding": {**encoding, "color": colour}}, _base(answer))


def _parallel(answer: Answer) -> dict[str, Any]:
    """Return a line for each point over its keys and numbers, each on a scale of its own."""
    names = [axis.key for axis in answer.question.axes]
    values = [dict(each.point.values) for each in answer.ranked]
    data = []
    for axis in answer.question.axes:
        for place, row in enumerate(values):
            if axis.key not in row:
                continue
            span = axis.values
            if isinstance(span, Range):
                share = (row[axis.key] - span.low) / (span.high - span.low)
            else:
                share = span.index(row[axis.key]) / max(len(span) - 1, 1)
            data.append(_at(axis.key, share, row[axis.key], place))
    for what in _fields(answer):
        numbers = [_value(what, each) for each in answer.ranked]
        low, high = min(numbers), max(numbers)
        for place, number in enumerate(numbers):
            share = (number - low) / (high - low) if high > low else 0.5
            data.append(_at(_unit(what), share, number, place))
        names.append(_unit(what))
    return _chart(
        {
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {
                    "field": "name",
                    "type": "nominal",
                    "sort": names,
                    "title": None,
                    "axis": {"labelAngle": -20},
                },
                "y": {"field": "share", "type": "quantitative", "axis": None},
                "detail": {"field": "place"},
                "color": {"field": "kind", "type": "nominal", "title": None},
                "opacity": {"condition": {"test": "datum.place == 1", "value": 1}, "value": 0.4},
                "tooltip": [{"field": name} for name in ("place", "name", "value")],
            },
        },
        data,
    )


def _at(name: str, share: float, value: Any, place: int) -> dict[str, Any]:
    kind = "best" if place == 0 else "others"
    return {"name": name, "share": share, "value": value, "place": place + 1, "kind": kind}
