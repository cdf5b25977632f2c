"""Colours of the charts: safe for the colour-blind, and paired with dashes where they tell runs."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

# After Okabe and Ito, "Color Universal Design", 2008; the base of a comparison is neutral.
RUNS_LIGHT = (
    "#555555", "#0072b2", "#d55e00", "#008c66", "#b8568f", "#b37a00", "#3d9bd1", "#7a6a00",
    "#6a3d9a", "#8c2d2d",
)  # fmt: skip
RUNS_DARK = (
    "#c4c4c4", "#56b4e9", "#ff8c4d", "#2fc99b", "#e79ac6", "#f0b93a", "#a3d8ff", "#d8c45c",
    "#b497dc", "#e0696d",
)  # fmt: skip

_TABLES: dict[str, dict[str, tuple[str, str, str]]] = tomllib.loads(
    Path(__file__).with_name("colours.toml").read_text(encoding="utf-8")
)
COMPONENTS, BLAME = _TABLES["components"], _TABLES["blame"]
"""Components of a request's time, and causes of its waiting: label, colour in light and in dark."""

# Steps of cividis (Nuñez, Anderton and Renslow, 2018), whose lightness rises evenly.
_STEPS = ((0, 32, 77), (65, 77, 107), (124, 123, 120), (188, 175, 111), (255, 234, 70))
_LIGHTEST = 0.75


def _shade(share: float) -> str:
    """Return the colour at this share of the way from dark to light."""
    at = share * (len(_STEPS) - 1)
    low, high = _STEPS[int(at)], _STEPS[min(int(at) + 1, len(_STEPS) - 1)]
    mixed = (round(a + (at % 1) * (b - a)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


# The first is solid; the patterns differ at a glance and repeat less often than the colours.
_DOTS = [1, 6]
"""Of a bound."""
_DASHES = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3], [4, 2], [12, 4], [1, 3])


@dataclass(frozen=True)
class Theme:
    """Colours, font and size of a chart; any CSS colour."""

    runs: Sequence[str]
    parts: Mapping[str, str]
    """Colour of each of `COMPONENTS` and `BLAME`."""
    ink: str
    paper: str
    """Background."""
    muted: str
    grid: str
    font: str = "system-ui, sans-serif"
    width: int | Literal["container"] = 480
    """In pixels, or as wide as the page's element."""
    font_px: int = 12
    line_px: float = 2
    background: str = "transparent"
    is_paper: bool = False
    """Whether it is printed: without tooltips, and in shades that differ in grey, too."""
    legends: bool = True
    """Whether charts have legends; the report has its own beside them."""
    store_rows: Callable[[list[dict[str, Any]]], str] | None = None
    """Stores the rows of a chart and returns their name, as each step of building a chart copies
    its rows. None: they are in the chart."""

    def run_colours(self, count: int) -> list[str]:
        """Colours for this many runs, repeated where they do not suffice."""
        return self.shades([self.runs[index % len(self.runs)] for index in range(count)])

    def shades(self, colours: Sequence[str]) -> list[str]:
        """Return colours as they are; for print as many others, from dark to light."""
        if not self.is_paper:
            return list(colours)
        steps = max(len(colours) - 1, 1)
        return [_shade(_LIGHTEST * index / steps) for index in range(len(colours))]

    def config(self) -> dict[str, Any]:
        """Vega-Lite's configuration."""
        return {
            "background": self.background,
            "font": self.font,
            "view": {"stroke": None},
            "axis": {
                "labelColor": self.muted,
                "titleColor": self.muted,
                "titleFontWeight": "normal",
                "gridColor": self.grid,
                "domainColor": self.grid,
                "tickColor": self.grid,
                "labelFontSize": self.font_px,
                "titleFontSize": self.font_px,
            },
            "legend": {
                "labelColor": self.ink,
                "titleColor": self.muted,
                "labelFontSize": self.font_px,
            },
            "title": {"color": self.ink, "anchor": "start", "fontSize": self.font_px + 2},
        }


def dashes(count: int, are_bounds: Sequence[bool] = ()) -> list[list[int]]:
    """Dash patterns for this many runs; those that no drive can have are dotted."""
    found = [_DASHES[index % len(_DASHES)] for index in range(count)]
    for index, is_bound in enumerate(are_bounds):
        found[index] = _DOTS if is_bound else found[index]
    return found


LIGHT = Theme(
    runs=RUNS_LIGHT,
    parts={name: light for name, (_, light, _) in (COMPONENTS | BLAME).items()},
    ink="#1b1b1b",
    paper="#ffffff",
    muted="#4d4d4d",
    grid="#dddddd",
)
"""For a white page."""


def paper(width_px: int) -> Theme:
    """Return the theme of a figure for print, this wide with all its labels."""
    return replace(
        LIGHT,
        font="Helvetica, Arial, sans-serif",
        width=width_px,
        font_px=10,
        line_px=1.25,
        background="white",
        is_paper=True,
    )


PAGE = Theme(
    runs=[f"var(--run-{index})" for index in range(len(RUNS_LIGHT))],
    parts={name: f"var(--{name.replace('_', '-')})" for name in COMPONENTS | BLAME},
    ink="var(--ink)",
    paper="var(--page)",
    muted="var(--muted)",
    grid="var(--grid)",
    width="container",
    legends=False,
)
"""For the report: colours are names to which its style sheet gives a value, light and dark."""
