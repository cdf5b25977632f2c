"""Intervals against batch means worked out from the request log, and the words about them."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reprieve as rp
from reprieve.confidence import half_us, listed, overlap, shortage
from reprieve.report.tables import certainty

from .drive import SMALL, Reprieve

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
Values = NDArray[np.float64]


def student_t(freedom: int) -> float:
    """Bound of the middle 95 % of Student's distribution, by adding its density up."""
    x = np.linspace(0, 10, 2_000_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    both = 2 * scale / math.sqrt(freedom * math.pi) * density
    inside = (np.cumsum(both) - (both + both[0]) / 2) * (x[1] - x[0])
    return float(np.interp(0.95, inside, x))


def bucket_ns(latency_ns: NDArray[np.int64]) -> Values:
    """Latencies as percentiles know them: the longest with the same eleven leading bits."""
    shift = np.maximum(np.floor(np.log2(latency_ns)).astype(np.int64) - 10, 0)
    return ((((latency_ns >> shift) + 1) << shift) - 1).astype(np.float64)


def quantile_ns(latency_ns: NDArray[np.int64], quantile: float) -> float:
    """Nearest rank, never above the longest."""
    rank = max(math.ceil(quantile * len(latency_ns)), 1)
    return float(min(np.sort(bucket_ns(latency_ns))[rank - 1], latency_ns.max()))


def interval(whole: float, batches: Values) -> list[float]:
    """Interval around the figure of the whole run from those of its batches."""
    count = len(batches)
    error = math.sqrt(float(((batches - whole) ** 2).sum()) / count / (count - 1))
    half = student_t(count - 1) * error
    return [whole - half, whole + half]


@pytest.fixture(scope="module")
def result() -> rp.Result:
    """Run reads, writes and trims, and keep their log in memory."""
    sets: dict[str, Any] = {"workload.requests": 50_000, "workload.trim_fraction": 0.05}
    return rp.run(tomllib.loads(SMALL), requests=True, **sets)


@pytest.mark.parametrize("kind", ["read", "write", "total"])
def test_intervals_are_those_of_the_log(result: rp.Result, kind: str) -> None:
    log = result.requests.to_pydict()
    op = np.array(log["op"])
    counts = (op == "read") | (op == "write")
    latency_ns = (np.array(log["completion_ns"]) - np.array(log["arrival_ns"]))[counts]
    mine = np.full(len(latency_ns), True) if kind == "total" else op[counts] == kind

    found = result.summary["requests"][kind]["confidence"]
    length = found["batch_requests"]
    # 47,500 reads and writes, about: 11 batches of 4096.
    assert (length, found["batches"]) == (4096, len(latency_ns) // 4096)
    ends = [slice(end, end + length) for end in range(0, found["batches"] * length, length)]
    batches = [latency_ns[end][mine[end]] for end in ends]
    sizes = np.array([len(batch) for batch in batches])
    assert found["fewest_requests"] == sizes.min()

    whole = latency_ns[mine]
    # As of any ratio: what a batch's sum is off the mean of all times its count.
    sums = np.array([float((batch - whole.mean()).sum()) for batch in batches])
    expected = interval(whole.mean(), whole.mean() + sums / sizes.mean())
    assert found["mean"] == pytest.approx(expected, rel=1e-6)
    for name, quantile in QUANTILES.items():
        if sizes.min() * (1 - quantile) < 10 - 1e-9:
            assert found[name] is None
            assert found["too_few"][name] == round(10 / (1 - quantile))
        else:
            values = np.array([quantile_ns(batch, quantile) for batch in batches])
            expected = interval(quantile_ns(whole, quantile), values)
            assert found[name] == pytest.approx(expected, rel=1e-5), name
    means = np.array([batch.mean() for batch in batches])
    strays = means - means.mean()
    lag_1 = float((strays[1:] * strays[:-1]).sum() / (strays**2).sum())
    assert found["lag_1_autocorrelation"] == pytest.approx(lag_1, rel=1e-9)


def test_only_reads_and_writes_of_the_drive_have_confidence(result: rp.Result) -> None:
    requests = result.summary["requests"]
    assert [kind for kind in requests if "confidence" in requests[kind]] == [
        "read",
        "write",
        "total",
    ]
    assert "trim" in requests


def group(
    figures: dict[str, list[float] | None], fewest: int = 50, batches: int = 12
) -> dict[str, Any]:
    needs = {"mean": 10, "p50": 20, "p99": 1000, "p99_9": 10_000, "p99_99": 100_000}
    confidence: dict[str, Any] = {"batches": batches, "batch_requests": 64}
    confidence |= {"fewest_requests": fewest} | figures
    confidence["too_few"] = {name: needs[name] for name in figures if figures[name] is None}
    return {"count": 600, "confidence": confidence}


def test_overlap_needs_a_latency_in_common() -> None:
    one = group({"mean": [10.0, 20.0], "p50": None})
    for bounds, expected in [([20.0, 30.0], True), ([20.1, 30.0], False), ([0.0, 9.9], False)]:
        other = group({"mean": bounds, "p50": [1.0, 2.0]})
        assert overlap(one, other, "mean") is expected
        assert overlap(other, one, "mean") is expected
        assert overlap(one, other, "p50") is None
    assert half_us(one, "mean") == "0.0"
    assert half_us(group({"mean": [1000.0, 4000.0]}), "mean") == "1.5"
    assert half_us(one, "p50") == "too few"


def test_words_say_what_is_missing() -> None:
    some = group({"mean": [1.0, 2.0], "p50": [1.0, 2.0], "p99": None, "p99_99": None})
    assert shortage(some, "read") == (
        "too few reads for an interval of p99 and p99.99: one of 12 batches has only 50, and p99 "
        "needs 1,000 in each"
    )
    none = group({"mean": None, "p50": None}, fewest=0, batches=9)
    assert shortage(none, "write") == (
        "too few requests for intervals: 9 batches of 64, and 10 are needed"
    )
    assert shortage(group({"mean": [1.0, 2.0]}), "total") is None
    assert shortage(none | {"count": 0}, "write") is None
    assert [listed("a"), listed("ab"), listed("abc")] == ["a", "a and b", "a, b and c"]


def test_run_shows_intervals_and_what_is_missing(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    lines = reprieve("run", small, "--out", "o").stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("read "))
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    low, high = summary["requests"]["read"]["confidence"]["mean"]
    assert lines[at + 1].split()[:4] == ["±", "at", "95", "%"]
    assert lines[at + 1].split()[4] == f"{(high - low) / 2000:,.1f}"
    assert lines[at + 1].count("too few") == 3
    assert any(line.startswith("too few reads for an interval of p99, p99.9 and") for line in lines)


def test_compare_tells_what_may_not_differ(reprieve: Reprieve, small: Path) -> None:
    axis = ("--axis", "seed=7,8", "--set", "workload.requests=20000", "--out", "o")
    lines = reprieve("compare", small, *axis).stdout.splitlines()
    assert any(line.startswith("95 % intervals of 8 and 7 overlap: read mean") for line in lines)
    assert "too few requests for an interval of read p99, read p99.99" in "\n".join(lines)
    slow = rp.compare(tomllib.loads(SMALL), {"timing.t_read_us": [25, 400]})
    assert slow.overlaps()["400"]["read_mean"] is False
    assert slow.overlaps()["25"]["read_mean"] is True
    assert slow.overlaps()["400"]["read_p99_99"] is None
    assert not any("overlap" in note and "read mean" in note for note in certainty(slow))
