"""Runs that a page speaks of and no command's report has: one load with one thing changed."""

from typing import Any

from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12.experiment import REAL
from reprieve_studies.fast12.paper import DEVICES
from reprieve_studies.loads import real
from reprieve_studies.runs import Setup


def fast12_asides(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return what a limit makes of suspension."""
    return {"threshold": _threshold(numbers)}


def _threshold(numbers: dict[str, Any]) -> dict[str, float]:
    """Return the reads of the recorded web load where no suspension lasts for ever."""
    load = next(one for one in real() if one.trace == "web")
    scale = 1 / numbers["loads"][REAL]["web"]["SLC"]["beyond_speed"]
    overrides = {
        **beyond.DRIVE,
        **beyond.warm_up(numbers["requests"]),
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
