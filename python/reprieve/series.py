"""Course of a run over time: counts of each bin, and the causes of slow requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reprieve import frames
from reprieve._native import Table
from reprieve.request_log import COMPONENTS
from reprieve.tables import of_columns

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[Any]
Op = Literal["read", "write"]

PERCENTILES = (50.0, 99.0, 99.9)
"""Those that `series.parquet` has of each bin."""


@dataclass(frozen=True, eq=False)
class Series:
    """Record of a run over time, in at most 512 bins of one length.

    Counts are exact. Latencies are in buckets of a sixteenth of an octave: what is read from them
    is at most 6.25 % too long. To programs that take Arrow it is the table of its bins.
    """

    bins: Mapping[str, Array]
    """A column for each thing counted, an entry a bin; names end with their unit."""
    latency_upper_ns: Array
    """Upper end of each bucket of latency, rising."""
    latency_counts: Mapping[str, Array]
    """Of "read" and of "write", requests by bin and bucket."""
    parts_ns: Mapping[str, Array]
    """Of "read" and of "write", where the time of the requests of each bucket went, in all: a
    column for each of `request_log.COMPONENTS`."""
    ages: Mapping[str, Array]
    """Of "program" and of "erase", suspensions by how much of the operation was done when they
    were asked for, in twentieths."""
    die_busy_ns: Array
    """Time in use of each die; those of a channel follow each other."""
    channel_busy_ns: Array
    """Time in use of each channel."""
    erases: Array
    """Numbers of erases of a block since the first request, rising; `blocks` counts them."""
    blocks: Array
    """Number of blocks with each of the `erases`."""

    @classmethod
    def of(cls, course: Mapping[str, Any]) -> "Series":
        """Take what the simulator hands over."""
        return cls(
            latency_counts={op: course[f"{op}_latency_counts"] for op in ("read", "write")},
            parts_ns={op: course[f"{op}_parts_ns"] for op in ("read", "write")},
            ages={kind: course[f"{kind}_ages"] for kind in ("program", "erase")},
            **{name: column for name, column in course.items() if name in cls.__annotations__},
        )

    def __len__(self) -> int:
        return len(self.bins["start_ns"])

    def __repr__(self) -> str:
        length_ns = self.bins["length_ns"].max(initial=0)
        return f"<reprieve.Series: {len(self)} bins of {length_ns / 1000:,.0f} µs>"

    def percentile_ns(self, op: Op, percent: float) -> NDArray[np.float64]:
        """Latency that this share of the requests of each bin does not exceed; NaN without any."""
        within = self.latency_counts[op].cumsum(axis=1)
        total = self.bins[f"{op}_count"]
        rank = np.maximum(np.ceil(np.round(percent / 100 * total, 6)), 1)
        bucket = (within < rank[:, np.newaxis]).sum(axis=1)
        latency_ns = np.full(len(self), np.nan)
        has = total > 0
        upper_ns = self.latency_upper_ns[bucket[has]]
        latency_ns[has] = np.minimum(upper_ns, self.bins[f"{op}_latency_ns_max"][has])
        return latency_ns

    def slowest(self, op: Op, share: float) -> dict[str, float]:
        """Mean time in ns of this share of the requests, the slowest, by what it was spent on.

        Of the bucket at which the share ends as much counts as is needed, by its mean. Empty if
        there is no request.
        """
        counts = self.latency_counts[op].sum(axis=0)
        wanted = share * counts.sum()
        if wanted == 0:
            return {}
        slower = counts[::-1].cumsum()[::-1] - counts
        taken = np.clip(wanted - slower, 0, counts)
        weight = np.divide(taken, counts, out=np.zeros(len(counts)), where=counts > 0)
        sums_ns = weight @ self.parts_ns[op]
        return dict(zip(COMPONENTS, (sums_ns / wanted).tolist(), strict=True))

    def in_bins(self, at_most: int) -> "Series":
        """Return the same with neighbouring bins made one, until there are no more than these."""
        series = self
        while len(series) > at_most:
            series = series._paired()
        return series

    def _paired(self) -> "Series":
        firsts = np.arange(0, len(self), 2)
        weights = {"open_requests_mean": self.bins["length_ns"]}
        weights |= {f"{op}_latency_ns_mean": self.bins[f"{op}_count"] for op in self.latency_counts}
        bins: dict[str, Array] = {}
        for name, column in self.bins.items():
            if name == "start_ns":
                bins[name] = column[firsts]
            elif name in weights:
                weight = np.add.reduceat(weights[name], firsts)
                total = np.add.reduceat(column * weights[name], firsts)
                bins[name] = np.divide(total, weight, out=np.zeros(len(firsts)), where=weight > 0)
            elif name.endswith("_max"):
                bins[name] = np.maximum.reduceat(column, firsts)
            else:
                bins[name] = np.add.reduceat(column, firsts)
        counts = {op: np.add.reduceat(of, firsts) for op, of in self.latency_counts.items()}
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Series(**fields | {"bins": bins, "latency_counts": counts})

    def table(self) -> "pa.Table":
        """Return the bins as an Arrow table, percentiles of latency among the columns.

        Raises UserError if pyarrow is not installed.
        """
        return frames.to_arrow(self, "table()")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.columns().__arrow_c_stream__(requested_schema)

    def columns(self) -> Table:
        """Return the same as other programs take it without pyarrow."""
        columns = dict(self.bins)
        for op in ("read", "write"):
            for percent in PERCENTILES:
                latency_ns = self.percentile_ns(op, percent)
                name = f"{op}_latency_ns_p{percent:g}".replace(".", "_")
                columns[name] = latency_ns
        when = {name: columns.pop(name) for name in ("start_ns", "length_ns")}
        return of_columns(when | columns)
