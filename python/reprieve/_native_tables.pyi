"""Types of the tables of the compiled simulator, which are names of `_native` as the others."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = (
    NDArray[np.int64]
    | NDArray[np.uint64]
    | NDArray[np.float64]
    | NDArray[np.bool_]
    | Sequence[str | None]
    | tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
)
"""What a column can be made of; three arrays are histograms: where each begins and the last ends,
upper ends of buckets, counts."""

NewColumn = tuple[str, Values, NDArray[np.bool_] | None]
"""A column by its name, its values, and which of them are not null."""

class Table:
    """Columns of one length, which other programs take by Arrow's PyCapsule interface."""

    def __init__(self, columns: Sequence[NewColumn]) -> None: ...
    @staticmethod
    def joined(tables: Sequence[Table]) -> Table:
        """Put the rows of at least one table one behind the other; all have the same columns."""

    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> list[Any]:
        """Return the values of a column, None for null."""

    def array(self, name: str) -> NDArray[Any]:
        """Return numbers or flags; where some are null, floats with NaN for them."""

    def is_word(self, name: str, word: str) -> NDArray[np.bool_]:
        """Return where a column of words has this one."""

    def slice(self, start: int, rows: int) -> Table:
        """Return so many rows from one on, or what there is of them; they are not copied."""

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Return these rows, in this order."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class ParquetWriter:
    """Turns tables into the bytes of one Parquet file, however its rows are cut into tables."""

    def __init__(self, like: Table, group_rows: int, packed: bool) -> None:
        """Begin a file with the columns of a table.

        `group_rows`: rows of a row group, which is what is kept in memory. `packed`: integers are
        written as their differences.
        """

    def write(self, table: Table) -> bytes:
        """Take rows; return the bytes of the row groups that they complete."""

    def finish(self) -> bytes:
        """End the file; return the bytes that are left."""

class ParquetReader:
    """Reads a Parquet file in parts, or as a stream for other programs."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        group: int | None = None,
    ) -> None:
        """Open a file, of which these columns are read; KeyError for one that it has not.

        `group`: read this row group only.
        """

    def __iter__(self) -> Iterator[Table]: ...
    def __next__(self) -> Table: ...
    def read(self) -> Table:
        """Return everything that is left."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def empty_log() -> Table:
    """Return a log without requests."""
