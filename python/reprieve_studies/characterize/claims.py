"""Claims of Zambelli et al. (2021) on the chip that they measured, beside the part's results.

Judged are the runs whose delays were drawn from around the steps of the paper's grid. On the grid
itself a tenth of a program is always the same part of an iteration, and which part depends on the
number of iterations that was assumed.
"""

import math

import numpy as np

from reprieve.characterize import STEPS, Integers, Measured
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

CYCLES_BEFORE = 1
"""Of both blocks of Figure 9: assumed to be off the shelf and written once."""
CYCLES = STEPS * STEPS
"""The block under test is programmed once for each pair of delays."""
DAYS = 2.0
"""Duration of the test: assumed, as the paper states only that it ran at room temperature."""

_LONG = slice(6, None)
"""Delays above 60 %."""
_RETAINED = slice(7, None)
"""Second delays above 70 %."""
_MIDDLE = slice(3, 6)
"""Second delays of 40 to 60 %."""


def verdicts(measured: Measured) -> list[Verdict]:
    """Return every claim that the procedure can test, with tolerances that were set before."""
    return [
        *_counts(measured),
        *_entry(measured),
        *_lengths(measured),
        *_errors(measured),
    ]


def _counts(measured: Measured) -> list[Verdict]:
    columns = measured.drawn
    one, two = columns["delay1_tenths"], columns["delay2_tenths"]
    shortest = columns["suspensions"][(one == 1) & (two == 1)]
    long = columns["suspensions"][(one > _LONG.start) & (two > _LONG.start)]
    return [
        Verdict(
            "Suspensions at most, both delays 10 %",
            "Section 4.1, Figure 6",
            "1",
            10.0,
            float(shortest.max()),
            1.0,
            note="A part that limits them has no more; the iterations of tlc3d-zambelli are chosen "
            "so that ten fit",
            kind="input",
        ),
        Verdict(
            "Suspensions at most, both delays above 60 %",
            "Section 4.1",
            "1",
            1.0,
            float(long.max()),
            0.0,
            AT_MOST,
        ),
    ]


def _entry(measured: Measured) -> list[Verdict]:
    columns = measured.drawn
    mean, worst = (measured.percent_of_eps(worst=word, drawn=True) for word in (False, True))
    every = _mean_eps_ns(columns["t_eps_total_ns"], columns["suspensions"])
    by_second = [
        _mean_eps_ns(columns["t_eps_total_ns"][own], columns["suspensions"][own])
        for own in (columns["delay2_tenths"] == tenths for tenths in (1, 7))
    ]
    return [
        Verdict(
            "Mean tEPS",
            "Section 4.2",
            "%",
            3.5,
            100 * every / measured.program_ns,
            0.5,
            note="Of tPGM, over all suspensions; the paper says 3 to 4 %",
        ),
        Verdict(
            "Mean tEPS with Delay2 of 10 %, over that with 70 %",
            "Section 4.2, Figure 7",
            "1",
            1.0,
            by_second[0] / by_second[1],
            0.0,
            AT_LEAST,
            note="The paper ascribes it to internal algorithms, which are not modelled",
            cause="defect",
        ),
        Verdict(
            "Pairs of delays whose mean tEPS is below the worst",
            "Section 4.2, Figure 7",
            "1",
            float(np.isfinite(worst).sum()),
            float((mean < worst).sum()),
            0.0,
            note="Of those with a suspension; the paper's two maps differ",
        ),
    ]


def _errors(measured: Measured) -> list[Verdict]:
    rates = measured.error_rates(CYCLES_BEFORE, CYCLES, DAYS)
    if rates is None:
        return []
    note = (
        f"By the part's model: {CYCLES_BEFORE} cycle before, {CYCLES} programs in the test, "
        f"{DAYS:g} days, all assumed"
    )
    return [
        Verdict(
            "Raw bit errors of the suspended block, after over before",
            "Section 4.4, Figure 9a",
            "1",
            1.0,
            rates.suspended.after / rates.suspended.before,
            0.01,
            note=f"{note}; that a suspension costs nothing is taken from the paper",
            kind="input",
        ),
        Verdict(
            "Raw bit errors of the block left alone, after over before",
            "Section 4.4, Figure 9b",
            "1",
            1.0,
            rates.untouched.after / rates.untouched.before,
            0.0,
            AT_LEAST,
            note=f"{note}; “a slight increase”",
        ),
    ]


def _mean_eps_ns(total_ns: Integers, suspensions: Integers) -> float:
    """Return the mean over all suspensions; NaN if there are none."""
    count = int(suspensions.sum())
    return int(total_ns.sum()) / count if count else math.nan


def _lengths(measured: Measured) -> list[Verdict]:
    own = measured.percent_of_program("t_program_suspended_ns", worst=False, drawn=True)
    clock = measured.percent_of_program("t_timers_ns", worst=False, drawn=True)
    worst = measured.percent_of_program("t_timers_ns", worst=True, drawn=True)
    source = "Section 4.3, Figure 8"
    whole = STEPS - 1
    twice = "The paper has more than twice; it does not say whether a delay counts that outlasts "
    return [
        Verdict(
            "Mean tPGM,s, both delays 100 %",
            source,
            "%",
            200.0,
            float(own[whole, whole]),
            0.0,
            AT_LEAST,
            note=twice + "the program: here it does not",
        ),
        Verdict(
            "Mean tPGM,s, both delays 100 %, delays run to their ends",
            source,
            "%",
            200.0,
            float(clock[whole, whole]),
            0.0,
            AT_LEAST,
            note=twice + "the program: here it does. A wordline no longer than the first delay "
            "is not suspended at all",
        ),
        Verdict(
            "Worst tPGM,s, both delays 100 %, delays run to their ends",
            source,
            "%",
            200.0,
            float(worst[whole, whole]),
            0.0,
            AT_LEAST,
            note=twice + "the program: here it does",
        ),
        Verdict(
            "Mean tPGM,s with Delay2 above 70 %, over that with 40 to 60 %, Delay1 of 10 %",
            source,
            "1",
            1.0,
            float(own[0, _RETAINED].mean() / own[0, _MIDDLE].mean()),
            0.0,
            AT_LEAST,
            note="Early retention loss: suspension.retention_iterations of the part; without it a "
            "shorter Delay2, which has more suspensions, has the longer program",
        ),
    ]
