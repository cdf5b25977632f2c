"""Losses of power, from the command line and from Python."""

from __future__ import annotations

import csv
import json
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

from .drive import SMALL, Reprieve

LOSS = (
    SMALL
    + """
[buffer]
acknowledge = "back"
bytes = 65536

[power]
account = "on"

[power_loss]
mode = "on"
p_controller_mw = 1000
hold_up_us = 100000
capacitor_start_v = 12
capacitor_min_v = 4
"""
)


@pytest.fixture
def loss(tmp_path: Path) -> Path:
    path = tmp_path / "loss.toml"
    path.write_text(LOSS)
    return path


def test_cuts_are_compared_by_policy(reprieve: Reprieve, loss: Path, tmp_path: Path) -> None:
    done = reprieve("power-loss", loss, "--cuts", "7", "--set", "policy=pes-ips", "--out", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert "energy with suspend than with wait" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    # Folded, each column of a part still says what it is of.
    words = done.stdout.split()
    assert words.count("after,") == 3 and words.count("energy,") == 2
    assert done.stdout.splitlines()[-1] == (
        "wrote a/scenario.toml, a/power_loss.csv, a/power_loss.json, a/power_loss.svg"
    )
    with (tmp_path / "a" / "power_loss.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["policy"] for row in rows[:4]] == ["wait", "suspend_erase", "suspend", "reset"]
    assert len(rows) == 7 * 4
    length_ns = rp.run(loss, policy="pes-ips").summary["device"]["simulated_ns"]
    instants = [(2 * number + 1) * length_ns // 14 for number in range(7)]
    assert [int(row["at_ns"]) for row in rows[::4]] == instants
    told = json.loads((tmp_path / "a" / "power_loss.json").read_text())
    assert told["cuts"] == 7
    for policy, summary in told["policies"].items():
        mine = [row for row in rows if row["policy"] == policy]
        times = sorted(int(row["time_to_safety_ns"]) for row in mine)
        assert summary["time_to_safety_ns"] == {
            "mean": sum(times) / 7,
            "p99": times[ceil(0.99 * 7) - 1],
            "max": times[-1],
        }
        assert summary["lost_pages"] == 0 < summary["dirty_pages"]
        for row in mine:
            # Half a microfarad and 128 square volts.
            needed_uf = float(row["energy_uj"]) / 64
            assert float(row["capacitance_uf"]) == pytest.approx(needed_uf)


def test_a_cut_is_that_of_the_run_that_it_ends(
    reprieve: Reprieve, loss: Path, tmp_path: Path
) -> None:
    cuts = rp.power_loss(loss, cuts=40, policy="pes-ips")
    saves = [row for row in cuts.rows if row["policy"] == "suspend" and row["saved_pages"] > 0]
    sets = ["--set", "policy=pes-ips", "--set", "power_loss.policy=suspend"]
    sets += ["--set", f"power_loss.at_us={saves[0]['at_ns'] / 1000}"]
    done = reprieve("run", loss, *sets, "--check", "--save-state", "s", "--out", "a")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads((tmp_path / "a" / "summary.json").read_text())["power_loss"]
    assert told["recovery"].pop("unreadable_pages") >= 0
    assert told["recovery"].pop("mapped_pages") > 0
    assert told == saves[0]
    assert reprieve("run", loss, "--from-state", "s", "--check", "--out", "b").returncode == 0


def test_what_cannot_be_asked_for_is_refused(reprieve: Reprieve, loss: Path) -> None:
    off = reprieve("power-loss", loss, "--set", "power_loss.mode=off")
    assert off.returncode == 2
    assert "power_loss.mode" in off.stderr
    late = reprieve("run", loss, "--set", "power_loss.at_us=9000000000")
    assert late.returncode == 2
    assert "the last request is complete" in late.stderr
    rows = rp.power_loss(loss, cuts=40).rows
    dirty = next(row for row in rows if row["policy"] == "wait" and row["saved_pages"] > 0)
    cut = f"power_loss.at_us={dirty['at_ns'] / 1000}"
    small = reprieve("run", loss, "--set", cut, "--save-state", "s")
    assert small.returncode == 0, small.stderr
    through = reprieve("run", loss, "--from-state", "s", "--set", "buffer.acknowledge=through")
    assert through.returncode == 2
    assert "dirty pages from before a loss of power" in through.stderr


def test_off_is_off(loss: Path) -> None:
    on = rp.run(loss).summary
    off = rp.run(loss, power_loss__mode="off").summary
    on.pop("run")
    off.pop("run")
    assert on == off


def test_a_state_saved_after_a_cut_starts_a_run_whatever_was_being_collected(
    tmp_path: Path,
) -> None:
    # A drive that starts steady has planes in the middle of a collection, whose blocks have lost
    # their place in the order of filling: with seeds 1 and 4 two blocks had one number.
    drive: dict[str, Any] = {
        "device": "fast12-mlc",
        "policy": "pes-ips",
        "geometry": {"channels": 4, "blocks_per_plane": 64, "pages_per_block": 32},
        "ftl": {"precondition": "steady"},
        "buffer": {"acknowledge": "back", "bytes": 65_536},
        "power": {"account": "on"},
        "power_loss": {"mode": "on", "p_controller_mw": 1_500, "hold_up_us": 100_000},
        "workload": {"generator": "mixed", "requests": 3_000, "read_fraction": 0.5,
                     "request_bytes": 4_096, "queue_depth": 32},
    }  # fmt: skip
    state = tmp_path / "cut.state"
    for seed in (1, 2, 4):
        cut: dict[str, Any] = {"power_loss.at_us": 20_000, "power_loss.policy": "suspend"}
        rp.run({**drive, "seed": seed}, save_state=state, **cut)
        again = rp.run({**drive, "seed": seed}, from_state=state)
        assert again.summary["requests"]["total"]["count"] == 3_000
