"""Notes on many runs at once: one sentence where they agree, not one a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from reprieve.confidence import UNDECIDED, UNKNOWN, compared
from reprieve.report.tables import named, too_few, verdicts

if TYPE_CHECKING:
    from reprieve.comparison import Comparison
    from reprieve.pairs import Paired

_EACH_MOST = 3
"""Runs of which each gets a sentence of its own, with its intervals."""

_TAIL = "read_latency_ns_p99"
_BOUNDS = ('policy = "pe0"', 'policy = "per"')  # no drive can have these


def mark_of(pair: Paired) -> str:
    """Return the mark before a multiple: none where it differs significantly from 1."""
    if pair["decided"]:
        return ""
    return UNKNOWN if "reason" in pair else UNDECIDED


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
        notes += verdicts(first, found, compared([run.summary for run in runs.values()]))
    else:
        reasons: dict[str, list[str]] = {}
        for label, measures in found.items():
            if (reason := measures["device_iops"].get("reason")) is not None:
                reasons.setdefault(reason, []).append(label)
        notes += [
            f"no difference can be tested for {named(labels, len(runs))}: {reason}"
            for reason, labels in reasons.items()
        ]
        notes += _shortest(first, runs, found)
        notes.append("compare.json has the interval of each difference, run against run")
    return [*notes, *too_few(runs)]


def _shortest(first: str, runs: Comparison, found: Mapping[str, Mapping[str, Paired]]) -> list[str]:
    """Say which run has the shortest tail of reads, of those that a drive can have."""
    tails = {label: pairs[_TAIL] for label, pairs in found.items() if pairs[_TAIL]["decided"]}
    real = (label for label in tails if not any(line in runs[label].scenario for line in _BOUNDS))
    ratios = {label: ratio for label in real if (ratio := tails[label]["ratio"]) is not None}
    best = min(ratios, key=ratios.__getitem__, default=first)
    if best == first or ratios[best] >= 1:
        return []
    alike = [one for one in ratios if one != best and not runs.paired(one, best)[_TAIL]["decided"]]
    ties = f"; that of {named(alike, len(runs))} is not significantly longer" if alike else ""
    interval = " to ".join(f"{tails[best][end]:.3f}" for end in ("ratio_low", "ratio_high"))
    factor = f"×{ratios[best]:.3f} of {first}'s ({interval})"
    return [f"read p99 is shortest under {best}: {factor}{ties}"]
