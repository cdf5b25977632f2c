"""The runs of the study: loads, schemes and readings on the drive of Table I."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from reprieve import Result
from reprieve_studies import loads
from reprieve_studies.compress import Compression, compressions
from reprieve_studies.frame import Reading, contrast, read
from reprieve_studies.joint import Candidate
from reprieve_studies.loads import Load, Recording
from reprieve_studies.logged import Latencies, Log, latencies
from reprieve_studies.runs import Bench, Job, Setup
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.study import Settings

DATA = read(Path(__file__).with_name("study.toml"))
SCHEMES: Mapping[str, Mapping[str, Any]] = DATA["schemes"]
PLAIN, TBM, SPRINKLER, MBM = SCHEMES
RIVALS = (TBM, SPRINKLER)
PAPERS = (*RIVALS, MBM)
APART: Mapping[str, Mapping[str, Any]] = DATA["apart"]
"""Schemes that show whose gain it is: each is `of` another, with another policy."""
BASE = "joint"
MAIN, LIMIT, TAIL, BEFORE = "main", "limit", "tail", "warm-up"
OPS = ("read", "write")
PERCENTILES = (94.0, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 99.99, 99.999)
_OF_MBM = ("policy", "scheduling.mbm_", "ftl.gc_parallel_planes", "ftl.gc_victims_in_step")
"""Beginnings of keys that a reading sets of MBM alone."""


class Spot(NamedTuple):
    """A run."""

    series: str
    """`MAIN`, `LIMIT`, `TAIL`, `BEFORE` (its warm-up alone) or the name of a reading."""
    load: str
    """The paper's name of its trace."""
    scheme: str
    chips: int = 2
    seed: int = 1


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs; those of the tables `plan` are explained there."""

    papers: Sequence[Load]
    requests: int
    pages_per_block: int = 128
    tail_times: int = 0
    chips: Sequence[int] = (2,)
    seeds: Sequence[int] = (1,)
    base: Reading = DATA.readings[BASE]
    """The reading that is judged."""
    readings: Sequence[Reading] = ()
    """Others; none where the claims alone are judged."""

    @property
    def requests_short(self) -> int:
        """Of a run of another reading."""
        return max(500, self.requests // 3)

    def reading(self, name: str) -> Reading:
        """Return a reading by the name of its series; the judged one for all that is none."""
        return next((one for one in self.readings if one.name == name), self.base)


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    usual = DATA["plan"]["quick" if settings.quick else "full"]
    usual = {**usual, "requests": settings.requests_or(usual["requests"])}
    readings = [] if settings.quick else list(DATA.readings.values())[1:]
    return Plan(counterparts(settings.traces), seeds=DATA["seeds"], readings=readings, **usual)


def candidate_plan(candidate: Candidate, seeds: Sequence[int], quick: bool) -> Plan:
    """Return the plan that judges a candidate for the joint reading."""
    usual = DATA["plan"]["search" if quick else "full"]
    return Plan(counterparts({}), seeds=seeds, base=candidate.reading, **usual)


def counterparts(genuine: Mapping[str, Recording]) -> list[Load]:
    """Return the six loads of the paper, as `reprieve_studies.loads.papers` does."""
    return loads.papers(genuine, list(DATA["loads"]), _counterpart)


def _counterpart(name: str, seed: int) -> Load:
    read_kib, write_kib, reads_percent = DATA["loads"][name]
    label, own = name.partition("_")[0].lower(), {
        "read_request_bytes": loads.sizes(read_kib),
        "write_request_bytes": loads.sizes(write_kib),
        **DATA["generated"]["addresses"],
        **DATA["generated"]["arrivals"],
    }  # fmt: skip
    if name == "Financial":
        label, own = "fin", DATA["financial"]
    workload = {"generator": "mixed", **own, "read_fraction": round(reads_percent / 100, 4)}
    return Load(name, f"{label}-like", False, workload, None, seed)


@dataclass(frozen=True)
class Measured:
    """A run without its warm-up, whose counts of the flash are of all of it."""

    latencies: Mapping[str, Latencies]
    """By "read", "write" and "total"."""
    counts: Mapping[str, float]
    """By name; `erases` are of blocks, one of each plane, without those of the warm-up in the main
    series, `suspended_percent` of programs, `joint_percent` pages in commands of two planes."""


def measured(result: Result) -> str:
    """Reduce a run whose requests were logged to the text that is stored."""
    log, flash = Log.of(result).after(DATA["warm_up_share"]), result.summary["flash"]
    programs, commands = flash["programs"], flash["multi_plane_commands"]["program"]
    times_us = {op: log.latency_us[log.ops == op] for op in OPS} | {"total": log.latency_us}
    counts = {
        "mb_per_s": log.mb_per_s(),
        "erases": flash["erases"],
        "gc_waf": float(flash["gc_waf"] or 0),
        "die_busy_percent": 100 * float(result.summary["device"]["die_busy_share"]),
        "suspended_percent": 100 * float(flash["suspended_share"]["program"]),
        "joint_percent": 100 * 2 * commands / programs if programs else 0.0,
    }
    found = {op: latencies(own, PERCENTILES) for op, own in times_us.items()}
    return json.dumps(asdict(Measured(found, counts)))


Scales = Mapping[tuple[str, str, int], Compression]
"""By reading, load and seed."""
METRICS: Mapping[str, Callable[[Measured], float]] = {
    "mean_us": lambda run: run.latencies["total"].mean_us,
    "read_us": lambda run: run.latencies["read"].mean_us,
    "write_us": lambda run: run.latencies["write"].mean_us,
    "mb_per_s": lambda run: run.counts["mb_per_s"],
    "erases": lambda run: run.counts["erases"],
    "read_p99_us": lambda run: run.latencies["read"].percentiles_us["99.0"] or nan,
}


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Scales
    runs: Mapping[Spot, Measured]
    series: str = MAIN
    seed: int = 1
    """Of the runs that measures look at, as the series is."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Schemes whose runs stand in the place of others."""

    @property
    def papers(self) -> list[str]:
        """Return the paper's loads."""
        return [load.trace for load in self.plan.papers]

    def seeds(self, **which: Any) -> Iterator[Outcome]:
        """Yield the results of each seed, by default of this series."""
        return (replace(self, seed=seed, **which) for seed in self.plan.seeds)

    def one(self, load: str, scheme: str, chips: int = 2) -> Measured:
        """Return a run of the series, or that of the judged reading where it has none."""
        spot = Spot(self.series, load, self.instead.get(scheme, scheme), chips, self.seed)
        return self.runs[spot if spot in self.runs else spot._replace(series=BASE)]

    def pairs(self, metric: str, of: str, to: str, chips: int = 2) -> list[tuple[float, float]]:
        """Return a metric of two schemes under every load; `chips`: of the first."""
        value = METRICS[metric]
        return [(value(self.one(load, of, chips)), value(self.one(load, to)))
                for load in self.papers]  # fmt: skip

    def over_tbm(self, scheme: str, metric: str = "mean_us", series: str = MAIN) -> Estimate:
        """Return a metric over that of TBM, average of the loads, over the seeds."""
        each = [one.pairs(metric, scheme, TBM) for one in self.seeds(series=series)]
        return estimate([contrast("ratio", pairs) for pairs in each])

    def normalised(self, scheme: str, chips: int) -> float:
        """Return the mean latency over that of TBM with two chips, average of the loads."""
        return contrast("ratio", self.pairs("mean_us", scheme, TBM, chips))


def simulate(plan: Plan, bench: Bench) -> Outcome:
    """Compress the loads, then run them."""
    scales = _scales(plan, bench)
    runs = {}
    for spot, row in bench.texts("running the schemes", list_jobs(plan, scales)).items():
        own = {op: Latencies(**one) for op, one in row["latencies"].items()}
        runs[spot] = Measured(own, row["counts"])
    for spot in [spot for spot in runs if spot.series == BEFORE]:
        main, before = spot._replace(series=MAIN), runs.pop(spot).counts["erases"]
        counts = runs[main].counts
        runs[main] = replace(runs[main], counts={**counts, "erases": counts["erases"] - before})
    return Outcome(plan, scales, runs)


def _scales(plan: Plan, bench: Bench) -> Scales:
    """Compress every load under TBM; that of the first seed is near those of the others."""
    wanted = {}
    for name in (BASE, *(one.name for one in plan.readings if "idle_share" in one.options)):
        reading = plan.reading(name)
        share = reading.options.get("idle_share", DATA["idle_share"])
        of_dies = reading.options.get("idle_of_dies", True)
        for load in plan.papers:
            for seed in plan.seeds:
                setup = place(plan, load, plan.requests_short, seed=seed)
                setup = setup.with_overrides(_scheme(TBM, reading))
                near = (name, load.trace, plan.seeds[0])
                wanted[name, load.trace, seed] = (setup, share, of_dies, near)
    return compressions(bench, wanted)


def list_jobs(plan: Plan, scales: Scales) -> dict[Spot, Job]:
    """Return every run."""
    jobs: dict[Spot, Job] = {}
    requests = {MAIN: plan.requests, LIMIT: plan.requests,
                BEFORE: int(DATA["warm_up_share"] * plan.requests),
                TAIL: plan.requests * plan.tail_times}  # fmt: skip
    for load in plan.papers:
        for spot in _spots(plan, load.trace):
            reading = plan.reading(spot.series)
            drawn, keys = load.closed(DATA["queue_depth"]), dict(_scheme(spot.scheme, reading))
            if spot.series != LIMIT:
                own = reading.name if "idle_share" in reading.options else BASE
                keys["workload.time_scale"] = scales[own, load.trace, spot.seed].time_scale
                drawn = load
            count = requests.get(spot.series, plan.requests_short)
            setup = place(plan, drawn, count, spot.chips, spot.seed).with_overrides(keys)
            jobs[spot] = Job(setup, _settled(setup), measured, "mbm counts", {"requests": True})
    return jobs


def _spots(plan: Plan, load: str) -> Iterator[Spot]:
    """Yield every run of a load."""
    tails: tuple[str, ...] = PAPERS if plan.tail_times and load in DATA["tail_loads"] else ()
    readings = (plan.base, *plan.readings) if plan.readings else ()
    every = (*SCHEMES, *(APART if readings else ()))
    schemes = {MAIN: every, BEFORE: every, LIMIT: tuple(SCHEMES), TAIL: tails}
    for one in readings:
        schemes[one.name] = (MBM,) if one != plan.base and of_mbm_alone(one) else PAPERS
    for seed in plan.seeds:
        for series, names in schemes.items():
            yield from (Spot(series, load, name, plan.chips[0], seed) for name in names)
        for chips in plan.chips[1:]:
            yield from (Spot(MAIN, load, name, chips, seed) for name in PAPERS)


def _scheme(name: str, reading: Reading) -> Mapping[str, Any]:
    """Return the keys of a scheme under a reading."""
    if apart := APART.get(name):
        return {**_scheme(apart["of"], reading), "policy": apart["policy"]}
    return {**SCHEMES[name], **sets_of(reading, name)}


def of_mbm_alone(reading: Reading) -> bool:
    """Return whether a reading leaves the other schemes as they are under the judged one."""
    own, base = (sets_of(one, TBM) for one in (reading, DATA.readings[BASE]))
    return own == base and "idle_share" not in reading.options


def sets_of(reading: Reading, scheme: str) -> Mapping[str, Any]:
    """Return what a reading sets of a scheme."""
    return {key: value for key, value in reading.sets.items()
            if scheme == MBM or not key.startswith(_OF_MBM)}  # fmt: skip


def place(plan: Plan, load: Load, requests: int, chips: int = 2, seed: int = 1) -> Setup:
    """Return a load on a drive with `chips` chips a channel, without a scheme."""
    shape = {
        **DATA["drive"],
        "geometry.dies_per_channel": 2 * chips,
        "geometry.chips_per_channel": chips,
        "geometry.pages_per_block": plan.pages_per_block,
    }
    # Loads are drawn apart, though they have the same seeds.
    drawn = load.setup(DATA["device"], requests, 10 * seed + load.seed)
    return drawn.with_overrides({**shape, **load.spread})


def _settled(setup: Setup) -> Setup | None:
    """Return the shortest run on the same drive, whose state serves runs of any length.

    None where that is in no state: of a recording, and where MBM may be rewriting pages.
    """
    workload = setup.scenario["workload"]
    if setup.overrides.get("scheduling.dispatch") == "mbm" or "requests" not in workload:
        return None
    return Setup({**setup.scenario, "workload": {**workload, "requests": 1}}, setup.overrides)
