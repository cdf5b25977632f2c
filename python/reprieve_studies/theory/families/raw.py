"""One die with raw commands: operations that wait in line, and reads that come at random."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.families.tables import TABLES
from reprieve_studies.theory.formulas import Class
from reprieve_studies.theory.models import Floats, Rig, command_columns

_KEYS: Mapping[str, Any] = TABLES["scenario"]["raw"]
READ_US: float = _KEYS["timing.t_read_us"]
_LAST_PAGE = 4 * 4096 * 64 - 1
# More reads than the operations are expected to take, so that the last still meet them.
_MARGIN = 1.1


def rate_of(mean_us: float) -> Class:
    """Return Poisson reads, one every `mean_us` on average."""
    return Class(1 / mean_us, READ_US)


def rig(
    op: str,
    keys: Mapping[str, Any],
    number: int,
    reads: Class,
    completion_us: float,
    series: Callable[[Mapping[str, NDArray[Any]]], Mapping[str, Floats]] | None = None,
    maxima: tuple[str, ...] = (),
) -> Rig:
    """Return the rig of `number` operations at 0, and reads for as long as they are to take."""
    assert math.isfinite(completion_us)

    def commands(generator: np.random.Generator) -> dict[str, NDArray[Any]]:
        horizon_us = number * completion_us * _MARGIN
        count = generator.poisson(reads.rate * horizon_us)
        arrivals = np.sort(generator.integers(0, int(horizon_us * 1000), count))
        # Programs take the pages in order; erases all are of one block. Reads are of another.
        pages = np.arange(number) if op == "program" else np.zeros(number, dtype=np.int64)
        return command_columns(
            (op, np.zeros(number, dtype=np.int64), pages),
            ("read", arrivals, np.full(len(arrivals), _LAST_PAGE)),
        )

    own = series or partial(completions, op)
    return Rig("fast12-slc", {**_KEYS, **keys}, commands, own, maxima)


def completions(op: str, rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
    """Take the times from start to end of those operations, and the waits of reads."""
    reads = rows["op"] == "read"
    # Those that ended while reads still came: all, unless a model is slower than its theory.
    last = rows["arrival_ns"][reads].max()
    operations = (rows["op"] == op) & (rows["completion_ns"] <= last)
    ends = rows["completion_ns"][operations]
    among = reads & (rows["arrival_ns"] < ends.max())
    waits = (rows["completion_ns"] - rows["arrival_ns"])[among] / 1e3 - READ_US
    return {
        "completion": (ends - rows["start_ns"][operations]) / 1e3,
        "suspensions": rows["suspensions"][operations].astype(np.float64),
        "read wait": waits,
    }
