"""The report's figures."""

import numpy as np

from reprieve import Latency
from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Lines
from reprieve_studies.starblaze.experiment import SEED, Outcome
from reprieve_studies.starblaze.measures import measured
from reprieve_studies.starblaze.paper import CASES
from reprieve_studies.starblaze.readings import BASE, SETTINGS, Spot

_POINTS = 300
"""Of a line: more cannot be told apart."""
_FROM_NS = 93_000
"""What a read takes that meets nothing; the few below it found their page in the buffer."""
_OF_TAIL = "2rr1rw_1thread"


def all_figures(outcome: Outcome) -> list[Figure]:
    """Return them, in order."""
    return [_bars(outcome, "mean"), _bars(outcome, "longest"), _tail(outcome)]


def _bars(outcome: Outcome, what: str) -> Figure:
    values = {}
    for case in CASES.values():
        load, _, threads = case.name.partition("_")
        before, after = (
            measured(outcome.runs, BASE.name, setting, case.name, "read")
            for setting in ("none", "both")
        )
        row = case.read
        longest = what == "longest"
        for series, value in (
            ("slides, before", row.before_us_max if longest else row.before_us),
            ("ours, before", before.us_max if longest else before.mean_us),
            ("slides, after", row.after_us_max if longest else row.after_us),
            ("ours, after", after.us_max if longest else after.mean_us),
        ):
            values[load, threads.replace("thread", " thr."), series] = value
    title = f"{what} read latency, µs"
    bars = Bars(values, title, ",.0f")
    caption = f"The {what} read of each case, without suspension and with; ours beside the slides'."
    return Figure(f"read-{what}", title.capitalize(), caption, bars.draw)


def _tail(outcome: Outcome) -> Figure:
    points = [
        point
        for setting in ("none", "erase", "program", "both")
        for point in _longer(
            outcome.runs[Spot(BASE.name, setting, _OF_TAIL, SEED)].latency("read"),
            SETTINGS[setting][0],
        )
    ]
    names = list(dict.fromkeys(str(point["series"]) for point in points))
    lines = Lines(
        points, "latency, µs", "share of reads that take longer", x_log=True, y_log=True,
        lines_only=names,
    )  # fmt: skip
    caption = (
        f"Share of reads that take longer than a time, by what they may suspend: {_OF_TAIL}, a "
        "minute and its ramp. The step at 2.5 ms is a program, that at 10 ms an erase."
    )
    return Figure("read-tail", "Who waits for what", caption, lines.draw)


def _longer(latency: Latency, series: str) -> list[dict[str, object]]:
    shares = 1 - np.cumsum(latency.count) / latency.requests
    # The last bucket has nobody above it, and a logarithm no place for that.
    first = int(np.searchsorted(latency.upper_ns, _FROM_NS))
    wanted = np.unique(np.linspace(first, len(shares) - 2, _POINTS).round().astype(int))
    return [
        {"series": series, "x": latency.upper_ns[at] / 1e3, "y": float(shares[at])} for at in wanted
    ]
