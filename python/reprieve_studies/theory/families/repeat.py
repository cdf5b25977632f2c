"""Erases that begin again: from the start (preemptive-repeat), or from that of their segment."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.raw import rate_of, rig
from reprieve_studies.theory.formulas import busy_period, repeat_completion

_BETWEEN_US = 400.0


def at(segments: int, length_us: float, number: int = 0) -> Point:
    """Return erases of a length, in one segment or several."""
    reads = rate_of(_BETWEEN_US)
    completion_us = repeat_completion(length_us, busy_period(reads), reads.rate, segments)
    keys = {"timing.t_erase_us": length_us, "suspension.erase_resume": "restart"}
    if segments > 1:
        keys |= {"suspension.erase_resume": "redo_phase", "timing.erase_segments": segments}
    return {"completion": completion_us}, rig("erase", keys, number, reads, completion_us)
