"""The paper's figures in its form."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprieve_studies.article import Figure
from reprieve_studies.charts import Lines, bars_over_seeds
from reprieve_studies.frame import contrast, listed, multiple
from reprieve_studies.mbm.claims import CHIPS, Outcome
from reprieve_studies.mbm.runs import (
    DATA,
    OPS,
    PAPERS,
    PERCENTILES,
    PLAIN,
    TAIL,
    TBM,
)
from reprieve_studies.seeds import estimate

_ALL = (PLAIN, *PAPERS)
_AVERAGE = "average"
_AVERAGE_OF_MBM = 0.564
"""43.6 % less than TBM."""


def of_the_paper(outcome: Outcome) -> list[Figure]:
    """Return Figures 8 to 13."""
    first, *bars = (_bars(outcome, row) for row in listed(DATA["figure"]))
    tails = _tails(outcome) if outcome.plan.tail_times else ()
    chips = [_chips(outcome)] if len(outcome.plan.chips) > 1 else []
    return [first, *chips, *bars, *tails]


def _labels(outcome: Outcome) -> dict[str, str]:
    return {load.trace: load.label for load in outcome.plan.papers}


def _bars(outcome: Outcome, row: Mapping[str, Any]) -> Figure:
    """Draw a metric over that of TBM, by load and scheme, and its average."""
    number, labels, group = row["number"], _labels(outcome), outcome.of_series(row["series"])
    seeds = list(group.seeds())
    pairs = {scheme: [one.pairs(row["metric"], scheme, TBM) for one in seeds] for scheme in _ALL}
    found = {("", label, scheme): [contrast("ratio", [one[at]]) for one in pairs[scheme]]
             for at, label in enumerate(labels.values()) for scheme in _ALL}  # fmt: skip
    marks = {
        ("", labels.get(claim.options.get("load", ""), _AVERAGE), claim.options["of"]): round(
            multiple(claim), 9
        )
        for claim in DATA.claims
        if claim.options.get("figure") == number
    }
    # A short run has percentiles of nothing, and no erases.
    chart = bars_over_seeds(
        found, f"{row['axis']}, TBM = 1", average=_AVERAGE, marks=marks, palette=_ALL
    )
    text = (
        f"{row['caption']}; after Figure {number} of the paper, whose text has the values of the "
        "lines."
    )
    return Figure(f"figure-{number}", f"Figure {number}: {row['title']}", text, chart.draw)


def _point(values: Sequence[float]) -> dict[str, float]:
    found = estimate(values)
    ends = {} if found.low is None or found.high is None else {"low": found.low, "high": found.high}
    return {"y": found.mean, **ends}


def _chips(outcome: Outcome) -> Figure:
    stated = "MBM in the paper"
    points: list[dict[str, Any]] = []
    for scheme in PAPERS:
        for chips in outcome.plan.chips:
            found = _point([one.normalised(scheme, chips) for one in outcome.seeds()])
            points.append({"series": scheme, "x": chips, **found})
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
                    found = [one.one(load, scheme).percentile_us(op, percent)
                             for one in group.seeds()]  # fmt: skip
                    us = [one for one in found if one is not None]
                    if len(us) < len(found):
                        missing.add(percent)
                    else:
                        points.append({"series": scheme, "x": 100 / (100 - percent),
                                       **_point([one / 1e3 for one in us])})  # fmt: skip
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
