"""Latencies of several runs as if they were of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reprieve.latency import Latency

if TYPE_CHECKING:
    import pyarrow as pa


class Merger:
    """Adds up latencies bucket by bucket, so that nothing is lost but what each had lost."""

    def __init__(self) -> None:
        self._upper_ns = np.empty(0, np.int64)
        self._count = np.empty(0, np.int64)
        self._sum_ns = 0.0
        self._extremes: list[int] = []

    def add(self, latency: Latency) -> None:
        """Take in the latencies of another run."""
        if not latency.requests:
            return
        upper_ns = np.concatenate([self._upper_ns, latency.upper_ns])
        count = np.concatenate([self._count, latency.count])
        # The buckets of all runs are the same, so that equal ends are equal buckets.
        self._upper_ns, place = np.unique(upper_ns, return_inverse=True)
        self._count = np.zeros(len(self._upper_ns), np.int64)
        np.add.at(self._count, place, count)
        self._sum_ns += latency.mean * latency.requests
        found = [*self._extremes, latency.min, latency.max]
        self._extremes = [min(found), max(found)]

    def latency(self) -> Latency:
        """Return the latencies of all runs as if they were of one."""
        if not self._extremes:
            return Latency(self._upper_ns, self._count, 0.0, 0, 0)
        mean = self._sum_ns / int(self._count.sum())
        return Latency(self._upper_ns, self._count, mean, *self._extremes)


def merge_rows(runs: pa.Table, what: str) -> Latency:
    """Merge the histograms of rows of the data set."""
    merger = Merger()
    figures = [f"{what}_latency_ns_{name}" for name in ("mean", "min", "max")]
    for row in runs.select([f"{what}_histogram", *figures]).to_pylist():
        upper_ns, count = (
            np.array([bucket[side] for bucket in row[f"{what}_histogram"]], np.int64)
            for side in ("upper_ns", "count")
        )
        if len(count):
            merger.add(Latency(upper_ns, count, *(row[name] for name in figures)))
    return merger.latency()
