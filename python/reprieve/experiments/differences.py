"""Differences of a sweep's points from the first: pairs of batches, seed by seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprieve._native import Table
from reprieve.experiments.store import Store
from reprieve.pairs import paired
from reprieve.tables import Column, of_columns

_KINDS: Mapping[str, type] = {
    "point": int,
    "base": int,
    "measure": str,
    "mean_difference": float,
    "low": float,
    "high": float,
    "decided": bool,
    "ratio": float,
    "ratio_low": float,
    "ratio_high": float,
    "units": str,
    "count": int,
    "reason": str,
}


def differences_table(store: Store, points: Sequence[tuple[int, Sequence[str]]]) -> Table:
    """Return a row for each measure of each point against the first.

    `points`: the number of each, and its runs in the order of the seeds.
    """
    rows = list(_against_the_first(store, points))
    return of_columns(
        {name: Column.of([row.get(name) for row in rows], kind) for name, kind in _KINDS.items()}
    )


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
