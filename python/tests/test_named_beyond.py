"""Policies in Python by name beyond plain runs: measured twice, on the rig, in losses of power."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

from . import own_policies
from .drive import SMALL, Reprieve

MINE = (
    Path(own_policies.__file__).read_text()
    + '''

class Never(SuspensionPolicy):
    """Leaves everything alone, and says for itself how many there were."""

    def __init__(self):
        with open(__file__ + ".made", "a") as made:
            made.write("x")

    def decide(self, view):
        return Decision.LEAVE


class Fails(SuspensionPolicy):
    def decide(self, view):
        return 1 / 0
'''
)
KEY = "suspension.policy"
IN_THE_WAY = "ZeroDivisionError: division by zero at "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a scenario, of one that is ready for a loss of power, and of policies."""
    small = rp.Scenario.from_toml(SMALL).replace(policy="pes-ipc")
    (tmp_path / "s.toml").write_text(small.to_toml())
    lossy = small.replace(
        workload__requests=400,
        workload__read_fraction=0.3,
        buffer__bytes=65536,
        power__account="on",
        power_loss__mode="on",
        power_loss__p_controller_mw=1500,
        power_loss__hold_up_us=1_000_000,
    )
    (tmp_path / "lossy.toml").write_text(lossy.to_toml())
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_transient_is_found_with_one_object_and_left_out_with_another(folder: Path) -> None:
    place = folder / "s.toml"
    asked: dict[str, Any] = {"workload.requests": 6000, "measure.warmup": "auto"}
    built_in = rp.run(place, **asked, suspension__policy="always")
    mine = rp.run(place, **asked, suspension__policy="mine.py:Always")
    assert mine.summary["measure"] == built_in.summary["measure"]
    assert mine.summary["requests"] == built_in.summary["requests"]
    assert mine.summary["flash"] == built_in.summary["flash"]
    assert built_in.summary["flash"]["suspensions"]["program"] > 0

    rp.run(place, **asked, suspension__policy="mine.py:Never")
    assert (folder / "mine.py.made").read_text() == "xx"


def test_transient_with_an_object_asks_for_its_class(folder: Path) -> None:
    sentence = "may remember the first run; name its class in suspension.policy or"
    with pytest.raises(rp.UserError, match=sentence):
        rp.run(folder / "s.toml", suspension_policy=own_policies.Always(), measure__warmup="auto")
    # One of two that is an object is enough.
    with pytest.raises(rp.UserError, match=sentence):
        rp.run(
            folder / "s.toml",
            suspension__policy="mine.py:Always",
            scheduler=own_policies.Rps(),
            measure__warmup="auto",
        )


COMMANDS = [(0, "program", 0, 0, 0), (61_000, "read", 0, 1, 0)]


def test_rig_asks_a_named_policy(folder: Path) -> None:
    """SLC: 20 us over the bus, 5 x (20 + 8) program, tR 10, 20 us over the bus."""

    def done(name: str) -> list[int]:
        rows = rp.rig("fast12-slc", COMMANDS, policy="pes-ipc", suspension__policy=name)
        return [row.completion_ns for row in rows]

    mine = str(folder / "mine.py")
    # 20 + 140; the read waits for it, and takes 10 + 20.
    assert done(f"{mine}:Never") == [160_000, 190_000]
    assert done(f"{mine}:Always") == done("always") == [218_000, 95_000]


def test_rig_and_its_files_from_the_command_line(reprieve: Reprieve, folder: Path) -> None:
    rows = "".join(",".join(map(str, row)) + "\n" for row in COMMANDS)
    (folder / "c.csv").write_text("arrival_ns,op,plane,block,page\n" + rows)
    rig = (
        "rig",
        "--allow-python",
        "--device",
        "fast12-slc",
        "--set",
        "policy=pes-ipc",
        "--commands",
        "c.csv",
    )
    never = ("--set", f"{KEY}=mine.py:Never")
    for more in ((), ("--power", "p.csv"), ("--timeline", "t.perfetto-trace")):
        done = reprieve(*rig, *never, "--out", "o.csv", *more)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split(",")[6] for line in (folder / "o.csv").read_text().splitlines()] == [
            "completion_ns",
            "160000",
            "190000",
        ]
    done = reprieve(*rig, "--set", f"{KEY}=mine.py:Fails", "--out", "o.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert IN_THE_WAY in done.stderr
    assert "at 61000 ns of the simulated time, for die 0, asked whether to suspend" in done.stderr


def test_losses_of_power_ask_a_named_policy(reprieve: Reprieve, folder: Path) -> None:
    place = folder / "lossy.toml"
    built_in = rp.power_loss(place, cuts=20, suspension__policy="always")
    mine = rp.power_loss(place, cuts=20, suspension__policy="mine.py:Always")
    assert mine.rows == built_in.rows
    other = rp.power_loss(place, cuts=20, suspension__policy="mine.py:Never")
    assert other.rows != built_in.rows
    assert rp.Scenario.from_toml(other.scenario).suspension.policy.endswith("mine.py:Never")

    done = reprieve(
        "power-loss", "--allow-python", place.name, "--cuts", "2", "--set", f"{KEY}=mine.py:Fails"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert IN_THE_WAY in done.stderr


def test_what_asks_no_python_says_why(reprieve: Reprieve, folder: Path) -> None:
    place = folder / "s.toml"
    built_in = "; must be one that `reprieve policies` lists"
    done = reprieve("serve", place.name, "--set", f"{KEY}=mine.py:Never")
    assert (done.returncode, done.stdout) == (2, "")
    why = "a served drive keeps time and waits for no Python program"
    assert re.fullmatch(rf'{KEY} = ".*mine\.py:Never": {why}{built_in}\n', done.stderr)
    named = rp.Scenario.from_file(place).replace(suspension__policy=f"{folder}/mine.py:Never")
    with pytest.raises(rp.UserError, match="and a policy of Python cannot" + built_in):
        rp.Drive(named)
    # A built-in one that is given instead is asked.
    drive = rp.Drive(named, suspension__policy="threshold")
    assert rp.Scenario.from_toml(drive.scenario).suspension.policy == "threshold"
