"""What the points of a sweep have more than the first: pairs of batches, seed by seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from reprieve.pairs import paired
from reprieve.sweeps.store import Store

SCHEMA = pa.schema(
    [
        ("point", pa.int64()),
        ("base", pa.int64()),
        ("measure", pa.string()),
        ("mean_difference", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("decided", pa.bool_()),
        ("ratio", pa.float64()),
        ("ratio_low", pa.float64()),
        ("ratio_high", pa.float64()),
        ("units", pa.string()),
        ("count", pa.int64()),
        ("reason", pa.string()),
    ]
)


def differences_table(store: Store, points: Sequence[tuple[int, Sequence[str]]]) -> pa.Table:
    """Return a row for each measure of each point against the first.

    `points`: the number of each, and its runs in the order of the seeds.
    """
    return pa.Table.from_pylist(list(_against_the_first(store, points)), SCHEMA)


def _against_the_first(
    store: Store, points: Sequence[tuple[int, Sequence[str]]]
) -> Iterator[dict[str, Any]]:
    if not points:
        return
    first, runs = points[0]
    base = [store.read(run) for run in runs]
    for point, runs in points[1:]:
        for measure, pair in paired([store.read(run) for run in runs], base).items():
            yield {"point": point, "base": first, "measure": measure} | pair
