"""A few short runs of each study, whose exact results are recorded and repeated by the tests.

A change of the program that moves a study's numbers moves these, so that the recorded file no
longer is of this program. They have the study's own scenarios, with fewer requests.
"""

from collections.abc import Callable, Mapping
from typing import Any

import reprieve as rp
from reprieve.parallel import Workshop, silent
from reprieve.result import Result
from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12 import loads as fast12_loads
from reprieve_studies.fast12.measures import POLICIES
from reprieve_studies.fast12.paper import DEVICES
from reprieve_studies.mbm import loads as mbm_loads
from reprieve_studies.mbm.experiment import Plan, place
from reprieve_studies.mbm.readings import GRID_FTLS, IPS, SCHEMES, Scheme
from reprieve_studies.runs import Setup
from reprieve_studies.starblaze import experiment as starblaze
from reprieve_studies.starblaze import readings as of_starblaze
from reprieve_studies.starblaze.paper import CASES
from reprieve_studies.zambelli21 import experiment as zambelli21
from reprieve_studies.zambelli21 import readings as zambelli21_readings

from .guide import EXAMPLES, guide

Sample = dict[str, list[float]]
"""Exact results by run: counts and latencies in ns of reads and writes, operations of the flash."""

_REQUESTS = 4_000
_SCALE = "workload.time_scale"


def exact(result: Result) -> list[float]:
    """Return what identifies the results of a run."""
    found: list[float] = []
    for op in ("read", "write"):
        group = result.summary["requests"][op]
        latency = group["latency_ns"]
        found += [group["count"], latency["mean"], latency["p99"], latency["max"]]
    flash = result.summary["flash"]
    return [*found, flash["reads"], flash["programs"], flash["erases"],
            sum(flash["suspensions"].values()),
            result.summary["device"]["simulated_ns"]]  # fmt: skip


def run(setup: Setup) -> list[float]:
    """Simulate, and return that."""
    return exact(setup.simulate(lambda _share, _done: None))


def _fast12(recorded: Mapping[str, Any]) -> Sample:
    """Two loads, on the empty drive and on the full one."""
    found: Sample = {}
    for load in fast12_loads.papers({}):
        if load.trace not in ("F1", "DAP"):
            continue
        for device, preset in DEVICES.items():
            speeds = recorded["loads"][fast12_loads.CALIBRATED][load.trace][device]
            setup = load.setup(preset, _REQUESTS, 1)
            empty = setup.with_overrides({_SCALE: 1 / speeds["speed"]})
            full = setup.with_overrides(
                {**load.spread, **beyond.DRIVE, _SCALE: 1 / speeds["beyond_speed"]}
            )
            for drive, own in (("empty", empty), ("full", full)):
                for name in ("FIFO", "RPS", "PES_IPS", "PES_IPC"):
                    policy = {"policy": POLICIES[name]}
                    key = f"{load.trace}, {device}, {drive}, {name}"
                    found[key] = run(own.with_overrides(policy))
    return found


def _mbm(recorded: Mapping[str, Any]) -> Sample:
    """Two loads with every FTL."""
    found: Sample = {}
    plan = Plan(mbm_loads.papers({}), [], _REQUESTS)
    schemes = {**SCHEMES, "GCPAR": Scheme(GRID_FTLS["GCPAR"], IPS)}
    for load in plan.papers:
        if load.trace in ("usr_0", "Financial"):
            for name, scheme in schemes.items():
                scale = {_SCALE: 1 / recorded["speeds"][load.trace]}
                setup = place(plan, load, _REQUESTS, 2).with_overrides({**scheme.settings, **scale})
                found[f"{load.trace}, {name}"] = run(setup)
    return found


def _zambelli21(_recorded: Mapping[str, Any]) -> Sample:
    """One load and depth, with and without suspension."""
    plan = zambelli21.Plan(20_000, quick=True)
    wanted = (zambelli21_readings.BASE.name, "25W-75R", 64)
    spots = [spot for spot in plan.spots if spot[:3] == wanted]
    found = zambelli21.simulate(plan, spots, Workshop(None, silent, 1))
    return {f"{spot.suspensions} suspensions": exact(one) for spot, one in found.items()}


def _starblaze(_recorded: Mapping[str, Any]) -> Sample:
    """One case, for a second, with and without suspension."""
    plan = starblaze.Plan(1, 1, 1)
    wanted = [(of_starblaze.BASE.name, setting, next(iter(CASES))) for setting in ("none", "both")]
    spots = [spot for spot in plan.spots if spot[:3] in wanted]
    found = starblaze.simulate(plan, spots, Workshop(None, silent, 1))
    return {spot.setting: exact(one) for spot, one in found.items()}


def _mqsim(_recorded: Mapping[str, Any]) -> Sample:
    """Run the load that stands in for MQSim's own sequence."""
    scenario = {
        "seed": 1,
        "device": "mqsim-default-like",
        "geometry": {"page_bytes": 4096},
        "timing": {"t_bus_us": 12.288},
        "workload": {
            "generator": "mixed",
            "requests": 100_000,
            "read_fraction": 0.7,
            "request_bytes": 4096,
            "queue_depth": 16,
        },
    }
    return {"generated": exact(rp.run(scenario))}


def _guide(_recorded: Mapping[str, Any]) -> Sample:
    """All of them again."""
    found = guide()
    return {
        "copyback": [one["ratio"] for one in found["copyback"].values()],
        **{name: [*one.values()] for name, one in found["tenants"].items()},
    }


def _demo(_recorded: Mapping[str, Any]) -> Sample:
    """Two of its runs, whole."""
    path = EXAMPLES / "mysql-five-policies.toml"
    return {policy: exact(rp.run(str(path), policy=policy)) for policy in ("FIFO", "PES-IPC")}


def _power_loss(_recorded: Mapping[str, Any]) -> Sample:
    """Return some cuts of the one that is drawn."""
    cuts = rp.power_loss(str(EXAMPLES / "power-loss.toml"), cuts=7)
    keys = ("at_ns", "time_to_safety_ns", "energy_uj")
    return {
        policy: [row[key] for row in cuts.rows if row["policy"] == policy for key in keys]
        for policy in cuts.policies
    }


SAMPLES: Mapping[str, Callable[[Mapping[str, Any]], Sample]] = {
    "demo": _demo,
    "fast12": _fast12,
    "guide": _guide,
    "mbm": _mbm,
    "mqsim": _mqsim,
    "power-loss": _power_loss,
    "starblaze": _starblaze,
    "zambelli21": _zambelli21,
}
"""By the name of the study; takes what is recorded of it, for how its loads are compressed."""
