"""The report: every case before and after, the tail of the reads, and every reading."""

from reprieve_studies import frame
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Bars, Lines, exceeding
from reprieve_studies.frame import questions
from reprieve_studies.starblaze.claims import KINDS, Outcome
from reprieve_studies.starblaze.runs import BASE, CASES, DATA, SEED, SETTINGS, Spot, slides

_FROM_NS = 93_000
"""Latency of a read on an idle die; the few below it found their page in the buffer."""
_OF_TAIL = "2rr1rw_1thread"
_BARS = {"mean": "mean_us", "longest": "us_max"}


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    return frame.facts(DATA, outcome.plan, reading=BASE.title, runs=len(outcome.plan.spots))


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    return [
        Section("The tables of the slides", DATA["about"],
                [*(_bars(outcome, *one) for one in _BARS.items()), _tail(outcome)],
                [_both_tables(outcome)]),
        Section("Other readings", questions(outcome.plan.readings.values()),
                tables=[_by_reading(outcome)]),
    ]  # fmt: skip


def _both_tables(outcome: Outcome) -> Table:
    """Set the slides' two tables beside ours."""
    columns = ["case", "of", "IOPS, slides", "ours", "p99.9 before, ours", "after, ours"]
    rows = []
    for case in CASES:
        for kind in KINDS:
            before, after = (outcome.row(setting, case, kind) for setting in ("none", "both"))
            cells = [f"{slides(case, kind, 'iops'):,}", f"{after.iops:,.0f}",
                     f"{before.p999_us:,.0f}", f"{after.p999_us:,.0f}"]  # fmt: skip
            for measure, digits in (("mean_us", 1), ("us_max", 0)):
                for setting, row in (("none", before), ("both", after)):
                    pair = (slides(case, kind, measure, setting), getattr(row, measure))
                    cells += [f"{one:,.{digits}f}" for one in pair]
            rows.append([case, kind, *cells])
    for word in ("mean", "max"):
        for when in ("before", "after"):
            columns += [f"{word} {when}, slides", "ours"]
    return Table("Both tables, in µs; ours is the middle of the seeds' maxima", columns, rows, 2)


def _by_reading(outcome: Outcome) -> Table:
    """Set the reads and the rate of every reading and setting beside the slides."""
    rows = []
    for case in CASES:
        for reading in outcome.plan.readings.values():
            for setting in ("none", *reading.options["settings"]):
                read = outcome.row(setting, case, "read", reading.name)
                rows.append([case, reading.title, SETTINGS[setting]["title"],
                             f"{outcome.rate(setting, case, reading.name):,.0f}",
                             f"{read.mean_us:.1f}", f"{read.us_max:,.0f}"])  # fmt: skip
        for setting, when in (("none", "before"), ("both", "after")):
            iops = sum(slides(case, kind, "iops") for kind in KINDS)
            rows.append([case, "slides", when, f"{iops:,}",
                         f"{slides(case, 'read', 'mean_us', setting):.1f}",
                         f"{slides(case, 'read', 'us_max', setting):,.0f}"])  # fmt: skip
    columns = ["case", "reading", "suspended", "IOPS", "mean read, µs", "longest, µs"]
    return Table("Every reading, by case", columns, rows, words=3)


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
