"""The report: the question, the results, and where no policy gains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isnan

from reprieve_studies import frame
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Dots
from reprieve_studies.deadline.benches import DATA
from reprieve_studies.deadline.claims import gains, headline
from reprieve_studies.deadline.experiment import HEAVIER, JUDGING, Outcome
from reprieve_studies.deadline.families import FAMILIES, RELAXED, words
from reprieve_studies.deadline.measures import Measured
from reprieve_studies.seeds import interval

_TEXT: Mapping[str, str] = DATA["text"]
_CELLS: Mapping[str, Callable[[Measured], str]] = {
    "late reads, %": lambda one: f"{100 * one.late_share:.3f}",
    "p99.9, µs": lambda one: f"{one.p99_9_us:,.0f}",
    "suspensions/s": lambda one: f"{one.suspensions_per_s:,.0f}",
    "operations suspended, %": lambda one: f"{100 * one.suspensions_of_most:.1f}",
    "writes/s": lambda one: f"{one.writes_per_s:,.0f}",
    "write mean, µs": lambda one: f"{one.write_mean_us:,.0f}",
    "written, MB/s": lambda one: f"{one.write_bytes_per_s / 1e6:,.1f}",
    "energy, J": lambda one: "–" if isnan(one.energy_j) else f"{one.energy_j:.3g}",
}


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    return frame.facts(DATA, outcome.plan, loads=len(outcome.benches))


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    return [
        Section(
            headline(outcome),
            [_TEXT["how"].format(**JUDGING)],
            [_picture(outcome)],
            [_judged(outcome)],
        ),
        Section("Nothing to gain", [_TEXT["nulls"]], tables=[_nulls(outcome)]),
        Section("A heavier load", [_TEXT["shift"]], tables=[_judged(outcome, HEAVIER[-1])]),
        Section("The points", tables=[_points(outcome)]),
        *_bounds(outcome),
    ]  # fmt: skip


def _picture(outcome: Outcome) -> Figure:
    values = {
        (bench.title, family): outcome.over_seeds(bench.name, family).suspensions_per_s
        for bench in outcome.benches if bench.aim == "suspensions" for family in FAMILIES
    }  # fmt: skip
    dots = Dots(values, "suspensions a second", log=True)
    return Figure("suspensions", "What each family needs", _TEXT["suspensions"], dots.draw)


def _judged(outcome: Outcome, heavier: float = 1.0) -> Table:
    rows = [
        [bench.title, family, *(cell(outcome.over_seeds(bench.name, family, heavier))
                                for cell in _CELLS.values())]
        for bench in outcome.benches for family in FAMILIES
    ]  # fmt: skip
    load = "the load of the search" if heavier == 1 else f"a load {heavier:g} times as heavy"
    return Table(f"Frozen points on other seeds, under {load}", ("load", "family", *_CELLS), rows,
                 2, folded=heavier != 1)  # fmt: skip


def _nulls(outcome: Outcome) -> Table:
    rows = [[one.bench.title, f"{one.ratio.mean:.2f}", interval(one.ratio.low, one.ratio.high),
             "equal" if one.keeps and one.batch_keeps else "not equal"]
            for one in gains(outcome) if one.bench.null]  # fmt: skip
    return Table("deadline over batch", ("load", "ratio", "95 % interval", "tails"), rows)


def _points(outcome: Outcome) -> Table:
    shown, rows = ("suspensions/s", "late reads, %"), []
    for bench in outcome.benches:
        for family in FAMILIES:
            one = outcome.frozen[bench.name, family]
            rows.append([bench.title, family, words(one.keys),
                         *(_CELLS[name](one.found) for name in shown),
                         "yes" if one.is_feasible else "no"])  # fmt: skip
    columns = ("load", "family", "point", *shown, "kept")
    return Table("Frozen points, as their search found them", columns, rows, 3, folded=True)


def _bounds(outcome: Outcome) -> list[Section]:
    if not outcome.bounds:
        return []
    kinds, steps = (*FAMILIES, RELAXED), next(iter(outcome.bounds.values()))
    rows = [
        [name, *(f"{rate:,.0f}" for rate in found.values()),
         *(f"{one.suspensions_per_s:,.0f} ({100 * one.late_share:.3f})"
           for one in (outcome.over_seeds(name, kind) for kind in kinds))]
        for name, found in outcome.bounds.items()
    ]  # fmt: skip
    table = Table(
        "Suspensions a second", ("bench", *(f"bound, {step}" for step in steps), *kinds), rows
    )
    return [Section("Beside a lower bound", [_TEXT["bounds"]], tables=[table])]
