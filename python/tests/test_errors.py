"""Every mistake a user can make on the command line is one line on stderr, with exit status 2."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprieve import cli

from .drive import SMALL, Reprieve


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["rig", "--device", "fast12-slc", "--commands", "none.csv", "--out", "o.csv"],
            "none.csv: cannot read the commands: No such file or directory",
        ),
        (
            ["run", "none.toml"],
            "none.toml: cannot read the scenario: No such file or directory; name a TOML file",
        ),
        (
            ["run", "."],
            ".: cannot read the scenario: Is a directory; name a TOML file",
        ),
        (
            ["run", "latin1.toml"],
            "latin1.toml: byte 2 is not UTF-8; a scenario is TOML in UTF-8",
        ),
        (
            ["run", "small.toml", "--out", "small.toml"],
            "small.toml: cannot write here: it is a file; name another place",
        ),
        (
            ["run", "small.toml", "--out", "small.toml/o"],
            "small.toml/o: cannot write here: Not a directory; name another place",
        ),
        (
            ["compare", "small.toml", "--axis", "seed=1,2", "--out", "small.toml/o"],
            "small.toml/o: cannot write here: Not a directory; name another place",
        ),
        (
            ["rig", "--device=fast12-slc", "--commands=c.csv", "--out=none/o.csv"],
            "none/o.csv: cannot write here: No such file or directory; name another place",
        ),
        (
            ["run", "small.toml", "--timeline", "--timeline-from", "99999999999s"],
            '--timeline-from "99999999999s" is too long; must be below 2^62 ns',
        ),
        (
            ["run", "small.toml", "--save-state", "none/x"],
            "none/x: cannot write here: No such file or directory; name another place",
        ),
        (["policies", "lifo"], "policies: there is no lifo; did you mean fifo?"),
        (["policies", "xyzzy"], "policies: there is no xyzzy; `reprieve policies` lists all"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistake_is_one_sentence(
    reprieve: Reprieve, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "latin1.toml").write_bytes(b"# \xb5s\n")
    (tmp_path / "c.csv").write_text("arrival_ns,op,plane,block,page\n0,read,0,0,0\n")
    before = sorted(tmp_path.iterdir())
    done = reprieve(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence + "\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rum"], ["'rum'", "'run'"]),
        (["run"], ["SCENARIO.toml"]),
        (["run", "small.toml", "--sett", "a=1"], ["--sett", "--set)"]),
        (["run", "small.toml", "--set"], ["'--set' requires an argument"]),
        (["compare", "small.toml"], ["no axis is given", "--axis policy=FIFO,RPS"]),
        (["compare", "small.toml", "--axis", "seed=1,2", "--jobs", "0"], ["'--jobs'", "1"]),
        (["trace", "head", "t", "-n", "x"], ["'-n'", "integer"]),
        (["rig", "--device", "fast12-slc", "--out", "o.csv"], ["Missing option '--commands'"]),
        (["run", "small.toml", "--set", "timing.t_reed_us=5"], ["t_reed_us", "t_read_us"]),
        (["run", "small.toml", "--set", "timing.t_read_us=-5"], ["timing.t_read_us", "-5"]),
        (["run", "small.toml", "--set", "device=fast12-mcl"], ["fast12-mcl", "fast12-mlc"]),
        (["run", "small.toml", "--set", "seed"], ["seed", "KEY=VALUE"]),
        (["run", "bad.toml"], ["bad.toml:2"]),
        (["devices", "fast12-mcl"], ["fast12-mcl", "fast12-mlc"]),
        (["parts", "none"], ["none"]),
        (["loads", "fin1"], ["fin1", "fin1-flows"]),
        (["run", "small.toml", "--set", "load=fin1"], ["load", "fin1-flows"]),
        (["trace", "info"], ["FILE", "--load"]),
        (["trace", "info", "--devices", "--load", "fin1-flows"], ["FILE", "--load"]),
        (["trace", "info", "small.toml", "--load", "fin1-flows"], ["small.toml", "`format`"]),
        (["trace", "info", "--load", "fin3-flows"], ["fin3-flows", "fin1-flows"]),
        (["trace", "info", "--load", "fin1-flows", "--requests", "0"], ["'--requests'", "1"]),
        (["trace", "info", "none.gz"], ["none.gz"]),
        (["trace", "head", "small.toml"], ["small.toml"]),
        (["trace", "convert", "small.toml", "o.csv", "--to", "msr"], ["small.toml"]),
        (["rig", "--device=fast12-mcl", "--commands=c.csv", "--out=o.csv"], ["fast12-mlc"]),
        (["rig", "--device=fast12-mlc", "--commands=bad.csv", "--out=o.csv"], ["bad.csv", "2"]),
    ],
    ids=" ".join,
)
def test_mistake_found_by_others_is_one_line(
    reprieve: Reprieve, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "bad.toml").write_text('device = "fast12-mlc"\nseed = = 1\n')
    (tmp_path / "c.csv").write_text("arrival_ns,op,plane,block,page\n0,read,0,0,0\n")
    (tmp_path / "bad.csv").write_text("arrival_ns,op,plane,block,page\n0,reed,0,0,0\n")
    before = sorted(tmp_path.iterdir())
    done = reprieve(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_on_a_full_disk_is_one_line(
    program: str, small: Path, tmp_path: Path, unbuffered: str
) -> None:
    command = [program, "run", str(small), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "the output cannot be written: No space left on device\n"
    # What was simulated is kept.
    assert (tmp_path / "out/summary.json").exists()


@pytest.fixture
def signals_restored() -> Iterator[None]:
    """Give SIGTERM back: `main`, called in this process, takes it over."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@pytest.mark.usefixtures("signals_restored")
@pytest.mark.parametrize("base", [BaseException, Exception])
def test_fault_of_ours_shows_how_to_repeat_it(
    base: type[BaseException],
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fault = type("PanicException", (base,), {})("die 3 at 123 ns: nothing is suspended")

    def fail(*_: object, **_named: object) -> None:
        raise fault

    monkeypatch.setattr("reprieve.cli.run.run_into", fail)
    assert cli.main(["run", str(small), "--set", "a=b c"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2].endswith("die 3 at 123 ns: nothing is suspended")
    command = f"reprieve run {small} --set 'a=b c'"
    assert lines[-1] == f"Please report it; this repeats it: {command}"
