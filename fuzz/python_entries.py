"""Fuzzes an entry of the Python package: python_entries.py ENTRY [ARGUMENT of libFuzzer…]."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["reprieve"]):
    from reprieve import UserError
    from reprieve.calibration import fio_results
    from reprieve.experiments.query import query
    from reprieve.latency import KINDS

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(tempfile.mkdtemp())
SECRET = "of no sweep"
SQL_CHARACTERS_MAX = 300
LONG = ("range", "generate", "repeat", "pad", "recursive")
"""Words with which one SELECT may go on for ever."""


def prepare() -> None:
    """Write a data set with one run, and a file that no question may read."""
    bucket = pa.list_(pa.struct([("upper_ns", pa.int64()), ("count", pa.int64())]))
    column = pa.array([[{"upper_ns": 8, "count": 1}]], bucket)
    histograms = {f"{kind}_histogram": column for kind in KINDS}
    runs = pa.table({"point": [0], "run": [0], "mean_ns": [1.5], **histograms})
    (FOLDER / "sweep").mkdir()
    pq.write_table(runs, FOLDER / "sweep/runs.parquet")
    (FOLDER / "secret.csv").write_text(SECRET)


def take_fio_result(data: bytes) -> None:
    """Read a result of fio: conditions, or a sentence."""
    path = FOLDER / "run.json"
    path.write_bytes(data)
    refused(lambda: fio_results.read_results([path]))


def take_query(data: bytes) -> None:
    """Answer a question, which reads the data set and nothing else."""
    sql = data.decode(errors="replace").replace("FOLDER", str(FOLDER))
    if len(sql) > SQL_CHARACTERS_MAX or any(word in sql.lower() for word in LONG):
        return
    found = refused(lambda: query(sql, FOLDER / "sweep"))
    if SECRET not in sql and SECRET in str(found):
        raise AssertionError(f"{sql} reads another file")


def refused(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or nothing if it refuses its input and says why."""
    try:
        return call()
    except UserError as error:
        assert str(error).strip()
        return None


ENTRIES = {"fio-result": take_fio_result, "query": take_query}


def main() -> None:
    """Fuzz the entry that is named."""
    entry = ENTRIES[sys.argv.pop(1)]
    prepare()
    atheris.Setup(sys.argv, entry)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
