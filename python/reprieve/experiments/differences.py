"""Differences of a sweep's points from their bases: pairs of batches, seed by seed."""

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


def differences_table(
    store: Store, points: Mapping[int, Sequence[str]], bases: Mapping[int, int]
) -> Table:
    """Return a row for each measure of each point against its base.

    `points`: the runs of each in the order of the seeds. `bases`: the base of each.
    """
    rows = list(_differences(store, points, bases))
    return of_columns(
        {name: Column.of([row.get(name) for row in rows], kind) for name, kind in _KINDS.items()}
    )


def _differences(
    store: Store, points: Mapping[int, Sequence[str]], bases: Mapping[int, int]
) -> Iterator[dict[str, Any]]:
    held = -1
    for point, runs in points.items():
        if (base := bases[point]) == point:
            continue
        if base != held:
            held, other = base, [store.read(run) for run in points[base]]
        for measure, pair in paired([store.read(run) for run in runs], other).items():
            yield {"point": point, "base": base, "measure": measure} | pair
