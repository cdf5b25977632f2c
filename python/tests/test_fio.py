"""Job files of fio: the command's errors, and what fio itself makes of the same files."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import reprieve as rp

from .drive import Reprieve

FIO = shutil.which("fio")

# 64 blocks of 64 pages of 2 KiB, of which the user has half: 4 MiB.
CAPACITY = 4 << 20
DRIVE = """
device = "fast12-slc"
policy = "rps"
[geometry]
channels = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 64
page_bytes = 2048
[ftl]
over_provisioning = 0.5
[workload]
"""

Issued = list[tuple[str, int, int]]

OPS = ("read", "write", "trim")


def by_fio(job: str, folder: Path) -> Issued:
    """Return what fio itself issues, by its log: operation, first byte, bytes."""
    assert FIO is not None
    data, log = folder / "data", folder / "log"
    with data.open("wb") as file:
        file.truncate(CAPACITY)
    path = folder / "log.fio"
    path.write_text(f"{job}\nfilename={data}\nwrite_iolog={log}\n")
    command = [FIO, "--output", str(folder / "fio.txt"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in log.read_text().splitlines()]
    return [(row[2], int(row[3]), int(row[4])) for row in rows if len(row) == 5 and row[2] in OPS]


def by_reprieve(job: str, folder: Path) -> Issued:
    """Return the same of the simulation, by its log of requests."""
    (folder / "job.fio").write_text(job)
    (folder / "drive.toml").write_text(f'{DRIVE}fio = "job.fio"\n')
    log = rp.run(folder / "drive.toml", requests=True).requests
    rows = zip(*(log.column(name).to_pylist() for name in ("op", "lba", "bytes")), strict=True)
    return [(op, 512 * lba, length) for op, lba, length in rows]


@pytest.fixture
def both(tmp_path: Path) -> dict[str, Path]:
    """Folders for a run of each."""
    if FIO is None:
        pytest.skip("there is no fio on this machine: nothing was compared with it")
    folders = {name: tmp_path / name for name in ("fio", "ours")}
    for folder in folders.values():
        folder.mkdir()
    return folders


def of_kind(issued: Issued, kind: str) -> list[tuple[int, int]]:
    return [(offset, length) for op, offset, length in issued if op == kind]


NULL = "[job]\nioengine=null\n"


@pytest.mark.parametrize(
    "job",
    [
        "rw=read\nsize=64k\nbs=4k",
        "rw=write\nsize=10k\nbs=4k",
        "rw=read\nsize=16k\nio_size=40k\nbs=2k",
        "rw=write\nsize=16k\nbs=4k\nloops=3",
        "rw=read\nsize=1m\nbs=8k\nnumber_ios=9",
        "rw=trimwrite\nsize=64k\nbs=4k",
        "rw=read\nsize=40kib\nbs=512",
        "blocksize=2k\nrw=write\nsize=16kb\n",
    ],
)
def test_sequential_jobs_are_those_of_fio(job: str, both: dict[str, Path]) -> None:
    text = NULL + job
    assert by_reprieve(text, both["ours"]) == by_fio(text, both["fio"])


@pytest.mark.parametrize(
    "job", ["size=25%\noffset=50%", "size=1m\noffset=512k", "offset=25%\nsize=75%"]
)
def test_shares_of_the_drive_are_those_of_fio(job: str, both: dict[str, Path]) -> None:
    text = f"[job]\nioengine=psync\nrw=read\nbs=16k\n{job}"
    assert by_reprieve(text, both["ours"]) == by_fio(text, both["fio"])


def test_random_jobs_cover_what_fio_covers(both: dict[str, Path]) -> None:
    text = f"{NULL}rw=randwrite\nsize=1m\nbs=4k\n"
    ours, theirs = by_reprieve(text, both["ours"]), by_fio(text, both["fio"])
    assert sorted(ours) == sorted(theirs)
    assert len(set(ours)) == 256
    assert ours != sorted(ours)


def test_mixes_are_those_of_fio(both: dict[str, Path]) -> None:
    text = f"{NULL}rw=rw\nsize=4m\nbs=1k\nrwmixread=70\n"
    ours, theirs = by_reprieve(text, both["ours"]), by_fio(text, both["fio"])
    assert len(ours) == len(theirs) == 4096
    for issued in (ours, theirs):
        # Each kind runs through the region by itself.
        for kind in ("read", "write"):
            places = [offset for offset, _ in of_kind(issued, kind)]
            assert places == [1024 * number for number in range(len(places))]
        # Standard error of 4096 draws: sqrt(0.7 x 0.3 / 4096) = 0.0072.
        assert abs(len(of_kind(issued, "read")) / 4096 - 0.7) < 5 * 0.0072


def test_sizes_are_those_of_fio(both: dict[str, Path]) -> None:
    text = f"{NULL}rw=randread\nsize=4m\nbssplit=512/25:1k/75\nnorandommap\n"
    for issued in (by_reprieve(text, both["ours"]), by_fio(text, both["fio"])):
        lengths = Counter(length for _, _, length in issued)
        assert set(lengths) == {512, 1024}
        # About 4793 requests: standard error sqrt(0.25 x 0.75 / 4793) = 0.0063.
        assert abs(lengths[512] / len(issued) - 0.25) < 5 * 0.0063
        assert all(offset % 512 == 0 for _, offset, _ in issued)


def hottest(issued: Issued, share: float) -> float:
    """Share of the requests that goes to the hottest places, so many of the 1024."""
    counts = sorted(Counter(offset for _, offset, _ in issued).values(), reverse=True)
    return sum(counts[: round(1024 * share)]) / len(issued)


@pytest.mark.parametrize(
    "law",
    ["zipf:1.2", "zipf:0.8", "pareto:0.3", "pareto:0.1", "normal:20", "zoned:60/10:30/20:10/70"],
)
def test_distributions_are_those_of_fio(law: str, both: dict[str, Path]) -> None:
    text = f"{NULL}rw=randread\nsize=4m\nio_size=64m\nbs=4k\nrandom_distribution={law}\n"
    ours, theirs = by_reprieve(text, both["ours"]), by_fio(text, both["fio"])
    assert len(ours) == len(theirs) == 16384
    for share in (0.02, 0.1, 0.3, 0.6):
        # Standard error of a share of 16384 draws: at most 0.0039, of the difference 0.0055.
        assert abs(hottest(ours, share) - hottest(theirs, share)) < 5 * 0.0055, (law, share)


def test_what_fio_refuses_is_refused(both: dict[str, Path], reprieve: Reprieve) -> None:
    assert FIO is not None
    for line in ("rw=sideways", "runtime=soon", "rwmixread=200", "rate=fast", "no_such_option=1"):
        path = both["fio"] / "wrong.fio"
        path.write_text(f"[job]\nioengine=null\nsize=1m\n{line}\n")
        theirs = subprocess.run([FIO, "--parse-only", str(path)], capture_output=True, check=False)
        assert theirs.returncode != 0, line
        (both["fio"] / "wrong.toml").write_text(f'{DRIVE}fio = "wrong.fio"\n')
        ours = reprieve("run", both["fio"] / "wrong.toml")
        assert (ours.returncode, ours.stdout) == (2, "")
        assert f"wrong.fio:4: {line.split('=')[0]} = " in ours.stderr, ours.stderr


def test_a_job_file_runs_from_the_command_line(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "mine.fio").write_text("[one]\nsize=64k\n[two]\nsize=32k\nrw=write\n")
    (tmp_path / "mine.toml").write_text(f'{DRIVE}generator = "mixed"\nrequests = 5\n')
    done = reprieve("run", "mine.toml", "--set", "workload.fio=mine.fio", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    again = reprieve("run", "out/scenario.toml", "--out", "again")
    assert again.returncode == 0, again.stderr
    summaries = [rp.run(path).summary for path in (tmp_path / "out" / "scenario.toml",)]
    assert summaries[0]["flows"]["one"]["requests"]["read"]["count"] == 16
    assert summaries[0]["flows"]["two"]["requests"]["write"]["count"] == 8


def test_a_missing_job_file_is_named(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'{DRIVE}fio = "no-such.fio"\n')
    done = reprieve("run", "mine.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "workload.fio" in done.stderr
    assert "no-such.fio" in done.stderr
