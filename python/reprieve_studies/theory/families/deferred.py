"""Deferred suspension: an erase goes on to the end of its segment before it lets reads in."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.raw import completions, rate_of, rig
from reprieve_studies.theory.formulas import remainder, set_up_wait
from reprieve_studies.theory.models import Floats

_SEGMENTS = 6


def at(between_ms: float, segment_us: float, reads: int = 0) -> Point:
    """Return erases in line that meet a number of reads.

    One is always at work: a set-up at the start of every busy period.
    """
    arrivals, length_us = rate_of(1000 * between_ms), segment_us * _SEGMENTS
    wait_us = set_up_wait(arrivals, *remainder(arrivals.rate, segment_us))
    keys = {
        "timing.t_erase_us": length_us,
        "timing.erase_segments": _SEGMENTS,
        "suspension.erase_mode": "deferred",
    }
    number = int(reads / arrivals.rate * (1 - arrivals.load) / length_us)
    completion_us = length_us / (1 - arrivals.load)
    model = rig("erase", keys, number, arrivals, completion_us, _series, ("longest",))
    return {"read wait": wait_us, "longest": segment_us}, model


def _series(rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
    found = completions("erase", rows)
    waits = found["read wait"]
    # Those that found no other read before them: they are served when the erase has stopped.
    reads = rows["op"] == "read"
    arrivals, ends = rows["arrival_ns"][reads], rows["completion_ns"][reads]
    alone = arrivals[1:] >= ends[:-1]
    return {**found, "longest": waits[1:][alone[: len(waits) - 1]]}
