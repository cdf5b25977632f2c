"""`reprieve array` and the load of a scenario on an array: by hand, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reprieve as rp
from reprieve import tables

from .drive import Reprieve

PAGE = 2048
DRIVE = """device = "fast12-slc"
policy = "fifo"
[geometry]
channels = 1
planes_per_die = 1
blocks_per_plane = 64
[host]
link_bytes_per_s = "none"
"""
RAID5 = ("--drives", "5", "--parity", "1", "--chunk-bytes", "2048")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a trace with a read of page 5 and a write of page 0 at 100 us."""
    (tmp_path / "t.csv").write_text("0,R,20,4\n100000,W,0,4\n")
    load = (
        '[workload]\ntrace = "t.csv"\nformat = "columns"\ncolumns = "time_ns,op,sector,sectors"\n'
    )
    (tmp_path / "s.toml").write_text(DRIVE + load)
    return tmp_path / "s.toml"


def test_a_trace_on_an_array(reprieve: Reprieve, scenario: Path) -> None:
    done = reprieve("array", scenario, *RAID5, "--requests", "--out", scenario.parent / "o")
    assert done.returncode == 0, done.stderr
    rows = tables.read(scenario.parent / "o/requests.parquet")
    # A read takes 30 us; a partial write two reads, the controller and two programs of 160.
    assert rows["completion_ns"] == [30_000, 100_000 + 191_000]
    assert (rows["drive_reads"], rows["drive_writes"]) == ([1, 2], [0, 2])
    found = json.loads((scenario.parent / "o/array.json").read_text())
    assert found["options"]["parity"] == 1
    assert found["requests"]["write"]["latency_ns"]["max"] == 191_000
    assert "3 reads and 2 writes of drives; 0 chunks reconstructed, 0 hedged" in done.stdout
    # The load through Python is that of the command.
    array = rp.Array(scenario, drives=5, parity=1, chunk_bytes=PAGE, load=True)
    assert array.run()["completion_ns"] == rows["completion_ns"]
    again = reprieve("array", scenario, *RAID5, "--out", scenario.parent / "o")
    assert again.returncode == 0
    assert not (scenario.parent / "o/requests.parquet").exists()


def test_a_rebuild_and_its_limit(reprieve: Reprieve, scenario: Path) -> None:
    mirror = ("--drives", "2", "--mirrors", "2", "--chunk-bytes", "2048", "--failed", "1")
    limit = ("--rebuild", "1", "--rebuild-stripes", "1", "--rebuild-bytes-per-s", "2048000")
    out = scenario.parent / "o"
    done = reprieve("array", scenario, *mirror, *limit, "--until-rebuilt", "--out", out)
    assert done.returncode == 0, done.stderr
    rebuild = json.loads((out / "array.json").read_text())["rebuild"]
    stripes = rebuild["bytes"] // PAGE
    # A stripe a millisecond; the last takes a read, the controller and a program.
    assert rebuild["end_ns"] == (stripes - 1) * 1_000_000 + 191_000
    assert f"drive 1: 100.0 % rebuilt, done at {rebuild['end_ns'] / 1e9:,.3f} s" in done.stdout
    begun = reprieve("array", scenario, *mirror, *limit, "--out", out)
    # The trace is over before the second stripe is due.
    assert json.loads((out / "array.json").read_text())["rebuild"]["rebuilt_bytes"] == PAGE
    assert "% rebuilt, not done" in begun.stdout


def test_mistakes_are_sentences(reprieve: Reprieve, scenario: Path) -> None:
    out = scenario.parent / "o"
    cases = [
        (("--drives", "5", "--parity", "5"), "parity = 5: must be below drives, which is 5"),
        (("--drives", "5", "--read", "hedged"), 'read: must be "direct" without parity'),
        ((*RAID5, "--rebuild", "2"), "rebuild = 2: must be one of failed, which is []"),
        ((*RAID5, "--until-rebuilt"), "no drive is being rebuilt; needs rebuild"),
        ((*RAID5, "--set", "workload.address=wrap", "--set", "timing.t_reed_us=4"), "t_read_us"),
    ]
    for arguments, sentence in cases:
        done = reprieve("array", scenario, *arguments, "--out", out)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert sentence in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
        assert not out.exists()
    closed = '[workload]\ngenerator = "mixed"\nrequests = 9\nread_fraction = 1\nqueue_depth = 2\n'
    (scenario.parent / "closed.toml").write_text(DRIVE + closed)
    done = reprieve("array", scenario.parent / "closed.toml", *RAID5, "--out", out)
    assert (done.returncode, out.exists()) == (0, True), done.stderr
    (scenario.parent / "t.csv").write_text("0,R,20,4\n5,T,0,16\n")
    done = reprieve("array", scenario, *RAID5, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "trim" in done.stdout
