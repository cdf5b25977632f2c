"""Databases on the served drive: what is refused, and SQLite's transactions where mounts work."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from reprieve._native import UserError
from reprieve.reproduce.starblaze import databases
from reprieve.reproduce.starblaze.databases import mount

from .drive import Reprieve

T_READ_US = 67


def mounts() -> str:
    """Return the mounts of this machine that a drive has made."""
    lines = Path("/proc/mounts").read_text().splitlines()
    return "\n".join(line for line in lines if "/reprieve-" in line)


def test_the_scenarios_differ_in_suspension_alone() -> None:
    found = {name: tomllib.loads(databases.scenario_text(name)) for name in ("none", "both")}
    rules = {name: drive.pop("suspension") for name, drive in found.items()}
    assert found["none"] == found["both"]
    assert (rules["none"]["erase"], rules["both"]["erase"]) == (False, True)
    # 2 channels of 4 dies of 64 blocks of 3072 units of 4 KiB: 6.4 GB.
    geometry = found["none"]["geometry"]
    assert geometry["channels"] * geometry["dies_per_channel"] == 8


def test_what_cannot_be_run_is_refused(
    reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = reprieve("database", "oracle")
    assert done.returncode == 2
    assert "database oracle: must be one of sqlite" in done.stderr
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="loop devices and mounts need root"):
        databases.run_into("sqlite", 1, tmp_path / "out", lambda *_: None)
    assert not (tmp_path / "out").exists()


def test_transactions_reach_the_drive_and_nothing_stays(reprieve: Reprieve, tmp_path: Path) -> None:
    try:
        mount.require_mounts()
    except UserError as error:
        pytest.skip(f"NOT TESTED: {error}")
    before = mounts()
    done = reprieve("database", "sqlite", "--transactions", "30", "--out", "out")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out" / "transactions.json").read_text())
    assert [one["suspended"] for one in told] == [
        "no suspension", "erases", "programs and erases",
    ]  # fmt: skip
    for one in told:
        assert one["transactions"] == 30
        # Reads that reach the drive take a page's sensing at least, and no answer is early.
        assert one["p50_us"] > T_READ_US
        assert one["p50_us"] <= one["p95_us"] <= one["p99_us"] <= one["p99.9_us"] <= one["max_us"]
    assert [one["program_suspensions"] for one in told[:2]] == [0, 0]
    assert told[2]["program_suspensions"] > 0
    assert mounts() == before
