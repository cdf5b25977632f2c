"""Measures of a bench's run: late reads, tail, suspensions, writes and energy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reprieve as rp
from reprieve_studies.deadline.benches import Bench
from reprieve_studies.runs import Job, Setup

Array = NDArray[Any]

_NS = 1000
_WARM_UP_SHARE = 0.05
"""Of the reads: the first, whose lateness does not count."""
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
    energy_j: float
    """Of the flash; NaN for a part without published power."""


def job(bench: Bench, keys: Mapping[str, Any], settled: Setup | None = None) -> Job:
    """Return the run of a bench with these keys over its scenario."""
    return Job(Setup(bench.scenario, keys), settled, partial(_measure, bench),
               f"deadline at {bench.slo_us}", {"requests": True})  # fmt: skip


def _measure(bench: Bench, result: rp.Result) -> str:
    log, flash = result.requests, result.summary["flash"]
    ops = log["op"].to_numpy(zero_copy_only=False)
    suspended = sum(each["count"] for each in flash["suspended_operations"].values())
    power = result.summary.get("power")
    found = measured(
        bench,
        (ops == "read", ops == "write"),
        (log["arrival_ns"].to_numpy(), log["completion_ns"].to_numpy()),
        suspensions=sum(flash["suspensions"].values()),
        suspensions_of_most=suspended / max(flash["programs"] + flash["erases"], 1),
        size_bytes=log["bytes"].to_numpy(),
        energy_j=float("nan") if power is None else float(power["energy_uj"]["total"]) / 1e6,
    )
    return json.dumps(asdict(found))


def measured(
    bench: Bench,
    kinds: tuple[Array, Array],
    times_ns: tuple[Array, Array],
    *,
    suspensions: float,
    suspensions_of_most: float,
    size_bytes: Array | float = float("nan"),
    energy_j: float = float("nan"),
) -> Measured:
    """Return what requests came to: which are reads and which writes, arrivals and completions."""
    is_read, is_write = kinds
    began, ended = (times.astype(np.int64) for times in times_ns)
    took_us = (ended - began) / _NS
    reads_us = took_us[is_read]
    reads_us = reads_us[int(_WARM_UP_SHARE * len(reads_us)) :]
    last_ns = int(ended[is_read].max())
    seconds = last_ns / 1e9
    written = is_write & (ended <= last_ns)
    late = reads_us > bench.slo_us
    return Measured(
        late_share=float(late.mean()),
        late_reads=float(late.sum()),
        p99_9_us=float(np.percentile(reads_us, _TAIL)),
        suspensions_per_s=suspensions / seconds,
        suspensions=float(suspensions),
        suspensions_of_most=suspensions_of_most,
        writes_per_s=float(written.sum()) / seconds,
        write_mean_us=float(took_us[is_write].mean()) if is_write.any() else float("nan"),
        write_bytes_per_s=float((written * size_bytes).sum()) / seconds,
        energy_j=energy_j,
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
