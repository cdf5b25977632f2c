"""How counts are dispersed in a cascade: by hand, and as the generator draws them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reprieve import _native
from reprieve.scenario import Source
from reprieve.trace_fit.bursts import SCALES, _least_squares, _wanted, bursts, trains_of
from reprieve.trace_fit.cascade import Cascade, Trains
from reprieve.trace_fit.order import counts_of, dispersion

SINGLE = Trains(1.0, 0.0, 0.0)


def test_quarters_of_a_cascade_by_hand() -> None:
    # 1,600 starts: a half has 1,200 and the other 400, and of each one half three fifths. Counts
    # of quarters are 720, 480, 240 and 160: squares of 834,560, a mean of 400, a variance of
    # 48,640.
    found = Cascade(1600, 1e9, 1e3, [400]).counts(SINGLE, [0.75, 0.6])
    assert found.dispersion[0] == pytest.approx(48_000 / 400, rel=1e-9)
    # Cubes of 501,760,000.
    assert np.exp(found.second[1]) == pytest.approx(832_000 / 4 / 400**2, rel=1e-9)
    assert np.exp(found.third[1]) == pytest.approx(501_760_000 / 4 / 400**3, rel=1e-9)


def test_cubes_of_trains_by_hand() -> None:
    # One train in each of two halves, of one request or more with a chance of a half each: a mean
    # of 2, squares of 6 and cubes of 26.
    found = Cascade(4, 1e9, 0.5e9, [2]).counts(Trains(2.0, 0.0, 0.0), [0.5])
    assert np.exp(found.second[0]) == pytest.approx(6 / 2**2)
    assert np.exp(found.third[0]) == pytest.approx(26 / 2**3)


def test_windows_that_lie_across_the_middle_by_hand() -> None:
    # One half has three quarters of 1,500, evenly: thirds have 750, 500 and 250.
    found = Cascade(1500, 1e9, 1e3, [500]).counts(SINGLE, [0.75, 0.5])
    # What is even has no more starts in one place than rounding makes: about 1 in 500.
    assert found.dispersion[0] == pytest.approx(250**2 * 2 / 3 / 500, rel=0.005)


def test_a_request_has_so_many_of_its_train_beside_it() -> None:
    # Together: a geometric number of mean m has a mean square of 2 m^2 - m, so that the train of a
    # request has 2 m - 1 on average: itself and four others.
    assert Trains(3.0, 0.0, 0.0).neighbours(np.array([1.0]))[0] == pytest.approx(4.0)
    # Apart: counted. A pair with a lag is in one window with the chance 1 - lag / window.
    rng = np.random.default_rng(5)
    gap_ns, simultaneous, window_ns = 10.0, 0.4, 25.0
    others, requests = 0.0, 0
    for length in rng.geometric(1 / 3, 40_000):
        gaps = np.where(rng.random(length) < simultaneous, 0.0, rng.exponential(gap_ns, length))
        times = np.cumsum(gaps)
        lags = np.abs(times[:, None] - times[None, :])
        others += float(np.maximum(1 - lags / window_ns, 0.0).sum()) - length
        requests += length
    found = Trains(3.0, gap_ns, simultaneous).neighbours(np.array([window_ns]))[0]
    # 40,000 lengths with a deviation of 2.4 each: pairs are known to two per cent.
    assert found == pytest.approx(others / requests, rel=0.05)


@pytest.mark.parametrize(
    ("requests", "trains", "bias"),
    [
        (6000, Trains(2.5, 6.5e6, 0.87), [0.55, 0.58, 0.6, 0.65, 0.7, 0.72, 0.7, 0.65, 0.6]),
        (2000, Trains(1.0, 0.0, 0.0), [0.8, 0.5, 0.52, 0.55, 0.6, 0.5]),
    ],
)
def test_the_generator_draws_what_the_formula_says(
    requests: int, trains: Trains, bias: list[float]
) -> None:
    span_s, tick_us = 260.0, 6500.0
    flow = {
        "generator": "mixed",
        "arrivals": "trains",
        "requests": requests,
        "read_fraction": 1.0,
        "rate_iops": requests / span_s,
        "train_span_s": span_s,
        "train_tick_us": tick_us,
        "train_requests": trains.requests,
        "train_gap_us": trains.gap_ns / 1e3,
        "train_simultaneous_fraction": trains.simultaneous_fraction,
        "train_bias": bias,
    }
    scales = (1, 3, 10, 30, 100, 300)
    cascade = Cascade(requests, span_s * 1e9, tick_us * 1e3, scales)
    expected = cascade.counts(trains, bias)
    draws = []
    cubes = []
    for seed in range(1, 201):
        times = _times({"device": "fast12-slc", "seed": seed, "workload": flow}, requests)
        draws.append([dispersion(times, scale, span_s * 1e9) for scale in scales])
        parts = [
            counts_of(times, span_s * 1e9 / 2**k * (1 - 1e-9), span_s * 1e9) for k in (3, 5, 7)
        ]
        cubes.append([float(np.mean(part**3.0) / part.mean() ** 3) for part in parts])
    # Where a draw ends differs by a train: half a per cent.
    assert _agree(np.array(draws, dtype=np.float64), expected.dispersion, 0.005)
    # And cubes three times as much.
    assert _agree(np.array(cubes), np.exp(expected.third[[2, 4, 6]]), 0.015)


def _times(scenario: dict[str, object], count: int) -> NDArray[np.int64]:
    """Return when requests arrive, from the begin of the first span on."""
    source = Source.of(scenario, {})
    times = _native.workload_times(source.text, source.path, list(source.sets), count)
    return times.astype(np.int64)


def _agree(draws: NDArray[np.float64], expected: NDArray[np.float64], within: float) -> bool:
    """Say whether the mean of draws is the expected one but for chance and for this share."""
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    return bool(np.all(np.abs(draws.mean(axis=0) - expected) < 4 * error + within * expected))


def test_squares_are_least_within_the_bounds() -> None:
    def residuals(at: np.ndarray) -> np.ndarray:
        return np.array([at[0] - 0.5, at[1] - 2.0, at[2] + 1.0, 10 * (at[3] ** 2 - 0.04)])

    found = _least_squares(residuals, np.full(4, 0.3), 0.9)
    assert found == pytest.approx([0.5, 0.9, 0.0, 0.2], abs=1e-3)


def test_trains_end_with_the_first_long_gap_by_hand() -> None:
    # Gaps of 0, 10, 90, 10 and 90: with 10 at most, trains of 3, 2 and 1; one gap in three takes no
    # time, and the others take 10.
    found = trains_of(np.array([0, 0, 10, 100, 110, 200]), 10.0)
    assert (found.requests, found.gap_ns) == (2.0, 10.0)
    assert found.simultaneous_fraction == pytest.approx(1 / 3)


def test_bursts_of_one_scale_are_found_there() -> None:
    # Requests come evenly for a second, and then not for three: nothing on longer scales, and
    # within the second they are as even as can be. 40 a second, 400 s.
    times = np.array([4e9 * second + 25e6 * one for second in range(100) for one in range(40)])
    found = bursts(times.astype(np.int64), 400e9, 1e6)
    wanted = [dispersion(times.astype(np.int64), scale, 400e9) for scale in SCALES]
    best = min(found, key=lambda each: each.miss)
    # 10 requests a second: 400 s are halved seven times to get to 3.1 s, and two more to 0.8 s.
    assert max(best.bias[:4]) < 0.55
    assert min(best.bias[7:9]) > 0.8
    assert wanted[3] is not None


def test_windows_have_two_ticks_and_there_are_four_of_them() -> None:
    # 100 requests, a gap of 1 s: windows of 0.3 gaps are shorter than two ticks of 0.2 s, those of
    # 30 gaps are three.
    times = np.sort(np.random.default_rng(2).integers(0, 100_000_000_000, 100))
    found = _wanted(times, 100e9, 2 * 0.2e9)
    assert list(found.scales) == [1, 3, 10]
    # Cubes of counts in windows of 3 and of 10 gaps.
    assert len(found.second) == len(found.third) == 2
    counts = np.bincount(times // 10_000_000_000, minlength=10)
    assert np.exp(found.third[1]) == pytest.approx(float(np.mean(counts**3.0)) / 1000)


def test_without_a_window_there_is_nothing_to_cluster() -> None:
    times = np.arange(3, dtype=np.int64) * 1000
    assert {each.bias for each in bursts(times, 3000.0, 1000.0)} == {(0.5,)}
