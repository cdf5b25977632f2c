"""The runs behind the report: which there are, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from reprieve import Result
from reprieve.parallel import Watch, Workshop
from reprieve_studies.compress import Compression, compress
from reprieve_studies.fast12 import alternatives, beyond
from reprieve_studies.fast12.alternatives import ALTERNATIVES, BASE, READINGS, Alternative
from reprieve_studies.fast12.loads import CALIBRATED, SETS
from reprieve_studies.fast12.measures import POLICIES, Runs, Spot
from reprieve_studies.fast12.paper import DEVICES, IDLE_SHARE, QUEUE_COMPRESSION, QUEUE_LIMITS
from reprieve_studies.loads import Load
from reprieve_studies.runs import Overrides, Setup, simulate_all, simulate_from_states

REAL = "recorded"
"""The set of recorded loads of the project, beside those of `loads.SETS`."""
QUEUE_POLICIES = ("FIFO", "RPS", "PES_IPC")
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
    """Which run."""

    place: Place
    reading: str
    policy: str
    limit: int | None = None
    """Of the write queue, under the load of Figure 7."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    sets: Mapping[str, Sequence[Load]]
    """The loads of each set, which has some."""
    seeds: Sequence[int]
    requests: int
    """Of each load at most."""
    quick: bool = False
    """Judge the claims alone: no reading of one question, and nothing beyond the paper."""

    def loads(self, of: str) -> Sequence[Load]:
        """Return the loads of a set; none where only the package is installed."""
        return self.sets.get(of, ())

    def readings(self, of: str) -> Sequence[Alternative]:
        """Return the readings under which a set runs."""
        return READINGS if of == CALIBRATED or (of in SETS and not self.quick) else (BASE,)

    @property
    def alternatives(self) -> Sequence[Alternative]:
        """Readings of one question each."""
        return () if self.quick else ALTERNATIVES

    @property
    def beyond(self) -> Sequence[str]:
        """Sets of loads that run beyond the paper."""
        return () if self.quick else beyond.SETS

    @property
    def places(self) -> dict[Place, Setup]:
        """Every load on every drive with every seed."""
        return {
            Place(of, device, load.trace, seed): load.setup(preset, self.requests, seed or None)
            for of, loads in self.sets.items()
            for device, preset in DEVICES.items()
            for load in loads
            for seed in self.seeds_of(load)
        }

    def seeds_of(self, load: Load) -> Sequence[int]:
        """Return the seeds of a load."""
        return (_ONCE,) if load.genuine else self.seeds

    @property
    def pieces(self) -> int:
        """How many pieces of work it is."""
        places = list(self.places)
        calibrated = [place for place in places if place.of == CALIBRATED]
        queue = [place for place in calibrated if place.load == "F2"]
        farther = [place for place in places if place.of in self.beyond]
        return (
            sum(len(self.readings(place.of)) for place in places) * (1 + len(POLICIES))
            + len(READINGS) * len(queue) * len(QUEUE_LIMITS) * len(QUEUE_POLICIES)
            + (0 if self.quick else len(calibrated))
            + len(calibrated) * len(self.alternatives) * len(alternatives.POLICIES)
            + len({place._replace(seed=_ONCE) for place in farther})
            + len(farther) * (1 + len(beyond.VARIANTS))
        )


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Mapping[tuple[str, Place], Compression]
    """By reading: until the drive idles for the paper's share. Further ones: "of-dies", until the
    mean die does, and "beyond", of the drive of `beyond`."""
    results: Mapping[Run, Result]
    """By reading, alternative or variant of `beyond`."""

    def runs(self, of: str, reading: str = BASE.name) -> Sequence[Runs]:
        """Return the runs of a set under a reading, for each seed by device, load and policy.

        A recorded load is the same for every seed.
        """
        return self._by_seed[of, reading]

    def queue(self, device: str, reading: str) -> Sequence[Mapping[tuple[int, str], Result]]:
        """Return the runs of Figure 7 for each seed, by limit and policy."""
        return self._queues[device, reading]

    @cached_property
    def _by_seed(self) -> dict[tuple[str, str], list[Runs]]:
        found: dict[tuple[str, str], dict[int, dict[Spot, Result]]] = {}
        for run, result in self.results.items():
            if run.limit is None:
                of_seed = found.setdefault((run.place.of, run.reading), {})
                spot = Spot(run.place.device, run.place.load, run.policy)
                of_seed.setdefault(run.place.seed, {})[spot] = result
        return {key: _drawn(of_seed) for key, of_seed in found.items()}

    @cached_property
    def _queues(self) -> dict[tuple[str, str], list[dict[tuple[int, str], Result]]]:
        found: dict[tuple[str, str], dict[int, dict[tuple[int, str], Result]]] = {}
        for run, result in self.results.items():
            if run.limit is not None:
                of_seed = found.setdefault((run.place.device, run.reading), {})
                of_seed.setdefault(run.place.seed, {})[run.limit, run.policy] = result
        return {key: [of_seed[seed] for seed in sorted(of_seed)] for key, of_seed in found.items()}


def _drawn(of_seed: Mapping[int, Mapping[Spot, Result]]) -> list[Runs]:
    """Put what is drawn once beside the runs of each seed."""
    once = of_seed.get(_ONCE, {})
    seeds = [seed for seed in sorted(of_seed) if seed != _ONCE]
    return [{**once, **of_seed[seed]} for seed in seeds] or [once]


OF_DIES, FULL = "of-dies", "beyond"


def run(plan: Plan, workshop: Workshop) -> Outcome:
    """Run everything."""
    places = plan.places
    calibrated = {place: setup for place, setup in places.items() if place.of == CALIBRATED}
    spreads = {(of, load.trace): load.spread for of in plan.sets for load in plan.loads(of)}
    spread = {
        place: setup.with_overrides(spreads[place.of, place.load])
        for place, setup in places.items()
        if place.of in plan.beyond
    }
    scales = _scales(plan, places, calibrated, spread, workshop)

    setups: dict[Run, Setup] = {}
    for place, setup in places.items():
        for reading in plan.readings(place.of):
            scale = scales[reading.name, place]
            for name, policy in POLICIES.items():
                overrides = {**reading.overrides, "policy": policy}
                setups[Run(place, reading.name, name)] = _at(setup, scale, overrides)
            if place in calibrated and place.load == "F2":
                setups |= _queue(place, setup, scale, reading)
    for each in plan.alternatives:
        for place, setup in calibrated.items():
            scale = scales[OF_DIES if each.of_dies else FULL if each.full else BASE.name, place]
            drive = spread[place] if each.full else setup
            for name in alternatives.POLICIES:
                overrides = {"policy": POLICIES[name], **each.overrides}
                setups[Run(place, each.name, name)] = _at(drive, scale, overrides)
    results = simulate_all(workshop, "running the policies", setups)
    return Outcome(plan, scales, {**results, **_beyond(plan, spread, scales, workshop)})


Scales = dict[tuple[str, Place], Compression]


def _scales(
    plan: Plan,
    places: Mapping[Place, Setup],
    calibrated: Mapping[Place, Setup],
    spread: Mapping[Place, Setup],
    workshop: Workshop,
) -> Scales:
    """Find every compression: that of a load's first seed is near those of its others."""
    scales: Scales = {}
    firsts = {_first(plan, place): places[_first(plan, place)] for place in places}
    others = {place: setup for place, setup in places.items() if place not in firsts}
    for part in (firsts, others):
        near = {place: scales.get((BASE.name, _first(plan, place))) for place in part}
        scales |= _compress(workshop, BASE.name, part, {}, near)
    base = {place: scales[BASE.name, place] for place in places}
    for reading in READINGS[1:]:
        part = {place: setup for place, setup in places.items()
                if reading in plan.readings(place.of)}  # fmt: skip
        scales |= _compress(workshop, reading.name, part, reading.overrides, base)
    if not plan.quick:
        scales |= _compress(workshop, OF_DIES, calibrated, {}, base, of_dies=True)
    # The run-in of a full drive costs more than the load; one seed's scale serves all.
    part = {place: setup for place, setup in spread.items() if place in firsts}
    full = _compress(workshop, FULL, part, beyond.DRIVE, base)
    return scales | {(FULL, place): full[FULL, _first(plan, place)] for place in spread}


def _first(plan: Plan, place: Place) -> Place:
    return place if place.seed == _ONCE else place._replace(seed=plan.seeds[0])


def _compress(
    workshop: Workshop,
    name: str,
    places: Mapping[Place, Setup],
    overrides: Overrides,
    near: Mapping[Place, Compression | None],
    *,
    of_dies: bool = False,
) -> Scales:
    def one(place: Place, watch: Watch) -> Compression:
        setup = places[place].with_overrides({**overrides, "policy": "fifo"})
        start = near[place]
        scale = None if start is None else start.time_scale
        return compress(setup, IDLE_SHARE, watch, of_dies=of_dies, near=scale)

    found = workshop.each(f"compressing the loads, {name}", list(places), one)
    return dict(zip([(name, place) for place in places], found, strict=True))


def _beyond(
    plan: Plan, spread: Mapping[Place, Setup], scales: Scales, workshop: Workshop
) -> dict[Run, Result]:
    """Run what lies beyond the paper: all variants from the same state of the drive."""
    drives = {
        place: _at(setup, scales[FULL, place], {**beyond.DRIVE, **beyond.warm_up(plan.requests)})
        for place, setup in spread.items()
    }

    def settle(place: Place, path: Path, watch: Watch) -> None:
        setup = drives[place].with_overrides({"policy": "fifo"})
        setup.simulate(watch, save_state=path, save_state_at="start")

    setups = {
        Run(place, beyond.READING, variant.name): (
            place,
            drive.with_overrides({"policy": POLICIES[variant.policy], **variant.overrides}),
        )
        for place, drive in drives.items()
        for variant in beyond.VARIANTS
    }
    return simulate_from_states(workshop, "beyond the paper", setups, settle) if setups else {}


def _at(setup: Setup, scale: Compression, overrides: Overrides) -> Setup:
    return setup.with_overrides({_SCALE: scale.time_scale, **overrides})


def _queue(
    place: Place, setup: Setup, scale: Compression, reading: Alternative
) -> dict[Run, Setup]:
    """Return the runs of Figure 7: F2 compressed once more, by limit of the write queue."""
    return {
        Run(place, reading.name, name, limit): setup.with_overrides(
            {
                _SCALE: scale.time_scale / QUEUE_COMPRESSION,
                **reading.overrides,
                **reading.queue,
                "scheduling.write_queue_limit": limit,
                "policy": POLICIES[name],
            }
        )
        for limit in QUEUE_LIMITS
        for name in QUEUE_POLICIES
    }
