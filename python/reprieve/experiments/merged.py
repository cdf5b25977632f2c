"""Latencies of several runs as if they were of one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from reprieve.latency import Latency

if TYPE_CHECKING:
    import pyarrow as pa


def merged(latencies: Iterable[Latency]) -> Latency:
    """Add up latencies bucket by bucket, so that nothing is lost but what each had lost."""
    found = [each for each in latencies if each.requests]
    if not found:
        return Latency(np.empty(0, np.int64), np.empty(0, np.int64), 0.0, 0, 0)
    # The buckets of all runs are the same, so that equal ends are equal buckets.
    upper_ns, place = np.unique(
        np.concatenate([each.upper_ns for each in found]), return_inverse=True
    )
    count = np.zeros(len(upper_ns), np.int64)
    np.add.at(count, place, np.concatenate([each.count for each in found]))
    mean = sum(each.mean * each.requests for each in found) / int(count.sum())
    ends = (min(each.min for each in found), max(each.max for each in found))
    return Latency(upper_ns, count, mean, *ends)


def merge_rows(runs: "pa.Table", what: str) -> Latency:
    """Merge the histograms of rows of the data set."""
    figures = [f"{what}_latency_ns_{name}" for name in ("mean", "min", "max")]
    latencies = []
    for row in runs.select([f"{what}_histogram", *figures]).to_pylist():
        upper_ns, count = (
            np.array([bucket[side] for bucket in row[f"{what}_histogram"]], np.int64)
            for side in ("upper_ns", "count")
        )
        latencies.append(Latency(upper_ns, count, *(row[name] for name in figures)))
    return merged(latencies)
