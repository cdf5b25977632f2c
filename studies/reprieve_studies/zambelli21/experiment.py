"""The runs behind the report: which there are, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprieve import Result
from reprieve.characterize import Measured, measure
from reprieve.parallel import Watch, Workshop
from reprieve_studies.runs import Setup, simulate_from_states
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
    def pieces(self) -> int:
        """How many pieces of work it is."""
        return len({reading.shape for reading in READINGS}) + len(self.spots)


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
    return Outcome(plan, simulate(plan, plan.spots, workshop), bench)


def simulate(plan: Plan, spots: Sequence[Spot], workshop: Workshop) -> dict[Spot, Result]:
    """Run some of a plan."""
    setups = {spot: (BY_NAME[spot.reading].shape, setup(plan, spot)) for spot in spots}
    return simulate_from_states(workshop, "Figures 10 to 13", setups, settle)


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


def settle(shape: Shape, path: Path, watch: Watch) -> None:
    """Save the state of a drive that is full."""
    scenario = {"seed": SEED, **drive(shape), "workload": load(0.5, 1, 1)}
    Setup(scenario, SETTLED).simulate(watch, save_state=path, save_state_at="start")
