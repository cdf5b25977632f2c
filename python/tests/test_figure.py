"""Figures for papers: their size, their fonts, and lines that differ in grey."""

from __future__ import annotations

import re
import struct
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.plot import Figure
from reprieve.plot.theme import paper

from .drive import SMALL

POLICIES = ["FIFO", "RPS", "PES-IPS", "PES-IPC", "PE0"]


@pytest.fixture(scope="module")
def runs() -> rp.Comparison:
    return rp.compare(tomllib.loads(SMALL), {"policy": POLICIES}, series=True)


@pytest.fixture
def tail(runs: rp.Comparison) -> Figure:
    return runs.plot.tail("read")


@pytest.mark.parametrize(("width", "mm"), [("column", 85), ("page", 178)])
def test_a_figure_has_the_width_of_a_column_or_a_page(
    tail: Figure, tmp_path: Path, width: str, mm: int
) -> None:
    for kind in ("svg", "pdf", "png"):
        tail.save(tmp_path / f"f.{kind}", width)  # type: ignore[arg-type]
    svg = (tmp_path / "f.svg").read_text()
    found = re.match(
        r'<svg [^>]*width="(\d+)mm" height="([\d.]+)mm" viewBox="0 0 (\d+) (\d+)"', svg
    )
    assert found is not None
    # 96 pixels are 25.4 mm, and height is to width as in the drawing.
    assert (int(found[1]), int(found[3])) == (mm, round(mm * 96 / 25.4))
    assert float(found[2]) == pytest.approx(mm * int(found[4]) / int(found[3]), abs=0.01)
    pdf = (tmp_path / "f.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
    assert box is not None and float(box[1]) == pytest.approx(mm / 25.4 * 72, abs=0.1)
    png = (tmp_path / "f.png").read_bytes()
    across = struct.unpack(">I", png[16:20])[0]
    # 300 dots an inch, of as many whole pixels as the drawing has.
    assert across == pytest.approx(mm / 25.4 * 300, abs=2)


def test_fonts_are_generic_or_embedded_and_the_ground_is_white(
    tail: Figure, tmp_path: Path
) -> None:
    svg = tail.svg()
    assert re.search(r'<svg [^>]*><rect width="\d+" height="\d+" fill="white"', svg)
    families = {family.split(", ")[-1] for family in re.findall(r'font-family="([^"]*)"', svg)}
    assert families == {"sans-serif"}
    assert ">PES-IPC</text>" in svg, "text is text"
    tail.save(tmp_path / "f.pdf")
    assert b"/FontFile" in (tmp_path / "f.pdf").read_bytes()


def luma(colour: str) -> float:
    """Return how light a colour is in grey, after ITU-R BT.601."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def test_lines_and_bars_differ_in_grey(runs: rp.Comparison) -> None:
    for count in range(2, 7):
        lightness = [luma(colour) for colour in paper(321).run_colours(count)]
        assert lightness == sorted(lightness)
        steps = [after - before for before, after in pairwise(lightness)]
        assert min(steps) > 0.08, "each is lighter than the one before, by an eighth of the range"
        assert lightness[-1] < 0.75, "and none is lost on white"
    # Of five lines four have dashes, each in their line and in the legend.
    svg = runs.plot.tail("read").svg()
    dashes = re.findall(r'stroke-dasharray="([\d.,]+)"', svg)
    assert len({*dashes} - {"1,0"}) == 4
    assert all(dashes.count(one) >= 2 for one in {*dashes})


def test_legends_of_lines_have_lines_and_the_tooltips_stay_out(tail: Figure) -> None:
    svg = tail.svg()
    symbols = svg[svg.index("role-legend-symbol") :]
    # A symbol that is a stroke goes from left to right of its middle.
    assert re.search(r'd="M-10,0L10,0"', symbols)
    assert "role-legend-symbol" in svg and 'opacity="0"' not in svg
    assert tail.chart.to_dict()["layer"], "the chart to change has them"


@pytest.mark.parametrize(
    "name", ["cdf", "components", "qos", "bars", "suspended", "busy", "over_time"]
)
def test_every_plot_is_a_figure(runs: rp.Comparison, name: str) -> None:
    assert getattr(runs.plot, name)().svg("page").startswith("<svg")


def test_a_notebook_shows_a_picture_without_a_network(tail: Figure, tmp_path: Path) -> None:
    shown = tail._repr_mimebundle_(include=None)
    assert [*shown] == ["image/svg+xml"]
    assert "<script" not in shown["image/svg+xml"]
    tail.save(tmp_path / "f.html")
    assert not re.search(r"<script[^>]* src=", (tmp_path / "f.html").read_text())


def test_other_widths_and_kinds_are_refused(tail: Figure, tmp_path: Path) -> None:
    with pytest.raises(rp.UserError, match='width = "wide": must be "column" or "page"'):
        tail.save(tmp_path / "f.svg", "wide")  # type: ignore[arg-type]
    with pytest.raises(rp.UserError, match=r"f\.jpg: must end in \.svg, \.pdf, \.png, \.html"):
        tail.save(tmp_path / "f.jpg")
    with pytest.raises(rp.UserError, match="cannot write here"):
        tail.save(tmp_path / "no" / "f.svg")
    assert [*tmp_path.iterdir()] == []
