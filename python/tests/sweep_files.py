"""What the tests of sweeps share: a sweep as a dictionary, and what is deterministic of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from .drive import SMALL

REQUESTS = 300


def scenario(**workload: Any) -> dict[str, Any]:
    """Return the small scenario with few requests, as a dictionary."""
    document = tomllib.loads(SMALL)
    document["workload"] |= {"requests": REQUESTS} | workload
    return document


def grid(**more: Any) -> dict[str, Any]:
    """Return a sweep of two policies and two rates; its last axis varies fastest."""
    axes = {"policy": ["fifo", "pes-ipc"], "workload.rate_iops": [500, 1500]}
    return {"scenario": scenario(), "design": "grid", "axes": axes} | more


def contents(directory: Path) -> dict[str, bytes]:
    """Return what a sweep leaves that depends on no clock."""
    return {name: (directory / name).read_bytes() for name in ("runs.parquet", "points.parquet")}
