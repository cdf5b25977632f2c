"""The report: offline, complete, and without an error in a browser."""

from __future__ import annotations

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.plot.rows import Row, ratios
from reprieve.report.figures import swatches
from reprieve.report.named_datasets import compact
from reprieve.report.page import render
from reprieve.report.tables import suspensions

from .drive import SMALL, Reprieve
from .vega import check_charts

TIMES = (
    *("read-latency", "write-latency", "requests", "bandwidth", "open-requests"),
    *("suspensions", "programs", "amplification", "busy"),
)
FIGURES = {
    *(f"{kind}-{op}" for kind in ("cdf", "tail", "components") for op in ("read", "write")),
    *("qos", "bars", "suspended", "busy"),
    *(f"time-{name}" for name in TIMES),
    *("slow-read", "slow-write", "ages", "dies", "wear"),
}


class Page(HTMLParser):
    """Collects what the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._open in ("td", "th", "dd", "code", "h1", "pre") and data.strip():
            self.cells.append(data.strip())


@pytest.fixture(scope="module")
def comparison() -> rp.Comparison:
    """Two runs to report on; one has a name that HTML must not take for a tag."""
    return rp.compare(tomllib.loads(SMALL), {"policy": ["FIFO", "PES-IPC"]}, series=True)


@pytest.fixture(scope="module")
def report(comparison: rp.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of a report over both."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    comparison.report(path, "reprieve compare '<b>.toml' </script>")
    return path


def test_nothing_is_fetched(report: Path) -> None:
    text = report.read_text()
    page = Page(text)
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "base")]
    assert not [attributes for _, attributes in page.tags if attributes.keys() & {"src", "href"}]
    policy = next(a["content"] for t, a in page.tags if "http-equiv" in a)
    assert policy is not None and policy.startswith("default-src 'none';")
    # The library has addresses in its messages; the page only has the name of the charts' schema.
    before, _, rest = text.partition("<script>")
    _, _, after = rest.partition("</script>")
    assert set(re.findall(r"https?://([\w.]+)", before + after)) == {"vega.github.io"}
    assert len(text) < 3_000_000


def test_text_cannot_become_markup(report: Path) -> None:
    page = Page(report.read_text())
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert "reprieve compare '<b>.toml' </script>" in page.cells


def test_numbers_are_those_of_the_summaries(report: Path, comparison: rp.Comparison) -> None:
    cells = Page(report.read_text()).cells
    first = comparison["FIFO"].summary["requests"]["read"]["latency_ns"]["p99"]
    ours = comparison["PES-IPC"].summary["requests"]["read"]["latency_ns"]["p99"]
    assert f"{first / 1000:,.1f} (×1.00)" in cells
    cell = next(cell for cell in cells if cell.startswith(f"{ours / 1000:,.1f} (×"))
    assert float(cell.partition("×")[2].rstrip(")")) == pytest.approx(ours / first, rel=0.05)
    assert {"fast12-mlc", "7", f"Reprieve {rp.__version__}"} <= set(cells)
    for result in comparison.values():
        assert result.scenario.strip() in cells


def test_every_latency_has_its_interval_or_says_why_not(
    report: Path, comparison: rp.Comparison
) -> None:
    text = report.read_text()
    for result in comparison.values():
        for op in ("read", "write"):
            group = result.summary["requests"][op]
            low, high = group["confidence"]["mean"]
            mean = f"{group['latency_ns']['mean'] / 1000:,.1f} (×"
            assert re.search(
                rf"{re.escape(mean)}[\d.]+\)<small>{low / 1000:,.1f} to {high / 1000:,.1f}<", text
            )
            # 3000 requests are far too few for the sixth of these.
            assert group["confidence"]["p99_99"] is None
    # In each of two runs: the p99 of 2,100 reads has no interval. Their p99.9, and the p99 of 900
    # writes, have fewer than ten requests beyond them, and no column.
    assert text.count("<small>too few</small>") == 2
    assert not re.findall(r">\s*too few\s*</td>", text)
    assert "<th>p99.9</th>" not in text
    note = "too few requests for an interval of read p99"
    assert f'<p class="note">{note}: FIFO and PES-IPC</p>' in text


def test_whiskers_are_the_intervals(comparison: rp.Comparison) -> None:
    rows = {(row["run"], row["metric"]): row for row in ratios(comparison)}
    pair = comparison.paired("PES-IPC", "FIFO")["read_latency_ns_mean"]
    row = rows["PES-IPC", "read mean"]
    assert (row["low"], row["high"]) == (pair["ratio_low"], pair["ratio_high"])
    assert row["low"] < row["ratio"] < row["high"] == row["end"]
    assert "low" not in rows["FIFO", "read mean"]
    assert "low" not in rows["PES-IPC", "read p99"]
    assert ("PES-IPC", "read p99.9") not in rows


def test_the_sentence_comes_first_then_the_picture_and_why_before_what(report: Path) -> None:
    text = report.read_text()
    order = ['class="lead"', 'class="bar"', 'id="chart-bars"', 'id="causes"', 'id="headline"']
    places = [text.index(mark) for mark in order]
    assert places == sorted(places)
    assert '<details class="decided" open>' in text, "of two runs there is one sentence"


def test_what_was_not_written_has_no_amplification() -> None:
    axes = {"workload.read_fraction": [0.5, 1.0]}
    runs = rp.compare(tomllib.loads(SMALL), axes, workload__requests=300)
    told = suspensions(runs)
    place = told.columns.index("WAF")
    assert told.rows["1.0"][place] == "–"
    assert float(told.rows["0.5"][place]) >= 1


def test_of_many_runs_what_is_decided_is_folded() -> None:
    axes = {"timing.t_read_us": [25, 50, 75, 100, 125, 150]}
    runs = rp.compare(tomllib.loads(SMALL), axes, workload__requests=300)
    text = render(runs, "command")
    assert '<details class="decided"><summary>' in text
    # 300 requests are too few for ten batches; each of five runs says so against the first.
    assert text.count(" against 25: ") == 5


def test_every_figure_has_its_place(report: Path) -> None:
    text = report.read_text()
    found = re.search(r'<script type="application/json" id="specs">(.*?)</script>', text, re.S)
    assert found is not None
    specs = json.loads(found[1])
    assert set(specs) == FIGURES
    places = {a["id"] for tag, a in Page(text).tags if tag == "div" and "id" in a}
    assert places == {f"chart-{name}" for name in specs}
    for spec in specs.values():
        assert spec["description"].endswith(".")
    check_charts(report)


TEN: dict[str, list[Any]] = {
    "policy": ["FIFO", "RPS", "PES-IPS", "PES-IPC", "PE0"],
    "workload.request_bytes": [8192, 16384],
}


def test_ten_runs_are_told_apart(tmp_path: Path) -> None:
    runs = rp.compare(tomllib.loads(SMALL), TEN, workload__requests=300)
    assert len(runs) == 10
    runs.report(tmp_path / "report.html")
    check_charts(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<h1>fast12-mlc: 10 runs</h1>" in text
    assert "too few requests for an interval of read mean and write mean: all 10 runs</p>" in text
    assert len({swatch["colour"] for swatch in swatches(list(runs))}) == 10
    # One measure is shown at a time, and its bars have names.
    chosen = re.findall(r'data-figure="bars" value="([^"]*)"( checked)?', text)
    # About 210 reads and 90 writes have no p99.
    assert [word for word, _ in chosen] == ["read mean", "write mean"]
    assert [word for word, checked in chosen if checked] == ["read mean"]


def test_single_run_has_no_comparison(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--report", "--requests", "--out", "o").returncode == 0
    check_charts(tmp_path / "o" / "report.html")
    text = (tmp_path / "o" / "report.html").read_text()
    assert "chart-bars" not in text and 'class="runs"' not in text
    assert f"reprieve run {small} --report --requests --out o" in Page(text).cells


def test_a_run_that_was_not_watched_is_reported_without_time(tmp_path: Path) -> None:
    rp.run(tomllib.loads(SMALL), workload__requests=200).report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "chart-cdf-read" in text
    assert "chart-time-" not in text and 'data-move="in"' not in text


def test_ten_times_the_requests_make_no_larger_page(tmp_path: Path) -> None:
    sizes = []
    for requests in (3000, 30_000):
        result = rp.run(tomllib.loads(SMALL), workload__requests=requests, series=True)
        result.report(tmp_path / "report.html")
        sizes.append((tmp_path / "report.html").stat().st_size)
    # Bins of time are 257 to 512, whatever the length; the library is 0.9 MB.
    assert sizes[1] < 1.2 * sizes[0]
    assert max(sizes) < 1_500_000


def test_rows_by_column_are_the_rows() -> None:
    rows: list[Row] = [
        {"run": "a", "x": 1},
        {"run": "b", "x": None},
        {"run": "a", "x": 2.5, "low": 1},
    ]
    assert compact(rows) == {
        "columns": {
            "run": {"words": ["a", "b"], "at": [0, 1, 0]},
            "x": [1, None, 2.5],
            "low": [None, None, 1],
        },
        "rows": 3,
    }
