"""Ten times the requests turn no verdict of a paper: three claims are drawn and judged again."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from reprieve_studies.fast12.runs import DATA as FAST12
from reprieve_studies.mbm.runs import DATA as MBM
from reprieve_studies.papers import reproduce
from reprieve_studies.starblaze.runs import DATA as STARBLAZE
from reprieve_studies.verdicts import Verdict
from reprieve_studies.zambelli21.runs import DATA as ZAMBELLI21

DRAWN = 3
# Table and key of each paper's quick length: requests, or seconds.
LENGTHS: dict[str, tuple[Any, str]] = {
    "fast12": (FAST12["requests"], "quick"),
    "zambelli21": (ZAMBELLI21["requests"], "quick"),
    "starblaze": (STARBLAZE["plan"]["quick"], "runtime_s"),
    "mbm": (MBM["plan"]["quick"], "requests"),
}


def judged(paper: str) -> dict[str, Verdict]:
    """Return the verdicts that count, by claim."""
    return {one.claim: one for one in reproduce(paper, quick=True) if one.counts}


@pytest.mark.skipif(not os.environ.get("REPRIEVE_LONG"), reason="takes minutes: make long")
@pytest.mark.parametrize("paper", LENGTHS)
def test_ten_times_the_requests_turn_no_verdict(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = judged(paper)
    table, key = LENGTHS[paper]
    monkeypatch.setitem(table, key, 10 * table[key])
    long = judged(paper)
    both = {claim: (one.reproduced, long[claim].reproduced)
            for claim, one in short.items() if claim in long}  # fmt: skip
    decided = sorted(claim for claim, outcomes in both.items() if None not in outcomes)
    assert len(decided) >= DRAWN
    turned = {claim for claim in decided if both[claim][0] != both[claim][1]}
    drawn = Random(paper).sample(decided, DRAWN)
    assert not turned & set(drawn), f"of {len(decided)} decided in both lengths turned: {turned}"
