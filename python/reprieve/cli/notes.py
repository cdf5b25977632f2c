"""Notes on many runs at once: one sentence where they agree, not one a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from reprieve.confidence import UNDECIDED, UNKNOWN, compared, listed
from reprieve.pairs import nearest
from reprieve.report.tables import named, too_few, verdicts
from reprieve.roles import bound_runs

if TYPE_CHECKING:
    from reprieve.comparison import Comparison
    from reprieve.pairs import Paired

_EACH_MOST = 3
"""Runs of which each gets a sentence of its own, with its intervals."""

_TAIL = "read_latency_ns_p99"


def mark_of(pair: Paired) -> str:
    """Return the mark before a multiple: none where it differs significantly from 1."""
    if pair["decided"]:
        return ""
    return UNKNOWN if "reason" in pair else UNDECIDED


def certainty(
    runs: Comparison, found: Mapping[str, Mapping[str, Paired]], *, marked: Collection[str]
) -> list[str]:
    """Say which differences are significant: a line for each of a few runs, else the marks.

    `found`: what each run has more than its base. `marked`: the marks that the table has.
    """
    named_bases = dict.fromkeys(runs.bases.values())
    base = named(list(named_bases), len(runs)) if len(named_bases) == 1 else "its base"
    notes = []
    if UNDECIDED in marked:
        notes.append(f"{UNDECIDED} not significant: at 95 % it may be the same as of {base}")
    if UNKNOWN in marked:
        notes.append(f"{UNKNOWN} too few requests to tell whether it differs from {base}")
    if bounds := bound_runs(runs):
        notes.append(f"{listed(bounds)}: a bound, which no drive can have")
    if len(runs) <= _EACH_MOST:
        shown = compared([run.summary for run in runs.values()])
        for label, measures in found.items():
            notes += verdicts(runs.bases[label], {label: measures}, shown)
    else:
        reasons: dict[str, list[str]] = {}
        for label, measures in found.items():
            if (reason := measures["device_iops"].get("reason")) is not None:
                reasons.setdefault(reason, []).append(label)
        notes += [
            f"no difference can be tested for {named(labels, len(runs))}: {reason}"
            for reason, labels in reasons.items()
        ]
        for base in named_bases:
            notes += _shortest(base, runs, found)
        notes.append("compare.json has the interval of each difference, run against run")
    return [*notes, *too_few(runs)]


def _shortest(first: str, runs: Comparison, found: Mapping[str, Mapping[str, Paired]]) -> list[str]:
    """Say which run of a load has the shortest tail of reads, of those that a drive can have."""
    bounds = bound_runs(runs)
    tails = {
        label: pairs[_TAIL]
        for label, pairs in found.items()
        if runs.bases[label] == first and pairs[_TAIL]["decided"] and label not in bounds
    }
    ratios = {label: ratio for label in tails if (ratio := tails[label]["ratio"]) is not None}
    best = min(ratios, key=ratios.__getitem__, default=first)
    if best == first or ratios[best] >= 1:
        return []
    others = {one: runs.paired(one, best)[_TAIL] for one in ratios if one != best}
    alike = {one: pair for one, pair in others.items() if not pair["decided"]}
    ties = f"; that of {named([*alike], len(runs))} is not significantly longer" if alike else ""
    ties += nearest(alike)
    interval = " to ".join(f"{tails[best][end]:.3f}" for end in ("ratio_low", "ratio_high"))
    factor = f"×{ratios[best]:.3f} of {first}'s ({interval})"
    return [f"read p99 is shortest under {best}: {factor}{ties}"]
