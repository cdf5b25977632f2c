"""Confidence intervals of the latencies in a summary, in numbers and in words."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

FIGURES = {"mean": "mean", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
"""Figures of the tables that have an interval, by their keys in a summary."""

TOO_FEW = "too few"
"""Placeholder of a figure or interval for which there are too few requests."""

UNDECIDED = "~"
"""Prefix of a multiple that is not significant: it may be 1."""

UNKNOWN = "?"
"""Prefix of a multiple without an interval: there are too few requests for one."""

BEYOND = 10
"""Requests beyond a percentile, without which its place is chance."""

_ONE_IN = {
    "p50": 2,
    "p90": 10,
    "p95": 20,
    "p99": 100,
    "p99_9": 1_000,
    "p99_99": 10_000,
    "p99_999": 100_000,
}
"""Number of requests of which one lies beyond the percentile."""

_FEWEST_BATCHES = 10
_NOUNS = {"read": "reads", "write": "writes", "total": "requests"}


def is_known(count: float, figure: str) -> bool:
    """Return whether a number of requests suffices: ten beyond a percentile, one for all else."""
    return count >= BEYOND * _ONE_IN[figure] if figure in _ONE_IN else count > 0


def known(counts: Iterable[float]) -> list[str]:
    """Return the figures for which the largest of these numbers of requests suffices, and mean."""
    most = max(counts, default=0)
    return [figure for figure in FIGURES if figure == "mean" or is_known(most, figure)]


def compared(summaries: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the operations and figures by which runs are compared.

    Mean, p99 if a run has the requests for it, and the farthest percentile with an interval in all.
    """
    found = []
    for op in ("read", "write"):
        groups = [each["requests"][op] for each in summaries if each["requests"][op]["count"]]
        if not groups:
            continue
        most = max(group["count"] for group in groups)
        figures = ["mean", "p99"] if is_known(most, "p99") else ["mean"]
        tails = (tail for tail in ("p99_99", "p99_9") if all(interval_ns(g, tail) for g in groups))
        found += [(op, figure) for figure in [*figures, *islice(tails, 1)]]
    return found


def cell_us(group: Mapping[str, Any], figure: str) -> str:
    """Return a figure of a group of requests in µs for a table."""
    if not group["count"]:
        return "–"
    known = is_known(group["count"], figure)
    return f"{group['latency_ns'][figure] / 1000:,.1f}" if known else TOO_FEW


def interval_ns(group: Mapping[str, Any], figure: str) -> tuple[float, float] | None:
    """Return the 95 % interval of a figure of reads, writes or both; None with too few of them."""
    found = group["confidence"][figure]
    return None if found is None else (found[0], found[1])


def bounds_us(group: Mapping[str, Any], figure: str) -> tuple[str, str] | None:
    """Return the ends of the interval of a figure in µs; None with too few requests for one."""
    found = interval_ns(group, figure)
    return None if found is None else (f"{found[0] / 1000:,.1f}", f"{found[1] / 1000:,.1f}")


def shortage(groups: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return a sentence on the figures of a run that have too few requests for an interval.

    `groups`: reads, writes and both by the names of a summary. None if all have an interval.
    """
    short = {
        kind: group["confidence"]
        for kind, group in groups.items()
        if group["count"] and any(figure in group["confidence"]["too_few"] for figure in FIGURES)
    }
    if not short:
        return []
    batches, length = (next(iter(short.values()))[name] for name in ("batches", "batch_requests"))
    if batches < _FEWEST_BATCHES:
        return [
            f"too few requests for intervals: {batches} batches of {length}, and "
            f"{_FEWEST_BATCHES} are needed"
        ]
    needs = {name: each for found in short.values() for name, each in found["too_few"].items()}
    first, *others = ((FIGURES[name], f"{needs[name]:,}") for name in FIGURES if name in needs)
    told = [
        f"{first[0]} needs {first[1]} requests in each of {batches} batches",
        *(f"{name} {count}" for name, count in others),
    ]
    fewest = [f"{found['fewest_requests']:,} {_NOUNS[kind]}" for kind, found in short.items()]
    return [f"too few for an interval: {listed(told)}; the smallest batch has {listed(fewest)}"]


def listed(words: Iterable[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
