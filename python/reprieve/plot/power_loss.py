"""Chart of losses of power: how long it takes, and how much energy, until all is safe."""

from collections.abc import Sequence
from typing import Any, cast

import altair as alt

from reprieve.plot.charts import Chart, chart_of, dashed, legend_of
from reprieve.plot.rows import Row, rounded
from reprieve.plot.theme import Theme

_WIDTH = 260
_HEIGHT = 200
_POLICIES = {
    "wait": "waits",
    "suspend_erase": "suspends erases",
    "suspend": "suspends both",
    "reset": "resets both",
}
"""Treatment of blocking erases and programs, by policy."""


def cuts(rows: Sequence[dict[str, Any]], theme: Theme) -> Chart:
    """Draw the share of instants at or below each time, in ms, and each energy, in µJ.

    `rows` are those of `PowerLoss.rows`; a line is a policy.
    """
    policies = [name for name in _POLICIES if any(row["policy"] == name for row in rows)]
    panels = [
        _panel(rows, policies, theme, "time_to_safety_ns", 1e6, "time until all is safe, ms"),
        _panel(rows, policies, theme, "energy_uj", 1.0, "energy until then, µJ"),
    ]
    whole = alt.hconcat(*panels).resolve_scale(color="shared", strokeDash="shared")
    whole = whole.properties(title=f"Power fails at {len(rows) // len(policies):,} instants")
    return cast("Chart", whole.configure(**theme.config()))


def _panel(
    rows: Sequence[dict[str, Any]],
    policies: Sequence[str],
    theme: Theme,
    key: str,
    unit: float,
    title: str,
) -> alt.Chart:
    data: list[Row] = []
    for policy in policies:
        values = sorted(row[key] / unit for row in rows if row["policy"] == policy)
        for number, value in enumerate(values, 1):
            share = number / len(values)
            data.append({"policy": _POLICIES[policy], "value": rounded(value), "share": share})
    words = [_POLICIES[policy] for policy in policies]
    colour = alt.Scale(domain=words, range=theme.run_colours(len(words)))
    legend = legend_of(theme, len(words))
    lines = chart_of(data, theme).encode(
        x=alt.X("value:Q", title=title).axis(format=",~r", tickCount=5),
        y=alt.Y("share:Q", title="share of instants").axis(format=".0%", tickCount=5),
        color=alt.Color("policy:N", scale=colour, legend=legend),
        strokeDash=dashed("policy", words, legend),
    )
    lines = lines.mark_line(interpolate="step-after", strokeWidth=theme.line_px)
    return cast("alt.Chart", lines.properties(width=_WIDTH, height=_HEIGHT))
