"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from collections.abc import Sequence
from functools import partial

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.frame import questions
from reprieve_studies.joint import Candidate, search
from reprieve_studies.runs import Bench
from reprieve_studies.starblaze import figures
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
from reprieve_studies.verdicts import Verdict


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = DATA["plan"]["quick" if settings.quick else "full"]
    plan = Plan(**usual, seeds=DATA["seeds"], claims_only=settings.quick)
    with settings.bench() as bench:
        outcome = Outcome(plan, simulate(plan, plan.spots, bench))
    return Article(
        title="Starblaze 2017 reproduced: a database's load before and after suspension",
        command=settings.command,
        facts={
            "Paper": DATA["paper"],
            "Reading": BASE.title,
            "Simulated time of a run": f"{plan.runtime_s} s after a ramp of {plan.ramp_s} s",
            "Runs": f"{len(plan.spots):,}",
            "Seeds": f"{', '.join(map(str, plan.seeds))}; the first of readings without claims",
        },
        sections=_sections(outcome),
        verdicts=verdicts(outcome),
        files=files(plan),
        numbers=numbers(outcome),
    )


def judge(
    bench: Bench, candidate: Candidate, seeds: Sequence[int], *, quick: bool
) -> list[Verdict]:
    """Judge every claim under a candidate for the joint reading."""
    usual = DATA["plan"]["quick" if quick else "full"]
    plan = Plan(**usual, seeds=seeds, base=candidate.reading, claims_only=True)
    return verdicts(Outcome(plan, simulate(plan, plan.spots, bench)))


STUDY = Study(
    "Starblaze, NAND flash program and erase suspension in an SSD controller, slides of the "
    "Flash Memory Summit, 2017",
    frozenset(),
    article,
    joint=partial(search, DATA, judge, title="Starblaze 2017"),
)

_DRIVE = (
    "The slides name no drive. Ours has 64 dies of 3D TLC with the slides' typical times, 64 "
    "blocks each, programs of 64 KiB (four planes as one), and collects garbage in step with the "
    "host. It is mapped by 4 KiB and full; 50 % of it are spare. Dies and spare blocks are fitted "
    "to the means. Every request takes 15 µs before it reaches the drive, taken from the slides' "
    "writes, which end in the buffer; so their mean is an input."
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
        Section("Other readings", questions(outcome.plan.readings.values()),
                tables=[_by_reading(outcome)]),
    ]  # fmt: skip


def _both_tables(outcome: Outcome) -> Table:
    """Set the slides' two tables beside ours."""
    columns = ["case", "of", "IOPS, slides", "ours", "p99.9 before, ours", "after, ours"]
    rows = []
    for case in CASES:
        for kind in KINDS:
            before, after = (outcome.row(setting, case, kind) for setting in ("none", "both"))
            cells = [f"{slides(case, kind, 'iops'):,}", f"{after.iops:,.0f}",
                     f"{before.p999_us:,.0f}", f"{after.p999_us:,.0f}"]  # fmt: skip
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
        for reading in outcome.plan.readings.values():
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
