"""Searches that are killed, or whose disk fails, at random moments go on, to the same bytes."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from reprieve.calibration.calibrate import Task
from reprieve.calibration.parameters import Value
from reprieve.calibration.replay import Effort

from .drive import Reprieve
from .failing_calls import failing_calls
from .fio_output import measure
from .sweep_files import contents
from .test_experiments_long import DRAWN, TINY
from .test_interrupt import start

ROUNDS = 40 if "REPRIEVE_LONG" in os.environ else 3
PAGES_PER_BLOCK = "geometry.pages_per_block=96"


def go_on(
    program: str, command: list[str], folder: Path, draw: random.Random, most_s: float
) -> int:
    """End a command at random moments, then let it end by itself; return how often it was ended."""
    ended = 0
    for _ in range(ROUNDS):
        process = start(program, *command, cwd=folder)
        time.sleep(0.2 + most_s * draw.random())
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.communicate()
        ended += process.returncode != 0
    process = start(program, *command, cwd=folder)
    told = process.communicate()
    assert process.returncode == 0, told
    return ended


def files(folder: Path) -> dict[str, bytes]:
    """Return what a search leaves beside its store; reports name the folder."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name != ".lock" and path.suffix != ".html"
    }


@pytest.mark.seconds(15)
def test_a_tuning_goes_on(program: str, reprieve: Reprieve, small: Path) -> None:
    asked = "tune small.toml --vary suspension.max_per_program=1..12 --set policy=pes-ipc"
    command = [*asked.split(), "--min", "read.mean", "--workers", "1", "--out"]
    assert reprieve(*command, "whole").returncode == 0
    draw = random.Random(11)
    assert go_on(program, [*command, "o"], small.parent, draw, 1.5) > 0
    assert files(small.parent / "o") == files(small.parent / "whole")
    assert not list((small.parent / "o").rglob("*.partial"))


@pytest.mark.seconds(60)
def test_a_calibration_goes_on(program: str, reprieve: Reprieve, tmp_path: Path) -> None:
    base = Task((), start="tlc-nvme").base()
    key, pages = PAGES_PER_BLOCK.split("=")
    truth: dict[str, Value] = {"host.link_bytes_per_s": 1_000_000_000, key: int(pages)}
    jobs = [("read", {"rw": "randread", "bs": "4k", "iodepth": "1"})]
    content = measure("4k-1", jobs, base, truth, Effort(2_000), 12_000.0)
    (tmp_path / "4k-1.json").write_text(json.dumps(content))
    command = ["calibrate", "4k-1.json", "--quick", "--workers", "1", "--fix", PAGES_PER_BLOCK]
    for fixed in ("timing.t_bus_us=40.96", "host.t_command_us=0.3", "geometry.dies=8x4"):
        command += ["--fix", fixed]
    begun_s = time.monotonic()
    done = reprieve(*command, "--out", "whole/fit")
    assert done.returncode == 0, done.stderr
    whole_s = time.monotonic() - begun_s
    draw = random.Random(12)
    assert go_on(program, [*command, "--out", "o/fit"], tmp_path, draw, whole_s / 2) > 0
    assert files(tmp_path / "o/fit") == files(tmp_path / "whole/fit")


@pytest.mark.seconds(10)
def test_a_sweep_goes_on_whose_disk_fails(program: str, tmp_path: Path) -> None:
    """Of its calls one fails at random, time and again."""
    draw, failed = random.Random(13), 0
    with failing_calls(program, tmp_path) as broken:
        (broken.below / "tiny.toml").write_text(TINY)
        (broken.below / "s.toml").write_text(DRAWN.format(samples=200))
        assert broken.run(0, 0, "sweep", "s.toml", "--out", "whole").returncode == 0
        calls = broken.calls
        for _ in range(4 * ROUNDS):
            error = draw.choice([errno.EIO, errno.ENOSPC, errno.EDQUOT])
            done = broken.run(draw.randrange(2, calls), error, "sweep", "s.toml", "--out", "o")
            assert done.returncode in {0, 2}, done.stderr
            failed += done.returncode == 2
            if done.returncode == 0:  # from its beginning again
                assert contents(broken.below / "o") == contents(broken.below / "whole")
                (broken.below / "o").rename(broken.below / f"o{failed}")
        assert failed > ROUNDS
        assert broken.run(0, 0, "sweep", "s.toml", "--out", "o").returncode == 0
        assert contents(broken.below / "o") == contents(broken.below / "whole")
