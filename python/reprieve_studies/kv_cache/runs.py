"""The runs of the study: a drive, whether stores are throttled, what may be suspended, a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import reprieve as rp
from reprieve_studies.frame import read
from reprieve_studies.paper import sized
from reprieve_studies.runs import Bench, Job, Setup
from reprieve_studies.study import Settings

DATA = read(Path(__file__).with_name("study.toml"))
ARMS = tuple(DATA["arms"])
STORES = ("at once", "throttled")
PERCENTILES = ("p50", "p95", "p99")

_PARTS = {
    "programs": ("by_host_program_ns", "by_suspend_entry_ns"),
    "erases": ("by_erase_ns",),
    "collection": ("by_gc_read_ns", "by_gc_program_ns"),
}
"""Causes of waiting: the entry into a suspension counts as waiting for a program."""


@dataclass(frozen=True)
class Plan:
    """Prompts of a run, its seeds, and the drives."""

    prompts: int
    seeds: Sequence[int]
    devices: Sequence[str]
    trace: Path | None = None
    """Of Mooncake or Azure, in place of conversations."""


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    plan = sized(DATA, Plan)(settings)
    for name, given in settings.traces.items():
        if name != "prompts":
            raise rp.UserError(f"--trace {name}={given.path}: must be prompts=FILE")
        plan = replace(plan, trace=given.path.resolve())
    return plan


class Spot(NamedTuple):
    """A run."""

    device: str
    stores: str
    """A name of `STORES`."""
    arm: str
    """A name of `ARMS`."""
    seed: int


Runs = Mapping[Spot, Mapping[str, Any]]
"""Figures that are kept of each run: times in ns, shares in [0, 1]."""


def simulate(bench: Bench, plan: Plan) -> Runs:
    """Simulate every drive with each arm; the prompts of a seed are the same for all."""
    jobs = {
        (spot := Spot(device, stores, arm, seed)): _job(spot, plan)
        for device in plan.devices
        for stores in STORES
        for arm in ARMS
        for seed in plan.seeds
    }
    return bench.texts("LLM servers", jobs)


def _job(spot: Spot, plan: Plan) -> Job:
    slower = DATA["slower"].get(spot.device, 1)
    load = {name: value for name, value in DATA["load"].items() if name != "conversations"}
    load |= {"requests": plan.prompts, "time_scale": slower}
    if plan.trace is None:
        load |= DATA["load"]["conversations"]
    else:
        load |= {"kv_prompts": "trace", "kv_trace": str(plan.trace)}
    if spot.stores == "throttled":
        load["kv_store_bytes_per_s"] = DATA["stores_bytes_per_s"] // slower
    scenario = {"device": spot.device, "seed": spot.seed, "workload": load}
    own = {**DATA["drive"], **DATA["own"].get(spot.device, {})}
    setup = Setup(scenario, {**own, **DATA["arms"][spot.arm]})
    return Job(setup, measure=_measure, measured_as="kv-cache", options={"requests": True})


def _measure(result: rp.Result) -> str:
    """Return times to first tokens and of loads, what the slowest reads waited for, and counts."""
    prompts = rp.Prompts.of(result)
    blocks = prompts.tokens.sum() // 512
    slowest = result.blame("read", "slowest_1")
    whole_ns = max(sum(slowest.values()), 1)
    return json.dumps(
        {
            "first_token_ns": _figures(prompts.first_token_ns(DATA["prefill_tokens_per_s"])),
            "load_ns": _figures(prompts.load_ns()),
            "loads": len(prompts.load_ns()),
            "flash_share": float(prompts.flash_blocks.sum() / blocks),
            "dropped_blocks": int(prompts.dropped_blocks.sum()),
            "waits": {
                part: sum(slowest[cause] for cause in causes) / whole_ns
                for part, causes in _PARTS.items()
            },
            "waf": result.summary["flash"]["waf"],
        }
    )


def _figures(times_ns: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, float]:
    """Return the mean, and percentiles by nearest rank; of no times 0."""
    if not len(times_ns):
        return {"mean": 0.0, **dict.fromkeys(PERCENTILES, 0.0)}
    ranks = np.percentile(times_ns, [50, 95, 99], method="inverted_cdf").tolist()
    return {"mean": float(times_ns.mean()), **dict(zip(PERCENTILES, ranks, strict=True))}
