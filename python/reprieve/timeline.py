"""Timelines: what of a run is drawn, and the file that the Perfetto UI opens."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from reprieve._native import UserError
from reprieve.outputs import ResultDirectory, folder_of, whole_file

FILE_NAME = "timeline.perfetto-trace"
"""File name of the timeline in a run's folder."""

_UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)")
_END_NS = 1 << 62


@dataclass(frozen=True)
class Window:
    """Part of a run that is drawn: all that overlaps an interval of simulated time."""

    from_ns: int = 0
    for_ns: int | None = None
    """Length; None: to the end of the run."""
    phases: bool = False
    """With the pulses and verifies of programs and erases."""

    def __post_init__(self) -> None:
        """Refuse a stretch before the start of the run, and one of no length."""
        if not 0 <= self.from_ns < _END_NS:
            raise UserError(f"timeline_from_ns = {self.from_ns}: must be 0 or more, and below 2^62")
        if self.for_ns is not None and not 0 < self.for_ns < _END_NS:
            raise UserError(f"timeline_for_ns = {self.for_ns}: must be more than 0, and below 2^62")

    def drawn(self) -> tuple[int, int | None, bool]:
        """Return the stretch as the simulator takes it: from, until, phases."""
        until_ns = None if self.for_ns is None else self.from_ns + self.for_ns
        return self.from_ns, until_ns, self.phases


@dataclass(frozen=True)
class Drawing:
    """A timeline that a run draws, and the file that it goes to as the run goes on."""

    window: Window
    file: BinaryIO


def time_ns(option: str, text: str) -> int:
    """Read a time with its unit, such as `12ms` or `1.5s`; raises UserError if it is none."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise UserError(
            f'{option} "{text}" is no time; write a number and its unit, ns, us, ms or s: 1.5ms'
        )
    ns = Decimal(found[1]) * _UNITS_NS[found[2]]
    if ns != ns.to_integral_value():
        raise UserError(f'{option} "{text}" is no whole number of nanoseconds')
    if ns >= _END_NS:
        raise UserError(f'{option} "{text}" is too long; must be below 2^62 ns')
    return int(ns)


@contextmanager
def timeline_file(path: Path, results: ResultDirectory | None = None) -> Iterator[BinaryIO]:
    """Open a file of its own that gets its name as `whole_file` does."""
    with folder_of(path), whole_file(path, results) as file:
        yield file


def told(summary: dict[str, Any]) -> str:
    """Say how large the timeline of a run is, and where it was cut."""
    timeline = summary["timeline"]
    slices, cut_ns = timeline["slices"], timeline["cut_ns"]
    if cut_ns is not None:
        return (
            f"the timeline is cut at {cut_ns / 1e6:,.3f} ms, where it has {slices:,} slices, as "
            "many as the viewer takes; draw less with --timeline-from and --timeline-for"
        )
    if slices == 0:
        end_ns = summary["measure"]["from_ns"] + summary["device"]["simulated_ns"]
        return f"the timeline is empty: the run ended at {end_ns / 1e6:,.3f} ms"
    return f"timeline: {slices:,} slices"
