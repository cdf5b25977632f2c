"""The runs behind the report: which there are, and their results."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprieve import Result
from reprieve.parallel import Watch, Workshop
from reprieve.scenario import toml_text
from reprieve_studies.runs import Setup, simulate_from_states
from reprieve_studies.starblaze.jobs import LOADS, job_file
from reprieve_studies.starblaze.paper import CASES, Case
from reprieve_studies.starblaze.readings import (
    BASE,
    BY_NAME,
    READINGS,
    Shape,
    Spot,
    drive,
    settled,
    suspensions,
)

SEED = 1
_SETTLE_JOB = "[settle]\nrw=randread\nbs=4k\niodepth=1\nsize=1m\n"


@dataclass(frozen=True)
class Plan:
    """What is run."""

    runtime_s: int
    """Of each run, in simulated time."""
    ramp_s: int
    """Before it, so that collection is under way."""
    seeds: int
    """Of the reading that is chosen; a longest latency is one request, and differs by seed."""

    @property
    def spots(self) -> list[Spot]:
        """Every run."""
        return [
            Spot(reading.name, setting, case, SEED + number)
            for reading in READINGS
            for setting in reading.settings
            for case in CASES
            for number in range(self.seeds if reading is BASE else 1)
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


def run(plan: Plan, workshop: Workshop) -> Outcome:
    """Run everything."""
    return Outcome(plan, simulate(plan, plan.spots, workshop))


def simulate(plan: Plan, spots: Sequence[Spot], workshop: Workshop) -> dict[Spot, Result]:
    """Run some of a plan."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        write_jobs(plan, folder)
        setups = {spot: (BY_NAME[spot.reading].shape, setup(spot, folder)) for spot in spots}
        return simulate_from_states(workshop, "the slides' cases", setups, settle)


def write_jobs(plan: Plan, folder: Path) -> None:
    """Write the job file of every load and case."""
    for load in LOADS:
        for case in CASES.values():
            text = job_file(load, case, plan.runtime_s, plan.ramp_s)
            _job_path(folder, load, case.name).write_text(text)


def _job_path(folder: Path, load: str, case: str) -> Path:
    return folder / f"{load}-{case}.fio"


def setup(spot: Spot, folder: Path) -> Setup:
    """Return the scenario of a run; `folder`: where the job files are."""
    reading = BY_NAME[spot.reading]
    scenario = {
        "seed": spot.seed,
        **drive(reading.shape),
        "workload": {"fio": _job_path(folder, reading.load, spot.case)},
    }
    overrides = suspensions(spot.setting, reading.shape.part)
    return Setup(scenario, overrides).with_overrides(reading.overrides)


def settle(shape: Shape, path: Path, watch: Watch) -> None:
    """Save the state of the slides' drive."""
    save_state({"seed": SEED, **drive(shape)}, shape, path, watch)


def save_state(scenario: Mapping[str, object], shape: Shape, path: Path, watch: Watch) -> None:
    """Save the state of a drive that is full, and has as many free blocks as it keeps."""
    # A file of its own: other drives of the same folder are brought to their states meanwhile.
    job = path.with_name(f"{path.name}-settle.fio")
    job.write_text(_SETTLE_JOB)
    settle = Setup({**scenario, "workload": {"fio": job}}, settled(shape))
    settle.simulate(watch, save_state=path, save_state_at="start")


def files(plan: Plan) -> dict[str, str]:
    """Return the job files of the chosen load and the scenarios around them, to run by hand."""
    found = {}
    for case in CASES.values():
        job = job_file(BASE.load, case, plan.runtime_s, plan.ramp_s)
        found[f"jobs/{case.name}.fio"] = job
        for setting in ("none", "both"):
            found[f"jobs/{case.name}-{setting}.toml"] = scenario_text(case, setting)
    return found


def scenario_text(case: Case, setting: str) -> str:
    """Return the scenario of the chosen reading, whose job file is beside it."""
    overrides = suspensions(setting, BASE.shape.part)
    scenario = {"seed": SEED, **drive(BASE.shape), "suspension": _section(overrides)}
    scenario["workload"] = {"fio": f"{case.name}.fio"}
    return toml_text(scenario)


def _section(overrides: Mapping[str, object]) -> dict[str, object]:
    return {key.partition(".")[2]: value for key, value in overrides.items()}
