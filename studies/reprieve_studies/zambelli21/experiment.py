"""The runs behind the report: which there are, and their results."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reprieve import Result
from reprieve.characterize import Measured, measure
from reprieve.parallel import Watch, Workshop
from reprieve_studies.runs import Setup
from reprieve_studies.zambelli21.measures import Spot
from reprieve_studies.zambelli21.paper import MIXES, QUEUE_DEPTHS, SUSPENSIONS
from reprieve_studies.zambelli21.readings import (
    BASE,
    BY_NAME,
    READINGS,
    SETTLED,
    Shape,
    drive,
    load,
    suspensions,
)

PART = "tlc3d-zambelli"
WORDLINES = 50
"""Of the characterisation: section 4 of the paper."""
SEED = 1
_OTHERS_SHARE = 4
"""Other readings are run with this part of the requests."""
_DEPTHS_OF_OTHERS = (16, 64)
_REQUESTS_MIN = 1_000
"""Of a run that is only there for its beginning, too."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    requests: int
    """Of each run of the reading that is chosen."""

    @property
    def requests_of_others(self) -> int:
        """Of each run of another reading."""
        return max(_REQUESTS_MIN, self.requests // _OTHERS_SHARE)

    @property
    def spots(self) -> list[Spot]:
        """Every run."""
        return [
            Spot(reading.name, mix, depth, number)
            for reading in READINGS
            for mix in MIXES
            for depth in (QUEUE_DEPTHS if reading is BASE else _DEPTHS_OF_OTHERS)
            for number in SUSPENSIONS
        ]

    @property
    def shapes(self) -> list[Shape]:
        """Every drive that is preconditioned."""
        return list(dict.fromkeys(reading.shape for reading in READINGS))

    @property
    def pieces(self) -> int:
        """How many pieces of work it is."""
        return len(self.shapes) + len(self.spots)


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    runs: Mapping[Spot, Result]
    bench: Measured
    """The part by itself."""


def run(plan: Plan, workshop: Workshop) -> Outcome:
    """Run everything."""
    bench = measure(PART, (), WORDLINES, SEED)
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        states = {shape: Path(folder, f"{number}") for number, shape in enumerate(plan.shapes)}
        workshop.each("bringing the drives to their state", plan.shapes, _Settle(states).one)
        results = workshop.each("Figures 10 to 13", plan.spots, _Simulate(plan, states).one)
    return Outcome(plan, dict(zip(plan.spots, results, strict=True)), bench)


def setup(plan: Plan, spot: Spot) -> Setup:
    """Return the scenario of a run."""
    reading = BY_NAME[spot.reading]
    requests = plan.requests if reading is BASE else plan.requests_of_others
    scenario = {
        "seed": SEED,
        **drive(reading.shape),
        "workload": load(MIXES[spot.mix], spot.queue_depth, requests),
    }
    return Setup(scenario, suspensions(spot.suspensions)).with_overrides(reading.overrides)


@dataclass(frozen=True)
class _Settle:
    states: Mapping[Shape, Path]

    def one(self, shape: Shape, watch: Watch) -> None:
        """Save the state of a drive that is full."""
        section = load(0.5, 1, 1)
        settle = Setup({"seed": SEED, **drive(shape), "workload": section}, SETTLED)
        settle.simulate(watch, save_state=self.states[shape], save_state_at="start")


@dataclass(frozen=True)
class _Simulate:
    plan: Plan
    states: Mapping[Shape, Path]

    def one(self, spot: Spot, watch: Watch) -> Result:
        """Run from the state of its drive."""
        state = self.states[BY_NAME[spot.reading].shape]
        return setup(self.plan, spot).simulate(watch, from_state=state)
