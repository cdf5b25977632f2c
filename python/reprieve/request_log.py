"""The log of requests: one row for each, as an Arrow table in memory or streamed to Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["OPS", "Columns"]

Columns = Mapping[str, NDArray[np.generic]]

OPS = ("read", "write", "trim", "flush")
"""Names of the operations, at the index by which the simulator knows them."""

COMPONENTS = (
    "host_queue_ns",
    "link_ns",
    "buffer_ns",
    "rmw_ns",
    "queue_ns",
    "suspend_wait_ns",
    "array_ns",
    "bus_wait_ns",
    "bus_ns",
    "suspended_ns",
    "map_ns",
    "ecc_ns",
)
"""Where a request's time went; they add up to completion − arrival."""

CAUSES = (
    "by_host_read_ns",
    "by_host_program_ns",
    "by_gc_read_ns",
    "by_gc_program_ns",
    "by_erase_ns",
    "by_map_ns",
    "by_channel_ns",
    "by_suspend_entry_ns",
    "by_same_block_ns",
    "by_limit_ns",
    "by_budget_ns",
    "by_power_ns",
    "by_other_ns",
)
"""What a request waited behind; they add up to its waits, `WAITS`."""

WAITS = (
    "buffer_ns",
    "rmw_ns",
    "queue_ns",
    "suspend_wait_ns",
    "bus_wait_ns",
    "suspended_ns",
    "map_ns",
)
"""The components in which a request waits for what the drive does."""

_INTEGERS = (
    *("lba", "bytes", "arrival_ns", "completion_ns", *COMPONENTS, *CAUSES, "die"),
    *("flow", "uncorrectable_pages"),
)

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        *((name, pa.int64()) for name in _INTEGERS),
    ]
)

# Fixed, so that a file's bytes do not depend on how the run was cut into steps.
_ROW_GROUP_ROWS = 1 << 17


class RequestLog(Protocol):
    """Takes the requests of a run as they complete."""

    def add(self, columns: Columns) -> None:
        """Take the next requests, in order of completion."""

    def close(self) -> pa.Table | Path:
        """End the log and return the rows, or the file that will hold them."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Go through these columns of a log that has ended."""


class MemoryLog:
    """Keeps the rows in memory."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []

    def add(self, columns: Columns) -> None:
        """Keep these rows."""
        self._batches.append(_batch(columns))

    def close(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self._batches, SCHEMA).combine_chunks()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Go through these columns."""
        for batch in self._batches:
            yield batch.select(list(columns))


class ParquetLog:
    """Writes the rows in row groups; memory stays bounded by one of them.

    `file` is written to and stays open; `path` is where it will be found. A context manager: what
    ends the block before `close` leaves an unfinished file behind, for the caller to remove.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._path = path
        self._file = file
        self._writer = pq.ParquetWriter(
            file,
            SCHEMA,
            compression="zstd",
            use_dictionary=["op"],
            column_encoding={"id": "DELTA_BINARY_PACKED"}
            | dict.fromkeys(_INTEGERS, "DELTA_BINARY_PACKED"),
        )
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0

    def add(self, columns: Columns) -> None:
        """Write the row groups that these rows complete, and keep the rest for the next."""
        batch = _batch(columns)
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if self._pending_rows >= _ROW_GROUP_ROWS:
            rows = pa.Table.from_batches(self._pending, SCHEMA)
            whole = rows.num_rows - rows.num_rows % _ROW_GROUP_ROWS
            self._write(rows.slice(0, whole))
            self._pending = rows.slice(whole).to_batches()
            self._pending_rows = rows.num_rows - whole

    def close(self) -> Path:
        """Write the last row group and the footer, and return the path."""
        if self._pending_rows > 0:
            self._write(pa.Table.from_batches(self._pending, SCHEMA))
        self._writer.close()
        return self._path

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read these columns back, a row group at a time."""
        self._file.flush()
        file = pq.ParquetFile(self._file.name)
        yield from file.iter_batches(_ROW_GROUP_ROWS, columns=list(columns))

    def __enter__(self) -> ParquetLog:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer.is_open:
            with suppress(OSError):
                self._writer.close()
            # After a failure its finaliser would try again, and complain on stderr.
            self._writer.is_open = False

    def _write(self, rows: pa.Table) -> None:
        # In one chunk: pages would otherwise end where a step of the simulation ended.
        self._writer.write_table(rows.combine_chunks(), row_group_size=_ROW_GROUP_ROWS)


def _batch(columns: Columns) -> pa.RecordBatch:
    op = pa.DictionaryArray.from_arrays(
        pa.array(columns["op"].astype(np.int8)), pa.array(OPS, pa.string())
    )
    die = columns["die"].astype(np.int64)
    made = {"op": op, "die": pa.array(die, mask=die < 0)}
    arrays = [made.get(field.name, pa.array(columns[field.name])) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
