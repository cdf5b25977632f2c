"""The claims of the slides beside what was simulated."""

from collections.abc import Iterator

from reprieve_studies.starblaze.arithmetic import little
from reprieve_studies.starblaze.bench import Conflict, conflicts
from reprieve_studies.starblaze.experiment import Outcome
from reprieve_studies.starblaze.measures import Measured, change_percent, measured
from reprieve_studies.starblaze.paper import (
    AFTER_TABLE,
    BEFORE_TABLE,
    CASES,
    CHANGE_TOLERANCE_POINTS,
    IOPS_TOLERANCE,
    KINDS,
    LATENCY_TOLERANCE,
    PAPER,
    PARTS,
    TIMING_TABLE,
    Case,
    Row,
)
from reprieve_studies.starblaze.readings import BASE
from reprieve_studies.verdicts import Verdict

BEFORE, AFTER = "none", "both"


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the slides."""
    return [
        *(_of_the_bench(conflict) for conflict in conflicts()),
        *(verdict for case in CASES.values() for verdict in _table(outcome, case)),
        *_same_rates(outcome),
        *_better(outcome),
        *_untestable(outcome),
    ]


def _of_the_bench(conflict: Conflict) -> Verdict:
    name = PARTS[conflict.part].title
    sum_of = "tErase + tR" if conflict.operation == "erase" else "tProg + tR"
    return Verdict(
        f"a read after {conflict.operation} takes {sum_of}: {name}, {conflict.values}",
        f"{PAPER}, “Read and Program/Erase Conflict”, and {TIMING_TABLE}",
        "µs", conflict.paper_us, conflict.ours_us, conflict.around_us + 1e-3,
        note="tolerance: commands and transfers, which the sum leaves out", kind="input",
    )  # fmt: skip


def _rows(outcome: Outcome, case: Case, kind: str) -> tuple[Row, Measured, Measured]:
    before, after = (
        measured(outcome.runs, BASE.name, setting, case.name, kind) for setting in (BEFORE, AFTER)
    )
    return (case.read if kind == "read" else case.write), before, after


def _table(outcome: Outcome, case: Case) -> Iterator[Verdict]:
    for kind in KINDS:
        row, before, after = _rows(outcome, case, kind)
        title = f"{case.name}, {kind}s"
        yield _rate(f"{title}: IOPS", BEFORE_TABLE, row.iops, before)
        for name, source, mean_us, us_max, ours in (
            ("before", BEFORE_TABLE, row.before_us, row.before_us_max, before),
            ("after", AFTER_TABLE, row.after_us, row.after_us_max, after),
        ):
            yield Verdict(
                f"{title}: mean latency {name}", source, "µs",
                mean_us, ours.mean_us, LATENCY_TOLERANCE * mean_us,
            )  # fmt: skip
            yield Verdict(
                f"{title}: maximum latency {name}", source, "µs",
                us_max, ours.us_max, LATENCY_TOLERANCE * us_max,
                note=f"seeds: {ours.us_max_least:,.0f} to {ours.us_max_most:,.0f}",
            )  # fmt: skip
        for name, papers, found in (
            ("mean", (row.before_us, row.after_us), (before.mean_us, after.mean_us)),
            ("maximum", (row.before_us_max, row.after_us_max), (before.us_max, after.us_max)),
        ):
            yield Verdict(
                f"{title}: change of the {name} latency", AFTER_TABLE, "%",
                change_percent(*papers), change_percent(*found), CHANGE_TOLERANCE_POINTS,
                kind="derived",
            )  # fmt: skip


def _rate(claim: str, source: str, iops: int, ours: Measured) -> Verdict:
    note = "what the load asks for; missed only by a drive that cannot follow"
    tolerance = IOPS_TOLERANCE * iops
    return Verdict(claim, source, "1", iops, ours.iops, tolerance, note=note, kind="input")


def _same_rates(outcome: Outcome) -> Iterator[Verdict]:
    """Say whether the rates stay as they are where nothing but latency limits them."""
    for case in CASES.values():
        before, after = (
            sum(measured(outcome.runs, "think", setting, case.name, kind).iops for kind in KINDS)
            for setting in (BEFORE, AFTER)
        )
        implied = little(case)
        would = change_percent(case.read.iops + case.write.iops, implied.iops_after)
        yield Verdict(
            f"{case.name}: IOPS do not change, in a closed loop with the rates before",
            AFTER_TABLE, "%", 0, change_percent(before, after), 100 * IOPS_TOLERANCE,
            note=f"by Little's law the latencies of the slides themselves imply {would:+.1f} %, "
                 f"with pauses of {implied.think_us:.0f} µs",
        )  # fmt: skip


def _better(outcome: Outcome) -> Iterator[Verdict]:
    pairs = [_rows(outcome, case, kind)[1:] for case in CASES.values() for kind in KINDS]
    for name, better in (
        ("average", [after.mean_us < before.mean_us for before, after in pairs]),
        ("maximum", [after.us_max < before.us_max for before, after in pairs]),
    ):
        yield Verdict(
            f"{name} latencies are better than original", AFTER_TABLE, "1",
            len(pairs), sum(better), 0, note="rows of the table for which it holds",
            kind="derived",
        )  # fmt: skip


def _untestable(outcome: Outcome) -> Iterator[Verdict]:
    results = [
        result.summary["flash"]["suspended_operations"]
        for spot, result in outcome.runs.items()
        if (spot.reading, spot.setting) == (BASE.name, AFTER)
    ]
    longer = {
        kind: 100 * max(found[kind]["increase_mean"] for found in results)
        for kind in ("program", "erase")
    }
    for claim, why in (
        ("frequent suspension wears cells out",
         "what a suspension costs a cell is a parameter here, reliability.wear_per_suspend"),
        ("collection that is interrupted may have negative effects",
         f"the slides have no number; ours: a program that was suspended takes up to "
         f"{longer['program']:.1f} % longer in the mean, an erase {longer['erase']:.1f} %"),
        ("power loss protection with erase suspension",
         "the slides do not say how much energy a loss of power leaves"),
    ):  # fmt: skip
        yield Verdict(claim, PAPER, "1", None, None, None, note=why, untestable=True)
