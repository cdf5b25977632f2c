"""The experiment engine at 100,000 points, and under kills at random of whoever takes part."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .drive import Reprieve
from .sweep_files import contents, stored
from .test_interrupt import start

pytestmark = pytest.mark.skipif("REPRIEVE_LONG" not in os.environ, reason="make long runs it")

TINY = """
device = "fast12-slc"
policy = "pes-ipc"
[geometry]
channels = 1
chips_per_channel = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = 24
pages_per_block = 8
[workload]
generator = "mixed"
requests = 100
read_fraction = 0.7
arrivals = "poisson"
rate_iops = 2000
"""
DRAWN = """
scenario = "tiny.toml"
design = "random"
samples = {samples}
[axes]
"workload.read_fraction" = {{ from = 0.1, to = 0.9 }}
"workload.rate_iops" = {{ from = 100, to = 4000 }}
"timing.t_read_us" = {{ from = 10, to = 90 }}
"""
MEASURED = """
import json, resource, sys, time
from pathlib import Path
from reprieve.experiments.engine import Settings, sweep_into
from reprieve.experiments.plan import read_plan

first = []

def step(_what, done, _whole):
    if done and not first:
        first.append(time.monotonic() - began)

if __name__ == "__main__":
    began = time.monotonic()
    settings = Settings(processes=2, step=step, tell=lambda _sentence: None)
    found = sweep_into(read_plan(sys.argv[1]), Path("o"), settings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    whole = time.monotonic() - began
    print(json.dumps({"ran": found.ran, "first_s": first[0] if first else None,
                      "peak_bytes": peak, "whole_s": whole}))
"""


def files(folder: Path, samples: int) -> None:
    (folder / "tiny.toml").write_text(TINY)
    (folder / "s.toml").write_text(DRAWN.format(samples=samples))


def test_a_hundred_thousand_points_take_little(reprieve: Reprieve, tmp_path: Path) -> None:
    files(tmp_path, 100_000)
    (tmp_path / "measured.py").write_text(MEASURED)
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "measured.py", "s.toml"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(json.loads(done.stdout))
    first, again = found
    assert (first["ran"], again["ran"]) == (100_000, 0)
    # Not a limit of time, but of what time goes into: no point is listed, none is read again.
    assert first["first_s"] < first["whole_s"] / 10
    assert again["whole_s"] < first["whole_s"] / 5
    assert first["peak_bytes"] < 1 << 30
    assert sum(path.is_file() for path in tmp_path.rglob("*")) < 1_000
    reprieve("sweep", "s.toml", "--out", "o", "--collect")
    counted = reprieve("query", "SELECT count(*) AS n FROM runs", "o", "--json", "n.json")
    assert counted.returncode == 0
    assert json.loads((tmp_path / "n.json").read_text()) == [{"n": 100_000}]


@pytest.mark.parametrize("executor", ["--workers", "--processes", "--part"])
def test_kills_at_random_change_no_byte(
    program: str, reprieve: Reprieve, tmp_path: Path, executor: str
) -> None:
    files(tmp_path, 3_000)
    assert reprieve("sweep", "s.toml", "--out", "whole").returncode == 0
    draw = random.Random(11)
    parts = ("1/3", "2/3", "3/3") if executor == "--part" else ("2",)
    for _ in range(6):
        for part in parts:
            before = len(stored(tmp_path / "o"))
            process = start(program, "sweep", "s.toml", "--out", "o", executor, part, cwd=tmp_path)
            time.sleep(draw.uniform(0.5, 1.5))
            children = subprocess.run(
                ["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False
            ).stdout.split()
            if children and draw.random() < 0.5:
                # A worker dies: the driver goes on without it.
                os.kill(int(draw.choice(children)), signal.SIGKILL)
                time.sleep(0.3)
            process.kill()
            process.communicate()
            assert len(stored(tmp_path / "o")) >= before
    for part in parts:
        assert reprieve("sweep", "s.toml", "--out", "o", executor, part).returncode == 0
    assert reprieve("sweep", "s.toml", "--out", "o", "--collect").returncode == 0
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")
