"""Suspension at a cost: time until the array is free, and time to restore the page."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PROGRAM_US,
    READ_US,
    one_die,
    suspended,
)
from reprieve_studies.theory.formulas import Suspension, with_load
from reprieve_studies.theory.models import Drive

_ENTRY_US = 10.0
_PHASES = 1000
_READS = with_load(0.15, READ_US)
_WRITES = with_load(0.25, PROGRAM_US)
_READ = "M/G/1 with set-up, E[D] from the shares of time at work and restoring"
_COMPLETION = {
    True: "E[C] = E[S] + λE[S]·((D + E[S₁])/(1−ρ₁) + r·e^(λr)/(1−ρ₁))",
    False: "E[C] = E[S] + λE[S]·((D + E[S₁])/(1−ρ₁) + (e^(λr) − 1)(1/λ + E[S₁]/(1−ρ₁)))",
}
_WORDS = {True: "atomic", False: "interruptible"}


def _model(restore_us: float, *, atomic: bool) -> Suspension:
    return Suspension(_READS, _WRITES, _PHASES, _ENTRY_US, restore_us, atomic)


def experiments(quick: bool) -> Sequence[Experiment]:
    """Restores from 3 µs, that of the SLC part, to as long as a program; 60 in a quick run."""
    if quick:
        return [_at(60.0, 1_000_000, atomic=True), _at(60.0, 1_000_000, atomic=False)]
    return [
        _at(restore_us, 4_000_000, atomic=atomic)
        for atomic in (True, False)
        for restore_us in (3.0, 60.0, 120.0)
    ]


def _at(restore_us: float, requests: int, *, atomic: bool) -> Experiment:
    model = _model(restore_us, atomic=atomic)
    word = _WORDS[atomic]
    at = f"with a restore of {restore_us:g} µs, {word}"
    series = f"wait of reads, {word}", f"completion of programs, {word}"
    checks = [
        Check(
            f"wait of a read {at}",
            model.read_wait(),
            "µs",
            "read wait",
            _READ,
            series[0],
            restore_us,
        ),
        Check(
            f"time from a program's start to its end {at}",
            model.completion(),
            "µs",
            "completion",
            _COMPLETION[atomic],
            series[1],
            restore_us,
        ),
        Check(
            f"suspensions a program {at}",
            model.suspensions(),
            "1",
            "suspensions",
            "λE[S]·e^(λr), those during a restore included",
        ),
    ]
    keys = {
        **IDEAL_KEYS,
        "scheduling.policy": "rps",
        "suspension.program": "iteration",
        "timing.t_suspend_overhead_us": _ENTRY_US,
        "timing.t_buffer_us": restore_us,
    }
    if not atomic:
        keys["suspension.restore"] = "interruptible"
    scenario = one_die(keys, _READS, _WRITES, requests)
    return Experiment(f"suspension {at}", Drive(scenario, **suspended()), checks)


def curves() -> Mapping[str, Curve]:
    """Both over the restore."""
    drawn: dict[str, Curve] = {}
    for atomic, word in _WORDS.items():
        models = [(float(us), _model(us, atomic=atomic)) for us in range(0, 131, 2)]
        drawn[f"wait of reads, {word}"] = [(us, model.read_wait()) for us, model in models]
        drawn[f"completion of programs, {word}"] = [(us, m.completion()) for us, m in models]
    return drawn
