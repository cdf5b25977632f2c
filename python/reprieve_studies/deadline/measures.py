"""Measures of a bench's run: late reads, tail, suspensions, writes and energy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import nan
from statistics import fmean
from typing import Any

import numpy as np

import reprieve as rp
from reprieve.die_rig import rig_columns
from reprieve_studies.deadline.benches import Bench
from reprieve_studies.logged import Log
from reprieve_studies.runs import Job, Setup

_NS = 1000
_WARM_UP_SHARE = 0.05
"""Of the reads: the first, whose lateness does not count."""
_BLOCKS, _PAGES = 64, 64
"""Blocks of the rig's die that reads fall into, and the pages of a block."""
_OF_RIG = ("timing", "suspension", "scheduling", "geometry")
_TAIL = 99.9


@dataclass(frozen=True)
class Measured:
    """Results of a policy; rates are over the time until the last read completes."""

    late_share: float
    late_reads: float
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
    bench: Bench,
    keys: Mapping[str, Any],
    settled: Setup | None = None,
    policy: rp.SuspensionPolicy | None = None,
) -> Job:
    """Return the run of a bench with these keys over its scenario, or with a policy."""

    def measure(result: rp.Result) -> str:
        return json.dumps(asdict(of_result(bench.slo_us, result)))

    name = f"deadline at {bench.slo_us}{policy or ''}"
    options = {"requests": True, "suspension_policy": policy}
    return Job(Setup(bench.scenario, keys), settled, measure, name, options)


def of_result(slo_us: float, result: rp.Result) -> Measured:
    """Measure a run whose requests were logged."""
    flash, power = result.summary["flash"], result.summary.get("power")
    suspended = sum(each["count"] for each in flash["suspended_operations"].values())
    most = suspended / max(flash["programs"] + flash["erases"], 1)
    count = sum(flash["suspensions"].values())
    found = _measured(slo_us, Log.of(result), count, most)
    return found if power is None else replace(found, energy_j=power["energy_uj"]["total"] / 1e6)


def of_rig(bench: Bench, keys: Mapping[str, Any], seed: int) -> Measured:
    """Drive one die with the load of a bench, and measure it as a drive is measured.

    Reads are of blocks that are not being programmed; the programs all wait from the start on.
    """
    reads = int(bench.scenario["flow"]["reads"]["requests"])
    gaps_us = np.random.default_rng(seed).exponential(1e6 / bench.rate, reads)
    at_ns = np.cumsum(np.rint(gaps_us * _NS)).astype(np.int64)
    number = np.arange(int(at_ns[-1] / _NS / bench.program_us))
    none = np.zeros(reads, np.int64)
    commands = {
        "arrival_ns": np.concatenate([number * 0, at_ns]),
        "op": np.array(["program"] * len(number) + ["read"] * reads),
        "plane": np.concatenate([number * 0, none]),
        "block": np.concatenate([_BLOCKS + number // _PAGES, none]),
        "page": np.concatenate([number % _PAGES, none]),
    }
    sections = {name: dict(bench.scenario[name]) for name in _OF_RIG if name in bench.scenario}
    sections["geometry"] |= {
        "blocks_per_plane": _BLOCKS + len(number) // _PAGES + 1, "pages_per_block": _PAGES,
    }  # fmt: skip
    scenario = rp.Scenario(**{"device": bench.scenario["device"], **sections})
    rows = rig_columns(scenario, commands, **keys)
    suspensions = rows["suspensions"][rows["op"] == "program"]
    ops = np.where(rows["op"] == "program", "write", rows["op"])
    log = Log(ops, *(rows[name].astype(np.int64) for name in ("arrival_ns", "completion_ns")))
    most = float((suspensions > 0).mean())
    return _measured(bench.slo_us, log, float(suspensions.sum()), most)


def _measured(slo_us: float, log: Log, suspensions: float, suspensions_of_most: float) -> Measured:
    is_read, is_write = (log.ops == op for op in ("read", "write"))
    took_us, ended = log.latency_us, log.completion_ns
    reads_us = took_us[is_read]
    reads_us = reads_us[int(_WARM_UP_SHARE * len(reads_us)) :]
    last_ns = int(ended[is_read].max())
    seconds = last_ns / 1e9
    written = is_write & (ended <= last_ns)
    late = reads_us > slo_us
    return Measured(
        late_share=float(late.mean()),
        late_reads=float(late.sum()),
        p99_9_us=float(np.percentile(reads_us, _TAIL)),
        suspensions_per_s=suspensions / seconds,
        suspensions=float(suspensions),
        suspensions_of_most=suspensions_of_most,
        writes_per_s=float(written.sum()) / seconds,
        write_mean_us=float(took_us[is_write].mean()) if is_write.any() else nan,
        write_bytes_per_s=nan
        if log.size_bytes is None
        else float((written * log.size_bytes).sum()) / seconds,
    )


def cost(bench: Bench, one: Measured) -> float:
    """Return what is to be least on a bench."""
    return one.p99_9_us if bench.aim == "tail" else one.suspensions_per_s


def mean(measured: Sequence[Measured]) -> Measured:
    """Return the mean over seeds, field by field."""
    return Measured(
        **{
            each.name: fmean(getattr(one, each.name) for one in measured)
            for each in fields(Measured)
        }
    )
