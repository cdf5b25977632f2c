"""Differences between runs, pair by pair: by hand, and held as often as they say."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

import reprieve as rp
from reprieve.latency import KINDS
from reprieve.pairs import Paired, half_width, measures, nearest, paired, times_more
from reprieve.parallel import each
from reprieve.scenario import Source, toml_text
from reprieve.simulation import Watch, simulate
from reprieve_studies.theory.families.one_die import READ_US
from reprieve_studies.theory.formulas import Class, fifo_wait

_PERCENTILES = ("p50", "p95", "p99", "p99_9", "p99_99", "p99_999")


@dataclass
class Run:
    """A run of which only means by batch are known; its percentiles never change."""

    summary: dict[str, Any]
    batches: dict[str, Any]


def run(means: Sequence[float], counts: Sequence[int], **more: Any) -> Run:
    mean = sum(m * n for m, n in zip(means, counts, strict=True)) / sum(counts)
    figures = {"mean": mean} | dict.fromkeys(_PERCENTILES, 100)
    group = {"count": sum(counts), "latency_ns": figures}
    columns = {"count": list(counts), "mean": list(means)}
    columns |= {f"{name}_without": [100] * len(means) for name in _PERCENTILES}
    windows = ("requests", "bytes", "ns", "written_bytes", "programmed_bytes")
    batches: dict[str, Any] = {"batch_requests": max(counts), "number": list(range(len(means)))}
    batches |= dict.fromkeys(KINDS, columns) | {"device": {name: list(counts) for name in windows}}
    device = {"iops": 1e9, "bandwidth_bytes_per_s": 1e9}
    requests = dict.fromkeys(KINDS, group)
    summary = {"requests": requests, "device": device, "flash": {"waf": 1.0}}
    return Run(summary, batches | more)


def mean(ours: Run, base: Run) -> Paired:
    return paired([ours], [base])["read_latency_ns_mean"]


def test_what_all_batches_have_in_common_widens_nothing() -> None:
    # From 1 to 10 µs, and ours 0.5 µs more in each: unpaired, nobody could tell.
    base = [1000.0 * (1 + batch) for batch in range(10)]
    found = mean(run([value + 500 for value in base], [64] * 10), run(base, [64] * 10))
    assert found["mean_difference"] == 500
    assert [found["low"], found["high"]] == pytest.approx([500, 500])
    assert found["decided"] is True
    assert (found["units"], found["count"]) == ("batches", 10)
    # And 0.9 times of each.
    found = mean(run([0.9 * value for value in base], [64] * 10), run(base, [64] * 10))
    assert [found["ratio_low"], found["ratio"], found["ratio_high"]] == pytest.approx([0.9] * 3)


def test_an_interval_by_hand() -> None:
    # One of ten batches differs, by 1 µs. It is drawn K times of ten, K binomial of 0.1; the tail
    # of t with 9 degrees of freedom, 2.2622 √(10 / 9) = 2.3846 deviations out, is 0.00855:
    # P(K ≤ 3) = 0.98720, P(K ≤ 4) = 0.99837, so that the upper end is 4, and the lower is 0.
    tail = stats.norm.cdf(-stats.t.ppf(0.975, 9) * math.sqrt(10 / 9))
    assert stats.binom.ppf(1 - tail, 10, 0.1) == 4
    base = [2000.0] * 10
    found = mean(run([3000.0, *base[1:]], [64] * 10), run(base, [64] * 10))
    assert found["mean_difference"] == pytest.approx(100)
    assert [found["low"], found["high"]] == pytest.approx([0, 400], abs=1e-9)
    assert found["decided"] is False
    assert found["ratio_high"] == pytest.approx(1.2)


def test_a_burst_decides_nothing_and_hides_nothing() -> None:
    # A base whose mean is that of one batch: its own interval reaches far, and below 0 if it is
    # made from sums. Ours are a tenth of it, in every batch.
    base = [100_000.0, *([1000.0] * 9)]
    found = mean(run([value / 10 for value in base], [64] * 10), run(base, [64] * 10))
    high = found["high"]
    assert found["decided"] is True
    assert high is not None and high < 0
    # Where the burst alone is shorter and all else longer, nobody can tell.
    other = mean(run([10_000.0, *([1100.0] * 9)], [64] * 10), run(base, [64] * 10))
    assert other["decided"] is False


def test_batches_count_by_their_requests() -> None:
    base, counts = [1000.0] * 10, [30] * 9 + [330]
    found = mean(run([*base[1:], 2000.0], counts), run(base, counts))
    assert found["mean_difference"] == pytest.approx(1000 * 330 / 600)


def test_equal_runs_are_not_decided() -> None:
    one = run([1000.0 + batch for batch in range(12)], [64] * 12)
    for pair in paired([one], [one]).values():
        if "reason" not in pair:
            assert (pair["mean_difference"], pair["low"], pair["high"]) == (0, 0, 0)
            assert pair["decided"] is False
            assert pair["ratio"] in (1, None)


def test_pairs_are_made_of_what_both_have_whole() -> None:
    base = run([1000.0] * 12, [64] * 12)
    ours = run([5000.0] + [1500.0] * 11, [64] * 12)
    # Of the first batch ours has left a request out, so that it is not whole.
    without_first = run([1500.0] * 11, [64] * 11, number=list(range(1, 12)))
    without_first.summary = ours.summary
    ours.summary["requests"]["total"]["count"] -= 1
    found = paired([without_first], [base])
    assert found["read_latency_ns_mean"]["mean_difference"] == pytest.approx(500)
    assert found["read_latency_ns_mean"]["count"] == 11
    assert found["read_latency_ns_p50"]["reason"] == "the runs have measured different requests"


@pytest.mark.parametrize(
    ("ours", "name", "reason"),
    [
        (run([1.0] * 9, [64] * 9), "device_iops", "9 pairs of batches, and 10 are needed"),
        (
            run([1.0] * 10, [64] * 9 + [9]),
            "write_latency_ns_mean",
            "a batch has only 9 such requests, and 10 are needed in each",
        ),
        (
            run([1.0] * 10, [64] * 10),
            "read_latency_ns_p99",
            "a batch has only 64 such requests, and 1,000 are needed in each",
        ),
        (
            run([1.0] * 10, [128] * 10),
            "flash_waf",
            "the batches of one run have 128 requests, of the other 64",
        ),
    ],
)
def test_what_has_no_interval_says_why(ours: Run, name: str, reason: str) -> None:
    found = paired([ours], [run([2.0] * 10, [64] * 10)])[name]
    assert (found["low"], found["high"], found["decided"]) == (None, None, False)
    assert found["reason"] == reason


def test_ten_seeds_are_paired_as_whole_runs() -> None:
    base = [run([1000.0 * seed], [64]) for seed in range(1, 11)]
    ours = [run([1000.0 * seed + 50], [64]) for seed in range(1, 11)]
    found = paired(ours, base)
    assert set(found) == set(measures())
    pair = found["read_latency_ns_mean"]
    assert (pair["units"], pair["count"]) == ("seeds", 10)
    assert pair["mean_difference"] == pytest.approx(50)
    assert [pair["low"], pair["high"]] == pytest.approx([50, 50])


def test_batches_of_several_seeds_are_pooled() -> None:
    base = [run([1000.0] * 6, [64] * 6), run([3000.0] * 6, [64] * 6)]
    ours = [run([1100.0] * 6, [64] * 6), run([3100.0] * 6, [64] * 6)]
    pair = paired(ours, base)["read_latency_ns_mean"]
    assert (pair["units"], pair["count"]) == ("batches", 12)
    assert [pair["low"], pair["high"]] == pytest.approx([100, 100])


# ---- The simulator -------------------------------------------------------------------------------

LOAD, SHORTER = 0.4, 0.9
REQUESTS, RUNS = 20_000, 400


def queue(seed: int, read_us: float) -> Source:
    """Poisson reads at a die, an M/D/1 queue; the same arrivals whatever a read takes."""
    scenario = {
        "seed": seed,
        "device": "fast12-slc",
        "geometry": {"channels": 1, "planes_per_die": 1, "blocks_per_plane": 64},
        "host": {"link_bytes_per_s": "none"},
        "policy": "fifo",
        "timing": {"t_bus_us": 0, "t_read_us": read_us},
        "workload": {
            "generator": "mixed",
            "requests": REQUESTS,
            "read_fraction": 1,
            "request_bytes": 2048,
            "arrivals": "poisson",
            "rate_iops": 1e6 * LOAD / READ_US,
        },
    }
    return Source(toml_text(scenario), "queue.toml", ())


def truth_ns(read_us: float) -> float:
    return 1000 * (read_us + fifo_wait(Class(LOAD / READ_US, read_us)))


def held(seeds: Iterator[int]) -> dict[str, int]:
    """Count the intervals that hold the truth, of as many runs of two queues."""
    times_us = (READ_US, SHORTER * READ_US)
    base, ours = (truth_ns(read_us) for read_us in times_us)

    def one(seed: int, watch: Watch) -> dict[str, bool]:
        first, second = (simulate(queue(seed, read_us), watch=watch) for read_us in times_us)
        low, high = first.summary["requests"]["read"]["confidence"]["mean"]
        assert low > 0
        pair = paired([second], [first])["read_latency_ns_mean"]
        assert "reason" not in pair
        ends: list[Any] = [pair["low"], pair["high"], pair["ratio_low"], pair["ratio_high"]]
        return {
            "a run": low <= base <= high,
            "the difference": ends[0] <= ours - base <= ends[1],
            "the ratio": ends[2] <= ours / base <= ends[3],
        }

    found = each(list(seeds), None, one)
    return {name: sum(run[name] for run in found) for name in found[0]}


@pytest.mark.seconds(23)
def test_intervals_hold_the_mean_of_a_queue_as_often_as_they_say() -> None:
    """Of 400 runs, 380 are to be expected; 93 to 97 % are 372 to 388."""
    counts = held(iter(range(RUNS)))
    assert all(372 <= count <= 388 for count in counts.values()), counts


def test_the_result_of_a_run_has_its_batches() -> None:
    result = simulate(queue(1, READ_US))
    # 19 batches of 1024 are complete.
    assert result.batches["batch_requests"] == 1024
    assert result.batches["read"]["count"] == [1024] * 19
    spent_ns = sum(result.batches["device"]["ns"])
    share = spent_ns / result.summary["device"]["simulated_ns"]
    assert pytest.approx(share, rel=0.02) == 19 * 1024 / REQUESTS
    log = rp.run(tomllib.loads(queue(1, READ_US).text), requests=True).requests.to_pydict()
    latency_ns = np.array(log["completion_ns"]) - np.array(log["arrival_ns"])
    by_number = latency_ns[np.argsort(log["id"])]
    means = by_number[: 19 * 1024].reshape(19, 1024).mean(axis=1)
    assert result.batches["read"]["mean"] == pytest.approx(means)


def test_how_many_more_would_decide_a_difference() -> None:
    """2 ± 6 is three times too wide: nine times as many; 10 ± 12 needs 1.44 times as many."""
    assert times_more(2, -4, 8) == (
        "; about 9.0 times as many requests would decide it, if it stays as it is"
    )
    assert times_more(-10, -22, 2, "seeds") == (
        "; about 1.4 times as many seeds would decide it, if it stays as it is"
    )
    # The end on the side of 0 counts: from 4, it is 5 away.
    assert times_more(4, -1, 90) == (
        "; about 1.6 times as many requests would decide it, if it stays as it is"
    )
    assert times_more(1, -40, 42).endswith("would not decide it")
    assert times_more(0, -1, 1).endswith("would not decide it")
    assert times_more(2, 1, 3) == times_more(None, None, None) == ""


def test_of_several_differences_the_nearest_is_told() -> None:
    near = {"mean_difference": 10.0, "low": -2.0, "high": 22.0, "decided": False}
    far = {"mean_difference": 2.0, "low": -4.0, "high": 8.0, "decided": False}
    known = {"mean_difference": 2.0, "low": 1.0, "high": 3.0, "decided": True}
    found = {"read p99": far, "write p99": near, "read mean": known}
    assert nearest(cast("dict[str, Paired]", found)) == (
        "; about 1.4 times as many requests would decide write p99, if it stays as it is"
    )
    assert nearest(cast("dict[str, Paired]", {"read mean": known})) == ""
    assert half_width(cast("Paired", {"ratio": 2.0, "ratio_low": 1.8, "ratio_high": 2.2})) == (
        pytest.approx(0.1)
    )
