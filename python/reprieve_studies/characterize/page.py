"""The report of a characterisation: a section for each of the paper's figures."""

from collections.abc import Callable, Mapping

from reprieve.characterize import LENGTH_SHARE, START_SHARE, Measured
from reprieve_studies.article import Article, Figure, Section, Table
from reprieve_studies.characterize.claims import CYCLES, CYCLES_BEFORE, DATA, DAYS, verdicts
from reprieve_studies.characterize.figures import BeforeAfterBars, Histogram, Map

_TEXT: Mapping[str, str] = DATA["text"]


def article(measured: Measured, command: str) -> Article:
    """Write it up."""
    about = _TEXT["about"].format(length=100 * LENGTH_SHARE, start=START_SHARE)
    return Article(
        title=f"{measured.part} on the bench: suspended programs",
        command=command,
        facts={
            "Part": measured.part,
            "Wordlines": f"{measured.wordlines:,}",
            "Seed": str(measured.seed),
            "Programs": f"{len(measured.runs):,}",
            "tPGM": f"{measured.program_ns / 1e3:,.1f} µs",
        },
        sections=[
            Section("How to read it", [about]),
            *(make(measured) for make in SECTIONS),
            *errors(measured),
        ],
        verdicts=verdicts(measured),
        verdicts_title="Beside the chip of the paper",
    )


def suspensions(measured: Measured) -> Section:
    """Figure 6."""
    counts = measured.suspensions()
    total = sum(counts.values())
    rows = [
        [str(number), f"{count:,}", f"{100 * count / total:.2f} %"]
        for number, count in counts.items()
    ]
    figure = Figure(
        "figure-6",
        "Number of suspensions",
        "Programs by how often they were suspended, all pairs of delays together.",
        Histogram(counts).draw,
    )
    table = Table("Number of suspensions", ["suspensions", "programs", "share"], rows, folded=True)
    return Section("Suspensions of a program", [], [figure], [table])


def entry(measured: Measured) -> Section:
    """Figure 7."""
    figures = [
        Figure(
            f"figure-7{letter}",
            f"{word.capitalize()} tEPS",
            f"{word.capitalize()} time to enter suspension, in % of tPGM.",
            Map(measured.percent_of_eps(worst=word == "worst", drawn=True), "tEPS, % of tPGM").draw,
        )
        for letter, word in (("a", "mean"), ("b", "worst"))
    ]
    return Section("Time to enter suspension", [_TEXT["entry"]], figures)


def lengths(measured: Measured) -> Section:
    """Figure 8, by both clocks."""
    clocks = (
        ("8", "tPGM,s", "t_program_suspended_ns", "to the end of the program"),
        ("8-timers-", "tPGM,s by the timers", "t_timers_ns", "to the end of the last delay"),
    )
    figures = [
        Figure(
            f"figure-{number}{letter}",
            f"{word.capitalize()} {title}",
            f"{word.capitalize()} total program time {until}, in % of tPGM.",
            Map(
                measured.percent_of_program(name, worst=word == "worst", drawn=True),
                "% of tPGM",
                0,
            ).draw,
        )
        for number, title, name, until in clocks
        for letter, word in (("a", "mean"), ("b", "worst"))
    ]
    return Section("Total program time", [_TEXT["lengths"]], figures)


def errors(measured: Measured) -> list[Section]:
    """Figure 9, of a part that has rates of errors."""
    rates = measured.error_rates(CYCLES_BEFORE, CYCLES, DAYS)
    if rates is None:
        return []
    about = _TEXT["errors"].format(
        before=CYCLES_BEFORE, cycles=CYCLES, days=DAYS, suspensions=measured.mean_suspensions
    )
    found = {"suspended": rates.suspended, "not programmed": rates.untouched}
    figure = Figure(
        "figure-9",
        "Raw bit errors before and after",
        "Rate of raw bit errors of the block under test and of one that is left alone.",
        BeforeAfterBars(found).draw,
    )
    rows = [[block, *(f"{rate:.3e}" for rate in pair)] for block, pair in found.items()]
    table = Table("Raw bit errors, as a share of the bits", ["block", "before", "after"], rows)
    return [Section("Raw bit errors", [about], [figure], [table])]


SECTIONS: tuple[Callable[[Measured], Section], ...] = (suspensions, entry, lengths)
"""The paper's figures in its order; each makes its section from what was measured."""
