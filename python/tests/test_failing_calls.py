"""Every command on a disk whose n-th write, rename, sync or open fails, for each n."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import reprieve as rp

from .drive import SMALL
from .failing_calls import FailingCalls, failing_calls
from .nbd_client import DRIVE, FLUSH, TRIM, WRITE, Client
from .test_states import STEADY

LONG = "REPRIEVE_LONG" in os.environ
ERRORS = (errno.EIO, errno.ENOSPC)
READ = {
    "total_ios": 600,
    "iops": 12_000.0,
    "lat_ns": {
        "min": 60_000,
        "max": 120_000,
        "mean": 80_000.0,
        "percentile": {"1.000000": 70_000, "50.000000": 80_000, "99.000000": 99_000},
    },
}
FILES = {
    "small.toml": SMALL.replace("requests = 3000", "requests = 700"),
    "sweep.toml": 'scenario = "small.toml"\ndesign = "grid"\n[axes]\npolicy = ["fifo", "rps"]\n',
    "more.toml": 'scenario = "small.toml"\ndesign = "grid"\n[axes]\npolicy = ["fifo", "pes-ipc"]\n',
    "rig.csv": "arrival_ns,op,plane,block,page\n0,program,0,0,0\n61000,read,0,1,0\n",
    "fio.json": json.dumps(
        {
            "fio version": "fio-3.33",
            "global options": {"ioengine": "libaio", "rw": "randread", "bs": "4k"},
            "jobs": [{"jobname": "read", "error": 0, "job options": {}, "read": READ}],
        }
    ),
    "t.csv": "".join(f"12816637200{row:07},hm,0,Read,{row << 12},4096,1\n" for row in range(2000)),
    "busy.toml": 'device = "tlc-enterprise"\npart = "tlc3d-zambelli"\n[geometry]\nchannels = 2\n'
    "dies_per_channel = 1\nblocks_per_plane = 32\npages_per_block = 48\n[power_loss]\nmode = 'on'\n"
    "p_controller_mw = 1500\nhold_up_us = 1000000\ncapacitor_start_v = 12\ncapacitor_min_v = 5\n"
    "conversion_efficiency = 0.85\n[power]\naccount = 'on'\n"
    "[workload]\ngenerator = 'mixed'\nrequests = 200\nread_fraction = 0.5\nqueue_depth = 4\n"
    "request_bytes = 16384\n",
}
COMPARE = "compare small.toml --axis policy=fifo,rps --jobs 1 --out o"
CALIBRATE = "calibrate fio.json --quick --workers 1 --free host.t_controller_us=1..20 --out o"
REPRODUCE = "reproduce aero --quick --jobs 1 --out o"
TUNE = "tune small.toml --vary suspension.max_per_program=1..2 --set policy=pes-ipc --min read.mean"


@dataclass(frozen=True)
class Case:
    """A command, and what is there before."""

    command: str
    earlier: str = ""
    """A command whose results are there."""
    kept: tuple[str, ...] = ()
    """Files that may stay: finished runs, with which the next try goes on. The data set of a sweep
    is either the earlier one or the new one; its page follows it."""


SWEPT = (
    "o", "*/.lock", "*/.dataset", "*/segments", "*/segments/*.parquet", "*/measured.parquet",
    "o/report.html",
)  # fmt: skip
RUNS = ("o", "o/runs", "*/.lock", "*/.dataset", "*/segments", "*/segments/*.parquet")
CASES = {
    "run": Case("run small.toml --requests --timeline --out a/o"),
    "replace": Case(
        "run small.toml --requests --timeline --out o", "run small.toml --set seed=1 --out o"
    ),
    "state": Case(
        "run small.toml --save-state st --out o",
        "run small.toml --set seed=1 --save-state st --out o",
    ),
    "power": Case("run busy.toml --set power.series_us=100 --save-state o/st --out o"),
    "init": Case("init x"),
    "rig": Case(
        "rig --device fast12-mlc --commands rig.csv --out r.csv --timeline t",
        "rig --device fast12-slc --commands rig.csv --out r.csv --timeline t",
    ),
    "watts": Case("rig --device fast12-mlc --commands rig.csv --out r.csv --power p.csv"),
    "convert": Case(
        "trace convert t.csv t.csv.gz --to msr", "trace convert t.csv t.csv.gz --to spc"
    ),
    "plan": Case("calibrate --plan plan"),
    "ui": Case("ui --save page.html"),
}
LONGER = {
    "report": Case("run small.toml --report --out o", "run small.toml --set seed=1 --out o"),
    "compare": Case(COMPARE, f"{COMPARE} --set seed=1"),
    "sweep": Case("sweep sweep.toml --out o", kept=SWEPT),
    "more": Case("sweep more.toml --out o", "sweep sweep.toml --out o", SWEPT),
    "query": Case("query SELECT(1) p --parquet a.parquet", "sweep sweep.toml --out p"),
    "tune": Case(f"{TUNE} --seeds 1 --out o", kept=SWEPT),
    "what-if": Case("what-if small.toml --seeds 2 --out o", kept=SWEPT),
    "calibrate": Case(CALIBRATE, CALIBRATE, SWEPT),
    "fit": Case("trace fit t.csv --out load.toml"),
    "reproduce": Case(REPRODUCE, REPRODUCE, RUNS),
    "power-loss": Case("power-loss busy.toml --cuts 3 --out o"),
}
"""Those of more than a tenth of a second."""
SLOW = {
    "calibrate": Case(CALIBRATE, kept=SWEPT),
    "reproduce": Case(REPRODUCE, kept=RUNS),
}
"""Those of ten seconds or more, unless their runs are there."""
if LONG:
    LONGER["characterize"] = Case("characterize tlc3d-zambelli --wordlines 1 --out o")


@pytest.fixture(scope="module")
def broken(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FailingCalls]:
    with failing_calls(program, tmp_path_factory.mktemp("broken")) as commands:
        yield commands


def some(calls: int, most: int) -> Iterable[int]:
    """Return the numbers of calls to fail: the first, the last, and others between."""
    if LONG or calls <= most:
        return range(1, calls + 1)
    return sorted({1 + round(place * (calls - 1) / (most - 1)) for place in range(most)})


def tree(folder: Path, but: tuple[str, ...]) -> dict[str, bytes | None]:
    """Return all that is in a folder, but for some."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not any(path.match(pattern) for pattern in but)
    }


def check(broken: FailingCalls, case: Case, most: int, folder: Path) -> None:
    """Fail some calls of a command, each once: a sentence, no trace, and a second try succeeds."""
    below, command = broken.below, case.command.split()

    def afresh() -> None:
        shutil.rmtree(below)
        shutil.copytree(folder, below)

    for name, text in FILES.items():
        (folder / name).write_text(text)
    afresh()
    if case.earlier:
        done = broken.run(0, 0, *case.earlier.split())
        assert done.returncode == 0, done.stderr
        shutil.copytree(below, folder, dirs_exist_ok=True)
    before = tree(below, case.kept)
    done = broken.run(0, 0, *command)
    assert done.returncode == 0, done.stderr
    calls, unlike = broken.calls, (*case.kept, "run.json")
    whole = tree(below, unlike)
    assert calls > 2
    for number in some(calls, most):
        for error in ERRORS if LONG else ERRORS[number % 2 :][:1]:
            afresh()
            done = broken.run(number, error, *command)
            if broken.calls < number:  # threads that store runs do so together or apart
                continue
            told = f"call {number} of {calls}, {os.strerror(error)}: {done.stderr}"
            assert done.returncode == 2, told
            assert (done.stderr.count("\n"), done.stderr[-1:]) == (1, "\n"), told
            assert os.strerror(error) in done.stderr, told
            left = tree(below, case.kept)
            assert left == before or (case.kept and left == whole), told
            done = broken.run(0, 0, *command)
            assert done.returncode == 0, f"after {told}{done.stderr}"
            assert tree(below, unlike) == whole, told


@pytest.mark.parametrize("name", CASES)
def test_each_call_fails_once(broken: FailingCalls, name: str, tmp_path: Path) -> None:
    if name == "ui" and not (Path(rp.__file__).parent / "ui/reprieve.wasm").exists():
        pytest.skip("the explorer is not built: make ui")
    check(broken, CASES[name], 12, tmp_path)


@pytest.mark.seconds(10)
@pytest.mark.parametrize("name", LONGER)
def test_each_call_of_a_longer_command_fails_once(
    broken: FailingCalls, name: str, tmp_path: Path
) -> None:
    check(broken, LONGER[name], 5, tmp_path)


@pytest.mark.seconds(90)
@pytest.mark.parametrize("name", SLOW)
def test_each_call_of_a_slow_command_fails_once(
    broken: FailingCalls, name: str, tmp_path: Path
) -> None:
    check(broken, SLOW[name], 2, tmp_path)


def test_states_that_cannot_be_kept_do_no_harm(program: str, tmp_path: Path) -> None:
    """The store of prepared drives only saves time: a run goes on without it."""
    (tmp_path / "steady.toml").write_text(STEADY)
    command = ("run", f"{tmp_path}/steady.toml", "--out", f"{tmp_path}/o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRIEVE_STATES", str(tmp_path / "below/states"))
        with failing_calls(program, tmp_path) as broken:
            assert broken.run(0, 0, *command).returncode == 0
            calls, summary = broken.calls, (tmp_path / "o/summary.json").read_bytes()
            [(name, state)] = tree(broken.below / "states", ()).items()
            for number in some(calls, 12):
                shutil.rmtree(broken.below / "states", ignore_errors=True)
                done = broken.run(number, errno.ENOSPC, *command)
                assert (done.returncode, done.stderr) == (0, "")
                assert (tmp_path / "o/summary.json").read_bytes() == summary
                assert tree(broken.below, ()).keys() <= {"states"}, number
                assert broken.run(0, 0, *command).returncode == 0
                assert tree(broken.below / "states", ()) == {name: state}


def serve(program: str, folder: Path) -> tuple[bool, int, list[int], str]:
    """Serve, write, trim and flush; return whether it began, its status, answers and sentences."""
    command = ["serve", "drive.toml", "--socket", "s", "--store", "store", "--record", "r.csv"]
    process = subprocess.Popen(
        [program, *command, "--summary", "summary.json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    answers = list[int]()
    if began := process.stdout.readline() != "":
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(folder / "s"))
            client = Client(connection)
            for block in range(3):
                answers.append(client.call(WRITE, block << 12, 4096, bytes(4096)))
            for kind, size in ((FLUSH, 0), (TRIM, 4096), (FLUSH, 0)):
                answers.append(client.call(kind, 0, size))
        process.send_signal(signal.SIGINT)
    return began, process.wait(30), answers, process.communicate()[1]


@pytest.mark.seconds(40)
def test_each_call_of_a_served_drive_fails_once(
    program: str, broken: FailingCalls, tmp_path: Path
) -> None:
    """Errors end it before it serves and at its end; between, the client or the recording fails."""
    below = broken.below
    (tmp_path / "drive.toml").write_text(DRIVE)
    for is_again in (False, True):
        shutil.rmtree(below)
        shutil.copytree(tmp_path, below)
        broken.fail(0, 0)
        assert serve(program, below) == (True, 0, [0] * 6, "")
        calls = broken.calls
        for number in some(calls, 10):
            shutil.rmtree(below)
            shutil.copytree(tmp_path, below)
            before, error = tree(below, ("store",)), ERRORS[number % 2]
            broken.fail(number, error)
            began, status, answers, told = serve(program, below)
            if broken.calls < number:  # two flushes of its thread are one
                continue
            about = f"call {number} of {calls}, {is_again}: {told}"
            assert {*answers} <= {0, error, errno.EIO}, about  # a flush fails with EIO
            if any(answers[3::2]):  # after a flush that failed no data is safe
                assert (status, told.count("brought to safety")) == (2, 1), about
            elif any(answers):
                assert (status, told) == (0, ""), about
            else:
                assert told and (status == 2 or "the drive goes on" in told), about
            assert told.count("\n") <= 1, about
            if not began:
                assert os.strerror(error) in told, about
                assert tree(below, ("store",)) == before, about
            assert {path.suffix for path in below.iterdir()} <= {"", ".csv", ".json", ".toml"}
            broken.fail(0, 0)
            assert serve(program, below) == (True, 0, [0] * 6, ""), about
        shutil.copytree(below, tmp_path, dirs_exist_ok=True)
