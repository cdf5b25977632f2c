"""Fits of devices to measured drives: values by hand, figures that count, and the file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reprieve import UserError, device
from reprieve.calibration.identify import Interval
from reprieve.calibration.objective import Term
from reprieve.drives import load
from reprieve.drives.fitted_device import fitted_text
from reprieve.drives.fitting import fit, is_fitted
from reprieve.drives.rates import beyond

from .drive import Reprieve
from .hand_drive import HEAD, folder_of

MORE = """[global]
bs = "4k"
runtime = "1s"

[condition.one.jobs]
reader = { rw = "randread", rate_iops = 100 }
"""
FIT = """fitted = ["one"]

[free]
"timing.t_read_us" = [20, 120, 900]
"""
BUS_US, LINK_US = 40.0, 4096 / 2000
"""Of a page over the channel of `fast12-mlc`, and of 4 KiB over its link of 2 GB/s."""


@pytest.fixture
def hand(tmp_path: Path) -> Path:
    """Return the folder of a drive that reads in 200 us and is idle otherwise."""
    read_us = 200 + BUS_US + LINK_US
    rows = (f"one,reader,read,{metric},{read_us}" for metric in ("p50_us", "p90_us", "p99_us"))
    return folder_of(tmp_path / "hand", MORE, "\n".join(rows), FIT)


def test_a_fit_finds_the_time_of_an_idle_read(hand: Path, tmp_path: Path) -> None:
    found = fit(load(hand), reads=60, rounds=6, store=tmp_path / "store", workers=1)
    (interval,) = found.intervals
    assert found.fit.values == {"timing.t_read_us": pytest.approx(200, rel=0.005)}
    assert interval.low < 200 < interval.high
    assert interval.is_determined
    assert found.figures == 3
    # Six rounds of four points, two to begin with, four for longer: all kept, and done once.
    assert 10 < found.simulated <= 30
    again = fit(load(hand), reads=60, rounds=6, store=tmp_path / "store", workers=1)
    assert (again.fit, again.simulated) == (found.fit, 0)


def test_a_fit_keeps_to_its_ranges(hand: Path) -> None:
    """The time of 200 us is outside: the nearest end of the range is the best."""
    (hand / "fit.toml").write_text("# By hand.\n" + FIT.replace("20, 120, 900", "213, 215, 218"))
    found = fit(load(hand), reads=60, rounds=3, workers=1)
    assert found.fit.values == {"timing.t_read_us": pytest.approx(213, rel=1e-4)}


def test_a_fit_has_three_figures_for_each_parameter(hand: Path) -> None:
    (hand / "fit.toml").write_text("# By hand.\n" + FIT + '"timing.t_bus_us" = [10, 40, 90]\n')
    with pytest.raises(UserError, match="2 parameters for 3 figures; must be at most 1"):
        fit(load(hand), reads=20, workers=1)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[20, 120, 900]", "[120, 20, 900]", "free.timing.t_read_us: must be a least value, one"),
        ("[20, 120, 900]", "[20, 120]", "free.timing.t_read_us"),
        ("[free]", "[three]", "three is no key here"),
        ('"timing.t_read_us"', '"timing.t_reed_us"', "t_reed_us"),
        (
            '"timing.t_read_us"',
            '"program.t_total_us"',
            "fit.toml: free: program.t_total_us and program.steps must be free together",
        ),
    ],
)
def test_a_wrong_fit_is_named(hand: Path, old: str, new: str, sentence: str) -> None:
    (hand / "fit.toml").write_text("# By hand.\n" + FIT.replace(old, new))
    with pytest.raises(UserError) as refused:
        fit(load(hand), reads=20, workers=1)
    assert sentence in str(refused.value)


def test_slow_writes_and_rare_reads_do_not_count() -> None:
    def term(op: str, what: str) -> Term:
        return Term("one", 0, op, what, 1.0, 1.0, 0.03)

    counted = [("read", "p50"), ("read", "p99.9"), ("write", "p50"), ("write", "iops")]
    left_out = [("read", "p99.99"), ("write", "p99"), ("write", "p99.9")]
    assert all(is_fitted(term(*each), False) for each in counted)
    assert not any(is_fitted(term(*each), False) for each in left_out)
    # Beyond the knee only medians and rates, which w100k of a drive of 79 thousand is.
    assert [is_fitted(term(*each), True) for each in counted] == [True, False, True, True]
    assert beyond(load("pe8110").conditions) == ["w100k", "w200k"]


def test_a_device_keeps_what_was_not_fitted() -> None:
    text = (
        "# Old head.\n[timing]\n# t_read_us: fitted, 95 %: 1 to 2\nt_read_us = 25   # old\n"
        "t_bus_us = 40   # given\n[suspension]\nmin_progress_us = 5 # old\n"
    )
    known = [
        Interval("timing.t_read_us", 60.0, 50.0, 70.0, True),
        Interval("suspension.min_progress_us", 9.0, 1.0, 90.0, False),
    ]
    values = {each.key: each.value for each in known}
    new = fitted_text(text, "# New head.", values, known)
    assert tomllib.loads(new) == {
        "timing": {"t_read_us": 60.0, "t_bus_us": 40},
        "suspension": {"min_progress_us": 9.0},
    }
    assert new.startswith("# New head.\n[timing]\nt_read_us = 60.0")
    assert "t_bus_us = 40   # given" in new
    assert "# not determined: 1 to 90" in new
    assert "1 to 2" not in new
    with pytest.raises(UserError, match=r"host.queues was fitted; must have a line"):
        fitted_text(text, "# New head.", {"host.queues": 3}, [])


def test_the_command_writes_a_device(hand: Path, tmp_path: Path, reprieve: Reprieve) -> None:
    own = hand / "own.toml"
    own.write_text(device("fast12-mlc") + "\n[timing]\nt_read_us = 25   # of the part\n")
    text = (HEAD + MORE).replace('"fast12-mlc"', f'"{own}"')
    (hand / "drive.toml").write_text(text)
    done = reprieve("drives", hand, "--fit", "--out", tmp_path / "fit")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 figures, 1 parameters; wrote" in done.stdout
    found = tomllib.loads((tmp_path / "fit/device.toml").read_text())
    assert found["timing"]["t_read_us"] == pytest.approx(200, rel=0.005)
    assert found["host"]["link_bytes_per_s"] == 2000000000
    refused = reprieve("drives", "--fit")
    assert refused.stderr == "drives: --fit must have the name of a drive\n"


@pytest.mark.parametrize("name", ["drive.toml", "fit.toml", "figures.csv", "own.toml"])
def test_no_input_is_replaced(hand: Path, reprieve: Reprieve, name: str) -> None:
    """Not even with --force, and the device no less than the figures."""
    (hand / "own.toml").write_text(device("fast12-mlc"))
    (hand / "drive.toml").write_text((HEAD + MORE).replace('"fast12-mlc"', f'"{hand}/own.toml"'))
    before = (hand / name).read_text()
    done = reprieve("drives", hand, "--run", "--reads", "20", "--out", hand / name, "--force")
    assert (done.returncode, (hand / name).read_text()) == (2, before)
    assert "is an input of this command" in done.stderr


def test_a_fit_does_not_replace_the_device_that_it_begins_with(
    hand: Path, reprieve: Reprieve
) -> None:
    own = hand / "device.toml"
    own.write_text(device("fast12-mlc"))
    (hand / "drive.toml").write_text((HEAD + MORE).replace('"fast12-mlc"', f'"{own}"'))
    done = reprieve("drives", hand, "--fit", "--out", hand, "--force")
    assert (done.returncode, own.read_text()) == (2, device("fast12-mlc"))
    assert "is an input of this command" in done.stderr
