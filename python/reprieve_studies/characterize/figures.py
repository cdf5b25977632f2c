"""Charts in the form of Zambelli et al. (2021): a histogram, and maps over both delays."""

from collections.abc import Mapping
from dataclasses import dataclass

import altair as alt
import numpy as np

from reprieve.characterize import STEPS, Grid
from reprieve.plot import Chart, Theme, finished

_HEIGHT_HISTOGRAM = 240
_HEIGHT_MAP = 380
# Of viridis, the half of the scale on which black can be read.
_BRIGHT_FROM = 0.6


@dataclass(frozen=True)
class Histogram:
    """Programs by how often they were suspended."""

    counts: Mapping[int, int]

    def draw(self, theme: Theme) -> Chart:
        """Draw it."""
        rows = [{"suspensions": number, "count": count} for number, count in self.counts.items()]
        chart = alt.Chart(alt.InlineData(values=rows)).mark_bar(color=theme.run_colours(2)[1])
        chart = chart.encode(
            x=alt.X("suspensions:O", title="suspensions of a program").axis(labelAngle=0),
            y=alt.Y("count:Q", title="programs").axis(format=",~r", tickCount=6),
            tooltip=["suspensions:O", alt.Tooltip("count:Q", format=",")],
        )
        return finished(chart, theme, _HEIGHT_HISTOGRAM)


@dataclass(frozen=True)
class BeforeAfterBars:
    """A rate of each block before the test, and beside it the one after."""

    rates: Mapping[str, tuple[float, float]]

    def draw(self, theme: Theme) -> Chart:
        """Draw it."""
        rows = [
            {"block": block, "when": when, "rate": rate}
            for block, pair in self.rates.items()
            for when, rate in zip(("before", "after"), pair, strict=True)
        ]
        when = alt.Scale(domain=["before", "after"], range=theme.run_colours(2))
        chart = alt.Chart(alt.InlineData(values=rows)).mark_bar()
        chart = chart.encode(
            x=alt.X("block:N", title=None, sort=None).axis(labelAngle=0),
            xOffset=alt.XOffset("when:N", sort=["before", "after"]),
            y=alt.Y("rate:Q", title="raw bit errors a bit").axis(format=".1e", tickCount=6),
            color=alt.Color("when:N", scale=when, legend=alt.Legend(title=None, orient="bottom")),
            tooltip=["block:N", "when:N", alt.Tooltip("rate:Q", format=".3e")],
        )
        return finished(chart, theme, _HEIGHT_HISTOGRAM)


@dataclass(frozen=True)
class Map:
    """A colour and a number for each pair of delays; pairs without a number stay empty."""

    cells: Grid
    title: str
    """Of the colours."""
    decimals: int = 1

    def draw(self, theme: Theme) -> Chart:
        """Draw it, the shortest delays at the lower left."""
        rows = [
            {
                "delay1": 100 * (one + 1) // STEPS,
                "delay2": 100 * (two + 1) // STEPS,
                "value": float(self.cells[one, two]),
            }
            for one in range(STEPS)
            for two in range(STEPS)
            if np.isfinite(self.cells[one, two])
        ]
        percents = [100 * step // STEPS for step in range(1, STEPS + 1)]
        x = alt.X("delay1:O", title="Delay1, % of tPGM", scale=alt.Scale(domain=percents))
        y = alt.Y("delay2:O", title="Delay2, % of tPGM", scale=alt.Scale(domain=percents[::-1]))
        values = [row["value"] for row in rows]
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        # One colour needs a scale with two ends all the same.
        high = high if high > low else low + 1.0
        colour = alt.Color(
            "value:Q",
            scale=alt.Scale(scheme="viridis", domain=[low, high]),
            legend=alt.Legend(title=self.title, orient="bottom", gradientLength=240),
        )
        form = f".{self.decimals}f"
        base = alt.Chart(alt.InlineData(values=rows)).encode(x=x.axis(labelAngle=0), y=y)
        tiles = base.mark_rect().encode(
            color=colour,
            tooltip=[
                alt.Tooltip("delay1:O", title="Delay1, %"),
                alt.Tooltip("delay2:O", title="Delay2, %"),
                alt.Tooltip("value:Q", title=self.title, format=form),
            ],
        )
        is_bright = f"datum.value >= {low + _BRIGHT_FROM * (high - low)!r}"
        numbers = base.mark_text(fontSize=11).encode(
            text=alt.Text("value:Q", format=form),
            color=alt.condition(is_bright, alt.value("black"), alt.value("white")),
        )
        return finished(tiles + numbers, theme, _HEIGHT_MAP)
