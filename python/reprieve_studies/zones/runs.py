"""The runs of the study: a load of zones, what may be suspended, and a seed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import reprieve as rp
from reprieve_studies.frame import read
from reprieve_studies.paper import sized
from reprieve_studies.runs import Bench, Job, Setup

DATA = read(Path(__file__).with_name("study.toml"))
LOADS: Mapping[str, Mapping[str, Any]] = DATA["load"]


@dataclass(frozen=True)
class Plan:
    """Reads of a run, and its seeds."""

    reads: int
    seeds: Sequence[int]


class Spot(NamedTuple):
    """A run."""

    load: str
    arm: str
    """A name of `arms`: whether programs and erases may be suspended."""
    seed: int


Runs = Mapping[Spot, Mapping[str, Any]]
"""Sections of the summary that the study looks at, by run."""


def job_file(load: Mapping[str, Any], reads: int) -> str:
    """Write the jobs of a load: all for as long as the reads take."""
    seconds = reads / int(DATA["reader"]["rate_iops"])
    jobs = {"reader": DATA["reader"]}
    if rate := load.get("resets_per_s"):
        jobs["resetter"] = {**DATA["reset"], **DATA["jobs"], "rate_iops": f",,{rate}"}
    if rate := load.get("written_bytes_per_s"):
        jobs["writer"] = {**DATA["write"], **DATA["jobs"], "rate": f",{rate}"}
    lines = ["[global]", "time_based", f"runtime={round(seconds * 1e6)}us", "ramp_time=100ms"]
    for name, options in jobs.items():
        lines += [f"[{name}]", *(f"{option}={value}" for option, value in options.items())]
    return "\n".join(lines) + "\n"


planned = sized(DATA, Plan)


def simulate(bench: Bench, plan: Plan) -> Runs:
    """Simulate every load with each arm that matters to it, with the same arrivals of a seed."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        jobs = {
            Spot(name, arm, seed): _job(Path(folder), name, arm, seed, plan)
            for name, load in LOADS.items()
            for arm in load["arms"]
            for seed in plan.seeds
        }
        return bench.texts("zones", jobs)


def _job(folder: Path, name: str, arm: str, seed: int, plan: Plan) -> Job:
    path = folder / f"{name}.fio"
    path.write_text(job_file(LOADS[name], plan.reads), encoding="utf-8")
    programs, erases = DATA["arms"][arm]
    scenario = {
        "device": DATA["device"],
        "seed": seed,
        "suspension": {"program": "iteration" if programs else "none", "erase": erases},
        "workload": {"fio": str(path)},
    }
    return Job(Setup(scenario, {}), measure=_measure, measured_as="zones")


def _measure(result: rp.Result) -> str:
    """Return the latencies of each job, and counts of the flash and of the zones."""
    summary = result.summary
    kept = {name: summary[name] for name in ("flash", "zones", "device")}
    return json.dumps({"flows": summary["flows"], **kept})
