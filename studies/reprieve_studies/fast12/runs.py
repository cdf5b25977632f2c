"""The runs of the study: loads on two drives, compressed, under every policy and reading."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
from reprieve_studies.runs import Bench, Job, Setup

DATA = read(Path(__file__).with_name("study.toml"))
BASE, SIMULATOR = "reprieve", "simulator"
JUDGED = tuple(one for one in DATA.readings.values() if one.judged)
OTHERS = tuple(one for one in DATA.readings.values() if not one.judged)
DEVICES: Mapping[str, str] = DATA["devices"]
POLICIES: Mapping[str, str] = DATA["policies"]
CALIBRATED, COUPLED, CHARACTERISED = SETS = tuple(DATA["sets"])
REAL = "recorded"
"""The set of recorded loads of the project, beside those of the paper."""
LIMITS: Sequence[int] = DATA["queue_limits"]
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


class Spot(NamedTuple):
    """A run of one seed."""

    device: str
    load: str
    policy: str


Summary = Mapping[str, Any]
Runs = Mapping[Spot, Summary]


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

    def readings(self, of: str) -> Sequence[Reading]:
        """Return the readings under which every claim is judged with a set."""
        return JUDGED if of == CALIBRATED or (of in SETS and not self.quick) else JUDGED[:1]

    @property
    def others(self) -> Sequence[Reading]:
        """Return the readings of one question, with the calibrated loads."""
        return () if self.quick else OTHERS

    def seeds_of(self, load: Load) -> Sequence[int]:
        """Return the seeds of a load."""
        return (_ONCE,) if load.genuine else self.seeds

    @property
    def places(self) -> dict[Place, Setup]:
        """Return every load on every drive with every seed."""
        return {
            Place(of, device, load.trace, seed): load.setup(preset, self.requests, seed or None)
            for of, some in self.sets.items()
            for device, preset in DEVICES.items()
            for load in some
            for seed in self.seeds_of(load)
        }

    def first(self, place: Place) -> Place:
        """Return the place with the first seed."""
        return place if place.seed == _ONCE else place._replace(seed=self.seeds[0])


def counterparts(genuine: Mapping[str, Recording], of: str) -> list[Load]:
    """Return the six loads of the paper in a set, as `reprieve_studies.loads.papers` does."""

    def counterpart(name: str, seed: int) -> Load:
        preset = f"{DATA['traces'][name]}-{DATA['sets'][of]['suffix']}"
        flows = tomllib.loads(rp.load(preset))["flow"]
        counts = {flow: keys["requests"] for flow, keys in flows.items()}
        return Load(name, preset, False, {}, preset, seed, counts)

    return loads.papers(genuine, list(DATA["traces"]), counterpart)


Scales = dict[tuple[str, Place], Compression]
"""By reading."""


@dataclass(frozen=True)
class Results:
    """All runs, and how the loads were compressed."""

    plan: Plan
    compressions: Mapping[tuple[str, Place], Compression]
    results: Mapping[Run, Summary]

    def runs(self, of: str, reading: str = BASE) -> Sequence[Runs]:
        """Return the runs of a set under a reading, for each seed; a recorded load has all."""
        return self._by_seed.get((of, reading), ())

    def queue(self, device: str, reading: str) -> Sequence[Mapping[tuple[int, str], Summary]]:
        """Return the runs of Figure 7 for each seed, by limit and policy."""
        found: dict[int, dict[tuple[int, str], Summary]] = {}
        for run, result in self.results.items():
            if run.limit is not None and (run.place.device, run.reading) == (device, reading):
                found.setdefault(run.place.seed, {})[run.limit, run.policy] = result
        return [found[seed] for seed in sorted(found)]

    @cached_property
    def _by_seed(self) -> dict[tuple[str, str], list[Runs]]:
        found: dict[tuple[str, str], dict[int, dict[Spot, Summary]]] = {}
        for run, result in self.results.items():
            if run.limit is None:
                of_seed = found.setdefault((run.place.of, run.reading), {})
                spot = Spot(run.place.device, run.place.load, run.policy)
                of_seed.setdefault(run.place.seed, {})[spot] = result
        return {key: _drawn(of_seed) for key, of_seed in found.items()}


def _drawn(of_seed: Mapping[int, Mapping[Spot, Summary]]) -> list[Runs]:
    """Put what is drawn once beside the runs of each seed."""
    once = of_seed.get(_ONCE, {})
    seeds = [seed for seed in sorted(of_seed) if seed != _ONCE]
    return [{**once, **of_seed[seed]} for seed in seeds] or [once]


def simulate(plan: Plan, bench: Bench) -> Results:
    """Run everything."""
    places = plan.places
    spreads = {(of, load.trace): load.spread for of, some in plan.sets.items() for load in some}
    scales = _scales(plan, places, spreads, bench)
    setups: dict[Run, Setup] = {}
    for place, setup in places.items():
        for reading in plan.readings(place.of):
            paced = _paced(setup, scales[reading.name, place], reading)
            for name, policy in POLICIES.items():
                setups[Run(place, reading.name, name)] = paced.with_overrides({"policy": policy})
            if place.of == CALIBRATED and place.load == "F2":
                setups |= _queue(place, paced, scales[reading.name, place], reading)
        for reading in plan.others if place.of == CALIBRATED else ():
            own = reading.name if "compressed" in reading.options else BASE
            drive = setup
            if reading.options.get("spread"):
                drive = setup.with_overrides(spreads[place.of, place.load])
            paced = _paced(drive, scales[own, place], reading)
            for name, policy in POLICIES.items():
                # The paper's own addition has nothing that a reading asks about.
                if name != "PER":
                    setups[Run(place, reading.name, name)] = paced.with_overrides(
                        {"policy": policy}
                    )
    jobs = {run: Job(setup) for run, setup in setups.items()}
    return Results(plan, scales, bench.each("running the policies", jobs, _slim))


def _slim(record: Record) -> Summary:
    """Keep what claims and figures look at."""
    requests = {
        op: {"count": group["count"], "mean_ns": group["latency_ns"]["mean"]}
        for op, group in record.summary["requests"].items()
    }
    names = ("suspended_operations", "programs", "erases")
    return {"requests": requests, **{name: record.summary["flash"][name] for name in names}}


def _paced(setup: Setup, scale: Compression, reading: Reading) -> Setup:
    return setup.with_overrides({_SCALE: scale.time_scale, **reading.sets})


def _queue(place: Place, paced: Setup, scale: Compression, reading: Reading) -> Iterator[Any]:
    """Yield the runs of Figure 7: F2 compressed once more, by limit of the write queue."""
    for limit in LIMITS:
        for name in DATA["queue_policies"]:
            yield Run(place, reading.name, name, limit), paced.with_overrides({
                _SCALE: scale.time_scale / DATA["queue_compression"],
                **reading.options.get("queue", {}),
                "scheduling.write_queue_limit": limit,
                "policy": POLICIES[name],
            })  # fmt: skip


def _scales(
    plan: Plan,
    places: Mapping[Place, Setup],
    spreads: Mapping[tuple[str, str], Mapping[str, Any]],
    bench: Bench,
) -> Scales:
    """Find every compression: that of a load's first seed is near those of its others."""
    scales: Scales = {}

    def find(reading: Reading, wanted: Mapping[Place, Setup], near: Mapping[Place, float]) -> None:
        of_dies = reading.options.get("compressed") == "dies"
        works = {
            (reading.name, place): (
                setup.with_overrides({**reading.sets, "policy": "fifo"}),
                DATA["idle_share"],
                of_dies,
            )
            for place, setup in wanted.items()
        }
        about = {(reading.name, place): scale for place, scale in near.items()}
        scales.update(compressions(bench, works, about))

    firsts = {plan.first(place): places[plan.first(place)] for place in places}
    base = DATA.readings[BASE]
    find(base, firsts, {})
    rest = {place: setup for place, setup in places.items() if place not in firsts}
    find(base, rest, {place: scales[BASE, plan.first(place)].time_scale for place in rest})
    near = {place: scales[BASE, place].time_scale for place in places}
    for reading in JUDGED[1:]:
        own = {place: setup for place, setup in places.items()
               if reading in plan.readings(place.of)}  # fmt: skip
        find(reading, own, {place: near[place] for place in own})
    for reading in plan.others:
        if reading.options.get("compressed") == "dies":
            own = {place: setup for place, setup in places.items() if place.of == CALIBRATED}
            find(reading, own, {place: near[place] for place in own})
        elif "compressed" in reading.options:
            # The run-in of a full drive costs more than the load; one seed's scale serves all.
            full = {place: setup.with_overrides(spreads[place.of, place.load])
                    for place, setup in firsts.items() if place.of == CALIBRATED}  # fmt: skip
            find(reading, full, {place: near[place] for place in full})
            for place in places:
                if place.of == CALIBRATED:
                    scales[reading.name, place] = scales[reading.name, plan.first(place)]
    return scales
