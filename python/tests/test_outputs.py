"""Files that appear whole or not at all, and a log whose bytes do not depend on its steps."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from reprieve import UserError
from reprieve.outputs import ResultDirectory, replace_file
from reprieve.request_log import SCHEMA, Columns, ParquetLog


def test_files_appear_at_commit(tmp_path: Path) -> None:
    with ResultDirectory(tmp_path / "a" / "b") as out:
        out.write("one.txt", "1")
        out.open("two.bin").write(b"2")
        assert not (tmp_path / "a" / "b" / "one.txt").exists()
        paths = out.commit()
    assert paths == [tmp_path / "a" / "b" / "one.txt", tmp_path / "a" / "b" / "two.bin"]
    assert [path.read_text() for path in paths] == ["1", "2"]
    assert len(list((tmp_path / "a" / "b").iterdir())) == 2


def test_exception_restores_the_directory(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("before")
    for directory in (tmp_path, tmp_path / "new" / "deep"):
        with pytest.raises(ZeroDivisionError), ResultDirectory(directory) as out:
            out.write("kept.txt", "after")
            raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert (tmp_path / "kept.txt").read_text() == "before"


def test_replace_keeps_the_old_file_if_it_fails(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(UserError) as caught:
        replace_file(tmp_path / "taken", "text")
    assert str(caught.value) == (
        f"{tmp_path}/taken: cannot write here: Is a directory; name another place with --out"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def columns(first: int, count: int) -> Columns:
    numbers = np.arange(first, first + count, dtype=np.int64)
    return {
        field.name: (numbers % 4).astype(np.uint8) if field.name == "op" else numbers * 3
        for field in SCHEMA
    }


def written(steps: Sequence[int]) -> bytes:
    file = io.BytesIO()
    with ParquetLog(file, Path("unused")) as log:
        for first, count in zip(np.cumsum([0, *steps]).tolist(), steps, strict=False):
            log.add(columns(first, count))
        log.close()
    return file.getvalue()


def test_steps_do_not_show_in_the_file() -> None:
    rows = 300_000
    whole = written([rows])
    assert written([1, 2, 131_069, 5, rows - 131_077]) == whole
    assert written([1000] * 300) == whole
    file = pq.ParquetFile(io.BytesIO(whole))
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [131_072, 131_072, 300_000 - 2 * 131_072]
    assert file.read()["op"].to_pylist()[:5] == ["read", "write", "trim", "flush", "read"]


def test_log_without_rows_is_a_table_without_rows() -> None:
    table = pq.read_table(io.BytesIO(written([])))
    assert table.num_rows == 0
    assert table.schema.remove_metadata() == SCHEMA
