"""The numbers of this reproduction by name, which pages and other programs quote."""

from dataclasses import asdict
from statistics import fmean
from typing import Any

from reprieve import Result
from reprieve_studies.zambelli21 import energy, tail, wear
from reprieve_studies.zambelli21.bounds import most_kiops, work_us
from reprieve_studies.zambelli21.claims import elsewhere
from reprieve_studies.zambelli21.experiment import Outcome
from reprieve_studies.zambelli21.measures import (
    METRICS,
    changed,
    compared,
    holding,
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
from reprieve_studies.zambelli21.readings import BASE, BY_NAME, JUDGED

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
        "seeds_of_others": len(outcome.plan.seeds_of_others),
        "runs": {name: _runs(outcome, name) for name in present},
        "changes": {
            name: {claim.claim: asdict(changed(outcome.runs, name, claim)) for claim in CHANGES}
            for name in present
        },
        "orders": {
            name: {order.claim: _order(outcome, name, at) for at, order in enumerate(ORDERS)}
            for name in present
        },
        "elsewhere": {
            reading.name: {
                claim.claim: elsewhere(outcome, claim, reading.name)
                for claim in (*CHANGES, *ORDERS)
            }
            for reading in JUDGED
        },
        "tail": {
            str(allowed): {"read_us": asdict(one.read_us), "total_us": asdict(one.total_us),
                           "shares": one.shares}
            for allowed, one in tail.by_limit(outcome.tails).items()
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
    """Return by load, queue depth and suspensions allowed the means over a reading's seeds."""
    found: dict[str, Any] = {mix: {} for mix in MIXES}
    units = BY_NAME[reading].shape.program_units
    for spot in dict.fromkeys(one._replace(seed=0) for one in outcome.runs):
        if spot.reading == reading:
            own = [
                _run(result, units) for one, result in outcome.runs.items() if one[:-1] == spot[:-1]
            ]
            of_depth = found[spot.mix].setdefault(str(spot.queue_depth), {})
            of_depth[str(spot.suspensions)] = {
                name: fmean(run[name] for run in own) for name in own[0]
            }
    assert all(len(one) == len(SUSPENSIONS) for of in found.values() for one in of.values())
    assert len(found["75W-25R"]) == len(QUEUE_DEPTHS) or reading != BASE.name
    return found


def _run(result: Result, program_units: int) -> dict[str, float]:
    groups, flash = result.summary["requests"], result.summary["flash"]
    device = result.summary["device"]
    seconds = device["simulated_ns"] / 1e9
    programs = flash["programs"] / program_units
    return {
        **{f"{name}_{_UNITS[metric.unit]}": metric.of(result) for name, metric in METRICS.items()},
        **{f"{op}_mean_us": groups[op]["latency_ns"]["mean"] / 1e3 for op in ("read", "write")},
        "gc_waf": write_amplification(result),
        "die_busy_percent": 100 * device["die_busy_share"],
        "programs_per_s": programs / seconds,
        "erases_per_s": flash["erases"] / seconds,
        "suspensions_per_program": flash["suspensions"]["program"] / programs if programs else 0.0,
        "suspended_percent": 100 * flash["suspended_share"]["program"],
    }


def _order(outcome: Outcome, reading: str, at: int) -> dict[str, Any]:
    found = compared(outcome.runs, reading, ORDERS[at])
    return {
        "of": len(found),
        "holds": holding(outcome.runs, reading, ORDERS[at]).mean,
        "cases": [one._asdict() for one in found],
    }


def _work() -> list[tuple[str, Any, float]]:
    return [
        (mix, work_us(BASE.shape, reads), most_kiops(BASE.shape, reads))
        for mix, reads in MIXES.items()
    ]
