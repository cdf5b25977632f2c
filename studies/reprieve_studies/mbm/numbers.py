"""The numbers of this reproduction by name, which pages and other programs quote."""

from collections.abc import Iterable
from typing import Any

from reprieve_studies.mbm import ablation, formulas, substrate_table
from reprieve_studies.mbm.claims import of_claim
from reprieve_studies.mbm.experiment import GRID, LIMIT, MAIN, TAIL, Outcome, Spot
from reprieve_studies.mbm.measured import OPS, WARM_UP_SHARE, Measured
from reprieve_studies.mbm.measures import MEASURES, papers, tails
from reprieve_studies.mbm.paper import (
    CHIPS,
    CLAIMS,
    SIMILAR_TAIL,
    TAIL_CLAIMS,
    TAIL_LOADS,
    TailClaim,
)
from reprieve_studies.mbm.readings import (
    BASE,
    GRID_FTLS,
    IPC,
    MBM,
    NO_SUSPENSION,
    PAPERS,
    PARTS,
    SCHEMES,
    SPRINKLER,
    SUSPENSION,
    TBM,
)


def all_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return all of them; times and shares in the unit that ends their name."""
    plan = outcome.plan
    return {
        "requests": {"each": plan.requests, "short": plan.requests_short,
                     "tail": plan.requests_tail, "warm_up_percent": 100 * WARM_UP_SHARE},
        "speeds": _speeds(outcome),
        "claims": {name: measure(outcome) for name, measure in MEASURES.items()},
        "reproduced": {claim.measure: of_claim(outcome, claim).reproduced
                       for claim in (*CLAIMS, SIMILAR_TAIL)},
        "by_table_1": [{"ours": one.ours, "reproduced": one.reproduced}
                       for one in formulas.verdicts()],
        "with_cache_register_percent": {"case 1": formulas.channel_use(5, 2, cached=True),
                                        "case 3": formulas.channel_use(4, 4, cached=True)},
        "tail_claims": [_tail_claim(outcome, claim) for claim in TAIL_CLAIMS],
        "runs": _series(outcome, MAIN, [load.trace for load in plan.loads], SCHEMES),
        "limit": _series(outcome, LIMIT, outcome.papers, SCHEMES),
        "tails": _series(outcome, TAIL, TAIL_LOADS, PAPERS),
        "chips": {str(chips): {name: papers(outcome).normalised(name, chips) for name in PAPERS}
                  for chips in CHIPS},
        "readings": {one.name: _reading(outcome, one.name) for one in (BASE, *plan.readings)},
        "substrates": substrate_table.numbers(outcome) if outcome.plan.has_substrates else {},
        **(_ablation(outcome) if plan.drafts else {"parts": {}, "grid": {}, "steps": {}}),
        "drafts": [_draft(outcome, number) for number in range(plan.drafts)],
        "channel": {
            "chips_mb_per_s": formulas.write_bound_mb_per_s(),
            "dies_mb_per_s": formulas.write_bound_of_dies_mb_per_s(),
            "mb_per_s": formulas.read_bound_mb_per_s(),
        },
    }  # fmt: skip


def _ablation(outcome: Outcome) -> dict[str, Any]:
    return {
        "parts": {part: {name: _estimate(ablation.part_estimate(outcome, part, name))
                         for name in ablation.MEASURES} for part in PARTS},
        "grid": {row: {way: {name: _estimate(ablation.grid_estimate(outcome, row, way, name))
                             for name in ablation.MEASURES} for way in SUSPENSION}
                 for row in GRID_FTLS},
        "steps": {name: [{"what": step.what, "ratio": step.ratio}
                         for step in ablation.steps(outcome, name)]
                  for name in ("mean", "read p99")},
    }  # fmt: skip


def _speeds(outcome: Outcome) -> dict[str, float]:
    """How many times faster than given each load is, so that the dies idle as chosen."""
    return {load: outcome.compressions[BASE.name, load].speed for load in outcome.loads}


def _series(
    outcome: Outcome, series: str, loads: Iterable[str], schemes: Iterable[str]
) -> dict[str, Any]:
    return {
        load: {name: _run(outcome.runs[Spot(series, load, name)]) for name in schemes}
        for load in loads
    }


def _run(run: Measured) -> dict[str, Any]:
    return {
        "mean_ms": run.mean_us() / 1e3,
        **{f"{op}_mean_ms": run.mean_us(op) / 1e3 for op in OPS},
        **{f"{op}_p99_ms": _ms(run.percentile_us(op, 99.0)) for op in OPS},
        **{f"{op}s": run.latencies[op].requests for op in OPS},
        "mb_per_s": run.mb_per_s,
        "erases": run.erases,
        "gc_waf": run.gc_waf,
        "die_busy_percent": run.die_busy_percent,
        "suspended_percent": run.suspended_percent,
        "joint_percent": run.joint_percent,
    }


def _ms(us: float | None) -> float | None:
    return None if us is None else us / 1e3


def _tail_claim(outcome: Outcome, claim: TailClaim) -> dict[str, Any]:
    found, too_few = tails(outcome, claim)
    held = [one for one in found if one.holds]
    return {
        "reproduced": len(held) == len(found),
        "compared": len(found),
        "held": len(held),
        "held_of": {op: sum(one.op == op for one in held) for op in OPS},
        "compared_of": {op: sum(one.op == op for one in found) for op in OPS},
        "too_few": too_few,
    }


def _reading(outcome: Outcome, series: str) -> dict[str, Any]:
    group = papers(outcome, series)
    own = dict(zip(group.loads, group.responses(MBM, TBM), strict=True))
    other = dict(zip(group.loads, group.responses(SPRINKLER, TBM), strict=True))
    return {
        "mbm": own,
        "sprinkler": other,
        "mbm_mean": sum(own.values()) / len(own),
        "sprinkler_mean": sum(other.values()) / len(other),
    }


def _estimate(found: ablation.Estimate) -> list[float | None]:
    """Return mean and half an interval of 95 %."""
    return [found.mean, None if found.factor is None else found.mean * (found.factor - 1)]


def _draft(outcome: Outcome, number: int) -> dict[str, float]:
    """Return what MBM has over TBM in one draft, average of the paper's loads."""
    pairs = [
        [
            outcome.runs[Spot(GRID, load, f"{scheme}, {way}", draft=number)]
            for scheme, way in ((MBM, IPC), (TBM, NO_SUSPENSION))
        ]
        for load in outcome.papers
    ]
    return {
        "mean": sum(of.mean_us() / to.mean_us() for of, to in pairs) / len(pairs),
        "read_mean": sum(of.mean_us("read") / to.mean_us("read") for of, to in pairs) / len(pairs),
    }
