"""No command takes the place of an input, of a foreign file, or of what is no regular file."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprieve.reference.commands import options

from .drive import SMALL, Reprieve

COMMANDS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "run": (["s.toml", "--from-state", "in.state", "--out", "new"],
            ["s.toml", "t.csv", "drive.toml", "in.state"], ["--save-state"]),
    "rig": (["--device", "drive.toml", "--commands", "c.csv", "--out", "new.csv"],
            ["drive.toml", "c.csv"], ["--out", "--power", "--timeline"]),
    "serve": (["s.toml", "--from-state", "in.state", "--store", "image", "--tcp", "localhost:0",
               "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-client-ca", "ca.pem"],
              ["s.toml", "t.csv", "in.state", "cert.pem", "key.pem", "ca.pem", "image"],
              ["--record", "--summary", "--socket", "--control"]),
    "query": (["SELECT 1", "."], ["points.parquet"], ["--csv", "--json", "--parquet"]),
    "trace fit": (["t.csv", "--device", "drive.toml", "--out", "new.toml"],
                  ["t.csv", "drive.toml"], ["--out"]),
    "trace convert": (["t.csv", "OUT", "--to", "msr"], ["t.csv"], ["OUT"]),
}  # fmt: skip
"""Of each command that writes files: arguments, the inputs among them, and what is written."""

FOLDERS = {
    "run": ["FOLDER/scenario.toml", "--out"],
    "compare": ["FOLDER/scenario.toml", "--axis", "policy=FIFO,RPS", "--out"],
    "sweep": ["FOLDER/best.toml", "--out"],
    "tune": ["FOLDER/scenario.toml", "--vary", "seed=1,2", "--min", "read.p99", "--out"],
    "which": ["limit", "FOLDER/scenario.toml", "--set", "policy=pes-ipc", "--out"],
    "what-if": ["FOLDER/scenario.toml", "--out"],
    "array": ["FOLDER/scenario.toml", "--drives", "3", "--out"],
    "power-loss": ["FOLDER/scenario.toml", "--out"],
    "calibrate": ["FOLDER/calibration.json", "--out"],
    "characterize": ["FOLDER/best.toml", "--out"],
    "reproduce": ["fast12", "--trace", "F1=FOLDER/scenario.toml", "--out"],
}
"""Of each command that writes a folder: an input inside it that would be replaced."""

INPUTS = {
    "run": {"--from-state"},
    "calibrate": {"--start"},
    "serve": {"--from-state", "--store", "--tls-cert", "--tls-key", "--tls-client-ca"},
    "rig": {"--device", "--commands"},
}
"""Options that name what is read; what a store has goes on."""


@dataclass(frozen=True)
class Case:
    """A command that is told to write over one of its inputs."""

    command: str
    given: list[str]
    read: str
    option: str

    def arguments(self, output: str) -> list[str]:
        """Return its line."""
        words = self.command.split()
        if self.option == "OUT":
            return [*words, *(output if word == "OUT" else word for word in self.given)]
        return [*words, *self.given, self.option, output]


CASES = [
    Case(command, given, read, option)
    for command, (given, inputs, outputs) in COMMANDS.items()
    for read in inputs
    for option in outputs
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a file of every kind that some command reads."""
    (tmp_path / "s.toml").write_text('device = "drive.toml"\n[workload]\ntrace = "t.csv"\n')
    (tmp_path / "drive.toml").write_text('name = "a drive"\n')
    for name in ("t.csv", "c.csv", "in.state", "cert.pem", "key.pem", "ca.pem", "image"):
        (tmp_path / name).write_text(f"the user's {name}\n")
    (tmp_path / "points.parquet").write_text("the user's points\n")
    return tmp_path


def test_every_option_that_writes_is_looked_at() -> None:
    """Commands that can be forced write; those with `--out` or named here can be forced."""
    writing = {
        name.removeprefix("reprieve ")
        for name, has in options().items()
        if "--force" in has or "--out" in has
    }
    # Folders of measured drives and the explorer's page have tests of their own.
    assert writing == {*COMMANDS, *FOLDERS, "database", "drives", "ui", "validate"}
    assert all("--force" in options()[f"reprieve {name}"] for name in writing)


def _others(path: Path) -> Iterator[str]:
    yield path.name
    yield f"./x/../{path.name}"
    (path.parent / "x").mkdir(exist_ok=True)
    linked = path.with_name(f"link-{path.name}")
    linked.symlink_to(path)
    yield linked.name
    hard = path.with_name(f"hard-{path.name}")
    os.link(path, hard)
    yield hard.name


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.command} {case.option} {case.read}"
)
def test_no_output_takes_the_place_of_an_input(case: Case, files: Path, reprieve: Reprieve) -> None:
    before = (files / case.read).read_bytes()
    for name in _others(files / case.read):
        if name != case.read and case.command == "query":
            continue  # another name is another table of the same folder
        ran = reprieve(*case.arguments(name), "--force")
        assert ran.returncode == 2, ran
        refused = ("is an input of this command", "must be the name", "is named for two outputs")
        assert any(why in ran.stderr for why in refused)
        assert (files / case.read).read_bytes() == before


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.command} {case.option} {case.read}"
)
def test_no_foreign_file_is_replaced(case: Case, files: Path, reprieve: Reprieve) -> None:
    (files / "notes").write_text("the user's notes")
    ran = reprieve(*case.arguments("notes"))
    assert ran.returncode == 2
    if case.option not in {"--socket", "--control"}:  # the server has its own words for these
        assert ran.stderr.startswith("notes: Reprieve did not write it"), ran.stderr
    assert (files / "notes").read_text() == "the user's notes"


@pytest.mark.parametrize("command", FOLDERS)
def test_no_input_in_a_folder_of_results_is_replaced(
    command: str, tmp_path: Path, reprieve: Reprieve
) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SMALL)
    (folder / "best.toml").write_text(
        'scenario = "scenario.toml"\ndesign = "grid"\n[axes]\npolicy = ["FIFO", "RPS"]\n'
    )
    (folder / "calibration.json").write_text("{}")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    given = [word.replace("FOLDER", "made") for word in FOLDERS[command]]
    ran = reprieve(*command.split(), *given, "made", "--force")
    assert ran.returncode == 2
    assert "is an input of this command" in ran.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", FOLDERS)
def test_no_folder_of_the_user_is_written_into(
    command: str, tmp_path: Path, reprieve: Reprieve
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "scenario.toml").write_text(SMALL)
    (tmp_path / "in" / "best.toml").write_text(
        'scenario = "scenario.toml"\ndesign = "grid"\n[axes]\npolicy = ["FIFO", "RPS"]\n'
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "summary.json").write_text('{"mine": 1}')
    given = [word.replace("FOLDER", "in") for word in FOLDERS[command]]
    ran = reprieve(*command.split(), *given, "mine")
    assert ran.returncode == 2
    assert ran.stderr == (
        "mine: it has files, and no results of Reprieve; name another place, or give --force\n"
    )
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["summary.json"]


def test_own_results_are_replaced_and_what_was_changed_since_is_not(
    small: Path, reprieve: Reprieve
) -> None:
    again = ("run", small, "--out", "made", "--save-state", "end.state")
    for _ in range(2):
        assert reprieve(*again).returncode == 0
    state = small.with_name("end.state")
    with state.open("ab") as file:
        file.write(b"mine")
    ran = reprieve(*again)
    assert ran.returncode == 2
    assert "end.state: Reprieve did not write it, or it was changed since" in ran.stderr
    assert state.read_bytes().endswith(b"mine")
    assert reprieve(*again, "--force").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a device")
def test_a_device_stays_one(small: Path, reprieve: Reprieve) -> None:
    """A device of our own with the numbers of /dev/full, which a fault would replace."""
    device = small.with_name("full")
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    for given in (["run", str(small), "--out", "made", "--save-state", "full"],
                  ["trace", "convert", "t.csv", "full", "--to", "msr"],
                  ["serve", str(small), "--record", "full"]):  # fmt: skip
        small.with_name("t.csv").write_text("0,8,4096,R\n")
        ran = reprieve(
            *given, *(["--option", "columns=time_us,sector,bytes,op"] * ("t.csv" in given))
        )
        assert ran.returncode == 2, ran
        assert stat.S_ISCHR(device.stat().st_mode)


def test_a_fifo_and_the_standard_output_are_written_through(small: Path, program: str) -> None:
    trace = small.with_name("t.csv")
    trace.write_text("0,8,4096,R\n")
    fifo = small.with_name("fifo")
    os.mkfifo(fifo)
    line = [program, "trace", "convert", str(trace), str(fifo), "--to", "spc"]
    line += ["--option", "columns=time_us,sector,bytes,op"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as running:
        assert fifo.read_text() == "0,8,4096,r,0.000000000\n"
    assert running.returncode == 0
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    line[4] = "/dev/stdout"
    redirected = small.with_name("out.txt")
    with redirected.open("wb") as file:
        subprocess.run(line, check=True, stdout=file)
    first, second = redirected.read_text().splitlines()
    assert first == "0,8,4096,r,0.000000000"
    assert second.startswith("wrote /dev/stdout")


def test_a_link_stays_one(small: Path, reprieve: Reprieve) -> None:
    link = small.with_name("link")
    link.symlink_to("there")
    assert reprieve("run", small, "--out", "made", "--save-state", "link").returncode == 0
    assert link.is_symlink()
    assert small.with_name("there").read_bytes().startswith(b"RPVSTATE")


def test_two_outputs_have_two_names(files: Path, reprieve: Reprieve) -> None:
    ran = reprieve("rig", "--device", "fast12-slc", "--commands", "c.csv", "--out", "o.csv",
                   "--timeline", "./o.csv")  # fmt: skip
    assert ran.returncode == 2
    assert "o.csv: is named for two outputs" in ran.stderr
    assert not (files / "o.csv").exists()
