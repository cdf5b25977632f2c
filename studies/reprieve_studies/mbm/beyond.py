"""What goes beyond the paper's figures, compared seed by seed: regimes, suspension, readings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reprieve.parallel import Workshop
from reprieve_studies.article import Section
from reprieve_studies.mbm import inside, limits, paired, regimes
from reprieve_studies.mbm.experiment import Plan
from reprieve_studies.mbm.paired import SEEDS, SEEDS_OF_MAP, Cases


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    cells: Sequence[regimes.Cell] = regimes.CELLS
    seeds: Sequence[int] = SEEDS
    requests: int | None = None
    """Of each run of the map and of the limits, in place of its own."""

    @property
    def seeds_of_map(self) -> list[int]:
        """Those of the map and of the limits; suspension is judged over all."""
        return [seed for seed in self.seeds if seed in SEEDS_OF_MAP]


@dataclass(frozen=True)
class Beyond:
    """All results."""

    plan: Plan
    regimes: Cases
    inside: Cases
    limits: Cases


def pieces(plan: Plan, extent: Extent) -> int:
    """Return how many pieces of work it is."""
    jobs = (
        regimes.list_jobs(extent.cells, extent.seeds_of_map, None),
        inside.list_jobs(plan, None, extent.seeds),
        limits.list_jobs(extent.seeds_of_map, None),
    )
    return sum(paired.pieces(of_part) for of_part in jobs)


def run(plan: Plan, workshop: Workshop, extent: Extent, scales: Mapping[str, float]) -> Beyond:
    """Run everything; `scales`: of the times of the paper's loads."""
    return Beyond(
        plan,
        regimes.run(workshop, extent.cells, extent.seeds_of_map, extent.requests),
        inside.run(plan, workshop, extent.seeds, scales),
        limits.run(workshop, extent.seeds_of_map, extent.requests),
    )


def sections(found: Beyond) -> list[Section]:
    """Return the report of it."""
    return [
        regimes.section(found.regimes),
        inside.section(found.inside),
        limits.section(found.limits),
    ]


def numbers(found: Beyond) -> dict[str, Any]:
    """Return what pages quote."""
    of_map = regimes.numbers(found.regimes)
    return {
        "seeds": {"map": len({case.seed for case in found.regimes}),
                  "others": len({case.seed for case in found.inside})},
        "requests": min(found.plan.requests, inside.REQUESTS_MAX),
        "regimes": of_map,
        "tally": {
            way: {
                name: {measure: regimes.tally(of_map, way, name, measure)
                       for measure in regimes.MEASURED}
                for name in ("page-level", "Sprinkler", "MBM", "MBM over Sprinkler")
            }
            for way in regimes.WAYS
        },
        "inside": inside.numbers(found.inside),
        "limits": limits.numbers(found.limits),
    }  # fmt: skip
