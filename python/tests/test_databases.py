"""Databases on the served drive: what is refused, and transactions where mounts work."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from reprieve._native import UserError
from reprieve_studies import databases
from reprieve_studies.databases import mount, postgresql
from reprieve_studies.starblaze.readings import SETTINGS

from .drive import Reprieve

T_READ_US = 67


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return where drives are made, and nothing else: with a short name, open to all."""
    with tempfile.TemporaryDirectory(prefix="db-") as name:
        Path(name).chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.setenv("TMPDIR", name)
        yield Path(name)


def left(place: Path) -> set[str]:
    """Return what a drive can leave on this machine: mounts, loop devices, processes, files."""
    mounts = Path("/proc/mounts").read_text().splitlines()
    loops = Path("/sys/block").glob("loop*/loop/backing_file")
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            commands.append(path.read_bytes().replace(b"\0", b" ").decode())
    found = [*mounts, *(path.read_text() for path in loops), *commands]
    found += [str(path) for path in place.iterdir()]
    return {line for line in found if f"{place}/" in line}


def queues() -> dict[Path, str]:
    """Return how the loop devices of this machine pass requests on."""
    names = ("scheduler", "max_sectors_kb")
    paths = [path for name in names for path in Path("/sys/block").glob(f"loop*/queue/{name}")]
    return {path: path.read_text() for path in paths}


def test_the_scenarios_differ_in_suspension_alone() -> None:
    found = {name: tomllib.loads(databases.scenario_text(name)) for name in ("none", "both")}
    rules = {name: drive.pop("suspension") for name, drive in found.items()}
    assert found["none"] == found["both"]
    assert (rules["none"]["erase"], rules["both"]["erase"]) == (False, True)
    # 2 channels of 4 dies, each with the 64 * 3072 units of 4 KiB of the slides' drive: 6.4 GB.
    geometry = found["none"]["geometry"]
    assert geometry["channels"] * geometry["dies_per_channel"] == 8
    assert geometry["blocks_per_plane"] * geometry["pages_per_block"] == 64 * 3072


def test_what_cannot_be_run_is_refused(
    reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = reprieve("database", "oracle")
    assert done.returncode == 2
    assert "database oracle: must be one of sqlite, postgresql, pgbench" in done.stderr
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="loop devices and mounts need root"):
        run("sqlite", tmp_path / "out")
    monkeypatch.setattr(databases, "require_mounts", lambda: None)
    monkeypatch.setattr(postgresql, "_PROGRAMS", ("no-such-program",))
    with pytest.raises(UserError, match="there is no PostgreSQL"):
        run("postgresql", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def run(engine: str, directory: Path, seconds: int = 5) -> list[databases.Outcome]:
    """Run with each setting, the model's clock slowed by five."""
    return databases.run_into(engine, seconds, 5, directory, lambda *_: None)


def need(*requirements: Callable[[], None]) -> None:
    """Skip the test, and say so, where the machine cannot run it."""
    try:
        for require in requirements:
            require()
    except UserError as error:
        pytest.skip(f"NOT TESTED: {error}")


def test_a_percentile_has_ten_transactions_beyond_it() -> None:
    late = {"mean": 40e3, "p99": 80e3}
    served = {"lateness_ns": late, "commands": {"read": {"latency_ns": late}}}
    flash = {"suspensions": {"program": 3, "erase": 4}}
    summary = {"served": served, "flash": flash}
    # 1 to 200 µs: beyond the 95th percentile are ten of them, beyond the 99th two.
    told = databases.Outcome("both", np.arange(1.0, 201.0), 20, summary).told
    assert (told["p50_us"], told["p95_us"]) == pytest.approx((100.5, 190.05))
    assert (told["p99_us"], told["p99.9_us"], told["max_us"]) == (None, None, 200)
    # Lateness is by the wall's clock, and told by the model's.
    assert (told["late_mean_us"], told["late_p99_us"]) == (2, 4)
    assert (told["drive_read_mean_us"], told["drive_read_p99_us"]) == (40, 80)


@pytest.mark.parametrize(
    ("engine", "settings"),
    [("sqlite", ("none", "erase", "both")), ("postgresql", ("both",)), ("pgbench", ("both",))],
)
def test_transactions_reach_the_drive_and_nothing_stays(
    engine: str, settings: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, place: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    need(mount.require_mounts, databases.ENGINES[engine].require)
    monkeypatch.setattr(databases, "SETTINGS_SERVED", settings)
    queues_before = queues()
    run(engine, tmp_path / "out")
    assert left(place) == set()
    assert {path: at for path, at in queues().items() if path in queues_before} == queues_before
    told = json.loads((tmp_path / "out" / "transactions.json").read_text())
    assert [one["suspended"] for one in told] == [SETTINGS[name][0] for name in settings]
    for one in told:
        assert one["transactions"] > 10
        # Reads that reach the drive take a page's sensing at least, and no answer is early.
        assert one["max_us"] > T_READ_US
        told_us = [one[f"p{at:g}_us"] for at in databases.PERCENTILES]
        known_us = [us for us in told_us if us is not None]
        assert known_us == sorted(known_us)
        assert told_us == known_us + [None] * (len(told_us) - len(known_us))
        assert one["drive_read_mean_us"] > T_READ_US
    for one, setting in zip(told, settings, strict=True):
        # Updates wait for their own flushes: a read of theirs seldom meets a program.
        if setting != "both" or engine != "pgbench":
            assert (one["program_suspensions"] > 0) == (setting == "both")
    assert (tmp_path / "out" / "both.toml").read_text() == databases.scenario_text("both")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
def test_nothing_stays_of_what_was_stopped(
    program: str, number: signal.Signals, place: Path, tmp_path: Path
) -> None:
    need(mount.require_mounts)
    process = subprocess.Popen(
        [program, "database", "sqlite", "--seconds", "600", "--out", "out"],
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not any(line.split()[1].endswith("/root") for line in left(place) if "ext4" in line):
        assert process.poll() is None, "it ended before it had mounted anything"
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait() == 128 + number
    assert left(place) == set()
    assert not (tmp_path / "out").exists()
