"""The runs of the study: loads on two drives, compressed, under every policy and reading."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import reprieve as rp
from reprieve.experiments.store import Record
from reprieve_studies import loads
from reprieve_studies.compress import Compression, compressions
from reprieve_studies.frame import Reading, read
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
    """Judge the claims alone: no reading of one question."""
    base: Reading = DATA.readings[BASE]
    """The reading that is judged, under that name."""

    @property
    def others(self) -> Sequence[Reading]:
        """Return the readings of one question, with the first set."""
        return (
            ()
            if self.quick
            else [one for name, one in DATA.readings.items() if name not in (BASE, CHOSEN)]
        )

    def of_set(self, of: str) -> Sequence[Reading]:
        """Return every reading that runs with a set."""
        both = (self.base, DATA.readings[CHOSEN])
        return (*both[: 1 if self.quick else 2], *(self.others if of == MAIN else ()))

    def seeds_of(self, *loads: Load) -> Sequence[int]:
        """Return the seeds of some loads."""
        return (_ONCE,) if all(load.genuine for load in loads) else self.seeds

    def places(self, of: str, device: str, load: Load) -> list[Place]:
        """Return a load on a drive with every seed."""
        return [Place(of, device, load.trace, seed) for seed in self.seeds_of(load)]

    @cached_property
    def loads(self) -> dict[Place, Load]:
        """Return every load on every drive with every seed."""
        return {
            place: load
            for of, some in self.sets.items()
            for device in DEVICES
            for load in some
            for place in self.places(of, device, load)
        }

    def drive(self, place: Place, reading: Reading) -> Setup:
        """Return a load on a drive under a reading, as fast as it is recorded."""
        load = self.loads[place]
        setup = load.setup(DEVICES[place.device], self.requests, place.seed or None)
        full = load.spread if reading.options.get("compressed") == "full" else {}
        return setup.with_overrides({**full, **reading.sets})

    def first(self, place: Place) -> Place:
        """Return the place with the first seed."""
        return place if place.seed == _ONCE else place._replace(seed=self.seeds[0])


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    requests = settings.requests_or(DATA["requests"]["quick" if settings.quick else "full"])
    sets = {
        name: counterparts(settings.traces, name)
        for name in DATA["sets"]
        if name == MAIN or not settings.quick
    }
    return Plan(sets, DATA["seeds"], requests, settings.quick)


def counterparts(genuine: Mapping[str, Recording], of: str) -> list[Load]:
    """Return the six loads of the paper in a set, as `reprieve_studies.loads.papers` does."""

    def counterpart(name: str, seed: int) -> Load:
        preset = f"{DATA['traces'][name]}-{DATA['sets'][of]['suffix']}"
        flows = tomllib.loads(rp.load(preset))["flow"]
        counts = {flow: keys["requests"] for flow, keys in flows.items()}
        return Load(name, preset, False, {}, preset, seed, counts)

    return loads.papers(genuine, list(DATA["traces"]), counterpart)


@dataclass(frozen=True)
class Group:
    """The runs of the loads of a set on a drive, under a reading, with one seed."""

    loads: Sequence[Load]
    of: str
    device: str
    reading: str
    seed: int
    runs: Mapping[Run, Record]

    def result(self, load: Load, policy: str, limit: int | None = None) -> Record:
        """Return a run; a recorded load has one for all seeds."""
        seed = _ONCE if load.genuine else self.seed
        place = Place(self.of, self.device, load.trace, seed)
        return self.runs[Run(place, self.reading, policy, limit)]


@dataclass(frozen=True)
class Results:
    """All runs, and how the loads were compressed."""

    plan: Plan
    compressions: Scales
    runs: Mapping[Run, Record]

    def groups(self, of: str, device: str, reading: str = BASE) -> list[Group]:
        """Return the runs of a set for each seed; none if it was not run under the reading."""
        if of not in self.plan.sets or all(one.name != reading for one in self.plan.of_set(of)):
            return []
        loads = self.plan.sets[of]
        return [Group(loads, of, device, reading, seed, self.runs)
                for seed in self.plan.seeds_of(*loads)]  # fmt: skip


def run(settings: Settings) -> Results:
    """Run everything that the command asks for."""
    with settings.bench() as bench:
        return simulate(planned(settings), bench)


def simulate(plan: Plan, bench: Bench) -> Results:
    """Compress the loads, then run them under every policy and reading."""
    scales = _scales(plan, bench)
    setups: dict[Run, Setup] = {}
    for place in plan.loads:
        for reading in plan.of_set(place.of):
            scale = scales[reading.name if _has_own(plan, reading) else BASE, place]
            drive = plan.drive(place, reading).with_overrides({_SCALE: scale.time_scale})
            for name, policy in POLICIES.items():
                # The paper's own addition has nothing that a reading of one question asks about.
                if reading.name in (BASE, CHOSEN) or name != "PER":
                    run = Run(place, reading.name, name)
                    setups[run] = drive.with_overrides({"policy": policy})
            if reading.name == BASE and place.of == MAIN and place.load == DATA["queue"]["load"]:
                setups |= _queue(place, drive, scale, reading)
    jobs, keep = {run: Job(setup) for run, setup in setups.items()}, keeping("requests", "flash")
    return Results(plan, scales, bench.each("running the policies", jobs, keep))


def _queue(place: Place, drive: Setup, scale: Compression, reading: Reading) -> Iterator[Any]:
    """Yield the runs of Figure 7: F2 compressed once more, by limit of the write queue."""
    of = DATA["queue"]
    for limit in of["limits"]:
        for name in of["policies"]:
            yield Run(place, reading.name, name, limit), drive.with_overrides({
                _SCALE: scale.time_scale / of["compression"],
                **reading.options.get("queue", {}),
                "scheduling.write_queue_limit": limit,
                "policy": POLICIES[name],
            })  # fmt: skip


def _scales(plan: Plan, bench: Bench) -> Scales:
    """Find every compression: that of a load's first seed is near those of its others."""
    scales: dict[tuple[str, Place], Compression] = {}

    def find(wanted: Collection[tuple[str, Place]], near: Mapping[Place, Place]) -> None:
        works = {}
        for name, place in wanted:
            reading = plan.base if name == BASE else DATA.readings[name]
            setup = plan.drive(place, reading).with_overrides({"policy": "fifo"})
            of_dies = reading.options["compressed"] != "drive"
            share = reading.options.get("idle_share", DATA["idle_share"])
            works[name, place] = (setup, share, of_dies)
        about = {(name, place): scales[BASE, near[place]].time_scale
                 for name, place in wanted if place in near}  # fmt: skip
        scales.update(compressions(bench, works, about))

    firsts = {place: plan.first(place) for place in plan.loads}
    find({(BASE, place) for place in firsts.values()}, {})
    find([(BASE, place) for place, first in firsts.items() if place != first], firsts)
    own = {
        (reading.name, place): (reading.name, first if _is_of_first(reading) else place)
        for place, first in firsts.items()
        for reading in plan.of_set(place.of)
        if _has_own(plan, reading) and reading.name != BASE
    }
    find(dict.fromkeys(own.values()), {place: place for place in firsts})
    return {**scales, **{key: scales[found] for key, found in own.items()}}


def _has_own(plan: Plan, reading: Reading) -> bool:
    """Return whether its loads are compressed for it alone."""
    own, base = ("compressed", "idle_share"), plan.base.options
    return any(reading.options.get(name) != base.get(name) for name in own)


def _is_of_first(reading: Reading) -> bool:
    """Return whether one seed's scale serves all: to fill a drive costs more than the load."""
    return bool(reading.options["compressed"] == "full")
