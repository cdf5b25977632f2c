"""The bulk load beside SQLite's transactions, as a process of its own."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from reprieve.reproduce.starblaze.databases.sqlite import ROW_BYTES, connect
from reprieve.reproduce.starblaze.experiment import SEED

_BATCH_ROWS = 256
"""Of a commit."""
_BULK_ROWS = 300_000
"""After so many the load replaces the first, so that the drive has room for it."""


def load(path: Path) -> None:
    """Insert batch after batch; it is ended from outside."""
    draw = random.Random(SEED + 1)
    base = connect(path)
    at = 0
    while True:
        base.execute("BEGIN IMMEDIATE")
        batch = [((at + row) % _BULK_ROWS, draw.randbytes(ROW_BYTES)) for row in range(_BATCH_ROWS)]
        base.executemany("REPLACE INTO bulk VALUES (?, ?)", batch)
        base.execute("COMMIT")
        at += _BATCH_ROWS


if __name__ == "__main__":
    load(Path(sys.argv[1]))
