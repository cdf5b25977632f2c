"""The tables of a study: what a row says, what it takes from another, how a claim is judged."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reprieve_studies.charts import bars_over_seeds, lines_over_seeds
from reprieve_studies.fast12.runs import DATA as FAST12
from reprieve_studies.frame import (
    Claim,
    Data,
    Reading,
    by_reading,
    contrast,
    evaluate,
    explained,
    few,
    given_by,
    judged,
    listed,
    multiple,
    read,
    without_effect,
)
from reprieve_studies.joint import Candidate, search
from reprieve_studies.logged import Log
from reprieve_studies.mbm.runs import DATA as MBM
from reprieve_studies.runs import Bench
from reprieve_studies.seeds import Estimate, ratio
from reprieve_studies.starblaze.runs import DATA as STARBLAZE
from reprieve_studies.study import Settings
from reprieve_studies.verdicts import AT_MOST, CLASSES, Verdict
from reprieve_studies.zambelli21.runs import DATA as ZAMBELLI21

TABLES = """
paper = "A and B, 2020"
seeds = [1, 2]

[[reading]]
name = "base"
title = "as chosen"
question = "How many?"
source = "section 2"
judged = true
sets = { "a.b" = 1, "a.c" = true }
options = { load = "closed" }

[[reading]]
name = "more"
title = "one more"
from = "base"
sets = { "a.b" = 2 }

[[claim]]
claim = "it takes long"
of = "absolute"
source = "Table 1"
value = { SLC = 100, MLC = -200 }
unit = "µs"
tolerance_share = 0.1
options = { op = "read" }

[[claim]]
claim = "it is shorter"
of = "headline"
source = "abstract"
value = 40
tolerance = 5
relation = "at most"
cause = "contradiction"
why = "Table 1 has it otherwise"
"""


def test_a_reading_has_what_that_has_which_it_is_from(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TABLES)
    data = read(tmp_path / "study.toml")
    base, more = data.readings.values()
    assert (base.judged, more.judged) == (True, False)
    assert more.sets == {"a.b": 2, "a.c": True}
    assert (more.question, more.source, more.options) == ("How many?", "section 2", base.options)
    assert more.sets_of(["a.c"]) == {"a.c": True}
    assert data["seeds"] == [1, 2]


def test_a_claim_has_a_value_and_a_margin_at_each_drive(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TABLES)
    long, shorter = read(tmp_path / "study.toml").claims
    assert long.source == "A and B, 2020, Table 1"
    # A tenth of 100 and of 200; the interval of the seeds reaches beyond.
    slc = long.verdict(Estimate(109.0, 105.0, 113.0), where="SLC: ", at="SLC", seeds=(1, 2))
    assert (slc.claim, slc.paper, slc.tolerance) == ("SLC: it takes long", 100, 10)
    assert (slc.reproduced, slc.undecided, slc.of) == (None, True, "absolute")
    assert (long.accepts(109.0, "SLC"), long.accepts(111.0, "SLC")) == (True, False)
    assert long.verdict(Estimate(-221.0), at="MLC").reproduced is False
    assert (shorter.value, shorter.relation) == ({"": 40}, AT_MOST)
    assert [shorter.verdict(Estimate(ours)).reproduced for ours in (3.0, 45.0, 45.1)] == [
        True,
        True,
        False,
    ]


def test_a_group_of_tables_is_a_table_a_row() -> None:
    group = {
        "unit": "%",
        "options": {"how": "ratio"},
        "columns": ["claim", "value.SLC", "options.op", "note"],
        "rows": [["first", 1, "read"], ["second", 2, "write", "once"]],
    }
    one, two, plain = listed([group, {"claim": "third"}])
    assert one == {
        "claim": "first",
        "unit": "%",
        "value": {"SLC": 1},
        "options": {"how": "ratio", "op": "read"},
    }
    assert (two["options"]["op"], two["note"]) == ("write", "once")
    assert plain == {"claim": "third"}


def test_a_row_has_further_keys_behind_its_columns() -> None:
    further = {"note": "once", "options": {"pick": "most"}}
    group = {
        "options": {"how": "ratio"},
        "columns": ["claim"],
        "rows": [["first", further], ["second"]],
    }
    one, two = listed([group])
    assert one == {"claim": "first", "note": "once", "options": {"how": "ratio", "pick": "most"}}
    assert two == {"claim": "second", "options": {"how": "ratio"}}


@pytest.mark.parametrize(
    ("how", "pick", "expected"),
    [
        # 30 against 20 and 10 against 40.
        ("difference", "mean", (10 - 30) / 2),
        ("percent", "most", 50.0),
        ("percent", "mean", (50 - 75) / 2),
        ("rises", "count", 1),
        ("falls", "count", 1),
        ("ratio", "mean", (1.5 + 0.25) / 2),
        ("above", "most", 50.0),
        ("below", "least", 75.0),
    ],
)
def test_runs_are_compared_in_pairs(how: str, pick: str, expected: float) -> None:
    assert contrast(how, [(30, 20), (10, 40)], pick) == pytest.approx(expected)


def test_a_ratio_to_nothing_is_no_number() -> None:
    assert math.isnan(contrast("ratio", [(1, 0)]))


def test_a_claim_is_of_a_run_or_of_two_that_it_compares() -> None:
    latency = {"F1": {"RPS": 200.0, "FIFO": 400.0}, "F2": {"RPS": 100.0, "FIFO": 1000.0}}

    def number(**options: str) -> float:
        claim = Claim("", "headline", "", {"": 0}, options=options)
        return evaluate(claim, list(latency), lambda load, policy: latency[load][policy])

    assert number(of="RPS") == 150
    # 200/400 and 100/1000: a mean of 0.3, at least 0.1.
    assert number(of="RPS", to="FIFO", how="below") == pytest.approx(70)
    assert number(of="RPS", to="FIFO", how="below", pick="least") == pytest.approx(90)
    assert number(of="RPS", to="FIFO", how="falls", pick="count") == 2
    assert number(of="RPS", to="FIFO", how="difference", pick="range") == 700


def test_a_claim_says_a_multiple() -> None:
    said = [
        multiple(Claim("", "headline", "", {"SLC": value}, options={"how": how}), "SLC")
        for how, value in (("below", 25), ("above", 25), ("ratio", 1.5))
    ]
    assert said == [0.75, 1.25, 1.5]


def test_bars_have_the_mean_of_their_seeds_and_an_average_of_their_groups() -> None:
    found = {
        ("SLC", "F1", "RPS"): [1.0, 3.0],
        ("SLC", "F2", "RPS"): [5.0, 7.0],
        ("MLC", "F1", "RPS"): [math.nan, math.nan],
    }
    bars = bars_over_seeds(found, "multiple", average="average")
    # Seed by seed the averages are 3 and 5; what is no number is left out.
    assert bars.values == {
        ("SLC", "F1", "RPS"): 2,
        ("SLC", "F2", "RPS"): 6,
        ("SLC", "average", "RPS"): 4,
    }
    one = bars.errors["SLC", "average", "RPS"]
    assert one.low is not None and one.high is not None
    assert (one.low + one.high) / 2 == pytest.approx(4)


def test_lines_have_the_mean_of_their_seeds() -> None:
    found: dict[tuple[str, float], list[float]] = {
        ("a", 1): [1.0, 3.0],
        ("a", 2): [5.0],
        ("b", 1): [1.0, math.nan],
    }
    first, other = lines_over_seeds(found, "x", "y").points
    # Student's t of one degree of freedom, 12.71, times the standard error of 1.
    assert first == {"series": "a", "x": 1, "y": 2, "low": pytest.approx(-10.706, abs=1e-3),
                     "high": pytest.approx(14.706, abs=1e-3)}  # fmt: skip
    assert other == {"series": "a", "x": 2, "y": 5}


def test_a_ratio_over_seeds_is_a_mean_of_logarithms() -> None:
    assert ratio([(1, 2), (4, 2)]).mean == pytest.approx(1)
    assert ratio([(3, 2)]).low is None


def test_a_log_after_a_share_has_the_requests_that_arrive_later() -> None:
    arrivals, completions = np.array([30, 10, 20, 40]), np.array([35, 15, 26, 50])
    log = Log(np.array(list("wrrw")), arrivals, completions, np.array([1000, 1000, 2000, 3000]))
    later = log.after(0.5)
    assert (list(later.ops), list(later.latency_us)) == (["w", "w"], [0.005, 0.01])
    # 4000 bytes in the 20 ns from 30 to 50.
    assert later.mb_per_s() == pytest.approx(200_000)


def test_a_reading_that_gives_a_claim_is_its_cause_before_all_others() -> None:
    claim = Claim("", "headline", "", {"": 40}, tolerance=5, unit="%", note="n", why="because",
                  cause="contradiction")  # fmt: skip
    found = {"far": Estimate(50.0), "not run": None, "near": Estimate(44.0)}
    others = [Reading(name, title=name, question="") for name in found]
    assert given_by(claim, found.get, others) == {"near": 44.0}
    missed = claim.verdict(Estimate(20.0))
    verdict = explained(missed, claim, found.get, others)
    assert (verdict.cause, verdict.note) == ("reading", "n; near: 44 %")
    verdict = explained(missed, claim, found.get, others[:2])
    assert (verdict.cause, verdict.note) == ("contradiction", "n; because")
    held = claim.verdict(Estimate(41.0))
    assert explained(held, claim, found.get, others) is held


def test_a_judged_claim_has_its_null_model_and_the_reading_that_gives_it() -> None:
    claim = Claim("", "headline", "", {"": 50}, tolerance=5, options={"of": "PES", "to": "RPS"})
    readings = {name: Reading(name, title=name, question="") for name in ("base", "near")}
    data = Data((claim,), readings, {"null": [[("PES", "RPS")]]})
    found = {"base": 20.0, "near": 48.0}

    def measured(reading: str, equal: Mapping[str, str]) -> Estimate:
        return Estimate(0.0 if equal else found[reading])

    verdict = judged(claim, measured, "base", data, range(5), others=[readings["near"]])
    assert (verdict.ours, verdict.null, verdict.kind, verdict.lack) == (20, 0, "predicted", "")
    assert (verdict.cause, verdict.note) == ("reading", "near: 48")
    twice = replace(claim, options={**claim.options, "again": True})
    verdict = judged(twice, measured, "near", data, [1], null=7.0, lack="too short")
    assert (verdict.null, verdict.kind, verdict.lack) == (7, "duplicate", "1 of 5 seeds")


def test_the_table_of_readings_has_every_claim_with_its_margin() -> None:
    claim = Claim("it is shorter", "headline", "", {"SLC": 40}, unit="%", relation=AT_MOST)
    found = {"a": Estimate(41.25, 40.0, 42.5), "b": None}
    titles = {"a": "first", "b": "other"}
    table = by_reading("Readings", [(claim, "SLC")], titles, lambda *row: found[row[2]])
    assert table.columns == ["claim", "source", "first", "other"]
    assert table.rows == [["SLC: it is shorter, %", "≤ 40", "41.25 ± 1.25", "–"]]


@pytest.mark.parametrize("data", [FAST12, MBM, STARBLAZE, ZAMBELLI21], ids=lambda one: one["paper"])
def test_every_paper_has_tables_with_a_source_for_each_row(data: Data) -> None:
    assert {"headline", "mechanism"} <= {claim.of for claim in data.claims} <= {*CLASSES}
    assert all(claim.claim and claim.source.startswith(data["paper"]) for claim in data.claims)
    assert all(one.title and one.question and one.source for one in data.readings.values())
    assert any(one.judged for one in data.readings.values())
    names = [(claim.claim, claim.measure, str(claim.options)) for claim in data.claims]
    assert len(set(names)) == len(names)


def test_runs_without_effect_stand_in_the_place_of_suspension() -> None:
    latency = {"FIFO": 400.0, "RPS": 200.0, "PES_IPC": 100.0, "PE0": 99.0}
    maps = [[("PES_IPC", "RPS")], [("RPS", "FIFO"), ("PE0", "FIFO")]]

    def null(**options: str) -> float | None:
        claim = Claim("", "headline", "", {"": 0}, options=options)

        def measured(instead: Mapping[str, str]) -> Estimate:
            return Estimate(evaluate(claim, [0], lambda _, policy: latency[policy], instead))

        return without_effect(claim, maps, measured)

    # By hand: suspension that changes nothing is RPS, priority that changes nothing is FIFO.
    assert null(of="PES_IPC", to="RPS", how="below") == 0
    assert null(of="PES_IPC", to="PE0", how="above") == pytest.approx(100 * (200 / 99 - 1))
    assert null(of="RPS", to="PE0", how="ratio") == 1
    assert null(of="FIFO") is None
    assert (few([1, 2]), few([1, 2, 3, 4, 5])) == ("2 of 5 seeds", "")


TABLES_JOINT = (
    TABLES
    + """
[joint]
title = "A and B"
base = "base"
readings = ["base", "more"]
loads = ["one", "two"]
number = { key = "a.c", values = [1.0, 2.0, 3.0] }
seeds = [11, 12]
fresh = [21, 22, 23, 24, 25]
"""
)


def test_the_joint_reading_holds_most_headlines_and_is_then_predicted(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TABLES_JOINT)
    data = read(tmp_path / "study.toml")
    asked: list[tuple[float, tuple[int, ...]]] = []

    def judge(
        bench: Bench, candidate: Candidate, seeds: Sequence[int], quick: bool
    ) -> list[Verdict]:
        del bench, quick
        assert candidate.reading.sets["a.c"] == candidate.number
        asked.append((candidate.number, tuple(seeds)))
        # Best with the reading of b = 2, the second loads, and a number of 2; seed 12 alone: of 3.
        far = (candidate.number - (3 if seeds == [12] else 2)) ** 2
        far += 9 * (candidate.loads != "two") + 9 * (candidate.reading.sets["a.b"] != 2)
        row = Verdict("it is", "", "1", 10.0, 10 + far, 0.5, of="headline", null=0.0)
        return [row, Verdict("it too", "", "1", 0.0, 0.0, 1.0, of="headline", null=0.5)]

    article = search(data, judge, Settings(quick=True))
    found = article.numbers
    assert (found["reading"], found["loads"]) == ("one more", "two")
    assert found["number"] == {"key": "a.c", "value": 2.0, "draws": [2.0, 3.0]}
    assert len(found["candidates"]) == 2 * 2 * 3
    # A row that holds without any effect is no headline: one of one holds.
    best = min(found["candidates"], key=lambda one: one["distance"])
    assert (best["held"], best["of"], best["distance"]) == (1, 1, 0.0)
    assert asked[-1] == (2.0, (21, 22, 23, 24, 25))
