"""The runs of the study: loads on two drives, compressed, under every policy and reading."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import reprieve as rp
from reprieve.experiments.store import Record
from reprieve_studies import loads
from reprieve_studies.compress import Compression, compressions
from reprieve_studies.frame import Reading, read
from reprieve_studies.joint import Candidate
from reprieve_studies.loads import Load, Recording
from reprieve_studies.runs import Bench, Job, Setup, keeping
from reprieve_studies.study import Settings

DATA = read(Path(__file__).with_name("study.toml"))
BASE, CHOSEN, MAIN = "joint", "chosen", "characterised"
DEVICES: Mapping[str, str] = DATA["devices"]
POLICIES: Mapping[str, str] = DATA["policies"]
_SCALE = "workload.time_scale"
_ONCE = 0
"""In place of a seed where nothing is drawn: a recorded load runs once."""


class Place(NamedTuple):
    """A load on a drive, drawn once."""

    of: str
    """The set of the load."""
    device: str
    load: str
    """By its trace."""
    seed: int


class Run(NamedTuple):
    """A run."""

    place: Place
    reading: str
    policy: str
    limit: int | None = None
    """Of the write queue, under the load of Figure 7."""


Scales = Mapping[tuple[str, Place], Compression]
"""By reading."""


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs."""

    sets: Mapping[str, Sequence[Load]]
    """The loads of each set that runs."""
    seeds: Sequence[int]
    requests: int
    """Of each load at most."""
    quick: bool = False
    """Judge the claims alone: no other reading."""
    base: Reading = DATA.readings[BASE]
    """The reading that is judged, under that name."""

    def of_set(self, of: str) -> Sequence[Reading]:
        """Return every reading that runs with a set: those of one question with the first."""
        others = [] if self.quick else list(DATA.readings.values())[1:]
        return (self.base, *(one for one in others if of == MAIN or one.name == CHOSEN))

    @cached_property
    def loads(self) -> dict[Place, Load]:
        """Return every load on every drive with every seed."""
        return {
            Place(of, device, load.trace, seed): load
            for of, some in self.sets.items() for device in DEVICES for load in some
            for seed in ((_ONCE,) if load.genuine else self.seeds)
        }  # fmt: skip

    def drive(self, place: Place, reading: Reading) -> Setup:
        """Return a load on a drive under a reading, as fast as it is recorded."""
        load = self.loads[place]
        setup = load.setup(DEVICES[place.device], self.requests, place.seed or None)
        full = load.spread if reading.options.get("compressed") == "full" else {}
        return setup.with_overrides({**full, **reading.sets})


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    requests = settings.requests_or(DATA["requests"]["quick" if settings.quick else "full"])
    names = [MAIN] if settings.quick else DATA["sets"]
    sets = {name: counterparts(settings.traces, name) for name in names}
    return Plan(sets, DATA["seeds"], requests, settings.quick)


def candidate_plan(candidate: Candidate, seeds: Sequence[int], quick: bool) -> Plan:
    """Return the plan that judges a candidate for the joint reading."""
    requests = DATA["requests"]["search" if quick else "full"]
    sets = {MAIN: counterparts({}, candidate.loads)}
    return Plan(sets, seeds, requests, True, candidate.reading)


def counterparts(genuine: Mapping[str, Recording], of: str) -> list[Load]:
    """Return the six loads of the paper in a set, as `reprieve_studies.loads.papers` does."""

    def counterpart(name: str, seed: int) -> Load:
        preset = f"{DATA['traces'][name]}-{DATA['sets'][of]}"
        flows = tomllib.loads(rp.load(preset))["flow"]
        counts = {flow: keys["requests"] for flow, keys in flows.items()}
        return Load(name, preset, False, {}, preset, seed, counts)

    return loads.papers(genuine, list(DATA["traces"]), counterpart)


@dataclass(frozen=True)
class Results:
    """All runs, how the loads were compressed, and which runs a measure is of."""

    plan: Plan
    compressions: Scales
    runs: Mapping[Run, Record]
    of: str = MAIN
    device: str = ""
    reading: str = BASE
    load: str = ""
    """By its trace; empty: all of the set."""
    seed: int = _ONCE
    instead: Mapping[str, str] = field(default_factory=dict)
    """Policies whose runs stand in the place of others."""

    @property
    def loads(self) -> Sequence[Load]:
        """Return the loads of the set, or the one."""
        some = self.plan.sets.get(self.of, ())
        return [load for load in some if self.load in ("", load.trace)]

    def seeds(self, **which: Any) -> list[Results]:
        """Return the results of each seed, by default of these runs; none if they were not run."""
        own = replace(self, **which)
        if not own.loads or all(one.name != own.reading for one in self.plan.of_set(own.of)):
            return []
        is_drawn = not all(load.genuine for load in self.plan.sets[own.of])
        return [replace(own, seed=seed) for seed in (self.plan.seeds if is_drawn else (_ONCE,))]

    def result(self, load: Load, policy: str, limit: int | None = None) -> Record:
        """Return a run; a recorded load has one for all seeds."""
        seed = _ONCE if load.genuine else self.seed
        place = Place(self.of, self.device, load.trace, seed)
        return self.runs[Run(place, self.reading, self.instead.get(policy, policy), limit)]


def simulate(plan: Plan, bench: Bench) -> Results:
    """Compress the loads, then run them under every policy and reading."""
    scales = _scales(plan, bench)
    setups: dict[Run, Setup] = {}
    for place in plan.loads:
        for reading in plan.of_set(place.of):
            scale = scales[reading.name, place].time_scale
            drive = plan.drive(place, reading).with_overrides({_SCALE: scale})
            for name, policy in POLICIES.items():
                # The paper's own addition has nothing that a reading of one question asks about.
                if reading.name in (BASE, CHOSEN) or name != "PER":
                    run = Run(place, reading.name, name)
                    setups[run] = drive.with_overrides({"policy": policy})
            if reading.name == BASE and place.of == MAIN and place.load == DATA["queue"]["load"]:
                setups |= _queue(place, drive, scale, reading)
    jobs, keep = {run: Job(setup) for run, setup in setups.items()}, keeping("requests", "flash")
    return Results(plan, scales, bench.each("running the policies", jobs, keep))


def _queue(place: Place, drive: Setup, scale: float, reading: Reading) -> Iterator[Any]:
    """Yield the runs of Figure 7: F2 compressed once more, by limit of the write queue."""
    of = DATA["queue"]
    for limit in of["limits"]:
        for name in of["policies"]:
            yield Run(place, reading.name, name, limit), drive.with_overrides({
                _SCALE: scale / of["compression"],
                **reading.options.get("queue", {}),
                "scheduling.write_queue_limit": limit,
                "policy": POLICIES[name],
            })  # fmt: skip


def _scales(plan: Plan, bench: Bench) -> Scales:
    """Find every compression: of a load's first seed, near it of the others and other readings."""
    wanted, same = {}, {}
    for place, load in plan.loads.items():
        first = place if load.genuine else place._replace(seed=plan.seeds[0])
        for reading in plan.of_set(place.of):
            key, of = (reading.name, place), reading.options
            is_base, is_full = reading.name == BASE, of["compressed"] == "full"
            names = ("compressed", "idle_share")
            if not is_base and all(of.get(name) == plan.base.options.get(name) for name in names):
                same[key] = (BASE, place)
            elif is_full and place != first:
                same[key] = (reading.name, first)  # to fill a drive costs more than the load
            else:
                setup = plan.drive(place, reading).with_overrides({"policy": "fifo"})
                share = of.get("idle_share", DATA["idle_share"])
                near = (BASE, first if is_base else place)
                wanted[key] = (setup, share, of["compressed"] != "drive", near)
    found = compressions(bench, wanted)
    return {**found, **{key: found[other] for key, other in same.items()}}
