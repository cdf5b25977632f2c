"""Tables without pyarrow: what other programs take, files of Parquet both ways, columns by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve import tables
from reprieve._native import ParquetReader, ParquetWriter, Table
from reprieve.tables import Column

from .sweep_files import grid
from .test_frames import SCENARIO

# A column of each type, with a null in each but the first.
COLUMNS: dict[str, list[Any]] = {
    "id": [0, 1, -(2**63)],
    "count": [1, None, 3],
    "mean": [0.5, None, 2.0],
    "is_read": [True, None, False],
    "name": ["a", None, "µs"],
}
TYPES = [pa.int64(), pa.int64(), pa.float64(), pa.bool_(), pa.string()]


@pytest.fixture(scope="module")
def result() -> rp.Result:
    return rp.run(SCENARIO, requests=True, series=True, workload__requests=500)


@pytest.fixture
def table() -> Table:
    return tables.of_columns({name: Column.of(values) for name, values in COLUMNS.items()})


# ---- What other programs take --------------------------------------------------------------------


def duckdb_takes(source: Any) -> dict[str, list[Any]]:
    found = duckdb.sql("SELECT * FROM source")
    assert found is not None
    columns = zip(*found.fetchall(), strict=True)
    return dict(zip(found.columns, map(list, columns), strict=True))


TAKERS: dict[str, Callable[[Any], dict[str, list[Any]]]] = {
    "pyarrow": lambda source: pa.table(source).to_pydict(),
    "polars": lambda source: pl.DataFrame(source).to_dict(as_series=False),
    "duckdb": duckdb_takes,
    "pandas": lambda source: pd.DataFrame.from_arrow(source).to_dict("list"),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_a_result_is_a_table_of_its_requests(result: rp.Result, taker: str) -> None:
    found = TAKERS[taker](result)
    assert list(found) == result.requests.column_names
    assert found["id"] == result.column("id").tolist()
    assert found["op"] == result.requests["op"].to_pylist()
    assert found["completion_ns"] == result.column("completion_ns").tolist()


@pytest.mark.parametrize("taker", TAKERS)
def test_what_else_is_a_table(result: rp.Result, tmp_path: Path, taker: str) -> None:
    take, latency = TAKERS[taker], result.latency("read")
    found = take(latency)
    assert found == {"upper_ns": latency.upper_ns.tolist(), "count": latency.count.tolist()}
    assert result.series is not None
    bins = take(result.series)
    assert bins["read_count"] == result.series.bins["read_count"].tolist()
    made = rp.sweep(grid(), out=tmp_path)
    assert take(made)["point"] == made.points["point"].to_pylist()


@pytest.mark.parametrize("taker", ["pyarrow", "polars", "duckdb"])
def test_every_type_and_its_nulls_are_taken(table: Table, taker: str) -> None:
    assert TAKERS[taker](table) == COLUMNS
    assert pa.table(table).schema == pa.schema(list(zip(COLUMNS, TYPES, strict=True)))


def test_what_was_taken_outlives_the_table() -> None:
    taken = pa.table(tables.of_columns({"id": np.arange(100_000)}))
    assert taken["id"].to_pylist() == list(range(100_000))


def test_a_log_on_disk_is_taken_as_it_is_read(tmp_path: Path) -> None:
    kept = rp.run(SCENARIO, requests=True, workload__requests=500)
    there = rp.run(SCENARIO, requests=True, workload__requests=500, out=tmp_path / "o")
    assert pa.table(there).to_pydict() == pa.table(kept).to_pydict()
    assert there.requests.to_pydict() == kept.requests.to_pydict()
    for name in kept.requests.column_names:
        assert np.array_equal(kept.column(name), there.column(name), equal_nan=name == "die")
    assert kept.column("op").tolist() == kept.requests["op"].to_pylist()


def test_a_wrong_column_is_a_sentence(result: rp.Result) -> None:
    with pytest.raises(rp.UserError, match=r'column\("latency"\): must be one of id, op, lba'):
        result.column("latency")
    with pytest.raises(rp.UserError, match="kept no log of its requests"):
        rp.run(SCENARIO, workload__requests=10).column("id")


def test_without_pyarrow_it_says_so(
    result: rp.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rp.sweep(grid(), out=tmp_path)
    series = result.series
    assert series is not None
    asked: dict[str, Callable[[], object]] = {
        "requests": lambda: result.requests,
        "to_arrow()": lambda: result.to_arrow("summary"),
        "table()": series.table,
        "points": lambda: made.points,
    }
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for what, ask in asked.items():
        with pytest.raises(rp.UserError) as caught:
            ask()
        said = f"{what} needs pyarrow, which is not installed: pip install 'reprieve[arrow]'"
        assert str(caught.value) == said
    assert pl.DataFrame(result)["id"].to_list() == result.column("id").tolist()
    assert pl.DataFrame(made).height == 4


# ---- Files ---------------------------------------------------------------------------------------


def kept(table: Table, folder: Path) -> Path:
    path = folder / "table.parquet"
    with path.open("wb") as file:
        tables.write(table, file)
    return path


def test_files_are_read_by_all(table: Table, tmp_path: Path) -> None:
    path = kept(table, tmp_path)
    read = pq.read_table(path)
    assert read.schema == pa.schema(list(zip(COLUMNS, TYPES, strict=True)))
    assert read.to_pydict() == COLUMNS
    assert pl.read_parquet(path).to_dict(as_series=False) == COLUMNS
    assert duckdb_takes(duckdb.read_parquet(str(path))) == COLUMNS
    assert tables.rows(tables.read(path)) == read.to_pylist()
    assert tables.rows(tables.read(path), 2) == read.to_pylist()[:2]


def test_first_row_group_of_a_file_without_rows_is_empty(table: Table, tmp_path: Path) -> None:
    path = kept(table.slice(0, 0), tmp_path)
    first = tables.reader(path, group=0).read()
    assert (first.names, tables.rows(first)) == (table.names, [])
    with pytest.raises(rp.UserError, match="there is no row group 1"):
        tables.reader(path, group=1)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_files_that_pyarrow_wrote_are_read(tmp_path: Path, compression: str) -> None:
    """Earlier versions wrote logs with zstd and packed integers, data sets as pyarrow does."""
    arrays = [pa.array(values, kind) for values, kind in zip(COLUMNS.values(), TYPES, strict=True)]
    written = pa.table(arrays, list(COLUMNS))
    op = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["read", "write"])
    seeds = pa.array([2**64 - 1, None, 0], pa.uint64())
    written = written.append_column("op", op).append_column("seed", seeds)
    pq.write_table(
        written,
        tmp_path / "a.parquet",
        compression=compression,
        row_group_size=2,
        use_dictionary=["op", "name"],
        column_encoding={"id": "DELTA_BINARY_PACKED"},
    )
    read = tables.read(tmp_path / "a.parquet")
    assert tables.rows(read) == written.to_pylist()
    assert read.is_word("op", "write").tolist() == [True, False, False]
    assert read.array("id").tolist() == COLUMNS["id"]
    assert read.array("count").tolist()[::2] == [1.0, 3.0] and math.isnan(read.array("count")[1])
    few = ParquetReader(tmp_path / "a.parquet", ["op", "id"]).read()
    assert sorted(few.names) == ["id", "op"]
    with pytest.raises(KeyError, match="lba"):
        ParquetReader(tmp_path / "a.parquet", ["id", "lba"])


def test_a_damaged_file_is_a_sentence(table: Table, tmp_path: Path) -> None:
    path = kept(table, tmp_path)
    data = path.read_bytes()
    for broken in (b"", b"PAR1", data[:-1], data[: len(data) // 2], b"x" * 1000):
        path.write_bytes(broken)
        with pytest.raises(rp.UserError, match=rf"{path}: cannot read it: \S+"):
            tables.read(path)
    path.unlink()
    with pytest.raises(rp.UserError, match="No such file"):
        tables.read(path)


def test_memory_is_bounded_by_a_row_group() -> None:
    part = tables.of_columns({"x": np.random.default_rng(1).random(6000)})
    writer = ParquetWriter(part, 10_000, packed=False)
    sizes = [len(writer.write(part)) for _ in range(5)]
    # After 6000, 12000, … 30000 rows of 8 bytes each: at the second, the fourth and the fifth part
    # a group of 80 kB is complete, less what the same numbers in another part have saved.
    assert [size > 10_000 for size in sizes] == [False, True, False, True, True]
    assert sizes[0] == sizes[2] == 0
    writer.finish()
    with pytest.raises(ValueError, match="the file is finished"):
        writer.finish()


# ---- Columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "type"),
    [
        ([1, None], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([True, None], pa.bool_()),
        (["a", None], pa.string()),
        ([None, None], pa.float64()),
        ([], pa.float64()),
    ],
    ids=str,
)
def test_values_show_the_type_of_their_column(values: list[Any], type: pa.DataType) -> None:
    taken = pa.table(tables.of_columns({"x": Column.of(values)}))["x"]
    assert (taken.type, taken.to_pylist()) == (type, values)


@pytest.mark.parametrize("values", [[1, "a"], [True, 2], [b"x"], [[1]]], ids=str)
def test_no_column_mixes_types(values: list[Any]) -> None:
    with pytest.raises(TypeError, match="one column has"):
        Column.of(values)


def test_columns_are_joined_under_the_type_of_those_with_values() -> None:
    nothing = Column.of([None])
    words = Column.joined([nothing, Column.of(["a"]), nothing])
    assert pa.table(tables.of_columns({"x": words}))["x"].to_pylist() == [None, "a", None]
    numbers = Column.joined([Column.of([1]), Column.of([None, 0.5]), nothing])
    assert numbers.values.dtype == np.float64
    assert pa.table(tables.of_columns({"x": numbers}))["x"].to_pylist() == [1.0, None, 0.5, None]
    assert Column.joined([nothing, Column.of([2**62 + 1])]).values[1] == 2**62 + 1
    flags = Column.joined([nothing, Column.of([True])])
    assert pa.table(tables.of_columns({"x": flags}))["x"].to_pylist() == [None, True]


def test_no_number_is_null() -> None:
    made = tables.of_columns({"x": np.array([1.0, math.nan]), "n": np.array([3, 4])})
    assert tables.rows(made) == [{"x": 1.0, "n": 3}, {"x": None, "n": 4}]
    assert Column.of([1, None]).floats().tolist()[0] == 1.0
    assert math.isnan(Column.of([1, None]).floats()[1])
