"""The paper's figures in its form, and how far Figure 8 hangs on the readings."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from reprieve_studies.article import Figure
from reprieve_studies.charts import Dots, Lines, bars_over_seeds
from reprieve_studies.frame import contrast, listed, multiple
from reprieve_studies.mbm.claims import CHIPS, MSNFS, Outcome, is_count, read_bound_mb_per_s
from reprieve_studies.mbm.claims import write_bound_mb_per_s as write_bound
from reprieve_studies.mbm.runs import (
    DATA,
    MBM,
    OPS,
    PAPERS,
    PERCENTILES,
    PLAIN,
    SPRINKLER,
    TAIL,
    TBM,
    of_mbm_alone,
)

_ALL = (PLAIN, *PAPERS)
_AVERAGE = "average"
_AVERAGE_OF_MBM = 0.564
"""43.6 % less than TBM."""


def of_the_paper(outcome: Outcome) -> list[Figure]:
    """Return Figures 8 to 13."""
    first, *bars = (_bars(outcome, row) for row in listed(DATA["figure"]))
    return [first, _chips(outcome), *bars, *_tails(outcome)]


def _labels(outcome: Outcome) -> dict[str, str]:
    return {load.trace: load.label for load in outcome.plan.papers}


def _bars(outcome: Outcome, row: Mapping[str, Any]) -> Figure:
    """Draw a metric over that of TBM, by load and scheme, and its average."""
    number, labels, group = row["number"], _labels(outcome), outcome.of_series(row["series"])
    pairs = {scheme: group.pairs(row["metric"], scheme, TBM) for scheme in _ALL}
    found = {("", label, scheme): [contrast("ratio", [pairs[scheme][at]])]
             for at, label in enumerate(labels.values()) for scheme in _ALL}  # fmt: skip
    marks = {
        ("", labels.get(claim.options.get("load", ""), _AVERAGE), claim.options["of"]):
        round(multiple(claim), 9)
        for claim in DATA.claims if claim.options.get("figure") == number
    } | (_collections(labels[MSNFS]) if row["metric"] == "erases" else {})  # fmt: skip
    # A short run has percentiles of nothing, and no erases.
    chart = bars_over_seeds(
        found, f"{row['axis']}, TBM = 1", average=_AVERAGE, marks=marks, palette=_ALL
    )
    caption = row["caption"].format(dies=write_bound(4, 2), channels=read_bound_mb_per_s())
    text = f"{caption}; after Figure {number} of the paper, whose text has the values of the lines."
    return Figure(f"figure-{number}", f"Figure {number}: {row['title']}", text, chart.draw)


def _collections(label: str) -> dict[tuple[str, str, str], float]:
    """Return the counts of a load that the paper states, over that of TBM."""
    counts = {claim.options["of"]: claim.value[""] for claim in DATA.claims if is_count(claim)}
    return {("", label, name): count / counts[TBM] for name, count in counts.items()}


def _chips(outcome: Outcome) -> Figure:
    stated = "MBM in the paper"
    points = [
        {"series": scheme, "x": chips, "y": outcome.normalised(scheme, chips)}
        for scheme in PAPERS
        for chips in CHIPS
    ]
    points.append({"series": stated, "x": CHIPS[0], "y": _AVERAGE_OF_MBM})
    lines = Lines(points, "chips per channel", "mean latency, TBM with 2 = 1", x_ticks=CHIPS,
                  dots_only=(stated,), palette=_ALL)  # fmt: skip
    caption = (
        "Mean latency over that of TBM with two chips a channel, average of the paper's six loads, "
        "which stay as they are; after Figure 9 of the paper, whose text has MBM's value with two "
        "chips, and almost the same with eight."
    )
    return Figure("figure-9", "Figure 9: chips per channel", caption, lines.draw)


def _tails(outcome: Outcome) -> Iterator[Figure]:
    group, labels = outcome.of_series(TAIL), _labels(outcome)
    for row, load in enumerate(DATA["tail_loads"]):
        for column, op in enumerate(OPS):
            number = f"{12 + row}{'ab'[column]}"
            points: list[dict[str, Any]] = []
            missing = set()
            for scheme in PAPERS:
                for percent in PERCENTILES:
                    us = group.one(load, scheme).percentile_us(op, percent)
                    if us is None:
                        missing.add(percent)
                    else:
                        points.append({"series": scheme, "x": 100 / (100 - percent), "y": us / 1e3})
            lines = Lines(points, "requests for each that is slower", f"latency of {op}s, ms",
                          x_log=True, y_log=True, palette=_ALL)  # fmt: skip
            few = ", ".join(f"p{percent:g}" for percent in sorted(missing))
            caption = (
                f"Percentiles of {op}s under {labels[load]}, from p94 (1 in 17) to p99.999 (1 in "
                f"100,000); after Figure {number} of the paper"
                + (f". Too few requests for {few}." if few else ".")
            )
            title = f"Figure {number}: {labels[load]}, {op}s"
            yield Figure(f"figure-{number}", title, caption, lines.draw)


def sensitivity(outcome: Outcome) -> Figure:
    """Show how far Figure 8's average hangs on each reading."""
    values = {
        (reading.title, scheme): fmean(outcome.of_series(reading.name).responses(scheme))
        for reading in (DATA.readings["base"], *outcome.plan.readings)
        for scheme in (SPRINKLER, MBM)
        if scheme == MBM or not of_mbm_alone(reading)
    }
    caption = (
        "Mean latency over that of TBM under the same reading, average of the paper's six loads, "
        f"with {outcome.plan.requests_short:,} requests of each. The lines are TBM and the "
        f"paper's MBM, at {_AVERAGE_OF_MBM}."
    )
    ends = (_AVERAGE_OF_MBM, 1.0)
    dots = Dots(values, "mean latency, TBM = 1", ends, log=True, palette=_ALL)
    return Figure("sensitivity", "What hangs on the readings", caption, dots.draw)
