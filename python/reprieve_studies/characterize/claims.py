"""Claims of Zambelli et al. (2021) on the chip that they measured, beside the part's results.

Judged are the runs whose delays were drawn from around the steps of the paper's grid. On the grid
itself a tenth of a program is always the same part of an iteration, and which part depends on the
number of iterations that was assumed.
"""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from reprieve.characterize import STEPS, Integers, Measured
from reprieve_studies.frame import read
from reprieve_studies.seeds import Estimate
from reprieve_studies.verdicts import Verdict

DATA = read(Path(__file__).with_name("study.toml"))
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
    found = {**_suspensions(measured), **_lengths(measured), **_errors(measured)}
    pairs, given = "entry_below_worst", {"before": CYCLES_BEFORE, "cycles": CYCLES, "days": DAYS}
    rows = []
    for claim in DATA.claims:
        if claim.measure in found:
            note = claim.note.format(**given)
            value = {"": found["pairs"]} if claim.measure == pairs else claim.value
            of = replace(claim, note=note, value=value)
            kind = claim.options.get("as", "measured")
            verdict = of.verdict(Estimate(found[claim.measure]), kind=kind)
            rows.append(replace(verdict, cause=claim.cause))
    return rows


def _suspensions(measured: Measured) -> dict[str, float]:
    columns = measured.drawn
    counts, one, two = (columns[name] for name in
                        ("suspensions", "delay1_tenths", "delay2_tenths"))  # fmt: skip

    def entry_ns(own: Integers | slice) -> float:
        """Return the mean over all suspensions; NaN if there are none."""
        count = int(counts[own].sum())
        return int(columns["t_eps_total_ns"][own].sum()) / count if count else math.nan

    first_ns, last_ns = (entry_ns(two == tenths) for tenths in (1, 7))
    mean, worst = (measured.percent_of_eps(worst=word, drawn=True) for word in (False, True))
    return {
        "most_short": float(counts[(one == 1) & (two == 1)].max()),
        "most_long": float(counts[(one > _LONG.start) & (two > _LONG.start)].max()),
        "entry_percent": 100 * entry_ns(slice(None)) / measured.program_ns,
        "entry_by_second": first_ns / last_ns,
        "entry_below_worst": float((mean < worst).sum()),
        "pairs": float(np.isfinite(worst).sum()),
    }


def _lengths(measured: Measured) -> dict[str, float]:
    percents = partial(measured.percent_of_program, drawn=True)
    own = percents("t_program_suspended_ns", worst=False)
    clock, worst = (percents("t_timers_ns", worst=is_worst) for is_worst in (False, True))
    whole = STEPS - 1
    return {
        "program_percent": float(own[whole, whole]),
        "timers_percent": float(clock[whole, whole]),
        "timers_worst_percent": float(worst[whole, whole]),
        "retention": float(own[0, _RETAINED].mean() / own[0, _MIDDLE].mean()),
    }


def _errors(measured: Measured) -> dict[str, float]:
    rates = measured.error_rates(CYCLES_BEFORE, CYCLES, DAYS)
    if rates is None:
        return {}
    return {
        "errors_suspended": rates.suspended.after / rates.suspended.before,
        "errors_untouched": rates.untouched.after / rates.untouched.before,
    }
