"""Figure 9: raw bit errors before and after the test, of the block under test and of another."""

from __future__ import annotations

from typing import NamedTuple

from reprieve.characterize.measured import STEPS, Measured
from reprieve.reliability import CharacterisedRber, characterised_rber

CYCLES_BEFORE = 1000
"""Of both blocks: assumed, as the paper has none."""
CYCLES = STEPS * STEPS
"""The block is programmed once for each pair of delays."""
DAYS = 2.0
"""How long the test takes: assumed, as the paper only says that it was at room temperature."""


class Rates(NamedTuple):
    """Rates of raw bit errors by the part's model, and what they are of."""

    suspensions: float
    """Of each program, in the mean."""
    found: CharacterisedRber


def error_rates(measured: Measured) -> Rates | None:
    """Return the rates; None if the part has none."""
    if measured.bench is None:
        return None
    suspensions = float(measured.columns["suspensions"].mean())
    found = characterised_rber(measured.bench, CYCLES_BEFORE, CYCLES, suspensions, DAYS)
    return Rates(suspensions, found) if found.suspended.after > 0 else None
