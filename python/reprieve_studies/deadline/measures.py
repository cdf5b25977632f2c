"""Measures of a bench's run: late reads, tail, suspensions, writes and energy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from math import nan
from statistics import fmean

import numpy as np

import reprieve as rp
from reprieve.die_rig import rig_columns
from reprieve.parallel import Watch
from reprieve_studies.deadline.benches import DATA, Bench
from reprieve_studies.deadline.families import PRICE, Keys
from reprieve_studies.logged import Log
from reprieve_studies.runs import Job, Setup
from reprieve_studies.theory.suspension_bound import FromRelaxation

_NS = 1000
_WARM_UP_SHARE = 0.05
"""Of the reads: the first, whose lateness does not count."""
_BLOCKS, _PAGES = 64, 64
"""Blocks of the rig's die that reads fall into, and the pages of a block."""


@dataclass(frozen=True)
class Measured:
    """Results of a policy; rates are over the time until the last read completes."""

    late_share: float
    p99_9_us: float
    suspensions_per_s: float
    suspensions: float
    suspensions_of_most: float
    """The share of programs and erases that were suspended at all: what wears a block."""
    writes_per_s: float
    write_mean_us: float
    write_bytes_per_s: float
    energy_j: float = nan
    """Of the flash; NaN for a part without published power."""


def job(
    bench: Bench, keys: Keys, seed: int, heavier: float = 1.0, *, with_power: bool = False
) -> Job:
    """Return a run; a drive is brought to its steady state once a seed."""
    own = None
    if bench.die and PRICE in keys:
        own, keys = FromRelaxation(bench.die, DATA["relaxation"]["step_us"], keys[PRICE]), {}
    sets = {**keys, **bench.overrides(seed, heavier)}
    if with_power and bench.has_power and heavier == 1:
        # Phase by phase, which takes several times as long: not in the search.
        sets["power.account"] = "on"
    settled = None if bench.die else Setup(bench.scenario, bench.overrides(seed, 1.0))

    def measure(result: rp.Result) -> str:
        return json.dumps(asdict(of_result(bench.slo_us, result)))

    name = f"deadlines at {bench.slo_us}{own or ''}"
    options = {"requests": True, "suspension_policy": own}
    return Job(Setup(bench.scenario, sets), settled, measure, name, options)


def of_result(slo_us: float, result: rp.Result) -> Measured:
    """Measure a run whose requests were logged."""
    flash, power = result.summary["flash"], result.summary.get("power")
    suspended = sum(each["count"] for each in flash["suspended_operations"].values())
    most = suspended / max(flash["programs"] + flash["erases"], 1)
    found = _measured(slo_us, Log.of(result), sum(flash["suspensions"].values()), most)
    return found if power is None else replace(found, energy_j=power["energy_uj"]["total"] / 1e6)


def of_rig(bench: Bench, keys: Keys, seed: int, _watch: Watch) -> dict[str, float]:
    """Drive one die with the load of a bench, and measure it as a drive is measured.

    Reads are of blocks that are not being programmed; the programs all wait from the start on.
    """
    reads = int(bench.scenario["flow"]["reads"]["requests"])
    gaps_us = np.random.default_rng(seed).exponential(1e6 / bench.rate, reads)
    at_ns = np.cumsum(np.rint(gaps_us * _NS)).astype(np.int64)
    programs = int(at_ns[-1] / _NS / bench.program_us)
    op = np.repeat(["program", "read"], [programs, reads])
    number = np.where(op == "program", np.arange(len(op)), 0)
    commands = {
        "arrival_ns": np.concatenate([np.zeros(programs, np.int64), at_ns]),
        "op": op,
        "plane": number * 0,
        "block": np.where(op == "program", _BLOCKS + number // _PAGES, 0),
        "page": number % _PAGES,
    }
    sections = ("device", "timing", "suspension", "scheduling", "geometry")
    own = rp.Scenario(**{name: bench.scenario[name] for name in sections})
    blocks = _BLOCKS + programs // _PAGES + 1
    scenario = own.replace(geometry__blocks_per_plane=blocks, geometry__pages_per_block=_PAGES)
    rows = rig_columns(scenario, commands, **keys)
    suspensions = rows["suspensions"][rows["op"] == "program"]
    ops = np.where(rows["op"] == "program", "write", rows["op"])
    log = Log(ops, *(rows[name].astype(np.int64) for name in ("arrival_ns", "completion_ns")))
    return asdict(_measured(bench.slo_us, log, suspensions.sum(), (suspensions > 0).mean()))


def _measured(slo_us: float, log: Log, suspensions: float, suspensions_of_most: float) -> Measured:
    is_read, is_write = (log.ops == op for op in ("read", "write"))
    took_us, ended = log.latency_us, log.completion_ns
    reads_us = took_us[is_read]
    reads_us = reads_us[int(_WARM_UP_SHARE * len(reads_us)) :]
    last_ns = int(ended[is_read].max())
    written = is_write & (ended <= last_ns)
    seconds, sizes = last_ns / 1e9, nan if log.size_bytes is None else log.size_bytes
    found = {
        "late_share": (reads_us > slo_us).mean(),
        "p99_9_us": np.percentile(reads_us, 99.9),
        "suspensions_per_s": suspensions / seconds,
        "suspensions": suspensions,
        "suspensions_of_most": suspensions_of_most,
        "writes_per_s": written.sum() / seconds,
        "write_mean_us": took_us[is_write].mean() if is_write.any() else nan,
        "write_bytes_per_s": (written * sizes).sum() / seconds,
    }
    return Measured(**{name: float(value) for name, value in found.items()})


def cost(bench: Bench, one: Measured) -> float:
    """Return what is to be least on a bench."""
    return one.p99_9_us if bench.aim == "tail" else one.suspensions_per_s


def mean(measured: Sequence[Measured]) -> Measured:
    """Return the mean over seeds, field by field."""
    return Measured(*map(fmean, zip(*map(astuple, measured), strict=True)))
