"""Claims of the study, stated before the first run, and the numbers that its page quotes."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from statistics import fmean
from typing import Any

from reprieve_studies.frame import few, stated
from reprieve_studies.kv_cache.runs import ARMS, PERCENTILES, STORES, Plan, Runs, Spot
from reprieve_studies.seeds import Estimate, ratio
from reprieve_studies.verdicts import AT_MOST, Verdict

LITTLE = 1.05
"""A ratio up to which suspension is said to be worth nothing."""
_MS = 1e6


def gain(
    runs: Runs, plan: Plan, spot: tuple[str, str, str], times: str, figure: str
) -> Estimate | None:
    """Return how many times as long it takes without suspension, in pairs of a seed.

    `spot`: drive, stores, arm; None where a run has no such times.
    """
    device, stores, arm = spot
    pairs = [
        (float(runs[Spot(device, stores, "none", seed)][times][figure]),
         float(runs[Spot(device, stores, arm, seed)][times][figure]))
        for seed in plan.seeds
    ]  # fmt: skip
    return ratio(pairs) if all(min(pair) > 0 for pair in pairs) else None


def verdicts(runs: Runs, plan: Plan) -> list[Verdict]:
    """Judge that suspension moves the time to first token by less than 5 %."""
    found = []
    for device in plan.devices:
        for figure in ("mean", "p99"):
            one = gain(runs, plan, (device, "at once", "iteration"), "first_token_ns", figure)
            lack = few(plan.seeds)
            beyond = plan.prompts // 100
            if figure == "p99" and not lack:
                lack = f"{beyond} prompts beyond the percentile"
            words = f"{device}: {figure} of time to first token, without suspension over with it"
            claim = stated(words, "set before the first run", LITTLE, AT_MOST)
            found.append(claim.verdict(one, seeds=list(plan.seeds), lack=lack, null=1.0))
    return found


def numbers(runs: Runs, plan: Plan) -> dict[str, Any]:
    """Return what the page quotes, by drive, stores and arm: times in ms, shares in percent."""
    rows = {
        device: {
            stores: {arm: _of(runs, plan, (device, stores, arm)) for arm in ARMS}
            for stores in STORES
        }
        for device in plan.devices
    }
    gains = [
        one["gain"]["first_token_p99"]["mean"]
        for stores in rows.values()
        for arms in stores.values()
        for arm, one in arms.items()
        if arm != "none" and one["gain"]["first_token_p99"] is not None
    ]
    return {
        "prompts": plan.prompts,
        "seeds": len(plan.seeds),
        "drives": rows,
        "most_gain_p99": max(gains, default=1.0),
        "least_gain_p99": min(gains, default=1.0),
    }


def _of(runs: Runs, plan: Plan, spot: tuple[str, str, str]) -> dict[str, Any]:
    own: list[Any] = [runs[Spot(*spot, seed)] for seed in plan.seeds]

    def mean(*path: str) -> float:
        return fmean(float(reduce(getitem, path, run)) for run in own)

    return {
        **{f"first_token_{name}_ms": mean("first_token_ns", name) / _MS for name in PERCENTILES},
        **{f"load_{name}_ms": mean("load_ns", name) / _MS for name in PERCENTILES},
        "flash_percent": 100 * mean("flash_share"),
        "dropped_blocks": mean("dropped_blocks"),
        "waf": mean("waf"),
        "waits": {part: 100 * mean("waits", part) for part in own[0]["waits"]},
        "gain": {
            f"{times}_{name}": one and vars(one)
            for times in ("first_token", "load")
            for name in PERCENTILES
            for one in (gain(runs, plan, spot, f"{times}_ns", name),)
        },
    }
