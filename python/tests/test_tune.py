"""`reprieve tune`: questions, a search whose answer is known by hand, and the whole command."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.experiments.plan import Axis, Range
from reprieve.tuning.answer import Answer, answer, sentences
from reprieve.tuning.page import render
from reprieve.tuning.question import Question, axis, bound, field, question, said, share
from reprieve.tuning.search import Found, Point, Row, Search, Tried

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
        (["a=0..inf"], [], "iops",
         "--vary a=0..inf: must be KEY=LO..HI with two numbers, or KEY=LO..HI:log"),
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
    indifferent=0,
)


SEEDS = (1, 2)
Values = Mapping[str, Any]


def by_formula(asked: Sequence[Point]) -> list[list[Row] | str | None]:
    """Measure a drive that is a formula: IOPS are 100 x, tails 10 x us, twice that if slow."""
    found: list[list[Row] | str | None] = []
    for point in asked:
        values = dict(point.values)
        factor = 1 if values["mode"] == "fast" else 2
        row = {
            "device_iops": 100 * values["x"] + values.get("fast.y", 0),
            "read_latency_ns_p99": 10_000 * factor * values["x"],
        }
        found.append([row for _ in SEEDS])
    return found


def applying(values: Values) -> tuple[tuple[tuple[str, Any], ...], Sequence[str]]:
    """Leave out the key of the mode that was not chosen; half a unit of x is no drive."""
    if values["x"] < 0.5:
        raise UserError("too small")
    left = ((k, v) for k, v in values.items() if k != "fast.y" or values["mode"] == "fast")
    return tuple(left), ()


def tuned(asked: Question = ASKED, tries: int = 64, search_seed: int = 1) -> tuple[Found, Answer]:
    """Search the formula."""
    found = Search(asked, by_formula, applying).run(tries, search_seed)
    return found, answer(asked, found)


def test_the_best_point_is_where_it_is_by_hand() -> None:
    """Of the fast drive x may be 5 at most: 500 IOPS, and y is worth up to 9."""
    found, made = tuned()
    best = dict(made.best.point.values)
    assert made.meets
    assert best["mode"] == "fast"
    assert 4.5 < best["x"] <= 5
    (freed,) = made.freed
    assert freed.binds and freed.bound is ASKED.bounds[0]
    # Without the bound x is at its end: neighbours of the best were tried until none was better.
    assert dict(freed.best.point.values) == {"x": 10.0, "mode": "fast", "fast.y": 9}
    # A twentieth of the range of x is below half.
    assert 0 < len(found.refused) < 24
    assert "fast.y" not in dict(
        next(each for each in found.tried if ("mode", "slow") in each.point.values).point.values
    )


def brute(asked: Question, tail: str, space: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the names of the points that are as good, the best tail first, by exhaustion."""
    goal = asked.goal.column
    kept = {
        name: row
        for name, row in space.items()
        if all(each.excess(row[each.field.column]) <= 0 for each in asked.bounds)
    }
    if not kept:
        excess = {
            name: sum(max(0.0, each.excess(row[each.field.column])) for each in asked.bounds)
            for name, row in space.items()
        }
        return [min(space, key=lambda name: (excess[name], space[name][goal]))]
    least = min(row[goal] for row in kept.values())
    names = [name for name, row in kept.items() if row[goal] <= least * (1 + asked.indifferent)]
    return sorted(names, key=lambda name: (space[name][tail], space[name][goal]))


@pytest.mark.parametrize("tries", [8, 48, 500])
def test_small_spaces_are_answered_as_by_exhaustion(tries: int) -> None:
    """Twenty random spaces of up to 180 points; every other one has a key that does not apply."""
    generator = np.random.default_rng(7)
    for case in range(20):
        sizes = [int(size) for size in generator.integers(2, 7, 2)]
        modes = tuple("uvwxyz"[: sizes[1]])
        axes = (Axis("a", Range(1, sizes[0])), Axis("b", modes), Axis("c", Range(1, 5)))
        rows: dict[str, dict[str, float]] = {}
        names: dict[tuple[Any, ...], str] = {}

        def apply(values: Values, case: int = case) -> tuple[tuple[tuple[str, Any], ...], Any]:
            kept = {k: v for k, v in values.items() if k != "c" or case % 2 or values["b"] != "u"}
            return tuple(kept.items()), ()

        for values in product(range(1, sizes[0] + 1), modes, range(1, 6)):
            point = apply(dict(zip("abc", values, strict=True)))[0]
            if point not in names:
                names[point] = str(point)
                rows[str(point)] = {
                    "write_latency_ns_mean": float(generator.integers(900, 1100)),
                    "read_latency_ns_p99": float(generator.integers(50, 150)),
                    "read_count": 10_000,
                }

        def measure(asked: Sequence[Point], rows: Any = rows) -> list[list[Row] | str | None]:
            return [[rows[str(point.values)]] for point in asked]

        limit = bound(f"read.p99 <= {generator.integers(45, 120)}ns")
        asked = Question(axes, (limit,), field("write.mean"), False, (0, 0.02, 0.1)[case % 3])
        found = Search(asked, measure, apply).run(tries, case)
        made = answer(asked, found)
        expected = brute(asked, "read_latency_ns_p99", rows)
        ties = [str(each.point.values) for each in made.ranked[: made.ties]]
        assert found.is_whole and len(found.tried) == len(rows), case
        assert ties[0] == expected[0] and sorted(ties) == sorted(expected), case
        # The answer without the bound shows its cost.
        freed = Question(axes, (), asked.goal, False, asked.indifferent)
        best = brute(freed, "read_latency_ns_p99", rows)[0]
        assert str(made.freed[0].best.point.values) == best, case


def points_of(rows: Mapping[str, tuple[float, float]], **more: Any) -> Answer:
    """Judge points by hand: a write mean and a read p99 of each, in us, under one seed."""
    tried = [
        Tried(
            Point(at, (("x", name),), more.get("unreal", {}).get(name, ())),
            [{"write_latency_ns_mean": 1e3 * mean, "read_latency_ns_p99": 1e3 * tail,
              "read_count": 5000}],
            {"x": name},
        )
        for at, (name, (mean, tail)) in enumerate(rows.items())
    ]  # fmt: skip
    bounds = tuple(map(bound, more.get("bounds", ())))
    asked = Question((Axis("x", tuple(rows)),), bounds, field("write.mean"), False)
    return answer(asked, Found(tried, [], is_whole=True))


def test_among_points_as_good_the_shortest_tail_is_offered() -> None:
    """101 is within 2 % of 100 and has half the tail; 103 is not."""
    made = points_of({"a": (100, 80), "b": (101, 40), "c": (103, 10)})
    assert [str(each.point) for each in made.ranked[: made.ties]] == ["x = b", "x = a"]
    told = sentences(made)
    assert told[0] == "best: write.mean 101 µs at x = b"
    assert told[1] == (
        "as good, within 2 % of the best write.mean: a; of these 2 the first has the least "
        "read.p99, 40.0 µs"
    )
    assert "next best: write.mean 103 µs at x = c" in told[2]


def test_a_bound_binds_only_if_the_answer_without_it_is_better() -> None:
    """Without the bound of 50 us, 90 us would be possible; that of 70 us excludes nothing."""
    rows = {"a": (100.0, 40.0), "b": (90.0, 60.0), "c": (100.5, 45.0)}
    told = sentences(points_of(rows, bounds=["read.p99 <= 50us"]))
    assert "read.p99 <= 50.0 µs binds: without it write.mean would be 90.0 µs at x = b" in told, (
        told
    )
    loose = points_of(rows, bounds=["read.p99 <= 70us"])
    assert not any(each.binds for each in loose.freed)
    assert any(each.startswith("no bound binds") for each in sentences(loose))
    # 90 and 91 are as good: a bound that chooses between them binds nothing, even if without it
    # the other is offered.
    near = points_of({"a": (91, 40), "b": (90, 30)}, bounds=["write.mean >= 90.5us"])
    assert str(near.best.point) == "x = a" and str(near.freed[0].best.point) == "x = b"
    assert not near.freed[0].binds


def test_the_knee_is_farthest_from_the_line_of_the_ends() -> None:
    """Of (100, 10), (60, 20), (50, 100) the middle is at (0.2, 0.11): 0.69 within the line."""
    made = points_of({"a": (100, 10), "b": (60, 20), "c": (50, 100), "d": (101, 30)})
    assert made.knee is not None and str(made.knee.point) == "x = b"
    # On the line itself there is none.
    assert points_of({"a": (100, 10), "b": (75, 55), "c": (50, 100)}).knee is None


def test_what_no_drive_can_have_is_shown_and_never_best() -> None:
    rows = {"rps": (100.0, 80.0), "pe0": (50.0, 10.0)}
    made = points_of(rows, unreal={"pe0": ("policy = pe0",)})
    assert str(made.best.point) == "x = rps"
    assert sentences(made)[-1] == (
        "a bound: write.mean 50.0 µs with policy = pe0, which no drive can have"
    )
    page = render(made, sentences(made), "reprieve tune", is_running=False)
    assert "no drive has this" in page


def test_a_key_is_worth_what_its_worst_choice_costs() -> None:
    """At y = 2 the best is 110, a tenth more than 100; z changes nothing."""
    tried = [
        Tried(Point(at, (("y", y), ("z", z))),
              [{"write_latency_ns_mean": mean, "read_latency_ns_p99": 1, "read_count": 5000}], {})
        for at, (y, z, mean) in enumerate([(1, 1, 100), (1, 2, 100), (2, 1, 110), (2, 2, 120)])
    ]  # fmt: skip
    axes = (Axis("z", (1, 2)), Axis("y", (1, 2)))
    made = answer(Question(axes, (), field("write.mean"), False), Found(tried, []))
    told = [(each.key, each.worst, each.share) for each in made.worth]
    assert told == [("y", "2", pytest.approx(0.1)), ("z", "1", 0)] or told[1][2] == 0


def test_time_ends_a_search() -> None:
    """A time that is over lets the first batch run, and says that there was no more."""
    axes = (Axis("x", Range(1, 100)), Axis("mode", ("fast",)))
    asked = Question(axes, (), field("iops"), is_max=True)
    search = Search(asked, by_formula, applying, until_s=0.0)
    found = search.run(8, 1)
    assert (len(found.tried), found.is_cut_short, found.is_whole) == (8, True, False)


def test_an_interrupt_leaves_the_points_that_are_done() -> None:
    """Of the second batch three points are done: eleven of a hundred are judged."""
    batches: list[int] = []

    def measure(asked: Sequence[Point]) -> list[list[Row] | str | None]:
        batches.append(len(asked))
        found = by_formula(asked)
        return found if len(batches) == 1 else [*found[:3], *[None] * (len(found) - 3)]

    axes = (Axis("x", Range(1, 100)), Axis("mode", ("fast",)))
    search = Search(Question(axes, (), field("iops"), is_max=True), measure, applying)
    with pytest.raises(KeyboardInterrupt):
        search.run(8, 1)
    assert len(search.found.tried) == 11 and not search.found.is_whole


def test_shares_are_read() -> None:
    assert (share("2%"), share(" 2 % "), share("0.02")) == (0.02, 0.02, 0.02)
    with pytest.raises(UserError, match='--indifferent "much": must be a share such as 2% or'):
        share("much")


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
        tried = [Tried(Point(0, (("x", 0),)), rows, {})]
        made = answer(Question(ASKED.axes[:1], ASKED.bounds, ASKED.goal, True), Found(tried, []))
        assert (made.meets, made.decided) == (False, not reaches)
        told = sentences(made)
        assert told[0].startswith(first), told
        page = unescape(render(made, told, "reprieve tune", is_running=False))
        assert ("erhaps nothing meets it" in page) == reaches


def test_the_page_says_what_was_found_and_draws_all_that_was_tried() -> None:
    found, made = tuned()
    page = render(made, sentences(made), "reprieve tune", is_running=True)
    assert '<meta http-equiv="refresh" content="5">' in page
    told = [unescape(text) for text in re.findall(r'<p class="(?:lead|prose)">(.*?)</p>', page)]
    assert told[0].startswith("So far, best: iops ") and told[0].endswith(".")
    # The name of a number is no word at the beginning of a sentence.
    assert told[1].startswith("read.p99 <= 50.0 µs: ")
    specs = re.search(r'id="specs">(.*?)</script>', page, re.S)
    assert specs is not None
    drawn = json.loads(specs[1])
    assert set(drawn) == {"front", "keys", "key-0", "key-1", "key-2"}
    # A mark for each point that was tried, all of one length.
    (rows,) = [data for data in drawn["key-0"]["datasets"].values() if data["rows"] > 1]
    kinds = [rows["columns"]["kind"]["words"][at] for at in rows["columns"]["kind"]["at"]]
    assert len(kinds) == len(found.tried)
    assert kinds.count("best") == 1 and kinds.count("as good") == made.ties - 1


def test_the_next_best_is_told_by_its_seeds() -> None:
    """Points of two seeds: a difference of 10 ± 1, and one of 10 ± 20."""
    for spread, word in ((1, "significant"), (20, "not significant")):
        tried = []
        for at, values in enumerate([(1000, 1000), (990 - spread / 2, 990 + spread / 2)]):
            rows: list[Row] = [{"device_iops": value} for value in values]
            tried.append(Tried(Point(at, (("x", at),)), rows, {}))
        asked = Question(ASKED.axes[:1], (), ASKED.goal, is_max=True, indifferent=0)
        told = sentences(answer(asked, Found(tried, [])))
        # Of two differences, 12.7 times half of what they differ by is the interval's half.
        assert (12.706 * spread / 2 < 10) == (word == "significant")
        needs = (
            ""
            if word == "significant"
            # (12.7 x 10 / 10)^2: an interval shrinks with the root of the number of seeds.
            else ("; about 161 times as many seeds would decide it, if it stays as it is")
        )
        assert told[1].endswith(f"; the difference is {word} (95 %, paired by seed){needs}"), told


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
    # Cost against tail, and three keys side by side.
    assert 'id="chart-keys"' in page and 'id="chart-front"' in page
    assert "refresh" not in page
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
        (("--vary", "workload.read_fraction=0.1,0.9", "--max", "iops"),
         "--vary workload.read_fraction: is given, not chosen, and no load is the best; tune "
         "under each with --set, or sweep it"),
        (("--vary", "suspension.policy=always,btach", "--max", "iops"),
         '--vary suspension.policy = "btach": must be one of "always", "batch", "deadline", '
         '"threshold"; did you mean "batch"?'),
        (("--vary", "geometry.channels=1,2", "--max", "iops", "--set", "geometry.channels=4"),
         "geometry.channels: is given by --set, and varies; give it once"),
        (("--vary", "geometry.channels=1,2", "--max", "iops", "--minutes", "0"),
         "tune: --minutes are over before a point is done; give it more"),
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
