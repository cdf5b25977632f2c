"""Over-provisioning and dies, which the slides do not name: every pair of them, over seeds."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.parallel import Watch, Workshop
from reprieve_studies.article import Section, Table
from reprieve_studies.runs import Setup, each_from_states
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.starblaze.experiment import SEED, Plan, settle, setup, write_jobs
from reprieve_studies.starblaze.measures import amplification, measured_of
from reprieve_studies.starblaze.paper import CASES, LATENCY_TOLERANCE
from reprieve_studies.starblaze.readings import BASE, TLC, Shape, Spot, drive

OVER_PROVISIONING = (0.28, 0.45, 0.6)
DIES_PER_CHANNEL = (2, 4, 8)
"""Of eight channels."""
SETTINGS = ("none", "both")
"""Names of `readings.SETTINGS`: before and after."""


class Cell(NamedTuple):
    """A drive of the sweep."""

    over_provisioning: float
    dies_per_channel: int

    @property
    def shape(self) -> Shape:
        """The chosen drive with these two."""
        return replace(
            TLC,
            over_provisioning=self.over_provisioning,
            dies_per_channel=self.dies_per_channel,
        )


CELLS = tuple(Cell(spare, dies) for spare in OVER_PROVISIONING for dies in DIES_PER_CHANNEL)


class Point(NamedTuple):
    """A run of the sweep."""

    cell: Cell
    setting: str
    case: str
    seed: int


class Found(NamedTuple):
    """What is kept of a run."""

    read_us: float
    """Mean."""
    write_amplification: float


Points = Mapping[Point, Found]


def points(seeds: int) -> list[Point]:
    """Return every run."""
    return [
        Point(cell, setting, case, SEED + number)
        for cell in CELLS
        for setting in SETTINGS
        for case in CASES
        for number in range(seeds)
    ]


def run(plan: Plan, workshop: Workshop) -> dict[Point, Found]:
    """Run the sweep: its runs are as long as those of a plan."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        write_jobs(plan, folder)
        jobs = {point: (point.cell.shape, _setup(point, folder)) for point in points(plan.seeds)}
        return each_from_states(workshop, "over-provisioning and dies", jobs, settle, _one)


def _setup(point: Point, folder: Path) -> Setup:
    usual = setup(Spot(BASE.name, point.setting, point.case, point.seed), folder)
    return replace(usual, scenario={**usual.scenario, **drive(point.cell.shape)})


def _one(setup: Setup, state: Path | None, watch: Watch) -> Found:
    result = setup.simulate(watch, from_state=state)
    return Found(measured_of(result, "read")[1], amplification(result))


@dataclass(frozen=True)
class Mean:
    """A mean of the slides beside ours."""

    case: str
    setting: str
    slides_us: float
    ours_us: Estimate

    @property
    def holds(self) -> bool:
        """Whether ours is within the tolerance that all latencies have."""
        return abs(self.ours_us.mean - self.slides_us) <= LATENCY_TOLERANCE * self.slides_us


def means(found: Points, cell: Cell) -> list[Mean]:
    """Return the eight means of reads of a drive: each case, before and after."""
    return [
        Mean(name, setting, slides_us, estimate(_values(found, cell, setting, name)))
        for name, case in CASES.items()
        for setting, slides_us in (("none", case.read.before_us), ("both", case.read.after_us))
    ]


def _values(found: Points, cell: Cell, setting: str, case: str) -> list[float]:
    return [one.read_us for point, one in found.items() if point[:3] == (cell, setting, case)]


def amplifications(found: Points, cell: Cell) -> tuple[float, float]:
    """Return the least and the most of the runs of a drive."""
    own = [one.write_amplification for point, one in found.items() if point.cell == cell]
    return min(own), max(own)


def numbers(found: Points) -> list[dict[str, Any]]:
    """Return all of them, a row a drive."""
    rows = []
    for cell in CELLS:
        each = means(found, cell)
        least, most = amplifications(found, cell)
        rows.append(
            {
                "over_provisioning_percent": 100 * cell.over_provisioning,
                "dies": cell.shape.dies,
                "write_amplification_least": least,
                "write_amplification_most": most,
                "hold": sum(one.holds for one in each),
                "of": len(each),
                "worst_percent": max(
                    100 * abs(one.ours_us.mean / one.slides_us - 1) for one in each
                ),
                "reads": {
                    f"{one.case}, {one.setting}": {"slides_us": one.slides_us,
                                                   **asdict(one.ours_us)}
                    for one in each
                },
            }
        )  # fmt: skip
    return rows


def section(found: Points) -> Section:
    """Write it up."""
    rows = [
        [
            f"{row['over_provisioning_percent']:.0f}",
            str(row["dies"]),
            f"{row['write_amplification_least']:.2f} to {row['write_amplification_most']:.2f}",
            f"{row['hold']} of {row['of']}",
            f"{row['worst_percent']:.0f}",
        ]
        for row in numbers(found)
    ]
    columns = ["over-provisioning, %", "dies", "write amplification",
               "mean reads within 15 %", "farthest, %"]  # fmt: skip
    text = (
        "The slides name neither the spare space nor the dies. Each pair is run with every case, "
        "before and after, over the seeds; the means of reads are compared with the slides'."
    )
    table = Table("Over-provisioning and dies", columns, rows)
    return Section("Over-provisioning and dies", [text], tables=[table])
