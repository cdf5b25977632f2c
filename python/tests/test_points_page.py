"""The page of many points: rows by hand, sentences by single runs, charts in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Browser

import reprieve as rp
from reprieve import tables
from reprieve.experiments.page import points_of
from reprieve.experiments.plan import read_plan
from reprieve.plot import LIGHT
from reprieve.plot.landscape import over_key
from reprieve.plot.points import (
    BEST,
    BOUND,
    FRONT,
    NOWHERE,
    OTHERS,
    QUARTER,
    Key,
    Measure,
    Points,
    fields,
    lines,
    quartered,
    share_of,
    table,
    thinned,
)
from reprieve.report.points import Words, render

from .drive import Reprieve
from .sweep_files import grid, scenario
from .vega import check_charts


def points(**more: Any) -> Points:
    """Return four points of two keys: latencies 30, 10, 20 and 10."""
    made: dict[str, Any] = {
        "names": ["0", "1", "2", "3"],
        "keys": [Key("a.x", [1, 1, 2, 2]), Key("a.y", ["on", "off", "on", "off"], ("off", "on"))],
        "measures": [Measure("read mean, µs", [30.0, 10.0, 20.0, 10.0])],
        "kinds": [OTHERS, BEST, OTHERS, BEST],
    }
    return Points(**made | more)


def test_fields_are_the_best_of_their_points() -> None:
    one = points(keys=[Key("a.x", [1, 1, 2, 2]), Key("a.y", [5, 5, 5, 5])])
    found = {(row["across"], row["up"]): row for row in fields(one, 0)}
    assert {place: row["value"] for place, row in found.items()} == {("1", "5"): 10, ("2", "5"): 10}
    assert found["1", "5"]["point"] == "1" and all(row["is_best"] for row in found.values())
    most = Measure("iops", [30.0, 10.0, 20.0, 10.0], is_max=True)
    told = fields(points(measures=[most]), 0)
    assert [(row["value"], row["is_best"]) for row in told] == [
        (30, True), (10, False), (20, False), (10, False),
    ]  # fmt: skip
    # From 10 to 30, 20 is in the middle.
    assert [row["share"] for row in told] == [1, 0, 0.5, 0]


def test_wide_scales_are_logarithmic() -> None:
    assert share_of(10, [1, 10, 100], is_log=True) == pytest.approx(0.5)
    assert share_of(10, [1, 10, 100], is_log=False) == pytest.approx(9 / 99)
    assert share_of(7, [7, 7], is_log=False) == 0.5


def test_the_front_joins_what_no_drive_beats() -> None:
    """Of (3, 1), (2, 2), (2, 3), (1, 1) the last is a bound, and the third is beaten."""
    up, across = Measure("up", [3.0, 2.0, 2.0, 1.0]), Measure("across", [1.0, 2.0, 3.0, 1.0])
    made = Points(list("0123"), [Key("x", [1, 2, 3, 4])], [up, across], [*[OTHERS] * 3, BOUND])
    assert {row["point"] for row in table(made) if row["front"]} == {"0", "1"}


def test_an_interval_below_nothing_has_no_logarithm() -> None:
    """Values from 0.001 to 1 are a wide scale, unless an interval reaches below 0."""
    keys = [Key("what", ["a", "b"], ("a", "b"))]
    for low, kind in (([0.0005, 0.9], "log"), ([-0.1, 0.9], None)):
        measure = Measure("m", [0.001, 1.0], low, [0.002, 1.1])
        chart = over_key(Points(["0", "1"], keys, [measure], [OTHERS] * 2), 0, 0, LIGHT)
        scales = re.findall(r'"type": "log"', json.dumps(chart.to_dict()))
        assert bool(scales) == (kind == "log")


def test_lines_through_one_value_lie_side_by_side() -> None:
    rows, labels = lines(points())
    at = {(row["axis"], row["point"]): row["share"] for row in rows}
    # Two points a value, a spread of 0.05 around it: a quarter of that to either side.
    for axis, pair in (("a.x", ("0", "1")), ("a.y", ("1", "3"))):
        shares = sorted(at[axis, point] for point in pair)
        assert shares == pytest.approx([-0.0125, 0.0125])
    # The better lies first.
    assert at["a.x", "1"] < at["a.x", "0"]
    # A measure is where it is: only keys are spread.
    assert [at["read mean, µs", point] for point in "0123"] == [1, 0, 0.5, 0]
    assert [row["text"] for row in labels] == ["1", "2", "off", "on", "10", "30"]
    # The best are drawn last, above the others.
    assert [row["point"] for row in rows[:4]] == ["0", "2", "1", "3"]


def test_a_key_that_does_not_apply_is_beside_its_axis() -> None:
    rows, labels = lines(points(keys=[Key("a.x", [1, None, 3, None])]))
    at = {row["point"]: row["share"] for row in rows if row["axis"] == "a.x"}
    assert (at["0"], at["2"]) == (0, 1)
    assert sorted([at["1"], at["3"]]) == pytest.approx([NOWHERE - 0.0125, NOWHERE + 0.0125])
    assert (NOWHERE, "–") in [(row["share"], row["text"]) for row in labels]


def test_the_best_quarter_is_told_where_nothing_else_is() -> None:
    values = [float(value) for value in (8, 7, 6, 5, 4, 3, 2, 1)]
    many: dict[str, Any] = {"names": list("01234567"), "keys": [Key("x", values)]}
    many |= {"measures": [Measure("m", values)], "kinds": [OTHERS] * 7 + [BEST]}
    # Two of eight are a quarter, of which one is the best.
    assert quartered(Points(**many)).kinds == [*[OTHERS] * 6, QUARTER, BEST]
    with_front = Points(**many | {"kinds": [FRONT] * 8})
    assert quartered(with_front).kinds == [FRONT] * 8


def test_of_too_many_points_the_best_stay() -> None:
    values = list(range(100))
    kinds = [BEST if value == 57 else OTHERS for value in values]
    whole = Points(
        [str(value) for value in values], [Key("x", values)], [Measure("m", values)], kinds
    )
    few = thinned(whole, 10)
    assert len(few) == 10 and few.kinds.count(BEST) == 1
    assert few.names[0] == "0" and few.names[-1] == "99"
    assert thinned(whole, 100) is whole


def test_of_too_many_points_the_table_has_the_best() -> None:
    values = [float(value) for value in range(300, 0, -1)]
    kinds = [OTHERS] * 299 + [BEST]
    whole = Points(
        [str(at) for at in range(300)],
        [Key("x", values), Key("y", values)],
        [Measure("m", values)],
        kinds,
    )
    text = render(whole, Words("t", "c", {}, "l", [], ""))
    cells = re.findall(r"<td>(\d+)</td>", text)
    assert cells == [str(value) for value in range(1, 201)]
    assert '<p class="note">The best 200; 100 more are in the data set.</p>' in text


def test_an_axis_is_as_the_sweep_spaces_it() -> None:
    """A range says so; a list of numbers is logarithmic where it is wide: 20 times and more."""
    axes = {
        "workload.rate_iops": {"from": 1, "to": 1000},
        "workload.queue_depth": {"from": 1, "to": 8, "scale": "log"},
        "seed_a": [1, 10, 30],
        "seed_b": [1, 10, 19],
    }
    plan = read_plan({"scenario": scenario(), "design": "random", "samples": 3, "axes": axes})
    columns = {name.replace(".", "_"): [1, 10, 30] for name in axes} | {"seed_b": [1, 10, 19]}
    names = {"point": [0, 1, 2]} | columns
    table = tables.of_columns({name: tables.Column.of(values) for name, values in names.items()})
    made = points_of(plan, table)
    assert [key.is_log for key in made.keys] == [False, True, True, False]
    assert made.measures == []


def lead(page: Path) -> str:
    found = re.search(r'<p class="lead">(.*?)</p>', page.read_text())
    assert found is not None
    return unescape(found[1])


def told(page: Path) -> list[str]:
    return [unescape(text) for text in re.findall(r'<p class="prose">(.*?)</p>', page.read_text())]


READS = {"requests": 1300, "arrivals": "fixed", "rate_iops": 10, "read_fraction": 1}


def test_the_best_is_of_each_load_and_no_bound(tmp_path: Path) -> None:
    """PE0 would be the best of both loads; each is measured by read priority, which is second."""
    mixed = {"requests": 4000, "arrivals": "poisson", "rate_iops": 4000, "read_fraction": 0.5}
    axes = {"workload.read_fraction": [0.5, 0.9], "policy": ["FIFO", "RPS", "PE0"]}
    rp.sweep({"scenario": scenario(**mixed), "design": "grid", "axes": axes}, out=tmp_path)
    page = tmp_path / "report.html"
    assert lead(page).startswith(
        "At workload.read_fraction = 0.5, the lowest read mean of 2 points"
    )
    assert "policy = RPS; read priority is among the best." in lead(page)
    others = " ".join(told(page))
    assert "At workload.read_fraction = 0.9, the lowest read mean of 2 points" in others
    assert "Only a bound, which no drive can have, is" in others and "policy = PE0." in others
    rows = tables.rows(tables.read(tmp_path / "differences.parquet"))
    assert {(row["point"], row["base"]) for row in rows} == {(0, 1), (2, 1), (3, 4), (5, 4)}


def test_of_loads_alone_none_is_the_best(tmp_path: Path) -> None:
    axes = {"workload.rate_iops": [500, 1000]}
    rp.sweep({"scenario": scenario(**READS), "design": "grid", "axes": axes}, out=tmp_path)
    found = lead(tmp_path / "report.html")
    assert re.match(r"The read mean of 2 loads goes from .* to .*; all are given\.", found), found


def test_the_sentence_says_what_is_best_and_that_it_is_decided(tmp_path: Path) -> None:
    axes = {"timing.t_read_us": [50, 25]}
    plan = {"scenario": scenario(**READS), "design": "grid", "axes": axes}
    rp.sweep(plan, out=tmp_path)
    alone = rp.run(scenario(**READS), timing__t_read_us=25).summary["requests"]["read"]
    # Reads that never meet take what one takes, and each 25 µs more with the slower page.
    mean = alone["latency_ns"]["mean"] / 1000
    assert lead(tmp_path / "report.html") == (
        f"The lowest read mean of 2 points is {mean:.1f} µs at timing.t_read_us = 25. At the first "
        f"(timing.t_read_us = 50) it is {mean + 25:.1f} µs; significant at 95 %."
    )


def test_what_is_not_decided_is_said(tmp_path: Path) -> None:
    # The bound of suspensions is never reached by the second point: both runs are the same.
    axes = {"suspension.max_per_operation": [50, 60, 1]}
    base = scenario(requests=1300) | {"policy": "pes-ipc"}
    made = rp.sweep({"scenario": base, "design": "grid", "axes": axes, "seeds": 2}, out=tmp_path)
    means = made.points.column("read_latency_ns_mean").to_pylist()
    assert means[0] == means[1] < means[2]
    page = tmp_path / "report.html"
    assert "at suspension.max_per_operation = 50, and at 1 more; the first point is among" in lead(
        page
    )
    differences = made.query("SELECT decided FROM differences WHERE measure = "
                             "'read_latency_ns_mean' AND point = 2").to_pylist()  # fmt: skip
    word = "significant" if differences[0]["decided"] else "not significant"
    assert told(page)[0].startswith("The next (suspension.max_per_operation = 1) has ")
    assert told(page)[0].endswith(f"; {word} at 95 %.")


def test_the_table_has_every_key_of_every_point_and_the_numbers_of_the_data_set(
    tmp_path: Path,
) -> None:
    made = rp.sweep(grid(seeds=2), out=tmp_path)
    check_charts(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = body.split("</tr>")[:-1]
    expected = made.points.to_pylist()
    assert len(rows) == len(expected) == 4
    forms = set()
    for row, point in zip(rows, expected, strict=True):
        keys = re.findall(r"<span><i>([^<]*)</i> ([^<]*)</span>", row)
        assert keys == [
            ("policy", point["policy"]),
            ("rate_iops", str(point["workload_rate_iops"])),
        ]
        mean, low, high = (
            point[f"read_latency_ns_mean{end}"] / 1000 for end in ("", "_low", "_high")
        )
        found = re.search(r"<td>([\d.,]+)<small>([\d.,]+) to ([\d.,]+)</small></td>", row)
        assert found is not None
        cells = [cell.replace(",", "") for cell in found.groups()]
        # All of a column have the same decimals, and the last of these is rounded.
        (digits,) = {len(cell.partition(".")[2]) for cell in cells}
        forms.add(digits)
        for cell, value in zip(cells, (mean, low, high), strict=True):
            assert abs(float(cell) - value) <= 0.5 * 10**-digits + 1e-9
    assert len(forms) == 1


def test_a_front_is_told_from_end_to_end(tmp_path: Path) -> None:
    goals = {"read_latency_ns_mean": "min", "write_latency_ns_mean": "min"}
    axes = {"policy": ["fifo", "rps", "pes-ipc"], "workload.rate_iops": [1500]}
    made = rp.sweep(grid(axes=axes, goals=goals), out=tmp_path)
    front = [row for row in made.points.to_pylist() if row["front"]]
    ends = [min(front, key=lambda row: float(row[goal])) for goal in goals]
    assert ends[0] != ends[1]
    said = [f"{end[goal] / 1000:,.1f} µs" for end in ends for goal in goals]
    assert lead(tmp_path / "report.html") == (
        f"{len(front)} of 3 points are in the front of read mean and write mean: from read mean "
        f"{said[0]} and write mean {said[1]} to read mean {said[2]} and write mean {said[3]}."
    )


def test_a_key_cannot_become_markup() -> None:
    words = Words("<b>", "reprieve sweep '</script>'", {}, "<i>", [], "")
    keys = [Key("<u>", ["</script>", "b", "c", "d"], ("</script>", "b", "c", "d"))]
    text = render(points(keys=keys), words)
    assert text.count("<script") == 3 and "<u>" not in text and "<b>" not in text
    assert '<p class="lead">&lt;i&gt;</p>' in text


def test_without_a_directory_or_the_extra_there_is_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not (rp.sweep(grid()).directory / "report.html").exists()
    rp.sweep(grid(), out=tmp_path)
    assert (tmp_path / "report.html").exists()
    monkeypatch.setattr("reprieve.experiments.engine.has_plots", lambda: False)
    rp.sweep(grid(axes={"policy": ["fifo"]}), out=tmp_path)
    # That of the sweep before would contradict the data.
    assert not (tmp_path / "report.html").exists()


def test_object_writes_the_page_wherever_its_runs_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing = rp.sweep(grid())
    passing.report(tmp_path / "passing.html")
    kept = rp.sweep(grid(), out=tmp_path / "kept")
    kept.report(tmp_path / "kept.html")
    rp.Sweep(tmp_path / "kept").report(tmp_path / "again.html")
    pages = {name: (tmp_path / f"{name}.html").read_text() for name in ("passing", "kept", "again")}
    assert pages["kept"] == pages["again"] == (tmp_path / "kept/report.html").read_text()
    assert pages["passing"] == pages["kept"]

    monkeypatch.setattr("reprieve.experiments.engine.has_plots", lambda: False)
    (tmp_path / "kept/report.html").unlink()
    rp.sweep(grid(), out=tmp_path / "kept")
    with pytest.raises(rp.UserError, match=r"kept: has no page, as .* sweep again into it"):
        rp.Sweep(tmp_path / "kept").report(tmp_path / "none.html")


def test_command_names_its_page(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    text = f'scenario = "{small.name}"\ndesign = "grid"\n[set]\n"workload.requests" = 300\n'
    (tmp_path / "s.toml").write_text(text + '[axes]\npolicy = ["fifo", "rps"]\n')
    done = reprieve("sweep", "s.toml", "--out", "o")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith("o/report.html")
    assert "<code>reprieve sweep s.toml --out o</code>" in (tmp_path / "o/report.html").read_text()


# ---- In a browser -------------------------------------------------------------------------------

browsing = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
IPC = {"policy": "pes-ipc"}
LIMITS = {"suspension.max_per_operation": [1, 2, 5, "none"]}
FRACTIONS = {"workload.read_fraction": [0.3, 0.6, 0.9]}
DRAWN = {
    "workload.rate_iops": {"from": 500, "to": 3000, "scale": "log"},
    "workload.read_fraction": {"from": 0.4, "to": 0.9},
}
SIZES = {"workload.request_bytes": [4096, 8192, 16384]}
GOALS = {"read_latency_ns_p99": "min", "write_latency_ns_mean": "min"}
# Of 4,000 requests the means and p99 are shown; p99.99 would be chance.
PLANS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a line": ({"design": "grid", "axes": LIMITS, "seeds": 2}, {f"line-{i}" for i in range(4)}),
    "fields": ({"design": "grid", "axes": FRACTIONS | LIMITS}, {f"heat-{i}" for i in range(4)}),
    "a map": ({"design": "random", "samples": 20, "axes": DRAWN}, {"map", "key-0", "key-1"}),
    "all keys": (
        {"design": "random", "samples": 20, "axes": DRAWN | SIZES},
        {"keys", "key-0", "key-1", "key-2"},
    ),
    "a front": (
        {"design": "random", "samples": 12, "axes": DRAWN | SIZES, "goals": GOALS, "seeds": 2},
        {"front", "keys", "key-0", "key-1", "key-2"},
    ),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests; each opens the page anew."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def swept(name: str, tmp_path: Path) -> tuple[Path, set[str]]:
    plan, charts = PLANS[name]
    rp.sweep({"scenario": scenario(requests=4000) | IPC} | plan, out=tmp_path)
    check_charts(tmp_path / "report.html")
    return tmp_path / "report.html", charts


@browsing
@pytest.mark.parametrize("name", PLANS)
def test_every_chart_is_drawn_wide_and_narrow(name: str, browser: Browser, tmp_path: Path) -> None:
    page, charts = swept(name, tmp_path)
    found = re.search(r'id="specs">(.*?)</script>', page.read_text(), re.S)
    assert found is not None and set(json.loads(found[1])) == charts
    empty = """[...document.querySelectorAll('.chart')].filter((chart) => {
      const marks = chart.querySelectorAll('svg g[class*=mark-] path, svg g[class*=mark-] line');
      return ![...marks].some((mark) => mark.getBBox().width + mark.getBBox().height > 5);
    }).map((chart) => chart.id)"""
    for width in (1280, 390):
        browser.said.clear()
        browser.asked.clear()
        browser.media()
        browser.resize(width, 900)
        browser.open(page)
        assert browser.value("document.querySelectorAll('.chart svg.marks').length") == len(charts)
        assert browser.value(empty) == []
        assert browser.said == []
        assert set(browser.asked) == {browser.value("location.href")}
        assert browser.value("document.documentElement.scrollWidth") <= width


@browsing
def test_keys_stay_in_sight_while_numbers_scroll(browser: Browser, tmp_path: Path) -> None:
    page, _ = swept("a line", tmp_path)
    browser.resize(390, 900)
    browser.open(page)
    left = "document.querySelector('.points tbody th').getBoundingClientRect().left"
    cell = "document.querySelector('.points tbody td').getBoundingClientRect().left"
    before = browser.value(left), browser.value(cell)
    browser.value("document.querySelector('.points').parentElement.scrollLeft = 200")
    browser.settle()
    assert browser.value(left) == before[0] >= 0
    assert browser.value(cell) == pytest.approx(before[1] - 200, abs=1)
    shown = "document.querySelector('.points tbody th').innerText"
    assert browser.value(shown).split() == ["max_per_operation", "1"]


@browsing
def test_a_line_for_each_point(browser: Browser, tmp_path: Path) -> None:
    page, _ = swept("all keys", tmp_path)
    browser.resize(1280, 900)
    browser.open(page)
    paths = "[...document.querySelectorAll('#chart-keys .mark-line path')]"
    drawn = browser.value(f"{paths}.map((path) => path.getAttribute('d'))")
    assert len(drawn) == len(set(drawn)) == 20
