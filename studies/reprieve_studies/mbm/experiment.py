"""The runs behind the report: which there are, and what is kept of them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from reprieve.parallel import Watch, Workshop
from reprieve_studies.compress import Compression, compress
from reprieve_studies.kept import Kept
from reprieve_studies.loads import Load
from reprieve_studies.mbm.loads import closed
from reprieve_studies.mbm.measured import (
    SAMPLES_MIN,
    Measured,
    measured,
    warm_up_requests,
)
from reprieve_studies.mbm.paper import CHIPS, TABLE_1_CHIPS, TAIL_LOADS
from reprieve_studies.mbm.readings import (
    BASE,
    DEVICE,
    DISPATCH,
    DRIVE,
    IDLE_SHARE,
    PAPERS,
    PARTS,
    QUEUE_DEPTH,
    READINGS,
    SCHEMES,
    TBM,
    Reading,
    Scheme,
    geometry,
    grid,
    scheme_under,
)
from reprieve_studies.mbm.substrates import POLICIES, SUBSTRATES
from reprieve_studies.mbm.substrates import setup as on_substrate
from reprieve_studies.runs import Overrides, Setup, each_from_states

_TAIL_TIMES = 10
"""The runs for Figures 12 and 13 are so many times longer, …"""
_TAIL_TIMES_FULL = 170
"""… or so many, in runs of so many requests: then p99.999 of the class that a figure is about rests
on ten requests and more."""
_FULL_REQUESTS = 12_000
_SEEDS_APART = 100
"""Between the seeds of two drafts of a load: more than there are loads."""
_SHORT_SHARE = 3
"""Other readings, and the search for a compression, have this part of the requests."""
_REQUESTS_MIN = 500
PAGES_PER_BLOCK_RUN = 128
"""In place of 1024 (A141): blocks of an eighth bring a drive to its state in an eighth of the time,
and to its running state in an eighth of the requests."""

MAIN, LIMIT, TAIL, GRID, ABLATED = "main", "limit", "tail", "grid", "parts"
SUBSTRATE = "substrate"
_SCALE = "workload.time_scale"
_REQUESTS = "requests"
"""How many there are, in the workload of a load that is no recording."""


class Spot(NamedTuple):
    """Which run."""

    series: str
    """`MAIN`, `LIMIT`, `TAIL`, `GRID`, `ABLATED`, `SUBSTRATE` or the name of a reading."""
    load: str
    """The paper's name of its trace; of `SUBSTRATE`, that of the substrate."""
    scheme: str
    """In a grid row and suspension, as "RPS, IPC"."""
    chips: int = TABLE_1_CHIPS
    draft: int = 0
    """Which sample of the load and of the drive's first state; of a recorded load, of the
    latter."""


Runs = Mapping[Spot, Measured]


@dataclass(frozen=True)
class Plan:
    """What is run."""

    papers: Sequence[Load]
    real: Sequence[Load]
    requests: int
    """Of each load at most."""
    pages_per_block: int = PAGES_PER_BLOCK_RUN
    drafts: int = 1
    """Samples of each run of the ablation and of the substrates; none: no ablation."""
    events_min: int = SAMPLES_MIN
    """Requests beyond a percentile, or erases, on which a claim has to rest to be judged."""
    has_substrates: bool = True
    """Whether policies are compared on the paper's substrate, piece by piece, too."""
    readings: Sequence[Reading] = READINGS
    """Other readings that are run."""

    @property
    def loads(self) -> list[Load]:
        """All of them."""
        return [*self.papers, *self.real]

    @property
    def requests_short(self) -> int:
        """Of a run of another reading."""
        return max(_REQUESTS_MIN, self.requests // _SHORT_SHARE)

    @property
    def requests_tail(self) -> int:
        """Of a run for Figures 12 and 13."""
        is_full = self.requests >= _FULL_REQUESTS
        return self.requests * (_TAIL_TIMES_FULL if is_full else _TAIL_TIMES)


Compressions = Mapping[tuple[str, str], Compression]
"""By reading and load."""
Scales = Mapping[tuple[str, str], float]
"""What multiplies the times between arrivals, by the same."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Compressions
    runs: Runs

    @property
    def papers(self) -> list[str]:
        """Return the paper's loads."""
        return [load.trace for load in self.plan.papers]

    @property
    def loads(self) -> list[str]:
        """Return all loads."""
        return [load.trace for load in self.plan.loads]


@dataclass(frozen=True)
class Job:
    """A run to be done."""

    spot: Spot
    setup: Setup
    warm_up: Setup | None = None
    """The part of the run whose erases do not count, for Figure 11."""

    @property
    def key(self) -> str:
        """What is the same for runs that are the same: several figures share one."""
        return json.dumps([self.setup.scenario, self.setup.overrides], sort_keys=True)

    @property
    def kept_as(self) -> str:
        """What the result is kept under, which the part that does not count is of."""
        if self.warm_up is None:
            return self.key
        return json.dumps([self.key, self.warm_up.scenario], sort_keys=True)

    @property
    def drive(self) -> str | None:
        """What is the same for runs whose drives start from one state: all but their length.

        None where that is in no state: of a recording, and where MBM may be writing pages anew.
        """
        workload = self.setup.scenario["workload"]
        if _REQUESTS not in workload or self.setup.overrides.get(DISPATCH) == "mbm":
            return None
        endless = {name: value for name, value in workload.items() if name != _REQUESTS}
        scenario = {**self.setup.scenario, "workload": endless}
        return json.dumps([scenario, self.setup.overrides], sort_keys=True)

    def settle(self, path: Path, watch: Watch) -> None:
        """Save the state that the drive starts from."""
        shortest = self.setup.with_overrides({f"workload.{_REQUESTS}": 1})
        shortest.simulate(watch, save_state=path, save_state_at="start")

    def run(self, watch: Watch, state: Path | None = None) -> Measured:
        """Do it, from a state if there is one, to which the drive would come by itself."""
        found = measured(self.setup.simulate(watch, requests=True, from_state=state))
        if self.warm_up is None:
            return found
        before = self.warm_up.simulate(watch, from_state=state).summary["flash"]["erases"]
        return replace(found, erases=found.erases - int(before))


def run(plan: Plan, workshop: Workshop, folder: Path | None = None) -> Outcome:
    """Run everything; what is done is kept in `folder`."""
    of_loads, of_runs = (None if folder is None else folder / name for name in ("loads", "runs"))
    places = list_places(plan)
    compressing = Compressing(plan)
    known = Kept(of_loads, asdict, lambda row: Compression(**row))
    found = workshop.each(
        "compressing the loads", places, lambda of, watch: compressing.once(of, known, watch)
    )
    compressions = {
        (reading.name, load.trace): one for (reading, load), one in zip(places, found, strict=True)
    }
    todo = list_jobs(plan, scales_of(compressions))
    # The last of equals stands, which has to be one whose erases are counted.
    once = {job.key: job for job in sorted(todo, key=lambda job: job.warm_up is not None)}
    what = "Figures 8 to 13, readings, ablation, substrates"
    results = measure(what, list(once.values()), workshop, of_runs)
    by_key = dict(zip(once, results, strict=True))
    return Outcome(plan, compressions, {job.spot: by_key[job.key] for job in todo})


def measure(
    what: str, jobs: Sequence[Job], workshop: Workshop, store: Path | None
) -> list[Measured]:
    """Do every job; what is simulated is kept in `store`.

    Where several start from one state, the drive is brought to it once.
    """
    kept = Kept(store, Measured.row, Measured.of_row)
    shared = shared_drives(job for job in jobs if not kept.knows(job.kept_as))

    def settle(drive: str, path: Path, watch: Watch) -> None:
        shared[drive].settle(path, watch)

    def one(job: Job, state: Path | None, watch: Watch) -> Measured:
        return kept.once(job.kept_as, lambda: job.run(watch, state))

    todo = {
        number: (job.drive if job.drive in shared else None, job) for number, job in enumerate(jobs)
    }
    return list(each_from_states(workshop, what, todo, settle, one).values())


def shared_drives(jobs: Iterable[Job]) -> dict[str, Job]:
    """Return the drives whose state several runs start from, and a job of each."""
    of_drive: dict[str, Job] = {}
    runs: Counter[str] = Counter()
    for job in jobs:
        if job.drive is not None:
            of_drive.setdefault(job.drive, job)
            runs[job.drive] += 1 if job.warm_up is None else 2
    return {drive: job for drive, job in of_drive.items() if runs[drive] > 1}


def scales_of(compressions: Compressions) -> Scales:
    """Return what multiplies the times between arrivals."""
    return {of: found.time_scale for of, found in compressions.items()}


def pieces(plan: Plan) -> int:
    """Return how many pieces of work it is."""
    once = {job.key: job for job in list_jobs(plan, None)}
    return len(list_places(plan)) + len(once) + len(shared_drives(once.values()))


def list_places(plan: Plan) -> list[tuple[Reading, Load]]:
    """Return what is compressed: every load, the paper's for readings of their own heaviness."""
    others = [reading for reading in plan.readings if reading.idle_share is not None]
    own = [(reading, load) for reading in others for load in plan.papers]
    return [*((BASE, load) for load in plan.loads), *own]


def list_jobs(plan: Plan, scales: Scales | None) -> list[Job]:
    """Return every run; without `scales` at the loads' own rates, for counting."""
    made = _Jobs(plan, scales)
    for load in plan.loads:
        made.of_load(load)
    for load in plan.papers:
        made.of_paper(load)
    if plan.has_substrates:
        made.of_substrates()
    return made.jobs


class _Jobs:
    """Collects runs."""

    def __init__(self, plan: Plan, scales: Scales | None) -> None:
        self._plan = plan
        self._scales = scales
        self.jobs: list[Job] = []

    def of_load(self, load: Load) -> None:
        """Add what is run under every load: Figures 8 and 11, the parts of MBM, the grid."""
        self.of_main(load)
        for draft in range(self._plan.drafts):
            for name, scheme in PARTS.items():
                self._add(Spot(ABLATED, load.trace, name, draft=draft), load, scheme)
            for (row, way), scheme in grid().items():
                self._add(Spot(GRID, load.trace, f"{row}, {way}", draft=draft), load, scheme)

    def of_substrates(self) -> None:
        """Add the policies on every substrate, under a load of their own."""
        plan = self._plan
        for draft in range(plan.drafts):
            for substrate in SUBSTRATES:
                for policy in POLICIES:
                    spot = Spot(SUBSTRATE, str(substrate), policy, draft=draft)
                    self.jobs.append(Job(spot, on_substrate(
                        substrate, policy, plan.requests, plan.pages_per_block, 1 + draft
                    )))  # fmt: skip

    def of_main(self, load: Load) -> None:
        """Add what Figures 8 and 11 show."""
        for name, scheme in SCHEMES.items():
            self._add(Spot(MAIN, load.trace, name), load, scheme)

    def of_paper(self, load: Load) -> None:
        """Add what is run under the paper's loads: Figures 9, 10, 12, 13, readings."""
        for chips in CHIPS:
            if chips != TABLE_1_CHIPS:
                for name in PAPERS:
                    self._add(Spot(MAIN, load.trace, name, chips), load, SCHEMES[name])
        for name, scheme in SCHEMES.items():
            self._add(Spot(LIMIT, load.trace, name), closed(load, QUEUE_DEPTH), scheme)
        if load.trace in TAIL_LOADS:
            for name in PAPERS:
                self._add(Spot(TAIL, load.trace, name), load, SCHEMES[name],
                          requests=self._plan.requests_tail)  # fmt: skip
        for reading in (BASE, *self._plan.readings):
            self._reading(reading, load)

    def _reading(self, reading: Reading, load: Load) -> None:
        named = reading.name if reading.idle_share is not None else BASE.name
        for name in reading.schemes:
            self._add(Spot(reading.name, load.trace, name), load, scheme_under(reading, name),
                      requests=self._plan.requests_short, scaled_as=named)  # fmt: skip

    def _add(
        self, spot: Spot, load: Load, scheme: Scheme, *,
        requests: int | None = None, scaled_as: str = BASE.name,
    ) -> None:  # fmt: skip
        pace: Overrides = {}
        if self._scales is not None and spot.series != LIMIT:
            pace = {_SCALE: self._scales[scaled_as, load.trace]}
        settings = {**scheme.settings, **pace}
        count = requests or self._plan.requests
        load = replace(load, seed=load.seed + _SEEDS_APART * spot.draft)
        setup = place(self._plan, load, count, spot.chips).with_overrides(settings)
        warm_up = None
        if spot.series == MAIN and spot.chips == TABLE_1_CHIPS:
            before = place(self._plan, load, warm_up_requests(count), spot.chips)
            warm_up = before.with_overrides(settings)
        self.jobs.append(Job(spot, setup, warm_up))


def place(plan: Plan, load: Load, requests: int, chips: int) -> Setup:
    """Return a load on the drive of so many chips a channel, without an FTL."""
    shape = {**DRIVE, **geometry(chips), "geometry.pages_per_block": plan.pages_per_block}
    return load.setup(DEVICE, requests).with_overrides({**shape, **load.spread})


@dataclass(frozen=True)
class Compressing:
    """Compresses the loads of a plan."""

    plan: Plan

    def one(self, of: tuple[Reading, Load], watch: Watch) -> Compression:
        """Compress a load until the drive idles as the reading has it, with TBM."""
        reading, load = of
        return compress(self._setup(load), _target(reading), watch, of_dies=reading.idle_of_dies)

    def once(self, of: tuple[Reading, Load], kept: Kept[Compression], watch: Watch) -> Compression:
        """Do it, or return what was kept of it."""
        reading, load = of
        setup = self._setup(load)
        what = [setup.scenario, setup.overrides, _target(reading), reading.idle_of_dies]
        key = json.dumps(what, sort_keys=True, default=str)
        return kept.once(key, lambda: self.one(of, watch))

    def _setup(self, load: Load) -> Setup:
        setup = place(self.plan, load, self.plan.requests_short, TABLE_1_CHIPS)
        return setup.with_overrides(SCHEMES[TBM].settings)


def _target(reading: Reading) -> float:
    return IDLE_SHARE if reading.idle_share is None else reading.idle_share
