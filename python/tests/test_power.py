"""Power and energy: in results, in files, in the report and from the rig."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

from .drive import SMALL, Reprieve
from .vega import check_charts

# 100 µs and 1 mW are far from every other number of the drive.
POWER: dict[str, Any] = {"power.account": "on", "power.series_us": 100, "power.p_idle_mw": 1}


@pytest.fixture(scope="module")
def metered() -> rp.Result:
    return rp.run(tomllib.loads(SMALL), check=True, **POWER)


def test_energy_adds_up_over_classes_and_over_bins(metered: rp.Result) -> None:
    energy = metered.summary["power"]["energy_uj"]
    classes = energy["by_class"].values()
    core_uj = energy["idle"] + sum(part["core"] for part in classes)
    assert core_uj == pytest.approx(energy["core"])
    assert sum(part["io"] for part in classes) == pytest.approx(energy["io"])
    # 2 channels of one die, 1 mW each.
    simulated_ns = metered.summary["device"]["simulated_ns"]
    dies = tomllib.loads(metered.scenario)["geometry"]["dies_per_channel"] * 2
    assert energy["idle"] == pytest.approx(dies * simulated_ns / 1e6)
    assert sum(metered.summary["power"]["states_ns"].values()) == dies * simulated_ns
    bins = metered.power
    assert bins is not None
    # The rest of a picojoule at the end is in no bin.
    assert bins["core_pj"].sum() == int(energy["core"] * 1e6)
    assert bins["io_pj"].sum() == pytest.approx(energy["io"] * 1e6, abs=1)
    assert bins["length_ns"].sum() == simulated_ns


def test_nothing_else_changes(metered: rp.Result) -> None:
    plain = rp.run(tomllib.loads(SMALL))
    assert plain.power is None
    assert "power" not in plain.summary
    for section in ("requests", "flash", "device"):
        assert plain.summary[section] == metered.summary[section]


def test_bins_and_report_are_written_and_stale_ones_removed(tmp_path: Path) -> None:
    metered = rp.run(tomllib.loads(SMALL), out=tmp_path, **POWER)
    with (tmp_path / "power.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert metered.power is not None
    assert [int(row["core_pj"]) for row in rows] == metered.power["core_pj"].tolist()
    first = rows[0]
    energy_pj = int(first["core_pj"]) + int(first["io_pj"])
    assert float(first["power_mw"]) == pytest.approx(energy_pj / 100_000)
    metered.report(tmp_path / "report.html")
    check_charts(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "power and energy of the flash" in page
    assert f"{metered.summary['power']['host_byte_nj']:,.2f}" in page
    plain = rp.run(tomllib.loads(SMALL), out=tmp_path)
    assert not (tmp_path / "power.csv").exists()
    plain.report(tmp_path / "report.html")
    assert "power and energy of the flash" not in (tmp_path / "report.html").read_text()


def test_the_rig_writes_steps(tmp_path: Path, reprieve: Reprieve) -> None:
    """Data in to 20, pulses of 20 and verifies of 8; 67.5 pJ a bit are 55.296 mW over 20 µs."""
    commands = tmp_path / "commands.csv"
    commands.write_text("arrival_ns,op,plane,block,page\n0,program,0,0,0\n")
    files = ("--commands", str(commands), "--out", "out.csv", "--power", "power.csv")
    powers = ("--set", "power.p_program_pulse_mw=36")
    reprieve("rig", "--device", "fast12-slc", *files, *powers)
    steps = Path(tmp_path / "power.csv").read_text().splitlines()
    assert steps[:4] == [
        "time_ns,power_core_mw,power_io_mw",
        "0,0.03,55.296",
        "20000,36,0",
        "40000,30,0",
    ]
    assert steps[-1] == "160000,0.03,0"
