"""A few short runs of each study, whose exact results are recorded and repeated by the tests.

A change of the program that moves a study's numbers moves these, so that the recorded file no
longer is of this program. They have the study's own scenarios, with fewer requests.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import reprieve as rp
from reprieve.result import Result
from reprieve_studies.aero import runs as of_aero
from reprieve_studies.fast12 import runs as of_fast12
from reprieve_studies.mbm import runs as of_mbm
from reprieve_studies.runs import Job
from reprieve_studies.starblaze import runs as of_starblaze
from reprieve_studies.zambelli21 import runs as of_zambelli21

from .guide import DEMO, EXAMPLES, guide

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


def _fast12(recorded: Mapping[str, Any]) -> Sample:
    """Two loads, on the empty drive and on the full one."""
    found: Sample = {}
    steady = of_fast12.DATA.readings["steady"].sets
    for load in of_fast12.counterparts({}, of_fast12.MAIN):
        if load.trace not in ("F1", "DAP"):
            continue
        for device, preset in of_fast12.DEVICES.items():
            speeds = recorded["loads"][of_fast12.MAIN][load.trace][device]
            setup = load.setup(preset, _REQUESTS, 1)
            empty = setup.with_overrides({_SCALE: 1 / speeds["speed"]})
            full = setup.with_overrides({**load.spread, **steady, _SCALE: 1 / speeds["full_speed"]})
            for drive, own in (("empty", empty), ("full", full)):
                for name in ("FIFO", "RPS", "PES_IPS", "PES_IPC"):
                    policy = {"policy": of_fast12.POLICIES[name]}
                    key = f"{load.trace}, {device}, {drive}, {name}"
                    found[key] = exact(own.with_overrides(policy).simulate())
    return found


def _mbm(recorded: Mapping[str, Any]) -> Sample:
    """Two loads with every FTL, and one that collects both planes of a die side by side."""
    found: Sample = {}
    plan = of_mbm.Plan(of_mbm.counterparts({}), _REQUESTS)
    parallel = {"ftl.gc_parallel_planes": True, "policy": "pes-ips"}
    for load in plan.papers:
        if load.trace in ("usr_0", "Financial"):
            for name, scheme in {**of_mbm.SCHEMES, "GCPAR": parallel}.items():
                scale = {_SCALE: 1 / recorded["loads"][load.trace]["speed"]}
                setup = of_mbm.place(plan, load, _REQUESTS).with_overrides({**scheme, **scale})
                found[f"{load.trace}, {name}"] = exact(setup.simulate())
    return found


def _zambelli21(_recorded: Mapping[str, Any]) -> Sample:
    """One load and depth, with and without suspension."""
    plan = of_zambelli21.Plan(20_000, claims_only=True, run_in=0)
    wanted = (of_zambelli21.FITTED, "25W-75R", 64)
    spots = [spot for spot in plan.spots if spot[:3] == wanted and spot.seed == 1]
    return _of_jobs({f"{spot.suspensions} suspensions": of_zambelli21.job(plan, spot)
                     for spot in spots})  # fmt: skip


def _starblaze(_recorded: Mapping[str, Any]) -> Sample:
    """One case, for a second, with and without suspension."""
    case = next(iter(of_starblaze.CASES))
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        of_starblaze.write_jobs(of_starblaze.Plan(1, 1, [1]), folder)
        base = of_starblaze.BASE
        spots = [of_starblaze.Spot(base.name, setting, case, 1) for setting in ("none", "both")]
        return _of_jobs({spot.setting: of_starblaze.job(spot, folder, base) for spot in spots})


def _of_jobs(jobs: Mapping[str, Job]) -> Sample:
    """Simulate runs from the states of their drives, each of which is prepared once."""
    found: Sample = {}
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        for name, job in jobs.items():
            assert job.settled is not None
            state = Path(folder, job.settled.run)
            if not state.exists():
                job.settled.settle(state)
            found[name] = exact(job.setup.simulate(from_state=state))
    return found


def _aero(_recorded: Mapping[str, Any]) -> Sample:
    """Two schemes with erases that make way at the ends of their loops."""
    plan = of_aero.Plan((1,), 0.01)
    spots = [of_aero.Spot("mixed", scheme, "ends", 2500, 1) for scheme in ("base", "plus")]
    return _of_jobs({spot.scheme: of_aero.job(plan, spot) for spot in spots})


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
    """Two of its policies, each with one pass of the trace."""
    return {
        policy: exact(rp.run(str(DEMO), policy=policy, workload__repeat=1))
        for policy in ("RPS", "PES-IPC")
    }


def _power_loss(_recorded: Mapping[str, Any]) -> Sample:
    """Return some cuts of the one that is drawn."""
    cuts = rp.power_loss(str(EXAMPLES / "power-loss.toml"), cuts=7)
    keys = ("at_ns", "time_to_safety_ns", "energy_uj")
    return {
        policy: [row[key] for row in cuts.rows if row["policy"] == policy for key in keys]
        for policy in cuts.policies
    }


SAMPLES: Mapping[str, Callable[[Mapping[str, Any]], Sample]] = {
    "aero": _aero,
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
