"""Speed at which a replayed recording keeps a drive's dies busy, by arithmetic alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reprieve.scenario import Scenario

BUSY_SHARE = 0.5
"""Of the dies' time: suspension has something to do, and queues do not grow."""
_DIGITS = 2


def proposed_time_scale(info: Mapping[str, Any], device: str) -> float | None:
    """Return `workload.time_scale` at which a trace takes half of the time of a drive's dies.

    `info`: of `Trace.info`. Each page read takes tR and crosses the channel, each page written is
    programmed once; garbage collection, planes that work together and the write buffer are left
    out. So it is where to begin, not what to end with. To two digits; None if the trace asks for
    nothing, or all at once.

    Raises UserError if there is no such device.
    """
    asked = {"generator": "mixed", "requests": 1, "read_fraction": 0.5, "queue_depth": 1}
    drive = Scenario(device=device, workload=asked).resolve().to_dict()
    geometry, timing = drive["geometry"], drive["timing"]
    page = geometry["page_bytes"]
    pages = timing.get("wordline_pages", 1)
    iteration_us = timing["t_program_pulse_us"] + timing["t_verify_us"]
    read_us = timing["t_read_us"] + timing["t_bus_us"]
    program_us = timing["t_bus_us"] + timing["program_iterations"] * iteration_us / pages
    work_us = (info["read_bytes"] * read_us + info["written_bytes"] * program_us) / page
    dies = geometry["channels"] * geometry["dies_per_channel"]
    room_us = BUSY_SHARE * dies * info["span_ns"] / 1000
    if work_us == 0 or room_us == 0:
        return None
    return float(f"{work_us / room_us:.{_DIGITS}g}")
