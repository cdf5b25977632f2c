"""The report: the paper's figures in its form, how loads were made, and whose gain it is."""

from collections.abc import Mapping
from itertools import product
from math import isnan, nan
from typing import Any

from reprieve_studies.article import Figure, Section, Table, numbered
from reprieve_studies.charts import bars_over_seeds, lines_over_seeds
from reprieve_studies.compress import cells
from reprieve_studies.frame import by_reading, cell, contrast, listed, multiple, questions
from reprieve_studies.mbm.claims import CHIPS, compression, measured, of_other_readings
from reprieve_studies.mbm.runs import APART, DATA, OPS, PAPERS, PERCENTILES, TAIL, TBM, Outcome

_ALL = tuple(DATA["schemes"])
_AVERAGE = "average"
_AVERAGE_OF_MBM = 0.564
"""43.6 % less than TBM."""
_TEXT: Mapping[str, str] = DATA["text"]


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    lengths = f"{plan.requests:,} at most"
    if plan.readings:
        lengths += f"; {plan.requests_short:,} of other readings"
    if plan.tail_times:
        lengths += f", {plan.requests * plan.tail_times:,} for Figures 12 and 13"
    return {
        "Paper": DATA["paper"],
        "Reading": plan.base.title,
        **({} if plan.readings else {"Left out": "other readings, and Figures 9, 12 and 13"}),
        "Requests of a run": lengths,
        "Seeds": f"{', '.join(map(str, plan.seeds))}; intervals are of 95 % over them",
        "Pages of a block": f"{plan.pages_per_block:,} in place of 1,024",
        "Runs": f"{len(outcome.runs):,}",
        "Loads": ", ".join(load.label for load in plan.papers),
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    paper = Section("The paper's figures", [_TEXT[name] for name in ("drive", "loads", "schemes")],
                    _figures(outcome), [_loads(outcome)])  # fmt: skip
    if not outcome.plan.readings:
        return [paper]
    shown = (outcome.plan.base, *outcome.plan.readings)
    table = by_reading(
        "Response times under every reading",
        [(claim, "") for claim in DATA.claims if of_other_readings(claim)],
        {one.name: one.title for one in shown},
        lambda claim, _at, name: measured(outcome, claim, name),
    )
    return [
        paper,
        Section("Whose gain it is", [_TEXT["gain"]], tables=[_gain(outcome)]),
        Section("Other readings of the paper", questions(shown), tables=[table]),
    ]  # fmt: skip


def _loads(outcome: Outcome) -> Table:
    """Return every load: what the paper says of it, and how it was compressed."""
    rows = []
    for load in outcome.plan.papers:
        own = [f"{one:g}" for one in DATA["loads"][load.trace]]
        rows.append([load.trace, load.label, *own, *cells(compression(outcome, load.trace))])
    columns = ["trace", "load", "reads, KB", "writes, KB", "reads, %", "faster by",
               "drive idle, %", "dies idle, %"]  # fmt: skip
    return Table("Table II, and how loads are compressed", columns, rows, words=2)


def _gain(outcome: Outcome) -> Table:
    """Return how fast MBM and TBM are with and without suspension."""
    metrics = {"requests": "mean_us", "reads": "read_us", "writes": "write_us"}
    rows = [
        [name, *(cell(outcome.over_tbm(name, metric)) for metric in metrics.values())]
        for name in (*_ALL[2:], *APART)
    ]
    return Table(f"Mean latency, {TBM} = 1", ["scheme", *metrics], rows)


def _figures(outcome: Outcome) -> list[Figure]:
    """Return Figures 8 to 13."""
    first, *bars = (_bars(outcome, row) for row in listed(DATA["figure"]))
    tails = [_tail(outcome, f"{12 + row}{'ab'[column]}", load, op)
             for row, load in enumerate(DATA["tail_loads"]) for column, op in enumerate(OPS)
             if outcome.plan.tail_times]  # fmt: skip
    return [first, *([_chips(outcome)] if len(outcome.plan.chips) > 1 else []), *bars, *tails]


def _bars(outcome: Outcome, row: Mapping[str, Any]) -> Figure:
    """Draw a metric over that of TBM, by load and scheme, and its average."""
    number, seeds = row["number"], list(outcome.seeds(series=row["series"]))
    labels = {load.trace: load.label for load in outcome.plan.papers}
    pairs = {scheme: [one.pairs(row["metric"], scheme, TBM) for one in seeds] for scheme in _ALL}
    found = {("", label, scheme): [contrast("ratio", [one[at]]) for one in pairs[scheme]]
             for at, label in enumerate(labels.values()) for scheme in _ALL}  # fmt: skip
    marks = {
        ("", labels.get(claim.options.get("load", ""), _AVERAGE), claim.options["of"]):
        round(multiple(claim), 9) for claim in DATA.claims if claim.options.get("figure") == number
    }  # fmt: skip
    # A short run has percentiles of nothing, and no erases.
    chart = bars_over_seeds(
        found, f"{row['axis']}, TBM = 1", average=_AVERAGE, marks=marks, palette=_ALL
    )
    text = row["caption"] + _TEXT["lines"].format(number=number)
    return numbered(number, row["title"], text, chart.draw)


def _chips(outcome: Outcome) -> Figure:
    stated = "MBM in the paper"
    found: dict[tuple[str, float], list[float]] = {
        (scheme, chips): [one.normalised(scheme, chips) for one in outcome.seeds()]
        for scheme in PAPERS for chips in outcome.plan.chips
    }  # fmt: skip
    found[stated, CHIPS[0]] = [_AVERAGE_OF_MBM]
    lines = lines_over_seeds(found, "chips per channel", "mean latency, TBM with 2 = 1",
                             x_ticks=CHIPS, dots_only=(stated,), palette=_ALL)  # fmt: skip
    return numbered(9, "chips per channel", _TEXT["figure_9"], lines.draw)


def _tail(outcome: Outcome, number: str, load: str, op: str) -> Figure:
    (label,) = (one.label for one in outcome.plan.papers if one.trace == load)
    found = {}
    for scheme, percent in product(PAPERS, PERCENTILES):
        runs = [one.one(load, scheme).latencies[op] for one in outcome.seeds(series=TAIL)]
        us = [one.percentiles_us[str(percent)] or nan for one in runs]
        found[scheme, 100 / (100 - percent)] = [one / 1e3 for one in us]
    few = {percent for percent in PERCENTILES for scheme in PAPERS
           if isnan(sum(found[scheme, 100 / (100 - percent)]))}  # fmt: skip
    missing = ", ".join(f"p{percent:g}" for percent in sorted(few))
    lines = lines_over_seeds(found, "requests for each that is slower", f"latency of {op}s, ms",
                             x_log=True, y_log=True, palette=_ALL)  # fmt: skip
    caption = (
        f"Percentiles of {op}s under {label}, from p94 (1 in 17) to p99.999 (1 in 100,000); after "
        f"Figure {number} of the paper" + (f". Too few requests for {missing}." if few else ".")
    )
    return numbered(number, f"{label}, {op}s", caption, lines.draw)
