"""The question which drive keeps a tail, against what was measured of the drives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprieve.drives import load

from .drive import Reprieve

EXAMPLE = Path(__file__).parents[2] / "examples/random-writes.toml"
LIMIT_US = 550
DRIVES = ("pe8110", "pm9a3", "p5520", "cm7r")
"""Not micron7450pro, whose reads at 40 thousand writes a second no mechanism here explains."""


@pytest.mark.seconds(90)
def test_tune_names_the_drives_that_keep_their_tail(reprieve: Reprieve, tmp_path: Path) -> None:
    """Beside 40,000 writes/s three drives keep p99.9 below 550 us, and one does not."""
    measured = {}
    for name in DRIVES:
        (condition,) = (each for each in load(name).conditions if each.name == "w40k")
        measured[name] = condition.jobs[0].measured["read"].percentile_ns[99.9] / 1e3
    keeps = {name for name, us in measured.items() if us <= LIMIT_US}
    assert keeps == {"pe8110", "pm9a3", "p5520"}
    done = reprieve(
        "tune", EXAMPLE, "--vary", f"device={','.join(DRIVES)}",
        "--where", f"read.p99_9 <= {LIMIT_US}us", "--min", "read.p99", "--tries", "8",
        "--seeds", "1", "--out", tmp_path / "tune",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "tune/tune.json").read_text())
    simulated = {each["device"]: each["read.p99_9"] / 1e3 for each in found["points"]}
    assert {*simulated} == {*DRIVES}
    assert {name for name, us in simulated.items() if us <= LIMIT_US} == keeps
    assert found["best"]["device"] in keeps
