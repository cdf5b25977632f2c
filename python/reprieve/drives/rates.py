"""Write rates of measured conditions: the knee, and conditions at other rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprieve.calibration.measured import Condition

__all__ = ["at_write_rate", "between", "beyond", "knee", "write_rate"]

_SLACK = 1.005
"""Writes issued over those at the knee, from which a condition is beyond it."""


def write_rate(condition: Condition) -> float | None:
    """Return the writes a second that its jobs may issue; None if any is unlimited."""
    limits = [job.limit("write") for job in condition.jobs if "write" in job.asked.sizes]
    return None if None in limits else sum(limit or 0.0 for limit in limits)


def knee(conditions: Sequence[Condition]) -> float | None:
    """Return the most writes a second that were completed; None if no totals were measured."""
    totals = [each.totals["write"] for each in conditions if "write" in each.totals]
    return max((each.iops for each in totals if each.has_rate), default=None)


def beyond(conditions: Sequence[Condition]) -> list[str]:
    """Return the names of conditions whose jobs issue more than the drive sustains, by rate."""
    most = knee(conditions)
    found = [] if most is None else [(write_rate(each) or 0.0, each.name) for each in conditions]
    return [name for rate, name in sorted(found) if most is not None and rate > _SLACK * most]


def at_write_rate(condition: Condition, writes_per_s: float) -> Condition:
    """Return a condition with another write rate, by scaling its jobs without figures.

    Its figures are those of `condition`: they only say which percentiles are simulated.
    """
    limits = {job.name: job.limit("write") or 0.0 for job in condition.jobs}
    probe = sum(limits[job.name] for job in condition.jobs if job.measured)
    factor = (writes_per_s - probe) / (sum(limits.values()) - probe)
    jobs = []
    for job in condition.jobs:
        rates = [max(round(factor * job.asked.iops.get(op, 0)), 1) for op in ("read", "write")]
        scaled = {**job.options, "rate_iops": ",".join(map(str, rates))}
        jobs.append(job if job.measured else replace(job, options=scaled))
    totals = {
        op: replace(measured, iops=min(measured.iops, sum(job.limit(op) or 0.0 for job in jobs)))
        for op, measured in condition.totals.items()
    }
    return replace(condition, name=f"w{writes_per_s:.0f}", jobs=tuple(jobs), totals=totals)


def between(conditions: Sequence[Condition], count: int) -> list[Condition]:
    """Return conditions at `count` rates between neighbours, at equal ratios."""
    if knee(conditions) is None:
        return []
    rates = {rate: each for each in conditions if (rate := write_rate(each))}
    fullest = rates[max(rates)]
    return [
        at_write_rate(fullest, low * (high / low) ** (step / (count + 1)))
        for low, high in pairwise(sorted(rates))
        for step in range(1, count + 1)
    ]
