"""AERO: erases in loops on the rig, what is measured of the runs, and the claims."""

from __future__ import annotations

import math
from typing import Any

import pytest

import reprieve as rp
from reprieve_studies.aero import claims, page, runs
from reprieve_studies.aero.claims import Case, Outcome
from reprieve_studies.aero.runs import DATA, Plan, Spot
from reprieve_studies.papers import reproduce

LOOPS: dict[str, Any] = {
    "part": "tlc3d-aero",
    "timing__t_erase_us_by_cycles": [(0, [(5000, 1)])],
    "suspension__erase": True,
    "suspension__program": "none",
    "scheduling__policy": "rps",
}
"""Loops of 1, 2.5 and 1.5 ms with verifies of 100 us, after a command of 0.1 us."""


def test_pulses_and_verifies_of_loops_draw_their_own_power() -> None:
    # Above: 82.5 mW in pulses, 78.4 in verifies (that of a program), 0.033 before and after.
    (row,), steps = rp.rig_power("aero", [(0, "erase", 0, 1, 0)], **LOOPS)
    assert (row.start_ns, row.completion_ns) == (0, 5_000_100)
    found = [(step.time_ns, step.power_core_mw) for step in steps]
    expected = [
        (100, 82.5),
        (900_100, 78.4),
        (1_000_100, 82.5),
        (3_400_100, 78.4),
        (3_500_100, 82.5),
        (4_900_100, 78.4),
        (5_000_100, 0.033),
    ]
    assert [pair for pair in found if pair[0] > 0] == expected


@pytest.mark.parametrize(
    ("mode", "read_ns", "erase_ns"),
    [
        # Broken off 20 us after 2000.1 us: read to 2060.2, data 8.192; then 1400 of the pulse, with
        # set-up of 20, and the rest of the loops.
        ("immediate", 2_068_392, 2_068_392 + 20_000 + 1_400_000 + 100_000 + 1_500_000),
        ("deferred", 3_548_392, 3_548_392 + 1_500_000),
    ],
)
def test_an_erase_makes_way_in_a_loop_or_between_two(
    mode: str, read_ns: int, erase_ns: int
) -> None:
    commands = [(0, "erase", 0, 1, 0), (2_000_100, "read", 0, 2, 0)]
    erase, read = rp.rig("aero", commands, **LOOPS, suspension__erase_mode=mode)
    assert (read.completion_ns, erase.completion_ns) == (read_ns, erase_ns)


class Fake:
    """A run of which only tails and counts are asked for."""

    def __init__(self, tail_us: float, count: int = 200_000, erases: int = 60) -> None:
        latency = dict.fromkeys(claims.BEYOND, 1000 * tail_us)
        self.summary: dict[str, Any] = {
            "requests": {"read": {"count": count, "latency_ns": latency}},
            "flash": {"erases": erases, "suspensions": {"program": 1, "erase": 1}, "gc_waf": 3.0},
            "device": {"die_busy_share": 0.5},
        }


def outcome(tails_us: dict[str, list[float]], **of: Any) -> Outcome:
    """Return runs of one load and number of cycles, by scheme and seed, of every arm."""
    seeds = list(range(1, len(tails_us["base"]) + 1))
    plan = Plan(seeds, 1, ["mixed"], [4500])
    found: dict[Spot, Any] = {
        Spot("mixed", scheme, arm, 4500, seed): Fake(tails[seed - 1], **of)
        for scheme, tails in tails_us.items()
        for arm, row in DATA["arms"].items()
        if "as" not in row
        for seed in seeds
    }
    return Outcome(plan, found, runs.mean_erases_ms())


def test_a_gain_is_the_mean_of_the_pairs_of_a_seed() -> None:
    # 50, 25, 0, 30 and 20 % shorter: a mean of 25, a deviation of 18.0278, t of four 2.776445.
    some = outcome({"base": [10, 4, 7, 10, 5], "plus": [5, 3, 7, 7, 4], "aero": [10, 4, 7, 10, 5]})
    found = some.gain(Case("both", "plus", "p99_9"), [("mixed", 4500)])
    half = 2.776445 * 18.027756 / math.sqrt(5)
    assert found.mean == pytest.approx(25)
    assert found.low == pytest.approx(25 - half, rel=1e-5)
    verdicts = {one.claim: one for one in claims.verdicts(some)}
    own = verdicts["AERO+ shortens p99.9 of reads, both suspended"]
    assert own.undecided and own.counts and own.null_model is False
    # No gain at all: the published one does not survive, and less than 5 % holds without effect.
    none = verdicts["AERO shortens p99.9 of reads, both suspended"]
    assert none.reproduced is False and none.ours == 0
    assert verdicts["both suspended leave AERO+ at most 5 % of p99.9"].null_model is True
    page.gains(some)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ({"count": 99_999}, "99 of 100 reads beyond it"),
        ({"erases": 49}, "49 of 50 erases of a run"),
    ],
)
def test_too_few_reads_or_erases_decide_nothing(of: dict[str, int], words: str) -> None:
    some = outcome({"base": [9] * 5, "plus": [1] * 5, "aero": [1] * 5}, **of)
    own = claims.verdicts(some)[15]
    assert own.claim == "AERO+ shortens p99.9 of reads, nothing suspended"
    assert own.undecided and own.lack == words
    enough = outcome({"base": [9] * 5, "plus": [1] * 5, "aero": [1] * 5})
    assert claims.verdicts(enough)[15].reproduced is True


def test_the_means_are_met_exactly() -> None:
    found = runs.mean_erases_ms()
    given = {
        (claim.options["scheme"], claim.options["cycles"]): claim.value[""]
        for claim in DATA.claims
        if claim.measure == "mean"
    }
    assert len(given) == 15 and found == given


def test_the_time_of_all_erases_is_the_sum_over_the_cycles() -> None:
    # Rows every 500 cycles: trapezoids, less half of the last step's rise.
    found = claims.erase_time()
    base = 500 * ((3.5 + 16.765) / 2 + 87.4475) - (16.765 - 3.5) / 2
    plus = 500 * ((2.245 + 14.145) / 2 + 53.92) - (14.145 - 2.245) / 2
    assert found["cycles"] == 5000
    assert found["sum_s"]["base"] == pytest.approx(base / 1e3)
    assert found["sum_s"]["plus"] == pytest.approx(plus / 1e3)
    # BASE has spent 25.7 s at 3,500 cycles (trapezoids), and more than AERO+ in all at 4,000.
    assert 3_500 < found["same_at"]["plus"] < 4_000


@pytest.mark.seconds(14)
def test_a_quick_study_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {**DATA["plan"]["quick"], "requests_share": 0.001}
    monkeypatch.setitem(DATA["plan"], "quick", plan)
    found = reproduce("aero", quick=True)
    exact = [one for one in found if one.kind == "input"]
    assert len(exact) == 15 and all(one.reproduced and one.tolerance == 0 for one in exact)
    assert not any(one.reproduced for one in found if one.kind != "input")
