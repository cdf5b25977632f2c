"""Loads fitted to traces, judged by what five policies do: `python -m reprieve_studies.trace_fits`.

Each trace is cut in the middle of its requests. A load is fitted to the first part as `reprieve
trace fit` does. Both parts and the load run on one drive under five policies, each at the time
scale at which the drive is idle for 70 % of the time under FIFO. What counts is the mean latency of
reads as a share of that under FIFO: how near the load comes to the second part, which it has not
seen, and how near the first part itself does.
"""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import reprieve as rp
from reprieve.cli.console import say
from reprieve.trace_fit import FittedLoad, drawn, fit, requests_of
from reprieve_studies.verdicts import finite

DEVICE = "fast12-mlc"
POLICIES = ("rps", "pes-ips", "pes-ipc", "pe0")
IDLE_SHARE = 0.7
_SEEDS = range(1, 6)
_STEPS = 14
_SCALES = (1e-6, 1e3)

Make = Callable[[str, float], dict[str, Any]]
"""A scenario from a policy and a time scale."""


def shares(make: Make, policies: Sequence[str] = POLICIES) -> dict[str, float]:
    """Return each policy's mean latency of reads over that of FIFO, and the time scale found.

    Shares are NaN where nothing is read.
    """

    def idle(scale: float) -> float:
        return float(rp.run(make("fifo", scale)).summary["device"]["idle_share"])

    low, high = _SCALES
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if idle(middle) > IDLE_SHARE else (middle, high)
    scale = math.sqrt(low * high)
    means = {
        policy: rp.run(make(policy, scale)).summary["requests"]["read"]["latency_ns"]["mean"]
        for policy in ("fifo", *policies)
    }
    base = means["fifo"] or math.nan
    found = {policy: means[policy] / base for policy in policies}
    return {"time_scale": scale, **found}


def judge(path: Path, format: str = "auto") -> dict[str, object]:
    """Fit to the first half of a trace, and compare with the second."""
    whole = requests_of(rp.open_trace(path, format))
    middle_ns = int(whole.time_ns[len(whole) // 2])
    start_s, first = middle_ns / 1e9, whole.where(whole.time_ns < middle_ns)
    load = fit(first, path.name)

    def part(**cut: float) -> Make:
        def make(policy: str, scale: float) -> dict[str, Any]:
            workload = {"trace": str(path), "format": format, "time_scale": scale, **cut}
            return {"device": DEVICE, "policy": policy, "workload": workload}

        return make

    found = [shares(fitted(load, seed)) for seed in _SEEDS]

    def of(policy: str) -> list[float]:
        return [each[policy] for each in found]

    return {
        "trace": path.name,
        "requests": len(whole),
        "read_share": float(whole.is_read.mean()),
        "first": shares(part(duration_s=start_s)),
        "second": shares(part(start_s=start_s)),
        # A short load may draw no read at all; such a draw says nothing.
        "draws": sum(not math.isnan(each["rps"]) for each in found),
        "load": {policy: float(np.nanmean(of(policy))) for policy in POLICIES},
        "load_sd": {policy: float(np.nanstd(of(policy), ddof=1)) for policy in POLICIES},
    }


def fitted(load: FittedLoad, seed: int) -> Make:
    """Return the scenarios of a load that is drawn once."""

    def make(policy: str, scale: float) -> dict[str, Any]:
        made = load.scenario(device=DEVICE, policy=policy, seed=seed)
        made["workload"] = {**load.common, **_room(load), "time_scale": scale}
        return made

    return make


def _room(load: FittedLoad) -> dict[str, Any]:
    """Return what lets a load that is larger than the drive use all of it: a trace wraps around."""
    try:
        drawn(load.scenario(device=DEVICE), 1)
    except rp.UserError:
        return {"footprint_bytes": "none"}
    return {}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON for each trace, then the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", metavar="TRACE[=FORMAT]")
    parser.add_argument("--out", type=Path, help="write the results here as JSON")
    given = parser.parse_args(arguments)
    rows = []
    for trace in given.traces:
        path, _, format = trace.partition("=")
        rows.append(judge(Path(path), format or "auto"))
        say(json.dumps(finite(rows[-1])))
    if given.out is not None:
        given.out.write_text(json.dumps(finite({"traces": rows}), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
