"""The figure and the tables of the study."""

from collections.abc import Sequence

from reprieve_studies import frame
from reprieve_studies.aero.claims import Case, Outcome, cases, judged
from reprieve_studies.aero.runs import DATA
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import bars_over_seeds
from reprieve_studies.seeds import interval

_SHOWN = ("neither", "program", "ends", "erase", "both")
_ANSWERS = {True: "yes", False: "no", None: "undecided"}


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    requests = [f"{outcome.plan.requests(load):,}" for load in outcome.plan.loads]
    return frame.facts(DATA, outcome.plan, requests=requests, runs=len(outcome.runs))


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    return [
        Section("The gain, by what is suspended", [DATA["about"]], [gains(outcome)],
                [table_of_gains(outcome)])
    ]  # fmt: skip


def gains(outcome: Outcome) -> Figure:
    """Return how much AERO+ shortens the p99.9 of reads, by load, cycles and what is suspended."""
    found: dict[tuple[str, str, str], Sequence[float]] = {}
    for name in _SHOWN:
        case = Case(name, "plus", "p99_9")
        for load, cycles in outcome.cells(case):
            key = (DATA["loads"][load]["title"], f"{cycles:,}", DATA["arms"][name]["title"])
            found[key] = [
                outcome.gain_of(case, [(load, cycles)], seed) for seed in outcome.plan.seeds
            ]
    caption = (
        "By how much AERO+ shortens the p99.9 of reads against BASE, by load, program/erase "
        "cycles and what is suspended, with 95 % intervals over the seeds."
    )
    bars = bars_over_seeds(dict(sorted(found.items(), key=_order)), "shorter by, %", format=".0f")
    return Figure("gains", "What is left of the gain", caption, bars.draw)


def _order(item: tuple[tuple[str, str, str], Sequence[float]]) -> tuple[int, int]:
    (load, cycles, _), _ = item
    titles = [one["title"] for one in DATA["loads"].values()]
    return titles.index(load), int(cycles.replace(",", ""))


def table_of_gains(outcome: Outcome) -> Table:
    """Return every gain with its interval."""
    rows = []
    for case in cases(outcome):
        for load, cycles in outcome.cells(case):
            found = judged(outcome, case, [(load, cycles)])
            ends = interval(found["low"], found["high"], 1)
            rows.append([
                DATA["schemes"][case.scheme]["title"], DATA["arms"][case.arm]["title"],
                DATA["loads"][load]["title"], case.percentile.replace("_", "."), f"{cycles:,}",
                f"{found['mean']:.1f}", ends, _ANSWERS[found["survives"]],
            ])  # fmt: skip
    columns = ["scheme", "suspended", "load", "percentile", "cycles", "shorter by, %", "95 %",
               "34 %"]  # fmt: skip
    caption = "Gains against BASE; 34 %: does the published gain survive"
    return Table(caption, columns, rows, words=4, folded=True)
