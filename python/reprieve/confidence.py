"""How well runs know their latencies: intervals of a summary, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

FIGURES = {
    "mean": "mean",
    "p50": "p50",
    "p99": "p99",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
}
"""Figures of the tables that have an interval, by their keys in a summary."""

TOO_FEW = "too few"
"""What stands in the place of an interval for which there are too few requests."""

_FEWEST_BATCHES = 10
_NOUNS = {"read": "reads", "write": "writes", "total": "requests"}


def interval_ns(group: dict[str, Any], figure: str) -> tuple[float, float] | None:
    """Return the 95 % interval of a figure of reads, writes or both; None with too few of them."""
    found = group["confidence"][figure]
    return None if found is None else (found[0], found[1])


def bounds_us(group: dict[str, Any], figure: str) -> tuple[str, str] | None:
    """Return the ends of the interval of a figure in µs; None with too few requests for one."""
    found = interval_ns(group, figure)
    return None if found is None else (f"{found[0] / 1000:,.1f}", f"{found[1] / 1000:,.1f}")


def shortage(group: dict[str, Any], kind: str) -> str | None:
    """Return a sentence on the figures for whose interval there are too few requests; or None."""
    found, noun = group["confidence"], _NOUNS[kind]
    missing = [figure for figure in FIGURES if figure in found["too_few"]]
    if not group["count"] or not missing:
        return None
    if found["batches"] < _FEWEST_BATCHES:
        return (
            f"too few requests for intervals: {found['batches']} batches of "
            f"{found['batch_requests']}, and {_FEWEST_BATCHES} are needed"
        )
    least = missing[0]
    return (
        f"too few {noun} for an interval of {listed(FIGURES[figure] for figure in missing)}: "
        f"one of {found['batches']} batches has only {found['fewest_requests']:,}, "
        f"and {FIGURES[least]} needs {found['too_few'][least]:,} in each"
    )


def listed(words: Iterable[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
