"""Percentiles and distributions against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reprieve import Latency, UserError


def latency(buckets: dict[int, int], largest: int) -> Latency:
    upper = np.array(list(buckets.keys()), dtype=np.int64)
    count = np.array(list(buckets.values()), dtype=np.int64)
    return Latency(upper, count, mean=0.0, min=int(upper[0]), max=largest)


def test_percentile_is_the_bucket_of_its_rank() -> None:
    # 90 requests up to 100 ns, 9 up to 200, 1 up to 400: ranks 1–90, 91–99, 100.
    found = latency({100: 90, 200: 9, 400: 1}, largest=390)
    assert [found.percentile(p) for p in (0.1, 50, 90)] == [100, 100, 100]
    assert [found.percentile(p) for p in (90.1, 99)] == [200, 200]
    # The bucket's end, 400, is more than any request took.
    assert [found.percentile(p) for p in (99.01, 99.99, 100)] == [390, 390, 390]
    assert found.requests == 100


def test_whole_rank_is_not_moved_by_rounding() -> None:
    # 99.9 / 100 × 1000 is 999.0000000000001 in floating point; rank 999 is the second bucket's.
    found = latency({1: 998, 2: 1, 3: 1}, largest=3)
    assert found.percentile(99.9) == 2
    # 0.07 × 100 = 7.000000000000001.
    assert latency({1: 7, 2: 93}, largest=2).percentile(7) == 1


def test_cdf_ends_at_the_largest_and_at_one() -> None:
    latency_ns, share = latency({100: 1, 200: 2, 400: 1}, largest=390).cdf()
    assert latency_ns.tolist() == [100, 200, 390]
    assert share.tolist() == [0.25, 0.75, 1.0]


def test_nothing_has_percentile_zero() -> None:
    none = np.array([], dtype=np.int64)
    empty = Latency(none, none, mean=0.0, min=0, max=0)
    assert empty.percentile(99) == 0
    assert [side.tolist() for side in empty.cdf()] == [[], []]


@pytest.mark.parametrize("percent", [0, -1, 100.001])
def test_percentile_outside_is_refused(percent: float) -> None:
    with pytest.raises(UserError) as caught:
        latency({1: 1}, 1).percentile(percent)
    assert str(caught.value) == f"percentile {percent}: must be above 0 and at most 100"
