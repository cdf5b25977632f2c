"""Tables of results for other programs: Arrow, and pandas and polars where installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reprieve.extras import need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def pyarrow(what: str) -> Any:
    """Return the package; UserError that `what` needs it if it is not installed."""
    return need("pyarrow", what, "pyarrow", "arrow")


def to_arrow(table: object, what: str = "to_arrow()") -> pa.Table:
    """Return a table as one of pyarrow, which `what` is to give; UserError without pyarrow."""
    return pyarrow(what).table(table)


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the leaves of nested dictionaries by their path: `requests.read.latency_ns.mean`."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= flat(value, f"{before}{key}.")
        else:
            leaves[f"{before}{key}"] = value
    return leaves


def to_pandas(table: Callable[[], pa.Table]) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame; raises UserError if pandas is not installed."""
    need("pandas", "to_pandas()", "pandas", "frames")
    return table().to_pandas()


def to_polars(table: Callable[[], pa.Table]) -> pl.DataFrame:
    """Return an Arrow table as a polars frame; raises UserError if polars is not installed."""
    frame: pl.DataFrame = need("polars", "to_polars()", "polars", "frames").from_arrow(table())
    return frame
