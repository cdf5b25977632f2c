"""One scenario over many traces or volumes: what their drives come to together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprieve import tables
from reprieve.experiments.columns import column
from reprieve.experiments.dataset import Row
from reprieve.experiments.designs import word
from reprieve.experiments.plan import Plan
from reprieve.experiments.store import Store
from reprieve.latency import KINDS, Latency
from reprieve.outputs import ResultDirectory

if TYPE_CHECKING:
    import pyarrow as pa

FLEET = "fleet.parquet"

_PERCENTILES = {
    "p50": 50.0,
    "p95": 95.0,
    "p99": 99.0,
    "p99_9": 99.9,
    "p99_99": 99.99,
    "p99_999": 99.999,
}


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


def write(plan: Plan, store: Store, rows: Sequence[Row], directory: Path) -> Path:
    """Write a row for each combination of the axes: all its traces or volumes as one drive."""
    names = [column(key) for key in plan.keys[:-1]]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        values = tuple(map(word, plan.keys[:-1], row.point.values[:-1]))
        groups.setdefault(values, []).append(row)
    made = []
    for values, members in groups.items():
        found = dict(zip(names, values, strict=True)) | {"runs": len(members)}
        made.append(found | _together(store, members))
    with ResultDirectory(directory) as out:
        tables.write(tables.of_rows(made), out.open(FLEET))
        return out.commit()[0]


def _together(store: Store, rows: Sequence[Row]) -> dict[str, Any]:
    mergers = {what: Merger() for what in KINDS}
    for row in rows:
        if store.has_failed(row.run):
            continue
        for what, latency in store.read(row.run).latencies().items():
            mergers[what].add(latency)
    found: dict[str, Any] = {}
    for what, merger in mergers.items():
        latency = merger.latency()
        figures: dict[str, float | int] = {"mean": latency.mean, "min": latency.min}
        figures |= {name: latency.percentile(share) for name, share in _PERCENTILES.items()}
        figures["max"] = latency.max
        found[f"{what}_count"] = latency.requests
        for name, value in figures.items():
            found[f"{what}_latency_ns_{name}"] = value if latency.requests else None
    return found


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
