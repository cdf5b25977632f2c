"""The runs of the study: a drive, a reading, a load, and how often programs may be suspended."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.experiments.store import Record
from reprieve_studies.frame import Reading, read
from reprieve_studies.joint import Candidate
from reprieve_studies.runs import Bench, Job, Setup, keeping
from reprieve_studies.study import Settings

DATA = read(Path(__file__).with_name("study.toml"))
JUDGED = tuple(one.name for one in DATA.readings.values() if one.judged)
BASE, FITTED, PART = "page-1", "fitted", DATA["drive"]["part"]
_ITERATIONS = 29
"""Of a program of the part, on average."""


class Spot(NamedTuple):
    """A run."""

    reading: str
    mix: str
    """The paper's name of the load."""
    depth: int
    suspensions: int
    """Of a program, at most."""
    seed: int = 1


Runs = Mapping[Spot, Record]


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs."""

    requests: int
    """That count, of each run of a judged reading."""
    seeds: Sequence[int] = (1,)
    claims_only: bool = False
    """Run the judged reading alone."""
    run_in: int = DATA["run_in"]
    """Requests before those that count."""
    base: Reading = DATA.readings[FITTED]
    """The reading that is judged, under that name."""

    def reading(self, name: str) -> Reading:
        """Return a reading by name."""
        return self.base if name == FITTED else DATA.readings[name]

    @property
    def spots(self) -> list[Spot]:
        """Return every run: judged readings with every seed, the rest with the first."""
        names = [name for name in DATA.readings if name in JUDGED or not self.claims_only]
        return [
            Spot(name, mix, depth, number, seed)
            for name in names
            for mix in DATA["mixes"]
            for depth in DATA["depths"]
            for number in DATA["suspensions"]
            for seed in (self.seeds if name in JUDGED else self.seeds[:1])
        ]

    def requests_of(self, reading: str) -> int:
        """Return how many requests of a run count."""
        others = max(
            1_000, self.requests * DATA["requests"]["others"] // DATA["requests"]["judged"]
        )
        return self.requests if reading in JUDGED else others


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    requests = settings.requests_or(DATA["requests"]["quick" if settings.quick else "judged"])
    run_in = 0 if settings.quick else DATA["run_in"]
    return Plan(requests, DATA["seeds"], settings.quick, run_in)


def candidate_plan(candidate: Candidate, seeds: Sequence[int], quick: bool) -> Plan:
    """Return the plan that judges a candidate for the joint reading."""
    requests = DATA["requests"]["search" if quick else "judged"]
    return Plan(requests, seeds, claims_only=True, base=candidate.reading)


def simulate(plan: Plan, spots: Sequence[Spot], bench: Bench) -> dict[Spot, Record]:
    """Run some of a plan."""
    keep = keeping("requests", "device", "flash", "power")
    return bench.each("Figures 10 to 13", {spot: job(plan, spot) for spot in spots}, keep)


def job(plan: Plan, spot: Spot) -> Job:
    """Return a run, and the run-in of the drive that it starts with."""
    reading = plan.reading(spot.reading)
    setup = Setup({**DATA["drive"], "seed": spot.seed}, {
        "workload.read_fraction": DATA["mixes"][spot.mix],
        "workload.queue_depth": spot.depth,
        "workload.requests": plan.run_in + plan.requests_of(spot.reading),
        "measure.from_request": plan.run_in,
        **allowed(spot.suspensions, reading),
        **reading.sets,
    })  # fmt: skip
    return Job(setup, settled(reading))


def settled(reading: Reading) -> Setup:
    """Return the run-in: the drive is full, and every die in the middle of a victim.

    Measured: the write amplification is 2.40 from the first request on. It is that of the load's
    writes, so that one state serves all loads.
    """
    of = DATA["settled"]
    sets = {**reading.sets_of(of["keys"]), **of["sets"]}
    return Setup({**DATA["drive"], "seed": 1}, sets)


def allowed(number: int, reading: Reading) -> dict[str, Any]:
    """Return the keys that allow `number` suspensions of a program, or make as many slices.

    A reading may have another limit for a number of the paper.
    """
    if number == 0:
        return {"suspension.program": "none"}
    number = reading.options.get("limits", {}).get(str(number), number)
    if reading.options.get("slices"):
        return {
            "suspension.program": "sliced",
            "suspension.slice_iterations": math.ceil(_ITERATIONS / number),
            "suspension.t_slice_overhead_us": 0,
        }
    return {"suspension.program": "iteration", "suspension.max_per_operation": number}
