"""The report: the paper's figures in its form, its claims under every reading, the part alone."""

import numpy as np

from reprieve import Latency, rig_power
from reprieve_studies import frame
from reprieve_studies.article import Figure, Section, numbered
from reprieve_studies.characterize.page import SECTIONS
from reprieve_studies.charts import Bars, Lines, cumulative
from reprieve_studies.frame import by_reading, questions
from reprieve_studies.zambelli21.claims import METRICS, Outcome
from reprieve_studies.zambelli21.runs import DATA, FITTED, JUDGED, PART, Spot

_NUMBERED = {
    "10a": "iops",
    "10b": "mean",
    "11a": "memory_power",
    "11b": "bus_power",
    "13a": "total_tail",
    "13b": "read_tail",
}
_ANY_DEVICE = "tlc3d-1tb"
"""The rig's; the part under it is replaced."""


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan, readings = outcome.plan, [DATA.readings[name].title for name in JUDGED]
    others, runs = plan.requests_of("page-2"), len(plan.spots)
    return frame.facts(DATA, plan, part=PART, readings=readings, others=others, runs=runs)


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    shown = list(dict.fromkeys(spot.reading for spot in outcome.runs))
    titles = {name: DATA.readings[name].title for name in shown}
    table = by_reading(
        "The claims under every reading", [(claim, "") for claim in DATA.claims], titles,
        lambda claim, _drive, name: outcome.measure(claim, name),
    )  # fmt: skip
    return [
        Section("The paper's figures", [DATA["about"]], _of_the_drive(outcome)),
        Section("Readings of the paper", questions(DATA.readings[name] for name in shown),
                tables=[table]),
        Section("The part", [f"reprieve characterize {PART} gives the same by itself."],
                _of_the_part(outcome)),
        *(make(outcome.bench) for make in SECTIONS),
    ]  # fmt: skip


def _of_the_drive(outcome: Outcome) -> list[Figure]:
    """Return Figures 10 to 13."""
    bars = {number: _bars(outcome, number, metric) for number, metric in _NUMBERED.items()}
    tails = [bars.pop(number) for number in ("13a", "13b")]
    return [*bars.values(), _figure_12(outcome), *tails]


def _bars(outcome: Outcome, number: str, metric: str) -> Figure:
    about = METRICS[metric]
    bars = Bars(
        {
            (mix, f"QD {depth}", f"{allowed} suspensions" if allowed else "no suspension"):
            about.of(outcome.runs[Spot(FITTED, mix, depth, allowed)])
            for mix in DATA["mixes"]
            for depth in DATA["depths"]
            for allowed in DATA["suspensions"]
        },
        f"{about.title}, {about.unit}",
        ",.0f",
    )  # fmt: skip
    caption = (
        f"{about.title.capitalize()} by load and queue depth; 0, 5 or 10 suspensions of a program "
        f"allowed, the fitted reading; after Figure {number} of the paper."
    )
    return numbered(number, about.title, caption, bars.draw)


def _figure_12(outcome: Outcome) -> Figure:
    def of(allowed: int, kind: str) -> Latency:
        return outcome.runs[Spot(FITTED, "75W-25R", 64, allowed)].latencies()[kind]

    points = [
        *cumulative(of(10, "read"), "reads"),
        *cumulative(of(10, "write"), "writes"),
        *cumulative(of(10, "total"), "all"),
        *cumulative(of(0, "read"), "reads, no suspension"),
    ]
    names = list(dict.fromkeys(str(point["series"]) for point in points))
    lines = Lines(points, "latency, µs", "share of requests", x_log=True, lines_only=names)
    caption = (
        "Share of requests that are done within a time: 75W-25R, QD 64, 10 suspensions allowed; "
        "after Figure 12 of the paper, which does not say how many are. Latencies below 1 µs, of "
        "writes that find room at once, are drawn at 1 µs."
    )
    return numbered(12, "distribution of latencies", caption, lines.draw)


def _of_the_part(outcome: Outcome) -> list[Figure]:
    """Return Figures 3a and 3b."""
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
    return [numbered("3a", "how wordlines differ", caption, spread.draw), _figure_3b()]


def _figure_3b() -> Figure:
    program = [(0, "program", 0, 0, page) for page in range(3)]
    read = (1_000_000, "read", 0, 1, 0)
    _, steps = rig_power(_ANY_DEVICE, [*program, read], part=PART)
    times = [step.time_ns / 1e3 for step in steps]
    powers = [step.power_core_mw for step in steps]
    # Each step is a horizontal line up to the next.
    corners = [(times[0], powers[0]), *(
        corner for at in range(1, len(steps))
        for corner in ((times[at], powers[at - 1]), (times[at], powers[at]))
    )]  # fmt: skip
    points = [{"series": "core supply", "x": time_us, "y": mw} for time_us, mw in corners]
    lines = Lines(points, "time, µs", "power, mW", lines_only=["core supply"])
    caption = (
        "A die with a program that makes way for a read one millisecond after it came: pulses and "
        "verifies, then idle, sensing, data out, and on. The paper zooms in, and shows a "
        "suspension without a read."
    )
    return numbered("3b", "power of a suspended program", caption, lines.draw)
