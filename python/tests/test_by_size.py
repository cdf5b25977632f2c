"""Sizes in runs: the closed form by hand, and what comes back of loads that are drawn."""

import numpy as np
import pytest

from reprieve.trace_fit import Requests, drawn
from reprieve.trace_fit.by_size import by_size, follows, stays

SIZES = (512, 4096, 49152)
WEIGHTS = np.array([50, 46, 4])
RUNS = (0.1, 0.0, 0.6)


def _writes(places: list[tuple[int, int]]) -> Requests:
    count = len(places)
    offset, size = np.array(places, dtype=np.int64).T
    return Requests(np.arange(count), np.zeros(count, dtype=np.bool_), offset * 512, size * 512)


def test_how_often_a_size_has_to_stay_by_hand() -> None:
    # Weights p (1 - r) of .45, .46 and .016, in all .926: what is drawn has chances of .48596,
    # .49676 and .01728, and a size follows itself with r + (1 - r) times that.
    found = stays(np.array([0.53737, 0.49676, 0.60691]), WEIGHTS)
    assert found == pytest.approx(RUNS, abs=2e-5)
    # Independent sizes follow themselves by chance, as do those that avoid themselves.
    assert stays(WEIGHTS / 100, WEIGHTS) == pytest.approx([0, 0, 0], abs=1e-9)
    assert stays(np.array([0.0, 0.0, 0.0]), WEIGHTS).tolist() == [0, 0, 0]
    # The only size follows itself in any case.
    assert stays(np.array([0.99]), np.array([100])).tolist() == [0]


def test_how_often_a_size_follows_itself_by_hand() -> None:
    # Of four requests of size 0 one is followed by another, of size 1 none, of size 2 one of two.
    found = follows(np.array([0, 0, 1, 0, 2, 2, 0]), 3)
    assert found.tolist() == [0.25, 0.0, 0.5]


def test_what_requests_of_a_size_do_by_hand() -> None:
    # One sector: at 8, then on from there, at 8 again (the same page), anew. Eight sectors: at 9,
    # where the first of one sector ended, which is of another size; then on; then that place again.
    found, left_out = by_size(
        _writes([(8, 1), (9, 1), (9, 8), (17, 8), (8, 1), (17, 8), (80, 1), (160, 8)])
    )
    assert left_out == 0
    assert found.request_bytes == ((512, 4.0), (4096, 4.0))
    assert found.sequential_by_size == (0.25, 0.25)
    assert found.repeat_by_size == (0.25, 0.25)
    # Each repeats the place of the request of its size before.
    assert (found.sequential_streams, found.repeat_window_requests) == (1, 1)


def test_rare_sizes_are_left_out() -> None:
    # Thirty sizes, of which the first six occur once and the others twice.
    sectors = [*range(1, 31), *range(7, 31)]
    found, left_out = by_size(_writes([(1000 * index, size) for index, size in enumerate(sectors)]))
    assert left_out == 6
    assert [size for size, _ in found.request_bytes] == [512 * size for size in range(7, 31)]


def test_a_load_of_known_runs_comes_back() -> None:
    flow = {
        "requests": 20_000,
        "read_fraction": 0,
        "request_bytes": [[size, int(weight)] for size, weight in zip(SIZES, WEIGHTS, strict=True)],
        "size_run_fraction": list(RUNS),
        "sequential_by_size": [0.2, 0.0, 0.9],
        "repeat_by_size": [0.5, 0.7, 0.0],
        "sequential_streams": 4,
        "repeat_window_requests": 16,
        "align_bytes": 512,
        "arrivals": "fixed",
        "rate_iops": 100,
        "generator": "mixed",
    }
    found = []
    for seed in range(1, 21):
        load = {"device": "fast12-mlc", "seed": seed, "workload": flow}
        found.append(by_size(drawn(load))[0])
    shares = np.array([[weight for _, weight in each.request_bytes] for each in found]) / 20_000
    # Two sizes of nearly all requests leave open how much of a run is chance; not how often a size
    # follows itself, which is what the closed form says above.
    runs = np.array([each.size_run_fraction for each in found])
    weights = shares * (1 - runs)
    follow = runs + (1 - runs) * weights / weights.sum(axis=1, keepdims=True)
    # Errors are those of the mean of the draws, from how the draws themselves differ.
    for values, expected in ((follow, (0.53737, 0.49676, 0.60691)), (shares, WEIGHTS / 100)):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert np.all(np.abs(values.mean(axis=0) - expected) < 4 * error)
    on = np.mean([each.sequential_by_size for each in found], axis=0)
    again = np.mean([each.repeat_by_size for each in found], axis=0)
    assert on + again == pytest.approx([0.7, 0.7, 0.9], abs=0.02)
    assert on[2] == pytest.approx(0.9, abs=0.01)
    # Ends that a repeat has left behind lie between those that are gone on from.
    assert {each.sequential_streams for each in found} <= {4, 8}
