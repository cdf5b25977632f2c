"""The report of a characterisation: a section for each of the paper's figures."""

from collections.abc import Callable

from reprieve.characterize import LENGTH_SHARE, START_SHARE, Measured
from reprieve_studies.article import Article, Figure, Section, Table
from reprieve_studies.characterize.claims import CYCLES, CYCLES_BEFORE, DAYS, verdicts
from reprieve_studies.characterize.figures import BeforeAfterBars, Histogram, Map

_ABOUT = (
    "The procedure is that of Zambelli et al., Electronics 10, 1394 (2021), Figure 5. A program is "
    "started; Delay1 after its data is in and it is confirmed, it is suspended; once the array is "
    "free, after tEPS, a page of another block is read; with the page in the page buffer the "
    "program goes on, and Delay2 later it is suspended again, until it is complete. Delays are "
    "shares of tPGM, the mean undisturbed program of the wordlines, without its data in. The "
    "iterations of a wordline are longer or shorter than the part's by up to "
    f"{100 * LENGTH_SHARE:.0f} %, and the first begins up to {START_SHARE:g} iteration after the "
    "confirmation (assumed). Each pair of steps is run twice: as it is, as in the paper, and with "
    "delays drawn from within half a step of them. Maps and verdicts show the second: on the grid "
    "every suspension meets the same phase of an iteration."
)


def article(measured: Measured, command: str) -> Article:
    """Write it up."""
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
            Section("How to read it", [_ABOUT]),
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
    about = (
        "tEPS is the time from the suspend request to a free array. Where no program lasts longer "
        "than the delays, there is none."
    )
    figures = [
        Figure(
            f"figure-7{letter}",
            f"{word.capitalize()} tEPS",
            f"{word.capitalize()} time to enter suspension, in % of tPGM.",
            Map(measured.percent_of_eps(worst=word == "worst", drawn=True), "tEPS, % of tPGM").draw,
        )
        for letter, word in (("a", "mean"), ("b", "worst"))
    ]
    return Section("Time to enter suspension", [about], figures)


def lengths(measured: Measured) -> Section:
    """Figure 8, by both clocks."""
    about = (
        "tPGM,s is the time from confirmation to completion, tEPS included and the reads left out. "
        "A tester that looks when a delay is over measures the other pair of maps: there the last "
        "delay runs to its end even if the program ends before it."
    )
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
    return Section("Total program time", [about], figures)


def errors(measured: Measured) -> list[Section]:
    """Figure 9, of a part that has rates of errors."""
    rates = measured.error_rates(CYCLES_BEFORE, CYCLES, DAYS)
    if rates is None:
        return []
    suspensions = f"{measured.mean_suspensions:.2f} suspensions of each program"
    about = (
        f"Calculated by the part's model of raw bit errors, not measured on simulated bits: both "
        f"blocks have {CYCLES_BEFORE:,} cycle before (assumed: off the shelf). "
        f"One is programmed {CYCLES} times, "
        f"once for each pair of delays, with {suspensions}, "
        f"and read at once; the other is left alone for {DAYS:g} days (assumed). Whether a "
        "suspension itself costs errors is reliability.delta, 0 where nothing else is known."
    )
    found = {
        "suspended": tuple(rates.suspended),
        "not programmed": tuple(rates.untouched),
    }
    figure = Figure(
        "figure-9",
        "Raw bit errors before and after",
        "Rate of raw bit errors of the block under test and of one that is left alone.",
        BeforeAfterBars({block: (pair[0], pair[1]) for block, pair in found.items()}).draw,
    )
    rows = [[block, *(f"{rate:.3e}" for rate in pair)] for block, pair in found.items()]
    table = Table("Raw bit errors, as a share of the bits", ["block", "before", "after"], rows)
    return [Section("Raw bit errors", [about], [figure], [table])]


SECTIONS: tuple[Callable[[Measured], Section], ...] = (suspensions, entry, lengths)
"""The paper's figures in its order; each makes its section from what was measured."""
