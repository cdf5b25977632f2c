"""Stored scores of measured drives: no device may get further from its drive than it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprieve.drives import MeasuredDrive, load, names
from reprieve.drives.scores import Score, body_errors, score_text, simulate, stored

from .hand_drive import folder_of

WORSE_MAX = 0.01
"""Rise of the median error that is no matter: a percentage point."""
SCORED = [name for name in names() if stored(load(name)) is not None]


def rise(drive: MeasuredDrive) -> float:
    """Return by how much the median error of reads from p50 to p99 exceeds the stored one."""
    before = stored(drive)
    assert before is not None
    now = simulate(drive, reads=before.reads, seed=before.seed)
    return median(now) - median(before)


def median(score: Score) -> float:
    """Return the median error over all conditions, fitted and predicted."""
    found = body_errors(score.terms)
    assert found is not None
    return found.median


@pytest.mark.seconds(90)
@pytest.mark.parametrize("name", SCORED)
def test_no_drive_is_further_from_its_measurements(name: str) -> None:
    assert rise(load(name)) <= WORSE_MAX, "if this is meant, store the score again"


MORE = """[global]
bs = "8k"
rw = "randread"
runtime = "1s"

[condition.slow.jobs]
reader = { rate_iops = 100 }

[condition.fast.jobs]
reader = { rate_iops = 200 }
"""
ROWS = """slow,reader,read,p50_us,100
fast,reader,read,p50_us,100
"""


def test_a_worse_score_fails(tmp_path: Path) -> None:
    """The drive's two medians are simulated alike, so that their error is known by hand."""
    drive = load(folder_of(tmp_path / "hand", MORE, ROWS))
    score = simulate(drive, reads=50)
    assert {term.simulated for term in score.terms if term.what == "p50"} == {
        score.terms[0].simulated
    }
    error = abs(score.terms[0].simulated / 100_000 - 1)
    assert error > 0.05
    for better, is_worse in ((0.0, False), (0.009, False), (0.011, True), (-0.05, False)):
        nearer = [replace(term, simulated=1e5 * (1 + error - better)) for term in score.terms]
        (drive.folder / "score.toml").write_text(score_text(replace(score, terms=tuple(nearer))))
        assert rise(drive) == pytest.approx(better, abs=1e-6)
        assert (rise(drive) > WORSE_MAX) is is_worse
