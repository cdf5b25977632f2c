"""Claims of the study: the cost of erases and programs to reads, by hand and simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import reprieve as rp
from reprieve_studies.frame import stated
from reprieve_studies.seeds import Estimate, estimate, ratio
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict
from reprieve_studies.zones.runs import DATA, LOADS, Plan, Runs, Spot

PERCENTILES = ("p50", "p99", "p99_9")
_NS = 1000
_TAIL = 0.001


def device() -> Mapping[str, float]:
    """Return times of the device in µs: an erase, a program, and what a suspension takes."""
    workload = {"generator": "mixed", "requests": 1, "read_fraction": 1.0, "queue_depth": 1}
    found = rp.Scenario(device=DATA["device"], workload=workload).resolve()
    timing = {
        name: float(found.read(f"timing.{name}"))
        for name in ("t_erase_us", "t_suspend_overhead_us", "t_erase_suspend_overhead_us",
                     "t_program_pulse_us", "t_verify_us", "program_iterations")
    }  # fmt: skip
    iteration = timing["t_program_pulse_us"] + timing["t_verify_us"]
    return {
        "erase": timing["t_erase_us"],
        "program": timing["program_iterations"] * iteration,
        "iteration": iteration,
        "progress": float(found.read("suspension.min_progress_us")),
        "erase_entry": timing["t_erase_suspend_overhead_us"],
        "program_entry": timing["t_suspend_overhead_us"],
    }


def read_ns(runs: Runs, spot: Spot, figure: str) -> float:
    """Return a figure of the latency of reads of a run."""
    return float(runs[spot]["flows"]["reader"]["requests"]["read"]["latency_ns"][figure])


def gains(runs: Runs, plan: Plan, load: str, arms: Sequence[str], figure: str) -> Estimate:
    """Return how a figure of reads without suspension is to that with it, in pairs of a seed."""
    without, suspending = arms
    return ratio(
        [
            (read_ns(runs, Spot(load, without, seed), figure),
             read_ns(runs, Spot(load, suspending, seed), figure))
            for seed in plan.seeds
        ]
    )  # fmt: skip


def unsuspended_tail_us(load: str, base_us: float) -> float:
    """Return the p99.9 of reads that cannot suspend erases, by hand.

    Resets at random erase a block of each die at once, for which a read at random waits with the
    share of time that an erase takes; it then finds any rest of it alike.
    """
    erase = device()["erase"]
    busy = float(LOADS[load]["resets_per_s"]) * erase / 1e6
    return base_us + erase * (1 - _TAIL / busy)


def read_us(runs: Runs, plan: Plan, load: str, arm: str, figure: str) -> Estimate:
    """Return a figure of the latency of reads over the seeds."""
    spots = [Spot(load, arm, seed) for seed in plan.seeds]
    return estimate([read_ns(runs, spot, figure) / _NS for spot in spots])


def verdicts(runs: Runs, plan: Plan) -> list[Verdict]:
    """Judge the claims, each stated before the first run."""
    found, seeds = [], list(plan.seeds)
    times = device()
    for load in ("resets-10", "resets-30"):
        base = read_us(runs, plan, load, "erase", "p50").mean
        expected = unsuspended_tail_us(load, base)
        least = base + times["progress"] + times["erase_entry"] + 100
        by_hand = stated(
            f"{load}: p99.9 of reads without suspension",
            "share of time and rest of an erase, by hand",
            expected, unit="µs", tolerance=0.05 * expected,
        )  # fmt: skip
        bound = stated(
            f"{load}: p99.9 of reads that suspend erases",
            "least progress, entry, and 100 µs for reads before it",
            least, AT_MOST, unit="µs",
        )  # fmt: skip
        for claim, arm in ((by_hand, "none"), (bound, "erase")):
            found.append(claim.verdict(read_us(runs, plan, load, arm, "p99_9"), seeds=seeds))
    for load, *arms in DATA["gains"]:
        words = f"{load}: p99.9 of reads, {arms[0]} over {arms[1]}"
        claim = stated(words, "set before the first run", 3.0, AT_LEAST)
        gain = gains(runs, plan, load, arms, "p99_9")
        found.append(claim.verdict(gain, seeds=seeds, null=1.0))
    waf = Estimate(max(float(run["flash"]["waf"]) for run in runs.values()))
    claim = stated(
        "write amplification of every run", "zones are erased as they were written", 1.0, AT_MOST
    )
    return [*found, claim.verdict(waf, seeds=seeds)]


def numbers(runs: Runs, plan: Plan) -> dict[str, Any]:
    """Return what the page quotes: figures of reads by load and arm, and gains in pairs."""
    return {
        "seeds": len(plan.seeds),
        "reads": plan.reads,
        "times": device(),
        "loads": {load: _of_load(runs, plan, load) for load in LOADS},
    }


def _of_load(runs: Runs, plan: Plan, load: str) -> dict[str, Any]:
    arms: Sequence[str] = LOADS[load]["arms"]
    return {
        "title": LOADS[load]["title"],
        "arms": {
            arm: {
                **{f"read_{name}_us": read_us(runs, plan, load, arm, name).mean
                   for name in PERCENTILES},
                **_cost(runs, plan, load, arm),
            }
            for arm in arms
        },
        "gains": {
            arm: {name: vars(gains(runs, plan, load, ("none", arm), name)) for name in PERCENTILES}
            for arm in arms[1:]
        },
    }  # fmt: skip


def _cost(runs: Runs, plan: Plan, load: str, arm: str) -> dict[str, float | None]:
    """Return mean latencies of resets in ms and of writes in µs; None without any."""
    found: dict[str, float | None] = {}
    for name, flow, kind, unit in (
        ("reset_ms", "resetter", "zone", 1e6),
        ("write_us", "writer", "write", 1e3),
    ):
        values = [
            runs[Spot(load, arm, seed)]["flows"].get(flow, {}).get("requests", {}).get(kind)
            for seed in plan.seeds
        ]
        means = [value["latency_ns"]["mean"] / unit for value in values if value]
        found[name] = sum(means) / len(means) if means else None
    return found
