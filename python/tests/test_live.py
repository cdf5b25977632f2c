"""The live view: what it draws from two glances, and that it shows on a terminal only."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from reprieve.cli.live import View, places
from reprieve.simulation import Glance

KINDS = ("read", "write")


def glance(
    simulated_ms: int, busy_ms: list[int], *, done: tuple[int, int], suspensions: tuple[int, int]
) -> Glance:
    """Return what a run could have come to; latencies are the same at all times."""
    return {
        "simulated_ns": simulated_ms * 1_000_000,
        "page_transactions": 2 * sum(done),
        "completed": done,
        "percentiles_ns": ([90_500, 1_200_000, 3_000_000], [0, 0, 0]),
        "suspensions": suspensions,
        "die_busy_ns": [ms * 1_000_000 for ms in busy_ms],
        "suspended_dies": 1,
    }


def drawn(view: View, seen: Glance, now_s: float) -> str:
    """Draw as a terminal of 100 columns does."""
    page = io.StringIO()
    Console(file=page, width=100, color_system=None).print(view.draw(seen, now_s))
    return page.getvalue()


def test_rates_are_of_what_passed_since_the_last_glance() -> None:
    view = View()
    first = glance(1000, [0, 500, 0], done=(1000, 0), suspensions=(10, 0))
    assert "requests/s" not in drawn(view, first, 5.0), "nothing has passed"
    # In half a second: 2 s simulated, 3,000 requests; dies busy for 0, 100 % and 50 % of it.
    page = drawn(view, glance(3000, [0, 2500, 1000], done=(4000, 0), suspensions=(13, 5)), 5.5)
    assert "3.000 s, 4 × real time; 6,000 requests/s, 12,000 page transactions/s" in page
    assert "13 programs, 5 erases; of late 4 a simulated second; now on 1 of 3 dies" in page
    assert " █▄  busy 50 %" in page


def test_percentiles_are_in_microseconds_and_missing_without_requests() -> None:
    page = drawn(View(), glance(1, [0], done=(7, 0), suspensions=(0, 0)), 0.0)
    read, write = (next(line for line in page.splitlines() if kind in line) for kind in KINDS)
    assert read.split()[-4:] == ["7", "90.5", "1,200.0", "3,000.0"]
    assert write.split()[-4:] == ["0", "–", "–", "–"]


def test_it_looks_four_times_a_second() -> None:
    view = View()
    assert view.is_due(1.0)
    drawn(view, glance(1, [0], done=(0, 0), suspensions=(0, 0)), 1.0)
    assert not view.is_due(1.24)
    assert view.is_due(1.25)


@pytest.mark.parametrize(
    ("shares", "most", "expected"),
    [
        ([0.5, 1.0], 64, [0.5, 1.0]),
        ([0.0, 1.0, 0.5, 0.5], 2, [0.5, 0.5]),
        ([0.0, 0.3, 0.6, 1.0, 0.0], 2, [0.15, 1.6 / 3]),
    ],
)
def test_dies_share_places(shares: list[float], most: int, expected: list[float]) -> None:
    assert places(shares, most) == pytest.approx(expected)
