"""Simulations of measured drives on their devices, over seeds, with suspension and without."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import reprieve as rp
from reprieve.calibration import Condition, Term, Value, errors
from reprieve.drives import MeasuredDrive, rates
from reprieve.drives.scores import simulate
from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.runs import Bench

PARTS = ("fitted", "predicted")
_KINDS = ("runs", "switched", "line")
"""Fields of an `Outcome`."""
_TAIL, _SURFACE_TAIL = ("p90", "p99", "p99.9"), ("p95",)
"""Percentiles that suspension moves most; the others where only p50 and p95 were measured."""
_OFF: dict[str, Value] = {"suspension.program": "none", "suspension.erase": False}
_ON: dict[str, Value] = {"suspension.program": "iteration", "suspension.erase": True}
_ANY_LOAD = {"generator": "mixed", "requests": 1, "read_fraction": 1.0, "queue_depth": 1}


@dataclass(frozen=True)
class Plan:
    """Requests of the fastest measured job, and seeds: all, and those with suspension switched."""

    reads: int
    seeds: tuple[int, ...]
    switched: tuple[int, ...]
    between: int
    """Rates between two measured ones, with the first seed."""


FULL, QUICK = Plan(12_000, (1, 2, 3), (1,), 1), Plan(2_000, (1,), (1,), 1)
Runs = Mapping[int, Sequence[Term]]
"""Figures by seed."""


@dataclass(frozen=True)
class Outcome:
    """A measured drive, and figures of its device under the same jobs."""

    drive: MeasuredDrive
    suspends: bool
    """Whether the device suspends programs."""
    line_conditions: Sequence[Condition]
    """At rates between the measured ones."""
    runs: Runs
    """Of all measured conditions; none without a device."""
    switched: Runs
    """Likewise, with suspension off, or on if the device has none."""
    line: Runs
    """At rates between; only simulated values have a meaning."""

    @cached_property
    def beyond(self) -> list[str]:
        """Names of the conditions beyond the drive's knee, by rate."""
        return rates.beyond(self.drive.conditions)

    @cached_property
    def write_rates(self) -> dict[str, float]:
        """Writes a second that jobs may issue, by condition, those of the line included."""
        every = [*self.drive.conditions, *self.line_conditions]
        return {each.name: rate for each in every if (rate := rates.write_rate(each)) is not None}

    def part(self, name: str) -> list[str]:
        """Return the names of the fitted or of the predicted conditions."""
        wanted, chosen = name == "fitted", self.drive.fitted
        return [each for each in self.drive.condition_names if (each in chosen) == wanted]

    def terms(
        self, conditions: Collection[str], direction: str | None, whats: Collection[str]
    ) -> list[list[Term]]:
        """Return the terms of some figures, a list for each seed; empty without any."""
        found = [
            [term for term in terms if term.condition in conditions and term.what in whats
             and direction in (None, term.direction)]
            for terms in self.runs.values()
        ]  # fmt: skip
        return found if all(found) else []

    def knee(self) -> tuple[float | None, list[float]]:
        """Return the knee in writes a second, measured and by seed; None if it was not reached."""
        found = self.terms(self.beyond[-1:], "write", ("iops",))
        measured = rates.knee(self.drive.conditions) if self.beyond else None
        return measured, [terms[0].simulated for terms in found]

    def tails(self) -> list[tuple[float, float]]:
        """Return median errors of the tails of reads, with and without suspension, by seed."""
        own = [self._tail_error(self.runs[seed]) for seed in self.switched]
        others = [self._tail_error(terms) for terms in self.switched.values()]
        return list(zip(*((own, others) if self.suspends else (others, own)), strict=True))

    def _tail_error(self, terms: Sequence[Term]) -> float:
        """Return the median error of the tails of reads that may meet a program or an erase."""
        beside = {each.name for each in self.drive.conditions if each.ops != {"read"}}
        reads = [t for t in terms if t.direction == "read" and t.condition in beside]
        found = errors(reads, _TAIL) or errors(reads, _SURFACE_TAIL)
        assert found is not None, "there are reads with p90, p95, p99 or p99.9"
        return found.median


def simulate_all(drives: Sequence[MeasuredDrive], plan: Plan, bench: Bench) -> list[Outcome]:
    """Simulate all conditions of the drives that have a device; finished runs are stored."""
    works: dict[tuple[str, str, int], tuple[str, Callable[[Watch], Any]]] = {}
    whole = {
        drive.key: rp.Scenario(device=drive.device, **drive.scenario, workload=_ANY_LOAD).resolve()
        for drive in drives
        if drive.device
    }
    suspends = {key: each.read("suspension.program") != "none" for key, each in whole.items()}
    lines = {drive.key: rates.between(drive.conditions, plan.between) for drive in drives}
    for drive in drives:
        key, switch = drive.key, _OFF if suspends.get(drive.key) else _ON
        kinds: dict[str, tuple[Sequence[int], Sequence[Condition], dict[str, Value]]] = {
            "runs": (plan.seeds, drive.conditions, {}),
            "switched": (plan.switched, drive.conditions, switch),
            "line": (plan.seeds[:1], lines[key], {}),
        }
        for kind, (seeds, conditions, values) in kinds.items():
            for seed in seeds if key in whole and conditions else ():
                keys = {"reads": plan.reads, "seed": seed, "values": values}
                works[key, kind, seed] = _work(drive, whole[key].to_toml(), conditions, keys)
    found = {drive.key: {kind: dict[int, list[Term]]() for kind in _KINDS} for drive in drives}
    for (key, kind, seed), terms in bench.once("measured drives", works).items():
        found[key][kind][seed] = [Term(*term) for term in terms]
    return [
        Outcome(drive, suspends.get(drive.key, False), lines[drive.key], **found[drive.key])
        for drive in drives
    ]


def _work(
    drive: MeasuredDrive, scenario: str, conditions: Sequence[Condition], keys: dict[str, Any]
) -> tuple[str, Callable[[Watch], Any]]:
    """Return the identity of a run of several conditions, and its work."""

    def run(watch: Watch) -> list[tuple[Any, ...]]:
        def step(*_progress: object) -> None:
            watch(None, 0)  # raises if the command was interrupted

        found = simulate(drive, conditions=conditions, workers=1, step=step, **keys)
        return [astuple(term) for term in found.terms]

    jobs = repr([(each.name, each.jobs, each.totals) for each in conditions])
    return digest("measured drive", scenario, json.dumps(keys, sort_keys=True), jobs), run
