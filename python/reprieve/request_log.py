"""The log of requests: one row for each, as a table in memory or streamed to Parquet."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from reprieve._native import ParquetReader, ParquetWriter, Table, empty_log

OPS = ("read", "write", "trim", "flush")
"""Names of the operations, at the index by which the simulator knows them."""

_TIMES = [name for name in empty_log().names if name.endswith("_ns")]

CAUSES = tuple(name for name in _TIMES if name.startswith("by_"))
"""Waiting times of a request by cause; they add up to those components in which it waits."""

COMPONENTS = tuple(name for name in _TIMES if name not in {"arrival_ns", "completion_ns", *CAUSES})
"""Where a request's time went; they add up to completion − arrival."""


def words(log: Table) -> NDArray[np.str_]:
    """Return the operation of each request by its name."""
    found = np.empty(len(log), f"U{max(map(len, OPS))}")
    for op in OPS:
        found[log.is_word("op", op)] = op
    return found


# Of the file, and of what is gone through at once: memory stays bounded by one of them.
_GROUP_ROWS = 1 << 17


class MemoryLog:
    """Keeps the requests of a run in memory, in order of completion."""

    def __init__(self) -> None:
        self._parts = [empty_log()]

    def add(self, rows: Table) -> None:
        """Keep these rows."""
        self._parts.append(rows)

    def close(self) -> Table:
        """Return all rows."""
        self._parts = [Table.joined(self._parts)]
        return self._parts[0]

    def parts(self, names: Sequence[str]) -> Iterable[Table]:
        """Iterate over the rows in batches of bounded size."""
        for whole in self._parts:
            for start in range(0, len(whole), _GROUP_ROWS):
                yield whole.slice(start, _GROUP_ROWS)


class ParquetLog:
    """Writes the requests of a run in row groups; memory stays bounded by one of them.

    `file` is written to and stays open; `path` is where it will be found. What ends a run before
    `close` leaves an unfinished file behind, for the caller to remove.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._path = path
        self._file = file
        self._writer = ParquetWriter(empty_log(), _GROUP_ROWS, packed=True)

    def add(self, rows: Table) -> None:
        """Write the row groups that these rows complete, and keep the rest for the next."""
        self._file.write(self._writer.write(rows))

    def close(self) -> Path:
        """Write the last row group and the footer, and return the path."""
        self._file.write(self._writer.finish())
        return self._path

    def parts(self, names: Sequence[str]) -> Iterable[Table]:
        """Read these columns back, a row group at a time."""
        self._file.flush()
        return ParquetReader(self._file.name, list(names))
