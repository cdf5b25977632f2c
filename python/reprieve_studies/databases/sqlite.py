"""SQLite: transactions of point reads, while another process loads in bulk."""

import random
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.databases.work import Work, forget, loading

ROWS = 20_000
ROW_BYTES = 1000
READS = 4
"""Of a transaction."""
_LOADER = "reprieve_studies.databases.sqlite_load"
_CACHE_KIB = 256


def require() -> None:
    """Python brings it along."""


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database whose commits are on the drive when they return."""
    base = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{_CACHE_KIB}"):
        base.execute(f"PRAGMA {pragma}")
    return base


def transactions(work: Work) -> NDArray[np.float64]:
    """Fill a table, and return what each transaction took beside a bulk load, in ns."""
    path = work.root / "base.db"
    draw = random.Random(work.seed)
    _fill(path, draw)
    told = (str(path.with_name("bulk.db")), str(work.bulk_bytes_per_s), str(work.seed))
    loader = loading(
        [sys.executable, "-m", _LOADER, *told],
        "database sqlite: the bulk load ended early; see what it printed",
    )
    with closing(_connect(path)) as base, loader:
        end, taken_ns = time.monotonic() + work.seconds, []
        while time.monotonic() < end:
            taken_ns.append(_transaction_ns(base, path, draw))
        return np.array(taken_ns, float)


def _fill(path: Path, draw: random.Random) -> None:
    """Fill the table, each page written once."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode=OFF")
        base.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)")
        base.execute("BEGIN")
        rows = ((at, draw.randbytes(ROW_BYTES)) for at in range(ROWS))
        base.executemany("INSERT INTO rows VALUES (?, ?)", rows)
        base.execute("COMMIT")


def _transaction_ns(base: sqlite3.Connection, path: Path, draw: random.Random) -> int:
    wanted = [draw.randrange(ROWS) for _ in range(READS)]
    forget(path)
    begun = time.monotonic_ns()
    base.execute("BEGIN")
    for row in wanted:
        base.execute("SELECT data FROM rows WHERE id = ?", (row,)).fetchone()
    base.execute("COMMIT")
    return time.monotonic_ns() - begun
