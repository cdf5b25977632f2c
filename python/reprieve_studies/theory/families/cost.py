"""Suspension at a cost: time until the array is free, and time to restore the page."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PHASES,
    PROGRAM_US,
    READ_US,
    SUSPENDED,
    one_die,
)
from reprieve_studies.theory.formulas import Suspension, with_load

_ENTRY_US = 10.0
_READS, _WRITES = with_load(0.15, READ_US), with_load(0.25, PROGRAM_US)


def at(restore: str, restore_us: float, requests: int = 0) -> Point:
    """Return programs that are restored for a time, in one piece or with interruptions."""
    is_atomic = restore == "atomic"
    model = Suspension(_READS, _WRITES, PHASES, _ENTRY_US, restore_us, is_atomic)
    theory = {
        "read wait": model.read_wait(),
        "completion": model.completion(),
        "suspensions": model.suspensions(),
    }
    keys = {
        **IDEAL_KEYS,
        "scheduling.policy": "rps",
        "suspension.program": "iteration",
        "timing.t_suspend_overhead_us": _ENTRY_US,
        "timing.t_buffer_us": restore_us,
        **({} if is_atomic else {"suspension.restore": restore}),
    }
    return theory, one_die(keys, _READS, _WRITES, requests, ratios=SUSPENDED)
