"""Databases on the served drive: what is refused, and transactions where mounts work."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import shutil
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
from reprieve_studies.commands import database as command
from reprieve_studies.databases import mount, postgresql
from reprieve_studies.starblaze.runs import SETTINGS

from .drive import Reprieve

T_READ_US = 67
BOTH = databases.Arm("both")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Return where drives are made, and nothing else: with a short name, open to all.

    One test at a time has it: what the others set of the machine's loop devices is seen by all.
    """
    assert tmp_path.exists(), "the folder of all tests is not made in it"
    lock = Path(tempfile.gettempdir()) / f"reprieve-databases-{os.getuid()}.lock"
    with lock.open("w") as turn, tempfile.TemporaryDirectory(prefix="db-") as name:
        fcntl.flock(turn, fcntl.LOCK_EX)
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
    arms = {name: databases.Arm(name) for name in ("none", "both")}
    found = {name: tomllib.loads(databases.scenario_text(arm)) for name, arm in arms.items()}
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
    done = reprieve("database", "sqlite", "--same-block", "plane")
    assert done.returncode == 2
    assert "--same-block plane: must be one of wordline, block, page" in done.stderr
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
    return databases.run_into(engine, databases.Plan(seconds, 5), directory, lambda *_: None)


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
    told = databases.Outcome(BOTH, 1, np.arange(1.0, 201.0), 20, summary).told
    assert (told["p50_us"], told["p95_us"]) == pytest.approx((100.5, 190.05))
    assert (told["p99_us"], told["p99.9_us"], told["max_us"]) == (None, None, 200)
    # Lateness is by the wall's clock, and told by the model's.
    assert (told["late_mean_us"], told["late_p99_us"]) == (2, 4)
    assert (told["drive_read_mean_us"], told["drive_read_p99_us"]) == (40, 80)


def outcome(arm: databases.Arm, seed: int, transaction_us: float) -> databases.Outcome:
    """Return a run of two hundred transactions alike, whose drive answers in a tenth of that."""
    read = {"latency_ns": {"mean": 100 * transaction_us, "p99": 300 * transaction_us}}
    served = {"lateness_ns": {"mean": 0, "p99": 0}, "commands": {"read": read}}
    summary = {"served": served, "flash": {"suspensions": {"program": 0, "erase": 0}}}
    return databases.Outcome(arm, seed, np.full(200, transaction_us), 1, summary)


def test_arms_are_compared_seed_by_seed() -> None:
    none, page = databases.Arm("none"), databases.Arm("both", "page")
    runs = [outcome(none, 1, 400), outcome(page, 1, 100), outcome(none, 2, 900)]
    (found,) = databases.paired([*runs, outcome(page, 2, 225)])
    assert (found["suspended"], found["same_block"], found["seeds"]) == (
        "programs and erases", "page", 2,
    )  # fmt: skip
    # A quarter with either seed, however long it takes with both.
    for what in databases.COMPARED:
        assert found[what] == pytest.approx({"ratio": 0.25, "low": 0.25, "high": 0.25})
    # Ratios of 1/8 and 1/2: their mean in logarithms is 1/4, and t is 12.706 at two seeds.
    (found,) = databases.paired([outcome(none, 1, 800), outcome(page, 1, 100),
                                 outcome(none, 2, 800), outcome(page, 2, 400)])  # fmt: skip
    half = 12.706 * math.log(2)
    assert found["mean_us"]["ratio"] == pytest.approx(0.25)
    assert found["mean_us"]["high"] == pytest.approx(0.25 * math.exp(half), rel=1e-3)


def test_each_kind_of_block_is_an_arm_where_programs_are_suspended() -> None:
    arms = databases.Plan(60, 20, 5, ("wordline", "page")).arms
    assert [arm.name for arm in arms] == ["none", "erase", "both", "both-page"]
    assert tomllib.loads(databases.scenario_text(arms[3]))["suspension"]["same_block"] == "page"


@pytest.mark.seconds(25)
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
    assert [one["suspended"] for one in told] == [SETTINGS[name]["title"] for name in settings]
    for one in told:
        assert one["transactions"] > 10
        # Reads that reach the drive take a page's sensing at least, and no answer is early.
        assert one["max_us"] > T_READ_US
        told_us = [one[f"p{at:g}_us"] for at in databases.PERCENTILES]
        known_us = [us for us in told_us if us is not None]
        assert known_us == sorted(known_us)
        assert told_us == known_us + [None] * (len(told_us) - len(known_us))
        assert one["drive_read_mean_us"] > T_READ_US
    suspended = {one["suspended"]: one["program_suspensions"] for one in told}
    assert all(not suspended[SETTINGS[name]["title"]] for name in settings if name != "both")
    # Updates wait for their own flushes: a read of theirs seldom meets a program.
    if engine != "pgbench" and not suspended[SETTINGS["both"]["title"]]:
        # Nor does one of a database that a busy machine lets do little: it may try again.
        monkeypatch.setattr(databases, "SETTINGS_SERVED", ("both",))
        (again,) = run(engine, tmp_path / "again", 30)
        assert again.told["program_suspensions"] > 0
    assert (tmp_path / "out" / "both.toml").read_text() == databases.scenario_text(BOTH)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
def test_nothing_stays_of_what_was_stopped(
    program: str, number: signal.Signals, place: Path, tmp_path: Path
) -> None:
    need(mount.require_mounts)
    # As on a busy machine, longer than a command has that has nothing to save.
    slow = tmp_path / "bin/umount"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec {shutil.which("umount")} "$@"\n')
    slow.chmod(0o755)
    process = subprocess.Popen(
        [program, "database", "sqlite", "--seconds", "600", "--out", "out"],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{slow.parent}:{os.environ['PATH']}"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not any(line.split()[1].endswith("/root") for line in left(place) if "ext4" in line):
        assert process.poll() is None, "it ended before it had mounted anything"
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait() == 128 + number
    assert left(place) == set()
    assert not (tmp_path / "out").exists()


def test_rows_of_several_seeds_are_told_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting that is run twice has two rows, and each names its seed."""
    monkeypatch.setenv("COLUMNS", "400")
    counts = {"program": 1, "erase": 2}
    reads = {"read": {"latency_ns": {"mean": 3e6, "p99": 3e7}}}
    served = {"lateness_ns": {"mean": 1e6, "p99": 1e7}, "commands": reads}
    summary = {"served": served, "flash": {"suspensions": counts}}
    arms = databases.Plan(1, 20).arms
    alike = np.arange(1.0, 2001.0)
    command._show(
        "sqlite",
        [databases.Outcome(arm, seed, alike, 20, summary) for seed in (7, 8) for arm in arms],
    )
    lines = capsys.readouterr().out.splitlines()
    (header,) = (line.split() for line in lines if line.startswith("suspended"))
    assert header[:2] == ["suspended", "seed"]
    (whole,) = (line for line in lines if line.startswith("suspended"))
    heads = re.split(r"  +", whole.strip())
    assert len(set(heads)) == len(heads), "a folded table may begin with any of them"
    titles = {arm.title for arm in arms}
    rows = [line for line in lines if line.startswith(tuple(titles))]
    assert len(set(rows)) == len(rows) == 2 * len(arms)
