"""Traces and loads: what is in one, a trace's rows, and copies in other formats."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reprieve import _native
from reprieve.outputs import for_native
from reprieve.scenario import Scenario, ScenarioLike, Source


class TraceRow(NamedTuple):
    """A request as the trace has it.

    >>> load = {"generator": "mixed", "requests": 10, "read_fraction": 1.0, "queue_depth": 1}
    >>> (row,) = rp.workload_head({"device": "fast12-slc", "workload": load}, rows=1)
    >>> row.time_ns, row.op, row.bytes
    (0, 'read', 4096)
    """

    time_ns: int
    """As written, before any scaling or shift; whole seconds are spread over their second."""
    device: int
    """The number of the device in the trace."""
    op: str
    """"read", "write", "trim" or "flush"."""
    offset_bytes: int
    """The start of the request on its device."""
    bytes: int
    """The length of the request."""


class TraceDevice(NamedTuple):
    r"""The requests that a trace holds for one device.

    >>> with open("two.csv", "w") as file:
    ...     _ = file.write("0,8,4096,R\n500,32,8192,W\n")
    >>> (device,) = rp.open_trace("two.csv", columns="time_us,sector,bytes,op").devices()
    >>> device.reads, device.written_bytes, device.last_ns
    (1, 8192, 500000)
    """

    device: int
    """Its number, as the key `workload.devices` selects it."""
    name: str | None
    """Its name in the trace; None if the trace has only a number."""
    requests: int
    """The number of its requests."""
    reads: int
    """The number of its reads."""
    writes: int
    """The number of its writes."""
    read_bytes: int
    """The bytes that they read."""
    written_bytes: int
    """The bytes that they write."""
    first_ns: int
    """The earliest time, on the clock of the trace."""
    last_ns: int
    """The latest time, on the clock of the trace."""
    extent_bytes: int
    """The end of its highest request: the smallest size of a device that holds them all."""


class Trace:
    r"""A trace on disk, plain or compressed; each call reads it again.

    Raises UserError, as each method does, if a row is wrong.

    >>> with open("two.csv", "w") as file:
    ...     _ = file.write("0,8,4096,R\n500,32,8192,W\n")
    >>> trace = rp.open_trace("two.csv", columns="time_us,sector,bytes,op")
    >>> for row in trace:
    ...     print(row.time_ns, row.op, row.offset_bytes, row.bytes)
    0 read 4096 4096
    500000 write 16384 8192
    """

    def __init__(
        self, path: str | os.PathLike[str], format: str = "auto", **options: str | float
    ) -> None:
        self.path = os.fspath(path)
        self.format = format
        """The name of a format, or "auto"."""
        self.options = options
        """The keys of `[workload]` that say how to read the trace."""

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"reprieve.open_trace({self.path!r}, format={self.format!r}{options})"

    @property
    def _reading(self) -> tuple[str, str, list[str]]:
        return self.path, self.format, [f"{key}={value}" for key, value in self.options.items()]

    def info(self) -> dict[str, Any]:
        """Read the whole trace and return its counts, bytes and times.

        Raises UserError if a row is wrong.
        """
        return dict(json.loads(_native.trace_info(*self._reading)))

    def devices(self) -> list[TraceDevice]:
        """Read the whole trace and return its devices, in order of number; faster than `info`.

        Raises UserError if a row is wrong.
        """
        found = json.loads(_native.trace_devices(*self._reading))
        return [TraceDevice(**device) for device in found["devices"]]

    def head(self, rows: int = 10) -> list[TraceRow]:
        """Return the first `rows` rows, or all; raises UserError if one of them is wrong."""
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
        r"""Write a copy in the format `to`, compressed if its name ends in .gz; return the counts.

        Raises UserError if a row is wrong or the output cannot be written, and then leaves no file.

        >>> with open("two.csv", "w") as file:
        ...     _ = file.write("0,8,4096,R\n500,32,8192,W\n")
        >>> trace = rp.open_trace("two.csv", columns="time_us,sector,bytes,op")
        >>> trace.convert("two.spc.gz", "spc")["requests"]
        2
        """
        with for_native(Path(output)) as temporary:
            return dict(json.loads(_native.trace_convert(*self._reading, str(temporary), to)))


def open_trace(path: str | os.PathLike[str], format: str = "auto", **options: str | float) -> Trace:
    r"""Open a trace: a file, a folder of files, or a pattern with `*`, merged by time.

    `format`: a name; by default found from the content.
    `options`: keys of `[workload]` that say how to read it, as `columns="time_s,sector,bytes,op"`.

    Raises UserError if it cannot be read.

    >>> with open("two.csv", "w") as file:
    ...     _ = file.write("0,8,4096,R\n500,32,8192,W\n")
    >>> rp.open_trace("two.csv", columns="time_us,sector,bytes,op").head(1)
    [TraceRow(time_ns=0, device=0, op='read', offset_bytes=4096, bytes=4096)]
    """
    trace = Trace(path, format, **options)
    trace.head(1)
    return trace


def workload_info(
    scenario: ScenarioLike, requests: int | None = None, **overrides: Any
) -> dict[str, Any]:
    """Return what a scenario's workload contains as its drive sees it, generated or replayed.

    The fields are those of `Trace.info`, of all requests or the first `requests`, all flows in
    order of arrival. Nothing is simulated.

    Raises UserError if the scenario is wrong.

    >>> load = {"generator": "mixed", "requests": 1000, "read_fraction": 1.0, "queue_depth": 4}
    >>> rp.workload_info({"device": "fast12-slc", "workload": load})["reads"]
    1000
    """
    source = Source.of(scenario, overrides)
    found = _native.workload_info(source.text, source.path, list(source.sets), requests)
    return dict(json.loads(found))


def workload_head(scenario: ScenarioLike, rows: int = 10, **overrides: Any) -> list[TraceRow]:
    """Return the first `rows` requests of a scenario's workload, all flows in order of arrival.

    Addresses are the drive's; `device` is 0. Nothing is simulated.

    Raises UserError if the scenario is wrong, or if one of several flows is a closed loop.

    >>> load = {"generator": "mixed", "requests": 1000, "read_fraction": 1.0, "queue_depth": 4}
    >>> rows = rp.workload_head({"device": "fast12-slc", "workload": load}, rows=2)
    >>> [row.time_ns for row in rows]
    [0, 0]
    """
    source = Source.of(scenario, overrides)
    found = _native.workload_head(source.text, source.path, list(source.sets), rows)
    return [TraceRow(*row) for row in found]


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
