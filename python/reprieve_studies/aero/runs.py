"""The runs of the study: an erase scheme under a load, cycles, and what is suspended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import reprieve as rp
from reprieve.experiments.store import Record
from reprieve_studies.frame import read
from reprieve_studies.paper import sized
from reprieve_studies.runs import Bench, Job, Setup, keeping

DATA = read(Path(__file__).with_name("study.toml"))
BASE = next(iter(DATA["schemes"]))
COMPARED = ("base", "aero", "plus")
"""Schemes of an arm that names none."""
_LONGEST_NS = 20_000_000
"""Between two erases of the rig: longer than any."""


class Spot(NamedTuple):
    """A run."""

    load: str
    scheme: str
    arm: str
    cycles: int
    seed: int


Runs = Mapping[Spot, Record]


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs."""

    seeds: Sequence[int]
    requests_share: float
    """Of the requests of a load."""
    loads: Sequence[str] = tuple(DATA["loads"])
    cycles: Sequence[int] = tuple(DATA["cycles"])

    @property
    def spots(self) -> list[Spot]:
        """Return every run, those of a seed together."""
        return [
            Spot(load, scheme, arm.get("as", name), cycles, seed)
            for seed in self.seeds
            for load in self.loads
            for name, arm in DATA["arms"].items()
            if load in arm.get("loads", self.loads)
            for scheme in arm.get("schemes", COMPARED)
            for cycles in self.cycles
        ]

    def requests(self, load: str) -> int:
        """Return how many requests a run of a load has."""
        return int(DATA["loads"][load]["requests"] * self.requests_share)


planned = sized(DATA, Plan)


def simulate(plan: Plan, bench: Bench) -> dict[Spot, Record]:
    """Run a plan."""
    keep = keeping("requests", "device", "flash")
    return bench.each("read tails", {spot: job(plan, spot) for spot in plan.spots}, keep)


def job(plan: Plan, spot: Spot) -> Job:
    """Return a run, and the one before whose first request its drive is in steady state."""
    started = setup(spot._replace(scheme=BASE, arm=next(iter(DATA["arms"]))), 1)
    return Job(setup(spot, plan.requests(spot.load)), started)


def setup(spot: Spot, requests: int) -> Setup:
    """Return a run with the given number of requests."""
    load = DATA["loads"][spot.load]
    part = DATA["schemes"][spot.scheme]["part"]
    return Setup({**DATA["drive"], "part": part, "seed": spot.seed}, {
        "reliability.cycles_at_start": spot.cycles,
        "workload.read_fraction": load["read_fraction"],
        "workload.rate_iops": load["rate_iops"],
        "workload.requests": requests,
        **DATA["arms"][spot.arm]["sets"],
    })  # fmt: skip


def mean_erases_ms() -> dict[tuple[str, int], float]:
    """Erase every block of a die once and return the mean, by scheme and cycles."""
    return {
        (scheme, cycles): _mean_erase_ms(scheme, cycles)
        for scheme in DATA["schemes"]
        for cycles in DATA["cycles"]
    }


def _mean_erase_ms(scheme: str, cycles: int) -> float:
    scenario = drive_of(scheme, cycles)
    blocks = [
        (plane, block)
        for plane in range(scenario.read("geometry.planes_per_die"))
        for block in range(scenario.read("geometry.blocks_per_plane"))
    ]
    commands = [(_LONGEST_NS * at, "erase", *block, 0) for at, block in enumerate(blocks)]
    command_ns = round(1e3 * scenario.read("timing.t_command_us"))
    # The rig has no load.
    given = scenario.to_dict()
    given.pop("workload")
    rows = rp.rig(rp.Scenario(**given), commands)
    taken_ns = sum(row.completion_ns - row.start_ns - command_ns for row in rows)
    return float(taken_ns / len(rows) / 1e6)


def drive_of(scheme: str, cycles: int) -> rp.Scenario:
    """Return the drive with a scheme, with every key."""
    spot = Spot(next(iter(DATA["loads"])), scheme, next(iter(DATA["arms"])), cycles, 1)
    return setup(spot, 1).resolved()
