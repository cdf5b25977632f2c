"""Runs that are stopped from outside, or whose output goes nowhere."""

from __future__ import annotations

import json
import math
import os
import pty
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

ENDLESS = ("--set", "workload.requests=1000000000", "--requests", "--out", "o")


def start(program: str, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start the command as a terminal would: background jobs inherit an ignored SIGINT."""
    return subprocess.Popen(
        [program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def wait_for_partial(directory: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the run is well under way: its first row group is on the disk."""
    while not any(path.stat().st_size for path in directory.glob(".requests.parquet.*.partial")):
        assert process.poll() is None, "the run ended before it began to write"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminated_run_leaves_nothing(program: str, small: Path, number: signal.Signals) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("this process ignores it, and so do those that it starts")
    process = start(program, "run", str(small), *ENDLESS, cwd=small.parent)
    wait_for_partial(small.parent / "o", process)
    process.send_signal(number)
    assert process.communicate() == ("", "")
    assert process.returncode == 128 + number
    assert sorted(path.name for path in small.parent.iterdir()) == ["small.toml"]


def test_interrupted_run_keeps_what_it_has_marked_partial(program: str, small: Path) -> None:
    process = start(program, "run", str(small), *ENDLESS, "--report", cwd=small.parent)
    wait_for_partial(small.parent / "o", process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert (process.returncode, stderr) == (130, "")
    files = ["requests.parquet", "run.json", "scenario.toml", "series.parquet", "summary.json"]
    assert sorted(path.name for path in (small.parent / "o").iterdir()) == files
    summary = json.loads((small.parent / "o/summary.json").read_text())
    assert summary["partial"] is True
    # The log has the same requests: their number, and the mean of their latencies.
    log = pq.read_table(small.parent / "o/requests.parquet")
    total = summary["requests"]["total"]
    assert 0 < total["count"] == len(log) < 1_000_000_000
    latency_ns = np.subtract(log["completion_ns"], log["arrival_ns"])
    assert math.isclose(latency_ns.mean(), total["latency_ns"]["mean"], rel_tol=1e-12)
    assert stdout.startswith("Latency in µs")
    told = (
        f"interrupted: these are the results of {total['count']:,} requests, in o, marked partial"
    )
    assert told in " ".join(stdout.split())
    # A second command, which runs to its end, replaces it.
    whole = [program, "run", str(small), "--out", "o"]
    subprocess.run(whole, cwd=small.parent, check=True, capture_output=True)
    assert "partial" not in json.loads((small.parent / "o/summary.json").read_text())


def test_interrupted_run_keeps_earlier_results(program: str, small: Path) -> None:
    earlier = [program, "run", str(small), "--requests", "--out", "o"]
    subprocess.run(earlier, cwd=small.parent, check=True, capture_output=True)
    before = {path.name: path.read_bytes() for path in (small.parent / "o").iterdir()}
    process = start(program, "run", str(small), *ENDLESS, cwd=small.parent)
    wait_for_partial(small.parent / "o", process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert (process.returncode, stderr) == (130, "")
    assert "requests, not kept: o has results" in " ".join(stdout.split())
    assert {path.name: path.read_bytes() for path in (small.parent / "o").iterdir()} == before


def test_a_run_without_a_result_yet_leaves_nothing(program: str, small: Path) -> None:
    """While it looks for its transient, a run counts nothing."""
    warmup = ("--set", "measure.warmup=auto")
    process = start(program, "run", str(small), *ENDLESS, *warmup, cwd=small.parent)
    while not list((small.parent / "o").glob(".requests.parquet.*.partial")):
        assert process.poll() is None, "the run ended before it began"
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "interrupted before the first result\n")
    assert process.returncode == 130
    assert sorted(path.name for path in small.parent.iterdir()) == ["small.toml"]


def test_interrupted_comparison_has_its_whole_runs(program: str, small: Path) -> None:
    arguments = ("compare", str(small), "--axis", "workload.requests=1000,1000000000", "--jobs=2")
    process = start(program, *arguments, "--out", "o", cwd=small.parent)
    while not (small.parent / "o" / "1000" / "summary.json").exists():
        assert process.poll() is None, "the comparison ended before its first run"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert (process.returncode, stderr) == (130, "")
    assert stdout.endswith("interrupted: 1 of 2 runs are whole, in o\n")
    left = sorted(str(path.relative_to(small.parent)) for path in small.parent.rglob("*"))
    files = ("run.json", "scenario.toml", "series.parquet", "summary.json")
    one = ["o", "o/1000", *(f"o/1000/{name}" for name in files), "o/compare.json", "small.toml"]
    assert left == one
    document = json.loads((small.parent / "o/compare.json").read_text())
    assert document["partial"] is True
    assert [run["label"] for run in document["runs"]] == ["1000"]


def test_interrupted_comparison_without_its_first_run_has_none(program: str, small: Path) -> None:
    arguments = ("compare", str(small), "--axis", "workload.requests=1000000000,1000", "--jobs=2")
    process = start(program, *arguments, "--out", "o", cwd=small.parent)
    while not (small.parent / "o" / "1000" / "summary.json").exists():
        assert process.poll() is None, "the comparison ended before its second run"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 130
    assert [path.name for path in (small.parent / "o").iterdir()] == ["1000"]


def test_interrupted_sweep_writes_what_is_finished_and_goes_on(program: str, small: Path) -> None:
    text = 'scenario = "small.toml"\ndesign = "list"\n[[points]]\n"workload.requests" = 1000\n'
    endless = '[[points]]\n"workload.requests" = 1000000000\n'
    (small.parent / "s.toml").write_text(text + endless)
    process = start(program, "sweep", "s.toml", "--workers=1", "--out", "o", cwd=small.parent)
    while not (small.parent / "o" / ".lock").exists():
        assert process.poll() is None, "the sweep ended before it began"
        time.sleep(0.01)
    # The first run takes some milliseconds.
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr == "1 of 2 runs are left, interrupted; the same command goes on\n"
    assert "1 runs, of which 1 were done now" in stdout
    assert len(pq.read_table(small.parent / "o/runs.parquet")) == 1
    (small.parent / "s.toml").write_text(text + endless.replace("1000000000", "2000"))
    again = [program, "sweep", "s.toml", "--out", "o"]
    done = subprocess.run(again, cwd=small.parent, check=True, capture_output=True, text=True)
    assert "2 runs, of which 1 were done now" in done.stdout


def test_interrupted_tuning_says_how_it_goes_on(program: str, small: Path) -> None:
    asked = ("tune", str(small), "--vary", "suspension.max_per_program=1..20", "--min", "read.mean")
    longer = ("--set", "workload.requests=1000000000", "--set", "policy=pes-ipc")
    process = start(program, *asked, *longer, "--out", "o", cwd=small.parent)
    while not (small.parent / "o" / ".lock").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    told = "interrupted: o has the runs so far; the same command goes on\n"
    assert process.communicate() == ("", told)
    assert process.returncode == 130


def test_full_disk_is_one_sentence(program: str, small: Path) -> None:
    """A limit on file size stands in for a full disk: the write fails in the same place."""
    done = subprocess.run(
        [program, "run", str(small), "--requests", "--out", "o"],
        capture_output=True,
        text=True,
        cwd=small.parent,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    sentence = "o: cannot write here: File too large; name another place\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)
    assert not (small.parent / "o").exists()


def test_reader_that_leaves_is_no_error(program: str, small: Path) -> None:
    process = start(program, "run", str(small), "--print", cwd=small.parent)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == ""
    assert process.wait() == 0


def test_progress_shows_on_a_terminal_only(program: str, small: Path) -> None:
    ours, theirs = pty.openpty()
    arguments = [program, "run", str(small), "--set", "workload.requests=200000"]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=small.parent
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # Linux ends a terminal whose other side is closed with an error
        pass
    finally:
        os.close(ours)
    assert process.communicate()[0].startswith("Latency in µs")
    assert process.returncode == 0
    assert b"p99" in shown and b"suspensions" in shown


WAITING = {
    "info": ["trace", "info", "silent"],
    "head": ["trace", "head", "silent"],
    "convert": ["trace", "convert", "silent", "new.csv", "--to", "msr"],
    "fit": ["trace", "fit", "silent", "--out", "new.toml"],
    "write": ["run", "small.toml", "--save-state", "silent", "--out", "o"],
    "calibrate": ["calibrate", "silent", "--out", "o"],
    "state": ["run", "small.toml", "--from-state", "silent", "--out", "o"],
    "scenario": ["run", "silent"],
}
STALLED = ("calibrate", "state", "scenario")
"""These read what has a writer; a trace must be a file, which an open FIFO shows not to be."""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
@pytest.mark.parametrize(
    ("command", "has_writer"),
    [*((name, False) for name in WAITING), *((name, True) for name in STALLED)],
)
def test_a_command_that_waits_for_a_fifo_ends_within_a_second(
    program: str, small: Path, command: str, has_writer: bool, number: int, status: int
) -> None:
    folder = small.parent
    os.mkfifo(folder / "silent")
    before = sorted(path.name for path in folder.iterdir())
    writer = os.open(folder / "silent", os.O_RDWR) if has_writer else None
    process = start(program, *WAITING[command], cwd=folder)
    time.sleep(1.2)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    began_s = time.monotonic()
    assert process.communicate() == ("", "")
    assert time.monotonic() - began_s < 1
    assert process.returncode == status
    assert sorted(path.name for path in folder.iterdir()) == before
    if writer is not None:
        os.close(writer)
