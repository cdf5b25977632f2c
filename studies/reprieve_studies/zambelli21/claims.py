"""The claims of the paper beside what was simulated."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from reprieve import Result
from reprieve_studies.characterize import claims as of_the_bench
from reprieve_studies.seeds import Estimate
from reprieve_studies.verdicts import Cause, Kind, Verdict
from reprieve_studies.zambelli21 import energy
from reprieve_studies.zambelli21.experiment import Outcome
from reprieve_studies.zambelli21.measures import (
    METRICS,
    Spot,
    changed,
    compared,
    holding,
    over_seeds,
    write_amplification,
)
from reprieve_studies.zambelli21.paper import (
    CHANGES,
    ORDERS,
    PAPER,
    TOLERANCE,
    WRITE_AMPLIFICATION,
    Change,
    Order,
    implied,
)
from reprieve_studies.zambelli21.readings import (
    BASE,
    FITTED,
    JUDGED,
    PACE,
    READINGS,
    SENSITIVITY,
    Reading,
)

_IMPLIED = "follows from +113 kIOPS and −97 µs with 64 requests outstanding, by Little's law"
_FITTED_TO = {
    0: "fitted: two chips a channel are chosen for it",
    10: "fitted: 3 µs a command allow 333 kIOPS",
}


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper, under each reading that is judged."""
    found = [_of_the_bench(verdict) for verdict in of_the_bench.verdicts(outcome.bench)]
    if not outcome.plan.quick:
        found.append(_amplification(outcome))
    for reading in JUDGED:
        found += _absolutes(outcome, reading)
        found += [_change(outcome, reading, claim) for claim in CHANGES]
        found += [_order(outcome, reading, order) for order in ORDERS]
    return found


def _of_the_bench(verdict: Verdict) -> Verdict:
    source = verdict.source[0].lower() + verdict.source[1:]
    return replace(verdict, source=f"{PAPER}, {source}")


def _amplification(outcome: Outcome) -> Verdict:
    own, base = (
        write_amplification(outcome.runs[Spot(name, "75W-25R", 64, 0)])
        for name in ("threshold", BASE.name)
    )
    return Verdict(
        "write amplification, with 10 % of the blocks kept free", f"{PAPER}, Table 1", "1",
        WRITE_AMPLIFICATION, own, TOLERANCE * WRITE_AMPLIFICATION,
        note="what comes out where collection moves as much as it needs; in all other readings "
             f"it moves {PACE:.1f} pages a page of the host and has {base:.2f}",
    )  # fmt: skip


def absolutes(outcome: Outcome, reading: str) -> dict[str, tuple[str, float, float]]:
    """Return by claim its unit, the number behind the paper's differences, and ours."""
    return {
        claim: (unit, paper, _absolute(outcome, reading, number, of).mean)
        for claim, unit, paper, number, of in _absolute_claims()
    }


def _absolute(
    outcome: Outcome, reading: str, number: int, of: Callable[[Result], float]
) -> Estimate:
    spot = Spot(reading, "25W-75R", 64, number)
    return over_seeds(outcome.runs, spot, lambda seed: of(outcome.runs[spot._replace(seed=seed)]))


def elsewhere(outcome: Outcome, claim: Change | Order, own: str) -> dict[str, float]:
    """Return by title what other readings have that give a claim."""
    found = {}
    for other in (*READINGS, *SENSITIVITY):
        if other.name == own or not _was_run(outcome, other.name, claim):
            continue
        if isinstance(claim, Change):
            ours = changed(outcome.runs, other.name, claim).mean
            gives = _unjudged(claim, ours).reproduced
        else:
            ours = holding(outcome.runs, other.name, claim).mean
            gives = ours == len(claim.mixes) * len(claim.queue_depths)
        if gives:
            found[other.title] = ours
    return found


def _was_run(outcome: Outcome, reading: str, claim: Change | Order) -> bool:
    mix, depth = (
        (claim.mix, claim.queue_depth)
        if isinstance(claim, Change)
        else (claim.mixes[0], claim.queue_depths[0])
    )
    return Spot(reading, mix, depth, 0, outcome.plan.seeds[0]) in outcome.runs


def _unjudged(claim: Change, ours: float) -> Verdict:
    return Verdict(
        claim.claim, claim.source, claim.unit, claim.paper, ours, claim.tolerance, claim.relation
    )


def _absolute_claims() -> Iterator[tuple[str, str, float, int, Callable[[Result], float]]]:
    behind = implied()
    for number, word in ((0, "without suspension"), (10, "with 10 suspensions")):
        iops = behind.iops_with if number else behind.iops_without
        mean_us = behind.mean_us_with if number else behind.mean_us_without
        for name, paper in (("iops", iops / 1e3), ("mean", mean_us)):
            metric = METRICS[name]
            claim = f"{metric.title}, 25W-75R, QD 64, {word}"
            yield claim, metric.unit, paper, number, metric.of


def where(reading: Reading, claim: str) -> str:
    """Return the claim as it is named under a reading."""
    return f"{reading.title}: {claim}"


def _absolutes(outcome: Outcome, reading: Reading) -> Iterator[Verdict]:
    for claim, unit, paper, number, of in _absolute_claims():
        found = _absolute(outcome, reading.name, number, of)
        kind: Kind = "derived"
        note = _IMPLIED
        if reading is FITTED and unit == "kIOPS":
            kind, note = "input", f"{_FITTED_TO[number]}; {_IMPLIED}"
        yield Verdict(
            where(reading, claim), f"{PAPER}, section 5.1, Figure 10", unit, paper, found.mean,
            TOLERANCE * paper, note=note, kind=kind, seeds=outcome.plan.seeds,
            low=found.low, high=found.high,
        )  # fmt: skip


def _change(outcome: Outcome, reading: Reading, claim: Change) -> Verdict:
    notes = [claim.note] if claim.note else []
    of = METRICS[claim.metric].of
    for number in (0, 5, 10):
        result = outcome.runs[Spot(reading.name, claim.mix, claim.queue_depth, number)]
        word = f"with {number}" if number else "without"
        notes.append(f"{word}: {of(result):,.4g} {claim.unit}")
    seeds = outcome.plan.seeds
    found = changed(outcome.runs, reading.name, claim)
    kind = _kind(outcome, reading, [(claim.mix, claim.queue_depth)], claim.suspensions)
    if reading is FITTED and claim.metric in ("iops", "mean") and kind != "vacuous":
        # The difference of two numbers that it was fitted to, and what Little's law makes of it.
        kind = "derived"
    verdict = replace(
        _unjudged(claim, found.mean), claim=where(reading, claim.claim), note="; ".join(notes),
        kind=kind, seeds=seeds, low=found.low, high=found.high,
    )  # fmt: skip
    if verdict.reproduced is not False:
        return verdict
    cause, why = _cause(outcome, reading, claim)
    return replace(verdict, cause=cause, note="; ".join([*notes, *why]))


def _cause(outcome: Outcome, reading: Reading, claim: Change) -> tuple[Cause | None, list[str]]:
    """Say why a number is not reproduced, and with which arithmetic."""
    if claim.metric == "memory_power":
        return ("ill_posed", [energy.LESS]) if claim.paper < 0 else (
            "unknown_parameter", [energy.more()]
        )  # fmt: skip
    if others := elsewhere(outcome, claim, reading.name):
        return "reading", [f"{title}: {ours:+,.4g} {claim.unit}" for title, ours in others.items()]
    return ("unknown_parameter", [energy.BUS]) if claim.metric == "bus_power" else (None, [])


def _kind(outcome: Outcome, reading: Reading, cases: list[tuple[str, int]], number: int) -> Kind:
    """Say what a claim about suspension is worth: nothing where none took place."""
    for mix, depth in cases:
        result = outcome.runs[Spot(reading.name, mix, depth, number)]
        if not result.summary["flash"]["suspensions"]["program"]:
            return "vacuous"
    return "predicted" if reading is FITTED else "measured"


def _order(outcome: Outcome, reading: Reading, order: Order) -> Verdict:
    seeds = outcome.plan.seeds
    unit = METRICS[order.metric].unit
    first = compared(outcome.runs, reading.name, order, seeds[0])
    cells = [
        f"{one.mix} QD {one.queue_depth}: {one.first:,.4g} to {one.second:,.4g} {unit}"
        for one in first
    ]
    found = holding(outcome.runs, reading.name, order)
    cases = [(one.mix, one.queue_depth) for one in first]
    verdict = Verdict(
        where(reading, order.claim), order.source, "1", len(cases), found.mean, 0,
        note="loads and depths for which it holds; seed 1: " + "; ".join(cells),
        kind=_kind(outcome, reading, cases, max(order.pair)), seeds=seeds,
        low=found.low, high=found.high,
    )  # fmt: skip
    if verdict.reproduced is not False:
        return verdict
    others = elsewhere(outcome, order, reading.name)
    if not others:
        return verdict
    return replace(verdict, cause="reading", note="; ".join([verdict.note, *others]))
