"""Mistakes in Python name arguments, and those on the command line options."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

from .drive import Reprieve

LOAD = {"generator": "mixed", "requests": 500, "read_fraction": 0.7, "queue_depth": 8}
DRIVE: dict[str, Any] = {"device": "fast12-mlc", "workload": LOAD}

MISTAKES: dict[str, tuple[Callable[[Path], object], str]] = {
    "override": (
        lambda _: rp.run(DRIVE, timing__t_raed_us=5),
        "timing.t_raed_us: unknown key; did you mean timing.t_read_us?",
    ),
    "axis": (
        lambda _: rp.compare(DRIVE, {"policx": ["a"]}),
        "axes policx: unknown key; did you mean policy?",
    ),
    "goal": (
        lambda out: rp.tune(DRIVE, {"policy": "fifo,rps"}, out=out),
        "tune: give one of max and min: what is to be large, or small",
    ),
    "vary": (
        lambda out: rp.tune(DRIVE, {"seed": "1..2"}, min="iops", out=out),
        "vary seed: every point runs with the same seeds; see seeds",
    ),
    "rig": (lambda _: rp.rig("fast12-mlc", [], policx=1), "policx: unknown key"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_python_names_the_argument(name: str, tmp_path: Path) -> None:
    call, sentence = MISTAKES[name]
    with pytest.raises(rp.UserError, match=f"^{re.escape(sentence)}") as told:
        call(tmp_path / "o")
    assert "--" not in str(told.value)


def test_the_command_line_names_the_option(reprieve: Reprieve, small: Path) -> None:
    done = reprieve("run", small, "--set", "timing.t_raed_us=5")
    assert done.stderr.startswith("--set: timing.t_raed_us: unknown key")


def test_a_function_stays_what_it_is() -> None:
    assert rp.run.__name__ == "run" and rp.run.__doc__ is not None
    assert "suspension_policy" in rp.run.__doc__
