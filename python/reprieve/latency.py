"""Latencies of a run's requests as a distribution, and numbers of a run as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprieve import frames
from reprieve._native import UserError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

KINDS = ("read", "write", "total")
"""Groups of requests; "total" is reads and writes."""


@dataclass(frozen=True, eq=False)
class Latency:
    """Distribution of latencies, completion − arrival, in ns.

    It is a histogram: a percentile is the upper end of the bucket that holds it, never above the
    largest latency. Mean, smallest and largest are exact. To programs that take Arrow it is the
    table of its buckets.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 1.0, "queue_depth": 1}
    >>> reads = rp.run({"device": "fast12-slc", "workload": load}).latency("read")
    >>> reads.requests, reads.min, reads.mean, reads.percentile(99.99)
    (2000, 32048, 32048.0, 32048)
    """

    upper_ns: NDArray[np.int64]
    """The upper end of each bucket that is not empty, in rising order; shape (buckets,)."""
    count: NDArray[np.int64]
    """The number of requests in each bucket; shape (buckets,)."""
    mean: float
    """Mean in ns; 0.0 without requests."""
    min: int
    """Smallest in ns; 0 without requests."""
    max: int
    """Largest in ns; 0 without requests."""

    @property
    def requests(self) -> int:
        """The number of requests."""
        return int(self.count.sum())

    def percentile(self, percent: float) -> int:
        """Latency in ns that this share of the requests does not exceed; 0 without requests.

        `percent` is in (0, 100]; 99.99 is p99.99. Raises UserError outside this range, and from 0.5
        to 1, where a share of 1 is meant.
        """
        if not 0 < percent <= 100:  # noqa: PLR2004
            raise UserError(f"percentile {percent}: must be above 0 and at most 100")
        if 0.5 <= percent < 1:  # noqa: PLR2004
            meant = f"{100 * percent:g} and not {percent:g}"
            raise UserError(f"percentile {percent}: must be in per cent: {meant}")
        if len(self.count) == 0:
            return 0
        import numpy as np

        cumulative = np.cumsum(self.count)
        # A product that float rounding lifts a hair above a whole rank must not move to the next.
        rank = int(np.ceil(round(percent / 100 * int(cumulative[-1]), 6)))
        bucket = int(np.searchsorted(cumulative, max(rank, 1)))
        return min(int(self.upper_ns[bucket]), self.max)

    def cdf(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return latencies in ns and the share of requests up to each, with shape (buckets,)."""
        import numpy as np

        cumulative = np.cumsum(self.count)
        total = cumulative[-1] if len(cumulative) else 1
        return np.minimum(self.upper_ns, self.max), cumulative / total

    def to_arrow(self) -> pa.Table:
        """Return the histogram as columns `upper_ns` and `count`, a row a bucket.

        Raises UserError if pyarrow is not installed.
        """
        return frames.to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        from reprieve.tables import of_columns

        table = of_columns({"upper_ns": self.upper_ns, "count": self.count})
        return table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the same as a pandas frame; raises UserError if pandas is not installed."""
        return frames.to_pandas(self.to_arrow)

    def to_polars(self) -> pl.DataFrame:
        """Return the same as a polars frame; raises UserError if polars is not installed."""
        return frames.to_polars(self.to_arrow)


def percent_of(part: str) -> str:
    """Return a part of the requests as a reader writes it: "slowest_0_01" → "0.01 %"."""
    return "100 %" if part == "all" else f"{part.removeprefix('slowest_').replace('_', '.')} %"


def power_csv(power: dict[str, NDArray[np.int64]]) -> str:
    """Write the bins of power as CSV, with the mean power of each in mW."""
    columns = ("start_ns", "length_ns", "core_pj", "io_pj")
    lines = [",".join((*columns, "power_mw"))]
    for row in zip(*(power[column].tolist() for column in columns), strict=True):
        _, length_ns, core_pj, io_pj = row
        # A picojoule in a nanosecond is a milliwatt.
        power_mw = (core_pj + io_pj) / length_ns if length_ns else 0.0
        lines.append(",".join(map(str, (*row, power_mw))))
    return "\n".join(lines) + "\n"


def json_text(numbers: dict[str, Any]) -> str:
    """Write a summary in fixed key order, floats by their shortest exact form."""
    return json.dumps(numbers, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
