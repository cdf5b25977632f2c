"""Finished runs on disk: append-only Parquet segments, each whole or not there."""

import fcntl
import json
import os
import re
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import tables
from reprieve._native import ParquetWriter, Table, UserError
from reprieve.experiments.work import SCHEMA, Row
from reprieve.latency import KINDS, Latency
from reprieve.outputs import explained, folder_of

__all__ = ["DamagedError", "Record", "Store", "locked"]

FOLDER = "segments"
_LOCK = ".lock"
_GROUP_ROWS = 128
"""Rows of a row group, which is what one look-up decodes."""
_CACHED_GROUPS = 32
_NAME = re.compile(r"[0-9a-f]{16}(-\d+-of-\d+)?-[0-9a-f]{6}\.parquet")
"""Names of segments: when each was written, by which part, and a draw."""
_SEGMENT_ROWS = 20_000
_SEGMENT_BYTES = 64 << 20
_FLUSH_S = 0.1
_FLUSH_SHARE = 0.02
"""A killed driver loses no more than this share of its time, or a tenth of a second."""
_LOOSE_SEGMENTS = 16
_SEGMENTS_MAX = 500

Buckets = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Upper ends in ns and counts of the buckets of a histogram that are not empty."""


@dataclass(frozen=True)
class Record:
    """The stored numbers of a simulation."""

    summary: dict[str, Any]
    """As in `summary.json`."""
    batches: dict[str, Any]
    """The complete batches by column."""
    machine: dict[str, Any]
    """As in `run.json`."""
    buckets: dict[str, Buckets]
    """Histograms of "read", "write" and "total"."""

    def latencies(self) -> dict[str, Latency]:
        """Return the latencies of "read", "write" and "total" requests."""
        made = {}
        for what, (upper_ns, count) in self.buckets.items():
            exact = self.summary["requests"][what]["latency_ns"]
            made[what] = Latency(upper_ns, count, exact["mean"], exact["min"], exact["max"])
        return made


class DamagedError(UserError):
    """A segment that cannot be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: this file is damaged; delete it, and the sweep does its runs again"
        )
        self.path = path


class Store:
    """Rows of finished tasks below a directory; the last one of a run counts."""

    def __init__(self, directory: Path | None = None, part: str = "") -> None:
        """Open a directory; None: keep all rows in memory."""
        self._folder = None if directory is None else directory / FOLDER
        self._part = part
        self._segments: list[Path] = []
        self._places: dict[str, int] = {}
        """Of each run: its segment, shifted by 32, and its row there."""
        self._failed = set[str]()
        self._pending: dict[str, Row] = {}
        self._pending_bytes = 0
        self._began_s = self._flushed_s = time.monotonic()
        self._groups: OrderedDict[tuple[int, int], Table] = OrderedDict()
        self.damaged: list[Path] = []
        """Segments that could not be read, and were taken away."""
        self.written: list[Path] = []
        for path in self._paths():
            try:
                self._index(path)
            except DamagedError:
                self.take_away(path)

    def _paths(self) -> list[Path]:
        """Return the segments; files with other names are the user's, and left alone."""
        found = [] if self._folder is None else sorted(self._folder.glob("*.parquet"))
        return [path for path in found if _NAME.fullmatch(path.name)]

    def _index(self, path: Path) -> None:
        """Learn which runs a segment has."""
        number = len(self._segments) << 32
        self._segments.append(path)
        try:
            table = tables.reader(path, ("run", "error")).read()
        except (UserError, OSError, ValueError):
            raise DamagedError(path) from None
        names = table["run"]
        self._places.update(zip(names, range(number, number + len(names)), strict=True))
        for name, error in zip(names, table["error"], strict=True):
            if error is not None:
                self._failed.add(name)
            elif self._failed:
                self._failed.discard(name)

    def take_away(self, path: Path) -> None:
        """Delete a damaged segment and forget its runs."""
        with explained(path):
            path.unlink(missing_ok=True)
        number = self._segments.index(path)
        gone = [run for run, place in self._places.items() if place >> 32 == number]
        for run in gone:
            del self._places[run]
            self._failed.discard(run)
        self.damaged.append(path)

    def __len__(self) -> int:
        """Return the number of its segments."""
        return len(self._segments)

    def has(self, run: str) -> bool:
        """Return whether a run is finished, or has failed."""
        return run in self._places or run in self._pending

    def has_failed(self, run: str) -> bool:
        """Return whether a run is stored as a failure."""
        return run in self._failed

    def append(self, row: Row) -> None:
        """Store a row; it is on disk after the next flush. UserError if the disk is full."""
        self._pending[row.run] = row
        self._pending_bytes += len(row.text or "")
        (self._failed.discard if row.error is None else self._failed.add)(row.run)
        now_s = time.monotonic()
        since_s = now_s - self._flushed_s
        if (
            since_s > max(_FLUSH_S, _FLUSH_SHARE * (now_s - self._began_s))
            or self._pending_bytes > _SEGMENT_BYTES
        ):
            self.flush()

    def flush(self) -> None:
        """Write what is in memory as a segment."""
        if self._folder is None or not self._pending:
            return
        rows = list(self._pending.values())
        path = self._write(self._folder, rows)
        number = len(self._segments) << 32
        self._segments.append(path)
        self.written.append(path)
        self._places.update((row.run, number + place) for place, row in enumerate(rows))
        self._pending, self._pending_bytes = {}, 0
        self._flushed_s = time.monotonic()

    def _write(self, folder: Path, rows: Sequence[Row]) -> Path:
        name = f"{time.time_ns():016x}{self._part}-{os.urandom(3).hex()}.parquet"
        path = folder / name
        partial = path.with_name(f".{self._part}{name}.partial")
        table = _table(rows)
        writer = ParquetWriter(table, _GROUP_ROWS, packed=False)
        with explained(path):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                partial.write_bytes(writer.write(table) + writer.finish())
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
        return path

    def row(self, run: str) -> Row:
        """Return a finished task's row; raises DamagedError if its segment cannot be read."""
        if run in self._pending:
            return self._pending[run]
        place = self._places[run]
        segment, row = place >> 32, place & 0xFFFF_FFFF
        group = self._group(segment, row // _GROUP_ROWS).slice(row % _GROUP_ROWS, 1)
        text, error, checksum = (group[name][0] for name in ("text", "error", "checksum"))
        if group["run"][0] != run or checksum != _checksum(text):
            raise DamagedError(self._segments[segment])
        return Row(run, text, error)

    def _group(self, segment: int, group: int) -> Table:
        found = self._groups.get((segment, group))
        if found is None:
            path = self._segments[segment]
            try:
                found = tables.reader(path, None, group).read()
            except (UserError, OSError, ValueError):
                raise DamagedError(path) from None
            self._groups[segment, group] = found
            if len(self._groups) > _CACHED_GROUPS:
                self._groups.popitem(last=False)
        else:
            self._groups.move_to_end((segment, group))
        return found

    def read(self, run: str) -> Record:
        """Return a finished simulation; UserError if it failed or its segment is damaged."""
        return self.decoded(self.row(run))

    def decoded(self, row: Row) -> Record:
        """Return the simulation of a row; UserError if it failed or is none."""
        if row.text is None:
            raise UserError(row.error or "a row without text has an error")
        return record(row.text, f"{self._folder or 'memory'}, run {row.run}")

    def merge(self) -> None:
        """Join small segments; the directory must be locked as a whole."""
        self.flush()
        folder = self._folder
        if (
            folder is None
            or len(self._segments) <= len(self._places) // _SEGMENT_ROWS + _LOOSE_SEGMENTS
        ):
            return
        old, block, size = list(self._segments), list[Row](), 0
        for row in map(self.row, list(self._places)):
            block.append(row)
            size += len(row.text or "")
            if len(block) == _SEGMENT_ROWS or size > _SEGMENT_BYTES:
                self._write(folder, block)
                block, size = [], 0
        if block:
            self._write(folder, block)
        # Until here both are there, which says the same twice.
        for path in old:
            with explained(path):
                path.unlink(missing_ok=True)
        self._segments, self._places = [], {}
        self._failed.clear()
        self._groups.clear()
        for path in self._paths():
            self._index(path)

    def forget_written(self) -> None:
        """Take back the rows of this session."""
        for path in self.written:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            if self._folder is not None:
                self._folder.rmdir()


def _table(rows: Sequence[Row]) -> Table:
    checksums = np.array([_checksum(row.text) for row in rows], np.int64)
    return Table(
        [
            ("run", [row.run for row in rows], None),
            ("error", [row.error for row in rows], None),
            ("checksum", checksums, None),
            ("text", [row.text for row in rows], None),
        ]
    )


def _checksum(text: str | None) -> int:
    return 0 if text is None else zlib.crc32(text.encode())


def record(text: str, where: str) -> Record:
    """Decode what is stored of a simulation; UserError if it is none."""
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ValueError
        buckets = {
            what: (np.cumsum(np.array(steps, np.int64)), np.array(counts, np.int64))
            for what, (steps, counts) in ((what, document["histograms"][what]) for what in KINDS)
        }
        made = Record(document["summary"], document["batches"], document["machine"], buckets)
        for name, latency in made.latencies().items():
            exact = made.summary["requests"][name]["latency_ns"]
            ends = (exact["mean"], exact["min"], exact["max"])
            is_whole = len(latency.upper_ns) == len(latency.count) and latency.count.min(initial=0)
            if is_whole < 0 or not all(type(end) in (int, float) and end >= 0 for end in ends):
                raise ValueError
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise UserError(
            f"{where}: is no stored run of schema {SCHEMA}; sweep into a new directory"
        ) from None
    return made


@contextmanager
def locked(directory: Path, part: tuple[int, int] | None = None) -> Iterator[Store]:
    """Make a directory and lock it: as a whole, or for one part beside the others.

    A lock dies with its process.
    """
    with folder_of(directory / _LOCK):
        lock = (directory / _LOCK).open("w")
    with lock:
        name = "" if part is None else f"-{part[0]}-of-{part[1]}"
        _lock(lock, directory, shared=part is not None)
        if part is not None:
            own = (directory / f"{_LOCK}{name}").open("w")
            _lock(own, directory, shared=False)
        # A killed process may have left unfinished files.
        unfinished = list((directory / FOLDER).glob(f".{name}*.parquet.partial"))
        if part is None:
            unfinished += directory.glob(".*.parquet.[0-9]*.partial")
        for path in unfinished:
            path.unlink(missing_ok=True)
        store = Store(directory, name)
        if part is None and len(store) > _SEGMENTS_MAX:
            store.merge()
        try:
            yield store
            store.flush()
        finally:
            if part is not None:
                own.close()
                (directory / f"{_LOCK}{name}").unlink(missing_ok=True)
            else:
                _leave_nothing(directory)


def _leave_nothing(directory: Path) -> None:
    """Leave no directory behind if nothing was stored."""
    with suppress(OSError):
        (directory / FOLDER).rmdir()
    if list(directory.iterdir()) == [directory / _LOCK]:
        (directory / _LOCK).unlink()
        with suppress(OSError):
            directory.rmdir()


def _lock(file: Any, directory: Path, *, shared: bool) -> None:
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(
            f"{directory}: another sweep is at work here; wait for it, or name another place "
            "with --out"
        ) from None
