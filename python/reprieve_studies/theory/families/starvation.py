"""Forward progress: operations that lose time with each resume, and lose it again."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.raw import program_keys, rate_of, rig
from reprieve_studies.theory.formulas import Class, Suspension

_LENGTH_US = 1500.0
_PHASES = 1000
_LONGEST_US = {400.0: 420, 100.0: 220}
"""Restore to which a line goes, by time between two reads."""
_SOURCE = "E[C] = S·e^(λδ)·(1 + λE[B])"
_ATOMIC = "E[C] = S·(1 + λE[B] + λδ·e^(λδ)/(1−ρ₁))"
_SERIES = {
    (400.0, False): "a read in 400 µs, interruptible",
    (100.0, False): "a read in 100 µs, interruptible",
    (400.0, True): "a read in 400 µs, atomic",
}


def _model(between_us: float, restore_us: float, *, atomic: bool) -> Suspension:
    programs = Class(0.0, _LENGTH_US)
    return Suspension(rate_of(between_us), programs, _PHASES, restore=restore_us, atomic=atomic)


def experiments(quick: bool) -> Sequence[Experiment]:
    """Losses up to twice the time between two reads; one each in a quick run."""
    if quick:
        return [_at(400.0, 200.0, 20_000, atomic=atomic) for atomic in (False, True)]
    return [
        *(
            _at(400.0, us, 30_000, atomic=atomic)
            for us in (50.0, 200.0)
            for atomic in (False, True)
        ),
        _at(400.0, 400.0, 30_000, atomic=True),
        _at(400.0, 400.0, 30_000, atomic=False),
        _at(100.0, 100.0, 20_000, atomic=False),
        _at(100.0, 200.0, 10_000, atomic=False),
    ]


def _at(between_us: float, restore_us: float, number: int, *, atomic: bool) -> Experiment:
    model = _model(between_us, restore_us, atomic=atomic)
    series = _SERIES[between_us, atomic]
    what = f"program of 1.5 ms that restores for {restore_us:g} µs, {series}"
    checks = [
        Check(
            f"time from start to end of a {what}",
            model.completion(),
            "µs",
            "completion",
            _ATOMIC if atomic else _SOURCE,
            series,
            restore_us,
        ),
        Check(
            f"suspensions of a {what}",
            model.suspensions(),
            "1",
            "suspensions",
            "λS·e^(λδ)",
        ),
    ]
    keys = program_keys(_LENGTH_US, timing__t_buffer_us=restore_us)
    if not atomic:
        keys["suspension.restore"] = "interruptible"
    reads = rate_of(between_us)
    return Experiment(what, rig("program", keys, number, reads, model.completion()), checks)


def curves() -> Mapping[str, Curve]:
    """Each over the loss."""
    return {
        series: [
            (float(us), _model(between_us, us, atomic=atomic).completion())
            for us in range(0, _LONGEST_US[between_us] + 1, 5)
        ]
        for (between_us, atomic), series in _SERIES.items()
    }
