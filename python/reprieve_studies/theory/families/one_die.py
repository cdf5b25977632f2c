"""One die as a server: the drive and the load that several families share."""

import math
from collections.abc import Mapping
from typing import Any

from reprieve.tables import Table
from reprieve_studies.theory.families.tables import TABLES, scenario
from reprieve_studies.theory.formulas import Class, with_load
from reprieve_studies.theory.models import Drive, Floats, Ratios, count, times_ns

READ_US = 30.0
PROGRAM_US = 160.0
"""Latencies of a read and a program of the SLC part, with their transfers of 20 µs."""

# As many blocks as it takes for a read to fall into the one that is being written, where it waits
# by another rule, less than once in 65,000.
_BLOCKS_MIN = 65536
_PAGES_PER_BLOCK = 64
_SPARE = 1.15

IDEAL_KEYS: Mapping[str, Any] = TABLES["scenario"]["ideal"]
PHASES: int = IDEAL_KEYS["timing.program_iterations"]
_PROGRAMS = count("flash", "host_programs")
_SHARE = count("flash", "suspended_share", "program")
SUSPENDED: Ratios = {
    "suspensions": (count("flash", "suspensions", "program"), _PROGRAMS),
    "share": (lambda summary: _SHARE(summary) * _PROGRAMS(summary), _PROGRAMS),
}


def one_die(
    keys: Mapping[str, Any], reads: Class, writes: Class, requests: int, **fields: Any
) -> Drive:
    """Return Poisson reads and writes at a die on a channel of its own.

    No page is written twice to the same place within a run: there is no garbage collection.
    `fields`: others of the drive, such as percentiles, or `ratios=SUSPENDED`.
    """
    rate = reads.rate + writes.rate
    programs = requests * writes.rate / rate
    sets = {
        "geometry.blocks_per_plane": max(
            _BLOCKS_MIN, math.ceil(_SPARE * programs / _PAGES_PER_BLOCK)
        ),
        "workload.requests": requests,
        "workload.read_fraction": reads.rate / rate,
        "workload.rate_iops": rate * 1e6,
        **keys,
    }
    return Drive(scenario("one_die", sets), _times, **fields)


def _times(log: Table) -> dict[str, Floats]:
    """Return waits, latencies of writes, and the times from their start to their end."""
    latency = (times_ns(log, "completion_ns") - times_ns(log, "arrival_ns")) / 1e3
    reads, writes = (log.is_word("op", op) for op in ("read", "write"))
    queued = (times_ns(log, "queue_ns") + times_ns(log, "suspend_wait_ns"))[writes] / 1e3
    return {
        "read wait": latency[reads] - READ_US,
        "write wait": latency[writes] - PROGRAM_US,
        "write latency": latency[writes],
        "completion": latency[writes] - queued,
    }


def classes_of(load: float) -> tuple[Class, Class]:
    """Return a load as a quarter of reads and three quarters of programs."""
    return with_load(load / 4, READ_US), with_load(3 * load / 4, PROGRAM_US)
