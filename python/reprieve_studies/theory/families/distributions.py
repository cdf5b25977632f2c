"""Distributions: percentiles of waits and latencies, from transforms that are inverted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from reprieve_studies.theory import batches, transforms
from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PROGRAM_US,
    READ_US,
    classes_of,
    completions,
    one_die,
    waits,
)
from reprieve_studies.theory.formulas import Class, with_load
from reprieve_studies.theory.models import Drive, percentile_name
from reprieve_studies.theory.transforms import Paused, Transform

LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)


@dataclass(frozen=True)
class Length:
    """Length of the simulation of a queue."""

    requests: int
    runs: int = 1
    """More than one where only percentiles are wanted that few requests are beyond."""


_QUICK, _FULL = Length(2_000_000), Length(24_000_000)
_HALF, _QUARTER = Length(1_000_000), Length(500_000)
"""Of a quick run, where they determine the percentiles to half a per cent."""
_KEPT_SHARE = 5
"""Kept requests of several runs, as a multiple of those beyond the lowest percentile."""
_LOAD = 0.6
_PHASES = 1000
_ENTRY_US = 10.0
_RESTORE_US = 60.0
_KEPT_US = 48.0
_OLDEST_US = 80.0
_READS = with_load(0.15, READ_US)
_WRITES = with_load(0.25, PROGRAM_US)


@cache
def _percentile(theory: Transform, level: float) -> float:
    return transforms.percentile(theory, level)


def _queue(
    label: str,
    keys: Mapping[str, Any],
    classes: tuple[Class, Class],
    length: Length,
    wanted: Mapping[str, tuple[Transform, str, tuple[float, ...]]],
) -> Experiment:
    """One simulation or several; of each quantity its transform, its source, its percentiles."""
    wanted = {name: parts for name, parts in wanted.items() if parts[2]}
    checks = [
        Check(
            f"{percentile_name(name, level)}, {label}",
            _percentile(theory, level),
            "µs",
            percentile_name(name, level),
            source,
            resolution=PROGRAM_US / _PHASES if _on_phases(keys) else 0.0,
        )
        for name, (theory, source, levels) in wanted.items()
        for level in levels
    ]
    series = completions if "completion" in wanted or "write latency" in wanted else waits
    levels = {name: of_name for name, (_, _, of_name) in wanted.items()}
    scenario = one_die(keys, *classes, length.requests)
    if length.runs == 1:
        return Experiment(label, Drive(scenario, series, levels=levels), checks)
    floors = {
        name: _percentile(theory, 1 - _KEPT_SHARE * (1 - min(of_name)))
        for name, (theory, _, of_name) in wanted.items()
    }
    model = Drive(scenario, series, levels=levels, runs=length.runs, floors=floors)
    return Experiment(f"{label}, {length.runs} runs", model, checks)


def _on_phases(keys: Mapping[str, Any]) -> bool:
    """Return whether operations stop only at the ends of phases."""
    return "timing.program_iterations" in keys


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return every queue to p99.99; in a quick run some, to the percentiles that it resolves."""
    last = LEVELS[-1:]
    if quick:
        return [
            _in_order(_QUICK, LEVELS[1:2]),
            _first(_QUICK, LEVELS[1:], ()),
            _ideal(_HALF, (), LEVELS[:2]),
            _paused(_HALF, LEVELS[1:3], LEVELS[:1]),
            _kept(_QUICK, LEVELS[1:3], LEVELS),
            _oldest(_QUARTER, LEVELS[1:3]),
            _pairs(_QUARTER, LEVELS[1:4]),
            _kept(_several(_QUICK, 6), last, ()),
        ]
    tail = LEVELS[1:]
    return [
        _alone(0.6, _FULL, LEVELS[:-1]),
        _alone(0.8, _FULL, LEVELS[:-2]),
        _in_order(_FULL, LEVELS[:-1]),
        _first(_FULL, LEVELS, LEVELS[:-1]),
        _ideal(_FULL, tail, LEVELS[:-1]),
        _paused(_FULL, tail, LEVELS),
        _kept(_FULL, tail, LEVELS),
        _oldest(_FULL, tail),
        _pairs(_FULL, tail[:-1]),
        # Long waits come together, in long busy periods, so that many requests say little of them.
        _alone(0.6, _several(_FULL, 6), last),
        _in_order(_several(_FULL, 8), last),
        _pairs(_several(_FULL, 4), last),
        _first(_several(_FULL, 9), (), last),
        _ideal(_several(_FULL, 8), (), last),
        _alone(0.8, _several(_FULL, 6), LEVELS[-2:-1]),
    ]


def _several(length: Length, runs: int) -> Length:
    return Length(length.requests, runs)


def _alone(load: float, length: Length, levels: tuple[float, ...]) -> Experiment:
    reads = with_load(load, READ_US)
    wanted = {"read wait": (transforms.fifo(reads), "M/D/1: Crommelin 1932", levels)}
    classes = reads, Class(0.0, PROGRAM_US)
    return _queue(f"reads alone at a load of {load}", {"policy": "fifo"}, classes, length, wanted)


def _in_order(length: Length, levels: tuple[float, ...]) -> Experiment:
    classes = classes_of(_LOAD)
    source = "M/G/1: transform of Pollaczek and Khinchine"
    theory = transforms.fifo(*classes)
    wanted = {f"{op} wait": (theory, source, levels) for op in ("read", "write")}
    return _queue("in order of arrival", {"policy": "fifo"}, classes, length, wanted)


def _first(length: Length, of_reads: tuple[float, ...], of_writes: tuple[float, ...]) -> Experiment:
    classes = classes_of(_LOAD)
    source = "two classes without preemption: Takács 1964, Jaiswal 1968"
    wanted = {
        "read wait": (transforms.priority_first(*classes), source, of_reads),
        "write wait": (transforms.priority_second(*classes), source, of_writes),
    }
    return _queue("read priority", {"policy": "rps"}, classes, length, wanted)


def _ideal(length: Length, of_reads: tuple[float, ...], of_writes: tuple[float, ...]) -> Experiment:
    classes = classes_of(_LOAD)
    source = "preemptive-resume: Conway, Maxwell, Miller 1967"
    wanted = {
        "read wait": (Paused(*classes, _PHASES).read_wait(), source, of_reads),
        "write latency": (transforms.resumed(*classes), source, of_writes),
    }
    keys = {"policy": "pes-ips", **IDEAL_KEYS}
    return _queue("suspension without cost", keys, classes, length, wanted)


def _suspending(**more: Any) -> dict[str, Any]:
    dotted = {name.replace("__", "."): value for name, value in more.items()}
    return {
        **IDEAL_KEYS,
        "scheduling.policy": "rps",
        "suspension.program": "iteration",
        **dotted,
    }


def _paused(
    length: Length, of_reads: tuple[float, ...], of_writes: tuple[float, ...]
) -> Experiment:
    model = Paused(_READS, _WRITES, _PHASES, _ENTRY_US, _RESTORE_US)
    source = "preemption with pause and resume overhead (Ramakrishna, Peng, Scully 2026), atomic"
    wanted = {
        "read wait": (model.read_wait(), source, of_reads),
        "completion": (model.completion(), source, of_writes),
    }
    keys = _suspending(timing__t_suspend_overhead_us=_ENTRY_US, timing__t_buffer_us=_RESTORE_US)
    label = f"{_ENTRY_US:g} µs to stop and {_RESTORE_US:g} to go on"
    return _queue(label, keys, (_READS, _WRITES), length, wanted)


def _kept(length: Length, of_reads: tuple[float, ...], of_writes: tuple[float, ...]) -> Experiment:
    model = Paused(*classes_of(_LOAD), _PHASES, kept=_KEPT_US)
    source = "threshold on the service that is left (Drekic and Stanford 2000)"
    wanted = {
        "read wait": (model.read_wait(), source, of_reads),
        "completion": (model.completion(), source, of_writes),
    }
    keys = _suspending(suspension__policy="threshold", suspension__min_remaining_us=_KEPT_US)
    label = f"no suspension in the last {_KEPT_US:g} µs"
    return _queue(label, keys, classes_of(_LOAD), length, wanted)


def _held(label: str, pairs: bool, length: Length, levels: tuple[float, ...]) -> Experiment:
    classes = classes_of(_LOAD)
    theory = batches.read_wait(*classes, _PHASES, pairs, _OLDEST_US)
    source = f"(N, n) preemption: embedded Markov chain on a grid of {_PHASES} phases"
    keys = _suspending(suspension__policy="batch", suspension__batch__oldest_us=_OLDEST_US)
    if pairs:
        keys["suspension.batch.reads"] = 2
    wanted = {"read wait": (theory, source, levels)}
    return _queue(label, keys, classes, length, wanted)


def _oldest(length: Length, levels: tuple[float, ...]) -> Experiment:
    return _held(f"suspension after {_OLDEST_US:g} µs of waiting", False, length, levels)


def _pairs(length: Length, levels: tuple[float, ...]) -> Experiment:
    return _held(f"suspension for two reads or after {_OLDEST_US:g} µs", True, length, levels)


def curves() -> Mapping[str, Curve]:
    """Share of reads that wait longer, over the wait."""
    first = classes_of(_LOAD)
    drawn = {
        "in order of arrival": transforms.fifo(*first),
        "read priority": transforms.priority_first(*first),
        "suspension after waiting": batches.read_wait(*first, _PHASES, False, _OLDEST_US),
        "suspension without cost": Paused(*first, _PHASES).read_wait(),
    }
    levels = [1 - 10 ** (-step / 8) for step in range(6, 33)]
    return {
        name: [(_percentile(theory, level), 1 - level) for level in levels]
        for name, theory in drawn.items()
    }
