"""The report: tables of errors, knees and suspension, and latencies over write rates."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import altair as alt

from reprieve.plot import Theme
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.drives.claims import DATA, FIGURES, STATISTICS, errors_of, suspension
from reprieve_studies.drives.outcomes import PARTS, Outcome

_SHOWN = ["p50", "p99", "p99.9"]
_LEGEND = "read percentile: points measured (filled: fitted), lines simulated"
_RATES, _RATE_TICKS = [9, 220], [10, 20, 50, 100, 200]
_RANGE_US, _TICKS_US = [40, 12_000], [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
_WIDTH, _HEIGHT, _COLUMNS, _TITLE_SIZE = 205, 190, 3, 12
_NONE = "–"


def sections(outcomes: Sequence[Outcome]) -> list[Section]:
    """Return the report below its verdicts."""
    swept = [outcome for outcome in outcomes if outcome.line_conditions]
    draw = partial(rate_chart, swept)
    tables = [_errors(outcomes), _knees(swept)]
    figure = Figure("drives", "Reads of measured drives", DATA["caption"], draw)
    return [
        Section("Errors", [DATA["split"]], [figure][: len(swept)], tables),
        Section("Does it suspend?", [DATA["question"]], tables=[_suspension(outcomes)]),
    ]


def _span(values: Sequence[float], digits: int = 1) -> str:
    """Write the mean over the seeds, and the range if there are several."""
    ends = [sum(values) / len(values), min(values), max(values)] if values else []
    texts = [f"{each:,.{digits}f}" for each in ends] or [_NONE]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if len(values) > 1 else texts[0]


def _percent(shares: Sequence[float]) -> str:
    return _span([100 * share for share in shares])


def _errors(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for outcome in outcomes:
        key, noise = outcome.drive.key, outcome.drive.noise
        if not outcome.runs:
            rows.append([key, "not fitted", "", *[""] * len(FIGURES)])
        for part in PARTS if outcome.runs else ():
            title = f"{len(outcome.part(part))} {part}"
            for each, words in STATISTICS.items() if outcome.part(part) else ():
                cells = [_percent(errors_of(outcome, part, figure, each)) for figure in FIGURES]
                rows.append([key, title, words, *cells])
        floor = [noise.get(figure.replace(" ", ".")) for figure in FIGURES]
        if any(floor):
            cells = ["" if each is None else f"{100 * each:.2f}" for each in floor]
            rows.append([key, "noise floor", "", *cells])
    columns = ["drive", "conditions", "of the errors", *FIGURES]
    return Table("Relative errors, in %", columns, rows, words=3)


def _knees(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for outcome in outcomes:
        measured, simulated = outcome.knee()
        said = "not reached" if measured is None else f"{measured:,.0f}"
        shares = [each / measured - 1 for each in simulated] if measured else []
        rows.append([outcome.drive.key, said, _span(simulated, 0), _percent(shares)])
    columns = ["drive", "measured", "simulated", "error, %"]
    return Table("Largest sustained write rate, 1/s", columns, rows)


def _suspension(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for outcome in outcomes:
        found = suspension(outcome)
        sides = [_percent(side) for side in zip(*outcome.tails(), strict=True)] or [_NONE, _NONE]
        answer, ratio = (found[1], f"{found[0].mean:.1f}") if found else ("not fitted", _NONE)
        rows.append([outcome.drive.key, answer, *sides, ratio])
    columns = ["drive", "answer", "with suspension, %", "without, %", "ratio"]
    return Table(DATA["tails"], columns, rows, words=2)


def points(outcome: Outcome, kind: str) -> list[dict[str, Any]]:
    """Return the points of a panel: measured, or simulated with the first seed."""
    if kind == "measured":
        found = [
            (each.name, f"p{percent:g}", ns)
            for each in outcome.drive.conditions
            for _, direction, one in each.figures()
            if direction == "read"
            for percent, ns in one.percentile_ns.items()
        ]
    else:
        first = [next(iter(runs.values()), []) for runs in (outcome.runs, outcome.line)]
        reads = [term for terms in first for term in terms if term.direction == "read"]
        found = [(term.condition, term.what, term.simulated) for term in reads]
    rates = outcome.write_rates
    return [
        {"what": what, "kilo_writes_per_s": rates[name] / 1e3, "latency_us": ns / 1e3,
         "is_fitted": name in outcome.drive.fitted}
        for name, what, ns in found
        if what in _SHOWN and name in rates
    ]  # fmt: skip


def rate_chart(outcomes: Sequence[Outcome], theme: Theme) -> Any:
    """Draw read percentiles over the write rate, a panel a drive; lines stand in their order."""
    scale = alt.Scale(domain=_SHOWN, range=theme.run_colours(len(_SHOWN) + 1)[1:])
    legend = alt.Legend(title=_LEGEND, orient="bottom", titleLimit=500)
    colour = alt.Color("what:N", scale=scale, legend=legend)
    shape = alt.Shape("what:N", scale=alt.Scale(domain=_SHOWN), legend=legend)
    x = alt.X("kilo_writes_per_s:Q", title="writes issued, 1,000/s").axis(values=_RATE_TICKS)
    y = alt.Y("latency_us:Q", title="latency, µs").axis(values=_TICKS_US)
    x = x.scale(type="log", domain=_RATES, nice=False)
    y = y.scale(type="log", domain=_RANGE_US, nice=False, clamp=True)
    fill = alt.condition("datum.is_fitted", colour, alt.value("transparent"))
    panels = []
    for outcome in outcomes:
        lines, marks = (
            alt.Chart(alt.InlineData(values=points(outcome, kind))).encode(x=x, y=y, color=colour)
            for kind in ("simulated", "measured")
        )
        lines = lines.mark_line(strokeWidth=1.6)
        marks = marks.mark_point(size=38, strokeWidth=1.4, opacity=1)
        marks = marks.encode(fill=fill, shape=shape, tooltip=["what:N", "latency_us:Q"])
        name = outcome.drive.name + ("" if outcome.runs else " (not fitted)")
        title = alt.TitleParams(name, fontSize=_TITLE_SIZE)
        panels.append((lines + marks).properties(width=_WIDTH, height=_HEIGHT, title=title))
    chart = alt.concat(*panels, columns=_COLUMNS).resolve_scale(color="shared")
    return chart.configure(**theme.config())
