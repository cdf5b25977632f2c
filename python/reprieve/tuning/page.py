"""The page of a tuning: the answer in words, the front, every point that was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reprieve.experiments.plan import Axis, Range
from reprieve.plot.points import BEST, FRONT, KEPT, OTHERS, Key, Measure, Points, is_wide, word
from reprieve.tuning.answer import Answer, estimate
from reprieve.tuning.question import Field
from reprieve.tuning.search import Tried


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


def _fields(answer: Answer) -> list[Field]:
    fields = [answer.question.goal, *(bound.field for bound in answer.question.bounds)]
    return list({each.said: each for each in fields}.values())


def render(answer: Answer, sentences: Sequence[str], command: str) -> str:
    """Return the page, which needs no network."""
    from reprieve.report import points

    lead, *more = map(_sentence, sentences)
    words = points.Words(
        title="Tuning",
        command=command,
        facts={"Points": f"{answer.tried}, {len(answer.ranked)} of them at full length"},
        lead=lead,
        sentences=more,
        caption="Points that ran at full length over all seeds, the best first",
        caption_tried="Short runs of all points that were tried, under one seed",
    )
    return points.render(_whole(answer), words, _short(answer))


def _sentence(line: str) -> str:
    """Return a line of the terminal as a sentence; the name of a number stays as it is."""
    first = line.split(maxsplit=1)[0].rstrip(":")
    return f"{line[0].upper()}{line[1:]}." if first.isalpha() else f"{line}."


def _whole(answer: Answer) -> Points:
    """Return the points that ran at full length, the best first."""
    kinds = [BEST] + [FRONT if is_front else OTHERS for is_front in answer.in_front[1:]]
    return _points(answer, answer.ranked, kinds, [_measure(answer, f) for f in _fields(answer)])


def _short(answer: Answer) -> Points:
    """Return all points by their short runs, which have one length and one seed."""
    best, has_bounds = answer.best.point.number, bool(answer.question.bounds)
    kinds = []
    for each in answer.all:
        is_kept = has_bounds and answer.question.violation(each.by_rung[0][0]) == 0
        kinds.append(BEST if each.point.number == best else KEPT if is_kept else OTHERS)
    measures = [
        _scaled(answer, what, [what.of(each.by_rung[0][0]) for each in answer.all])
        for what in _fields(answer)
    ]
    return _points(answer, answer.all, kinds, measures)


def _points(
    answer: Answer, tried: Sequence[Tried], kinds: Sequence[str], measures: Sequence[Measure]
) -> Points:
    values = [dict(each.point.values) for each in tried]
    keys = [_key(axis, [row.get(axis.key) for row in values]) for axis in answer.question.axes]
    return Points([str(each.point.number) for each in tried], keys, measures, kinds)


def _key(axis: Axis, values: Sequence[Any]) -> Key:
    span = axis.values
    if isinstance(span, Range):
        return Key(axis.key, values, is_log=span.is_log)
    if all(type(value) in (int, float) for value in span):
        return Key(axis.key, values, is_log=is_wide(span))
    words = [None if value is None else word(value) for value in values]
    return Key(axis.key, words, tuple(map(word, span)))


def _measure(answer: Answer, what: Field) -> Measure:
    """Return a number of the points at full length, with intervals where there are seeds."""
    found = [estimate(what, each) for each in answer.ranked]
    mean = _scaled(answer, what, [each.mean for each in found])
    factor = _factor(what)
    low, high = (
        [None if end is None else end * factor for end in ends]
        for ends in zip(*((each.low, each.high) for each in found), strict=True)
    )
    return mean if None in low else replace(mean, low=low, high=high)


def _scaled(answer: Answer, what: Field, values: Sequence[float]) -> Measure:
    factor, question = _factor(what), answer.question
    bounds = [bound for bound in question.bounds if bound.field.said == what.said]
    is_max = question.is_max if what.said == question.goal.said else not bounds[0].is_upper
    return Measure(
        f"{what.said}, µs" if what.is_time else what.said,
        [value * factor for value in values],
        is_max=is_max,
        bounds=tuple(bound.limit * factor for bound in bounds),
    )


def _factor(what: Field) -> float:
    """Return what a number is multiplied by for people: times are in µs."""
    return 1e-3 if what.is_time else 1.0
