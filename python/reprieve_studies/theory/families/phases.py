"""The rest of a phase: equation 1 of FAST 2012, and what cancelling the phase leaves of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.formulas import cancel_wait, phase_wait
from reprieve_studies.theory.models import Floats, Rig, command_columns

_PULSE_US = 20.0
_RESET_US = 4.0
_BUS_US = 20.0
_READ_US = 10.0
_ITERATIONS = 5
# Longer than any program of the check with its read, so that none meets the next.
_APART_US = 1000.0
_PARTS = {8.0: "the SLC part", 24.0: "the MLC part"}
_SERIES = {
    "ips": "IPS: to the end of the phase",
    "inside": "IPC, reset at the end of the phase",
    "outside": "IPC, reset after the phase",
}


def _wait(mode: str, verify_us: float) -> float:
    if mode == "ips":
        return phase_wait(_PULSE_US, verify_us)
    if mode == "inside":
        return cancel_wait(_PULSE_US, verify_us, _RESET_US)
    return _RESET_US


_SOURCES = {
    "ips": "Wu and He, FAST 2012, equation 1: (Tp² + Tv²)/(2(Tp + Tv))",
    "inside": "ΣT·(Tr − Tr²/(2T))/ΣT over pulse and verify",
    "outside": "a reset Tr follows every request",
}


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return verifies of both parts, and some others in a full run."""
    verifies = (8.0, 24.0) if quick else (4.0, 8.0, 16.0, 24.0, 32.0)
    return [_at(mode, us, 80_000 if quick else 200_000) for mode in _SERIES for us in verifies]


def _at(mode: str, verify_us: float, number: int) -> Experiment:
    part = f", that of {_PARTS[verify_us]}" if verify_us in _PARTS else ""
    what = f"{_SERIES[mode]}; verify of {verify_us:g} µs{part}"
    check = Check(
        f"wait of a read at random in a program, {what}",
        _wait(mode, verify_us),
        "µs",
        "read wait",
        _SOURCES[mode],
        _SERIES[mode],
        verify_us,
    )
    keys: dict[str, Any] = {
        "scheduling.policy": "rps",
        "suspension.program": "ips" if mode == "ips" else "ipc",
        "timing.t_verify_us": verify_us,
    }
    if mode == "outside":
        keys["suspension.reset_inside_phase"] = False
    model = Rig("fast12-slc", keys, _commands(verify_us, number), _series)
    return Experiment(what, model, [check])


def _commands(
    verify_us: float, number: int
) -> Callable[[np.random.Generator], dict[str, NDArray[Any]]]:
    def commands(generator: np.random.Generator) -> dict[str, NDArray[Any]]:
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
        at = iterations * iteration_ns + in_phase
        reads = programs + int(_BUS_US * 1000) + at
        pages = np.arange(number)
        # A block of the plane that the programs reach last.
        elsewhere = np.full(number, 4 * 4096 * 64 - 1)
        return command_columns(("program", programs, pages), ("read", reads, elsewhere))

    return commands


def _series(rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
    reads = rows["op"] == "read"
    latency_us = (rows["completion_ns"] - rows["arrival_ns"])[reads] / 1e3
    return {"read wait": latency_us - _READ_US - _BUS_US}


def curves() -> Mapping[str, Curve]:
    """Return the waits over the length of the verify."""
    lengths = [4 + step / 4 for step in range(121)]
    return {series: [(us, _wait(mode, us)) for us in lengths] for mode, series in _SERIES.items()}
