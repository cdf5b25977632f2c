"""Finished runs on disk: one file each, whole or not there, under the name of the run."""

from __future__ import annotations

import fcntl
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprieve._native import UserError
from reprieve.outputs import explained
from reprieve.result import KINDS, Latency, Result

_SCHEMA = 1


@dataclass(frozen=True)
class Record:
    """What is kept of a run."""

    summary: dict[str, Any]
    """As in `summary.json`."""
    buckets: dict[str, tuple[list[int], list[int]]]
    """Upper ends in ns and counts of "read", "write" and "total"."""

    def latency(self, what: str) -> Latency:
        """Latencies of "read", "write" or "total" requests."""
        upper_ns, count = (np.array(part, np.int64) for part in self.buckets[what])
        exact = self.summary["requests"][what]["latency_ns"]
        return Latency(upper_ns, count, exact["mean"], exact["min"], exact["max"])


def packed(result: Result) -> bytes:
    """Return the file of a run."""
    buckets = {}
    for what in KINDS:
        latency = result.latency(what)
        buckets[what] = [latency.upper_ns.tolist(), latency.count.tolist()]
    document = {"schema": _SCHEMA, "summary": result.summary, "buckets": buckets}
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    # The fastest level: a slower one costs more time than all else and saves a tenth.
    return gzip.compress(text.encode(), compresslevel=1, mtime=0)


class Store:
    """The runs that are finished, below a directory."""

    def __init__(self, directory: Path) -> None:
        self._runs = directory / "runs"

    def path(self, run: str) -> Path:
        """Return where a run is kept: a folder for each two digits, lest one has too many files."""
        return self._runs / run[:2] / f"{run}.json.gz"

    def has(self, run: str) -> bool:
        """Return whether a run is finished."""
        return self.path(run).exists()

    def write(self, run: str, data: bytes) -> None:
        """Keep a run; UserError if the disk does not take it."""
        path = self.path(run)
        partial = path.with_name(f".{run}.partial")
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                partial.write_bytes(data)
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)

    def read(self, run: str) -> Record:
        """Return a finished run; UserError if its file is damaged."""
        path = self.path(run)
        try:
            document = json.loads(gzip.decompress(path.read_bytes()))
        except FileNotFoundError:
            raise UserError(
                f"{path}: this run has gone while the sweep went on; start the sweep again"
            ) from None
        except (OSError, EOFError, zlib.error, ValueError):
            raise UserError(
                f"{path}: this file is damaged; delete it, and the sweep does its run again"
            ) from None
        if document["schema"] != _SCHEMA:
            raise UserError(
                f"{path}: has schema {document['schema']} and not {_SCHEMA}; delete it, and the "
                "sweep does its run again"
            )
        buckets = {what: (part[0], part[1]) for what, part in document["buckets"].items()}
        return Record(document["summary"], buckets)

    def sweep_up(self) -> None:
        """Remove what a killed sweep had begun to write; the directory must be locked."""
        for partial in self._runs.glob("*/.*.partial"):
            partial.unlink()


@contextmanager
def locked(directory: Path) -> Iterator[Store]:
    """Make a directory, and let nobody else fill it meanwhile; a lock dies with its process."""
    with explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{directory}: another sweep is at work here; wait for it, or name another place "
                "with --out"
            ) from None
        store = Store(directory)
        store.sweep_up()
        yield store
