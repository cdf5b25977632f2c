"""The paper's figures in its form, how far they hang on readings, and the ablation's."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from reprieve.plot import Chart, Theme
from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Dots, Lines
from reprieve_studies.mbm import ablation
from reprieve_studies.mbm.experiment import LIMIT, TAIL, Outcome
from reprieve_studies.mbm.formulas import read_bound_mb_per_s, write_bound_of_dies_mb_per_s
from reprieve_studies.mbm.measured import OPS, PERCENTILES, Measured
from reprieve_studies.mbm.measures import Group, papers
from reprieve_studies.mbm.paper import BANDWIDTH_MEAN, CHIPS, MSNFS, MSNFS_ERASES, SRC, TAIL_LOADS
from reprieve_studies.mbm.readings import (
    BASE,
    GRID_FTLS,
    MBM,
    PAPERS,
    PARTS,
    PLAIN,
    SPRINKLER,
    SUSPENSION,
    TBM,
)

_ALL = (PLAIN, *PAPERS)
_AVERAGE = "average"
_IN_THE_PAPER = "MBM in the paper"
_PAPERS_AVERAGE = 0.564
"""Of MBM: 43.6 % less than TBM."""
_PAPERS_SRC = {MBM: 1.075, SPRINKLER: 2.18}


def of_the_paper(outcome: Outcome) -> list[Figure]:
    """Figures 8 to 13."""
    return [
        _response(outcome),
        _chips(outcome),
        _bandwidth(outcome),
        _erases(outcome),
        *_tails(outcome),
    ]


def _labels(outcome: Outcome) -> dict[str, str]:
    return {load.trace: load.label for load in outcome.plan.loads}


def _normalised(
    outcome: Outcome, group: Group, of: Callable[[Measured], float]
) -> dict[tuple[str, str, str], float]:
    """Return a measure over that of TBM, by load and scheme, and its average."""
    labels = _labels(outcome)
    found: dict[tuple[str, str, str], float] = {}
    for load in group.loads:
        base = of(group.one(load, TBM))
        for scheme in _ALL:
            ratio = of(group.one(load, scheme)) / base if base else math.nan
            found["", labels[load], scheme] = ratio
    for scheme in _ALL:
        own = [found["", labels[load], scheme] for load in group.loads]
        found["", _AVERAGE, scheme] = sum(own) / len(own)
    return _drawn(found)


def _drawn(values: dict[tuple[str, str, str], float]) -> dict[tuple[str, str, str], float]:
    """Leave out what was not measured: a short run has percentiles of nothing, and no erases."""
    return {key: value for key, value in values.items() if math.isfinite(value)}


def _response(outcome: Outcome) -> Figure:
    bars = Bars(
        _normalised(outcome, papers(outcome), lambda one: one.mean_us()),
        "mean latency, TBM = 1",
        marks=_marks(outcome),
        palette=_ALL,
    )
    caption = (
        "Mean latency of all requests over that of TBM; after Figure 8 of the paper, whose text "
        "has the values that are drawn as lines across their bars."
    )
    return Figure("figure-8", "Figure 8: response time", caption, bars.draw)


def _marks(outcome: Outcome) -> dict[tuple[str, str, str], float]:
    """Return the paper's values of Figure 8, as far as its text has them."""
    src = _labels(outcome)[SRC]
    return {
        ("", _AVERAGE, MBM): _PAPERS_AVERAGE,
        ("", src, MBM): _PAPERS_SRC[MBM],
        ("", src, SPRINKLER): _PAPERS_SRC[SPRINKLER],
    }


def _chips(outcome: Outcome) -> Figure:
    group = papers(outcome)
    points = [
        {"series": scheme, "x": chips, "y": group.normalised(scheme, chips)}
        for scheme in PAPERS
        for chips in CHIPS
    ]
    points.append({"series": _IN_THE_PAPER, "x": CHIPS[0], "y": _PAPERS_AVERAGE})
    lines = Lines(points, "chips per channel", "mean latency, TBM with 2 = 1", x_ticks=CHIPS,
                  dots_only=(_IN_THE_PAPER,), palette=_ALL)  # fmt: skip
    caption = (
        "Mean latency over that of TBM with two chips a channel, average of the paper's six loads, "
        "which stay as they are; after Figure 9 of the paper, whose text has MBM's value with two "
        "chips, and almost the same with eight."
    )
    return Figure("figure-9", "Figure 9: chips per channel", caption, lines.draw)


def _bandwidth(outcome: Outcome) -> Figure:
    bars = Bars(
        _normalised(outcome, papers(outcome, LIMIT), lambda one: one.mb_per_s),
        "bandwidth, TBM = 1",
        marks={("", _AVERAGE, MBM): BANDWIDTH_MEAN},
        palette=_ALL,
    )
    caption = (
        "Bytes a second over those of TBM, with 32 requests always outstanding; after Figure 10 of "
        "the paper, whose average is drawn as a line. By Table I the dies can program "
        f"{write_bound_of_dies_mb_per_s():.0f} MB/s, collection included, and the channels carry "
        f"{read_bound_mb_per_s():.0f}."
    )
    return Figure("figure-10", "Figure 10: bandwidth", caption, bars.draw)


def _erases(outcome: Outcome) -> Figure:
    bars = Bars(
        _normalised(outcome, papers(outcome), lambda one: float(one.erases)),
        "erases, TBM = 1",
        marks={("", _labels(outcome)[MSNFS], scheme): erases / MSNFS_ERASES[TBM]
               for scheme, erases in MSNFS_ERASES.items()},
        palette=_ALL,
    )  # fmt: skip
    caption = (
        "Blocks erased over those of TBM, one of each plane; after Figure 11 of the paper, whose "
        "text has the numbers of one load, drawn as lines across its bars. Twin blocks are erased "
        "by one command and are two."
    )
    return Figure("figure-11", "Figure 11: erases", caption, bars.draw)


def _tails(outcome: Outcome) -> Iterator[Figure]:
    group, labels = papers(outcome, TAIL), _labels(outcome)
    numbers = {(load, op): f"{12 + row}{'ab'[column]}" for row, load in enumerate(TAIL_LOADS)
               for column, op in enumerate(OPS)}  # fmt: skip
    for (load, op), number in numbers.items():
        points: list[dict[str, Any]] = []
        missing = set()
        for scheme in PAPERS:
            for percent in PERCENTILES:
                found = group.one(load, scheme).percentile_us(op, percent)
                if found is None:
                    missing.add(percent)
                else:
                    points.append({"series": scheme, "x": 100 / (100 - percent), "y": found / 1e3})
        title = f"{labels[load]}, {op}s"
        lines = Lines(points, "one request of so many is slower", f"latency of {op}s, ms",
                      x_log=True, y_log=True, palette=_ALL)  # fmt: skip
        few = ", ".join(f"p{percent:g}" for percent in sorted(missing))
        caption = (
            f"Percentiles of {op}s under {labels[load]}, from p94 (1 in 17) to p99.999 (1 in "
            f"100,000); after Figure {number} of the paper"
            + (f". Too few requests for {few}." if few else ".")
        )
        yield Figure(f"figure-{number}", f"Figure {number}: {title}", caption, lines.draw)


def sensitivity(outcome: Outcome) -> Figure:
    """Show how far Figure 8's average hangs on each reading."""
    values = {}
    for reading in (BASE, *outcome.plan.readings):
        group = papers(outcome, reading.name)
        for scheme in (SPRINKLER, MBM):
            if scheme in reading.schemes:
                own = group.responses(scheme, TBM)
                values[reading.title, scheme] = sum(own) / len(own)
    caption = (
        "Mean latency over that of TBM under the same reading, average of the paper's six loads, "
        f"with {outcome.plan.requests_short:,} requests of each. The lines are TBM and the "
        f"paper's MBM, at {_PAPERS_AVERAGE}."
    )
    dots = Dots(values, "mean latency, TBM = 1", (_PAPERS_AVERAGE, 1.0), log=True, palette=_ALL)
    return Figure("sensitivity", "What hangs on the readings", caption, dots.draw)


def _of_no_policy(
    values: dict[tuple[str, str, str], float], title: str
) -> Callable[[Theme], Chart]:
    """Return bars whose series are no policies, in colours that no policy has."""
    return Bars(_drawn(values), title, palette=_ALL).draw


def parts(outcome: Outcome) -> Figure:
    """Show MBM with each part switched off."""
    values = {
        ("", part, measure): ablation.part_ratio(outcome, part, measure)
        for part in PARTS
        for measure in ablation.MEASURES
    }
    caption = (
        "MBM with one part switched off over MBM with all: above 1 the part is worth something. "
        "Geometric means over all loads."
    )
    return Figure("parts", "MBM without its parts", caption, _of_no_policy(values, "MBM = 1"))


def grid(outcome: Outcome) -> Figure:
    """Show every FTL with every way of suspending."""
    values = {}
    for measure in ("mean", "read p99"):
        for row in GRID_FTLS:
            for way in SUSPENSION:
                found = ablation.grid_ratio(outcome, row, way, measure)
                values[measure, row, f"suspension: {way}"] = found
    caption = (
        "Mean latency of all requests and p99 of reads, over FIFO; geometric means over all "
        "loads. Under FIFO no read gets ahead, and nothing is suspended."
    )
    return Figure("grid", "FTLs and suspension", caption, _of_no_policy(values, "FIFO = 1"))
