"""Logged requests of a run: their times without a warm-up, and percentiles that rest on enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import Result

Array = NDArray[Any]
BEYOND_MIN = 10
"""Requests beyond a percentile, so that it is one."""


@dataclass(frozen=True)
class Log:
    """Requests, one an index."""

    ops: Array
    arrival_ns: Array
    completion_ns: Array
    size_bytes: Array | None = None

    @classmethod
    def of(cls, result: Result) -> Log:
        """Return the log of a run."""
        log = result.requests
        ops = log["op"].to_numpy(zero_copy_only=False)
        arrival_ns, completion_ns, sizes = (
            log[name].to_numpy().astype(np.int64)
            for name in ("arrival_ns", "completion_ns", "bytes")
        )
        return cls(ops, arrival_ns, completion_ns, sizes)

    @property
    def latency_us(self) -> Array:
        """Return latencies."""
        return np.asarray((self.completion_ns - self.arrival_ns) / 1e3)

    def after(self, share: float) -> Log:
        """Return the requests that arrive after a share of all."""
        kept = np.argsort(self.arrival_ns, kind="stable")[int(share * len(self.arrival_ns)) :]
        sizes = None if self.size_bytes is None else self.size_bytes[kept]
        return Log(self.ops[kept], self.arrival_ns[kept], self.completion_ns[kept], sizes)

    def mb_per_s(self) -> float:
        """Return the rate of their bytes, from the first arrival to the last completion."""
        assert self.size_bytes is not None, "the log has sizes"
        taken_ns = float(self.completion_ns.max() - self.arrival_ns.min())
        return 1e3 * float(self.size_bytes.sum()) / taken_ns


@dataclass(frozen=True)
class Latencies:
    """Of some requests."""

    requests: int
    mean_us: float
    """Not a number if there were none."""
    percentiles_us: Mapping[str, float | None]
    """By per cent; None where fewer than `BEYOND_MIN` requests are beyond it."""


def latencies(latency_us: Array, percentiles: Sequence[float]) -> Latencies:
    """Return mean and percentiles, by rank: a share of the requests takes no longer."""
    count, ordered = len(latency_us), np.sort(latency_us)
    found: dict[str, float | None] = {}
    for percent in percentiles:
        beyond = round(count * (1 - percent / 100), 6)
        rank = ceil(count - beyond)
        found[str(percent)] = float(ordered[rank - 1]) if beyond >= BEYOND_MIN else None
    return Latencies(count, float(ordered.mean()) if count else nan, found)
