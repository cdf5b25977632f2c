"""The report's tables."""

from statistics import fmean

from reprieve_studies.article import Table
from reprieve_studies.starblaze.arithmetic import (
    alone_us,
    expected_us_max,
    little,
    wait,
    waits_behind,
)
from reprieve_studies.starblaze.bench import conflicts
from reprieve_studies.starblaze.experiment import Outcome
from reprieve_studies.starblaze.measures import amplification, measured
from reprieve_studies.starblaze.paper import CASES, KINDS, PARTS, Case
from reprieve_studies.starblaze.readings import (
    BASE,
    COMMAND_US,
    PCIE_BYTES_PER_S,
    READINGS,
    SETTINGS,
    TLC,
    UNIT_BYTES,
)

LINK_US = 1e6 * UNIT_BYTES / PCIE_BYTES_PER_S


def both_tables(outcome: Outcome) -> Table:
    """Set the slides' two tables beside ours."""
    rows = []
    for case in CASES.values():
        for kind in KINDS:
            row = case.read if kind == "read" else case.write
            found = {
                setting: measured(outcome.runs, BASE.name, setting, case.name, kind)
                for setting in ("none", "both")
            }
            rows.append([
                case.name, kind, f"{row.iops:,}", f"{found['both'].iops:,.0f}",
                f"{row.before_us:.1f}", f"{found['none'].mean_us:.1f}",
                f"{row.after_us:.1f}", f"{found['both'].mean_us:.1f}",
                f"{row.before_us_max:,.0f}", f"{found['none'].us_max:,.0f}",
                f"{row.after_us_max:,.0f}", f"{found['both'].us_max:,.0f}",
            ])  # fmt: skip
    columns = ["case", "of", "IOPS, slides", "ours", "mean before, slides", "ours",
               "mean after, slides", "ours", "max before, slides", "ours",
               "max after, slides", "ours"]  # fmt: skip
    return Table("Both tables, in µs; ours is the middle of the seeds' maxima", columns, rows, 2)


def by_setting(outcome: Outcome) -> Table:
    """Say what each kind of suspension does by itself."""
    rows = []
    for case in CASES.values():
        for setting in BASE.settings:
            read = measured(outcome.runs, BASE.name, setting, case.name, "read")
            rows.append([
                case.name, SETTINGS[setting][0], f"{read.mean_us:.1f}", f"{read.us_max:,.0f}",
                f"{read.us_max_least:,.0f} to {read.us_max_most:,.0f}",
            ])  # fmt: skip
        rows.append([case.name, "slides, before", f"{case.read.before_us:.1f}",
                     f"{case.read.before_us_max:,.0f}", ""])  # fmt: skip
        rows.append([case.name, "slides, after", f"{case.read.after_us:.1f}",
                     f"{case.read.after_us_max:,.0f}", ""])  # fmt: skip
    columns = ["case", "reads suspend", "mean read, µs", "longest, µs", "by seed"]
    return Table("Reads by what they may suspend", columns, rows, words=2)


def by_reading(outcome: Outcome) -> Table:
    """Say what each reading changes."""
    rows = []
    for case in CASES.values():
        rows.append([
            case.name, "slides", "", f"{case.read.iops + case.write.iops:,}",
            f"{case.read.iops + case.write.iops:,}", f"{case.read.before_us:.1f}",
            f"{case.read.after_us:.1f}", f"{case.read.before_us_max:,.0f}",
            f"{case.read.after_us_max:,.0f}",
        ])  # fmt: skip
        for reading in READINGS:
            for setting in reading.settings[1:]:
                pair = [
                    [measured(outcome.runs, reading.name, of, case.name, kind) for kind in KINDS]
                    for of in ("none", setting)
                ]
                rows.append([
                    case.name, reading.title, SETTINGS[setting][0],
                    *(f"{sum(kind.iops for kind in one):,.0f}" for one in pair),
                    *(f"{one[0].mean_us:.1f}" for one in pair),
                    *(f"{one[0].us_max:,.0f}" for one in pair),
                ])  # fmt: skip
    columns = ["case", "reading", "suspended", "IOPS before", "after", "mean read before, µs",
               "after", "longest before, µs", "after"]  # fmt: skip
    return Table("Every reading, by case", columns, rows, words=3)


def sums() -> Table:
    """Say what Little's law makes of the slides' rates and latencies."""
    rows = []
    for case in CASES.values():
        found = little(case)
        iops = case.read.iops + case.write.iops
        rows.append([
            case.name, f"{100 * case.read_share:.1f}", f"{found.outstanding_before:.3f}",
            f"{found.outstanding_after:.3f}", f"{found.think_us:.1f}", f"{iops:,}",
            f"{found.iops_after:,.0f}", f"{100 * (found.iops_after / iops - 1):+.1f}",
        ])  # fmt: skip
    columns = ["case", "reads, %", "outstanding before", "after", "pause, µs", "IOPS, both tables",
               "implied after", "gain, %"]  # fmt: skip
    return Table("The slides' numbers under Little's law, by hand", columns, rows)


def waits_by_hand(outcome: Outcome, case: Case) -> dict[str, float]:
    """Return by hand what reads of a case wait for, and what the longest after implies."""
    program_us = 1e3 * TLC.times.t_program_ms[0] + TLC.load_us
    alone = alone_us(TLC, COMMAND_US, LINK_US)
    factor = _case_amplification(outcome, case.name)
    found = wait(TLC, case, factor)
    behind = found.reads_behind_programs
    return {
        "amplification": factor,
        "program_percent": 100 * found.program_share,
        "program_us": found.program_us,
        "erase_us": found.erase_us,
        "mean_read_us": alone + found.program_us + found.erase_us,
        "reads_behind_erases": found.reads_behind_erases,
        "reads_behind_programs": behind,
        "longest_us": alone + expected_us_max(program_us, behind),
        "waits_implied": waits_behind(case.read.after_us_max - alone, program_us),
    }


def waits(outcome: Outcome) -> Table:
    """Say by hand what reads wait for, and what the longest after implies."""
    formats = (".2f", ".1f", ".1f", ".2f", ".1f", ",.0f", ",.0f", ",.0f", ".1f")
    rows = []
    for case in CASES.values():
        found = waits_by_hand(outcome, case)
        cells = [format(one, spec) for one, spec in zip(found.values(), formats, strict=True)]
        rows.append([case.name, *cells])
    columns = [
        "case",
        "write amplification, ours",
        "dies in programs, %",
        "wait for them, µs",
        "for erases, µs",
        "mean read, µs",
        "reads behind erases, a minute",
        "behind programs",
        "longest of these, µs",
        "waits that the slides' longest implies",
    ]
    return Table("What a read waits for, by hand", columns, rows)


def _case_amplification(outcome: Outcome, case: str) -> float:
    """Return that of the chosen reading, without suspension."""
    return fmean(
        amplification(result)
        for spot, result in outcome.runs.items()
        if (spot.reading, spot.setting, spot.case) == (BASE.name, "none", case)
    )


def conflicts_of_parts() -> Table:
    """Return reads behind operations, on the bench."""
    rows = [
        [PARTS[one.part].title, one.operation, one.values, f"{one.paper_us:,.1f}",
         f"{one.ours_us:,.1f}", f"{one.around_us:,.1f}", f"{one.suspended_us:,.1f}"]
        for one in conflicts()
    ]  # fmt: skip
    columns = ["part", "operation", "times", "sum of the slides, µs", "ours, µs",
               "commands and transfers", "read where it is suspended"]  # fmt: skip
    return Table("A read that comes as the operation begins", columns, rows, words=3)
