"""The paper's figures in its form, and how far Figure 8 hangs on the readings."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from reprieve_studies.article import Figure
from reprieve_studies.charts import Dots, Lines, bars_over_seeds
from reprieve_studies.frame import contrast
from reprieve_studies.mbm.claims import CHIPS, MSNFS, SRC, Group, Outcome, read_bound_mb_per_s
from reprieve_studies.mbm.claims import write_bound_mb_per_s as write_bound
from reprieve_studies.mbm.runs import (
    DATA,
    LIMIT,
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
    labels = _labels(outcome)
    erases = {claim.options["of"]: claim.value[""] for claim in DATA.claims
              if claim.of == "absolute" and claim.measure == "erases"}  # fmt: skip
    bars = [
        _bars(outcome, 8, "response time", outcome.group(), "mean latency", "mean_us",
              {(_AVERAGE, MBM): _AVERAGE_OF_MBM, (labels[SRC], MBM): 1.075,
               (labels[SRC], SPRINKLER): 2.18},
              "Mean latency of all requests over that of TBM"),
        _bars(outcome, 10, "bandwidth", outcome.group(LIMIT), "bandwidth", "mb_per_s",
              {(_AVERAGE, MBM): 2.1},
              "Bytes a second over those of TBM, with 32 requests always outstanding. By Table I "
              f"the dies can program {write_bound(4, 2):.0f} MB/s, collection included, and the "
              f"channels carry {read_bound_mb_per_s():.0f}"),
        _bars(outcome, 11, "erases", outcome.group(), "erases", "erases",
              {(labels[MSNFS], name): count / erases[TBM] for name, count in erases.items()},
              "Blocks erased over those of TBM, one of each plane"),
    ]  # fmt: skip
    return [bars[0], _chips(outcome), *bars[1:], *_tails(outcome)]


def _labels(outcome: Outcome) -> dict[str, str]:
    return {load.trace: load.label for load in outcome.plan.papers}


def _bars(
    outcome: Outcome,
    number: int,
    title: str,
    group: Group,
    axis: str,
    metric: str,
    stated: dict[tuple[str, str], float],
    caption: str,
) -> Figure:
    """Draw a measure over that of TBM, by load and scheme, and its average."""
    ratios = {
        scheme: [contrast("ratio", [pair]) for pair in group.pairs(metric, scheme, TBM)]
        for scheme in _ALL
    }
    found = {
        ("", label, scheme): [ratios[scheme][at]]
        for at, label in enumerate(_labels(outcome).values())
        for scheme in _ALL
    }
    marks = {("", *key): value for key, value in stated.items()}
    # A short run has percentiles of nothing, and no erases.
    chart = bars_over_seeds(found, f"{axis}, TBM = 1", average=_AVERAGE, marks=marks, palette=_ALL)
    text = f"{caption}; after Figure {number} of the paper, whose text has the values of the lines."
    return Figure(f"figure-{number}", f"Figure {number}: {title}", text, chart.draw)


def _chips(outcome: Outcome) -> Figure:
    stated = "MBM in the paper"
    points = [
        {"series": scheme, "x": chips, "y": outcome.group().normalised(scheme, chips)}
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
    group, labels = outcome.group(TAIL), _labels(outcome)
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
        (reading.title, scheme): fmean(outcome.group(reading.name).responses(scheme))
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
