"""Figures for papers and notebooks: white, of the width of a column, legible in grey."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import altair as alt
import vl_convert

from reprieve._native import UserError
from reprieve.outputs import whole_file
from reprieve.plot.charts import Chart
from reprieve.plot.theme import LIGHT, Theme, paper

Width = Literal["column", "page"]

WIDTHS_MM = {"column": 85.0, "page": 178.0}
"""Widths of one column of a journal, and of both."""

_PX_A_MM = 96 / 25.4
_DOTS_A_PX = 300 / 96
_SIZE = re.compile(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"')


def vega_lite_version() -> str:
    """Return the version that Altair writes its charts for: "v6.1.0" → "6.1"."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


class Figure:
    """A chart of results, which a notebook shows as a picture.

    Its other attributes are those of the Altair chart, `chart`.
    """

    def __init__(self, draw: Callable[[Theme], Chart]) -> None:
        self._draw = draw

    @property
    def chart(self) -> Chart:
        """The Altair chart, with tooltips, to change it."""
        return self._draw(LIGHT)

    def svg(self, width: Width = "column", unit: str = "mm") -> str:
        """Return the figure as SVG, 85 mm wide, or 178 as a "page"; its text stays text.

        `unit`: "mm", or "pt" without the word, which is what a PDF counts in.
        """
        if width not in WIDTHS_MM:
            raise UserError(f'width = "{width}": must be "column" or "page"')
        width_mm = WIDTHS_MM[width]
        spec = self._draw(paper(round(width_mm * _PX_A_MM))).to_dict(validate=False)
        if not {"hconcat", "vconcat", "concat"} & spec.keys():
            spec["autosize"] = {"type": "fit-x", "contains": "padding"}
        # Legends one below the other, which Altair's schema does not know.
        spec["config"]["legend"]["layout"] = {"bottom": {"direction": "vertical"}}
        text = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=vega_lite_version())
        found = _SIZE.match(text)
        assert found, "a figure without a size"
        across = width_mm if unit == "mm" else width_mm * 72 / 25.4
        word, down = unit.removeprefix("pt"), across * float(found[3]) / float(found[2])
        return f'{found[1]} width="{across:g}{word}" height="{down:.2f}{word}"{text[found.end() :]}'

    def png(self, width: Width = "column") -> bytes:
        """Return the figure as PNG, 300 dots an inch."""
        return bytes(vl_convert.svg_to_png(self.svg(width), scale=_DOTS_A_PX))

    def save(self, path: str | os.PathLike[str], width: Width = "column") -> None:
        """Write the figure for a paper: SVG, PDF or PNG (300 dpi), or HTML with tooltips.

        The end of the file's name says which. `width`: "column", 85 mm, or "page", 178 mm. Raises
        UserError for another width or end, or if the file cannot be written.
        """
        made: dict[str, Callable[[], bytes | str]] = {
            ".svg": lambda: self.svg(width),
            ".pdf": lambda: vl_convert.svg_to_pdf(self.svg(width, "pt")),
            ".png": lambda: self.png(width),
            ".html": lambda: self.chart.to_html(inline=True),
        }
        write = made.get(Path(path).suffix.lower())
        if write is None:
            raise UserError(f"{path}: must end in {', '.join(made)}")
        content = write()
        with whole_file(Path(path)) as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg("page")}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.chart, name)
