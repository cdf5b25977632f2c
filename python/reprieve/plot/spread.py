"""Charts of what is spread over a drive: slow requests, suspended work, dies, worn blocks."""

import altair as alt
import numpy as np

from reprieve.plot import charts
from reprieve.plot.rows import Row, Runs, rounded
from reprieve.plot.theme import COMPONENTS, Theme
from reprieve.series import Op, Series

_BARS_WEAR = 32
_HEIGHT_COLUMNS = 200

CLASSES = {
    "all": 1.0,
    "slowest 10 %": 0.1,
    "slowest 1 %": 0.01,
    "slowest 0.1 %": 0.001,
    "slowest 0.01 %": 0.0001,
}
"""Classes of requests by their latency, and what share of all they are."""

# A class is left out where it would have fewer requests: their mean says nothing.
_FEWEST = 10


def watched(runs: Runs) -> dict[str, Series]:
    """Return what was kept over time of the runs of which anything was."""
    return {label: run.series for label, run in runs.items() if run.series is not None}


def slow(runs: Runs, op: Op) -> list[Row]:
    """Return where the time of each class of requests went, in µs and as a share."""
    found = []
    for label, series in watched(runs).items():
        count = int(series.bins[f"{op}_count"].sum())
        for word, share in CLASSES.items():
            if count * share < _FEWEST and share < 1:
                continue
            means_ns = series.slowest(op, share)
            whole_ns = sum(means_ns.values())
            mean = f"{word}: {whole_ns / 1000:,.0f} µs"
            own: Row = {"run": label, "class": word, "mean of the class": mean}
            for index, name in enumerate(COMPONENTS):
                mean_ns = means_ns.get(f"{name}_ns", 0.0)
                if mean_ns > 0:
                    row = own | {"component": COMPONENTS[name][0], "index": index}
                    row |= {"mean_us": rounded(mean_ns / 1000)}
                    found.append(row | {"share": rounded(mean_ns / whole_ns)})
    return found


def slow_chart(runs: Runs, data: list[Row], theme: Theme) -> charts.Chart:
    """Draw `slow`: of one run each class as shares, of several the picked class in µs."""
    several = len(runs) > 1
    group = "run" if several else "mean of the class"
    order = list(runs) if several else list(dict.fromkeys(row[group] for row in data))
    x = alt.X("share:Q", title="share of the latency", scale=alt.Scale(domain=[0, 1]))
    x = x.axis(format=".0%", tickCount=5)
    if several:
        x = alt.X("mean_us:Q", title="mean latency of the class, µs")
        x = x.axis(format=",~r", tickCount=6)
    colour = charts.component_colours(data, theme)
    tooltip = [f"{group}:N", "component:N", charts.MEAN, alt.Tooltip("share:Q", format=".1%")]
    chart = charts.stacked(data, theme, x.stack("zero"), group, order, colour, tooltip)
    return _picking(chart, "class", class_shown(data)) if several else chart


def class_shown(data: list[Row]) -> str:
    """Return the class that a comparison begins with: the slowest hundredth, if it is there."""
    words = list(dict.fromkeys(row["class"] for row in data))
    return "slowest 1 %" if "slowest 1 %" in words else str(words[0])


def ages(runs: Runs) -> list[Row]:
    """Return, by how much of an operation was done, which share of the suspensions came then."""
    found = []
    for label, series in watched(runs).items():
        for kind, counts in series.ages.items():
            whole = int(counts.sum())
            if whole == 0:
                continue
            for index, count in enumerate(counts.tolist()):
                row = {"run": label, "series": f"{kind}s", "done": f"{5 * index}"}
                found.append(row | {"count": count, "share": rounded(count / whole)})
    return found


def ages_chart(runs: Runs, data: list[Row], theme: Theme) -> charts.Chart:
    """Draw `ages`: of one run programs and erases, of several the kind that is picked."""
    x = alt.X("done:O", title="done of the operation, in % from …", sort=None)
    y = alt.Y("share:Q", title="share of the suspensions").axis(format=".0%", tickCount=5)
    return _columns(runs, data, theme, x, y)


def wear(runs: Runs) -> list[Row]:
    """Return how many blocks have had how many erases, in bars of one width for all runs."""
    kept = watched(runs)
    most = max((int(series.erases.max(initial=0)) for series in kept.values()), default=0)
    width = -(-(most + 1) // _BARS_WEAR)
    found = []
    for label, series in kept.items():
        blocks = np.bincount(series.erases // width, series.blocks, minlength=most // width + 1)
        for index, count in enumerate(blocks.tolist()):
            first = index * width
            word = f"{first}" if width == 1 else f"{first}–{first + width - 1}"
            found.append({"run": label, "series": "blocks", "erases": word, "blocks": int(count)})
    return found


def wear_chart(runs: Runs, data: list[Row], theme: Theme) -> charts.Chart:
    """Draw `wear`."""
    x = alt.X("erases:O", title="erases of a block since the first request", sort=None)
    y = alt.Y("blocks:Q", title="blocks").axis(format=",~r", tickCount=5)
    return _columns(runs, data, theme, x, y)


def _columns(runs: Runs, data: list[Row], theme: Theme, x: alt.X, y: alt.Y) -> charts.Chart:
    """Draw columns side by side, one for each run, or of one run for each series."""
    several = len(runs) > 1
    words = list(dict.fromkeys(row["series"] for row in data))
    names = list(runs) if several else words
    field = "run" if several else "series"
    scale = alt.Scale(domain=names, range=theme.run_colours(len(names)))
    bars = charts.chart_of(data, theme).mark_bar()
    bars = bars.encode(
        x=x.axis(labelAngle=0, labelOverlap=True),
        y=y,
        xOffset=alt.XOffset(f"{field}:N", sort=names),
        color=alt.Color(f"{field}:N", scale=scale, legend=charts.legend_of(theme, len(names))),
        tooltip=[f"{field}:N", x["shorthand"], y["shorthand"]],
    )
    chart = charts.finished(bars, theme, _HEIGHT_COLUMNS)
    if several and len(words) > 1:
        return _picking(chart, "series", words[0])
    return chart


def dies(runs: Runs) -> list[Row]:
    """Return the share of time that each die and each channel was in use."""
    found = []
    for label, series in watched(runs).items():
        whole_ns = max(int(runs[label].summary["device"]["simulated_ns"]), 1)
        channels = len(series.channel_busy_ns)
        by_channel = series.die_busy_ns.reshape(channels, -1)
        for channel in range(channels):
            own: Row = {"channel": str(channel), "run": label}
            busy = {"channel": series.channel_busy_ns[channel]}
            busy |= {f"die {die}": by_channel[channel, die] for die in range(by_channel.shape[1])}
            for word, busy_ns in busy.items():
                found.append(own | {"unit": word, "share": rounded(float(busy_ns) / whole_ns)})
    return found


def dies_chart(runs: Runs, data: list[Row], theme: Theme) -> charts.Chart:
    """Draw `dies` as a map, of several runs the one that is picked."""
    units = list(dict.fromkeys(row["unit"] for row in data))
    most = max(row["share"] for row in data)
    legend = alt.Legend(title="share of time in use", orient="bottom", format=".0%")
    scale = alt.Scale(domain=[0, most or 1], range=[0.04, 1])
    cells = charts.chart_of(data, theme).encode(
        x=alt.X("channel:O", title="channel", sort=None).axis(labelAngle=0, labelOverlap=True),
        y=alt.Y("unit:O", title=None, sort=units).axis(**charts.NAMES, labelOverlap=True),
        opacity=alt.Opacity("share:Q", scale=scale, legend=legend),
        tooltip=["run:N", "channel:O", "unit:N", alt.Tooltip("share:Q", format=".1%")],
    )
    cells = cells.mark_rect(fill=theme.runs[1], stroke=theme.grid, strokeWidth=1)
    chart = charts.finished(cells, theme, max(60, min(24 * len(units), 600)))
    return _picking(chart, "run", next(iter(runs))) if len(runs) > 1 else chart


def _picking(chart: charts.Chart, field: str, first: str) -> charts.Chart:
    chart = chart.transform_filter(f"indexof({charts.PICKED}, datum['{field}']) >= 0")
    return chart.add_params(alt.param(name=charts.PICKED, value=[first]))
