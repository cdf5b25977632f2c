"""One die on the bench: a read that comes just after an erase or a program has begun."""

import tomllib
from dataclasses import dataclass
from typing import Any

from reprieve import part, rig
from reprieve_studies.starblaze.paper import PARTS

_ANY_DEVICE = "fast12-mlc"
"""The rig is told of a device; the part under it is replaced."""
OPERATIONS = ("erase", "program")
_VALUES = ("typical", "maximum")


@dataclass(frozen=True)
class Conflict:
    """A read behind an operation."""

    part: str
    operation: str
    values: str
    """"typical" or "maximum"."""
    paper_us: float
    """tErase + tR, or tProg + tR."""
    around_us: float
    """Commands and transfers, which the sum leaves out."""
    ours_us: float
    """From the beginning of the operation to the read's last byte."""
    suspended_us: float
    """Of the read alone, where the operation makes way."""


def conflicts() -> list[Conflict]:
    """Return one for each part, operation and time of the slides."""
    return [
        _conflict(name, operation, at)
        for name in PARTS
        for operation in OPERATIONS
        for at in range(len(_VALUES))
    ]


def _conflict(name: str, operation: str, at: int) -> Conflict:
    times, timing = PARTS[name], tomllib.loads(part(name))["timing"]
    before_us = timing["t_command_us"] + (timing["t_bus_us"] if operation == "program" else 0)
    around_us = before_us + timing["t_command_us"] + timing["t_bus_us"]
    of_ms = times.t_erase_ms if operation == "erase" else times.t_program_ms
    # The read comes when the array has just begun: during the load it would wait for the channel.
    arrival_ns = round(1e3 * before_us) + 1
    behind, between = (
        _completion_ns(name, operation, _VALUES[at], arrival_ns, program)
        for program in ("none", mode(name))
    )
    return Conflict(
        name,
        operation,
        _VALUES[at],
        1e3 * of_ms[at] + times.t_read_us[at],
        around_us,
        behind / 1e3,
        (between - arrival_ns) / 1e3,
    )


def mode(name: str) -> str:
    """Return how programs of a part stop."""
    return str(tomllib.loads(part(name))["suspension"]["program"])


def _completion_ns(name: str, operation: str, values: str, arrival_ns: int, program: str) -> int:
    overrides: dict[str, Any] = {
        "part": name,
        "timing__values": values,
        "scheduling__policy": "rps",
        "suspension__program": program,
        "suspension__erase": program != "none",
    }
    commands = [(0, operation, 0, 0, 0), (arrival_ns, "read", 1, 1, 0)]
    return rig(_ANY_DEVICE, commands, **overrides)[1].completion_ns
