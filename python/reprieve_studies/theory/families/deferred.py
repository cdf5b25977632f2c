"""Deferred suspension: an erase goes on to the end of its segment before it lets reads in."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.raw import completions, erase_keys, in_line, rate_of
from reprieve_studies.theory.formulas import Class, remainder, set_up_wait
from reprieve_studies.theory.models import Floats, Rig
from reprieve_studies.verdicts import AT_MOST

_SPARSE_US = 4_000.0
_DENSE_US = 400.0
_SEGMENTS = 6
_SOURCE = "a read at random in a segment of length s waits for its end: s/2"
_SERIES = {_SPARSE_US: "a read in 4 ms", _DENSE_US: "a read in 0.4 ms"}


def _wait(between_us: float, segment_us: float) -> float:
    """Mean wait with an erase always at work: a set-up at the start of every busy period."""
    reads = rate_of(between_us)
    return set_up_wait(reads, *remainder(reads.rate, segment_us))


def experiments(quick: bool) -> Sequence[Experiment]:
    """Segments from 100 to 500 µs; one in a quick run."""
    if quick:
        return [_at(_SPARSE_US, 250.0, 100_000)]
    return [
        *(_at(_SPARSE_US, us, 150_000) for us in (100.0, 250.0, 500.0)),
        *(_at(_DENSE_US, us, 400_000) for us in (100.0, 250.0, 500.0)),
    ]


def _at(between_us: float, segment_us: float, reads: int) -> Experiment:
    arrivals = rate_of(between_us)
    at = f"deferred to the end of a segment of {segment_us:g} µs, {_SERIES[between_us]}"
    checks = [
        Check(
            f"wait of a read {at}",
            _wait(between_us, segment_us),
            "µs",
            "read wait",
            f"{_SOURCE}; with the reads that it meets there: M/G/1 with set-up",
            _SERIES[between_us],
            segment_us,
        )
    ]
    if between_us == _SPARSE_US:
        claim = f"longest wait of a read {at}, for the erase"
        source = "no read waits for an erase longer than s"
        checks.append(Check(claim, segment_us, "µs", "longest", source, relation=AT_MOST))
    length_us = segment_us * _SEGMENTS
    keys = erase_keys(
        length_us, timing__erase_segments=_SEGMENTS, suspension__erase_mode="deferred"
    )
    number = _erases(reads, arrivals, length_us)
    commands = in_line("erase", number, arrivals, length_us / (1 - arrivals.load))
    rig = Rig("fast12-slc", keys, commands, _series, maxima=("longest",))
    return Experiment(f"erase {at}", rig, checks)


def _erases(reads: int, arrivals: Class, length_us: float) -> int:
    """Return the number of erases that meet about the given number of reads."""
    return int(reads / arrivals.rate * (1 - arrivals.load) / length_us)


def _series(rows: Mapping[str, NDArray[Any]]) -> Mapping[str, Floats]:
    found = dict(completions("erase")(rows))
    waits = found["read wait"]
    # Those that found no other read before them: they are served when the erase has stopped.
    reads = rows["op"] == "read"
    arrivals, ends = rows["arrival_ns"][reads], rows["completion_ns"][reads]
    alone = arrivals[1:] >= ends[:-1]
    return found | {"longest": waits[1:][alone[: len(waits) - 1]]}


def curves() -> Mapping[str, Curve]:
    """Return the wait over the segment's length."""
    return {
        series: [(float(us), _wait(between_us, us)) for us in range(10, 521, 10)]
        for between_us, series in _SERIES.items()
    }
