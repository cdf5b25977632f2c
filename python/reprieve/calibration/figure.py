"""The picture: measured and predicted percentiles, by load and queue depth."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term
from reprieve.calibration.ranges import size_bytes

if TYPE_CHECKING:
    import altair as alt

    from reprieve.plot import Theme

_NINES = {"p50": "50", "p90": "90", "p99": "99", "p99.9": "99.9", "p99.99": "99.99"}
_WIDTH = 190
_HEIGHT = 200
_COLUMNS = 3
_SQUARE = 4
_ROOM_RIGHT = 35
"""For the name of a load, which is longer than its panel is wide."""


def load_of(condition: Condition) -> str:
    """Name the load except its depth: `4 KiB reads, 250 MiB/s of writes`."""
    parts: list[str] = []
    for job in condition.jobs:
        if "read" in job.measured:
            parts.insert(0, f"{size_bytes(job, 'read') // 1024} KiB reads")
        if "write" in job.measured:
            rate = job.asked.bytes_per_s.get("write")
            said = "writes" if rate is None else f"{rate / (1 << 20):g} MiB/s of writes"
            parts.append(said)
    if unmeasured := sum(job.rate("write") or 0 for job in condition.jobs if not job.measured):
        parts.append(f"{unmeasured:,.0f} writes/s")
    return ", ".join(parts)


def depth_of(condition: Condition) -> int:
    """Return the depth of the reads of a condition."""
    return max(job.asked.depth for job in condition.jobs if job.rate("read"))


def percentile_chart(
    conditions: Sequence[Condition], compared: Iterable[Term], fitted: Iterable[str], theme: "Theme"
) -> "alt.ConcatChart":
    """Draw read latencies by percentile, a panel a load: lines simulated, points measured.

    Filled points were fitted, hollow ones held out.
    """
    import altair as alt

    by_name = {condition.name: condition for condition in conditions}
    chosen = set(fitted)
    rows: list[dict[str, Any]] = []
    for term in compared:
        condition = by_name.get(term.condition)
        if condition is None or term.direction != "read" or term.what not in _NINES:
            continue
        rows.append(
            {
                "load": load_of(condition),
                "depth": depth_of(condition),
                "percentile": _NINES[term.what],
                "measured_us": term.measured / 1e3,
                "simulated_us": term.simulated / 1e3,
                "part": "fitted" if term.condition in chosen else "predicted",
            }
        )
    depths = sorted({row["depth"] for row in rows})
    colour = alt.Color(
        "depth:O",
        scale=alt.Scale(domain=depths, scheme="viridis"),
        legend=alt.Legend(title="queue depth of the reads", orient="bottom", columns=9),
    )
    panels = []
    # In the order of the numbers in their names.
    for load in sorted(
        {row["load"] for row in rows},
        key=lambda load: [int(part) for part in load.split() if part.isdigit()],
    ):
        data = alt.Chart(alt.InlineData(values=[row for row in rows if row["load"] == load]))
        x = alt.X("percentile:O", title="percentile", sort=list(_NINES.values()))
        x = x.axis(labelAngle=0, grid=True)
        scale = alt.Scale(type="log", domain=[50, 12_000], clamp=True)
        title = "latency, µs"
        lines = data.mark_line(strokeWidth=1.6).encode(
            x=x, y=alt.Y("simulated_us:Q", title=title, scale=scale), color=colour, detail="depth:O"
        )
        points = data.mark_point(size=34, strokeWidth=1.4).encode(
            x=x,
            y=alt.Y("measured_us:Q", title=title, scale=scale),
            color=colour,
            fill=alt.condition("datum.part === 'fitted'", colour, alt.value("transparent")),
        )
        panels.append((lines + points).properties(width=_WIDTH, height=_HEIGHT, title=load))
    chart = alt.concat(*panels, columns=2 if len(panels) == _SQUARE else _COLUMNS).resolve_scale(
        color="shared"
    )
    room = {"left": 5, "top": 5, "bottom": 5, "right": _ROOM_RIGHT}
    configured: alt.ConcatChart = chart.properties(padding=room).configure(**theme.config())
    return configured
