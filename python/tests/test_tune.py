"""`reprieve tune`: questions, a search whose answer is known by hand, and the whole command."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.experiments.plan import Axis, Range
from reprieve.parallel import silent
from reprieve.tuning.answer import Answer, answer, sentences
from reprieve.tuning.page import render
from reprieve.tuning.question import Question, axis, bound, field, question, said
from reprieve.tuning.search import RUNGS, Found, Point, Row, Tried, search

from .drive import SMALL, Reprieve
from .vega import check_charts


def test_keys_and_their_values_are_read() -> None:
    assert axis("a.b=1..20") == Axis("a.b", Range(1, 20))
    assert axis("a.b=0.5..20:log") == Axis("a.b", Range(0.5, 20, True))
    assert axis("a.b=none,ipc") == Axis("a.b", ("none", "ipc"))
    assert axis("a.b=true,false") == Axis("a.b", (True, False))
    assert axis("a.b=ips,../c.py:D") == Axis("a.b", ("ips", "../c.py:D"))
    for text in ("a.b=1..20", "a.b=0.5..20.0:log", "a.b=none,ipc", "a.b=true,false"):
        assert said(axis(text)) == text


def test_bounds_have_units() -> None:
    found = bound("read.p99_9 <= 400us")
    assert (found.field.column, found.is_upper, found.limit) == (
        "read_latency_ns_p99_9",
        True,
        400_000,
    )
    assert bound("iops>=20k").limit == 20_000
    assert bound("flash.waf <= 1.5").field.column == "flash_waf"
    # 500 are a quarter beyond 400; 300 are a quarter within.
    assert found.excess(500_000) == 0.25
    assert found.excess(300_000) == -0.25
    assert bound("iops >= 200").excess(150) == 0.25


@pytest.mark.parametrize(
    ("vary", "where", "most", "sentence"),
    [
        (["a=5..1"], [], "iops", "--vary a=5..1: must be two numbers, the smaller first"),
        (["a=0..1:log"], [], "iops",
         "--vary a=0..1:log: must be two numbers, both above 0 for log"),
        (["a"], [], "iops", "--vary a: must be KEY=LO..HI, KEY=LO..HI:log or KEY=A,B,C"),
        (["a=1,1"], [], "iops", "--vary a=1,1: has a value twice"),
        (["a=1,2", "a=3,4"], [], "iops", "--vary a: is given twice; must be given once"),
        (["a=1,2"], ["read.p99 = 3us"], "iops",
         '--where "read.p99 = 3us": must be FIELD <= NUMBER or FIELD >= NUMBER'),
        (["a=1,2"], ["read.p99 < 3k"], "iops",
         '--where "read.p99 < 3k": must have a number and, as its unit, ns, us, ms or s'),
        (["a=1,2"], [], None, "tune: give one of --max and --min: what is to be large, or small"),
        ([], [], "iops",
         "tune: --vary is missing; name a key and its values, KEY=LO..HI or KEY=A,B"),
    ],
)  # fmt: skip
def test_wrong_questions_are_answered(
    vary: list[str], where: list[str], most: str | None, sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        question(vary, where, most, None)
    assert str(error.value) == sentence


ASKED = Question(
    (Axis("x", Range(0.0, 10.0)), Axis("mode", ("slow", "fast")), Axis("fast.y", Range(1, 9))),
    (bound("read.p99 <= 50us"),),
    field("iops"),
    is_max=True,
)


def by_formula(asked: Sequence[tuple[Point, int, int]]) -> list[Row]:
    """Measure a drive that is a formula: IOPS are 100 x, tails 10 x us, twice that if slow."""
    found: list[Row] = []
    for point, _, _ in asked:
        values = dict(point.values)
        factor = 1 if values["mode"] == "fast" else 2
        found.append(
            {
                "device_iops": 100 * values["x"] + values.get("fast.y", 0),
                "read_latency_ns_p99": 10_000 * factor * values["x"],
            }
        )
    return found


def applying(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Leave out the key of the mode that was not chosen; half a unit of x is no drive."""
    if values["x"] < 0.5:
        raise UserError("too small")
    return tuple((k, v) for k, v in values.items() if k != "fast.y" or values["mode"] == "fast")


def tuned(asked: Question = ASKED, tries: int = 64, search_seed: int = 1) -> tuple[Found, Answer]:
    """Search the formula."""
    seeds = (1, 2)
    found = search(
        *(asked, by_formula, applying),
        tries=tries,
        seeds=seeds,
        search_seed=search_seed,
        step=silent,
    )
    return found, answer(asked, found)


def test_the_best_point_is_where_it_is_by_hand() -> None:
    """Of the fast drive x may be 5 at most: 500 IOPS, and y is worth up to 9."""
    found, made = tuned()
    best = dict(made.best.point.values)
    assert made.meets
    assert best["mode"] == "fast"
    assert 4.5 < best["x"] <= 5
    assert made.binding is ASKED.bounds[0]
    assert made.without is not None
    assert dict(made.without.point.values)["x"] > best["x"]
    # A twentieth of the range of x is below half.
    assert 0 < len(found.refused) < 16
    assert "fast.y" not in dict(
        next(each for each in found.tried if ("mode", "slow") in each.point.values).point.values
    )


def test_most_points_run_short_and_few_run_whole() -> None:
    lengths: list[int] = []

    def counted(asked: Sequence[tuple[Point, int, int]]) -> list[Row]:
        lengths.extend(rung for _, _, rung in asked)
        return by_formula(asked)

    search(ASKED, counted, applying, tries=64, seeds=(1, 2), search_seed=1, step=silent)
    # A quarter and a sixteenth of the points, the last with two seeds, but six at least.
    assert (lengths.count(1), lengths.count(2)) == (16, 2 * 6)
    assert 48 < lengths.count(0) <= 64


def test_the_search_repeats_itself() -> None:
    first, second = (tuned(search_seed=5)[0] for _ in range(2))
    assert [each.point for each in first.tried] == [each.point for each in second.tried]
    other = tuned(search_seed=6)[0]
    assert [each.point for each in first.tried] != [each.point for each in other.tried]


def test_what_cannot_be_met_is_said() -> None:
    asked = Question(ASKED.axes, (bound("read.p99 <= 2us"),), ASKED.goal, is_max=True)
    _, made = tuned(asked)
    assert not made.meets
    first = sentences(made)[0]
    assert re.match(
        r"nothing meets it: nearest is x = 0\.\d+, mode = fast, fast\.y = \d, because "
        r"read\.p99 <= 2\.0 µs is missed by \d+\.\d %: ",
        first,
    ), first


def test_a_bound_within_the_interval_of_the_nearest_may_be_met() -> None:
    """Two seeds, both with a mean of 52 µs over a bound of 50: 52 ± 1.3, and 52 ± 51."""
    for spread_us, first in ((0.2, "nothing meets it: "), (8.0, "perhaps nothing meets it: ")):
        ends = (52 - spread_us / 2, 52 + spread_us / 2)
        # Of two values, 12.7 times half of what they differ by is the interval's half.
        reaches = 52 - 12.706 * spread_us / 2 < 50
        rows: list[Row] = [{"device_iops": 9, "read_latency_ns_p99": 1000 * end} for end in ends]
        tried = [Tried(Point(0, (("x", 0),)), dict.fromkeys(range(RUNGS), rows))]
        made = answer(Question(ASKED.axes[:1], ASKED.bounds, ASKED.goal, True), Found(tried, []))
        assert (made.meets, made.decided) == (False, not reaches)
        told = sentences(made)
        assert told[0].startswith(first), told
        page = unescape(render(made, told, "reprieve tune"))
        assert ("erhaps nothing meets it" in page) == reaches


def test_the_page_says_what_was_found_and_draws_all_that_was_tried() -> None:
    found, made = tuned()
    page = render(made, sentences(made), "reprieve tune")
    told = [unescape(text) for text in re.findall(r'<p class="(?:lead|prose)">(.*?)</p>', page)]
    assert told[0].startswith("Best: iops ") and told[0].endswith(".")
    # The name of a number is no word at the beginning of a sentence.
    assert told[1].startswith("read.p99 <= 50.0 µs: ")
    specs = re.search(r'id="specs">(.*?)</script>', page, re.S)
    assert specs is not None
    drawn = json.loads(specs[1])
    assert set(drawn) == {"front", "keys", "key-0", "key-1", "key-2"}
    # A mark for each point that was tried; blue those whose short run keeps the bound.
    (rows,) = [data for data in drawn["key-0"]["datasets"].values() if data["rows"] > 1]
    kinds = [rows["columns"]["kind"]["words"][at] for at in rows["columns"]["kind"]["at"]]
    kept = [row["read_latency_ns_p99"] <= 50_000 for each in found.tried for row in each.by_rung[0]]
    assert len(kinds) == len(found.tried)
    assert kinds.count("best") + kinds.count("keeps the bounds") == sum(kept)


def test_the_next_best_is_told_by_its_seeds() -> None:
    """Points of two seeds: a difference of 10 ± 1, and one of 10 ± 20."""
    for spread, word in ((1, "significant"), (20, "not significant")):
        tried = []
        for at, values in enumerate([(1000, 1000), (990 - spread / 2, 990 + spread / 2)]):
            rows: list[Row] = [{"device_iops": value} for value in values]
            tried.append(Tried(Point(at, (("x", at),)), dict.fromkeys(range(RUNGS), rows)))
        asked = Question(ASKED.axes[:1], (), ASKED.goal, is_max=True)
        told = sentences(answer(asked, Found(tried, [])))
        # Of two differences, 12.7 times half of what they differ by is the interval's half.
        assert (12.706 * spread / 2 < 10) == (word == "significant")
        assert told[1].endswith(f"; the difference is {word} (95 %, paired by seed)")


def test_a_misspelt_figure_is_answered_in_the_words_of_the_question() -> None:
    with pytest.raises(rp.UserError, match=r"write\.meen: .*; did you mean write\.mean\?"):
        field("write.meen").of({"write_count": 1})


def test_a_misspelt_number_is_answered() -> None:
    asked = Question(ASKED.axes, (bound("read.p98 <= 50us"),), ASKED.goal, is_max=True)
    with pytest.raises(UserError, match=r"did you mean read\.p99\?"):
        tuned(asked)


WORDS = (
    *("--vary", "suspension.policy=always,batch", "--vary", "suspension.batch.reads=1..4"),
    *("--vary", "geometry.channels=1..3", "--max", "iops", "--tries", "12", "--seeds", "2"),
)


def test_the_command_from_question_to_scenario(tmp_path: Path, reprieve: Reprieve) -> None:
    """A larger drive is faster; a killed search goes on and finds the same."""
    (tmp_path / "s.toml").write_text(SMALL.replace("rate_iops = 1500", "rate_iops = 15000"))
    asked = ("tune", "s.toml", *WORDS, "--set", "policy=pes-ipc", "--out", "t")
    shown = reprieve(*asked)
    assert shown.returncode == 0, shown.stderr
    assert all(len(line) <= 80 for line in shown.stdout.splitlines()[:6])
    found = json.loads((tmp_path / "t" / "tune.json").read_text())
    assert found["meets"]
    assert found["best"]["geometry.channels"] == 3
    check_charts(tmp_path / "t" / "report.html")
    page = (tmp_path / "t" / "report.html").read_text()
    # Without a bound there is one measure and no front; three keys are drawn side by side.
    assert 'id="chart-keys"' in page and 'id="chart-front"' not in page
    assert '<p class="lead">Best: iops ' in page
    assert f"reprieve {' '.join(asked)}" in page
    run = reprieve("run", "t/best.toml", "--out", "best")
    assert run.returncode == 0, run.stderr
    summary = json.loads((tmp_path / "best" / "summary.json").read_text())
    assert found["points"][0]["iops_low"] <= found["points"][0]["iops"]
    assert summary["device"]["iops"] > 0

    # As if it had been killed: some runs are there, the answer is not.
    runs = sorted((tmp_path / "t" / "runs").glob("*/*.gz"))
    for each in runs[::3]:
        each.unlink()
    (tmp_path / "t" / "tune.json").unlink()
    again = reprieve(*asked)
    assert f"{len(runs[::3])} runs done now" in again.stdout
    assert json.loads((tmp_path / "t" / "tune.json").read_text()) == found


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--vary", "suspension.polcy=a,b", "--max", "iops"),
         "--vary suspension.polcy: unknown key; did you mean suspension.policy?"),
        (("--vary", "seed=1..4", "--max", "iops"),
         "--vary seed: every point runs with the same seeds; see --seeds"),
        (("--vary", "geometry.channels=0..0", "--max", "iops"),
         "--vary geometry.channels=0..0: must be two numbers, the smaller first"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_sentence(
    tmp_path: Path, reprieve: Reprieve, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    failed = reprieve("tune", "s.toml", *words, "--out", "t")
    assert (failed.returncode, failed.stderr) == (2, f"{sentence}\n")
    assert not (tmp_path / "t").exists()


def test_from_python(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    found = rp.tune(
        tmp_path / "s.toml",
        {"geometry.channels": "1..2"},
        min="read.p99",
        out=tmp_path / "t",
        tries=8,
        seeds=1,
    )
    assert found.meets
    assert found.best == {"geometry.channels": 2}
    assert found.ran > 0
    assert "channels = 2" in found.scenario
