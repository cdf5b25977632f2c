"""A scenario is data: nothing in it is executed unless the user says so, nor is more read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reprieve as rp

from .drive import SMALL, Reprieve

POLICY = """
import pathlib
import reprieve

pathlib.Path(__file__).with_name("executed").touch()


class Leaves(reprieve.SuspensionPolicy):
    def decide(self, view):
        return reprieve.Decision.LEAVE
"""


@pytest.fixture
def downloaded(tmp_path: Path) -> Path:
    """Return a folder with a scenario and a policy that notes that it was executed."""
    text = f'{SMALL}\n[suspension]\nprogram = "ipc"\npolicy = "mine.py:Leaves"\n'
    (tmp_path / "s.toml").write_text(re.sub(r"(?m)^\[suspension\]\n(?=\n)", "", text))
    (tmp_path / "mine.py").write_text(POLICY)
    (tmp_path / "sweep.toml").write_text(
        'scenario = "s.toml"\ndesign = "grid"\n[axes]\n"workload.requests" = [200, 300]\n'
    )
    (tmp_path / "c.csv").write_text("arrival_ns,op,plane,block,page\n0,program,0,0,0\n")
    return tmp_path


EXECUTING = {
    "run": ["s.toml"],
    "compare": ["s.toml", "--axis", "workload.requests=200,300"],
    "sweep": ["sweep.toml"],
    "tune": ["s.toml", "--vary", "suspension.max_per_program=1..4", "--min", "read.p99",
             "--tries", "8"],
    "rig": ["--device", "fast12-mlc", "--set", "suspension.policy=mine.py:Leaves", "--commands",
            "c.csv"],
}  # fmt: skip


@pytest.mark.parametrize("command", EXECUTING)
def test_a_command_executes_a_policy_only_when_it_may(
    command: str, downloaded: Path, reprieve: Reprieve
) -> None:
    line = [command, *EXECUTING[command], "--out", "made"]
    done = reprieve(*line)
    assert done.returncode == 2
    assert re.search(r'suspension\.policy = ".*mine\.py:Leaves": .*--allow-python', done.stderr)
    assert done.stderr.count("\n") == 1
    assert not (downloaded / "executed").exists()
    assert not (downloaded / "made").exists()
    done = reprieve(*line, "--allow-python")
    assert (done.returncode, done.stderr) == (0, "")
    assert (downloaded / "executed").exists()


def test_looking_executes_nothing(downloaded: Path, reprieve: Reprieve) -> None:
    done = reprieve("run", "s.toml", "--print")
    assert done.returncode == 0
    assert 'mine.py:Leaves"' in done.stdout
    assert reprieve("serve", "s.toml").returncode == 2
    assert (
        rp.Scenario.from_file(downloaded / "s.toml")
        .resolve()
        .suspension.policy.endswith("mine.py:Leaves")
    )
    with pytest.raises(rp.UserError, match=r"has no Missing; it has Leaves"):
        rp.Scenario.from_file(downloaded / "s.toml").replace(
            suspension__policy=f"{downloaded}/mine.py:Missing"
        ).resolve()
    assert not (downloaded / "executed").exists()


@pytest.mark.parametrize(
    "name", ["os:abort", "os:fork", "sys:exit", "os:getpid", "os:get_exec_path"]
)
def test_what_is_no_policy_is_not_called(name: str, downloaded: Path) -> None:
    with pytest.raises(rp.UserError, match=r"must be a class with decide\(view\)"):
        rp.run(downloaded / "s.toml", suspension__policy=name)


def test_a_question_reads_its_data_set_alone(downloaded: Path, reprieve: Reprieve) -> None:
    assert reprieve("sweep", "sweep.toml", "--out", "made", "--allow-python").returncode == 0
    (downloaded / "secret.csv").write_text("a\n1\n")
    assert "2" in reprieve("query", "SELECT count(*) FROM points", "made").stdout
    for source in ("'secret.csv'", "read_csv('secret.csv')", "read_text('made/.lock')",
                   "glob('*')", "read_parquet('http://localhost:1/x.parquet')"):  # fmt: skip
        done = reprieve("query", f"SELECT * FROM {source}", "made")
        assert done.returncode == 2, source
        assert done.stderr.startswith("query: Permission Error"), done.stderr
