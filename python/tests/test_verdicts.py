"""Verdicts: when a claim counts as reproduced, and what is written about it."""

from __future__ import annotations

import json
import math

import pytest

from reprieve_studies.verdicts import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Kind,
    Tally,
    Verdict,
    aside,
    headline,
    tallies,
    tally,
    verdicts_json,
)


@pytest.mark.parametrize(
    ("relation", "ours", "reproduced"),
    [
        (EQUAL, 9.0, True),
        (EQUAL, 11.0, True),
        (EQUAL, 8.9, False),
        (EQUAL, 11.1, False),
        (AT_MOST, 11.0, True),
        (AT_MOST, -500.0, True),
        (AT_MOST, 11.1, False),
        (AT_LEAST, 9.0, True),
        (AT_LEAST, 500.0, True),
        (AT_LEAST, 8.9, False),
        (EQUAL, math.nan, False),
        (AT_MOST, math.inf, False),
    ],
)
def test_a_claim_holds_within_its_tolerance(relation: str, ours: float, reproduced: bool) -> None:
    verdict = Verdict("reads", "Table 2", "ms", 10.0, ours, 1.0, relation)
    assert verdict.reproduced is reproduced


def test_what_cannot_be_tested_has_no_verdict_but_keeps_its_numbers() -> None:
    verdict = Verdict("reads", "Table 2", "ms", 10.0, 30.0, 1.0, note="no trace", untestable=True)
    assert verdict.reproduced is None
    assert verdict.difference == 20.0
    assert Verdict("reads", "Table 2", "ms", 10.0, None, 1.0).reproduced is None


def test_the_file_has_the_fields_that_programs_rely_on() -> None:
    verdicts = [
        Verdict("reads", "Table 2", "ms", 10.0, 10.5, 1.0),
        Verdict("writes", "Table 2", "ms", 10.0, 12.0, 1.0),
        Verdict("none", "Table 2", "ms", 10.0, math.nan, 1.0, note="<é>"),
    ]
    rows = json.loads(verdicts_json(verdicts))
    contract = {"claim", "source", "paper", "ours", "difference", "tolerance", "reproduced", "note"}
    assert all(contract <= set(row) for row in rows)
    assert [row["reproduced"] for row in rows] == [True, False, False]
    assert rows[0]["difference"] == 0.5
    # JSON has no word for what is no number.
    assert rows[2]["ours"] is None
    assert rows[2]["note"] == "<é>"
    assert tally(verdicts) == Tally(1, 2, 0, 0)


def test_the_headline_counts_what_was_measured_or_predicted() -> None:
    def verdict(kind: Kind, ours: float = 10.0) -> Verdict:
        return Verdict("reads", "Table 2", "ms", 10.0, ours, 1.0, kind=kind)

    verdicts = [verdict("measured"), verdict("predicted", 30.0), verdict("input"),
                verdict("arithmetic"), verdict("arithmetic"), verdict("vacuous")]  # fmt: skip
    assert tally(verdicts) == Tally(1, 1, 0, 0)
    assert aside(verdicts) == {"input": 1, "arithmetic": 2, "vacuous": 1}
    assert headline(verdicts) == (
        "1 reproduced, 1 not reproduced. Not counted: 1 input, 2 arithmetic, 1 vacuous"
    )


def test_a_mechanism_that_never_worked_reproduces_nothing() -> None:
    verdict = Verdict("near-constant", "Figure 7", "%", 2.0, 0.0, 0.0, AT_MOST, kind="vacuous")
    assert verdict.reproduced is None
    assert verdict.row()["reproduced"] is None


@pytest.mark.parametrize(
    ("low", "high", "relation", "reproduced", "undecided"),
    [
        (9.5, 10.5, EQUAL, True, False),
        # 11.2 would miss a tolerance of 1 ms; an interval around the tolerance says nothing.
        (9.5, 11.2, EQUAL, None, True),
        (8.0, 12.0, EQUAL, None, True),
        (11.5, 12.5, EQUAL, False, False),
        (8.0, 10.9, AT_MOST, True, False),
        (10.9, 11.1, AT_MOST, None, True),
        (8.9, 9.1, AT_LEAST, None, True),
        (None, None, EQUAL, True, False),
    ],
)
def test_the_whole_interval_decides(
    low: float | None, high: float | None, relation: str, reproduced: bool | None, undecided: bool
) -> None:
    verdict = Verdict(
        "reads", "Table 2", "ms", 10.0, 10.2, 1.0, relation, low=low, high=high, seeds=(1, 2)
    )
    assert (verdict.reproduced, verdict.undecided) == (reproduced, undecided)
    row = verdict.row()
    assert (row["reproduced"], row["undecided"], row["seeds"]) == (reproduced, undecided, [1, 2])


def test_what_holds_without_effect_does_not_count() -> None:
    # A tolerance of three points around two accepts an overhead of nothing.
    blunt = Verdict("writes", "s. 5", "%", 2.0, 2.5, 3.0, of="headline", null=0.0)
    sharp = Verdict("reads", "s. 5", "%", 50.0, 48.0, 10.0, of="headline", null=0.0)
    sign = Verdict("falls", "s. 5", "1", 4.0, 4.0, 0.0, of="mechanism", null=0.0)
    few = Verdict("tail", "s. 5", "%", 50.0, 48.0, 10.0, of="headline", null=0.0, lack="9 of 100")
    assert [one.null_model for one in (blunt, sharp, sign)] == [True, False, False]
    assert [one.counts for one in (blunt, sharp, sign)] == [False, True, True]
    assert (few.reproduced, few.undecided, few.row()["note"]) == (None, True, "9 of 100")
    every = [blunt, sharp, sign, few]
    assert tallies(every) == {"mechanism": Tally(1, 0, 0, 0), "headline": Tally(1, 0, 1, 0)}
    assert headline(every) == (
        "mechanisms: 1 reproduced, 0 not reproduced; headline magnitudes: 1 reproduced, 0 not "
        "reproduced, 1 undecided. Not counted: 1 that would hold without any effect of suspension"
    )


@pytest.mark.parametrize(
    ("relation", "ours", "tolerance", "missed"),
    [
        (EQUAL, 12.0, 1.0, 2.0),
        (EQUAL, 9.5, 1.0, 0.5),
        (AT_MOST, 3.0, 1.0, 0.0),
        (AT_MOST, 13.0, 1.0, 3.0),
        (AT_LEAST, 7.0, 1.0, 3.0),
        (EQUAL, 10.0, 0.0, 0.0),
        (EQUAL, 11.0, 0.0, math.inf),
    ],
)
def test_the_distance_is_in_tolerances(
    relation: str, ours: float, tolerance: float, missed: float
) -> None:
    assert Verdict("", "", "1", 10.0, ours, tolerance, relation).missed == missed


def test_the_cause_stands_only_where_a_claim_is_not_reproduced() -> None:
    missed = Verdict("reads", "Table 2", "ms", 10.0, 30.0, 1.0, cause="load")
    held = Verdict("reads", "Table 2", "ms", 10.0, 10.0, 1.0, cause="load")
    assert (missed.row()["cause"], held.row()["cause"]) == ("load", None)


def test_how_many_seeds_would_decide_a_claim() -> None:
    """12 ± 6 for 10 ± 1: the interval has to leave 11, a sixth of its half: 36 times two seeds."""

    def needed(ours: float, low: float, high: float, relation: str = EQUAL) -> int | None:
        return Verdict(
            "c", "s", "1", 10, ours, 1, relation, seeds=(1, 2), low=low, high=high, of="headline"
        ).seeds_needed

    assert needed(12, 6, 18) == 72
    # At most 10: 11 is the only edge; at least 10 has 9 alone, which lies twice as far inside.
    assert needed(12, 6, 18, AT_MOST) == 72
    assert needed(12, 6, 18, AT_LEAST) == 8
    assert needed(12, 11.5, 12.5) is None
    undecided = [
        Verdict("c", "s", "1", 10, 12, 1, seeds=(1, 2), low=6, high=18, of="headline"),
        Verdict("d", "s", "1", 10, 12, 1, AT_LEAST, seeds=(1, 2), low=6, high=18, of="headline"),
    ]
    assert headline(undecided).endswith(
        ". About 8 seeds would decide the nearest of the undecided, 72 the farthest, if their "
        "means stay"
    )
