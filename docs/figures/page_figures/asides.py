"""Runs that a page speaks of and no command's report has: one load with one thing changed."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12.loads import papers
from reprieve_studies.fast12.paper import DEVICES
from reprieve_studies.loads import real
from reprieve_studies.runs import Setup

_REQUESTS = 100_000
_SPREAD = {"workload.footprint_bytes": 8 << 30}


def fast12_asides(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return what other addresses make of fin2-like, and what a limit makes of suspension."""
    load = next(one for one in papers({}) if one.trace == "F2")
    scale = {"workload.time_scale": 1 / numbers["loads"]["F2"]["MLC"]["speed"]}
    setup = load.setup(DEVICES["MLC"], _REQUESTS).with_overrides(scale)
    uniform = replace(load, preset=None, workload=_uniform())
    alone = uniform.setup(DEVICES["MLC"], _REQUESTS).with_overrides(scale)
    return {
        "requests": _REQUESTS,
        "above_pe0_percent": {
            "zipf": _above_pe0(setup),
            "uniform": _above_pe0(alone),
            "spread": _above_pe0(alone.with_overrides(_SPREAD)),
        },
        "threshold": _threshold(numbers),
    }


def _uniform() -> dict[str, Any]:
    """Return fin2-like without its law of addresses."""
    text = (Path(__file__).resolve().parents[3] / "loads/fin2-like.toml").read_text("utf-8")
    workload: dict[str, Any] = tomllib.loads(text)["workload"]
    kept = {key: value for key, value in workload.items() if not key.startswith("zipf")}
    return {**kept, "addresses": "uniform"}


def _above_pe0(setup: Setup) -> float:
    """Return by how many per cent the mean read under PES_IPC is above that under PE0."""
    suspended, bound = (
        _reads(setup.with_overrides({"policy": policy}))["mean"] for policy in ("pes-ipc", "pe0")
    )
    return float(100 * (suspended / bound - 1))


def _threshold(numbers: dict[str, Any]) -> dict[str, float]:
    """Return the reads of the recorded web load where no suspension lasts for ever."""
    load = next(one for one in real() if one.trace == "web")
    scale = 1 / numbers["loads"]["web"]["SLC"]["beyond_speed"]
    overrides = {
        **beyond.DRIVE,
        "policy": "pes-ipc",
        "suspension.policy": "threshold",
        "suspension.max_suspended_us": 200,
        "workload.time_scale": scale,
    }
    reads = _reads(load.setup(DEVICES["SLC"], numbers["requests"]).with_overrides(overrides))
    return {"read_mean_us": reads["mean"] / 1e3, "read_us_max": reads["max"] / 1e3}


def _reads(setup: Setup) -> dict[str, float]:
    summary = setup.simulate(lambda _share, _done: None).summary
    found: dict[str, float] = summary["requests"]["read"]["latency_ns"]
    return found
