"""Work of a database."""

from dataclasses import dataclass
from pathlib import Path


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
