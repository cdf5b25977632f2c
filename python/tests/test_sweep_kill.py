"""Sweeps that are killed, at the driver or at a worker: nothing finished is lost or done again."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from reprieve.experiments.executors import bundle_tasks

from .drive import Reprieve
from .sweep_files import contents, lose, stored
from .test_interrupt import start

GRID = """
scenario = "small.toml"
design = "grid"
seeds = 3
[set]
"workload.requests" = 4000
[axes]
policy = ["fifo", "rps", "pes-ipc"]
"workload.rate_iops" = [500, 1000, 1500, 2000]
"""

SEARCH = """
scenario = "small.toml"
design = "pareto"
samples = 24
batch = 6
[set]
policy = "pes-ipc"
"workload.requests" = 4000
[axes]
"suspension.max_per_operation" = { from = 1, to = 8 }
"suspension.min_progress_us" = { from = 0.0, to = 500.0 }
[goals]
read_latency_ns_mean = "min"
write_latency_ns_mean = "min"
"""


@pytest.mark.seconds(10)
@pytest.mark.parametrize("text", [GRID, SEARCH], ids=["grid", "search"])
def test_killed_sweep_goes_on_where_it_was(
    program: str, reprieve: Reprieve, small: Path, tmp_path: Path, text: str
) -> None:
    (tmp_path / "s.toml").write_text(text)
    whole = reprieve("sweep", "s.toml", "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    runs = len(stored(tmp_path / "whole"))
    draw, kept, killed = random.Random(5), dict[str, Path](), 0
    for _ in range(4):
        process = start(program, "sweep", "s.toml", "--out", "o", "--workers", "2", cwd=tmp_path)
        # So many more runs are to be done before the end comes, in the middle of what follows.
        wanted = len(kept) + draw.randrange(1, 4)
        while len(stored(tmp_path / "o")) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.random() * 0.02)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        after = stored(tmp_path / "o")
        assert kept.items() <= after.items()
        kept = after
    assert killed >= 2
    done = reprieve("sweep", "s.toml", "--out", "o")
    assert f"{runs} runs, of which {runs - len(kept)} were done now" in done.stdout
    assert kept.items() <= stored(tmp_path / "o").items()
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")
    assert not list((tmp_path / "o").rglob("*.partial"))
    assert small.exists()


def test_interrupted_sweep_keeps_what_is_done(
    program: str, reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(GRID)
    process = start(program, "sweep", "s.toml", "--out", "o", cwd=tmp_path)
    while not stored(tmp_path / "o"):
        assert process.poll() is None, "the sweep ended before its first run"
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    done = len(stored(tmp_path / "o"))
    collected = reprieve("sweep", "s.toml", "--out", "o", "--collect")
    assert f"{done} runs, of which 0 were done now" in collected.stdout
    assert small.exists()


def test_sweep_of_which_no_point_has_all_its_seeds_writes_its_runs(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(GRID)
    assert reprieve("sweep", "s.toml", "--out", "o").returncode == 0
    runs = pq.read_table(tmp_path / "o/runs.parquet", columns=["run", "seed"]).to_pylist()
    first = min(row["seed"] for row in runs)
    lost = {row["run"] for row in runs if row["seed"] == first}
    lose(tmp_path / "o", lost)
    collected = reprieve("sweep", "s.toml", "--out", "o", "--collect")
    assert collected.returncode == 0, collected.stderr
    assert pq.read_table(tmp_path / "o/runs.parquet").num_rows == len(runs) - len(lost)
    assert pq.read_table(tmp_path / "o/differences.parquet").num_rows == 0
    assert small.exists()


def test_second_sweep_in_one_directory_is_refused(
    program: str, reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(GRID.replace("4000", "1000000000"))
    process = start(program, "sweep", "s.toml", "--out", "o", cwd=tmp_path)
    while not (tmp_path / "o" / ".lock").exists():
        assert process.poll() is None, "the sweep ended before it began"
        time.sleep(0.001)
    time.sleep(0.05)  # between making the file and locking it
    second = reprieve("sweep", "s.toml", "--out", "o")
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert second.returncode == 2
    assert second.stderr.startswith("o: another sweep is at work here")
    assert small.exists()


def test_full_disk_is_one_sentence(program: str, small: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(GRID)
    done = subprocess.run(
        [program, "sweep", "s.toml", "--out", "o"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith("o/segments/")
    assert done.stderr.endswith(": cannot write here: File too large; name another place\n")
    assert not stored(tmp_path / "o")
    assert not list((tmp_path / "o").rglob("*.partial"))
    assert small.exists()


Scheduler = tuple[str, "subprocess.Popen[bytes]"]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    """Start a Dask scheduler on this machine, with nobody to work yet; its address comes first."""
    file = tmp_path / "scheduler.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0",
         "--no-dashboard", "--scheduler-file", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (file.exists() and '"address"' in file.read_text()):
            assert process.poll() is None, "the scheduler has ended"
            time.sleep(0.01)
        yield json.loads(file.read_text())["address"], process
    finally:
        process.kill()
        process.wait()


def worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a worker with one thread, in a process that nobody starts again."""
    return subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny",
         "--no-dashboard", "--local-directory", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,
    )  # fmt: skip


@pytest.mark.seconds(16)
def test_cluster_gives_the_same_though_a_worker_is_killed(
    program: str, reprieve: Reprieve, small: Path, tmp_path: Path, scheduler: Scheduler
) -> None:
    (tmp_path / "s.toml").write_text(GRID)
    assert reprieve("sweep", "s.toml", "--out", "here").returncode == 0
    address, _ = scheduler
    workers = [worker(address, tmp_path / "one"), worker(address, tmp_path / "two")]
    try:
        arguments = ("sweep", "s.toml", "--out", "there", "--scheduler", address)
        process = start(program, *arguments, cwd=tmp_path)
        while len(stored(tmp_path / "there")) < 5:
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)
        workers[0].kill()
        out, error = process.communicate()
        assert process.returncode == 0, error
        assert "36 runs, of which 36 were done now" in out
        assert contents(tmp_path / "there") == contents(tmp_path / "here")
        again = reprieve(*arguments)
        assert "36 runs, of which 0 were done now" in again.stdout
    finally:
        for one in workers:
            one.kill()
            one.wait()
    assert small.exists()


@pytest.mark.parametrize(
    ("last", "run_s", "threads", "expected"),
    [
        (1, 0.01, 2, 2),  # twice the last, though 50 would take half a second
        (32, 0.01, 2, 50),
        (50, 0.2, 2, 3),
        (1, 9.0, 2, 1),
        (128, 0.05, 1000, 200),  # 1,000 threads, 100 bundles a second: 10 s each
        (256, 0.001, 1000, 256),
        (4, 0.0, 2, 8),
    ],
)
def test_bundles_keep_a_scheduler_calm(
    last: int, run_s: float, threads: int, expected: int
) -> None:
    assert bundle_tasks(last, run_s, threads) == expected


def test_mistake_on_a_cluster_is_one_sentence(
    reprieve: Reprieve, small: Path, tmp_path: Path, scheduler: Scheduler
) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("0,0,8,8,1\n".replace(",", " ") + "nonsense\n")
    text = f'device = "fast12-mlc"\n[workload]\ntrace = "{trace}"\nformat = "mqsim"\n'
    small.write_text(text)
    (tmp_path / "s.toml").write_text(
        'scenario = "small.toml"\ndesign = "grid"\naxes.policy = ["fifo"]\n'
    )
    address, _ = scheduler
    one = worker(address, tmp_path / "one")
    try:
        done = reprieve("sweep", "s.toml", "--scheduler", address)
    finally:
        one.kill()
        one.wait()
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("policy=fifo: ")
    assert "nonsense" in done.stderr or "line 2" in done.stderr or ":2:" in done.stderr
    assert done.stderr.count("\n") == 1


ONCE = """
import reprieve as rp


class Once(rp.SuspensionPolicy):
    def decide(self, view):
        is_first = not (view.is_suspended or view.suspended_ns)
        return rp.Decision.SUSPEND if is_first else rp.Decision.LEAVE
"""


def test_workers_of_a_cluster_ask_the_policies_of_a_file(
    reprieve: Reprieve, small: Path, tmp_path: Path, scheduler: Scheduler
) -> None:
    (tmp_path / "once.py").write_text(ONCE)
    grid = 'scenario = "small.toml"\ndesign = "grid"\nset.policy = "pes-ipc"\nseeds = 2\n'
    values = '["always", "once.py:Once"]'
    (tmp_path / "s.toml").write_text(f'{grid}axes."suspension.policy" = {values}\n')
    assert reprieve("sweep", "s.toml", "--allow-python", "--out", "here").returncode == 0
    address, _ = scheduler
    one = worker(address, tmp_path / "one")
    try:
        done = reprieve(
            "sweep", "s.toml", "--allow-python", "--out", "there", "--scheduler", address
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert contents(tmp_path / "there") == contents(tmp_path / "here")
        # Another policy of the same class: its mistake comes back as a sentence.
        (tmp_path / "once.py").write_text(ONCE.replace("is_first = not", "is_first = missing or"))
        done = reprieve(
            "sweep", "s.toml", "--allow-python", "--out", "there", "--scheduler", address
        )
    finally:
        one.kill()
        one.wait()
    assert done.returncode == 0
    told = r"policy=Once: suspension\.policy = .* NameError: .* at \d+ ns of the simulated time"
    assert re.match(rf"s\.toml: 2 of \d runs failed, first {told}", done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    points = pq.read_table(tmp_path / "here/points.parquet")
    assert points.column("suspension_policy").to_pylist() == ["always", "Once"]
    assert small.exists()


def test_scheduler_that_dies_is_one_sentence(
    program: str, small: Path, tmp_path: Path, scheduler: Scheduler
) -> None:
    (tmp_path / "s.toml").write_text(GRID.replace("4000", "20000"))
    address, server = scheduler
    one = worker(address, tmp_path / "one")
    try:
        arguments = ("sweep", "s.toml", "--out", "o", "--scheduler", address)
        process = start(program, *arguments, cwd=tmp_path)
        while not stored(tmp_path / "o"):
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)
        server.kill()
        _, error = process.communicate()
    finally:
        one.kill()
        one.wait()
    assert process.returncode == 2, error
    assert error.startswith("--scheduler: the scheduler has gone; start the same sweep again")
    assert error.count("\n") == 1
    assert small.exists()
