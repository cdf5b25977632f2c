"""The paper's figures, in its form."""

from collections.abc import Mapping

import numpy as np

from reprieve import Latency, rig_power
from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Lines
from reprieve_studies.zambelli21 import tail, wear
from reprieve_studies.zambelli21.experiment import PART, Outcome
from reprieve_studies.zambelli21.measures import METRICS, Spot
from reprieve_studies.zambelli21.paper import MIXES, SUSPENSIONS
from reprieve_studies.zambelli21.readings import FITTED

_NUMBERED = {
    "10a": "iops",
    "10b": "mean",
    "11a": "memory_power",
    "11b": "bus_power",
    "13a": "total_tail",
    "13b": "read_tail",
}
_POINTS = 300
"""Of a line of Figure 12: more cannot be told apart."""
_ANY_DEVICE = "tlc3d-1tb"
"""The rig is told of a device; the part under it is replaced."""


def of_the_drive(outcome: Outcome) -> list[Figure]:
    """Figures 10 to 13."""
    bars = {number: _bars(outcome, number, metric) for number, metric in _NUMBERED.items()}
    tails = [bars.pop(number) for number in ("13a", "13b")]
    return [*bars.values(), _figure_12(outcome), *tails]


def _bars(outcome: Outcome, number: str, metric: str) -> Figure:
    about = METRICS[metric]
    bars = Bars(
        {
            (mix, f"QD {depth}", _series(allowed)): about.of(
                outcome.runs[Spot(FITTED.name, mix, depth, allowed)]
            )
            for mix in MIXES
            for depth in (16, 64)
            for allowed in SUSPENSIONS
        },
        f"{about.title}, {about.unit}",
        ",.0f",
    )
    caption = (
        f"{about.title.capitalize()} by load and queue depth; 0, 5 or 10 suspensions of a program "
        f"allowed, the fitted reading; after Figure {number} of the paper."
    )
    return Figure(f"figure-{number}", f"Figure {number}: {about.title}", caption, bars.draw)


def _series(allowed: int) -> str:
    return f"{allowed} suspensions" if allowed else "no suspension"


def _figure_12(outcome: Outcome) -> Figure:
    runs = {allowed: outcome.runs[Spot(FITTED.name, "75W-25R", 64, allowed)] for allowed in (0, 10)}
    points = []
    for kind, word in (("read", "reads"), ("write", "writes"), ("total", "all")):
        points += _cumulative(runs[10].latency(kind), word)
    points += _cumulative(runs[0].latency("read"), "reads, no suspension")
    names = list(dict.fromkeys(str(point["series"]) for point in points))
    lines = Lines(points, "latency, µs", "share of requests", x_log=True, lines_only=names)
    caption = (
        "Share of requests that are done within a time: 75W-25R, QD 64, 10 suspensions allowed; "
        "after Figure 12 of the paper, which does not say how many are. Latencies below 1 µs, of "
        "writes that find room at once, are drawn at 1 µs."
    )
    return Figure("figure-12", "Figure 12: distribution of latencies", caption, lines.draw)


def _cumulative(latency: Latency, series: str) -> list[dict[str, object]]:
    shares = np.cumsum(latency.count) / latency.requests
    wanted = np.linspace(0, len(shares) - 1, min(len(shares), _POINTS)).round().astype(int)
    return [
        {"series": series, "x": max(1.0, latency.upper_ns[at] / 1e3), "y": float(shares[at])}
        for at in wanted
    ]


def of_the_front(found: Mapping[str, tuple[float, float]]) -> Figure:
    """Read p99.99 against lifetime, a point for each suspension policy."""
    points = [
        {"series": name, "x": tail_us, "y": years} for name, (tail_us, years) in found.items()
    ]
    names = [str(point["series"]) for point in points]
    chart = Lines(points, "p99.99 of reads, µs", "lifetime, years", dots_only=names)
    caption = (
        "The p99.99 of reads and how long the drive lasts at a drive write a day, by what is "
        f"suspended; {wear.MIX} at QD {wear.QUEUE_DEPTH}, the fitted reading. The wear of a "
        "suspension is assumed."
    )
    return Figure("front", "Tail against lifetime", caption, chart.draw)


def of_the_tail(found: Mapping[int, tail.OfALimit]) -> Figure:
    """Draw the p99.99 by the suspensions allowed."""
    points = [
        {"series": name, "x": allowed, "y": value.mean,
         **({} if value.low is None else {"low": value.low, "high": value.high})}
        for allowed, one in found.items()
        for name, value in (("reads", one.read_us), ("all requests", one.total_us))
    ]  # fmt: skip
    chart = Lines(points, "suspensions of a program, at most", "p99.99, µs")
    caption = (
        "The p99.99 by how often a program may be suspended; 25W-75R at QD 64, fitted. Bars are "
        "intervals of 95 % over the seeds."
    )
    return Figure("tail", "The tail by suspensions allowed", caption, chart.draw)


def of_the_part(outcome: Outcome) -> list[Figure]:
    """Figures 3a and 3b."""
    columns = outcome.bench.columns
    wordlines, firsts = np.unique(columns["wordline"], return_index=True)
    points = [
        {"series": "tPGM", "x": int(wordline), "y": columns["t_program_ns"][first] / 1e3}
        for wordline, first in zip(wordlines, firsts, strict=True)
    ]
    spread = Lines(points, "wordline", "tPGM, µs", dots_only=["tPGM"])
    caption = (
        f"Undisturbed programs of {len(points)} wordlines drawn at random; the paper's have no "
        "numbers, ours are the part's assumption."
    )
    return [
        Figure("figure-3a", "Figure 3a: how wordlines differ", caption, spread.draw),
        _figure_3b(),
    ]


def _figure_3b() -> Figure:
    program = [(0, "program", 0, 0, page) for page in range(3)]
    _, steps = rig_power(_ANY_DEVICE, [*program, (1_000_000, "read", 0, 1, 0)], part=PART)
    points: list[dict[str, object]] = []
    last = None
    for step in steps:
        time_us, core_mw = step.time_ns / 1e3, step.power_core_mw
        if last is not None:
            points.append({"series": "core supply", "x": time_us, "y": last})
        points.append({"series": "core supply", "x": time_us, "y": core_mw})
        last = core_mw
    lines = Lines(points, "time, µs", "power, mW", lines_only=["core supply"])
    caption = (
        "A die with a program that makes way for a read one millisecond after it came: pulses and "
        "verifies, then idle, sensing, data out, and on. The paper zooms in, and shows a "
        "suspension without a read."
    )
    return Figure("figure-3b", "Figure 3b: power of a suspended program", caption, lines.draw)
