"""The runs of the study: loads, schemes and readings on the drive of Table I."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprieve import Result
from reprieve_studies import loads
from reprieve_studies.compress import Compression, compressions
from reprieve_studies.frame import Reading, read
from reprieve_studies.loads import Load, Recording
from reprieve_studies.logged import BEYOND_MIN, Latencies, Log, latencies
from reprieve_studies.runs import Bench, Job, Setup

DATA = read(Path(__file__).with_name("study.toml"))
SCHEMES: Mapping[str, Mapping[str, Any]] = DATA["schemes"]
PLAIN, TBM, SPRINKLER, MBM = SCHEMES
RIVALS = (TBM, SPRINKLER)
PAPERS = (*RIVALS, MBM)
MAIN, LIMIT, TAIL, BEFORE = "main", "limit", "tail", "warm-up"
OPS = ("read", "write")
PERCENTILES = (94.0, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 99.99, 99.999)
_FULL_REQUESTS = 12_000


class Spot(NamedTuple):
    """A run."""

    series: str
    """`MAIN`, `LIMIT`, `TAIL`, `BEFORE` (its warm-up alone) or the name of a reading."""
    load: str
    """The paper's name of its trace."""
    scheme: str
    chips: int = 2


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs."""

    papers: Sequence[Load]
    real: Sequence[Load]
    requests: int
    """Of each load at most."""
    pages_per_block: int = 128
    """In place of 1024 (A141): the drive comes to its state in an eighth of the time."""
    events_min: int = BEYOND_MIN
    """Requests beyond a percentile, or erases, on which a claim has to rest to be judged."""
    tail_times: int = 10
    """Length of the runs of tails over that of the others, if these are whole."""
    readings: Sequence[Reading] = ()

    @property
    def requests_short(self) -> int:
        """Of a run of another reading, and of the search for a compression."""
        return max(500, self.requests // 3)

    @property
    def requests_tail(self) -> int:
        """Of a run for Figures 12 and 13."""
        return self.requests * (self.tail_times if self.requests >= _FULL_REQUESTS else 10)


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

Scales = Mapping[tuple[str, str], Compression]
"""By reading and load."""


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
    scales = compressions(bench, {
        (reading.name, load.trace): (
            place(plan, load, plan.requests_short).with_overrides(SCHEMES[TBM]),
            reading.options.get("idle_share", DATA["idle_share"]),
            reading.options.get("idle_of_dies", True),
        )
        for reading in (DATA.readings["base"], *plan.readings)
        if reading.name == "base" or "idle_share" in reading.options
        for load in (*plan.papers, *(plan.real if reading.name == "base" else ()))
    })  # fmt: skip
    rows = bench.texts("Figures 8 to 13, readings", list_jobs(plan, scales))
    runs = {spot: of_row(row) for spot, row in rows.items()}
    for spot in [spot for spot in runs if spot.series == BEFORE]:
        main = spot._replace(series=MAIN)
        runs[main] = replace(runs[main], erases=runs[main].erases - runs.pop(spot).erases)
    return scales, runs


def list_jobs(plan: Plan, scales: Scales) -> dict[Spot, Job]:
    """Return every run."""
    jobs: dict[Spot, Job] = {}

    def add(spot: Spot, load: Load, requests: int, reading: Reading | None = None) -> None:
        sets = {} if reading is None else sets_of(reading, spot.scheme)
        own = reading is not None and "idle_share" in reading.options
        scale = scales[reading.name if own and reading else "base", spot.load].time_scale
        pace = {} if spot.series == LIMIT else {"workload.time_scale": scale}
        setup = place(plan, load, requests, spot.chips)
        setup = setup.with_overrides({**SCHEMES[spot.scheme], **sets, **pace})
        jobs[spot] = Job(setup, _settled(setup), measured, "mbm", {"requests": True})

    for load in (*plan.papers, *plan.real):
        for name in SCHEMES:
            add(Spot(MAIN, load.trace, name), load, plan.requests)
            before = int(DATA["warm_up_share"] * plan.requests)
            add(Spot(BEFORE, load.trace, name), load, before)
    for load in plan.papers:
        for name in SCHEMES:
            add(Spot(LIMIT, load.trace, name), load.closed(DATA["queue_depth"]), plan.requests)
        for name in PAPERS:
            for chips in DATA["chips"][1:]:
                add(Spot(MAIN, load.trace, name, chips), load, plan.requests)
            if load.trace in DATA["tail_loads"]:
                add(Spot(TAIL, load.trace, name), load, plan.requests_tail)
            for reading in (DATA.readings["base"], *plan.readings):
                if name == MBM or not of_mbm_alone(reading):
                    spot = Spot(reading.name, load.trace, name)
                    add(spot, load, plan.requests_short, reading)
    return jobs


def of_mbm_alone(reading: Reading) -> bool:
    """Return whether a reading leaves the other schemes as they are."""
    return bool(reading.sets) and all(
        key == "policy" or key.startswith("scheduling.mbm_") for key in reading.sets
    )


def sets_of(reading: Reading, scheme: str) -> Mapping[str, Any]:
    """Return what a reading sets of a scheme."""
    return reading.sets if scheme == MBM or not of_mbm_alone(reading) else {}


def place(plan: Plan, load: Load, requests: int, chips: int = 2) -> Setup:
    """Return a load on a drive with `chips` chips a channel, without a scheme."""
    shape = {
        **DATA["drive"],
        "geometry.dies_per_channel": 2 * chips,
        "geometry.chips_per_channel": chips,
        "geometry.pages_per_block": plan.pages_per_block,
    }
    return load.setup(DATA["device"], requests).with_overrides({**shape, **load.spread})


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
