"""Sizes in runs, and what requests of each size do: go on from, or repeat, others of that size."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reprieve.trace_fit.order import Requests

SIZES_MAX = 24
_STREAMS = (1, 2, 4, 8, 16, 32, 64)
_ENOUGH = 0.9
"""Share of continuations, from any of the last 64 ends of a size, that the streams cover."""
_WINDOW_MAX = 1 << 16
_PAGE_BYTES = 4096
_SECTOR_BYTES = 512
_DIGITS = 4
_STEPS_MAX = 10_000
_ENOUGH_STEPS = 1e-9
_LEAST = 1e-12


@dataclass(frozen=True)
class BySize:
    """The keys of a flow that are about sizes and places."""

    request_bytes: tuple[tuple[int, float], ...]
    size_run_fraction: tuple[float, ...]
    sequential_by_size: tuple[float, ...]
    sequential_streams: int
    repeat_by_size: tuple[float, ...]
    repeat_window_requests: int


def by_size(part: Requests) -> tuple[BySize, int]:
    """Return what requests of one operation do, and how many are left out for their rare sizes."""
    sectors = -(-part.size_bytes // _SECTOR_BYTES)
    counted = Counter(sectors.tolist()).most_common(SIZES_MAX)
    sizes = np.array(sorted(size for size, _ in counted))
    kept = part.where(np.isin(sectors, sizes))
    which = np.searchsorted(sizes, sectors[np.isin(sectors, sizes)])
    counts = np.bincount(which, minlength=len(sizes))
    places = [_followed(kept.where(which == index)) for index in range(len(sizes))]
    depths = np.array([depth for each in places for depth in each.depths])
    lags = [lag for each in places for lag in each.lags]
    streams = next(
        count for count in _STREAMS if np.count_nonzero(depths <= count) >= _ENOUGH * len(depths)
    )
    # Half of log-uniform distances are below the square root of the longest.
    window = round(float(np.median(lags)) ** 2) if lags else 1
    shares = zip(places, counts.tolist(), strict=True)
    goes_on, repeats = zip(*(each.shares(count) for each, count in shares), strict=True)
    found = BySize(
        tuple(zip((sizes * _SECTOR_BYTES).tolist(), counts.astype(float).tolist(), strict=True)),
        tuple(round(float(one), _DIGITS) for one in stays(follows(which, len(sizes)), counts)),
        goes_on,
        streams,
        repeats,
        min(max(window, 1), _WINDOW_MAX),
    )
    return found, len(part) - len(kept)


def follows(which: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Return for each of `count` sizes how often it repeats, as a share of its requests."""
    same = which[1:][which[1:] == which[:-1]]
    found: NDArray[np.float64] = np.bincount(same, minlength=count) / np.maximum(
        np.bincount(which, minlength=count), 1
    )
    return found


def stays(follow: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the chance with which each size has to stay, so that it follows itself so often.

    What does not stay is drawn with chances w in proportion to p (1 - r), r being the chance of a
    size of share p to stay, so that shares remain p. A size then follows itself in a share
    f = r + (1 - r) w of the cases. A size that chance alone lets follow itself more often is drawn.
    """
    share = weights / weights.sum()
    leaves = np.ones(len(share))
    for _ in range(_STEPS_MAX):
        drawn = share * leaves / max(share @ leaves, _LEAST)
        before = leaves
        leaves = np.minimum((1 - follow) / np.maximum(1 - drawn, _LEAST), 1.0)
        if np.max(np.abs(leaves - before)) < _ENOUGH_STEPS:
            break
    found: NDArray[np.float64] = 1 - leaves
    return found


@dataclass(frozen=True)
class _Followed:
    """Which of the last ends requests go on from, and how far back others repeat a page."""

    depths: Sequence[int]
    lags: Sequence[int]

    def shares(self, count: int) -> tuple[float, float]:
        """Return the shares that go on, and that repeat; together at most 1."""
        goes_on = round(len(self.depths) / count, _DIGITS)
        tick = 10**_DIGITS
        return goes_on, min(
            round(len(self.lags) / count, _DIGITS), round((1 - goes_on) * tick) / tick
        )


def _followed(part: Requests) -> _Followed:
    """Say what the requests of one size do.

    A request goes on if it begins where one of the last requests ended. It repeats if it does not
    go on and its first page was the first page of an earlier one.
    """
    ends: dict[int, None] = {}
    seen: dict[int, int] = {}
    depths: list[int] = []
    lags: list[int] = []
    first, size = part.offset_bytes.tolist(), part.size_bytes.tolist()
    for index, (begin, length) in enumerate(zip(first, size, strict=True)):
        page = begin // _PAGE_BYTES
        if begin in ends:
            depths.append(len(ends) - list(ends).index(begin))
            del ends[begin]
        elif page in seen and index - seen[page] <= _WINDOW_MAX:
            lags.append(index - seen[page])
        seen[page] = index
        ends[begin + length] = None
        if len(ends) > _STREAMS[-1]:
            del ends[next(iter(ends))]
    return _Followed(depths, lags)
