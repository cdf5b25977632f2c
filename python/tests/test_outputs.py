"""Files that appear whole or not at all, and a log whose bytes do not depend on its steps."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from reprieve import UserError
from reprieve._native import Table
from reprieve.outputs import ResultDirectory, replace_file
from reprieve.request_log import OPS, ParquetLog
from reprieve.simulation import stepwise

from .drive import SMALL
from .test_run import LOG


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
        f"{tmp_path}/taken: cannot write here: Is a directory; name another place"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.fixture(scope="module")
def four() -> Table:
    """Return a log of a request of each kind."""
    sets = {"trim_fraction": 0.1, "flush_every_requests": 5, "requests": 200}
    drive: dict[str, Any] = tomllib.loads(SMALL)
    simulation = stepwise(drive | {"workload": drive["workload"] | sets}, requests=True)
    while simulation.step(1000):
        pass
    log = simulation.take_log()
    return log.take(np.array([log["op"].index(op) for op in OPS]))


def written(four: Table, steps: Sequence[int]) -> bytes:
    """Write a log that repeats four requests, cut into steps."""
    file = io.BytesIO()
    log = ParquetLog(file, Path("unused"))
    for first, count in zip(np.cumsum([0, *steps]).tolist(), steps, strict=False):
        log.add(four.take(np.arange(first, first + count) % 4))
    log.close()
    return file.getvalue()


def test_steps_do_not_show_in_the_file(four: Table) -> None:
    rows = 300_000
    whole = written(four, [rows])
    assert written(four, [1, 2, 131_069, 5, rows - 131_077]) == whole
    assert written(four, [1000] * 300) == whole
    file = pq.ParquetFile(io.BytesIO(whole))
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [131_072, 131_072, 300_000 - 2 * 131_072]
    assert file.read()["op"].to_pylist()[:5] == ["read", "write", "trim", "flush", "read"]


def test_log_without_rows_is_a_table_without_rows(four: Table) -> None:
    table = pq.read_table(io.BytesIO(written(four, [])))
    assert table.num_rows == 0
    assert table.schema == LOG


def test_integers_of_a_log_are_packed_and_words_are_numbered(four: Table) -> None:
    group = pq.ParquetFile(io.BytesIO(written(four, [1000]))).metadata.row_group(0)
    for column in map(group.column, range(group.num_columns)):
        packed = column.physical_type == "INT64"
        assert column.compression == "ZSTD"
        assert ("DELTA_BINARY_PACKED" in column.encodings) == packed
        assert column.has_dictionary_page == (not packed), column.path_in_schema
