"""The benches' die on the rig: Poisson reads and programs that always wait, without a drive."""

from __future__ import annotations

from typing import Any

import numpy as np

import reprieve as rp
from reprieve.die_rig import rig_columns
from reprieve_studies.deadline.benches import Bench
from reprieve_studies.deadline.families import Keys
from reprieve_studies.deadline.measures import Measured, measured

_NS = 1000
_BLOCKS = 64
_SECTIONS = ("timing", "suspension", "scheduling", "geometry")


def measure_on_rig(bench: Bench, keys: Keys, seed: int) -> Measured:
    """Drive one die with the load of a bench and measure what `measure` does of a drive.

    Reads are of blocks that are not being programmed; the programs all wait from the start on.
    """
    reads = int(bench.scenario["flow"]["reads"]["requests"])
    random = np.random.default_rng(seed)
    gaps_us = random.exponential(1e6 / bench.rate, reads)
    at_ns = np.cumsum(np.rint(gaps_us * _NS)).astype(np.int64)
    pages = 64
    programs = int(at_ns[-1] / _NS / bench.program_us)
    blocks = _BLOCKS + programs // pages + 1
    number = np.arange(programs)
    none = np.zeros(reads, np.int64)
    commands = {
        "arrival_ns": np.concatenate([np.zeros(programs, np.int64), at_ns]),
        "op": np.array(["program"] * programs + ["read"] * reads),
        "plane": np.concatenate([number * 0, none]),
        "block": np.concatenate([_BLOCKS + number // pages, none]),
        "page": np.concatenate([number % pages, none]),
    }
    sections: dict[str, Any] = {
        name: dict(part) for name, part in bench.scenario.items() if name in _SECTIONS
    }
    sections["geometry"] |= {"blocks_per_plane": blocks, "pages_per_block": pages}
    scenario = rp.Scenario(**{"device": bench.scenario["device"], **sections})
    rows = rig_columns(scenario, commands, **dict(keys))
    is_read = rows["op"] == "read"
    suspensions = rows["suspensions"][~is_read]
    return measured(
        bench,
        (is_read, ~is_read),
        (rows["arrival_ns"], rows["completion_ns"]),
        suspensions=float(suspensions.sum()),
        suspensions_of_most=float((suspensions > 0).mean()),
    )
