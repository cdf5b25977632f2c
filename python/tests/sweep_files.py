"""Helpers for tests of sweeps: a sweep as a dictionary, its stored runs, its data set."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

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


def stored(directory: Path, name: str = "*") -> dict[str, Path]:
    """Return the runs that are on disk, each with its segment."""
    found: dict[str, Path] = {}
    for path in sorted(directory.glob(f"segments/{name}.parquet")):
        with suppress(FileNotFoundError):  # merged meanwhile
            runs = pq.read_table(path, columns=["run"]).column("run").to_pylist()
            found |= dict.fromkeys(runs, path)
    return found


def lose(directory: Path, lost: set[str]) -> None:
    """Take runs out of a directory, as if they had never been done."""
    for path in directory.glob("segments/*.parquet"):
        table = pq.read_table(path)
        kept = [run not in lost for run in table.column("run").to_pylist()]
        pq.write_table(table.filter(kept), path, row_group_size=128)


def contents(directory: Path) -> dict[str, bytes]:
    """Return what a sweep leaves that depends on no clock."""
    return {name: (directory / name).read_bytes() for name in ("runs.parquet", "points.parquet")}
