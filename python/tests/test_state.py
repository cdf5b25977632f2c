"""Saved states and the checker, from the command line and from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reprieve as rp

from .drive import SMALL, Reprieve

STEADY = SMALL + '[ftl]\nprecondition = "steady"\n'


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    path = tmp_path / "steady.toml"
    path.write_text(STEADY)
    return path


def summary(directory: Path) -> str:
    return (directory / "summary.json").read_text()


def test_run_from_the_state_at_the_start_is_the_same(
    reprieve: Reprieve, steady: Path, tmp_path: Path
) -> None:
    done = reprieve("run", steady, "--save-state", "s", "--save-state-at", "start", "--out", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "wrote a/scenario.toml, a/summary.json, a/run.json, s"
    assert reprieve("run", steady, "--from-state", "s", "--out", "b").returncode == 0
    assert reprieve("run", steady, "--out", "c").returncode == 0
    assert summary(tmp_path / "a") == summary(tmp_path / "c")
    # A state does not tell how the drive that saved it came to be so.
    before, after = (json.loads(summary(tmp_path / name)) for name in ("a", "b"))
    assert before.pop("precondition")["requests"] > 0
    assert before.pop("prepare")["load"] == "the run's own load"
    assert before == after
    told = (tmp_path / "b" / "scenario.toml").read_text()
    note, scenario = told.split("\n", 1)
    assert note == '# The run did not precondition: --from-state "s"'
    assert scenario == (tmp_path / "a" / "scenario.toml").read_text()
    again = reprieve("run", "b/scenario.toml", "--from-state", "s", "--out", "d")
    assert again.returncode == 0
    assert summary(tmp_path / "d") == summary(tmp_path / "b")


def test_state_at_the_end_goes_on(reprieve: Reprieve, steady: Path, tmp_path: Path) -> None:
    assert reprieve("run", steady, "--save-state", "s", "--out", "a").returncode == 0
    for out in ("b", "c"):
        done = reprieve(
            "run", steady, "--from-state", "s", "--save-state", out + ".s", "--out", out
        )
        assert done.returncode == 0
    assert summary(tmp_path / "a") != summary(tmp_path / "b") == summary(tmp_path / "c")
    assert (tmp_path / "b.s").read_bytes() == (tmp_path / "c.s").read_bytes()
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_checked_run_is_the_same(reprieve: Reprieve, steady: Path, tmp_path: Path) -> None:
    assert reprieve("run", steady, "--check", "--out", "a").returncode == 0
    assert reprieve("run", steady, "--out", "b").returncode == 0
    assert summary(tmp_path / "a") == summary(tmp_path / "b")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--from-state", "s", "--set", "geometry.channels=4"],
            "s: is the state of a drive with geometry.channels = 2, and the scenario has 4; "
            "use one scenario for both, or --set geometry.channels=2",
        ),
        (
            ["--from-state", "cut"],
            "cut: is damaged or not whole: its checksum does not fit; save it anew",
        ),
        (
            ["--from-state", "steady.toml"],
            "steady.toml: is not a saved state; name a file that --save-state wrote",
        ),
        (
            ["--from-state", "none"],
            "none: cannot read the state: No such file or directory (os error 2); "
            "name a file that --save-state wrote",
        ),
        (
            ["--save-state", "none/s"],
            "none/s: cannot write here: No such file or directory; name another place",
        ),
        (
            ["--save-state-at", "start"],
            "--save-state-at says when to save, and no --save-state FILE says where",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistake_is_one_sentence(
    reprieve: Reprieve, steady: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    rp.run(steady, save_state=tmp_path / "s")
    (tmp_path / "cut").write_bytes((tmp_path / "s").read_bytes()[:-1])
    done = reprieve("run", steady, *arguments, "--out", "o")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{sentence}\n"
    assert not (tmp_path / "o").exists()


def test_python_saves_and_starts(steady: Path, tmp_path: Path) -> None:
    state = tmp_path / "s"
    first = rp.run(steady, save_state=state, save_state_at="start", check=True)
    again = rp.run(steady, from_state=state, check=True)
    assert again.summary["requests"] == first.summary["requests"]
    assert again.summary["flash"] == first.summary["flash"]
    other = rp.run(steady, from_state=state, seed=8)
    assert other.summary["requests"] != first.summary["requests"]
    with pytest.raises(rp.UserError, match='"middle" is no time to save a state'):
        rp.run(steady, save_state=state, save_state_at="middle")  # type: ignore[arg-type]
