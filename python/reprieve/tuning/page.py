"""The page of a tuning: the answer in words, cost against tail, every point that was tried."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reprieve.experiments.plan import Axis, Range
from reprieve.plot.points import (
    BEST,
    BOUND,
    FRONT,
    OTHERS,
    TIED,
    Key,
    Measure,
    Points,
    is_wide,
    word,
)
from reprieve.tuning.answer import Answer, estimate
from reprieve.tuning.question import Field
from reprieve.tuning.search import Tried

_REFRESH_S = 5


def rows(answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each point, the best first."""
    found = []
    for place, (tried, is_front) in enumerate(zip(answer.ranked, answer.in_front, strict=True)):
        row: dict[str, Any] = {"place": place + 1, "front": is_front}
        row |= dict(tried.point.values)
        for what in answer.fields:
            each = estimate(what, tried)
            row |= {what.said: each.mean, f"{what.said}_low": each.low}
            row[f"{what.said}_high"] = each.high
        found.append(row)
    return found


def render(answer: Answer, sentences: Sequence[str], command: str, *, is_running: bool) -> str:
    """Return the page, which needs no network; one of a search that runs reads itself again."""
    from reprieve.report import points

    lead, *more = map(_sentence, sentences)
    count = len(answer.ranked) + len(answer.unreal)
    state = "the whole space" if answer.is_whole else "the search is running" if is_running else ""
    state = "cut short" if answer.is_cut_short else state
    seeds = len(answer.best.rows)
    words = points.Words(
        title="Tuning",
        command=command,
        facts={"Points": f"{count:,}{', ' if state else ''}{state}", "Seeds": f"{seeds} a point"},
        lead=lead if not is_running else f"So far, {lead[0].lower()}{lead[1:]}",
        sentences=more,
        caption="Every point over all its seeds, the best first",
        refresh_s=_REFRESH_S if is_running else None,
    )
    return points.render(_points(answer), words)


def _sentence(line: str) -> str:
    """Return a line of the terminal as a sentence; the name of a number stays as it is."""
    first = line.split(maxsplit=1)[0].rstrip(":")
    return f"{line[0].upper()}{line[1:]}." if first.isalpha() else f"{line}."


def _points(answer: Answer) -> Points:
    """Return every point, the best first, and behind them those that no drive can have."""
    tried = (*answer.ranked, *answer.unreal)
    kinds = [BEST, *[TIED] * (answer.ties - 1)]
    kinds += [FRONT if is_front else OTHERS for is_front in answer.in_front[answer.ties :]]
    kinds += [BOUND] * len(answer.unreal)
    values = [dict(each.point.values) for each in tried]
    keys = [_key(axis, [row.get(axis.key) for row in values]) for axis in answer.question.axes]
    measures = [_measure(answer, what, tried) for what in answer.fields]
    return Points([str(each.point.number) for each in tried], keys, measures, kinds)


def _key(axis: Axis, values: Sequence[Any]) -> Key:
    span = axis.values
    if isinstance(span, Range):
        return Key(axis.key, values, is_log=span.is_log)
    if all(type(value) in (int, float) for value in span):
        return Key(axis.key, values, is_log=is_wide(span))
    words = [None if value is None else word(value) for value in values]
    return Key(axis.key, words, tuple(map(word, span)))


def _measure(answer: Answer, what: Field, tried: Sequence[Tried]) -> Measure:
    """Return a number of the points in µs or as it is, with intervals where there are seeds."""
    factor, question = 1e-3 if what.is_time else 1.0, answer.question
    found = [estimate(what, each) for each in tried]
    bounds = [bound for bound in question.bounds if bound.field.column == what.column]
    is_max = bool(bounds) and not bounds[0].is_upper
    mean = Measure(
        f"{what.said}, µs" if what.is_time else what.said,
        [each.mean * factor for each in found],
        is_max=question.is_max if what.column == question.goal.column else is_max,
        bounds=tuple(bound.limit * factor for bound in bounds),
    )
    low, high = (
        [None if end is None else end * factor for end in ends]
        for ends in zip(*((each.low, each.high) for each in found), strict=True)
    )
    return mean if None in low else replace(mean, low=low, high=high)
