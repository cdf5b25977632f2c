"""The chosen reading with rare stalls of the firmware, which are fitted to the longest writes.

A stall is a number of commands that come at once and are not the host's: the controller works on
them one after the other, and takes none of the host meanwhile.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from reprieve.parallel import Watch, Workshop
from reprieve_studies.article import Section, Table
from reprieve_studies.runs import Setup, each_from_states
from reprieve_studies.starblaze.experiment import SEED, Plan, settle, setup, write_jobs
from reprieve_studies.starblaze.jobs import job_file
from reprieve_studies.starblaze.measures import measured_of
from reprieve_studies.starblaze.paper import CASES
from reprieve_studies.starblaze.readings import BASE, COMMAND_US, FIRMWARE, TLC, Spot

SETTINGS = ("none", "both")
"""Names of `readings.SETTINGS`: before and after."""
COMMANDS = (7, 7, 7, 7, 7, 16, 7, 7, 7, 7, 7, 26)
"""Of each stall of a run, in the order in which they come. Fitted: the eight longest writes of the
slides are 106 to 133, 221 to 270 and 393 to 409 µs, so that most runs have met a stall of 7
commands, and some one of the others."""
_GOLDEN = (sqrt(5) - 1) / 2
_TEXT = (
    "The longest writes of the slides are 106 to 409 µs, where a write takes 16. Here the firmware "
    "keeps the controller for itself {count} times a run, for {least:.0f}, once {middle:.0f} and "
    "once {most:.0f} µs: fitted to those writes. Which stall a write meets is chance, and so the "
    "longest differs from seed to seed, as it does from case to case in the slides. Nothing is "
    "predicted by this."
)


class Found(NamedTuple):
    """What is kept of a run."""

    write_us_max: float
    write_us: float
    """Mean."""
    read_us: float
    """Mean."""


Runs = Mapping[Spot, Found]


def spots(plan: Plan) -> list[Spot]:
    """Return every run."""
    return [
        Spot(BASE.name, setting, case, SEED + number)
        for setting in SETTINGS
        for case in CASES
        for number in range(plan.seeds)
    ]


def run(plan: Plan, workshop: Workshop) -> Runs:
    """Run every case, before and after, over the seeds."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        write_jobs(plan, folder)
        jobs = {spot: (TLC, _setup(plan, spot, folder)) for spot in spots(plan)}
        return each_from_states(workshop, "stalls of the firmware", jobs, settle, _one)


def _setup(plan: Plan, spot: Spot, folder: Path) -> Setup:
    job = folder / f"stalls-{spot.case}-{spot.seed}.fio"
    text = job_file(BASE.load, CASES[spot.case], plan.runtime_s, plan.ramp_s)
    job.write_text(text + stalls(plan, spot.seed))
    usual = setup(spot, folder)
    return replace(usual, scenario={**usual.scenario, "workload": {"fio": job}})


def stalls(plan: Plan, seed: int) -> str:
    """Return the jobs of the stalls, spread over a run from an instant that the seed shifts."""
    shift = seed * _GOLDEN % 1
    lines = []
    for number, commands in enumerate(COMMANDS):
        share = (number + shift) / len(COMMANDS)
        lines += [
            f"[{FIRMWARE}_{number}]",
            "rw=randwrite",
            f"startdelay={round(1e6 * (plan.ramp_s + share * plan.runtime_s))}us",
            f"iodepth={commands}",
            f"number_ios={commands}",
        ]
    return "\n".join(lines) + "\n"


def _one(setup: Setup, state: Path | None, watch: Watch) -> Found:
    result = setup.simulate(watch, from_state=state)
    (_, write_us, write_us_max), (_, read_us, _) = (
        measured_of(result, kind) for kind in ("write", "read")
    )
    return Found(write_us_max, write_us, read_us)


def numbers(runs: Runs) -> dict[str, Any]:
    """Return what pages quote: of each case, before and after, the longest writes and means."""
    cases = {case: {setting: _of(runs, case, setting) for setting in SETTINGS} for case in CASES}
    every = [one for case in cases.values() for one in case.values()]
    return {
        "stalls_us": [COMMAND_US * commands for commands in COMMANDS],
        "cases": cases,
        "inside": sum(one["us_max_least"] <= one["slides_us"] <= one["us_max_most"]
                      for one in every),
        "of": len(every),
    }  # fmt: skip


def _of(runs: Runs, case: str, setting: str) -> dict[str, float]:
    own = [found for spot, found in runs.items() if (spot.case, spot.setting) == (case, setting)]
    longest = [found.write_us_max for found in own]
    row = CASES[case].write
    return {
        "slides_us": row.before_us_max if setting == SETTINGS[0] else row.after_us_max,
        "us_max": median(longest),
        "us_max_least": min(longest),
        "us_max_most": max(longest),
        "write_mean_us": fmean(found.write_us for found in own),
        "read_mean_us": fmean(found.read_us for found in own),
    }


def section(runs: Runs) -> Section:
    """Write it up."""
    found = numbers(runs)
    lengths = sorted(found["stalls_us"])
    rows = [
        [
            case,
            "before" if setting == SETTINGS[0] else "after",
            f"{one['slides_us']:.0f}",
            f"{one['us_max']:.0f}",
            f"{one['us_max_least']:.0f} to {one['us_max_most']:.0f}",
        ]
        for case, own in found["cases"].items()
        for setting, one in own.items()
    ]
    text = _TEXT.format(count=len(lengths), least=lengths[0], middle=lengths[-2], most=lengths[-1])
    columns = ["case", "", "longest write, slides, µs", "ours, middle of the seeds", "by seed"]
    table = Table("Longest writes with stalls of the firmware (fitted)", columns, rows, words=2)
    return Section("A stall of the firmware", [text], tables=[table])
