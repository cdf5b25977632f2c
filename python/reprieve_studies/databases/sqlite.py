"""SQLite: transactions of point reads, while another process loads in bulk."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reprieve import UserError
from reprieve_studies.databases.work import Work

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
    with closing(_connect(path)) as base, _loading(path.with_name("bulk.db"), work):
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
    _forget(path)
    begun = time.monotonic_ns()
    base.execute("BEGIN")
    for row in wanted:
        base.execute("SELECT data FROM rows WHERE id = ?", (row,)).fetchone()
    base.execute("COMMIT")
    return time.monotonic_ns() - begun


def _forget(path: Path) -> None:
    """Let the machine forget the tables, so that reads reach the drive."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


@contextmanager
def _loading(path: Path, work: Work) -> Iterator[None]:
    """Load another file in bulk, in a process of its own, until the block ends."""
    told = (str(path), str(work.bulk_bytes_per_s), str(work.seed))
    command = [sys.executable, "-m", _LOADER, *told]
    with subprocess.Popen(command, start_new_session=True) as loader:
        try:
            yield
            if loader.poll() is not None:
                raise UserError("database sqlite: the bulk load ended early; see what it printed")
        finally:
            loader.terminate()
