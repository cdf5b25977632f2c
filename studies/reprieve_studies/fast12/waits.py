"""Each load by itself: what its reads wait for, and so why a sentence holds under it or not.

`python -m reprieve_studies.fast12.waits` prints all of it as JSON. The drive is the paper's
simulator, idle for the paper's share of the time under FIFO.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from reprieve import Result
from reprieve.cli.console import say
from reprieve.parallel import Watch, Workshop
from reprieve_studies.compress import compress
from reprieve_studies.fast12 import bounds, loads
from reprieve_studies.fast12.alternatives import SIMULATOR
from reprieve_studies.fast12.loads import CALIBRATED, COUPLED
from reprieve_studies.fast12.measures import (
    POLICIES,
    mean_ns,
    suspended_count,
    suspended_increase,
)
from reprieve_studies.fast12.paper import DEVICES, IDLE_SHARE, QUEUE_COMPRESSION, QUEUE_LIMITS
from reprieve_studies.loads import Load
from reprieve_studies.runs import Setup
from reprieve_studies.study import Settings
from reprieve_studies.verdicts import finite

REQUESTS = 30_000
SEEDS = (1, 2, 3)
SETS = (CALIBRATED, COUPLED)
_SCALE = "workload.time_scale"
_ASKED = ("FIFO", "RPS")
"""Policies of which the log tells what a read waited for."""
_PROGRAMS = ("by_host_program_ns", "by_gc_program_ns", "by_erase_ns", "by_same_block_ns")
_READS = ("by_host_read_ns", "by_gc_read_ns")
_QUEUED = "F2"
"""The trace of Figure 7."""


class Draw(NamedTuple):
    """A load drawn once."""

    of: str
    device: str
    load: str
    seed: int


@dataclass(frozen=True)
class Plan:
    """What is run."""

    requests: int = REQUESTS
    seeds: Sequence[int] = SEEDS


def run(plan: Plan, workshop: Workshop) -> dict[str, Any]:
    """Run all of it, and return the means over the seeds."""
    sets = {of: loads.papers({}, of) for of in SETS}
    draws = {
        Draw(of, device, load.trace, seed): load
        for of, each in sets.items()
        for device in DEVICES
        for load in each
        for seed in plan.seeds
    }

    def one(draw: Draw, watch: Watch) -> dict[str, float]:
        return _measure(plan, draw, draws[draw], watch)

    found = dict(zip(draws, workshop.each("each load by itself", list(draws), one), strict=True))
    by_set: dict[str, Any] = {}
    for of, each in sets.items():
        by_set[of] = {
            device: {
                load.trace: _mean(found[Draw(of, device, load.trace, one)] for one in plan.seeds)
                for load in each
            }
            for device in DEVICES
        }
    return {
        "requests": plan.requests,
        "seeds": list(plan.seeds),
        "loads": by_set,
        "bounds": bounds.numbers(),
    }


def _mean(rows: Any) -> dict[str, float]:
    every = list(rows)
    return {name: fmean(row[name] for row in every) for name in every[0]}


def _measure(plan: Plan, draw: Draw, load: Load, watch: Watch) -> dict[str, float]:
    drive = load.setup(DEVICES[draw.device], plan.requests, draw.seed)
    drive = drive.with_overrides(SIMULATOR.overrides)
    scale = compress(drive.with_overrides({"policy": "fifo"}), IDLE_SHARE, watch).time_scale
    setup = drive.with_overrides({_SCALE: scale})
    results = {name: _run(setup, name, watch) for name in POLICIES if name != "PER"}
    fifo = results["FIFO"]
    found = {
        "fifo_read_us": mean_ns(fifo, "read") / 1e3,
        "pe0_read_us": mean_ns(results["PE0"], "read") / 1e3,
        **behind(fifo),
    }
    for name, result in results.items():
        if name != "FIFO":
            key = name.lower()
            found[f"{key}_percent"] = 100 * mean_ns(result, "read") / mean_ns(fifo, "read")
            more = mean_ns(result, "write") / mean_ns(fifo, "write") - 1
            found[f"{key}_writes_percent"] = 100 * more
    hit = _hits(results["RPS"])
    ipc = results["PES_IPC"]
    count = suspended_count(ipc)
    suspensions = sum(ipc.summary["flash"]["suspensions"].values())
    return {
        **found,
        "hit_percent": 100 * hit[0],
        "hit_us": hit[1],
        "suspensions_each": suspensions / count if count else 0.0,
        "increase_percent": 100 * suspended_increase(ipc),
        **(_queue(setup, scale, watch) if draw.load == _QUEUED and draw.of == CALIBRATED else {}),
    }


def _run(setup: Setup, policy: str, watch: Watch) -> Result:
    own = setup.with_overrides({"policy": POLICIES[policy]})
    return own.simulate(watch, requests=policy in _ASKED)


def behind(result: Result) -> dict[str, float]:
    """Return the parts of the time of reads: behind programs, behind reads, and all else."""
    blame: Mapping[str, int] = result.summary["blame"]["read"]["all"]
    whole = blame["latency_ns"]
    programs, reads = (sum(blame[name] for name in names) for names in (_PROGRAMS, _READS))
    waits = sum(value for name, value in blame.items() if name.startswith("by_"))
    return {
        "behind_programs_percent": 100 * programs / whole,
        "behind_reads_percent": 100 * reads / whole,
        "behind_else_percent": 100 * (waits - programs - reads) / whole,
        "own_percent": 100 * (whole - waits) / whole,
    }


def _hits(result: Result) -> tuple[float, float]:
    """Return the share of reads that wait for programs, and how long those do on average, in µs."""
    is_read = result.column("op") == "read"
    waits = np.sum([result.column(name) for name in _PROGRAMS], axis=0)[is_read]
    waiting = waits[waits > 0]
    if not len(waits):
        return 0.0, 0.0
    return len(waiting) / len(waits), float(waiting.mean()) / 1e3 if len(waiting) else 0.0


def _queue(setup: Setup, scale: float, watch: Watch) -> dict[str, float]:
    """Return of Figure 7 what PES_IPC adds to RPS, and how many operations it suspends."""
    found = {}
    for limit in QUEUE_LIMITS:
        limited = setup.with_overrides(
            {
                _SCALE: scale / QUEUE_COMPRESSION,
                **SIMULATOR.queue,
                "scheduling.write_queue_limit": limit,
            }
        )
        fifo, rps, ipc = (
            limited.with_overrides({"policy": POLICIES[name]}).simulate(watch)
            for name in ("FIFO", "RPS", "PES_IPC")
        )
        base = mean_ns(fifo, "write")
        found[f"queue_{limit}_rps_percent"] = 100 * mean_ns(rps, "write") / base
        found[f"queue_{limit}_ipc_percent"] = 100 * mean_ns(ipc, "write") / base
        flash = ipc.summary["flash"]
        suspended = sum(flash["suspensions"].values())
        found[f"queue_{limit}_suspensions"] = suspended / flash["programs"]
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    given = parser.parse_args(arguments)
    found = run(Plan(given.requests), Settings().workshop(0))
    say(json.dumps(finite(found), indent=1))


if __name__ == "__main__":
    main()
