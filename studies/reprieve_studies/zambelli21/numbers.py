"""The numbers of this reproduction by name, which pages and other programs quote."""

from dataclasses import asdict
from typing import Any

from reprieve import Result
from reprieve_studies.zambelli21 import energy, wear
from reprieve_studies.zambelli21.bounds import most_kiops, work_us
from reprieve_studies.zambelli21.experiment import Outcome
from reprieve_studies.zambelli21.measures import (
    METRICS,
    SEED,
    TAILS,
    change,
    compared,
    interval_us,
    write_amplification,
)
from reprieve_studies.zambelli21.paper import (
    CHANGES,
    MIXES,
    ORDERS,
    QUEUE_DEPTHS,
    SUSPENSIONS,
    implied,
)
from reprieve_studies.zambelli21.readings import BASE, BY_NAME

_UNITS = {"kIOPS": "kiops", "µs": "us", "mW": "mw"}


def all_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return all of them; shares in per cent, other units as their names end."""
    present = list(dict.fromkeys(spot.reading for spot in outcome.runs))
    points = wear.points(outcome.front)
    best = wear.on_the_front(points)
    return {
        "requests": outcome.plan.requests,
        "requests_of_others": outcome.plan.requests_of_others,
        "seeds": list(outcome.plan.seeds),
        "others_run_in": outcome.plan.others_run_in,
        "runs": {name: _runs(outcome, name) for name in present},
        "changes": {
            name: {claim.claim: change(outcome.runs, name, claim) for claim in CHANGES}
            for name in present
        },
        "orders": {
            name: {order.claim: _order(outcome, name, at) for at, order in enumerate(ORDERS)}
            for name in present
        },
        "titles": {name: BY_NAME[name].title for name in present},
        "front": {
            name: {"read_tail_us": tail_us, "years": years, "is_best": name in best}
            for name, (tail_us, years) in points.items()
        },
        "energy": {
            "at_25_ma_uj": energy.request_uj(25, 3.3, 0.25),
            "least_uj": energy.request_uj(energy.MA_LEAST, energy.CORE_V_LEAST, 0.25),
        },
        "implied": asdict(implied()),
        "work": {mix: {**asdict(work), "total": work.total, "kiops": most}
                 for mix, work, most in _work()},
    }  # fmt: skip


def _runs(outcome: Outcome, reading: str) -> dict[str, Any]:
    """Return the runs of a reading by load, queue depth and suspensions allowed."""
    found: dict[str, Any] = {mix: {} for mix in MIXES}
    shape = BY_NAME[reading].shape
    for spot, result in outcome.runs.items():
        if spot.reading == reading and spot.seed == SEED:
            of_depth = found[spot.mix].setdefault(str(spot.queue_depth), {})
            of_depth[str(spot.suspensions)] = _run(result, shape.program_units)
    assert all(len(one) == len(SUSPENSIONS) for of in found.values() for one in of.values())
    assert len(found["75W-25R"]) == len(QUEUE_DEPTHS) or reading != BASE.name
    return found


def _run(result: Result, program_units: int) -> dict[str, Any]:
    groups, flash = result.summary["requests"], result.summary["flash"]
    device = result.summary["device"]
    seconds = device["simulated_ns"] / 1e9
    programs = flash["programs"] / program_units
    return {
        **{f"{name}_{_UNITS[metric.unit]}": metric.of(result) for name, metric in METRICS.items()},
        **{f"{op}_mean_us": groups[op]["latency_ns"]["mean"] / 1e3 for op in ("read", "write")},
        **{f"{name}_interval_us": interval_us(result, name) for name in TAILS},
        "gc_waf": write_amplification(result),
        "die_busy_percent": 100 * device["die_busy_share"],
        "programs_per_s": programs / seconds,
        "erases_per_s": flash["erases"] / seconds,
        "suspensions_per_program": flash["suspensions"]["program"] / programs if programs else None,
        "suspended_percent": 100 * flash["suspended_share"]["program"],
    }


def _order(outcome: Outcome, reading: str, at: int) -> dict[str, Any]:
    found = compared(outcome.runs, reading, ORDERS[at])
    return {
        "of": len(found),
        "holds": sum(one.holds for one in found),
        "cases": [one._asdict() for one in found],
    }


def _work() -> list[tuple[str, Any, float]]:
    return [
        (mix, work_us(BASE.shape, reads), most_kiops(BASE.shape, reads))
        for mix, reads in MIXES.items()
    ]
