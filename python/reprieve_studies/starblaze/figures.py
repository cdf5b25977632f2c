"""The figures of the report: every case before and after, and the tail of the reads."""

from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Lines, exceeding
from reprieve_studies.starblaze.claims import Outcome
from reprieve_studies.starblaze.runs import BASE, CASES, SEED, SETTINGS, Spot, slides

_FROM_NS = 93_000
"""Latency of a read on an idle die; the few below it found their page in the buffer."""
_OF_TAIL = "2rr1rw_1thread"
_BARS = {"mean": "mean_us", "longest": "us_max"}


def all_figures(outcome: Outcome) -> list[Figure]:
    """Return them, in order."""
    return [*(_bars(outcome, word, measure) for word, measure in _BARS.items()), _tail(outcome)]


def _bars(outcome: Outcome, word: str, measure: str) -> Figure:
    values = {}
    for case in CASES:
        load, _, threads = case.partition("_")
        for setting, when in (("none", "before"), ("both", "after")):
            ours = getattr(outcome.row(setting, case, "read"), measure)
            place = (load, threads.replace("thread", " thr."))
            values[*place, f"slides, {when}"] = slides(case, "read", measure, setting)
            values[*place, f"ours, {when}"] = ours
    title = f"{word} read latency, µs"
    caption = f"The {word} read of each case, without suspension and with; ours beside the slides'."
    return Figure(f"read-{word}", title.capitalize(), caption, Bars(values, title, ",.0f").draw)


def _tail(outcome: Outcome) -> Figure:
    points = []
    settings = ("none", *outcome.plan.readings[BASE.name].options["settings"])
    for setting in settings:
        latency = outcome.runs[Spot(BASE.name, setting, _OF_TAIL, SEED)].latencies()["read"]
        points += exceeding(latency, SETTINGS[setting]["title"], _FROM_NS)
    lines = Lines(
        points, "latency, µs", "share of reads that take longer", x_log=True, y_log=True,
        lines_only=list(dict.fromkeys(str(point["series"]) for point in points)),
    )  # fmt: skip
    caption = (
        f"Share of reads that take longer than a time, by what they may suspend: {_OF_TAIL}, a "
        "minute and its ramp. The step at 2.5 ms is a program, that at 10 ms an erase."
    )
    return Figure("read-tail", "Reads by what they may suspend", caption, lines.draw)
