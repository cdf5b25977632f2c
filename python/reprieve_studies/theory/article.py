"""The report of a validation: a section a family, with its figure and its numbers."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import altair as alt

from reprieve.plot import Chart, Theme, dashes
from reprieve_studies.article import Article, Figure, Section, Table
from reprieve_studies.theory import Settings, Validation
from reprieve_studies.theory.checks import ERRORS, Axes, Curve, Family, Verified
from reprieve_studies.theory.families import ABOUT, FAMILIES

_HEIGHT = 280
_WHOLE = 10_000
"""From here on a number is written without decimals."""
_OUTCOMES = {True: "agrees", False: "differs", None: "not enough samples"}


def article(validation: Validation, settings: Settings) -> Article:
    """Put the report together."""
    by_name = {family.name: family for family in FAMILIES}
    sections = [_section(by_name[name], found) for name, found in validation.families.items()]
    return Article(
        title="Validation against closed forms",
        command=settings.command,
        facts={"Run": "quick" if settings.quick else "full"},
        sections=[Section("How to read it", [ABOUT]), *sections],
        verdicts=validation.verdicts,
        paper_word="theory",
    )


def _section(family: Family, found: Sequence[Verified]) -> Section:
    figure = Figure(
        family.name,
        family.title,
        f"Lines are theory, points the simulator's means with {ERRORS:g} standard errors.",
        partial(_draw, family.axes, family.curves(), found),
    )
    columns = ["check", "theory", "simulated", "standard error", "difference", "verdict"]
    table = Table("Every number", columns, [cells(each) for each in found], folded=True)
    return Section(family.title, family.paragraphs, [figure], [table])


def cells(found: Verified) -> list[str]:
    """Return the words of a check's row, as the columns of the table have them."""
    theory, mean, error = found.check.theory, found.found.mean, found.found.error
    unit = "" if found.check.unit == "1" else f" {found.check.unit}"
    return [
        found.check.claim,
        f"{_number(theory)}{unit}",
        f"{_number(mean)}{unit}",
        "–" if error is None else f"{100 * error / theory:.2f} %",
        f"{100 * (mean / theory - 1):+.2f} %",
        _OUTCOMES[found.verdict.reproduced],
    ]


def _number(value: float) -> str:
    """Write five digits, or all of a whole number's."""
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:#,.5g}"


def _draw(
    axes: Axes, curves: Mapping[str, Curve], found: Sequence[Verified], theme: Theme
) -> Chart:
    names = list(curves)
    drawn = {each.check.series for each in found} - {""}
    assert drawn <= set(names), f"points without a line: {drawn - set(names)}"
    lines = [{"series": name, "x": x, "y": y} for name in names for x, y in curves[name]]
    points = [_point(each) for each in found if each.check.series]
    scale = alt.Scale(domain=names, range=theme.run_colours(len(names)))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=0, symbolSize=400)
    x = alt.X("x:Q", title=axes.x, scale=_scale(axes.log_x)).axis(format="~r", tickCount=8)
    y = alt.Y("y:Q", title=axes.y, scale=_scale(axes.log_y)).axis(format=",~r", tickCount=6)
    line = alt.Chart(alt.InlineData(values=lines)).mark_line(strokeWidth=1.5)
    dash = alt.Scale(domain=names, range=dashes(len(names)))
    of_theory = line.encode(
        x=x,
        y=y,
        color=alt.Color("series:N", scale=scale, legend=legend),
        strokeDash=alt.StrokeDash("series:N", scale=dash, legend=legend),
    )
    # The lines have the legend: one that shared it with the points would show neither.
    colour = alt.Color("series:N", scale=scale, legend=None)
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, color=colour)
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=axes.y), y2="high:Q")
    tooltip = [
        "claim:N",
        alt.Tooltip("theory:Q", format=",.5~g"),
        alt.Tooltip("y:Q", title="simulated", format=",.5~g"),
    ]
    dots = base.mark_point(size=45, filled=True, opacity=1).encode(y=y, tooltip=tooltip)
    sized = (of_theory + bars + dots).properties(width=theme.width, height=_HEIGHT)
    return cast("Chart", sized.configure(**theme.config()))


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=6) if log else alt.Scale(zero=False, nice=True)


def _point(each: Verified) -> dict[str, Any]:
    around = ERRORS * (each.found.error or 0.0)
    return {
        "series": each.check.series,
        "x": each.check.x,
        "y": each.found.mean,
        "low": each.found.mean - around,
        "high": each.found.mean + around,
        "claim": each.check.claim,
        "theory": each.check.theory,
    }
