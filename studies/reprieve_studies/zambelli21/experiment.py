"""The runs behind the report: which there are, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reprieve import Result
from reprieve.characterize import Measured, measure
from reprieve.parallel import Watch, Workshop
from reprieve_studies.runs import Setup, each_from_states, simulate_from_states
from reprieve_studies.zambelli21 import wear
from reprieve_studies.zambelli21.measures import SEED, Spot
from reprieve_studies.zambelli21.paper import MIXES, QUEUE_DEPTHS, SUSPENSIONS
from reprieve_studies.zambelli21.readings import (
    BASE,
    BY_NAME,
    FITTED,
    JUDGED,
    LIMITS,
    READINGS,
    SENSITIVITY,
    Shape,
    drive,
    load,
    suspensions,
)

PART = "tlc3d-zambelli"
WORDLINES = 50
"""Of the characterisation: section 4 of the paper."""
_OTHERS_SHARE = 2
"""Other readings are run with this part of the requests."""
_OTHERS_SEEDS = 1
"""At most, of other readings."""
_TAIL_SEEDS = 3
"""At most, of the runs whose slowest reads are asked."""
_OF_THE_TAIL = ("25W-75R", 64)
"""Load and depth of the paper's tails."""
_DEPTHS_OF_THE_TEXT = (16, 64)
_RUN_IN = 20_000
"""Requests that a run begins with and that do not count: its queues and its buffer fill."""
_REQUESTS_MIN = 1_000
"""Of a run that is only there for its beginning, too."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    requests: int
    """That count, of each run of a reading that is judged."""
    seeds: Sequence[int] = (SEED,)
    quick: bool = False
    """Judge the claims alone, with a drive that is not run in: no other reading, no front."""

    @property
    def requests_of_others(self) -> int:
        """Of each run of another reading."""
        return max(_REQUESTS_MIN, self.requests // _OTHERS_SHARE)

    @property
    def seeds_of_others(self) -> Sequence[int]:
        """Of each other reading."""
        return self.seeds[:_OTHERS_SEEDS]

    @property
    def spots(self) -> list[Spot]:
        """Every run."""
        others = [] if self.quick else [*READINGS, *SENSITIVITY]
        judged = [
            Spot(reading.name, mix, depth, number, seed)
            for reading in JUDGED
            for mix in MIXES
            for depth in (QUEUE_DEPTHS if reading is BASE else _DEPTHS_OF_THE_TEXT)
            for number in SUSPENSIONS
            for seed in (self.seeds if depth in _DEPTHS_OF_THE_TEXT else (SEED,))
        ]
        return judged + [
            Spot(reading.name, mix, depth, number, seed)
            for reading in others
            if reading not in JUDGED
            for mix in MIXES
            for depth in _DEPTHS_OF_THE_TEXT
            for number in SUSPENSIONS
            for seed in self.seeds_of_others
        ]

    @property
    def tails(self) -> list["Tail"]:
        """Runs whose slowest reads are asked what they waited for."""
        limits = () if self.quick else (0, *LIMITS)
        return [Tail(number, seed) for number in limits for seed in self.seeds[:_TAIL_SEEDS]]

    @property
    def front(self) -> Mapping[str, Mapping[str, object]]:
        """Suspension policies whose wear is set against their tail."""
        return {} if self.quick else wear.POLICIES

    @property
    def pieces(self) -> int:
        """How many pieces of work it is."""
        shapes = {BY_NAME[spot.reading].shape for spot in self.spots}
        return len(shapes) + len(self.spots) + len(self.tails) + len(self.front)


class Tail(NamedTuple):
    """A run of the fitted reading whose slowest reads are asked what they waited for."""

    suspensions: int
    """Of a program, at most."""
    seed: int


@dataclass(frozen=True)
class Slowest:
    """The tail of the reads of a run."""

    read_us: float
    """Their p99.99."""
    total_us: float
    """That of all requests."""
    blame_ns: Mapping[str, int]
    """What the slowest 0.01 % of the reads waited for, and `latency_ns`."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    runs: Mapping[Spot, Result]
    bench: Measured
    """The part by itself."""
    front: Mapping[str, Result]
    """By suspension policy: the fitted reading, 25W-75R at QD 64, with cells that wear."""
    tails: Mapping[Tail, Slowest]
    """Of the fitted reading, 25W-75R at QD 64."""


def run(plan: Plan, workshop: Workshop) -> Outcome:
    """Run everything."""
    bench = measure(PART, (), WORDLINES, SEED)
    jobs: dict[Spot | Tail | str, tuple[Shape | None, tuple[Setup, bool]]] = {}
    for spot in plan.spots:
        jobs[spot] = (BY_NAME[spot.reading].shape, (setup(plan, spot), False))
    for tail in plan.tails:
        spot = Spot(FITTED.name, *_OF_THE_TAIL, tail.suspensions, tail.seed)
        jobs[tail] = (FITTED.shape, (setup(plan, spot), True))
    usual = Spot(FITTED.name, wear.MIX, wear.QUEUE_DEPTH, max(SUSPENSIONS))
    for name, overrides in plan.front.items():
        jobs[name] = (FITTED.shape, (setup(plan, usual).with_overrides(overrides), False))
    found = each_from_states(workshop, "Figures 10 to 13", jobs, settle, _one)
    runs: dict[Spot, Result] = {}
    front: dict[str, Result] = {}
    tails: dict[Tail, Slowest] = {}
    for key, made in found.items():
        if isinstance(made, Slowest):
            assert isinstance(key, Tail)
            tails[key] = made
        elif isinstance(key, Spot):
            runs[key] = made
        else:
            assert isinstance(key, str)
            front[key] = made
    return Outcome(plan, runs, bench, front, tails)


def _one(job: tuple[Setup, bool], state: Path | None, watch: Watch) -> Result | Slowest:
    """Run a set-up; of one whose tail is asked for, keep that and not the log of its requests."""
    setup, is_asked = job
    result = setup.simulate(watch, from_state=state, requests=is_asked)
    if not is_asked:
        return result
    summary: dict[str, Any] = result.summary
    read, total = (summary["requests"][of]["latency_ns"]["p99_99"] for of in ("read", "total"))
    return Slowest(read / 1e3, total / 1e3, summary["blame"]["read"]["slowest_0_01"])


def simulate(plan: Plan, spots: Sequence[Spot], workshop: Workshop) -> dict[Spot, Result]:
    """Run some of a plan."""
    setups = {spot: (BY_NAME[spot.reading].shape, setup(plan, spot)) for spot in spots}
    return simulate_from_states(workshop, "Figures 10 to 13", setups, settle)


def setup(plan: Plan, spot: Spot) -> Setup:
    """Return the scenario of a run."""
    reading = BY_NAME[spot.reading]
    requests = plan.requests if reading in JUDGED else plan.requests_of_others
    reads = MIXES[spot.mix]
    run_in = 0 if plan.quick else _RUN_IN
    scenario = {
        "seed": spot.seed,
        **drive(reading.shape),
        "workload": load(reads, spot.queue_depth, run_in + requests),
        "measure": {"from_request": run_in},
    }
    allowed = suspensions(spot.suspensions, in_slices=reading.in_slices)
    return Setup(scenario, allowed).with_overrides(reading.overrides)


def settle(shape: Shape, path: Path, watch: Watch) -> None:
    """Save the state of a drive that has run in: full, and every die in the middle of a victim.

    Measured: the write amplification is 2.40 from the first request on. It is that of the load's
    writes alone, so that one state serves all loads; what the run-in takes of power is nobody's.
    """
    scenario = {"seed": SEED, **drive(shape), "workload": load(0.0, max(QUEUE_DEPTHS), 1)}
    overrides = {**suspensions(0), "power.account": "off"}
    Setup(scenario, overrides).simulate(watch, save_state=path, save_state_at="start")
