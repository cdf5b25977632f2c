"""Policies solved on a grid: against processes solved by hand, and in the simulator."""

import re

import pytest

import reprieve as rp
from reprieve_studies.deadline.die_bench import FromGrid, measure
from reprieve_studies.deadline.grid import Die, Grid
from reprieve_studies.deadline.tried import Settings, tried
from reprieve_studies.runs import bench


def test_without_a_price_nothing_is_suspended() -> None:
    die = Die()
    solved = Grid(die).solve(0.0)
    # A program takes 1000 µs of the 70 % of the time that reads leave.
    assert solved.programs_per_s == pytest.approx(700.0, rel=1e-3)
    assert solved.suspensions_per_s == 0.0


def test_a_dear_read_is_suspended_for_in_time() -> None:
    solved = Grid(Die()).solve(1000.0)
    assert solved.late_share < 1e-3
    assert abs(solved.residual) < 1e-9


def test_the_simulator_confirms_the_grid() -> None:
    grid = Grid(Die())
    solved = grid.solve(10.0)
    found = measure(grid.die, 20_000, {}, FromGrid(grid, solved))
    assert found.suspensions_per_s == pytest.approx(solved.suspensions_per_s, rel=0.05)
    assert found.programs_per_s == pytest.approx(solved.programs_per_s, rel=0.02)
    assert found.late_share < 2e-3


@pytest.mark.parametrize(
    ("die", "words"),
    [
        (Die(read_load=1.2), "load = 1.2: must be above 0 and below 1"),
        (Die(read_us=61.0), "--read-us 61: must be a multiple of the grid's step, 5 µs"),
        (Die(slo_us=70.0), "service level = 70 µs: must be above 80 µs"),
    ],
)
def test_mistakes_are_named(die: Die, words: str) -> None:
    with bench(None, 1) as engine, pytest.raises(rp.UserError, match=re.escape(words)):
        tried(Settings(die), engine)
