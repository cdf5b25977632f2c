"""Characterisation: the table by hand on a part with one wordline, figures, claims, the command."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve import tables
from reprieve.characterize import ALIKE, Measured, measure
from reprieve.plot.theme import LIGHT
from reprieve_studies.characterize import characterize
from reprieve_studies.characterize.claims import CYCLES, CYCLES_BEFORE, DAYS, verdicts
from reprieve_studies.characterize.figures import Histogram, Map
from reprieve_studies.characterize.page import SECTIONS
from reprieve_studies.verdicts import Verdict

from .drive import Reprieve
from .vega import check_charts

TINY = """
[geometry]
planes_per_die = 1
page_bytes = 4096
pages_per_block = 1
blocks_per_plane = 16
[timing]
t_bus_us = 40
t_read_us = 25
program_iterations = 10
t_program_pulse_us = 60
t_verify_us = 40
t_erase_us = 3300
t_voltage_reset_us = 4
t_buffer_us = 5
t_suspend_overhead_us = 20
[suspension]
program = "iteration"
"""
"""Ten iterations of 100 µs, 20 until the array is free, 5 to restore."""


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return str(path)


def on_the_grid(measured: Measured) -> Measured:
    """Return the same with the steps themselves in place of drawn delays."""
    columns = {name: np.concatenate([one, one]) for name, one in measured.grid.items()}
    columns["is_drawn"] = np.repeat([0, 1], len(columns["is_drawn"]) // 2)
    return replace(measured, columns=columns)


def test_rows_are_those_worked_out_by_hand(tiny: str) -> None:
    table = pa.table(measure(tiny, (), 1, 1, ALIKE).runs)
    assert table.num_rows == 200
    rows = {
        (row["delay1_share"], row["delay2_share"]): row
        for row in table.to_pylist()
        if not row["drawn"]
    }
    # Three, three, three and one iteration: 320 + 325 + 325 + 105, or 300 at last.
    assert rows[0.3, 0.3] == {
        "delay1_share": 0.3,
        "delay2_share": 0.3,
        "drawn": False,
        "wordline": 0,
        "page_type": 0,
        "suspensions": 3,
        "t_eps_mean_ns": pytest.approx(70_000 / 3),
        "t_eps_worst_ns": 25_000,
        "t_program_suspended_ns": 1_075_000,
        "t_timers_ns": 1_270_000,
        "t_program_ns": 1_000_000,
    }
    # The program ends with its first delay.
    never = rows[1.0, 0.1]
    assert (never["suspensions"], never["t_program_suspended_ns"]) == (0, 1_000_000)
    assert (never["t_eps_mean_ns"], never["t_eps_worst_ns"]) == (None, None)


def test_settings_and_guards_reach_the_die(tiny: str) -> None:
    table = characterize(tiny, wordlines=1, suspension__max_per_operation=2)
    assert max(table["suspensions"]) == 2


def test_drawn_delays_are_shares_of_the_mean_program(tiny: str) -> None:
    rows = [row for row in tables.rows(measure(tiny, (), 1, 1, ALIKE).runs) if row["drawn"]]
    assert len(rows) == 100
    for at, row in enumerate(rows):
        steps = (at // 10 + 1, at % 10 + 1)
        for one, step in enumerate(steps, 1):
            assert abs(10 * row[f"delay{one}_share"] - step) <= 0.5


@pytest.mark.parametrize("variety", [(1.0, 0.0), (-0.1, 0.0), (0.0, 1.5)])
def test_a_variety_that_cannot_be_is_refused(tiny: str, variety: tuple[float, float]) -> None:
    with pytest.raises(rp.UserError, match=r"variety = .*: must be shares"):
        measure(tiny, (), 1, 1, variety)


@pytest.mark.parametrize("mean", range(27, 34))
def test_no_verdict_depends_on_the_number_of_iterations(mean: int) -> None:
    """A tPGM of 2 ms (Table 2) of other iterations has the same verdicts, and differing maps."""
    spread = [
        [mean + aside, weight] for aside, weight in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True)
    ]
    iteration_ns = round(2_001_000 / mean)
    pulse_ns = iteration_ns * 20 // 69
    sets = {
        "timing.program_iterations": mean,
        "timing.program_iterations_weights": spread,
        "timing.t_program_pulse_us": pulse_ns / 1000,
        "timing.t_verify_us": (iteration_ns - pulse_ns) / 1000,
    }
    measured = measure("tlc3d-zambelli", sets, 50, 1)
    usual = [one.reproduced for one in verdicts(measure("tlc3d-zambelli", (), 50, 1))]
    assert [one.reproduced for one in verdicts(measured)] == usual
    below, worst = (measured.percent_of_eps(worst=word, drawn=True) for word in (False, True))
    assert (below < worst).all()


def synthetic() -> Measured:
    """Two wordlines of 800 and 1200: two programs of one pair of delays, one of another."""
    columns = {
        "delay1_tenths": [1, 1, 10],
        "delay2_tenths": [2, 2, 10],
        "delay1_ns": [100, 100, 1_000],
        "delay2_ns": [200, 200, 1_000],
        "is_drawn": [0, 0, 0],
        "wordline": [0, 1, 0],
        "page_type": [0, 0, 0],
        "suspensions": [1, 3, 0],
        "t_eps_total_ns": [10, 90, 0],
        "t_eps_worst_ns": [10, 50, 0],
        "t_program_suspended_ns": [900, 1_500, 800],
        "t_timers_ns": [950, 1_650, 1_000],
        "t_program_ns": [800, 1_200, 1_000],
    }
    arrays = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    return on_the_grid(Measured("part", 2, 1, arrays))


def test_cells_are_means_and_extremes_in_percent_of_the_program() -> None:
    measured = synthetic()
    assert measured.program_ns == 1_000
    assert measured.suspensions() == {0: 1, 1: 1, 2: 0, 3: 1}
    # 100 ns over four suspensions; not the mean of 10 and 30.
    mean, worst = (measured.percent_of_eps(worst=worst) for worst in (False, True))
    assert (mean[0, 1], worst[0, 1]) == (2.5, 5.0)
    # No suspension has no tEPS, and a pair without programs nothing at all.
    assert math.isnan(mean[9, 9])
    assert math.isnan(worst[9, 9])
    mean, worst = (
        measured.percent_of_program("t_program_suspended_ns", worst=worst)
        for worst in (False, True)
    )
    assert (mean[0, 1], worst[0, 1], mean[9, 9]) == (120.0, 150.0, 80.0)
    assert math.isnan(mean[4, 4])


def test_claims_are_held_against_what_was_measured(tiny: str) -> None:
    found = {
        verdict.claim: verdict for verdict in verdicts(on_the_grid(measure(tiny, (), 1, 1, ALIKE)))
    }
    # One iteration a run, and the tenth ends the program; then 700 and 300.
    assert found["Suspensions at most, both delays 10 %"].ours == 9
    assert found["Suspensions at most, both delays above 60 %"].ours == 1
    # The program ends with a first delay of its whole length, by either clock.
    claims = [claim for claim in found if "both delays 100 %" in claim]
    assert [found[claim].ours for claim in claims] == [100.0, 100.0, 100.0]
    assert [found[claim].reproduced for claim in claims] == [False, False, False]


def test_a_part_that_is_never_suspended_has_no_time_to_enter(tiny: str) -> None:
    measured = on_the_grid(measure(tiny, ("timing.program_iterations=1",), 1, 1, ALIKE))
    assert measured.suspensions() == {0: 100}
    ours = {verdict.claim: verdict.ours for verdict in verdicts(measured)}
    entry = [value for claim, value in ours.items() if claim.startswith("Mean tEPS")]
    assert [value is not None and math.isnan(value) for value in entry] == [True, True]
    assert Map(measured.percent_of_eps(worst=False), "tEPS").draw(LIGHT).to_dict()


def test_early_retention_loss_makes_the_corner_longer(tiny: str) -> None:
    claim = "Mean tPGM,s with Delay2 above 70 %, over that with 40 to 60 %, Delay1 of 10 %"

    def found(*sets: str) -> Verdict:
        measured = on_the_grid(measure(tiny, sets, 1, 1, ALIKE))
        return {verdict.claim: verdict for verdict in verdicts(measured)}[claim]

    # After the first iteration, at 120: 425 + 425 + 105; 525 + 405; 625 + 305.
    middle = (1_075 + 1_050 + 1_050) / 3
    # 825 + 105; with 900 and 1000 nine iterations to the end, 905.
    without = found()
    assert without.ours == pytest.approx((1_050 + 1_025 + 1_025) / 3 / middle)
    assert without.reproduced is False
    # Two iterations more, after seven: 825 + 305; 925 + 205; 1025 + 105.
    lossy = found("suspension.retention_iterations=2")
    assert lossy.ours == pytest.approx(1_250 / middle)
    assert lossy.reproduced is True


def test_charts_say_what_they_show() -> None:
    cells = synthetic().percent_of_eps(worst=False)
    spec = Map(cells, "tEPS").draw(LIGHT).to_dict()
    tiles = spec["layer"][0]
    (rows,) = spec["datasets"].values()
    assert rows == [{"delay1": 10, "delay2": 20, "value": 2.5}]
    assert tiles["encoding"]["color"]["scale"]["domain"] == [2.5, 3.5]
    assert tiles["encoding"]["y"]["scale"]["domain"][0] == 100
    bars = Histogram({0: 1, 1: 2}).draw(LIGHT).to_dict()
    (rows,) = bars["datasets"].values()
    assert rows[1] == {"suspensions": 1, "count": 2}


def test_the_command_writes_the_paper_s_figures(
    reprieve: Reprieve, tmp_path: Path, tiny: str
) -> None:
    done = reprieve("characterize", tiny, "--wordlines", "1", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(
        "wrote out/runs.parquet, out/report.html, out/verdicts.json, out/figures\n"
    )
    assert "Suspensions at most, both" in done.stdout
    out = tmp_path / "out"
    found = pa.table(characterize(tiny, wordlines=1))
    assert pq.read_table(out / "runs.parquet").equals(found)
    names = ["6", "7a", "7b", "8a", "8b", "8-timers-a", "8-timers-b"]
    files = {f"figure-{name}.{form}" for name in names for form in ("svg", "png")}
    assert {path.name for path in (out / "figures").iterdir()} == files
    check_charts(out / "report.html")
    page = (out / "report.html").read_text()
    assert "Time to enter suspension" in page
    assert page.count('class="chart"') == sum(len(make(synthetic()).figures) for make in SECTIONS)
    assert len(json.loads((out / "verdicts.json").read_text())) == 9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("tlc3d-zambeli",),
            'part = "tlc3d-zambeli": must be one of ',
        ),
        (
            ("tlc3d-zambelli", "--wordlines", "257"),
            "wordlines = 257: a block of this part has 256; must be from 1 to 256",
        ),
        (("tlc3d-zambelli", "--wordlines", "0"), "--wordlines 0: must be at least 1"),
        (
            ("mlc-mqsim", "--set", "suspension.program=none"),
            'suspension.program = "none": the part suspends no programs; must be one of ',
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(
    reprieve: Reprieve, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = reprieve("characterize", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
    assert not (tmp_path / "out").exists()


def test_the_seed_decides_which_wordlines_are_drawn() -> None:
    def drawn(seed: int) -> set[int]:
        table = characterize("tlc3d-zambelli", wordlines=5, seed=seed)
        assert len(table) == 2 * 100 * 5 * 3
        return set(table["wordline"])

    assert drawn(1) == drawn(1) != drawn(2)
    assert rp.part("tlc3d-zambelli").startswith("# The 3D TLC part")


def test_errors_are_those_of_the_model_of_the_part(tiny: str) -> None:
    model = (
        "reliability.epsilon=0.001",
        "reliability.alpha=1e-6",
        "reliability.k=1",
        "reliability.beta=0.0005",
        "reliability.m=0",
        "reliability.n=1",
    )
    rates = measure(tiny, model, 1, 1).error_rates(CYCLES_BEFORE, CYCLES, DAYS)
    assert rates is not None
    # One cycle, then 101; two days at 0.0005 a day.
    assert rates.suspended == pytest.approx((0.001001, 0.001101))
    assert rates.untouched == pytest.approx((0.001001, 0.002001))
    assert measure(tiny, (), 1, 1).error_rates(CYCLES_BEFORE, CYCLES, DAYS) is None
