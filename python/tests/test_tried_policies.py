"""Policies solved on a grid: against processes solved by hand, and in the simulator."""

import pytest

from reprieve_studies.deadline.bounds import simulate
from reprieve_studies.theory.suspension_grid import Die, FromGrid, Grid


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
    found = simulate(grid.die, 20_000, {}, FromGrid(grid, solved))
    assert found.suspensions_per_s == pytest.approx(solved.suspensions_per_s, rel=0.05)
    assert found.writes_per_s == pytest.approx(solved.programs_per_s, rel=0.02)
    assert found.late_share < 2e-3
