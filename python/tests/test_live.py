"""The live view: what it says of a run that goes on."""

from __future__ import annotations

import time

import pytest

from reprieve.cli.live import live, said
from reprieve.simulation import Glance


def glance(done: tuple[int, int], suspensions: tuple[int, int]) -> Glance:
    """Return what a run could have come to."""
    return {
        "simulated_ns": 1_000_000,
        "page_transactions": 2 * sum(done),
        "completed": done,
        "percentiles_ns": ([90_500, 1_200_000, 3_000_000], [1_000, 45_400, 9_000_000]),
        "suspensions": suspensions,
        "die_busy_ns": [1_000_000],
        "suspended_dies": 1,
    }


def test_tails_are_in_microseconds_and_missing_without_requests() -> None:
    told = "read p99 1,200 µs, write p99 45 µs, 1,005 suspensions"
    assert said(glance((1000, 10), (1000, 5))) == told
    assert said(glance((7, 0), (0, 0))) == "read p99 1,200 µs, 0 suspensions"
    assert said(glance((0, 0), (0, 0))) == "0 suspensions"


def test_it_looks_four_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def seen() -> Glance:
        looks.append(now)
        return glance((1, 1), (0, 0))

    with live("run") as (watch, look):
        for now in (1.0, 1.24, 1.25, 1.3, 1.6):
            monkeypatch.setattr(time, "perf_counter", lambda now=now: now)
            watch(0.5, 10)
            look(seen)
    assert looks == [1.0, 1.25, 1.6]
