"""The runs: each family is searched on some seeds, its best point frozen and judged on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.deadline.benches import DATA, Bench, dies, drives
from reprieve_studies.deadline.families import FAMILIES, NEVER, RELAXED, Family, Keys, points
from reprieve_studies.deadline.measures import Measured, cost, job, mean, of_rig
from reprieve_studies.paper import sized
from reprieve_studies.runs import Bench as Engine
from reprieve_studies.runs import Job, Key
from reprieve_studies.theory.suspension_bound import Die, Relaxation

JUDGING: Mapping[str, Any] = DATA["judging"]
HEAVIER: Sequence[float] = JUDGING["heavier"]
_ON_RIG = "die-500"


@dataclass(frozen=True)
class Plan:
    """Sizes of the runs, as the file explains them."""

    reads: int
    requests: int
    tries: int
    drive_tries: int
    searched: Sequence[int]
    judged: Sequence[int]
    names: Sequence[str] = ()
    steps_us: Sequence[float] = ()


@dataclass(frozen=True)
class Frozen:
    """The best point of a family on a bench, as its search has found it."""

    keys: Keys
    found: Measured
    is_feasible: bool
    """Whether it kept the bound in the search; else it came nearest."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    benches: Sequence[Bench]
    frozen: Mapping[tuple[str, Family], Frozen]
    judged: Mapping[tuple[str, Family, float], Sequence[Measured]]
    """By bench, family and how heavy the load is; one for each seed, in their order."""
    on_rig: Sequence[Measured]
    bounds: Mapping[str, Mapping[str, float]]
    """Suspensions a second that every policy needs, by bench, then by step in µs."""

    def over_seeds(self, bench: str, family: Family, heavier: float = 1.0) -> Measured:
        """Return the mean over the seeds of the judgement."""
        return mean(self.judged[bench, family, heavier])


planned = sized(DATA, Plan)


def run(plan: Plan, engine: Engine) -> Outcome:
    """Search, freeze, judge."""
    assert not set(plan.searched) & set(plan.judged), "judged on the seeds of the search"
    every = [*dies(plan.reads), *drives(plan.requests)]
    benches = {one.name: one for one in every if not plan.names or one.name in plan.names}
    bounded = {name: one for name, one in benches.items() if one.bounded and plan.steps_us}
    tried = {
        (name, family): points(family, bench, plan.tries if bench.die else plan.drive_tries)
        for name, bench in benches.items()
        for family in (*FAMILIES, NEVER, *([RELAXED] if name in bounded else []))
    }
    search = {
        (*place, at): [job(bench, keys, seed) for seed in plan.searched[: None if bench.die else 1]]
        for place, some in tried.items()
        for bench in (benches[place[0]],)
        for at, keys in enumerate(some)
    }
    found = _measured(engine, "searching", search)
    means = {key: mean(some) for key, some in found.items()}
    frozen = {
        (name, family): freeze(
            benches[name], some, [means[name, family, at] for at, _ in enumerate(some)],
            means[name, NEVER, 0],
        )
        for (name, family), some in tried.items()
    }  # fmt: skip
    judge = {
        (name, family, heavier): [
            job(benches[name], one.keys, seed, heavier, with_power=True) for seed in plan.judged
        ]
        for (name, family), one in frozen.items()
        for heavier in HEAVIER[: 1 if family == NEVER else None]
    }
    judged = _measured(engine, "judging", judge)
    bench, point = benches.get(_ON_RIG), frozen.get((_ON_RIG, "deadline"))
    on_rig = {
        seed: (digest("rig", str(point.keys), str(seed)), partial(of_rig, bench, point.keys, seed))
        for seed in plan.judged if bench and point
    }  # fmt: skip
    rig = [Measured(**row) for row in engine.once("on the rig", on_rig).values()]
    bounds = {}
    for name, bench in bounded.items():
        late = mean(judged[name, RELAXED, 1.0]).late_share
        assert bench.die is not None, name
        given = (bench.die, bench.late_share, late, plan.steps_us)
        bounds[name] = (digest("bound", *map(str, given)), partial(_bounds, *given))
    return Outcome(
        plan, list(benches.values()), frozen, judged, rig, engine.once("bounding", bounds)
    )


def _measured(
    engine: Engine, what: str, jobs: Mapping[Key, Sequence[Job]]
) -> dict[Key, list[Measured]]:
    """Measure runs, for each key one a seed."""
    each = {(key, at): one for key, some in jobs.items() for at, one in enumerate(some)}
    rows = engine.texts(what, each)
    return {key: [Measured(**rows[key, at]) for at, _ in enumerate(some)]
            for key, some in jobs.items()}  # fmt: skip


def freeze(
    bench: Bench, tried: Sequence[Keys], found: Sequence[Measured], never: Measured
) -> Frozen:
    """Return the cheapest point that keeps the bound, or else the one that comes nearest."""

    def misses(one: Measured) -> float:
        lost = JUDGING["writes_kept"] * never.writes_per_s - one.writes_per_s
        late = one.late_share - JUDGING["safety"] * bench.late_share
        return float(max(0.0, lost if bench.aim == "tail" else late))

    best = min(range(len(tried)), key=lambda at: (misses(found[at]), cost(bench, found[at])))
    return Frozen(tried[best], found[best], misses(found[best]) == 0)


def _bounds(
    die: Die, late_share: float, late: float, steps_us: Sequence[float], _watch: Watch
) -> Mapping[str, float]:
    """Return suspensions a second that every policy of a die needs, by step in µs.

    At the finest step also under `any order`, if reads may overtake others, and under `as late`,
    with the share `late` of late reads.
    """

    def bound(step_us: float, share: float, in_order: bool = True) -> float:
        price = Relaxation(die, DATA["relaxation"]["rough_us"], in_order).best_price(share)
        return Relaxation(die, step_us, in_order).per_s(share, price)

    finest = steps_us[-1]
    found = {f"{step:g}": bound(step, late_share) for step in steps_us}
    others = {"any order": bound(finest, late_share, False), "as late": bound(finest, late)}
    return {**found, **others}
