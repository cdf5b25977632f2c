"""One die as a server: the drive and the load that several families share."""

import math
from collections.abc import Mapping
from typing import Any

from reprieve.tables import Table
from reprieve_studies.theory.formulas import Class, with_load
from reprieve_studies.theory.models import Floats, count, latency_us, of, spread, times_ns

READ_US = 30.0
PROGRAM_US = 160.0
"""Latencies of a read and a program of the SLC part, with their transfers of 20 µs."""

# As many blocks as it takes for a read to fall into the one that is being written, where it waits
# by another rule, less than once in 65,000.
_BLOCKS_MIN = 65536
_PAGES_PER_BLOCK = 64
_SPARE = 1.15

IDEAL_KEYS: Mapping[str, Any] = {
    "timing.t_bus_us": 0,
    "timing.t_read_us": READ_US,
    "timing.program_iterations": 1000,
    "timing.t_program_pulse_us": PROGRAM_US / 1000,
    "timing.t_verify_us": 0,
    "timing.t_voltage_reset_us": 0,
    "timing.t_buffer_us": 0,
}
"""Programs of a thousand phases that stop and go on without cost, and no time on the bus."""


def one_die(keys: Mapping[str, Any], reads: Class, writes: Class, requests: int) -> dict[str, Any]:
    """Return the scenario of Poisson reads and writes at a die on a channel of its own.

    No page is written twice to the same place within a run: there is no garbage collection.
    """
    rate = reads.rate + writes.rate
    programs = requests * writes.rate / rate
    blocks = max(_BLOCKS_MIN, math.ceil(_SPARE * programs / _PAGES_PER_BLOCK))
    return spread(
        {
            "device": "fast12-slc",
            "geometry.channels": 1,
            "geometry.planes_per_die": 1,
            "geometry.blocks_per_plane": blocks,
            "ftl.gc_background": False,
            "ftl.over_provisioning": 0.2,
            "host.link_bytes_per_s": "none",
            "workload.generator": "mixed",
            "workload.requests": requests,
            "workload.read_fraction": reads.rate / rate,
            "workload.request_bytes": 2048,
            "workload.arrivals": "poisson",
            "workload.rate_iops": rate * 1e6,
            **keys,
        }
    )


def waits(log: Table) -> dict[str, Floats]:
    """Return waits of reads and of writes, whose services are known."""
    latency = latency_us(log)
    return {
        "read wait": latency[of(log, "read")] - READ_US,
        "write wait": latency[of(log, "write")] - PROGRAM_US,
    }


def completions(log: Table) -> dict[str, Floats]:
    """Return waits of reads, latencies of writes, and the times from their start to their end."""
    latency = latency_us(log)
    reads, writes = of(log, "read"), of(log, "write")
    queued = (times_ns(log, "queue_ns") + times_ns(log, "suspend_wait_ns"))[writes] / 1e3
    return {
        "read wait": latency[reads] - READ_US,
        "write latency": latency[writes],
        "completion": latency[writes] - queued,
    }


def suspended() -> dict[str, Any]:
    """Return the fields of a `Drive` that measure suspension."""
    programs = count("flash", "host_programs")
    share = count("flash", "suspended_share", "program")
    return {
        "series": completions,
        "ratios": {
            "suspensions": (count("flash", "suspensions", "program"), programs),
            "share": (lambda summary: share(summary) * programs(summary), programs),
        },
    }


def classes_of(load: float) -> tuple[Class, Class]:
    """Return a load as a quarter of reads and three quarters of programs."""
    return with_load(load / 4, READ_US), with_load(3 * load / 4, PROGRAM_US)
