"""Order of requests: runs of one operation, bursts on several scales of time."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reprieve.traces import TraceRow

SCALES = (10, 100, 1000)
"""Windows of counts, in mean gaps of the operation."""
LAGS = (1, 2, 4, 8, 16)
"""Lags of correlations, in windows of `_CORRELATED` mean gaps of all requests."""
_CORRELATED = 30
_WINDOWS_MIN = 4
"""Fewer windows have no variance to speak of."""
_EXTENT_STEP_BYTES = 4096
_LARGE_BYTES = 32768
_LARGE_MIN = 10
"""Smallest number of large requests whose order is analysed."""


@dataclass(frozen=True)
class Requests:
    """Reads and writes in order of arrival, a column each."""

    time_ns: NDArray[np.int64]
    """Since the first."""
    is_read: NDArray[np.bool_]
    offset_bytes: NDArray[np.int64]
    """In one space, where each device lies behind the one before."""
    size_bytes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def span_ns(self) -> int:
        """From the first to the last."""
        return int(self.time_ns[-1]) if len(self) else 0

    def of(self, is_read: bool) -> "Requests":
        """Return the reads, or the writes."""
        return self.where(self.is_read == is_read)

    def where(self, chosen: NDArray[np.bool_]) -> "Requests":
        """Return some of them; times keep their origin."""
        return Requests(*(column[chosen] for column in vars(self).values()))

    @staticmethod
    def of_rows(rows: Iterable[TraceRow]) -> "Requests":
        """Return the reads and writes of rows; other operations and empty rows are left out."""
        kept = [row for row in rows if row.op in ("read", "write") and row.bytes > 0]
        device = np.array([row.device for row in kept], dtype=np.int64)
        offset = np.array([row.offset_bytes for row in kept], dtype=np.int64)
        size = np.array([row.bytes for row in kept], dtype=np.int64)
        before = 0
        for number in np.unique(device):
            here = device == number
            extent = int((offset + size)[here].max())
            offset[here] += before
            # As a replay lays them: what is aligned in its device stays aligned.
            before += -(-extent // _EXTENT_STEP_BYTES) * _EXTENT_STEP_BYTES
        # Counted from the first: in ns since 1601, as Windows counts, a time has more than 63 bits.
        first = min((row.time_ns for row in kept), default=0)
        time = np.array([row.time_ns - first for row in kept], dtype=np.int64)
        by_time = np.argsort(time, kind="stable")
        is_read = np.array([row.op == "read" for row in kept], dtype=np.bool_)
        return Requests(time[by_time], is_read[by_time], offset[by_time], size[by_time])


@dataclass(frozen=True)
class Order:
    """Statistics of the order of requests; None where there are too few requests."""

    requests: int
    read_share: float
    rate_iops: float
    mean_run: float
    """Requests of one operation in a row."""
    simultaneous_share: float
    """Requests that arrive together with the one before."""
    read_dispersion: dict[int, float | None]
    """Variance over mean of the reads in windows, by the length in mean gaps of reads."""
    write_dispersion: dict[int, float | None]
    read_autocorrelation: dict[int, float | None]
    """Of the counts in windows of 30 mean gaps, by lag in windows."""
    write_autocorrelation: dict[int, float | None]
    cross_correlation: dict[int, float | None]
    """Of reads with later writes, by lag in windows."""
    read_size_bytes: float | None
    write_size_bytes: float | None
    read_same_size: float | None
    """Share of the reads that have the size of the read before."""
    write_same_size: float | None
    read_large_after_large: float | None
    """Share of the reads of 32 KiB or more after which the next read is one, too."""
    write_large_after_large: float | None


def order(requests: Requests) -> Order:
    """Say how requests follow each other. ValueError without a request."""
    if not len(requests):
        raise ValueError("no request to look at")
    reads, writes = requests.of(True), requests.of(False)
    changes = int(np.count_nonzero(np.diff(requests.is_read)))
    gaps = np.diff(requests.time_ns)
    window_ns = requests.span_ns / len(requests) * _CORRELATED
    by_window = [counts_of(each.time_ns, window_ns, requests.span_ns) for each in (reads, writes)]
    return Order(
        requests=len(requests),
        read_share=len(reads) / len(requests),
        rate_iops=len(requests) / max(requests.span_ns, 1) * 1e9,
        mean_run=len(requests) / (changes + 1),
        simultaneous_share=float(np.mean(gaps == 0)) if len(gaps) else 0.0,
        read_dispersion={scale: dispersion(reads.time_ns, scale) for scale in SCALES},
        write_dispersion={scale: dispersion(writes.time_ns, scale) for scale in SCALES},
        read_autocorrelation={lag: _correlation(by_window[0], by_window[0], lag) for lag in LAGS},
        write_autocorrelation={lag: _correlation(by_window[1], by_window[1], lag) for lag in LAGS},
        cross_correlation={
            lag: _correlation(by_window[0], by_window[1], lag) for lag in (0, *LAGS)
        },
        read_size_bytes=float(reads.size_bytes.mean()) if len(reads) else None,
        write_size_bytes=float(writes.size_bytes.mean()) if len(writes) else None,
        read_same_size=_same_size(reads.size_bytes),
        write_same_size=_same_size(writes.size_bytes),
        read_large_after_large=_large_after_large(reads.size_bytes),
        write_large_after_large=_large_after_large(writes.size_bytes),
    )


def _same_size(size_bytes: NDArray[np.int64]) -> float | None:
    return float(np.mean(np.diff(size_bytes) == 0)) if len(size_bytes) > 1 else None


def _large_after_large(size_bytes: NDArray[np.int64]) -> float | None:
    large = size_bytes >= _LARGE_BYTES
    if np.count_nonzero(large[:-1]) < _LARGE_MIN:
        return None
    return float(np.mean(large[1:][large[:-1]]))


def dispersion(
    time_ns: NDArray[np.int64], scale: float, span_ns: float | None = None
) -> float | None:
    """Return variance over mean of the counts in windows of `scale` mean gaps; 1 if Poisson.

    Windows begin with the first request and end with the last, or they begin at 0 and end after
    `span_ns`. None if fewer than four fit, or if the requests take no time.
    """
    if not len(time_ns) or time_ns[-1] == time_ns[0]:
        return None
    begin_ns = time_ns[0] if span_ns is None else 0
    span = float(time_ns[-1] - begin_ns) if span_ns is None else span_ns
    counts = counts_of(time_ns - begin_ns, span / len(time_ns) * scale, span)
    return float(counts.var() / counts.mean()) if len(counts) >= _WINDOWS_MIN else None


def counts_of(time_ns: NDArray[np.int64], window_ns: float, span_ns: float) -> NDArray[np.int64]:
    """Return how many fall into each whole window."""
    windows = int(span_ns // window_ns) if window_ns > 0 else 0
    if windows == 0:
        return np.zeros(0, dtype=np.int64)
    return np.histogram(time_ns, bins=windows, range=(0, windows * window_ns))[0]


def _correlation(one: NDArray[np.int64], other: NDArray[np.int64], lag: int) -> float | None:
    """Return the correlation of one series with another `lag` windows later."""
    if len(one) < lag + _WINDOWS_MIN:
        return None
    early, late = one[: len(one) - lag], other[lag:]
    if early.std() == 0 or late.std() == 0:
        return None
    return float(np.corrcoef(early, late)[0, 1])
