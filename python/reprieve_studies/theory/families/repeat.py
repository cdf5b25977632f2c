"""Erases that begin again: from the start (preemptive-repeat), or from that of their segment."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.raw import erase_keys, rate_of, rig
from reprieve_studies.theory.formulas import busy_period, repeat_completion

_BETWEEN_US = 400.0
_SEGMENTS = 6
_RESTART = "preemptive-repeat: E[C] = (e^(λS) − 1)(1/λ + E[B])"
_SEGMENT = "for each of n segments: E[C] = n·(e^(λs) − 1)(1/λ + E[B])"
_SERIES = {1: "from the start", _SEGMENTS: "from the start of one of six segments"}


def _completion(length_us: float, segments: int) -> float:
    reads = rate_of(_BETWEEN_US)
    return repeat_completion(length_us, busy_period(reads), reads.rate, segments)


def experiments(quick: bool) -> Sequence[Experiment]:
    """Erases up to three times as long as the time between two reads; one each in a quick run."""
    if quick:
        return [_at(400.0, 1, 100_000), _at(1200.0, _SEGMENTS, 40_000)]
    lengths = {20.0: 100_000, 140.0: 150_000, 400.0: 200_000, 800.0: 150_000}
    segmented = {600.0: 60_000, 1200.0: 60_000, 2400.0: 60_000}
    return [
        *(_at(length_us, 1, number) for length_us, number in lengths.items()),
        *(_at(length_us, _SEGMENTS, number) for length_us, number in segmented.items()),
    ]


def _at(length_us: float, segments: int, number: int) -> Experiment:
    completion_us = _completion(length_us, segments)
    what = f"erase of {length_us:g} µs that goes on {_SERIES[segments]}"
    check = Check(
        f"time from start to end of an {what}",
        completion_us,
        "µs",
        "completion",
        _RESTART if segments == 1 else _SEGMENT,
        _SERIES[segments],
        length_us,
    )
    if segments == 1:
        keys = erase_keys(length_us, suspension__erase_resume="restart")
    else:
        keys = erase_keys(
            length_us, suspension__erase_resume="redo_phase", timing__erase_segments=segments
        )
    reads = rate_of(_BETWEEN_US)
    return Experiment(what, rig("erase", keys, number, reads, completion_us), [check])


def curves() -> Mapping[str, Curve]:
    """Both over the length of the erase."""
    return {
        _SERIES[1]: [(float(us), _completion(us, 1)) for us in range(20, 1201, 20)],
        _SERIES[_SEGMENTS]: [(float(us), _completion(us, _SEGMENTS)) for us in range(60, 2461, 60)],
    }
