"""Notes on many runs at once: one sentence where they agree, not one a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from reprieve.confidence import UNDECIDED, UNKNOWN, listed
from reprieve.report.tables import too_few, verdicts
from reprieve.units import time

if TYPE_CHECKING:
    from reprieve.comparison import Comparison
    from reprieve.pairs import Paired
    from reprieve.result import Result

__all__ = ["certainty", "mark_of", "measured"]

_EACH_MOST = 3
"""Runs of which each gets a sentence of its own, with its intervals."""
_NAMED_MOST = 5


def mark_of(pair: Paired) -> str:
    """Return the mark before a multiple: none where it differs significantly from 1."""
    if pair["decided"]:
        return ""
    return UNKNOWN if "reason" in pair else UNDECIDED


def measured(runs: Mapping[str, Result]) -> list[str]:
    """Say what is excluded, once for all runs of which the same kind of thing is excluded."""
    kinds: dict[tuple[str, bool], list[str]] = {}
    warnings: dict[str, list[str]] = {}
    for label, result in runs.items():
        measure = result.summary["measure"]
        if measure["from_ns"] or measure["requests_excluded"]:
            # What stands behind the colon differs from run to run: where its transient ends.
            why = measure["reason"].partition(":")[0]
            kinds.setdefault((why, measure["requests_excluded"] > 0), []).append(label)
        if measure["warning"] is not None:
            warnings.setdefault(measure["warning"], []).append(label)
    notes = [_from(runs, labels, why) for (why, _), labels in kinds.items()]
    notes += [f"{_whom(labels, runs)}{warning}" for warning, labels in warnings.items()]
    return notes


def _from(runs: Mapping[str, Result], labels: Sequence[str], why: str) -> str:
    found = [runs[label].summary["measure"] for label in labels]
    begin = _range(time(ns) for ns in sorted({each["from_ns"] for each in found}))
    counts = _range(f"{count:,}" for count in sorted({each["requests_excluded"] for each in found}))
    excluded = "no request is excluded"
    if counts != "0":
        excluded = f"excluded are the first {counts} requests{' of each' * (len(found) > 1)}"
    return f"{_whom(labels, runs)}measured from {begin} on; {excluded} ({why})"


def _range(ordered: Iterable[str]) -> str:
    """Return one word, or the first and the last of several."""
    words = list(dict.fromkeys(ordered))
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def _whom(labels: Sequence[str], runs: Mapping[str, Result]) -> str:
    """Return the runs that a sentence is about, before it; nothing where it is about all."""
    return "" if len(labels) == len(runs) else f"{_named(labels, len(runs))}: "


def _named(labels: Sequence[str], count: int) -> str:
    return listed(labels) if len(labels) <= _NAMED_MOST else f"{len(labels)} of {count} runs"


def certainty(
    runs: Comparison, found: Mapping[str, Mapping[str, Paired]], *, marked: Collection[str]
) -> list[str]:
    """Say which differences are significant: a line for each of a few runs, else the marks.

    `found`: what each run has more than the first. `marked`: the marks that the table has.
    """
    first = next(iter(runs))
    notes = []
    if UNDECIDED in marked:
        notes.append(f"{UNDECIDED} not significant: at 95 % it may be the same as of {first}")
    if UNKNOWN in marked:
        notes.append(f"{UNKNOWN} too few requests to tell whether it differs from {first}")
    if len(runs) <= _EACH_MOST:
        notes += verdicts(first, found)
    else:
        reasons: dict[str, list[str]] = {}
        for label, measures in found.items():
            if (reason := measures["device_iops"].get("reason")) is not None:
                reasons.setdefault(reason, []).append(label)
        notes += [
            f"no difference can be tested for {_named(labels, len(runs))}: {reason}"
            for reason, labels in reasons.items()
        ]
        notes.append("compare.json has the interval of each difference, run against run")
    return [*notes, *too_few(runs)]
