"""Tables of results for other programs: Arrow, and pandas and polars where installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError
from reprieve.extras import missing

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the leaves of nested dictionaries by their path: `requests.read.latency_ns.mean`."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= flat(value, f"{before}{key}.")
        else:
            leaves[f"{before}{key}"] = value
    return leaves


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame; UserError if pandas is not installed."""
    try:
        import pandas as pd  # noqa: F401
    except ImportError:
        raise _missing("pandas") from None
    return table.to_pandas()


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a polars frame; UserError if polars is not installed."""
    try:
        import polars as pl
    except ImportError:
        raise _missing("polars") from None
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), "a table becomes a frame"
    return frame


def _missing(package: str) -> UserError:
    return UserError(missing(f"to_{package}()", package, "frames"))
