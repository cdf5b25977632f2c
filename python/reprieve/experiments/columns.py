"""A summary as one flat row: which columns it has, and how they are named."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from reprieve.confidence import TOO_FEW, is_known
from reprieve.units import NOTHING, decimals

MEASURED = ("wall_s", "prepare_s", "page_transactions_per_s", "peak_rss_bytes")
"""Figures of the host machine that are kept beside the results of a run."""

_INTERVALS = {"mean", "p50", "p95", "p99", "p99_9", "p99_99", "p99_999"}
"""Fields of `confidence` that are intervals, or null where there are too few requests for one."""

_LEFT_OUT = {("schema",), ("run", "seed"), ("prepare", "load")}

_NS = re.compile(r"_ns(?=_|$)")

# `requests` is said by read, write and total; keys of a scenario begin with `workload` too, and
# both can be columns of one table.
_PREFIXES: dict[str, tuple[str, ...]] = {"requests": (), "workload": ("offered",)}


def flat(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return every number of a summary by the name of its column; None where there is none.

    Names of sections and fields are joined with underscores: `read_latency_ns_p99`,
    `flash_suspensions_program`. Without reads, their latencies are None and not 0.
    """
    row: dict[str, Any] = {}
    _fill(row, summary, ())
    return row


@lru_cache(maxsize=1 << 16)
def _name(path: tuple[str, ...]) -> str:
    return column("_".join((*_PREFIXES.get(path[0], (path[0],)), *path[1:])))


def column(name: str) -> str:
    """Return a name that SQL takes without quotes: `suspension.program` is suspension_program."""
    return re.sub(r"\W+", "_", name)


def told(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of latencies that a reader is shown.

    Mean, p99 and the farthest percentile, each if a row has the requests for it.
    """
    found = []
    for op in ("read", "write"):
        names = [f"{op}_latency_ns_{figure}" for figure in ("mean", "p99", "p99_9", "p99_99")]
        enough = [
            name
            for name in names
            if any(row.get(name) is not None and has_requests(row, name) for row in rows)
        ]
        found += enough[:2] + enough[2:][-1:]
    return found


def figures(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Write a column, all with the same decimals and with the intervals that there are.

    Latencies have one decimal of a microsecond, other numbers four digits; neither has more than
    its narrowest interval tells apart.
    """
    factor = scale(name)
    values = [row[name] for row in rows]
    if any(isinstance(value, bool | str) for value in values):
        return [NOTHING if value is None else str(value) for value in values]
    numbers = [None if value is None else factor * value for value in values]
    ends = [
        [factor * row[f"{name}_{end}"] for end in ("low", "high")]
        if row.get(f"{name}_high") is not None
        else None
        for row in rows
    ]
    widths = [both[1] - both[0] for both in ends if both is not None]
    known = [number for number in numbers if number is not None]
    digits = decimals(known, widths, most=None if factor == 1 else 1)
    cells = []
    enough = [has_requests(row, name) for row in rows]
    for number, both, is_enough in zip(numbers, ends, enough, strict=True):
        text = NOTHING if number is None else f"{number:,.{digits}f}"
        if not is_enough:
            text = TOO_FEW
        elif both is not None:
            low, high = (f"{end:,.{digits}f}" for end in both)
            text = f"{text} ({low} to {high})"
        cells.append(text)
    return cells


def heading(name: str) -> str:
    """Return a column's name for a reader: `read_latency_ns_p99_99` is `read p99.99, µs`."""
    if "_latency_ns_" not in name:
        return f"{_NS.sub('', name)}, µs" if _NS.search(name) else name
    what, _, figure = name.partition("_latency_ns_")
    return f"{what} {figure.replace('p99_9', 'p99.9')}, µs"


def has_requests(row: Mapping[str, Any], name: str) -> bool:
    """Return whether a row with counts has enough requests for this column, if a percentile."""
    what, _, figure = name.partition("_latency_ns_")
    count = row.get(f"{what}_count")
    return not figure or not count or is_known(count, figure)


def scale(name: str) -> float:
    """Return what a number is multiplied by for a reader: files have ns, tables µs."""
    return 1e-3 if _NS.search(name) else 1.0


def _fill(row: dict[str, Any], table: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Add the numbers below a table of a summary."""
    is_empty = table.get("count") == 0 and "latency_ns" in table
    for key, value in table.items():
        where = (*path, key)
        # The number of requests that an interval would need is no result.
        if key == "too_few" or where in _LEFT_OUT:
            continue
        if type(value) is dict:
            is_nothing = is_empty and key in ("latency_ns", "components_ns")
            _fill(row, dict.fromkeys(value) if is_nothing else value, where)
            continue
        if path and path[-1] == "confidence" and key in _INTERVALS:
            _put(row, (*where, "low"), None if value is None else value[0])
            _put(row, (*where, "high"), None if value is None else value[1])
        elif where == ("measure", "warning"):
            # A column of words, also where no run of a sweep has any.
            _put(row, where, value or "")
        else:
            _put(row, where, json.dumps(value) if type(value) is list else value)


def _put(row: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    name = _name(path)
    assert name not in row, f"two numbers of a summary are called {name}"
    row[name] = value
