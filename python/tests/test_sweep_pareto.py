"""The search for a front: what a front is, that it is found, and that a search repeats exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.experiments.dataset import goal_costs
from reprieve.experiments.pareto import Search, front
from reprieve.experiments.plan import Goal, read_plan

from .sweep_files import contents, lose, scenario, stored


def search(**more: Any) -> dict[str, Any]:
    axes = {
        "suspension.max_per_operation": {"from": 1, "to": 8},
        "suspension.min_progress_us": {"from": 0.0, "to": 500.0},
    }
    return {
        "scenario": scenario() | {"policy": "pes-ipc"},
        "design": "pareto",
        "axes": axes,
        "samples": 12,
        "batch": 4,
        "goals": {"read_latency_ns_mean": "min", "device_iops": "max"},
    } | more


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([[1, 3], [2, 2], [3, 1]], [True, True, True]),
        ([[1, 1], [2, 2], [1, 2]], [True, False, False]),
        ([[2, 2], [1, 3], [2, 1], [3, 3]], [False, True, True, False]),
        ([[1, 1], [1, 1]], [True, True]),
        ([[1, 2], [1, 1]], [False, True]),
        ([[1, 5, 5], [5, 1, 5], [5, 5, 1], [5, 5, 5]], [True, True, True, False]),
        ([[float("nan"), 0], [1, 1]], [False, True]),
        ([[3], [1], [2]], [False, True, False]),
    ],
)
def test_front_has_what_nothing_beats(costs: list[list[float]], expected: list[bool]) -> None:
    assert front(costs) == expected


def test_front_of_many_points_is_what_its_definition_says() -> None:
    costs = np.random.default_rng(3).integers(0, 12, (300, 3)).astype(float)
    expected = [
        not any((other <= one).all() and (other < one).any() for other in costs) for one in costs
    ]
    assert 0 < sum(expected) < 300
    assert front(costs) == expected


def asked(samples: int, batch: int) -> list[tuple[Any, ...]]:
    """Ask for points of a toy: costs x + y and 7 − x + y, whose front is y = 0 and any x."""
    axes = {"x": {"from": 0, "to": 7}, "y": list(range(8))}
    made = Search(read_plan(search(axes=axes, samples=samples, batch=batch)))
    found: list[tuple[Any, ...]] = []
    while points := made.ask():
        found += [point.values for point in points]
        made.tell(np.array([[x + y, 7 - x + y] for x, y in (point.values for point in points)]))
    return found


def test_search_finds_the_known_front() -> None:
    found = asked(256, 32)
    assert len(found) == 256
    assert {x for x, y in found if y == 0} == set(range(8))
    # Drawn blindly an eighth of all points has y = 0: 32 of the last 256, give or take 5.
    late = found[128:]
    assert sum(y == 0 for _, y in late) > 128 / 8 + 4 * 5


def test_search_asks_in_batches_and_repeats_exactly() -> None:
    assert asked(50, 16) == asked(50, 16)
    # The batches before are the same, however many follow.
    assert asked(50, 16)[:32] == asked(32, 16)


def test_search_is_the_same_from_any_number_of_workers_and_after_any_batch(tmp_path: Path) -> None:
    whole = rp.sweep(search(), out=tmp_path / "whole", workers=1)
    assert whole.points.num_rows == 12
    rp.sweep(search(), out=tmp_path / "side-by-side", workers=4)
    assert contents(tmp_path / "side-by-side") == contents(tmp_path / "whole")
    rp.sweep(search(samples=4), out=tmp_path / "pieces")
    # A batch of which two runs are lost is one that an interruption left.
    lose(tmp_path / "pieces", set(sorted(stored(tmp_path / "pieces"))[:2]))
    rp.sweep(search(), out=tmp_path / "pieces")
    assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")


def test_search_that_is_out_of_time_goes_on_later(tmp_path: Path) -> None:
    whole = rp.sweep(search(), out=tmp_path / "whole")
    rp.sweep(search(samples=4), out=tmp_path / "o")
    with pytest.warns(UserWarning, match="8 of 12 runs are left, as --minutes 0 are over") as told:
        found = rp.sweep(search(), out=tmp_path / "o", minutes=0)
    # One batch, and whatever else of the next it had run already.
    assert len(told) == 1 and 4 <= found.points.num_rows < 8
    rp.sweep(search(), out=tmp_path / "o", minutes=60)
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")
    assert whole.points.num_rows == 12


def test_points_of_the_front_are_marked() -> None:
    points = rp.sweep(search()).points.to_pylist()
    costs = [(row["read_latency_ns_mean"], -row["device_iops"]) for row in points]
    expected = [not any(a <= c and b <= d and (a, b) != (c, d) for a, b in costs) for c, d in costs]
    assert [row["front"] for row in points] == expected
    assert True in expected


def test_wrong_scenario_leaves_nothing(tmp_path: Path) -> None:
    axes = {"suspension.min_progress": {"from": 0, "to": 9}}
    with pytest.raises(UserError, match=r"min_progress=\d: .*min_progress_us"):
        rp.sweep(search(axes=axes), out=tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_goal_that_should_be_large_costs_what_it_lacks() -> None:
    columns = {"a": np.array([1.0, 2.0]), "b": np.array([5.0, 7.0])}
    costs = goal_costs([Goal("a", is_max=False), Goal("b", is_max=True)], columns)
    assert costs.tolist() == [[1, -5], [2, -7]]
    assert front(costs) == [True, True]


def test_goal_without_a_value_is_named() -> None:
    base = scenario(read_fraction=0.0) | {"policy": "pes-ipc"}
    with pytest.raises(UserError, match=r"goals: read_latency_ns_mean has no value at max_per_op"):
        rp.sweep(search(scenario=base))
    with pytest.raises(
        UserError, match=r"there is no column device_iop; did you mean device_iops\?"
    ):
        rp.sweep(search(goals={"device_iop": "max"}))
