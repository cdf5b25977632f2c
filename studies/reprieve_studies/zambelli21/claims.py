"""The claims of the paper beside what was simulated."""

from collections.abc import Iterator
from dataclasses import replace

from reprieve import Result
from reprieve_studies.characterize import claims as of_the_bench
from reprieve_studies.verdicts import Kind, Verdict
from reprieve_studies.zambelli21.experiment import Outcome
from reprieve_studies.zambelli21.measures import (
    METRICS,
    TAILS,
    Spot,
    change,
    compared,
    interval_us,
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
from reprieve_studies.zambelli21.readings import BASE, PACE

_POWERS = "the paper's powers are confidential and ours assumed (A140): compare sign and size"
_IMPLIED = "follows from +113 kIOPS and −97 µs with 64 requests outstanding, by Little's law"


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper."""
    return [
        *(_of_the_bench(verdict) for verdict in of_the_bench.verdicts(outcome.bench)),
        _amplification(outcome),
        *_absolutes(outcome),
        *(_change(outcome, claim) for claim in CHANGES),
        *(_order(outcome, order) for order in ORDERS),
    ]


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
             f"it moves {PACE:.1f} pages a page of the host and has {base:.2f}, start included",
    )  # fmt: skip


def absolutes(outcome: Outcome, reading: str) -> dict[str, tuple[str, float, float]]:
    """Return by claim its unit, the number behind the paper's differences, and ours."""
    behind = implied()
    found = {}
    for number, word in ((0, "without suspension"), (10, "with 10 suspensions")):
        result = outcome.runs[Spot(reading, "25W-75R", 64, number)]
        iops = behind.iops_with if number else behind.iops_without
        mean_us = behind.mean_us_with if number else behind.mean_us_without
        for metric, paper in (("iops", iops / 1e3), ("mean", mean_us)):
            name = f"{METRICS[metric].title}, 25W-75R, QD 64, {word}"
            found[name] = (METRICS[metric].unit, paper, METRICS[metric].of(result))
    return found


def _absolutes(outcome: Outcome) -> Iterator[Verdict]:
    for claim, (unit, paper, ours) in absolutes(outcome, BASE.name).items():
        source = f"{PAPER}, section 5.1, Figure 10"
        tolerance = TOLERANCE * paper
        yield Verdict(claim, source, unit, paper, ours, tolerance, note=_IMPLIED, kind="derived")


def _change(outcome: Outcome, claim: Change) -> Verdict:
    notes = [claim.note] if claim.note else []
    if claim.metric.endswith("power"):
        notes.append(_POWERS)
    of = METRICS[claim.metric].of
    for number in (0, 10):
        result = outcome.runs[Spot(BASE.name, claim.mix, claim.queue_depth, number)]
        word = f"with {number}" if number else "without"
        notes.append(f"{word}: {of(result):,.4g} {claim.unit}{_interval(result, claim.metric)}")
    return Verdict(
        claim.claim, claim.source, claim.unit, claim.paper, change(outcome.runs, BASE.name, claim),
        claim.tolerance, claim.relation, "; ".join(notes),
        kind=_kind(outcome, claim.mix, claim.queue_depth, 10),
        cause="unknown_parameter" if claim.metric.endswith("power") else None,
    )  # fmt: skip


def _kind(outcome: Outcome, mix: str, queue_depth: int, number: int) -> Kind:
    """Say what a claim about suspension is worth: nothing where none took place."""
    result = outcome.runs[Spot(BASE.name, mix, queue_depth, number)]
    return "measured" if result.summary["flash"]["suspensions"]["program"] else "vacuous"


def _interval(result: Result, metric: str) -> str:
    if metric not in TAILS:
        return ""
    found = interval_us(result, metric)
    return (
        ", too few requests for an interval"
        if found is None
        else (f", 95 % interval {found[0]:,.0f} to {found[1]:,.0f}")
    )


def _order(outcome: Outcome, order: Order) -> Verdict:
    found = compared(outcome.runs, BASE.name, order)
    unit = METRICS[order.metric].unit
    cells = [
        f"{one.mix} QD {one.queue_depth}: {one.first:,.4g} to {one.second:,.4g} {unit}"
        for one in found
    ]
    holding = sum(one.holds for one in found)
    number = max(order.pair)
    kinds = [_kind(outcome, one.mix, one.queue_depth, number) for one in found]
    return Verdict(
        order.claim, order.source, "1", len(found), holding, 0,
        note="loads and depths for which it holds; " + "; ".join(cells),
        kind="vacuous" if "vacuous" in kinds else "measured",
    )  # fmt: skip
