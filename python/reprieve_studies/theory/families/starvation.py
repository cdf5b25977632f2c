"""Forward progress: operations that lose time with each resume, and lose it again."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.raw import rate_of, rig
from reprieve_studies.theory.formulas import Class, Suspension

_LENGTH_US = 1500.0
_PHASES = 1000


def at(between_us: float, restore_us: float, restore: str, number: int = 0) -> Point:
    """Return programs that are restored for a time, in one piece or with interruptions."""
    reads, programs = rate_of(between_us), Class(0.0, _LENGTH_US)
    is_atomic = restore == "atomic"
    model = Suspension(reads, programs, _PHASES, restore=restore_us, atomic=is_atomic)
    theory = {"completion": model.completion(), "suspensions": model.suspensions()}
    keys = {
        "timing.program_iterations": _PHASES,
        "timing.t_program_pulse_us": _LENGTH_US / _PHASES,
        "suspension.program": "ips",
        "timing.t_buffer_us": restore_us,
        **({} if is_atomic else {"suspension.restore": restore}),
    }
    return theory, rig("program", keys, number, reads, model.completion())
