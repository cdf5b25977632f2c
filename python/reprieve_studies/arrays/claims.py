"""Claims of the study: what techniques of arrays gain without suspension, and with it."""

from __future__ import annotations

from typing import Any

from reprieve_studies.arrays.runs import ARMS, LOADS, PERCENTILES, TECHNIQUES, Plan, Runs, Spot
from reprieve_studies.seeds import Estimate, estimate, ratio
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

COLUMNS = (*(f"read_{name}" for name in PERCENTILES), "write_mean", "write_p99")
_IODA = "Li et al., SOSP 2021: up to 75 at p95 to p99.99"
_OURS = "set before the first run"


def gain(runs: Runs, plan: Plan, load: str, one: tuple[str, str], other: tuple[str, str],
         column: str = "read_p99_9") -> Estimate:  # fmt: skip
    """Return how a figure of one technique and arm is to that of another, in pairs of a seed."""
    return ratio(
        [
            tuple(runs[Spot(load, *which, seed)][column] for which in (one, other))
            for seed in plan.seeds
        ]
    )


def verdicts(runs: Runs, plan: Plan) -> list[Verdict]:
    """Judge the claims."""
    found = []
    for load in plan.loads:
        alone, windows = ("direct", "none"), ("windows", "none")
        name = f"{load}: p99.9 of reads, "
        rows = [
            (f"{name}windows gain without suspension", _IODA, 3.0, AT_LEAST, alone, windows),
            (f"{name}windows gain with suspension", _OURS, 3.0, AT_MOST,
             ("direct", "suspension"), ("windows", "suspension")),
            (f"{name}suspension gains more than windows", _OURS, 1.0, AT_LEAST,
             windows, ("direct", "suspension")),
            (f"{name}hedges gain beside suspension", _OURS, 1.0, AT_LEAST,
             ("direct", "suspension"), ("hedged", "suspension")),
        ]  # fmt: skip
        for claim, source, expected, relation, one, other in rows:
            of = gain(runs, plan, load, one, other)
            # With one side to three a claim of at most three holds without any effect.
            null = 1.0 if relation == AT_LEAST and expected > 1 else None
            found.append(
                Verdict(claim, source, "1", expected, of.mean, 0.0, relation, kind="measured",
                        seeds=list(plan.seeds), low=of.low, high=of.high, null=null)
            )  # fmt: skip
        rates = [run["written_bytes_per_s"] for spot, run in runs.items() if spot.load == load]
        spread = _spread(runs, plan, load)
        found.append(
            Verdict(f"{load}: bytes written a second, most over least of a seed", _OURS, "1", 1.02,
                    spread, 0.0, AT_MOST, kind="measured", seeds=list(plan.seeds),
                    note=f"{min(rates) / 1e6:,.1f} MB/s at least")
        )  # fmt: skip
    return found


def _spread(runs: Runs, plan: Plan, load: str) -> float:
    spreads = []
    for seed in plan.seeds:
        of = [runs[Spot(load, technique, arm, seed)]["written_bytes_per_s"]
              for technique in TECHNIQUES for arm in ARMS]  # fmt: skip
        spreads.append(max(of) / min(of))
    return float(max(spreads))


def numbers(runs: Runs, plan: Plan) -> dict[str, Any]:
    """Return what the page quotes: means over seeds in µs, and ratios to the plain array."""
    return {
        "requests": plan.requests,
        "seeds": len(plan.seeds),
        "loads": {load: _of_load(runs, plan, load) for load in plan.loads},
    }


def _of_load(runs: Runs, plan: Plan, load: str) -> dict[str, Any]:
    def mean(technique: str, arm: str, column: str) -> float:
        return estimate(
            [runs[Spot(load, technique, arm, seed)][column] for seed in plan.seeds]
        ).mean

    def cell(technique: str, arm: str) -> dict[str, Any]:
        over = gain(runs, plan, load, ("direct", "none"), (technique, arm))
        own = gain(runs, plan, load, ("direct", arm), (technique, arm))
        return {
            **{column: mean(technique, arm, column) for column in COLUMNS},
            "gain": {"mean": over.mean, "low": over.low, "high": over.high},
            "own_gain": {"mean": own.mean, "low": own.low, "high": own.high},
        }

    return {
        "title": LOADS[load]["title"],
        "arms": {arm: {name: cell(name, arm) for name in TECHNIQUES} for arm in ARMS},
        "written_mb_per_s": mean("direct", "none", "written_bytes_per_s") / 1e6,
    }
