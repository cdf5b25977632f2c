"""A load beside the whole trace that it is fitted to: hybrids of both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reprieve as rp
from reprieve.trace_fit import Requests, requests_of
from reprieve_studies import trace_whole


def requests(times_us: list[int], reads: list[bool], sectors: list[int]) -> Requests:
    """Return requests of one sector for each place."""
    return Requests(
        np.array(times_us, dtype=np.int64) * 1000,
        np.array(reads, dtype=np.bool_),
        np.array(sectors, dtype=np.int64) * 512,
        np.full(len(times_us), 512, dtype=np.int64),
    )


TRACE = requests([0, 10, 20, 30], [True, False, True, False], [1, 2, 3, 4])
LOAD = requests([0, 5, 6, 7], [False, False, False, True], [50, 60, 70, 80])


def test_a_hybrid_has_the_arrivals_of_one_and_the_places_of_the_other() -> None:
    found = trace_whole.hybrid(TRACE, LOAD, "arrivals")
    # The load has three writes and the trace two: the last has no place.
    assert (found.time_ns // 1000).tolist() == [0, 5, 7]
    assert found.is_read.tolist() == [False, False, True]
    assert (found.offset_bytes // 512).tolist() == [2, 4, 1]
    other = trace_whole.hybrid(TRACE, LOAD, "places")
    # The trace has two reads and the load one.
    assert (other.time_ns // 1000).tolist() == [0, 10, 30]
    assert (other.offset_bytes // 512).tolist() == [80, 50, 60]
    larger = replace(LOAD, size_bytes=np.array([1, 2, 3, 4]) * 1024)
    sizes = trace_whole.hybrid(TRACE, larger, "sizes")
    assert (sizes.offset_bytes // 512).tolist() == [1, 2, 4]
    assert (sizes.size_bytes // 1024).tolist() == [4, 1, 2]


def test_a_hybrid_with_itself_is_the_same() -> None:
    found = trace_whole.hybrid(TRACE, TRACE, "arrivals")
    assert found.offset_bytes.tolist() == TRACE.offset_bytes.tolist()
    assert found.is_read.tolist() == TRACE.is_read.tolist()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "t.trace"
    trace_whole._write(TRACE, file)
    found = requests_of(rp.open_trace(file, "ssdsim"))
    for name in ("time_ns", "is_read", "offset_bytes", "size_bytes"):
        assert getattr(found, name).tolist() == getattr(TRACE, name).tolist(), name


def evenly(count: int, gap_us: int) -> Requests:
    """Return reads a gap apart."""
    return requests([gap_us * one for one in range(count)], [True] * count, list(range(count)))


def test_a_trace_lies_among_the_draws_by_hand() -> None:
    # Draws of 1, 2, 3 and 4, a trace of 3: two and half of the one that is equal lie below.
    found = trace_whole._among(3.0, [4.0, 1.0, 3.0, 2.0])
    assert found is not None
    assert found["below"] == 0.625
    assert found["median"] == 2.5
    assert found["mean"] == 2.5
    # Quantiles by linear interpolation: a twentieth of the way over three steps.
    assert found["low"] == pytest.approx(1.15)
    assert found["high"] == pytest.approx(3.85)
    assert trace_whole._among(None, [1.0]) is None
    assert trace_whole._among(1.0, [1.0, None]) is None


def test_the_spread_tells_bursts_from_even_arrivals() -> None:
    even = evenly(400, 10)
    # Twenty at a time: counts of windows of three gaps are 0 or 20, and one window in 6.67 has 20,
    # so that variance over mean is 20 - 3.
    bursts = requests([200 * (one // 20) for one in range(400)], [True] * 400, list(range(400)))
    found = trace_whole.spread(bursts, [even] * 3)
    of_three = found["properties"]["dispersion of reads over 3 gaps"]
    assert of_three["trace"] == pytest.approx(17, rel=0.1)
    assert of_three["median"] < 0.2
    assert of_three["below"] == 1
    assert found["draws"] == 3
    # All are reads: one run, and no write to look at.
    assert found["properties"]["one operation in a row"]["below"] == 0.5
    assert found["properties"]["dispersion of writes over 3 gaps"] is None
