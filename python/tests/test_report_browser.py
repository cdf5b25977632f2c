"""The report in a real browser: drawn, worked by keyboard, dark, on paper, narrow, offline."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

import reprieve as rp
from reprieve_studies.article import render_article

from .drive import SMALL
from .test_article import article
from .test_report import FIGURES, TEN

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

TIME = "time-read-latency"
LINES = "document.querySelectorAll('#chart-{} .mark-line path').length"


@pytest.fixture(scope="module")
def runs() -> rp.Comparison:
    """Run three policies side by side."""
    return rp.compare(tomllib.loads(SMALL), {"policy": ["FIFO", "RPS", "PES-IPC"]}, series=True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests; each opens the page anew."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(runs: rp.Comparison, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the report over all, and that of one run."""
    folder = tmp_path_factory.mktemp("pages")
    runs.report(folder / "three.html")
    runs["PES-IPC"].report(folder / "one.html")
    return {"three": folder / "three.html", "one": folder / "one.html"}


@pytest.fixture
def three(browser: Browser, pages: dict[str, Path]) -> Browser:
    """Open the comparison in a light window."""
    return opened(browser, pages["three"])


@pytest.fixture
def one(browser: Browser, pages: dict[str, Path]) -> Browser:
    """Open the report of one run."""
    return opened(browser, pages["one"])


def opened(browser: Browser, page: Path) -> Browser:
    browser.said.clear()
    browser.asked.clear()
    browser.media()
    browser.resize(1280, 900)
    browser.open(page)
    return browser


def lines(browser: Browser, name: str) -> int:
    return int(browser.value(LINES.format(name)))


def tab_to(browser: Browser, wanted: str) -> None:
    """Press Tab until the element in focus is the one of this selector."""
    for _ in range(200):
        if browser.value(f"document.activeElement.matches({wanted!r})"):
            return
        browser.key("Tab", 9)
    raise AssertionError(f"Tab never comes to {wanted}")


def colour(browser: Browser, what: str, element: str = "document.body") -> str:
    return str(browser.value(f"getComputedStyle({element}).{what}"))


def test_all_figures_are_drawn_without_a_word_or_a_request(three: Browser) -> None:
    empty = """[...document.querySelectorAll('.chart')].filter((chart) => {
      const marks = chart.querySelectorAll('svg g[class*=mark-] path, svg g[class*=mark-] line');
      return ![...marks].some((mark) => mark.getBBox().width + mark.getBBox().height > 5);
    }).map((chart) => chart.id)"""
    assert three.value(empty) == []
    assert three.value("document.querySelectorAll('.chart svg.marks').length") == len(FIGURES)
    assert three.said == []
    page = three.value("location.href")
    assert set(three.asked) == {page}


def test_a_single_run_is_drawn_too(one: Browser) -> None:
    assert one.value("document.querySelectorAll('.chart svg.marks').length") == len(FIGURES) - 1
    assert one.said == []
    # Median, p99, p99.9 and the longest are lines of their own.
    assert lines(one, TIME) == 4


def test_an_article_is_drawn_too(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "article.html"
    page.write_text(render_article(article()))
    opened(browser, page)
    assert browser.value("document.querySelectorAll('.chart svg.marks').length") == 2
    assert browser.said == []
    browser.value("document.getElementById('scheme').click()")
    assert colour(browser, "backgroundColor") == "rgb(23, 24, 26)"


def test_ten_runs_have_their_names_at_their_bars_on_a_telephone(
    browser: Browser, tmp_path: Path
) -> None:
    runs = rp.compare(tomllib.loads(SMALL), TEN, workload__requests=300, series=True)
    runs.report(tmp_path / "ten.html")
    opened(browser, tmp_path / "ten.html")
    browser.resize(390, 900)
    browser.open(tmp_path / "ten.html")
    assert browser.said == []
    assert browser.value("document.documentElement.scrollWidth") <= 390
    # A long name in the list of runs stays in its box.
    longer = "document.querySelector('.runs label').append('policy=PES-IPC max_per_operation=10')"
    browser.value(longer)
    right = "Math.max(...[...document.querySelectorAll('{}')].map({})) "
    far = "(each) => Math.max(...[...each.getClientRects()].map((one) => one.right))"
    label, box = (browser.value(right.format(what, far)) for what in (".runs label", ".runs"))
    assert label <= box
    for figure in ("bars", "components-read", "slow-write"):
        words = f"[...document.querySelectorAll('#chart-{figure} .mark-text.role-mark text')]"
        inside = "(text) => text.getBoundingClientRect()"
        names = browser.value(f"{words}.map((text) => text.textContent)")
        assert [name for name in names if "=" in name] == list(runs)
        frame = browser.value(f"({inside})(document.querySelector('#chart-{figure} svg')).right")
        assert max(browser.value(f"{words}.map({inside}).map((box) => box.right)")) <= frame
        # None lies on another: a line of text is some 13 pixels high.
        tops = browser.value(f"{words}.filter((text) => text.textContent.includes('=')).map("
                             "(text) => text.getBoundingClientRect().top)")  # fmt: skip
        assert all(after - before > 13 for before, after in pairwise(tops))


def test_of_ten_runs_one_measure_is_shown_and_runs_can_be_taken_out(
    browser: Browser, tmp_path: Path
) -> None:
    runs = rp.compare(tomllib.loads(SMALL), TEN, workload__requests=300, series=True)
    runs.report(tmp_path / "ten.html")
    opened(browser, tmp_path / "ten.html")
    words = "[...document.querySelectorAll('#chart-bars .mark-text.role-mark text')]"
    shown = f"{words}.map((text) => text.textContent)"
    for measure in ("read mean", "write mean"):
        browser.value(f"document.querySelector(`input[value='{measure}']`).click()")
        browser.settle()
        op, _, figure = measure.partition(" ")
        found = {
            label: run.summary["requests"][op]["latency_ns"][figure] for label, run in runs.items()
        }
        drawn = [float(text) for text in browser.value(shown) if "=" not in text]
        # Three digits are shown.
        ratios = [value / found[runs.bases[label]] for label, value in found.items()]
        assert drawn == pytest.approx(ratios, rel=0.006)
    browser.value("document.querySelector('.runs input').click()")
    browser.settle()
    assert [text for text in browser.value(shown) if "=" in text] == list(runs)[1:]


def test_runs_can_be_taken_out_by_keyboard(three: Browser) -> None:
    assert (lines(three, TIME), lines(three, "cdf-read")) == (3, 3)
    tab_to(three, ".runs input")
    three.key(" ", 32, " ")
    assert (lines(three, TIME), lines(three, "cdf-read")) == (2, 2)
    three.key(" ", 32, " ")
    assert (lines(three, TIME), lines(three, "cdf-read")) == (3, 3)


def test_lines_of_one_run_can_be_taken_out(one: Browser) -> None:
    tab_to(one, f"input[data-figure='{TIME}']")
    one.key(" ", 32, " ")
    assert lines(one, TIME) == 3


def test_a_comparison_shows_one_measure_at_a_time(three: Browser) -> None:
    picked = f"document.querySelector('input[data-figure=\"{TIME}\"]:checked').value"
    path = f"document.querySelector('#chart-{TIME} .mark-line path').getAttribute('d')"
    assert three.value(picked) == "p99"
    before = three.value(path)
    tab_to(three, f"input[data-figure='{TIME}']")
    three.key("ArrowRight", 39)
    assert three.value(picked) == "p99.9"
    assert lines(three, TIME) == 3
    three.key("ArrowLeft", 37)
    three.key("ArrowLeft", 37)
    assert three.value(picked) == "median"
    assert three.value(path) != before


def test_time_is_read_and_zoomed_by_keyboard(three: Browser, runs: rp.Comparison) -> None:
    tab_to(three, f"#chart-{TIME}")
    read = f"document.getElementById('at-{TIME}').textContent"
    three.key("ArrowRight", 39)
    said = str(three.value(read))
    assert all(f"{label} " in said for label in runs), said
    end = max(run.summary["device"]["simulated_ns"] for run in runs.values()) / 1e9
    scale = "document.getElementById('period').textContent"
    three.key("+", 187, "+")
    begin, until = (float(word) for word in str(three.value(scale)).split()[:3:2])
    assert (begin, until) == pytest.approx((end / 4, 3 * end / 4), rel=1e-3)
    # All charts over time show the same period: their axes have the same labels.
    axes = """[...document.querySelectorAll('.over-time .chart')].map((chart) =>
      [...chart.querySelectorAll('.role-axis-label text')].map((text) => text.textContent)
        .filter((text) => text && Number(text.replace(',', '')) > 0).length > 0)"""
    assert set(three.value(axes)) == {True}
    three.key("PageDown", 34)
    assert float(str(three.value(scale)).split()[2]) == pytest.approx(end, rel=1e-3)
    three.key("0", 48, "0")
    assert float(str(three.value(scale)).split()[0]) == 0


def test_a_period_is_chosen_by_dragging(three: Browser, runs: rp.Comparison) -> None:
    three.value(f"document.getElementById('chart-{TIME}').scrollIntoView({{block: 'center'}})")
    # The plot itself, without its axes.
    frame = f"#chart-{TIME} .mark-group.role-frame > g > .background"
    box = three.value(
        f"(() => {{ const b = document.querySelector('{frame}').getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]; })()"
    )
    left, top, width, height = box
    mouse = {"y": top + height / 2, "button": "left", "clickCount": 1}
    for kind, share in (("mousePressed", 0.25), ("mouseMoved", 0.5), ("mouseReleased", 0.5)):
        three.send("Input.dispatchMouseEvent", type=kind, x=left + share * width, **mouse)
    three.settle()
    text = str(three.value("document.getElementById('period').textContent"))
    begin, until = (float(word.replace(",", "")) for word in text.split()[:3:2])
    end = max(run.summary["device"]["simulated_ns"] for run in runs.values()) / 1e9
    # To a pixel or two of some hundred.
    assert (begin, until) == pytest.approx((end / 4, end / 2), abs=0.01 * end)


def test_numbers_below_a_chart_are_those_of_the_run(one: Browser, runs: rp.Comparison) -> None:
    tab_to(one, "#table-dies summary")
    one.key("Enter", 13, "\r")
    rows = one.value(
        "[...document.querySelectorAll('#table-dies tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    series = runs["PES-IPC"].series
    assert series is not None
    whole_ns = runs["PES-IPC"].summary["device"]["simulated_ns"]
    expected = []
    for channel, busy_ns in enumerate(series.channel_busy_ns.tolist()):
        per = len(series.die_busy_ns) // len(series.channel_busy_ns)
        expected.append([str(channel), "channel", busy_ns / whole_ns])
        for die in range(per):
            die_busy_ns = series.die_busy_ns[channel * per + die]
            expected.append([str(channel), f"die {die}", die_busy_ns / whole_ns])
    assert [row[1:3] for row in rows] == [row[:2] for row in expected]
    found = [float(row[3]) for row in rows]
    assert found == pytest.approx([float(row[2]) for row in expected], rel=1e-3)


def test_dark_and_light_follow_the_desktop_and_the_button(three: Browser) -> None:
    line = f"document.querySelector('#chart-{TIME} .mark-line path')"
    light = colour(three, "backgroundColor"), colour(three, "stroke", line)
    assert light == ("rgb(255, 255, 255)", "rgb(85, 85, 85)")
    three.media(scheme="dark")
    dark = colour(three, "backgroundColor"), colour(three, "stroke", line)
    assert dark == ("rgb(23, 24, 26)", "rgb(196, 196, 196)")
    tab_to(three, "#scheme")
    assert three.value("document.activeElement.textContent") == "Light page"
    three.key("Enter", 13, "\r")
    assert (colour(three, "backgroundColor"), colour(three, "stroke", line)) == light
    three.key("Enter", 13, "\r")
    assert (colour(three, "backgroundColor"), colour(three, "stroke", line)) == dark
    three.media("print", "dark")
    assert (colour(three, "backgroundColor"), colour(three, "stroke", line)) == light


def test_paper_has_charts_with_legends_and_no_switches(three: Browser) -> None:
    three.media("print")
    hidden = "[...document.querySelectorAll('.bar, #scheme, .table, .picks input')]"
    assert three.value(f"{hidden}.every((part) => part.getClientRects().length === 0)")
    legend = f"document.querySelector('#chart-{TIME}').parentElement.querySelector('.print-legend')"
    assert three.value(f"{legend}.getClientRects().length") > 0
    assert three.paper().startswith(b"%PDF")


@pytest.mark.parametrize("width", [320, 400, 1920])
def test_no_window_has_to_be_scrolled_sideways(three: Browser, width: int) -> None:
    three.resize(width, 800)
    three.settle()
    assert three.value("document.documentElement.scrollWidth") <= width
