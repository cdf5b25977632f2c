"""The runs of the study: loads, schemes and readings on the drive of Table I."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprieve import Result
from reprieve_studies import loads
from reprieve_studies.compress import Compression, compressions
from reprieve_studies.frame import Reading, read
from reprieve_studies.loads import Load, Recording
from reprieve_studies.logged import Latencies, Log, latencies
from reprieve_studies.runs import Bench, Job, Setup

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
    """Options of the command that select runs."""

    papers: Sequence[Load]
    requests: int
    """Of each load at most."""
    pages_per_block: int = 128
    """In place of 1024 (A141): the drive comes to its state in an eighth of the time."""
    tail_times: int = 0
    """Length of the runs of tails over that of the others; 0: there are none."""
    chips: Sequence[int] = (2,)
    """Of a channel: Figure 9 has 2, 4 and 8, Table I the first."""
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


# ---- Loads ---------------------------------------------------------------------------------------


def counterparts(genuine: Mapping[str, Recording]) -> list[Load]:
    """Return the six loads of the paper, as `reprieve_studies.loads.papers` does."""
    return loads.papers(genuine, list(DATA["loads"]), _counterpart)


def _counterpart(name: str, seed: int) -> Load:
    read_kib, write_kib, reads_percent = DATA["loads"][name]
    reads = {"read_fraction": round(reads_percent / 100, 4)}
    if name == "Financial":
        return Load(name, "fin-like", False, {**DATA["financial"], **reads}, None, seed)
    workload = {
        "generator": "mixed",
        **reads,
        "read_request_bytes": loads.sizes(read_kib),
        "write_request_bytes": loads.sizes(write_kib),
        **DATA["addresses"],
        **DATA["bursts"],
    }
    return Load(name, f"{name.partition('_')[0].lower()}-like", False, workload, None, seed)


# ---- Runs ----------------------------------------------------------------------------------------

Scales = Mapping[tuple[str, str, int], Compression]
"""By reading, load and seed."""


@dataclass(frozen=True)
class Measured:
    """A run without its warm-up, whose counts of the flash are of all of it."""

    latencies: Mapping[str, Latencies]
    """By "read", "write" and "total"."""
    mb_per_s: float
    """Bytes of the requests that count, from the first arrival to the last completion."""
    erases: int
    """Of blocks, one of each plane; in Figure 11 without those of the warm-up."""
    gc_waf: float
    die_busy_percent: float
    suspended_percent: float
    """Of programs, those that were suspended at least once."""
    joint_percent: float
    """Pages programmed in commands of two planes."""

    def mean_us(self, op: str = "total") -> float:
        """Return a mean latency."""
        return self.latencies[op].mean_us

    def percentile_us(self, op: str, percent: float) -> float | None:
        """Return a percentile, or None where it would rest on too few."""
        return self.latencies[op].percentiles_us[str(percent)]


def measured(result: Result) -> str:
    """Reduce a run whose requests were logged to the text that is stored."""
    log, flash = Log.of(result).after(DATA["warm_up_share"]), result.summary["flash"]
    programs, commands = flash["programs"], flash["multi_plane_commands"]["program"]
    times_us = {op: log.latency_us[log.ops == op] for op in OPS} | {"total": log.latency_us}
    found = Measured(
        {op: latencies(own, PERCENTILES) for op, own in times_us.items()},
        log.mb_per_s(),
        int(flash["erases"]),
        float(flash["gc_waf"] or 0),
        100 * float(result.summary["device"]["die_busy_share"]),
        100 * float(flash["suspended_share"]["program"]),
        100 * 2 * commands / programs if programs else 0.0,
    )
    return json.dumps(asdict(found))


def of_row(row: Mapping[str, Any]) -> Measured:
    """Return the run of a stored row."""
    own = {op: Latencies(**one) for op, one in row["latencies"].items()}
    return Measured(**{**row, "latencies": own})


def simulate(plan: Plan, bench: Bench) -> tuple[Scales, dict[Spot, Measured]]:
    """Run everything: compress the loads, then run them."""
    scales = _scales(plan, bench)
    rows = bench.texts("running the schemes", list_jobs(plan, scales))
    runs = {spot: of_row(row) for spot, row in rows.items()}
    for spot in [spot for spot in runs if spot.series == BEFORE]:
        main = spot._replace(series=MAIN)
        runs[main] = replace(runs[main], erases=runs[main].erases - runs.pop(spot).erases)
    return scales, runs


def _scales(plan: Plan, bench: Bench) -> Scales:
    """Compress every load under TBM; that of the first seed is near those of the others."""
    found: dict[tuple[str, str, int], Compression] = {}
    for seeds in (plan.seeds[:1], plan.seeds[1:]):
        wanted, near = {}, {}
        for name in (BASE, *(one.name for one in plan.readings if "idle_share" in one.options)):
            reading = plan.reading(name)
            how = (reading.options.get("idle_share", DATA["idle_share"]),
                   reading.options.get("idle_of_dies", True))  # fmt: skip
            for load in plan.papers:
                for seed in seeds:
                    key = name, load.trace, seed
                    setup = place(plan, load, plan.requests_short, seed=seed)
                    setup = setup.with_overrides({**SCHEMES[TBM], **sets_of(reading, TBM)})
                    wanted[key] = (setup, *how)
                    if first := found.get((name, load.trace, plan.seeds[0])):
                        near[key] = first.time_scale
        found |= compressions(bench, wanted, near)
    return found


def list_jobs(plan: Plan, scales: Scales) -> dict[Spot, Job]:
    """Return every run."""
    jobs: dict[Spot, Job] = {}
    requests = {MAIN: plan.requests, LIMIT: plan.requests,
                BEFORE: int(DATA["warm_up_share"] * plan.requests),
                TAIL: plan.requests * plan.tail_times}  # fmt: skip
    for load in plan.papers:
        for series, scheme, chips in _of_load(plan, load):
            for seed in plan.seeds:
                reading = plan.reading(series)
                spot = Spot(series, load.trace, scheme, chips, seed)
                own = reading.name if "idle_share" in reading.options else BASE
                pace = {"workload.time_scale": scales[own, load.trace, seed].time_scale}
                drawn = load.closed(DATA["queue_depth"]) if series == LIMIT else load
                setup = place(plan, drawn, requests.get(series, plan.requests_short), chips, seed)
                setup = setup.with_overrides({
                    **_scheme(scheme, reading), **({} if series == LIMIT else pace)
                })  # fmt: skip
                jobs[spot] = Job(setup, _settled(setup), measured, "mbm", {"requests": True})
    return jobs


def _of_load(plan: Plan, load: Load) -> Iterator[tuple[str, str, int]]:
    """Yield the series, scheme and chips a channel of every run of a load."""
    least, *more = plan.chips
    for name in SCHEMES:
        yield from ((series, name, least) for series in (MAIN, BEFORE, LIMIT))
    for name in PAPERS:
        yield from ((MAIN, name, chips) for chips in more)
        if plan.tail_times and load.trace in DATA["tail_loads"]:
            yield TAIL, name, least
    for name in APART if plan.readings else ():
        yield from ((series, name, least) for series in (MAIN, BEFORE))
    for reading in (plan.base, *plan.readings) if plan.readings else ():
        for name in PAPERS:
            if name == MBM or not of_mbm_alone(reading) or reading == plan.base:
                yield reading.name, name, least


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
    if setup.overrides.get("scheduling.dispatch") == "mbm":
        return None
    workload = setup.scenario["workload"]
    if "requests" not in workload:
        return None
    return Setup({**setup.scenario, "workload": {**workload, "requests": 1}}, setup.overrides)
