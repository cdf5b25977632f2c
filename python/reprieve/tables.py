"""Tables without pyarrow: made of Python's values and of arrays, as rows, and as Parquet files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from reprieve._native import ParquetReader, ParquetWriter, Table, UserError

if TYPE_CHECKING:
    from reprieve._native_tables import NewColumn

__all__ = ["Column", "Table", "of_columns", "of_rows", "read", "rows", "write"]

_GROUP_ROWS = 1 << 17

# What NumPy holds values of Python's types in.
_HELD: Mapping[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64, str: np.object_}


@dataclass(frozen=True)
class Column:
    """Values of one type, some of which may be null."""

    values: NDArray[Any]
    """Where null, any value."""
    valid: NDArray[np.bool_]
    """Where not null."""

    @classmethod
    def of(cls, values: Sequence[Any], kind: type | None = None) -> "Column":
        """Take values of Python, None for null; `kind` is their type if they need not show it.

        Whole numbers among others become floats, and so does what has no value at all. TypeError
        if other types are mixed.
        """
        kind = kind or _kind({type(value) for value in values} - {type(None)})
        filled = [kind() if value is None else value for value in values]
        valid = np.array([value is not None for value in values], np.bool_)
        return cls(np.array(filled, _HELD[kind]), valid)

    @classmethod
    def of_array(cls, values: NDArray[Any]) -> "Column":
        """Take an array; NaN is null."""
        has_nan = values.dtype.kind == "f"
        return cls(values, ~np.isnan(values) if has_nan else np.ones(len(values), np.bool_))

    @classmethod
    def joined(cls, columns: Sequence["Column"]) -> "Column":
        """Put columns one behind the other; one without a value takes the type of the others."""
        told = [one for one in columns if one.valid.any()] or columns
        kind = np.result_type(*(one.values.dtype for one in told))
        parts = [
            one.values.astype(kind) if one.valid.any() else np.zeros(len(one.values), kind)
            for one in columns
        ]
        return cls(np.concatenate(parts), np.concatenate([one.valid for one in columns]))

    def take(self, rows: NDArray[np.int64] | slice) -> "Column":
        """Return these rows, in this order."""
        return Column(self.values[rows], self.valid[rows])

    @property
    def is_number(self) -> bool:
        """Whether its values are whole numbers or floats."""
        return self.values.dtype.kind in "iuf"

    def floats(self) -> NDArray[np.float64]:
        """Return its numbers as floats, NaN for null."""
        return np.where(self.valid, self.values.astype(np.float64), np.nan)

    def given(self, name: str) -> "NewColumn":
        """Return it under a name, as a table takes it."""
        if self.values.dtype == np.object_:
            pairs = zip(self.values, self.valid, strict=True)
            return name, [value if is_valid else None for value, is_valid in pairs], None
        return name, self.values, None if self.valid.all() else self.valid


def _kind(found: set[type]) -> type:
    if len(found) == 1 and (kind := next(iter(found))) in _HELD:
        return kind
    # A set, as flags are whole numbers to Python, and none here.
    if found <= {int, float}:
        return float
    raise TypeError(f"one column has {', '.join(sorted(each.__name__ for each in found))}")


def of_columns(columns: Mapping[str, Column | NDArray[Any]]) -> Table:
    """Return a table of these columns; in an array of floats NaN is null."""
    made = {
        name: column if isinstance(column, Column) else Column.of_array(column)
        for name, column in columns.items()
    }
    return Table([column.given(name) for name, column in made.items()])


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of rows; its columns are those of the first, which each row has."""
    return of_columns({name: Column.of([row[name] for row in rows]) for name in rows[0]})


def rows(table: Table, most: int | None = None) -> list[dict[str, Any]]:
    """Return its rows, or the first of them, by column; None for null."""
    if most is not None:
        table = table.slice(0, most)
    columns = [table[name] for name in table.names]
    return [dict(zip(table.names, row, strict=True)) for row in zip(*columns, strict=True)]


def write(table: Table, file: BinaryIO) -> None:
    """Write a table as a Parquet file."""
    writer = ParquetWriter(table, _GROUP_ROWS, packed=False)
    file.write(writer.write(table))
    file.write(writer.finish())


def reader(
    path: Path, names: Sequence[str] | None = None, group: int | None = None
) -> ParquetReader:
    """Open a Parquet file, of which some columns or all are read; raises UserError if it is none.

    `group`: one row group only.

    An error behind its head appears when it is read, as an OSError or a ValueError.
    """
    try:
        return ParquetReader(path, names, group)
    except KeyError as error:
        raise UserError(f"{path}: has no column {error.args[0]}; was it written here?") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot read it: {error}") from None


def read(path: Path) -> Table:
    """Read a Parquet file; raises UserError if it is none."""
    try:
        return reader(path).read()
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot read it: {error}") from None
