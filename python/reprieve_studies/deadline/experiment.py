"""The runs: each family is searched on some seeds, its best point frozen and judged on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import NamedTuple

from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.deadline.benches import Bench, dies, drives
from reprieve_studies.deadline.bounds import RELAXED, bounds, policy, relaxed
from reprieve_studies.deadline.families import FAMILIES, Family, Keys, points
from reprieve_studies.deadline.measures import Measured, cost, job, mean, of_rig
from reprieve_studies.runs import Bench as Engine
from reprieve_studies.runs import Job, Setup
from reprieve_studies.study import Settings

HEAVIER = (1.0, 1.25)
"""Loads on which the frozen points are judged: that of the search, and one heavier by a quarter."""
SAFETY = 0.85
"""A point is taken only if it has at most this share of the late reads that are allowed: the best
of many tries is lucky in its seeds."""
WRITES_KEPT = 0.99
"""Of those without any suspension, where p99.9 is what counts."""
NEVER: Keys = {"suspension.policy": "threshold", "suspension.min_remaining_us": 1e9}
_ON_RIG = "die-500"


@dataclass(frozen=True)
class Plan:
    """Sizes of the runs."""

    reads: int
    """Of a run on one die."""
    requests: int
    """Of a run on a drive, where the load is generated."""
    tries: int
    """Points of each family on one die."""
    drive_tries: int
    """Points of each family on a drive."""
    searched: Sequence[int]
    """Seeds on one die; on drives the first, whose runs have ten times as many late reads."""
    judged: Sequence[int]
    """Seeds, none of which is searched."""
    names: Sequence[str] = ()
    """Of the benches; all if there are none."""
    steps_us: Sequence[float] = ()
    """Of the bounds, from coarse to fine; there is no bound if there are none."""

    def seeds(self, bench: Bench) -> Sequence[int]:
        """Return the seeds of the search on a bench."""
        return self.searched[: None if bench.die else 1]

    def benches(self) -> list[Bench]:
        """Return the benches, dies first."""
        every = [*dies(self.reads), *drives(self.requests)]
        return [bench for bench in every if not self.names or bench.name in self.names]


class Spot(NamedTuple):
    """A run."""

    bench: str
    keys: tuple[tuple[str, object], ...]
    seed: int
    heavier: float


@dataclass(frozen=True)
class Frozen:
    """The best point of a family on a bench, as its search has found it."""

    keys: Keys
    found: Measured
    is_feasible: bool
    """Whether it kept the bound in the search; else it came nearest."""


Place = tuple[str, Family, float]
"""A bench, a family, and how heavy the load is."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    benches: Sequence[Bench]
    frozen: Mapping[tuple[str, Family], Frozen]
    judged: Mapping[Place, Sequence[Measured]]
    """One for each seed, in their order."""
    never: Mapping[str, Sequence[Measured]]
    """Without any suspension, on the seeds and the load of the judgement."""
    on_rig: Sequence[Measured]
    bounds: Mapping[str, Mapping[str, float]]
    """Suspensions a second that every policy needs, by bench, then by step in µs."""

    def over_seeds(self, bench: str, family: Family, heavier: float = 1.0) -> Measured:
        """Return the mean over the seeds of the judgement."""
        return mean(self.judged[bench, family, heavier])


def run(plan: Plan, settings: Settings) -> Outcome:
    """Search, freeze, judge."""
    assert not set(plan.searched) & set(plan.judged), "judged on the seeds of the search"
    benches = {bench.name: bench for bench in plan.benches()}
    tried = {(name, family): points(family, bench, plan.tries if bench.die else plan.drive_tries)
             for name, bench in benches.items() for family in FAMILIES}  # fmt: skip
    bounded = [bench for bench in benches.values() if bench.bounded and plan.steps_us]
    tried |= {(bench.name, RELAXED): relaxed() for bench in bounded}
    search = [spot(name, keys, seed) for (name, _), some in tried.items()
              for keys in (*some, NEVER) for seed in plan.seeds(benches[name])]  # fmt: skip
    with settings.bench() as engine:
        found = _simulate(engine, "searching", benches, search, with_power=False)
        frozen = {
            (name, family): freeze(benches[name], some, plan.seeds(benches[name]), found)
            for (name, family), some in tried.items()
        }
        spots = {
            (name, family, heavier): [spot(name, one.keys, seed, heavier) for seed in plan.judged]
            for (name, family), one in frozen.items() for heavier in HEAVIER
        }  # fmt: skip
        never = {name: [spot(name, NEVER, seed) for seed in plan.judged] for name in benches}
        every = [one for some in (*spots.values(), *never.values()) for one in some]
        judged = _simulate(engine, "judging", benches, every, with_power=True)
        by_place = {place: [judged[one] for one in some] for place, some in spots.items()}
        late = {one.name: mean(by_place[one.name, RELAXED, 1.0]).late_share for one in bounded}
        return Outcome(
            plan,
            list(benches.values()),
            frozen,
            by_place,
            {name: [judged[one] for one in some] for name, some in never.items()},
            _on_rig(plan, benches, frozen, engine),
            bounds(bounded, late, plan.steps_us, engine),
        )


def spot(bench: str, keys: Keys, seed: int, heavier: float = 1.0) -> Spot:
    """Return the identity of a run."""
    return Spot(bench, tuple(sorted(keys.items())), seed, heavier)


def freeze(
    bench: Bench,
    tried: Sequence[Keys],
    seeds: Sequence[int],
    found: Mapping[Spot, Measured],
) -> Frozen:
    """Return the best point of a search: the cheapest of those that keep the bound.

    Where none does, the one that comes nearest.
    """
    means = [mean([found[spot(bench.name, keys, seed)] for seed in seeds]) for keys in tried]
    writes = fmean(found[spot(bench.name, NEVER, seed)].writes_per_s for seed in seeds)

    def misses(one: Measured) -> float:
        if bench.aim == "tail":
            return max(0.0, WRITES_KEPT * writes - one.writes_per_s)
        return max(0.0, one.late_share - SAFETY * bench.late_share)

    best = min(range(len(tried)), key=lambda at: (misses(means[at]), cost(bench, means[at])))
    return Frozen(tried[best], means[best], misses(means[best]) == 0)


def _on_rig(
    plan: Plan,
    benches: Mapping[str, Bench],
    frozen: Mapping[tuple[str, Family], Frozen],
    engine: Engine,
) -> list[Measured]:
    """Measure the frozen deadline rule on the rig."""
    if _ON_RIG not in benches:
        return []
    bench, keys = benches[_ON_RIG], frozen[_ON_RIG, "deadline"].keys

    def work(seed: int, _watch: Watch) -> dict[str, float]:
        return asdict(of_rig(bench, keys, seed))

    works = {seed: (digest("on the rig", bench.name, str(keys), str(seed)), partial(work, seed))
             for seed in plan.judged}  # fmt: skip
    return [Measured(**row) for row in engine.once("on the rig", works).values()]


def _simulate(
    engine: Engine,
    what: str,
    benches: Mapping[str, Bench],
    spots: Iterable[Spot],
    *,
    with_power: bool,
) -> dict[Spot, Measured]:
    """Measure every run; a drive is brought to its steady state once a seed."""

    def one(spot: Spot) -> Job:
        bench = benches[spot.bench]
        own = policy(bench, dict(spot.keys))
        keys = {} if own else dict(spot.keys)
        keys |= bench.overrides(spot.seed, spot.heavier)
        if with_power and bench.has_power and spot.heavier == 1:
            # Phase by phase, which takes several times as long: not in the search.
            keys["power.account"] = "on"
        settled = Setup(bench.scenario, bench.overrides(spot.seed, 1.0))
        return job(bench, keys, settled if bench.die is None else None, own)

    rows = engine.texts(what, {spot: one(spot) for spot in spots})
    return {spot: Measured(**row) for spot, row in rows.items()}
