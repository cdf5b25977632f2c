"""Claims of the study: what techniques of arrays gain without suspension, and with it."""

from __future__ import annotations

from typing import Any

from reprieve_studies.arrays.runs import DATA, PERCENTILES, Plan, Runs, Spot, arms, techniques
from reprieve_studies.frame import few, listed, stated
from reprieve_studies.seeds import Estimate, estimate, ratio
from reprieve_studies.verdicts import AT_MOST, Verdict

COLUMNS = (*(f"read_{name}" for name in PERCENTILES), "write_mean", "write_p99")
_BEYOND = {"p99_9": 0.001, "p99": 0.01, "p95": 0.05}
_FEWEST = 100


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
        name, seeds = figure(runs, load).replace("_", "."), list(plan.seeds)
        for row in listed(DATA["gain"]):
            if row["technique"] in techniques(load):
                words = f"{load}: {name} of reads, {row['claim']}"
                claim = stated(words, row["source"], row["bar"], row["relation"])
                of = gain(runs, plan, load, row["of"], row["to"])
                found.append(claim.verdict(of, seeds=seeds, null=1.0, lack=few(seeds)))
        rates = [run["written_bytes_per_s"] for spot, run in runs.items() if spot.load == load]
        claim = stated(
            f"{load}: bytes written a second, most over least of a seed",
            "set before the first run", 1.02, AT_MOST,
            note=f"{min(rates) / 1e6:,.1f} MB/s at least",
        )  # fmt: skip
        found.append(claim.verdict(Estimate(_spread(runs, plan, load)), seeds=seeds))
    return found


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
        "title": DATA["load"][load]["title"],
        "percentile": figure(runs, load).replace("_", "."),
        "arms": {arm: {name: cell(name, arm) for name in techniques(load)} for arm in arms(load)},
        "written_mb_per_s": mean("direct", "none", "written_bytes_per_s") / 1e6,
    }
