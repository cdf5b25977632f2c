"""What is kept of a run: latencies of the requests after its beginning, and counts of the flash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import Result
from reprieve_studies.mbm.paper import HIGH_PERCENTILES, METHOD_PERCENTILES

WARM_UP_SHARE = 0.3
"""Of the requests, the first, that count in no latency: a preconditioned drive has no more free
blocks than it must have, so that its first writes wait for collection, and never again so long."""

SAMPLES_MIN = 10
"""Beyond a percentile, so that it is one."""

PERCENTILES = tuple(sorted({94.0, *METHOD_PERCENTILES, *HIGH_PERCENTILES}))
OPS = ("read", "write")


def warm_up_requests(requests: int) -> int:
    """Return how many of them do not count."""
    return int(WARM_UP_SHARE * requests)


@dataclass(frozen=True)
class Latencies:
    """Of reads, of writes or of both."""

    requests: int
    mean_us: float
    """Not a number if there were none."""
    percentiles_us: Mapping[float, float | None]
    """None where fewer than ten requests are beyond it."""


@dataclass(frozen=True)
class Measured:
    """A run."""

    latencies: Mapping[str, Latencies]
    """By "read", "write" and "total"."""
    mb_per_s: float
    """Bytes of the requests that count, from the first arrival to the last completion."""
    erases: int
    """Of blocks, one of each plane; from the first request on, as the next, but in Figure 11."""
    gc_waf: float
    die_busy_percent: float
    suspended_percent: float
    """Of programs, those that were suspended at least once."""
    joint_percent: float
    """Of multi-plane commands in the operations of the flash: programs."""
    anew_percent: float
    """Of pages that redistribution writes anew, in those that the host has written."""

    def row(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Measured:
        """Return what a row is of; the names of JSON are words, those of percentiles numbers."""
        latencies = {
            op: Latencies(
                one["requests"],
                one["mean_us"],
                {float(percent): value for percent, value in one["percentiles_us"].items()},
            )
            for op, one in row["latencies"].items()
        }
        return cls(**{**row, "latencies": latencies})

    def mean_us(self, op: str = "total") -> float:
        """Return a mean latency."""
        return self.latencies[op].mean_us

    def percentile_us(self, op: str, percent: float) -> float | None:
        """Return a percentile, or None where it would rest on too few."""
        return self.latencies[op].percentiles_us[percent]


def measured(result: Result) -> Measured:
    """Reduce a run whose requests were logged."""
    log = result.requests
    arrival, completion, size = (
        log[name].to_numpy() for name in ("arrival_ns", "completion_ns", "bytes")
    )
    ops = np.asarray(log["op"].combine_chunks().dictionary_decode())
    kept = np.argsort(arrival, kind="stable")[warm_up_requests(len(arrival)) :]
    arrival, completion, size, ops = arrival[kept], completion[kept], size[kept], ops[kept]
    latency_us = (completion - arrival) / 1e3
    by_op = {op: latencies(latency_us[ops == op]) for op in OPS}
    flash = result.summary["flash"]
    return Measured(
        {**by_op, "total": latencies(latency_us)},
        1e3 * float(size.sum()) / float(completion.max() - arrival.min()),
        int(flash["erases"]),
        float(flash["gc_waf"] or 0),
        100 * float(result.summary["device"]["die_busy_share"]),
        100 * float(flash["suspended_share"]["program"]),
        _joint_percent(flash["programs"], flash["multi_plane_commands"]["program"]),
        _anew_percent(flash["host_programs"], result.summary["device"]),
    )


def _joint_percent(programs: int, commands: int) -> float:
    """Return the share of pages that go in commands of two planes."""
    return 100 * 2 * commands / programs if programs else 0.0


def _anew_percent(host_programs: int, device: Mapping[str, Any]) -> float:
    """Return what redistribution adds to the programs of the host, among which they are counted."""
    anew: int = device.get("redistributed_pages", 0)
    return 100 * anew / (host_programs - anew) if anew else 0.0


def latencies(latency_us: NDArray[np.float64]) -> Latencies:
    """Return mean and percentiles, by rank: what so many of the requests do not exceed."""
    count = len(latency_us)
    ordered = np.sort(latency_us)
    found: dict[float, float | None] = {}
    for percent in PERCENTILES:
        beyond = round(count * (1 - percent / 100), 6)
        enough = beyond >= SAMPLES_MIN
        rank = int(np.ceil(count - beyond))
        found[percent] = float(ordered[rank - 1]) if enough else None
    return Latencies(count, float(ordered.mean()) if count else float("nan"), found)
