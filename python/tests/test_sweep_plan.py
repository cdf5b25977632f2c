"""Sweep files and designs: which points they mean, and what is said where they are wrong."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import qmc

from reprieve import UserError
from reprieve.experiments.designs import points
from reprieve.experiments.plan import read_plan

from .drive import SMALL
from .sweep_files import grid, scenario


def values(sweep: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [point.values for point in points(read_plan(sweep))]


def drawn(design: str, samples: int, axes: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    return {
        "scenario": scenario(),
        "design": design,
        "samples": samples,
        "design_seed": seed,
        "axes": axes,
    }


def test_grid_is_the_product_with_the_last_axis_fastest() -> None:
    assert values(grid()) == [("fifo", 500), ("fifo", 1500), ("pes-ipc", 500), ("pes-ipc", 1500)]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ({"from": 1, "to": 9, "points": 5}, [1, 3, 5, 7, 9]),
        ({"from": 0.0, "to": 1.0, "points": 5}, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ({"from": 1, "to": 1000, "points": 4, "scale": "log"}, [1, 10, 100, 1000]),
        ({"from": 0.25, "to": 4.0, "points": 5, "scale": "log"}, [0.25, 0.5, 1.0, 2.0, 4.0]),
    ],
)
def test_range_of_a_grid_is_evenly_spaced(span: dict[str, Any], expected: list[float]) -> None:
    found = [value for (value,) in values(grid(axes={"k": span}))]
    assert found == pytest.approx(expected, rel=1e-12)
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_times_are_whole_in_nanoseconds() -> None:
    span = {"from": 0.0, "to": 1.0, "points": 4}
    assert values(grid(axes={"t_us": span})) == [(0.0,), (0.333,), (0.667,), (1.0,)]


def test_list_has_the_points_it_lists() -> None:
    rows = [
        {"policy": "rps", "timing": {"t_read_us": 50}},
        {"policy": "fifo", "timing.t_read_us": 25},
    ]
    sweep = {"scenario": scenario(), "design": "list", "points": rows}
    assert values(sweep) == [("rps", 50), ("fifo", 25)]
    assert read_plan(sweep).keys == ("policy", "timing.t_read_us")


def test_sobol_points_are_those_of_scipy() -> None:
    axes = {
        "a": {"from": 2.0, "to": 6.0},
        "b": {"from": 1.0, "to": 100.0, "scale": "log"},
        "c": {"from": 1, "to": 3},
        "d": ["x", "y"],
    }
    unit = qmc.Sobol(4, scramble=True, rng=5).random(16)
    expected = [
        (2 + 4 * a, 100**b, 1 + math.floor(3 * c), "x" if d < 0.5 else "y") for a, b, c, d in unit
    ]
    found = values(drawn("sobol", 16, axes, seed=5))
    assert [point[2:] for point in found] == [point[2:] for point in expected]
    for point, other in zip(found, expected, strict=True):
        assert point[:2] == pytest.approx(other[:2], rel=1e-12)


def test_random_points_stay_in_their_ranges_and_more_leave_the_first() -> None:
    axes = {"a": {"from": 2.0, "to": 6.0}, "b": {"from": 1, "to": 4}, "c": ["x", "y", "z"]}
    many = values(drawn("random", 400, axes))
    assert all(2 <= a <= 6 for a, _, _ in many)
    # A value of four is missing in 400 draws with a probability of 4 · 0.75^400.
    assert {b for _, b, _ in many} == {1, 2, 3, 4}
    assert {c for _, _, c in many} == {"x", "y", "z"}
    # The mean of 400 uniform draws from 2 to 6 strays by 0.058 as its standard deviation.
    assert sum(a for a, _, _ in many) / 400 == pytest.approx(4, abs=5 * 0.058)
    assert values(drawn("random", 10, axes)) == many[:10]
    assert values(drawn("random", 10, axes, seed=2)) != many[:10]


def test_logarithmic_whole_numbers_fall_evenly_between_factors() -> None:
    axes = {"k": {"from": 1, "to": 255, "scale": "log"}}
    found = [value for (value,) in values(drawn("sobol", 256, axes))]
    assert (min(found), max(found)) == (1, 255)
    # 16 = 256^(1/2): half of all points are below it. One is an eighth of the way: 2 = 256^(1/8).
    assert sum(value < 16 for value in found) == 128
    assert sum(value == 1 for value in found) == 32


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"design": "gird"}, 'design: is "gird"; must be one of grid, list, random'),
        ({"axs": {}}, "axs: the design grid has no such key; did you mean axes?"),
        ({"samples": 3}, "samples: the design grid has no such key"),
        ({"axes": {}}, "axes: there is none; name a key and its values"),
        ({"axes": {"policy": "rps"}}, "axes.policy: is 'rps'; must be a list of values"),
        ({"axes": {"k": [1, 2, 1]}}, "axes.k: has 1 twice; give each value once"),
        ({"axes": {"seed": [1, 2]}}, "seed: is no axis; write seeds = [1, 2, 3]"),
        ({"axes": {"k": {"from": 2, "to": 1, "points": 2}}}, "axes.k: from 2 to 1 is empty"),
        (
            {"axes": {"k": {"from": 2, "to": math.inf, "points": 2}}},
            "axes.k: to is inf; must be",
        ),
        ({"axes": {"k": {"from": 2, "to": 10**400, "points": 2}}}, "axes.k: to is 1000"),
        (
            {"axes": {"k": {"from": 2, "to": 3, "points": 10**11}}},
            "axes.k.points = 100000000000:",
        ),
        ({"axes": {"k": [date(1979, 1, 1)]}}, "axes.k is datetime.date"),
        ({"set": {"k": date(1979, 1, 1)}}, "set.k is datetime.date"),
        ({"axes": {"k": {"from": 1, "to": 2}}}, "axes.k: the design grid needs points of a range"),
        (
            {"axes": {"k": {"from": 1, "to": 3, "points": 9}}},
            "axes.k: 9 whole numbers from 1 to 3 are not all different",
        ),
        ({"axes": {"k": {"from": 0, "to": 3, "step": 9}}}, "axes.k: step is unknown"),
        (
            {"axes": {"k": {"from": 0, "to": 3, "points": 2, "scale": "log"}}},
            "axes.k: from 0: a logarithmic range begins above 0",
        ),
        ({"set": {"policy": "rps"}}, "policy: is set for all points, and varies; give it once"),
        ({"set": {"seed": 1}, "seeds": 2}, "seed: is set, and there are seeds too"),
        ({"seeds": [1, 1]}, "seeds: [1, 1] has one twice"),
        ({"seeds": 0}, "seeds: is 0; must be a list of different seeds, or how many"),
        ({"seeds": True}, "seeds: is True; must be a list of different seeds, or how many"),
        ({"goals": {"read_count": "most"}}, "goals: is {'read_count': 'most'}; must be a table"),
        ({"design": "random"}, "samples: is missing; the design random needs it"),
        ({"design": "pareto", "samples": 4}, "goals: is missing; the design pareto needs it"),
        ({"design": "sobol", "samples": 6}, "samples: is 6; Sobol points are balanced at powers"),
        ({"design": "random", "samples": 0}, "samples: is 0; must be a whole number from 1"),
    ],
)
def test_wrong_sweep_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        list(points(read_plan(grid() | change)))
    assert str(caught.value).startswith(f"<dict>: {sentence}")


def test_points_with_different_keys_are_named() -> None:
    rows = [{"policy": "rps"}, {"seed": 2}]
    with pytest.raises(UserError, match=r"points: the 2\. has the keys seed, the first policy"):
        read_plan({"scenario": scenario(), "design": "list", "points": rows})


def test_file_is_read_with_paths_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "small.toml").write_text(SMALL)
    file = tmp_path / "sub" / "s.toml"
    file.write_text('scenario = "../small.toml"\ndesign = "grid"\n[axes]\npolicy = ["rps"]\n')
    assert read_plan(file).source.text == SMALL
    for text, sentence in (
        ("design = [", f"{file}:1:11: not TOML: a list lacks its closing ]"),
        ('design = "grid"\naxes.policy = ["rps"]', f"{file}: scenario: is missing"),
    ):
        file.write_text(text)
        with pytest.raises(UserError) as caught:
            read_plan(file)
        assert str(caught.value).startswith(sentence)
