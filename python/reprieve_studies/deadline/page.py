"""The report: the question, the results, and where no policy gains."""

from __future__ import annotations

from math import isnan

from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Dots
from reprieve_studies.deadline.bounds import RELAXED
from reprieve_studies.deadline.claims import gains, headline
from reprieve_studies.deadline.experiment import HEAVIER, SAFETY, Outcome
from reprieve_studies.deadline.families import FAMILIES, words

_HOW = (
    "Three families of policies are searched with as many tries each, on the same seeds: the knobs "
    "of today (an operation near its end, or soon after its last suspension, or suspended often "
    "enough, goes on), batch (a suspension for N reads, or for one that has waited long enough), "
    "deadline (at the last instant that still saves a read). The point with the fewest suspensions "
    f"that keeps {SAFETY:.0%} of the late reads that are allowed is frozen and judged on other "
    "seeds, where all see the same arrivals."
)
_NULLS = (
    "Nothing was expected to be gained where the service level is four reads, where bursts "
    "saturate the die, and where 99 % of the writes have to be kept."
)
_SHIFT = (
    "The frozen points under a load that is heavier by a quarter. A rule of instants and a rule of "
    "counts were both chosen for the lighter one."
)


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    return {
        "Points of each family": f"{plan.tries} on one die, {plan.drive_tries} on a drive, the "
        "plainest and those of Sobol's sequence",
        "Seeds": f"{', '.join(map(str, plan.searched))} of the search, the first on drives; "
        f"{', '.join(map(str, plan.judged))} of the judgement",
        "Loads": f"{len(outcome.benches)}",
        "Requests of a run": f"{plan.reads:,} reads on one die, {plan.requests:,} requests on a "
        "drive, recordings whole",
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    return [
        Section(headline(outcome), [_HOW], [_picture(outcome)], [_judged(outcome)]),
        Section("Nothing to gain", [_NULLS], tables=[_nulls(outcome)]),
        Section("A heavier load", [_SHIFT], tables=[_judged(outcome, HEAVIER[-1])]),
        Section("The points", tables=[_points(outcome)]),
        *_bounds(outcome),
    ]


def _picture(outcome: Outcome) -> Figure:
    values = {
        (bench.title, family): outcome.over_seeds(bench.name, family).suspensions_per_s
        for bench in outcome.benches
        if bench.aim == "suspensions"
        for family in FAMILIES
    }
    caption = (
        "Suspensions a second of the frozen point of each family, mean over the seeds of the "
        "judgement, by load; the tails are equal where the table says so."
    )
    dots = Dots(values, "suspensions a second", log=True)
    return Figure("suspensions", "What each family needs", caption, dots.draw)


_COLUMNS = (
    "load", "family", "late reads, %", "p99.9, µs", "suspensions/s", "operations suspended, %",
    "writes/s", "write mean, µs", "written, MB/s", "energy, J",
)  # fmt: skip


def _judged(outcome: Outcome, heavier: float = 1.0) -> Table:
    rows = []
    for bench in outcome.benches:
        for family in FAMILIES:
            one = outcome.over_seeds(bench.name, family, heavier)
            rows.append([
                bench.title, family, f"{100 * one.late_share:.3f}", f"{one.p99_9_us:,.0f}",
                f"{one.suspensions_per_s:,.0f}", f"{100 * one.suspensions_of_most:.1f}",
                f"{one.writes_per_s:,.0f}", f"{one.write_mean_us:,.0f}",
                f"{one.write_bytes_per_s / 1e6:,.1f}",
                "–" if isnan(one.energy_j) else f"{one.energy_j:.3g}",
            ])  # fmt: skip
    load = "the load of the search" if heavier == 1 else f"a load {heavier:g} times as heavy"
    return Table(f"Frozen points on other seeds, under {load}", _COLUMNS, rows, 2,
                 folded=heavier != 1)  # fmt: skip


def _nulls(outcome: Outcome) -> Table:
    rows = []
    for found in gains(outcome):
        if found.bench.null:
            low, high = found.ratio.low, found.ratio.high
            between = "–" if low is None or high is None else f"{low:.2f} to {high:.2f}"
            tails = "equal" if found.is_equal else "not equal"
            rows.append([found.bench.title, f"{found.ratio.mean:.2f}", between, tails])
    return Table("deadline over batch", ("load", "ratio", "95 % interval", "tails"), rows)


def _points(outcome: Outcome) -> Table:
    rows = [
        [
            bench.title, family, words(one.keys),
            f"{one.found.suspensions_per_s:,.0f}", f"{100 * one.found.late_share:.3f}",
            "yes" if one.is_feasible else "no",
        ]
        for bench in outcome.benches
        for family, one in ((family, outcome.frozen[bench.name, family]) for family in FAMILIES)
    ]  # fmt: skip
    columns = ("load", "family", "point", "suspensions/s", "late reads, %", "kept")
    return Table("Frozen points, as their search found them", columns, rows, 3, folded=True)


def _bounds(outcome: Outcome) -> list[Section]:
    if not outcome.bounds:
        return []
    rows = []
    for name, found in outcome.bounds.items():
        kinds = [outcome.over_seeds(name, kind) for kind in (*FAMILIES, RELAXED)]
        rows.append([name, *(f"{rate:,.0f}" for rate in found.values()),
                     *(f"{one.suspensions_per_s:,.0f} ({100 * one.late_share:.3f})"
                       for one in kinds)])  # fmt: skip
    steps = (f"bound, {step}" for step in found)
    columns = ("bench", *steps, *FAMILIES, RELAXED)
    text = (
        "No policy has so few late reads as are allowed with fewer suspensions a second than the "
        "bound, whose steps favour the policy: it rises as they become shorter. A bound above the "
        "rate of the reads says that no policy keeps that share. Steps are in µs; `as late` is for "
        "the late reads of the policy that the relaxation suggests, at the best of its prices. "
        "Beside it the frozen points, with late reads in %."
    )
    return [Section("Beside a lower bound", [text],
                    tables=[Table("Suspensions a second", columns, rows)])]  # fmt: skip
