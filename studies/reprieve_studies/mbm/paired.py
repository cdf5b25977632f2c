"""Runs that are compared seed by seed: what is run, what is kept, and what one is over another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.parallel import Watch, Workshop
from reprieve_studies.mbm.ablation import MEASURES, Estimate, estimate
from reprieve_studies.mbm.measured import Measured, measured
from reprieve_studies.mbm.measures import geometric
from reprieve_studies.runs import Setup, each_from_states

SEEDS = (1, 2, 3, 4, 5)
SEEDS_OF_MAP = SEEDS[:3]
"""Of the map of regimes and the limits, which have most of the runs."""


class Case(NamedTuple):
    """Which run."""

    series: str
    where: str
    """The load, or what it has in place of a name."""
    policy: str
    seed: int


Cases = Mapping[Case, Measured]


class Start(NamedTuple):
    """Which state a drive starts from: runs that have it in common are compared from one state."""

    collection: str
    policy: str
    seed: int


@dataclass(frozen=True)
class CaseJob:
    """A run to be done."""

    case: Case
    setup: Setup
    start: Start | None = None
    """None: as the scenario says."""


def pieces(jobs: Iterable[CaseJob]) -> int:
    """Return how many pieces of work they are, the states included."""
    todo = list(jobs)
    return len(todo) + len({job.start for job in todo} - {None})


def run_all(
    what: str, jobs: Iterable[CaseJob], base: Callable[[Start], Setup], workshop: Workshop
) -> dict[Case, Measured]:
    """Do them all; `base`: a drive that comes to a state."""

    def settle(start: Start, path: Path, watch: Watch) -> None:
        base(start).simulate(watch, save_state=path, save_state_at="start")

    def one(setup: Setup, state: Path | None, watch: Watch) -> Measured:
        return measured(setup.simulate(watch, requests=True, from_state=state))

    todo = {job.case: (job.start, job.setup) for job in jobs}
    return each_from_states(workshop, what, todo, settle, one)


def measure(run: Measured, name: str) -> float | None:
    """Return a measure of the ablation, or the bandwidth."""
    return run.mb_per_s if name == "mb_per_s" else MEASURES[name](run)


def ratio(
    cases: Cases, of: tuple[str, str], base: tuple[str, str], places: Iterable[str], name: str
) -> Estimate:
    """Return a measure over that of another policy, paired by seed and place.

    `of`, `base`: series and policy. The geometric mean over the places is one sample a seed.
    """
    seeds = sorted({case.seed for case in cases})
    places = list(places)
    samples = []
    for seed in seeds:
        pairs = [
            tuple(measure(cases[Case(series, place, policy, seed)], name)
                  for series, policy in (of, base))
            for place in places
        ]  # fmt: skip
        known = [one / other for one, other in pairs if one is not None and other is not None]
        if known:
            samples.append(geometric(known))
    return estimate(samples) if samples else Estimate(float("nan"), None)


def ends(found: Estimate) -> list[float | None]:
    """Return mean, low end and high end of an interval of 95 %."""
    if found.factor is None:
        return [found.mean, None, None]
    return [found.mean, found.mean / found.factor, found.mean * found.factor]


def words(found: Sequence[float | None], digits: int = 2) -> str:
    """Write the same."""
    mean, low, high = found
    if mean is None:
        return "–"
    if low is None or high is None:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def verdict(found: Sequence[float | None]) -> str:
    """Say whether a ratio is above one: "yes", "no", or "open" where the interval holds one."""
    _, low, high = found
    if low is None or high is None or low <= 1 <= high:
        return "open"
    return "yes" if low > 1 else "no"


def numbers_of(cases: Cases, series: str, where: str, policy: str) -> dict[str, Any]:
    """Return means over the seeds of what a place and policy gave."""
    found = [run for case, run in cases.items()
             if (case.series, case.where, case.policy) == (series, where, policy)]  # fmt: skip
    share = [100 * (1 - 1 / run.gc_waf) if run.gc_waf else 0.0 for run in found]
    return {
        "mb_per_s": geometric([run.mb_per_s for run in found]),
        "erases": sum(run.erases for run in found),
        "collection_percent": sum(share) / len(share),
        "joint_percent": sum(run.joint_percent for run in found) / len(found),
        "anew_percent": sum(run.anew_percent for run in found) / len(found),
    }
