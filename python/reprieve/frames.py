"""Tables of results for other programs: Arrow, and pandas and polars where installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from reprieve._native import UserError
from reprieve.extras import missing, need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Exports(Protocol):
    """Table that is exported by Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def pyarrow(what: str) -> Any:
    """Return the package; UserError that `what` needs it if it is not installed."""
    return need("pyarrow", what, "pyarrow", "arrow")


def to_arrow(table: Exports, what: str = "to_arrow()") -> pa.Table:
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
    try:
        import pandas as pd  # noqa: F401
    except ImportError:
        raise _missing("pandas") from None
    return table().to_pandas()


def to_polars(table: Callable[[], pa.Table]) -> pl.DataFrame:
    """Return an Arrow table as a polars frame; raises UserError if polars is not installed."""
    try:
        import polars as pl
    except ImportError:
        raise _missing("polars") from None
    frame = pl.from_arrow(table())
    assert isinstance(frame, pl.DataFrame), "a table becomes a frame"
    return frame


def _missing(package: str) -> UserError:
    return UserError(missing(f"to_{package}()", package, "frames"))
