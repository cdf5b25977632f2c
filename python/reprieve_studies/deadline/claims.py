"""Verdicts on the claims, which were written down before any policy was searched on any bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from reprieve_studies.deadline.benches import DATA, Bench
from reprieve_studies.deadline.experiment import HEAVIER, JUDGING, Outcome
from reprieve_studies.deadline.families import FAMILIES, NEVER, RELAXED, words
from reprieve_studies.deadline.measures import Measured, cost
from reprieve_studies.frame import stated
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.seeds import ratio as ratio_of
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

CLAIMS = {claim.measure: claim for claim in DATA.claims}


@dataclass(frozen=True)
class Gain:
    """Cost of `deadline` over that of `batch`, on identical arrivals."""

    bench: Bench
    ratio: Estimate
    """Of suspensions a second, or of p99.9 where the writes are kept: below 1 it is better."""
    keeps: bool
    batch_keeps: bool
    """Whether each keeps the bound of the reads, or of the writes."""
    lack: str
    """Why it cannot be judged; empty if it can be."""


def gains(outcome: Outcome) -> list[Gain]:
    """Compare the two on every bench, in pairs, seed by seed."""
    return [_gain(outcome, bench) for bench in outcome.benches]


def _gain(outcome: Outcome, bench: Bench) -> Gain:
    def keeps(family: str) -> bool:
        one = outcome.over_seeds(bench.name, family)
        never = outcome.over_seeds(bench.name, NEVER).writes_per_s
        if bench.aim == "tail":
            return bool(one.writes_per_s / never >= 1 - JUDGING["alike"] * 0.01)
        return bool(one.late_share <= JUDGING["alike"] * bench.late_share)

    ours, theirs = (outcome.judged[bench.name, family, 1.0] for family in ("deadline", "batch"))
    events = min(sum(one.suspensions for one in some) for some in (ours, theirs))
    lack = f"rests on {events:.0f} suspensions" if events < JUDGING["events_min"] else ""
    if not (keeps("deadline") and keeps("batch")):
        lack = "the tails are not equal: one of the two misses its target"
    return Gain(bench, paired(bench, ours, theirs), keeps("deadline"), keeps("batch"), lack)


def paired(bench: Bench, ours: Sequence[Measured], theirs: Sequence[Measured]) -> Estimate:
    """Return the ratio of the costs, its interval from the differences of their logarithms."""
    # No events have no logarithm; the claim then rests on too few of them in any case.
    costs = [[max(cost(bench, one), 1e-9) for one in some] for some in (ours, theirs)]
    return ratio_of(list(zip(*costs, strict=True)))


def judged(found: Sequence[Gain]) -> list[Gain]:
    """Return those that are judged, of loads with something to gain."""
    return [one for one in found if not one.bench.null and not one.lack]


def share_of_loads(found: Sequence[Gain]) -> tuple[int, int]:
    """Return the number of judged loads on which `deadline` needs less, and that of all of them."""
    told = judged(found)
    return sum(one.ratio.mean <= 1 - JUDGING["less"] for one in told), len(told)


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Judge every claim, the main one first."""
    found = gains(outcome)
    late = [[outcome.over_seeds(one.bench.name, family, HEAVIER[-1]).late_share
             for family in ("deadline", "batch")] for one in judged(found)]  # fmt: skip
    return [
        _share("less", *share_of_loads(found), "loads on which both keep their reads in time"),
        *map(_of_load, found),
        *_of_model(outcome),
        _share("heavier", sum(ours <= theirs for ours, theirs in late), len(late), "loads"),
        *_rig(outcome),
    ]


def _share(measure: str, less: int, told: int, loads: str) -> Verdict:
    """Judge the share of the judged loads, in per cent; nothing if there are none."""
    verdict = CLAIMS[measure].verdict(Estimate(100 * less / told) if told else None)
    return replace(verdict, note=f"{less} of {told} {loads}", untestable=not told)


def _of_load(found: Gain) -> Verdict:
    bench, ratio = found.bench, found.ratio
    what = "p99.9 of reads" if bench.aim == "tail" else "suspensions"
    ends = [None if end is None else 100 * end for end in (ratio.low, ratio.high)]
    verdict = CLAIMS["of_load"].verdict(Estimate(100 * ratio.mean, *ends))
    claim = verdict.claim.format(load=bench.title, what=what)
    return replace(
        verdict,
        claim=claim + ("; nothing to gain" if bench.null else ""),
        relation=AT_LEAST if bench.null else AT_MOST,
        note=found.lack,
        untestable=bool(found.lack),
    )


def _of_model(outcome: Outcome) -> Iterator[Verdict]:
    names = (one.name for one in outcome.benches if one.name in CLAIMS["batch"].value)
    for name, family in product(names, FAMILIES):
        found = estimate([one.suspensions_per_s for one in outcome.judged[name, family, 1.0]])
        seeds = tuple(outcome.plan.judged)
        verdict = CLAIMS[family].verdict(found, where=f"{name}: ", at=name, seeds=seeds)
        is_kept = outcome.frozen[name, family].is_feasible
        yield replace(verdict, note="" if is_kept else "no try kept the reads in time")


def _rig(outcome: Outcome) -> Iterator[Verdict]:
    if outcome.on_rig:
        rig = estimate([one.suspensions_per_s for one in outcome.on_rig])
        drive = outcome.over_seeds("die-500", "deadline").suspensions_per_s
        words, share = DATA["text"]["rig"], JUDGING["rig_tolerance_share"]
        claim = stated(words, "the drive's own runs", drive, unit="1/s", tolerance_share=share)
        yield claim.verdict(rig)


def headline(outcome: Outcome) -> str:
    """Summarise the gain over all loads on which batching keeps its bound, and the rule or not."""
    found = gains(outcome)
    less, told = share_of_loads(found)
    missed = sum(one.batch_keeps and not one.keeps for one in found if not one.bench.null)
    if not (every := told + missed):
        return "No load lets the deadline rule be compared with batching at equal tail."
    said: str = DATA["text"]["headline"].format(
        every=every, less=less, others=told - less, missed=missed, share=JUDGING["less"]
    )
    half = CLAIMS["less"].value[""]
    return said + (": half or more." if 100 * less / every >= half else ": less than half.")


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return them: by load, then by family."""
    found, plan = gains(outcome), outcome.plan
    less, told = share_of_loads(found)
    return {
        "less": less,
        "told": told,
        "tries": plan.tries,
        "drive_tries": plan.drive_tries,
        "seeds": len(plan.judged),
        "loads": {
            one.bench.name: {
                **{key: getattr(one.bench, key) for key in ("title", "slo_us", "null")},
                "counts": not one.lack,
                "ratio": one.ratio.mean, "ratio_low": one.ratio.low, "ratio_high": one.ratio.high,
                "families": {of: _of_family(outcome, one.bench.name, of) for of in FAMILIES},
                "never": _costs(outcome.over_seeds(one.bench.name, NEVER)),
            }
            for one in found
        },
        "bounds": {
            name: {"steps": rows, **_of_family(outcome, name, RELAXED)}
            for name, rows in outcome.bounds.items()
        },
    }  # fmt: skip


def _of_family(outcome: Outcome, bench: str, family: str) -> dict[str, Any]:
    return {
        **_costs(outcome.over_seeds(bench, family)),
        "late_share_heavier": outcome.over_seeds(bench, family, HEAVIER[-1]).late_share,
        "point": words(outcome.frozen[bench, family].keys),
    }


def _costs(one: Measured) -> dict[str, float]:
    names = ("late_share", "p99_9_us", "suspensions_per_s", "writes_per_s", "energy_j")
    return {name: getattr(one, name) for name in names}
