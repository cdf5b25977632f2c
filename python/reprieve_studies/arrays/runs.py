"""The runs of the study: a load, a technique of the array, what its drives suspend, and a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import reprieve as rp
from reprieve.experiments.identity import digest, run_id
from reprieve.parallel import Watch
from reprieve.scenario import Source
from reprieve_studies.frame import read
from reprieve_studies.loads import real
from reprieve_studies.paper import sized
from reprieve_studies.runs import Bench

DATA = read(Path(__file__).with_name("study.toml"))
LOADS: Mapping[str, Mapping[str, Any]] = DATA["load"]
PERCENTILES = ("p50", "p95", "p99", "p99_9", "p99_99")


@dataclass(frozen=True)
class Plan:
    """Requests of a run, its seeds, and its loads."""

    requests: int
    seeds: Sequence[int]
    loads: Sequence[str]


class Spot(NamedTuple):
    """A run."""

    load: str
    technique: str
    arm: str
    seed: int


Runs = Mapping[Spot, Mapping[str, Any]]
"""Figures that are kept of each run, times in µs."""


def arms(load: str) -> Sequence[str]:
    """Return what the drives of a load suspend."""
    found: Sequence[str] = LOADS[load].get("arms", tuple(DATA["arms"]))
    return found


def techniques(load: str) -> Sequence[str]:
    """Return how the arrays of a load serve reads."""
    found: Sequence[str] = LOADS[load].get("techniques", DATA["usual"])
    return found


planned = sized(DATA, Plan)


def simulate(bench: Bench, plan: Plan) -> Runs:
    """Simulate every load with each technique and arm, with the same arrivals of a seed."""
    spots = [
        Spot(load, technique, arm, seed)
        for load in plan.loads
        for seed in plan.seeds
        for arm in arms(load)
        for technique in techniques(load)
    ]
    return bench.once("arrays", {spot: _work(spot, plan) for spot in spots})


def _work(spot: Spot, plan: Plan) -> tuple[str, Any]:
    scenario = {"seed": spot.seed, **DATA["drive"], **DATA["arms"][spot.arm]}
    scenario |= LOADS[spot.load].get("drive", {})
    run_in = {**DATA["precondition"], **LOADS[spot.load]["precondition"]}
    scenario |= {f"precondition.load.{key}": value for key, value in run_in.items()}
    scenario |= {f"workload.{key}": value for key, value in _load(spot.load, plan).items()}
    source = Source.of({}, scenario)
    options = {name: DATA[name] for name in ("drives", "parity", "chunk_bytes")}
    options |= DATA["techniques"][spot.technique]
    identity = digest(run_id(source.resolve()), repr(sorted(options.items())))
    return identity, partial(_run, source, options)


def _load(name: str, plan: Plan) -> dict[str, Any]:
    load = {
        key: value
        for key, value in LOADS[name].items()
        if key not in {"title", "real", "precondition", "drive", "arms", "techniques"}
    }
    if "real" in LOADS[name]:
        [found] = [each for each in real() if each.trace == LOADS[name]["real"]]
        return {**load, **found.workload, "max_requests": plan.requests}
    return load | {"generator": "mixed", "arrivals": "poisson", "requests": plan.requests}


def _run(source: Source, options: Mapping[str, Any], _watch: Watch) -> dict[str, Any]:
    array = rp.Array(source, **options, threads=1, load=True)
    rows = array.run()
    summary = array.summary()
    read, write = (summary["requests"][op]["latency_ns"] for op in ("read", "write"))
    ends, begins = rows.array("completion_ns"), rows.array("arrival_ns")
    is_write = rows.array("write")
    written_s = (ends[is_write].max() - begins.min()) / 1e9
    flash = [drive["flash"] for drive in summary["drives"]]
    return {
        **{f"read_{name}": read[name] / 1e3 for name in PERCENTILES},
        "write_mean": write["mean"] / 1e3,
        "write_p99": write["p99"] / 1e3,
        "written_bytes_per_s": float(rows.array("bytes")[is_write].sum() / written_s),
        "gc_programs": sum(one["gc_programs"] for one in flash),
        "host_programs": sum(one["host_programs"] for one in flash),
        "erases": sum(one["erases"] for one in flash),
        "drive_reads": summary["drive_reads"],
        "reads": summary["requests"]["read"]["count"],
    }
