"""Claims that were made before the first run, and their verdicts.

The claims, their numbers and their tolerances stand in `study.toml` as they were written down
before any policy was searched on any bench.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

from reprieve_studies.deadline.benches import DATA, Bench
from reprieve_studies.deadline.bounds import RELAXED
from reprieve_studies.deadline.experiment import HEAVIER, Outcome
from reprieve_studies.deadline.families import FAMILIES, words
from reprieve_studies.deadline.measures import Measured, cost, mean
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.seeds import ratio as ratio_of
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

CLAIMS = {claim.measure: claim for claim in DATA.claims}
LESS = 0.15
"""By so much `deadline` has to be below `batch` to be worth its keys."""
HALF = CLAIMS["less"].value[""]
"""Per cent of the loads."""
ALIKE = 1.25
"""Both tails are equal if neither has more late reads than this times those allowed."""
EVENTS_MIN = 30
"""Suspensions that a comparison rests on, at least."""
_RIG_TOLERANCE_SHARE = 0.05
_COSTS = ("late_share", "p99_9_us", "suspensions_per_s", "writes_per_s", "energy_j")


@dataclass(frozen=True)
class Gain:
    """Cost of `deadline` over that of `batch`, on identical arrivals."""

    bench: Bench
    ratio: Estimate
    """Of suspensions a second, or of p99.9 where the writes are kept: below 1 it is better."""
    keeps: bool
    """Whether `deadline` keeps the bound of the reads, or of the writes."""
    batch_keeps: bool
    events: float
    """Suspensions in the judged runs of the one that has fewer."""

    @property
    def is_equal(self) -> bool:
        """Whether both do."""
        return self.keeps and self.batch_keeps

    @property
    def counts(self) -> bool:
        """Whether it can be judged."""
        return self.is_equal and self.events >= EVENTS_MIN

    @property
    def is_less(self) -> bool:
        """Whether `deadline` needs at least `LESS` less."""
        return self.ratio.mean <= 1 - LESS


def gains(outcome: Outcome) -> list[Gain]:
    """Compare the two on every bench, in pairs, seed by seed."""
    return [_gain(outcome, bench) for bench in outcome.benches]


def _gain(outcome: Outcome, bench: Bench) -> Gain:
    ours, theirs = (outcome.judged[bench.name, family, 1.0] for family in ("deadline", "batch"))
    events = min(sum(one.suspensions for one in some) for some in (ours, theirs))
    keep, batch_keep = (_keeps(outcome, bench, mean(some)) for some in (ours, theirs))
    return Gain(bench, paired(bench, ours, theirs), keep, batch_keep, events)


def _keeps(outcome: Outcome, bench: Bench, one: Measured) -> bool:
    if bench.aim == "tail":
        never = mean(outcome.never[bench.name]).writes_per_s
        return one.writes_per_s / never >= 1 - ALIKE * 0.01
    return one.late_share <= ALIKE * bench.late_share


def paired(bench: Bench, ours: Sequence[Measured], theirs: Sequence[Measured]) -> Estimate:
    """Return the ratio of the costs, its interval from the differences of their logarithms."""

    def known(one: Measured) -> float:
        # No events have no logarithm; the claim then rests on too few of them in any case.
        return max(cost(bench, one), 1e-9)

    return ratio_of([(known(one), known(other)) for one, other in zip(ours, theirs, strict=True)])


def share_of_loads(found: Sequence[Gain]) -> tuple[int, int]:
    """Return the number of loads on which `deadline` needs less, and of those that are judged.

    Of those on which something is to be gained.
    """
    told = [one for one in found if not one.bench.null and one.counts]
    return sum(one.is_less for one in told), len(told)


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Judge every claim, the main one first."""
    found = gains(outcome)
    less, told = share_of_loads(found)
    note = f"{less} of {told} loads on which both keep their reads in time"
    return [
        _share("less", less, told, note),
        *map(_of_load, found),
        *_of_model(outcome),
        _heavier(outcome, found),
        *_rig(outcome),
    ]


def _share(measure: str, less: int, told: int, note: str) -> Verdict:
    """Judge the share of the judged loads, in per cent; nothing if there are none."""
    verdict = CLAIMS[measure].verdict(Estimate(100 * less / told if told else nan))
    ours = verdict.ours if told else None
    return replace(verdict, ours=ours, note=note, untestable=not told)


def _of_load(found: Gain) -> Verdict:
    bench, ratio = found.bench, found.ratio
    what = "p99.9 of reads" if bench.aim == "tail" else "suspensions"
    ends = [None if end is None else 100 * end for end in (ratio.low, ratio.high)]
    verdict = CLAIMS["of_load"].verdict(Estimate(100 * ratio.mean, *ends))
    reason = "" if found.is_equal else "the tails are not equal: one of the two misses its target"
    if found.is_equal and not found.counts:
        reason = f"rests on {found.events:.0f} suspensions"
    return replace(
        verdict,
        claim=verdict.claim.format(load=bench.title, what=what)
        + ("; nothing to gain" if bench.null else ""),
        relation=AT_LEAST if bench.null else AT_MOST,
        note=reason,
        untestable=not found.counts,
    )


def _of_model(outcome: Outcome) -> Iterator[Verdict]:
    for name in (bench.name for bench in outcome.benches if bench.name in CLAIMS["batch"].value):
        for family in FAMILIES:
            found = estimate([one.suspensions_per_s for one in outcome.judged[name, family, 1.0]])
            verdict = CLAIMS[family].verdict(
                found, where=f"{name}: ", at=name, seeds=tuple(outcome.plan.judged)
            )
            is_kept = outcome.frozen[name, family].is_feasible
            yield replace(verdict, note="" if is_kept else "no try kept the reads in time")


def _heavier(outcome: Outcome, found: Sequence[Gain]) -> Verdict:
    """Judge what becomes of the frozen points when the load grows."""
    told = [one.bench.name for one in found if one.counts and not one.bench.null]
    late = (
        [outcome.over_seeds(name, family, HEAVIER[-1]).late_share
         for family in ("deadline", "batch")]
        for name in told
    )  # fmt: skip
    less = sum(ours <= theirs for ours, theirs in late)
    return _share("heavier", less, len(told), f"{less} of {len(told)} loads")


def _rig(outcome: Outcome) -> Iterator[Verdict]:
    if outcome.on_rig:
        rig = estimate([one.suspensions_per_s for one in outcome.on_rig])
        drive = outcome.over_seeds("die-500", "deadline").suspensions_per_s
        yield Verdict(
            "die-500: suspensions a second of the frozen deadline rule, on the rig as in the drive",
            "the drive's own runs", "1/s", drive, rig.mean, _RIG_TOLERANCE_SHARE * drive,
            low=rig.low, high=rig.high,
        )  # fmt: skip


def headline(outcome: Outcome) -> str:
    """Summarise the gain of the deadline rule, over all loads on which batching keeps the bound.

    A load on which no point of the rule keeps its reads in time is one on which it is not better.
    """
    found = gains(outcome)
    less, told = share_of_loads(found)
    missed = sum(one.batch_keeps and not one.keeps for one in found if not one.bench.null)
    every = told + missed
    if not every:
        return "No load lets the deadline rule be compared with batching at equal tail."
    said = (
        f"Of {every} loads on which batching keeps its reads in time, the deadline rule needs at "
        f"least {LESS:.0%} fewer suspensions at equal tail on {less}, not so many fewer on "
        f"{told - less}, and misses the target on {missed}"
    )
    return said + (": half or more." if 100 * less / every >= HALF else ": less than half.")


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return them: by load, then by family."""
    found = gains(outcome)
    less, told = share_of_loads(found)
    return {
        "less": less,
        "told": told,
        "tries": outcome.plan.tries,
        "drive_tries": outcome.plan.drive_tries,
        "seeds": len(outcome.plan.judged),
        "loads": {
            one.bench.name: {
                "title": one.bench.title,
                "slo_us": one.bench.slo_us,
                "null": one.bench.null,
                "counts": one.counts,
                "ratio": one.ratio.mean,
                "ratio_low": one.ratio.low,
                "ratio_high": one.ratio.high,
                "families": {
                    family: _of_family(outcome, one.bench.name, family) for family in FAMILIES
                },
                "never": _costs(mean(outcome.never[one.bench.name])),
            }
            for one in found
        },
        "bounds": {
            name: {"steps": rows, **_of_family(outcome, name, RELAXED)}
            for name, rows in outcome.bounds.items()
        },
    }


def _of_family(outcome: Outcome, bench: str, family: str) -> dict[str, Any]:
    one = outcome.over_seeds(bench, family)
    return {
        **_costs(one),
        "late_share_heavier": outcome.over_seeds(bench, family, HEAVIER[-1]).late_share,
        "point": words(outcome.frozen[bench, family].keys),
    }


def _costs(one: Measured) -> dict[str, float]:
    return {name: getattr(one, name) for name in _COSTS}
