"""Claims of the study: what techniques of arrays gain without suspension, and with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprieve_studies.arrays.runs import LOADS, PERCENTILES, Plan, Runs, Spot, arms, techniques
from reprieve_studies.frame import few, stated
from reprieve_studies.seeds import Estimate, estimate, ratio
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

COLUMNS = (*(f"read_{name}" for name in PERCENTILES), "write_mean", "write_p99")
_IODA = "Li et al., SOSP 2021: up to 75 at p95 to p99.99"
_OURS = "set before the first run"
_BAR = "ours; the bar stands above 1 since the first run, so that no effect fails"
_BEYOND = {"p99_9": 0.001, "p99": 0.01, "p95": 0.05}
_FEWEST = 100

_Claim = tuple[str, str, float, str, tuple[str, str], tuple[str, str]]


def figure(runs: Runs, load: str) -> str:
    """Return the farthest percentile of reads that 100 of each run of a load lie beyond."""
    reads = min(run["reads"] for spot, run in runs.items() if spot.load == load)
    found = [name for name, share in _BEYOND.items() if reads * share >= _FEWEST]
    return found[0] if found else "p50"


def gain(
    runs: Runs, plan: Plan, load: str, one: tuple[str, str], other: tuple[str, str]
) -> Estimate:
    """Return how that percentile is with one technique and arm to another, in pairs of a seed."""
    column = f"read_{figure(runs, load)}"
    return ratio(
        [
            (runs[Spot(load, *one, seed)][column], runs[Spot(load, *other, seed)][column])
            for seed in plan.seeds
        ]
    )


def verdicts(runs: Runs, plan: Plan) -> list[Verdict]:
    """Judge the claims; a ratio of 1 is that of no effect, which no claim of a gain may pass."""
    found = []
    for load in plan.loads:
        rows = _claims(load)
        name = figure(runs, load).replace("_", ".")
        for claim, source, expected, relation, one, other in rows:
            row = stated(f"{load}: {name} of reads, {claim}", source, expected, relation)
            of, seeds = gain(runs, plan, load, one, other), list(plan.seeds)
            found.append(row.verdict(of, seeds=seeds, null=1.0, lack=few(seeds)))
        rates = [run["written_bytes_per_s"] for spot, run in runs.items() if spot.load == load]
        row = stated(
            f"{load}: bytes written a second, most over least of a seed", _OURS, 1.02, AT_MOST,
            note=f"{min(rates) / 1e6:,.1f} MB/s at least",
        )  # fmt: skip
        found.append(row.verdict(Estimate(_spread(runs, plan, load)), seeds=list(plan.seeds)))
    return found


def _claims(load: str) -> Sequence[_Claim]:
    """Return the claims of a load: a name, source, bar and relation, and what is over what."""
    plain, suspended = ("direct", "none"), ("direct", "suspension")
    both: list[_Claim] = [
        claim
        for name in techniques(load)
        if name in {"windows", "turns", "fast-fail", "fast-fail-windows"}
        for claim in (
            (f"{name} gain without suspension", _IODA, 3.0, AT_LEAST, plain, (name, "none")),
            (f"{name} gain with suspension", _OURS, 3.0, AT_MOST, suspended, (name, "suspension")),
        )
    ]
    both.append(
        ("suspension gains more than windows", _BAR, 1.1, AT_LEAST, ("windows", "none"), suspended)
    )
    if "hedged" in techniques(load):
        hedged = ("hedged", "suspension")
        both.append(("hedges gain beside suspension", _BAR, 1.1, AT_LEAST, suspended, hedged))
    return both


def _spread(runs: Runs, plan: Plan, load: str) -> float:
    spreads = []
    for seed in plan.seeds:
        of = [runs[Spot(load, technique, arm, seed)]["written_bytes_per_s"]
              for technique in techniques(load) for arm in arms(load)]  # fmt: skip
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
        return {
            **{column: mean(technique, arm, column) for column in COLUMNS},
            "gain": vars(gain(runs, plan, load, ("direct", "none"), (technique, arm))),
            "own_gain": vars(gain(runs, plan, load, ("direct", arm), (technique, arm))),
        }

    return {
        "title": LOADS[load]["title"],
        "percentile": figure(runs, load).replace("_", "."),
        "arms": {arm: {name: cell(name, arm) for name in techniques(load)} for arm in arms(load)},
        "written_mb_per_s": mean("direct", "none", "written_bytes_per_s") / 1e6,
    }
