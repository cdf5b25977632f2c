"""Distributions: percentiles of waits and latencies, from transforms that are inverted."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from reprieve_studies.theory import batches, transforms
from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PHASES,
    PROGRAM_US,
    READ_US,
    classes_of,
    one_die,
)
from reprieve_studies.theory.families.tables import TABLES
from reprieve_studies.theory.formulas import Class, with_load
from reprieve_studies.theory.models import percentile_name
from reprieve_studies.theory.transforms import Paused, Transform

_OF: Mapping[str, Any] = TABLES["distributions"]
_KEPT_SHARE = 5
"""Kept requests of several runs, as a multiple of those beyond the lowest percentile."""
_CLASSES = classes_of(0.6)
_SUSPENDING = {**IDEAL_KEYS, "scheduling.policy": "rps", "suspension.program": "iteration"}

Queue = tuple[Mapping[str, Transform], Mapping[str, Any], tuple[Class, Class]]
"""Transforms by quantity, keys of the scenario, and the classes of its load."""


@cache
def _percentile(theory: Transform, level: float) -> float:
    return transforms.percentile(theory, level)


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return every queue to p99.99; in a quick run some, to the percentiles that it resolves."""
    return [_experiment(*row) for row in _OF["quick" if quick else "full"]]


def _experiment(
    name: str, requests: int, runs: int, levels: Mapping[str, Sequence[float]]
) -> Experiment:
    """Simulate a queue once or several times, for some percentiles of some quantities."""
    about, (theory, keys, classes) = _OF["queue"][name], _queue(name)
    label = about["label"].format(**about["with"])
    is_in_phases = "timing.program_iterations" in keys
    checks = [
        Check(
            f"{percentile_name(quantity, level)}, {label}",
            _percentile(theory[quantity], level),
            "µs",
            percentile_name(quantity, level),
            about["source"],
            # Operations stop only at the ends of phases.
            resolution=PROGRAM_US / PHASES if is_in_phases else 0.0,
        )
        for quantity, wanted in levels.items()
        for level in wanted
    ]
    floors = {
        quantity: _percentile(theory[quantity], 1 - _KEPT_SHARE * (1 - min(wanted)))
        for quantity, wanted in levels.items()
        if runs > 1
    }
    model = one_die(keys, *classes, requests, levels=levels, runs=runs, floors=floors)
    return Experiment(label + (f", {runs} runs" if runs > 1 else ""), model, checks)


@cache
def _queue(name: str) -> Queue:
    return _QUEUES[_OF["queue"][name]["of"]](**_OF["queue"][name]["with"])


def alone(load: float) -> Queue:
    """Return reads without programs."""
    reads = with_load(load, READ_US)
    return {"read wait": transforms.fifo(reads)}, {"policy": "fifo"}, (reads, Class(0, PROGRAM_US))


def in_order() -> Queue:
    """Return reads and programs in order of arrival."""
    theory = transforms.fifo(*_CLASSES)
    return {"read wait": theory, "write wait": theory}, {"policy": "fifo"}, _CLASSES


def first() -> Queue:
    """Return reads that go before programs."""
    theory = {
        "read wait": transforms.priority_first(*_CLASSES),
        "write wait": transforms.priority_second(*_CLASSES),
    }
    return theory, {"policy": "rps"}, _CLASSES


def ideal() -> Queue:
    """Return programs that stop and go on at once."""
    theory = {
        "read wait": Paused(*_CLASSES, PHASES).read_wait(),
        "write latency": transforms.resumed(*_CLASSES),
    }
    return theory, {"policy": "pes-ips", **IDEAL_KEYS}, _CLASSES


def paused(entry_us: float, restore_us: float) -> Queue:
    """Return programs that stop and go on at a cost."""
    classes = with_load(0.15, READ_US), with_load(0.25, PROGRAM_US)
    model = Paused(*classes, PHASES, entry_us, restore_us)
    keys = {
        **_SUSPENDING,
        "timing.t_suspend_overhead_us": entry_us,
        "timing.t_buffer_us": restore_us,
    }
    return {"read wait": model.read_wait(), "completion": model.completion()}, keys, classes


def kept(kept_us: float) -> Queue:
    """Return programs that go on to their end when they are near it."""
    model = Paused(*_CLASSES, PHASES, kept=kept_us)
    own = {"suspension.policy": "threshold", "suspension.min_remaining_us": kept_us}
    theory = {"read wait": model.read_wait(), "completion": model.completion()}
    return theory, {**_SUSPENDING, **own}, _CLASSES


def held(pairs: bool, oldest_us: float) -> Queue:
    """Return programs that stop for an old read, or for two."""
    theory = batches.read_wait(*_CLASSES, PHASES, pairs, oldest_us)
    keys = {
        **_SUSPENDING,
        "suspension.policy": "batch",
        "suspension.batch.oldest_us": oldest_us,
        **({"suspension.batch.reads": 2} if pairs else {}),
    }
    return {"read wait": theory}, keys, _CLASSES


_QUEUES: Mapping[str, Callable[..., Queue]] = {
    of.__name__: of for of in (alone, in_order, first, ideal, paused, kept, held)
}


def curves() -> Mapping[str, Curve]:
    """Share of reads that wait longer, over the wait."""
    levels = [1 - 10 ** (-step / 8) for step in range(6, 33)]
    return {
        series: [(_percentile(_queue(name)[0]["read wait"], level), 1 - level) for level in levels]
        for series, name in _OF["curve"].items()
    }
