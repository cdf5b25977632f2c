"""The runs of the study: job files of fio, the drive they run on, what host reads may suspend."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.experiments.store import Record
from reprieve.scenario import toml_text
from reprieve_studies.frame import Reading, read
from reprieve_studies.joint import Candidate
from reprieve_studies.runs import Bench, Job, Overrides, Setup, keeping
from reprieve_studies.study import Settings

DATA = read(Path(__file__).with_name("study.toml"))
CASES: Mapping[str, Mapping[str, int]] = DATA["cases"]
SETTINGS: Mapping[str, Mapping[str, Any]] = DATA["settings"]
BASE = DATA.readings["joint"]
JUDGED = {BASE.name, *(one.options["reading"] for one in DATA.claims if "reading" in one.options)}
"""Readings that claims are judged under."""
SEED = 1
OPEN_DEPTH = 64
"""Of a thread whose requests come at random: more than are ever outstanding."""


class Spot(NamedTuple):
    """A run."""

    reading: str
    setting: str
    case: str
    seed: int


Runs = Mapping[Spot, Record]


@dataclass(frozen=True)
class Plan:
    """Options of the command that select runs."""

    runtime_s: int
    """Of each run, in simulated time."""
    ramp_s: int
    """Before it, so that collection is under way."""
    seeds: Sequence[int]
    """Of readings that claims are judged under; a longest latency is one request, and differs."""
    base: Reading = BASE
    """The reading that is judged, under that name."""
    claims_only: bool = False
    """Judge the claims alone: no other reading, no setting that they do not name."""

    @property
    def readings(self) -> Mapping[str, Reading]:
        """Return every reading that runs."""
        every = {**DATA.readings, BASE.name: self.base}
        if not self.claims_only:
            return every
        options = {"settings": ["both"]}
        return {
            name: replace(
                one, sets={**one.sets, **self.base.sets}, options={**one.options, **options}
            )
            for name, one in every.items()
            if name in JUDGED
        }

    @property
    def spots(self) -> list[Spot]:
        """Return every run."""
        return [
            Spot(name, setting, case, seed)
            for name, reading in self.readings.items()
            for setting in ("none", *reading.options["settings"])
            for case in CASES
            for seed in (self.seeds if name in JUDGED else self.seeds[:1])
        ]


def planned(settings: Settings) -> Plan:
    """Return the plan that the command asks for."""
    usual = DATA["plan"]["quick" if settings.quick else "full"]
    return Plan(**usual, seeds=DATA["seeds"], claims_only=settings.quick)


def candidate_plan(candidate: Candidate, seeds: Sequence[int], quick: bool) -> Plan:
    """Return the plan that judges a candidate for the joint reading."""
    usual = DATA["plan"]["quick" if quick else "full"]
    return Plan(**usual, seeds=seeds, base=candidate.reading, claims_only=True)


def slides(case: str, kind: str, measure: str, setting: str = "none") -> float:
    """Return a number of the slides' tables: "iops", "mean_us" or "us_max" of reads or writes."""
    wanted = {"kind": kind, "of": setting}
    for claim in DATA.claims:
        is_row = claim.of == "absolute" and claim.measure == measure
        if is_row and wanted.items() <= claim.options.items():
            return claim.value[case]
    raise KeyError(measure)


def little(case: str) -> tuple[float, float]:
    """Return by Little's law the pause of a thread in µs, and the rate it would have had after.

    The pause is what the rates and latencies before leave over, if nothing else made the rate.
    """
    iops = {kind: slides(case, kind, "iops") for kind in ("read", "write")}
    before_us, after_us = (
        sum(iops[kind] * slides(case, kind, "mean_us", setting) for kind in iops)
        / sum(iops.values())
        for setting in ("none", "both")
    )
    cycle_us = 1e6 * CASES[case]["threads"] / sum(iops.values())
    pause_us = cycle_us - before_us
    return pause_us, 1e6 * CASES[case]["threads"] / (pause_us + after_us)


# ---- Job files -----------------------------------------------------------------------------------


def _mix(case: str, *options: str) -> list[str]:
    of = CASES[case]
    return [f"[{case}]", "rw=randrw", f"rwmixread={of['read_percent']}",
            f"numjobs={of['threads']}", *options]  # fmt: skip


def _rates(case: str, scale: int) -> str:
    threads = CASES[case]["threads"]
    read, write = (round(slides(case, kind, "iops") / scale) for kind in ("read", "write"))
    return f"rate_iops={read // threads},{write // threads}"


def _jobs(case: str) -> list[str]:
    lines, of = [], CASES[case]
    for word, clones in (("read", of["readers"]), ("write", of["writers"])):
        count = clones * of["threads"]
        lines += [f"[{case}_{word}]", f"rw=rand{word}", f"numjobs={count}", "iodepth=1",
                  f"rate_iops={int(slides(case, word, 'iops')) // count}"]  # fmt: skip
    return lines


LOADS: Mapping[str, Callable[[str, int], list[str]]] = {
    "paced": lambda case, scale: _mix(case, "iodepth=1", _rates(case, scale)),
    "closed": lambda case, _: _mix(case, "iodepth=1"),
    "think": lambda case, _: _mix(case, "iodepth=1", f"thinktime={round(little(case)[0])}us"),
    "open": lambda case, scale: _mix(
        case, f"iodepth={OPEN_DEPTH}", _rates(case, scale), "rate_process=poisson"
    ),
    "jobs": lambda case, _: _jobs(case),
}


def job_file(
    load: str, case: str, runtime_s: int, ramp_s: int, scale: int = 1, engine: Sequence[str] = ()
) -> str:
    """Return the job file of a case; `scale`: by how much its paced rates are slowed."""
    head = ["[global]", "bs=4k", "direct=1", "norandommap", "group_reporting", "time_based",
            f"runtime={scale * runtime_s}s", f"ramp_time={ramp_s}s", *engine]  # fmt: skip
    return "\n".join([*head, *LOADS[load](case, scale)]) + "\n"


# ---- Scenarios -----------------------------------------------------------------------------------


def simulate(plan: Plan, spots: Sequence[Spot], bench: Bench) -> dict[Spot, Record]:
    """Run some of a plan."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        write_jobs(plan, Path(name))
        jobs = {spot: job(spot, Path(name), plan.readings[spot.reading]) for spot in spots}
        return bench.each("the slides' cases", jobs, keeping("flows", "flash", "requests"))


def write_jobs(plan: Plan, folder: Path) -> None:
    """Write the job file of every load and case, and that of the run-in."""
    for load in LOADS:
        for case in CASES:
            text = job_file(load, case, plan.runtime_s, plan.ramp_s)
            (folder / f"{load}-{case}.fio").write_text(text)
    (folder / "settle.fio").write_text(DATA["settled"]["job"])


def job(spot: Spot, folder: Path, reading: Reading) -> Job:
    """Return a run; `folder` has the job files."""
    fio = folder / f"{reading.options['load']}-{spot.case}.fio"
    setup = Setup(
        {**DATA["drive"], "seed": spot.seed, "workload": {"fio": fio}},
        {**suspensions(spot.setting, reading), **reading.sets},
    )
    return Job(setup, settled(reading.sets_of(DATA["settled"]["keys"]), folder))


def settled(sets: Overrides, folder: Path) -> Setup:
    """Return the run-in of a drive: it is full, with as many free blocks as collection leaves.

    A drive without writes rests with two blocks more than its reserve. `folder` has the job file.
    """
    drive, of = DATA["drive"], DATA["settled"]
    blocks = sets.get("geometry.blocks_per_plane", drive["geometry"]["blocks_per_plane"])
    return Setup(
        {**drive, "seed": SEED, "workload": {"fio": folder / "settle.fio"}},
        {**sets, "ftl.gc_hard_free_blocks": int(of["free_share"] * blocks) - 2},
    )


def suspensions(setting: str, reading: Reading) -> Overrides:
    """Return the keys that let host reads suspend what the setting names."""
    suspended = SETTINGS[setting]["suspends"]
    programs = any(name.endswith("program") for name in suspended)
    return {
        "suspension.program": reading.options["mode"] if programs else "none",
        "suspension.erase": "erase" in suspended,
        "suspension.host_read_suspends": suspended,
    }


def files(plan: Plan) -> dict[str, str]:
    """Return the job files of the judged load and the scenarios around them, to run by hand."""
    found = {}
    for case in CASES:
        found[f"jobs/{case}.fio"] = job_file("paced", case, plan.runtime_s, plan.ramp_s)
        for setting in ("none", "both"):
            found[f"jobs/{case}-{setting}.toml"] = scenario_text(case, setting)
    return found


def scenario_text(case: str, setting: str) -> str:
    """Return the scenario of the judged reading, whose job file is beside it."""
    scenario = {**DATA["drive"], "seed": SEED, "workload": {"fio": f"{case}.fio"}}
    return text_of(scenario, {**suspensions(setting, BASE), **BASE.sets})


def text_of(scenario: Overrides, keys: Overrides) -> str:
    """Return a scenario as text, with dotted keys in its sections."""
    made = dict(scenario)
    for dotted, value in keys.items():
        section, _, key = dotted.partition(".")
        made[section] = {**made.get(section, {}), key: value}
    return toml_text(made)
