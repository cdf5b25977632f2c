"""The rest of a phase: equation 1 of FAST 2012, and what cancelling the phase leaves of it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.formulas import cancel_wait, phase_wait
from reprieve_studies.theory.models import Floats, Rig, command_columns

_PULSE_US = 20.0
_RESET_US = 4.0
_BUS_US = 20.0
_READ_US = 10.0
_ITERATIONS = 5
# Longer than any program of the check with its read, so that none meets the next.
_APART_US = 1000.0


def at(mode: str, verify_us: float, number: int = 0) -> Point:
    """Return programs with a read each, under IPS, or IPC with a reset inside the phase or not."""
    if mode == "ips":
        wait_us = phase_wait(_PULSE_US, verify_us)
    elif mode == "inside":
        wait_us = cancel_wait(_PULSE_US, verify_us, _RESET_US)
    else:
        wait_us = _RESET_US
    keys: dict[str, Any] = {
        "scheduling.policy": "rps",
        "suspension.program": "ips" if mode == "ips" else "ipc",
        "timing.t_verify_us": verify_us,
    }
    if mode == "outside":
        keys["suspension.reset_inside_phase"] = False
    model = Rig("fast12-slc", keys, partial(_commands, verify_us, number), _series)
    return {"read wait": wait_us}, model


def _commands(
    verify_us: float, number: int, generator: np.random.Generator
) -> dict[str, NDArray[Any]]:
    programs = np.arange(number) * int(_APART_US * 1000)
    # A phase and an instant within it; at its very end, which time in whole nanoseconds would
    # hit now and then, the wait is over.
    iteration_ns, pulse_ns = (int(us * 1000) for us in (_PULSE_US + verify_us, _PULSE_US))
    iterations = generator.integers(0, _ITERATIONS, number)
    in_pulse = generator.random(number) < pulse_ns / iteration_ns
    in_phase = np.where(
        in_pulse,
        generator.integers(1, pulse_ns, number),
        pulse_ns + generator.integers(1, iteration_ns - pulse_ns, number),
    )
    reads = programs + int(_BUS_US * 1000) + iterations * iteration_ns + in_phase
    # A block of the plane that the programs reach last.
    elsewhere = np.full(number, 4 * 4096 * 64 - 1)
    return command_columns(("program", programs, np.arange(number)), ("read", reads, elsewhere))


def _series(rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
    reads = rows["op"] == "read"
    latency_us = (rows["completion_ns"] - rows["arrival_ns"])[reads] / 1e3
    return {"read wait": latency_us - _READ_US - _BUS_US}
