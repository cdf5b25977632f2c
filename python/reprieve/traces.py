"""Traces and loads: what is in one, a trace's rows, and copies in other formats."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from reprieve import _native
from reprieve.scenario import ScenarioLike, Source


class TraceRow(NamedTuple):
    """A request as the trace has it."""

    time_ns: int
    """As written, before any scaling or shift; of a clock of whole seconds, spread over its own."""
    device: int
    op: str
    offset_bytes: int
    bytes: int


class TraceDevice(NamedTuple):
    """What a device of a trace was asked."""

    device: int
    """Its number, as the key `workload.devices` selects it."""
    name: str | None
    """What the trace calls it, where that is more than its number."""
    requests: int
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    first_ns: int
    """Earliest time, in the trace's own reckoning."""
    last_ns: int
    extent_bytes: int
    """First byte behind its requests."""


class Trace:
    """A trace on disk, plain or compressed; it is read anew by each call."""

    def __init__(
        self, path: str | os.PathLike[str], format: str = "auto", **options: str | float
    ) -> None:
        self.path = os.fspath(path)
        self.format = format
        """Name in the registry of formats, or "auto"."""
        self.options = options
        """What the format leaves open: the keys of `[workload]` that say how a trace is read."""

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"reprieve.open_trace({self.path!r}, format={self.format!r}{options})"

    @property
    def _reading(self) -> tuple[str, str, list[str]]:
        return self.path, self.format, [f"{key}={value}" for key, value in self.options.items()]

    def info(self) -> dict[str, Any]:
        """Read it whole and return what is in it; UserError if a row is wrong."""
        return dict(json.loads(_native.trace_info(*self._reading)))

    def devices(self) -> list[TraceDevice]:
        """Read it whole and return its devices, in order of number; quicker than `info`."""
        found = json.loads(_native.trace_devices(*self._reading))
        return [TraceDevice(**device) for device in found["devices"]]

    def head(self, rows: int = 10) -> list[TraceRow]:
        """Return the first rows, fewer if it has fewer; UserError if one of them is wrong."""
        return [TraceRow(*row) for row in _native.trace_head(*self._reading, rows)]

    def __iter__(self) -> Iterator[TraceRow]:
        """Go through the rows; what was passed is read again as the window doubles."""
        done, window = 0, 4096
        while True:
            rows = _native.trace_head(*self._reading, window)
            yield from (TraceRow(*row) for row in rows[done:])
            if len(rows) < window:
                return
            done, window = window, window * 2

    def convert(self, output: str | os.PathLike[str], to: str) -> dict[str, Any]:
        """Write a copy in the format `to`, compressed if its name ends in .gz; return the counts.

        UserError if a row is wrong or the output cannot be written; then nothing is left of it.
        """
        output = os.fspath(output)
        return dict(json.loads(_native.trace_convert(*self._reading, output, to)))


def open_trace(path: str | os.PathLike[str], format: str = "auto", **options: str | float) -> Trace:
    """Open a trace: a file, a folder of files, or a pattern with `*`, merged by time.

    `format` is found by content unless named; `options` are the keys of `[workload]` that say how a
    trace is read, such as `columns="time_s,sector,bytes,op"`. UserError if it cannot be read.
    """
    trace = Trace(path, format, **options)
    trace.head(1)
    return trace


def workload_info(scenario: ScenarioLike, **overrides: Any) -> dict[str, Any]:
    """Return what is in a scenario's workload as its drive sees it, generated or replayed.

    The fields are those of `Trace.info`; nothing is simulated. UserError if the scenario is wrong.
    """
    source = Source.of(scenario, overrides)
    found = _native.workload_info(source.text, source.path, list(source.sets))
    return dict(json.loads(found))


def workload_head(scenario: ScenarioLike, rows: int = 10, **overrides: Any) -> list[TraceRow]:
    """Return the first requests of a scenario's workload, all flows together, in order of arrival.

    Addresses are the drive's; `device` is 0. Nothing is simulated. UserError if the scenario is
    wrong, or if one of several flows is a closed loop.
    """
    source = Source.of(scenario, overrides)
    found = _native.workload_head(source.text, source.path, list(source.sets), rows)
    return [TraceRow(*row) for row in found]
