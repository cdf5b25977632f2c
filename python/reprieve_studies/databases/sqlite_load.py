"""The bulk load beside SQLite's transactions, as a process of its own."""

import random
import sqlite3
import sys
import time
from pathlib import Path

from reprieve_studies.databases.sqlite import ROW_BYTES
from reprieve_studies.databases.work import forget

_BATCH_ROWS = 64
"""Of a commit."""
_BULK_ROWS = 500_000
"""Number of rows after which the load replaces the first, so that the drive has room."""


def load(path: Path, bytes_per_s: float, seed: int) -> None:
    """Insert batch after batch, no faster than that; it is ended from outside.

    As SQLite's own advice for a bulk load is, nothing is logged and nothing promised: a flush of
    the loader's would hold up everybody's reads in the loop device.
    """
    # Other rows than those that are read.
    draw = random.Random(seed + 1_000_000)
    base = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=OFF", "synchronous=OFF"):
        base.execute(f"PRAGMA {pragma}")
    base.execute("CREATE TABLE bulk (id INTEGER PRIMARY KEY, data BLOB)")
    at, due_s = 0, time.monotonic()
    while True:
        base.execute("BEGIN")
        batch = [((at + row) % _BULK_ROWS, draw.randbytes(ROW_BYTES)) for row in range(_BATCH_ROWS)]
        base.executemany("REPLACE INTO bulk VALUES (?, ?)", batch)
        base.execute("COMMIT")
        at += _BATCH_ROWS
        # What is to be forgotten is written first, now and not in one burst after seconds.
        forget(path)
        # What it could not load in time it does not make up for.
        due_s = max(due_s + _BATCH_ROWS * ROW_BYTES / bytes_per_s, time.monotonic())
        time.sleep(max(due_s - time.monotonic(), 0))


if __name__ == "__main__":
    load(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
