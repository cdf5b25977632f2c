"""Tables as files in the forms that other programs read."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from reprieve._native import UserError
from reprieve.outputs import folder_of, whole_file

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("csv", "json", "parquet")


def export(found: "pa.Table", path: Path, kind: str) -> None:
    """Write a table whole or not at all: "csv", "json" (a list of objects) or "parquet"."""
    with folder_of(path), whole_file(path) as file:
        _write(found, file, kind, path)


def _write(found: "pa.Table", file: BinaryIO, kind: str, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if kind == "parquet":
        pq.write_table(found, file)
    elif kind == "json":
        names = found.column_names
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise UserError(f"{path}: two columns are {twice[0]}, which JSON has not; rename one")
        try:
            text = json.dumps(
                found.to_pylist(), indent=2, ensure_ascii=False, default=str, allow_nan=False
            )
        except ValueError:
            what = "a number is NaN or infinite, which JSON has not; write --csv or --parquet"
            raise UserError(f"{path}: {what}, or select others") from None
        file.write(f"{text}\n".encode())
    else:
        for field in found.schema:
            if pa.types.is_nested(field.type):
                raise UserError(
                    f"{path}: the column {field.name} is a list, which CSV has not; "
                    "write --json or --parquet, or select other columns"
                )
        pyarrow.csv.write_csv(found, file)
