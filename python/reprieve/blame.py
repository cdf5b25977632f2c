"""Causes of waiting, of all requests of a run and of the slowest, from the request log."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve._native import Table
from reprieve.request_log import CAUSES

KINDS = ("read", "write")
"""Kinds of requests that are covered."""

SHARES: Mapping[str, float] = {
    "all": 1.0,
    "slowest_1": 0.01,
    "slowest_0_1": 0.001,
    "slowest_0_01": 0.0001,
}
"""Parts of the requests, and what share of them each is: the number in the name is in percent."""

COLUMNS = ("id", "op", "arrival_ns", "completion_ns", *CAUSES)
"""Columns of the log that are read."""

Rows = NDArray[np.int64]
"""A row a request: latency, number, and time waited by cause."""


def section(parts: Iterable[Table], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return `blame` of the summary from the log; `counts`: how many of each kind there are.

    Memory is bounded by the slowest hundredth.
    """
    wholes = {kind: np.zeros(1 + len(CAUSES), np.int64) for kind in KINDS}
    slowest = {kind: np.zeros((0, 2 + len(CAUSES)), np.int64) for kind in KINDS}
    for part in parts:
        latency_ns = part.array("completion_ns") - part.array("arrival_ns")
        columns = [latency_ns, *(part.array(name) for name in ("id", *CAUSES))]
        of_all = np.stack(columns, axis=1)
        for kind in KINDS:
            rows = of_all[_of(part, kind)]
            wholes[kind] += np.delete(rows, 1, axis=1).sum(axis=0)
            both = np.concatenate([slowest[kind], rows])
            # The slowest first; of equals those that arrived first.
            order = np.lexsort((both[:, 1], -both[:, 0]))
            slowest[kind] = both[order[: requests_of(counts[kind], SHARES["slowest_1"])]]
    return {kind: _told(counts[kind], wholes[kind], slowest[kind]) for kind in KINDS}


def requests_of(count: int, share: float) -> int:
    """Return how many requests a share of them is: at least one, if there is any."""
    # A product that float rounding lifts a hair above a whole number must not move to the next.
    return math.ceil(round(count * share, 6))


def slowest(parts: Iterable[Table], kind: str, count: int) -> Table:
    """Return the slowest requests of a kind with all columns, the slowest first."""
    found: Table | None = None
    for part in parts:
        mine = part.take(_of(part, kind))
        both = mine if found is None else Table.joined([found, mine])
        latency_ns = both.array("completion_ns") - both.array("arrival_ns")
        order = np.lexsort((both.array("id"), -latency_ns))
        found = both.take(order[:count])
    if found is None:
        raise ValueError("it has no rows")
    return found


def _of(part: Table, kind: str) -> NDArray[np.int64]:
    return np.flatnonzero(part.is_word("op", kind))


def _told(count: int, whole: Rows, rows: Rows) -> dict[str, Any]:
    told = {}
    for name, share in SHARES.items():
        requests = requests_of(count, share)
        sums = whole if name == "all" else np.delete(rows[:requests], 1, axis=1).sum(axis=0)
        told[name] = {"requests": requests, "latency_ns": int(sums[0])} | {
            cause: int(ns) for cause, ns in zip(CAUSES, sums[1:], strict=True)
        }
    return told
