"""Finished runs on disk: one file each, whole or not there, under the name of the run."""

from __future__ import annotations

import fcntl
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.foreign import JsonValue, decoded
from reprieve.outputs import explained
from reprieve.result import KINDS, Latency, Result

_SCHEMA = 3
_LOCK = ".lock"


Buckets = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Upper ends in ns and counts of the buckets of a histogram that are not empty."""


@dataclass(frozen=True)
class Record:
    """What is kept of a run; histograms are read when they are asked for."""

    summary: dict[str, Any]
    """As in `summary.json`."""
    batches: dict[str, Any]
    """The complete batches by column."""
    machine: dict[str, Any]
    """As in `run.json`."""
    rest: bytes
    path: Path

    def buckets(self) -> dict[str, Buckets]:
        """Return the histograms of "read", "write" and "total"; raises UserError if damaged."""
        data, _ = _member(self.rest, self.path)
        numbers = np.frombuffer(data[: len(data) // 8 * 8], "<i8")
        lengths, made, start = numbers[: len(KINDS)], {}, len(KINDS)
        if len(lengths) < start or lengths.min() < 0 or start + 2 * lengths.sum() != len(numbers):
            raise _damaged(self.path)
        for what, length in zip(KINDS, lengths.tolist(), strict=True):
            middle, end = start + length, start + 2 * length
            made[what] = (np.cumsum(numbers[start:middle]), numbers[middle:end])
            start = end
        return made

    def latencies(self) -> dict[str, Latency]:
        """Return the latencies of "read", "write" and "total" requests."""
        made = {}
        for what, (upper_ns, count) in self.buckets().items():
            exact = self.summary["requests"][what]["latency_ns"]
            made[what] = Latency(upper_ns, count, exact["mean"], exact["min"], exact["max"])
        return made


def packed(result: Result) -> bytes:
    """Return the file of a run: its summary as JSON, then its histograms, each compressed."""
    latencies = [result.latency(what) for what in KINDS]
    parts = [np.array([len(latency.count) for latency in latencies], np.int64)]
    for latency in latencies:
        # Differences are small numbers, which compress; the program needs no number twice.
        parts += [np.diff(latency.upper_ns, prepend=0), latency.count]
    document = {
        "schema": _SCHEMA,
        "summary": result.summary,
        "batches": result.batches,
        "machine": result.machine,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    members = (f"{text}\n".encode(), np.concatenate(parts).astype("<i8").tobytes())
    # The fastest level: a slower one costs more time than all else and saves little.
    return b"".join(gzip.compress(member, compresslevel=1, mtime=0) for member in members)


def _member(data: bytes, path: Path) -> tuple[bytes, bytes]:
    """Return the first compressed part, whose checksum is right, and what follows it."""
    unpack = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    with suppress(zlib.error):
        found = unpack.decompress(data)
        if unpack.eof:
            return found, unpack.unused_data
    raise _damaged(path)


def _damaged(path: Path) -> UserError:
    return UserError(f"{path}: this file is damaged; delete it, and the sweep does its run again")


def _document(path: Path, text: bytes) -> JsonValue:
    """Decode what a finished run says of itself."""
    try:
        return JsonValue(str(path), decoded(path, text.decode())[0])
    except UnicodeDecodeError:
        raise _damaged(path) from None


class Store:
    """The runs that are finished, below a directory."""

    def __init__(self, directory: Path) -> None:
        self._runs = directory / "runs"

    def path(self, run: str) -> Path:
        """Return where a run is kept: a folder for each two digits, lest one has too many files."""
        return self._runs / run[:2] / f"{run}.gz"

    def has(self, run: str) -> bool:
        """Return whether a run is finished."""
        return self.path(run).exists()

    def write(self, run: str, data: bytes) -> None:
        """Keep a run; raises UserError if the disk does not take it."""
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
        """Return a finished run; raises UserError if its file is damaged."""
        path = self.path(run)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: cannot read this finished run: {error.strerror}") from None
        text, rest = _member(data, path)
        document = _document(path, text)
        schema = document["schema"].whole()
        if schema != _SCHEMA:
            raise UserError(
                f"{path}: has schema {schema} and not {_SCHEMA}; delete it, and the sweep does its "
                "run again"
            )
        summary, batches = document["summary"], document["batches"]
        for what in KINDS:
            for figure in ("mean", "min", "max"):
                summary["requests"][what]["latency_ns"][figure].number(least=0)
        machine = document["machine"].table()
        return Record(summary.table(), batches.table(), machine, rest, path)

    def taken_away(self, run: str) -> str | None:
        """Take away the file of a run if it cannot be used, and return why; None if it can."""
        try:
            self.read(run).buckets()
        except UserError as error:
            with explained(self.path(run)):
                self.path(run).unlink()
            return str(error).partition("; ")[0]
        return None

    def sweep_up(self) -> None:
        """Remove what a killed sweep had begun to write; the directory must be locked."""
        for partial in self._runs.glob("*/.*.partial"):
            partial.unlink()


@contextmanager
def locked(directory: Path) -> Iterator[Store]:
    """Make a directory, and let nobody else fill it meanwhile; a lock dies with its process."""
    with explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / _LOCK).open("w")
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
        try:
            yield store
        finally:
            # What came to nothing leaves nothing.
            if list(directory.iterdir()) == [directory / _LOCK]:
                (directory / _LOCK).unlink()
                with suppress(OSError):
                    directory.rmdir()
