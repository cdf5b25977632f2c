"""One die with raw commands: operations that wait in line, and reads that come at random."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.formulas import Class
from reprieve_studies.theory.models import Floats, Rig, command_columns, poisson_ns

READ_US = 36.364
"""So that reads at random, one in 400 µs on average, keep the die busy for 40 µs at a time."""

_LAST_PAGE = 4 * 4096 * 64 - 1
# More reads than the operations are expected to take, so that the last still meet them.
_MARGIN = 1.1

KEYS: Mapping[str, Any] = {
    "scheduling.policy": "rps",
    "timing.t_bus_us": 0,
    "timing.t_read_us": READ_US,
    "timing.t_voltage_reset_us": 0,
    "timing.t_buffer_us": 0,
    "timing.t_verify_us": 0,
    "timing.t_erase_verify_us": 0,
    "suspension.erase": True,
}
"""A die without time on the bus, whose suspensions cost nothing unless a check says so."""


def erase_keys(length_us: float, **more: Any) -> dict[str, Any]:
    """Return the keys of a die with erases of one pulse."""
    dotted = {name.replace("__", "."): value for name, value in more.items()}
    return {**KEYS, "timing.t_erase_us": length_us, **dotted}


def program_keys(length_us: float, **more: Any) -> dict[str, Any]:
    """Return the keys of a die with programs of a thousand phases, suspended at their ends."""
    dotted = {name.replace("__", "."): value for name, value in more.items()}
    phases = {"timing.program_iterations": 1000, "timing.t_program_pulse_us": length_us / 1000}
    return {**KEYS, **phases, "suspension.program": "ips", **dotted}


def rate_of(mean_us: float) -> Class:
    """Return Poisson reads, one every `mean_us` on average."""
    return Class(1 / mean_us, READ_US)


def in_line(
    op: str, number: int, reads: Class, completion_us: float
) -> Callable[[np.random.Generator], dict[str, NDArray[Any]]]:
    """Return commands: `number` operations at 0, and reads for as long as they are to take."""

    def commands(generator: np.random.Generator) -> dict[str, NDArray[Any]]:
        arrivals = poisson_ns(generator, reads.rate, number * completion_us * _MARGIN)
        # Programs take the pages in order; erases all are of one block. Reads are of another.
        pages = np.arange(number) if op == "program" else np.zeros(number, dtype=np.int64)
        return command_columns(
            (op, np.zeros(number, dtype=np.int64), pages),
            ("read", arrivals, np.full(len(arrivals), _LAST_PAGE)),
        )

    return commands


def completions(op: str) -> Callable[[Mapping[str, NDArray[Any]]], Mapping[str, Floats]]:
    """Return what takes the times from start to end of those operations, and the waits of reads."""

    def series(rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
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

    return series


def rig(op: str, keys: Mapping[str, Any], number: int, reads: Class, completion_us: float) -> Rig:
    """Return the rig that measures such operations."""
    assert math.isfinite(completion_us)
    return Rig("fast12-slc", keys, in_line(op, number, reads, completion_us), completions(op))
