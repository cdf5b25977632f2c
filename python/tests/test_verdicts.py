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
    Verdict,
    aside,
    headline,
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
    assert tally(verdicts) == (1, 2, 0)


def test_the_headline_counts_what_was_measured_or_predicted() -> None:
    def verdict(kind: Kind, ours: float = 10.0) -> Verdict:
        return Verdict("reads", "Table 2", "ms", 10.0, ours, 1.0, kind=kind)

    verdicts = [verdict("measured"), verdict("predicted", 30.0), verdict("input"),
                verdict("arithmetic"), verdict("arithmetic"), verdict("vacuous")]  # fmt: skip
    assert tally(verdicts) == (1, 1, 0)
    assert aside(verdicts) == {"input": 1, "arithmetic": 2, "vacuous": 1}
    assert headline(verdicts) == (
        "1 reproduced, 1 not reproduced, 0 not testable. "
        "Not counted: 1 input, 2 arithmetic, 1 vacuous"
    )


def test_a_mechanism_that_never_worked_reproduces_nothing() -> None:
    verdict = Verdict("near-constant", "Figure 7", "%", 2.0, 0.0, 0.0, AT_MOST, kind="vacuous")
    assert verdict.reproduced is None
    assert verdict.row()["reproduced"] is None


@pytest.mark.parametrize(
    ("low", "high", "decided"),
    [
        (9.5, 10.5, True),
        # 11.2 would miss a tolerance of 1 ms.
        (9.5, 11.2, False),
        (None, None, None),
    ],
)
def test_a_verdict_says_if_other_seeds_could_turn_it(
    low: float | None, high: float | None, decided: bool | None
) -> None:
    verdict = Verdict("reads", "Table 2", "ms", 10.0, 10.2, 1.0, low=low, high=high, seeds=(1, 2))
    assert verdict.reproduced is True
    assert verdict.decided is decided
    assert verdict.row()["seeds"] == [1, 2]


def test_the_cause_stands_only_where_a_claim_is_not_reproduced() -> None:
    missed = Verdict("reads", "Table 2", "ms", 10.0, 30.0, 1.0, cause="load")
    held = Verdict("reads", "Table 2", "ms", 10.0, 10.0, 1.0, cause="load")
    assert (missed.row()["cause"], held.row()["cause"]) == ("load", None)
