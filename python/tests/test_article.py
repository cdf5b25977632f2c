"""Articles: one page without network, figures as files, nothing unescaped."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from reprieve.outputs import ResultDirectory
from reprieve.parallel import each
from reprieve.plot import LIGHT
from reprieve.simulation import Watch
from reprieve_studies.article import (
    Article,
    Figure,
    Section,
    Table,
    render_article,
    write_article,
)
from reprieve_studies.charts import Bars, Lines
from reprieve_studies.verdicts import Verdict

from .vega import check_charts

BARS = Bars({(d, w, p): 0.5 for d in ("SLC", "MLC") for w in ("a", "b") for p in ("x", "y")}, "y")
LINES = Lines([{"series": "s", "x": 1, "y": 2.0, "low": 1.5, "high": 2.5}], "x", "y")


def article() -> Article:
    return Article(
        title="A <b> title",
        command="reprieve reproduce </script>",
        facts={"Seed": "1"},
        sections=[
            Section(
                "One & only",
                ["A sentence."],
                [Figure("bars", "Bars", "Both.", BARS.draw), Figure("l", "L", "", LINES.draw)],
                [Table("numbers", ["load", "ns"], [["a<i>", "1"]], folded=True)],
            )
        ],
        verdicts=[Verdict("reads", "Table 2", "ms", 10.0, 12.0, 1.0)],
    )


def test_mechanisms_and_headlines_come_before_absolute_numbers() -> None:
    rows = [
        Verdict(of, "Table 2", "ms", 10.0, 10.0, 1.0, of=of)
        for of in ("absolute", "headline", "mechanism")
    ]
    given = Verdict("given", "Table 2", "ms", 10.0, 10.0, 1.0, kind="input", of="mechanism")
    page = render_article(replace(article(), verdicts=[given, *rows]))
    found = re.findall(r'<th scope="row">(\w+)<small>', page)
    assert found == ["mechanism", "headline", "absolute", "given"]


def test_a_page_holds_everything_and_escapes_what_is_said() -> None:
    page = render_article(article())
    assert "A &lt;b&gt; title" in page
    assert "a&lt;i&gt;" in page
    assert "reproduce &lt;/script&gt;" in page
    assert "0 reproduced, 1 not reproduced" in page
    assert re.search(r'<(script|link|img)[^>]+(src|href)="http', page) is None
    specs = re.search(r'id="specs">(.*?)</script>', page, re.S)
    assert specs is not None
    assert set(json.loads(specs.group(1).replace("\\u003c", "<"))) == {"bars", "l"}
    assert 'id="chart-bars"' in page


def test_figures_are_files_that_a_paper_can_take(tmp_path: Path) -> None:
    with ResultDirectory(tmp_path / "out") as out:
        write_article(out, article())
        paths = out.commit()
    names = {str(path.relative_to(tmp_path / "out")) for path in paths}
    drawn = {f"figures/{name}.{kind}" for name in ("bars", "l") for kind in ("svg", "png")}
    assert names == {*drawn, "report.html", "verdicts.json"}
    check_charts(tmp_path / "out/report.html")
    # Files have the colours of another theme; Altair checks what is written as it is asked to here.
    assert all(chart.draw(LIGHT).to_dict() for chart in (BARS, LINES))
    svg = (tmp_path / "out/figures/bars.svg").read_text()
    assert svg.startswith("<svg")
    # Each of eight bars is a path with its value for those who cannot see it.
    assert svg.count("value: 0.5") == 8
    assert (tmp_path / "out/figures/bars.png").read_bytes().startswith(b"\x89PNG")


def test_a_directory_below_is_gone_again_if_nothing_is_committed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), ResultDirectory(tmp_path / "out") as out:
        write_article(out, article())
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_work_comes_back_in_the_order_of_the_items_and_the_first_error_stops_it() -> None:
    assert each([3, 1, 2], 2, lambda item, _watch: 10 * item) == [30, 10, 20]
    done: list[int] = []

    def one(item: int, watch: Watch) -> int:
        if item == 0:
            raise ValueError("the first")
        while True:  # ends only because the watch raises
            watch(None, 0)
            done.append(item)

    with pytest.raises(ValueError, match="the first"):
        each([1, 0], 2, one)
