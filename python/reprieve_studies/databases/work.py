"""Work of a database, and the load beside its transactions."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve import UserError


@dataclass(frozen=True)
class Work:
    """Transactions, and a bulk load beside them."""

    root: Path
    """Where the drive is mounted."""
    seconds: int
    """For which transactions are run, by the wall's clock."""
    bulk_bytes_per_s: float
    """Of the rows that are loaded meanwhile, by the wall's clock."""
    seed: int
    """Of the rows that are read, and of what is loaded."""


@contextmanager
def loading(command: Sequence[str], ended_early: str, **how: Any) -> Iterator[None]:
    """Load in bulk, in a process of its own, until the block ends."""
    with subprocess.Popen(command, start_new_session=True, **how) as loader:
        try:
            yield
            if loader.poll() is not None:
                raise UserError(ended_early)
        finally:
            loader.terminate()


def forget(path: Path) -> None:
    """Let the machine forget a file, so that reads of it reach the drive."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
