"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

import tempfile
from pathlib import Path

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.frame import questions
from reprieve_studies.starblaze import figures, realtime
from reprieve_studies.starblaze.claims import KINDS, Outcome, numbers, verdicts
from reprieve_studies.starblaze.runs import (
    BASE,
    CASES,
    DATA,
    SETTINGS,
    Plan,
    files,
    simulate,
    slides,
)
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    if settings.real_time:
        realtime.require_fio()
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    with settings.bench() as bench:
        outcome = Outcome(plan, simulate(plan, plan.spots, bench))
    sections, found = _sections(outcome), verdicts(outcome)
    if settings.real_time:
        settings.step("fio against the served drive, in real time", 0, 1)
        with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
            served = realtime.serve_all(realtime.RUNTIME_S, Path(folder))
        sections.append(realtime.section(served))
        found += realtime.verdicts(served)
    return Article(
        title="Starblaze 2017 reproduced: a database's load before and after suspension",
        command=settings.command,
        facts={
            "Paper": DATA["paper"],
            "Reading": BASE.title,
            "Simulated time of a run": f"{plan.runtime_s} s after a ramp of {plan.ramp_s} s",
            "Runs": f"{len(plan.spots):,}",
            "Seeds": f"1 to {plan.seeds}; 1 of readings without claims",
        },
        sections=sections,
        verdicts=found,
        files=files(plan),
        numbers=numbers(outcome),
    )


STUDY = Study(
    "Starblaze, NAND flash program and erase suspension in an SSD controller, slides of the "
    "Flash Memory Summit, 2017",
    frozenset({"real_time"}),
    article,
)

_DRIVE = (
    "The slides name no drive. Ours has 32 dies of 3D TLC with the slides' typical times, 64 "
    "blocks each, programs of 64 KiB (four planes as one), and collects garbage in step with the "
    "host. It is mapped by 4 KiB and full. Every request takes 15 µs before it reaches the drive, "
    "taken from the slides' writes, which end in the buffer; so their mean is an input. Programs "
    "of 64 KiB on 32 dies were chosen by hand arithmetic before any run: the mean read of the "
    "slides loses 13 to 52 µs by suspension, and a read waits for programs about that long in "
    "such a drive."
)
_LOAD = (
    "The names of the cases are read as mixes: 2rr1rw as two reads to a write, 5rr4rw as five to "
    "four. Rates are held at those of the slides, which are the same before and after, with one "
    "request outstanding a thread. The job files are in jobs/, and a real fio takes them too."
)


def _sections(outcome: Outcome) -> list[Section]:
    return [
        Section("The tables of the slides", [_DRIVE, _LOAD], figures.all_figures(outcome),
                [_both_tables(outcome)]),
        Section("Other readings", questions(DATA.readings.values()), tables=[_by_reading(outcome)]),
    ]  # fmt: skip


def _both_tables(outcome: Outcome) -> Table:
    """Set the slides' two tables beside ours."""
    columns = ["case", "of", "IOPS, slides", "ours"]
    rows = []
    for case in CASES:
        for kind in KINDS:
            before, after = (outcome.row(setting, case, kind) for setting in ("none", "both"))
            cells = [f"{slides(case, kind, 'iops'):,}", f"{after.iops:,.0f}"]
            for measure, digits in (("mean_us", 1), ("us_max", 0)):
                for setting, row in (("none", before), ("both", after)):
                    pair = (slides(case, kind, measure, setting), getattr(row, measure))
                    cells += [f"{one:,.{digits}f}" for one in pair]
            rows.append([case, kind, *cells])
    for word in ("mean", "max"):
        for when in ("before", "after"):
            columns += [f"{word} {when}, slides", "ours"]
    return Table("Both tables, in µs; ours is the middle of the seeds' maxima", columns, rows, 2)


def _by_reading(outcome: Outcome) -> Table:
    """Set the reads and the rate of every reading and setting beside the slides."""
    rows = []
    for case in CASES:
        for reading in DATA.readings.values():
            for setting in ("none", *reading.options["settings"]):
                read = outcome.row(setting, case, "read", reading.name)
                rows.append([case, reading.title, SETTINGS[setting]["title"],
                             f"{outcome.rate(setting, case, reading.name):,.0f}",
                             f"{read.mean_us:.1f}", f"{read.us_max:,.0f}"])  # fmt: skip
        for setting, when in (("none", "before"), ("both", "after")):
            iops = sum(slides(case, kind, "iops") for kind in KINDS)
            rows.append([case, "slides", when, f"{iops:,}",
                         f"{slides(case, 'read', 'mean_us', setting):.1f}",
                         f"{slides(case, 'read', 'us_max', setting):,.0f}"])  # fmt: skip
    columns = ["case", "reading", "suspended", "IOPS", "mean read, µs", "longest, µs"]
    return Table("Every reading, by case", columns, rows, words=3)
