"""Readings under which every claim is measured again: of chips, of the limit, of erases, of tails.

Other readings are run for Figure 8 alone, and with the chips of Table I. `python -m
reprieve_studies.mbm.wholes` prints all of it as JSON.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.cli.console import say
from reprieve.parallel import Workshop
from reprieve_studies.loads import Load
from reprieve_studies.mbm import loads
from reprieve_studies.mbm.claims import too_few_events
from reprieve_studies.mbm.experiment import (
    LIMIT,
    MAIN,
    TAIL,
    Compressing,
    Job,
    Outcome,
    Plan,
    Spot,
    measure,
    place,
)
from reprieve_studies.mbm.loads import closed
from reprieve_studies.mbm.measured import Measured, warm_up_requests
from reprieve_studies.mbm.measures import MEASURES, tails
from reprieve_studies.mbm.paper import (
    CHIPS,
    CLAIMS,
    SIMILAR_TAIL,
    TABLE_1_CHIPS,
    TAIL_CLAIMS,
    TAIL_LOADS,
    tail_measure,
)
from reprieve_studies.mbm.readings import (
    BASE,
    MBM,
    PAPERS,
    PARTS,
    QUEUE_DEPTH,
    READINGS,
    SCHEMES,
    TBM,
    Reading,
    Scheme,
    scheme_under,
)
from reprieve_studies.mbm.substrates import AS_PRINTED
from reprieve_studies.runs import Overrides, Setup
from reprieve_studies.study import Settings
from reprieve_studies.verdicts import finite

_OF_EVERY_SCHEME = ("buffer",)
_PRINTED: Overrides = {**AS_PRINTED, "ftl.gc_victims_in_step": False}
"""Here the planes of a die choose their victims one by one, as all of this was recorded."""
PRINTED = Reading(
    "printed",
    "MBM as printed",
    "Does MBM collect in pairs, spread evenly, and keep to a budget?",
    _PRINTED,
    (MBM,),
)
BY_DIE = Reading(
    "printed-die",
    "MBM as printed, a die is the unit",
    "Is a transaction of a chip, or of a die?",
    {**_PRINTED, "scheduling.mbm_unit": "die"},
    (MBM,),
)
SHARED = Reading(
    "shared",
    "MBM without WS",
    "Does collection take a block of its own?",
    PARTS["without WS"].overrides,
    (MBM,),
)
LOOSE = Reading(
    "loose",
    "TBM without superblocks",
    "What is TBM, whose own paper was not at hand?",
    {"ftl.twin_blocks": False},
    (TBM,),
)
WHOLE = (
    BASE,
    *(
        replace(reading, schemes=tuple(SCHEMES))
        for reading in READINGS
        if reading.name in _OF_EVERY_SCHEME
    ),
    PRINTED,
    BY_DIE,
    LOOSE,
    SHARED,
)
"""The first is what is chosen, in runs of the same length."""
EVENTS_MIN = 30
"""Erases, requests of a mean, or requests beyond a percentile, on which a claim has to rest."""
_COMPRESSED = 12_000
"""Requests of a run of the full study, in a third of which a load is compressed."""
CHOSEN, FEW_CHIPS = "Figures 8 and 10 to 13", "Figure 9"
"""Parts of a reading: their runs have lengths of their own."""


@dataclass(frozen=True)
class Extent:
    """How many requests there are in each run."""

    erases: int = 8_000
    """Of Figures 8 and 11."""
    short: int = 4_000
    """Of Figures 9 and 10."""
    tails: int = 30_000


class At(NamedTuple):
    """Which run of which reading."""

    reading: str
    part: str
    spot: Spot


def list_jobs(plan: Plan, scales: Mapping[str, float], extent: Extent) -> dict[At, Job]:
    """Return every run; of a scheme that a reading leaves as it is there is none."""
    return {
        At(reading.name, part, job.spot): job
        for reading in WHOLE
        for load in plan.papers
        for name in (SCHEMES if reading is BASE else reading.schemes)
        for part, job in _of_scheme(plan, load, scheme_under(reading, name), name,
                                    scales[load.trace], extent)
    }  # fmt: skip


def _of_scheme(
    plan: Plan, load: Load, scheme: Scheme, name: str, scale: float, extent: Extent
) -> Iterator[tuple[str, Job]]:
    timed = {**scheme.settings, "workload.time_scale": scale}

    def at(requests: int, chips: int = TABLE_1_CHIPS) -> Setup:
        return place(plan, load, requests, chips).with_overrides(timed)

    limit = place(plan, closed(load, QUEUE_DEPTH), extent.short, TABLE_1_CHIPS)
    yield CHOSEN, Job(Spot(LIMIT, load.trace, name), limit.with_overrides(scheme.settings))
    if name not in PAPERS:
        return
    warm_up = at(warm_up_requests(extent.erases))
    yield CHOSEN, Job(Spot(MAIN, load.trace, name), at(extent.erases), warm_up)
    if load.trace in TAIL_LOADS:
        yield CHOSEN, Job(Spot(TAIL, load.trace, name), at(extent.tails))
    for chips in CHIPS:
        yield FEW_CHIPS, Job(Spot(MAIN, load.trace, name, chips), at(extent.short, chips))


Wholes = Mapping[str, Mapping[str, Outcome]]
"""By title of the reading and part."""


def run(
    plan: Plan,
    workshop: Workshop,
    scales: Mapping[str, float],
    extent: Extent,
    store: Path | None = None,
) -> Wholes:
    """Run everything; `scales`: of the times of the paper's loads.

    What is simulated is kept in `store`, line by line.
    """
    jobs = list_jobs(plan, scales, extent)
    results = measure("every claim under other readings", list(jobs.values()), workshop, store)
    return assemble(plan, dict(zip(jobs, results, strict=True)))


def assemble(plan: Plan, runs: Mapping[At, Measured]) -> Wholes:
    """Return what each reading gives; what it leaves as it is it has from what is chosen."""
    found = {}
    for reading in WHOLE:
        found[reading.title] = {
            part: Outcome(plan, {}, {
                at.spot: run
                for name in (BASE.name, reading.name)
                for at, run in runs.items()
                if (at.reading, at.part) == (name, part)
            })
            for part in (CHOSEN, FEW_CHIPS)
        }  # fmt: skip
    return found


OF_FEW_CHIPS = (
    "reduction_8",
    "tbm_fewer_chips",
    "sprinkler_fewer_chips",
    "mbm_fewer_chips",
    "mbm_best_chips",
    "faster_at_all_chips",
)
"""Measures of Figure 9."""


def numbers(wholes: Wholes) -> dict[str, dict[str, float | None]]:
    """Return each measure under each reading; None where it rests on too few events.

    A claim of tails is measured in per cent of the percentiles for which it holds.
    """
    return {title: _of_reading(parts) for title, parts in wholes.items()}


def _of_reading(parts: Mapping[str, Outcome]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for claim in (*CLAIMS, SIMILAR_TAIL):
        outcome = parts[FEW_CHIPS if claim.measure in OF_FEW_CHIPS else CHOSEN]
        too_few = too_few_events(outcome, claim) is not None
        found[claim.measure] = None if too_few else MEASURES[claim.measure](outcome)
    for number, tail in enumerate(TAIL_CLAIMS):
        each, _ = tails(parts[CHOSEN], tail)
        held = sum(one.holds for one in each)
        found[tail_measure(number)] = 100 * held / len(each) if each else None
    return found


def record(workshop: Workshop, scales: Mapping[str, float], store: Path | None) -> dict[str, Any]:
    """Run everything as it is recorded."""
    plan, extent = Plan(loads.papers({}), [], 0, events_min=EVENTS_MIN), Extent()
    wholes = run(plan, workshop, scales, extent, store)
    return {"requests": asdict(extent), "events_min": EVENTS_MIN, "readings": numbers(wholes)}


def main() -> None:
    """Compress the loads as the study does, and print what comes out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--store", type=Path, help="keep what is simulated there, and go on from it"
    )
    given = parser.parse_args()
    workshop = Settings().workshop(0)
    plan = Plan(loads.papers({}), [], _COMPRESSED)
    places = [(BASE, load) for load in plan.papers]
    found = workshop.each("compressing the loads", places, Compressing(plan).one)
    scales = {load.trace: one.time_scale for (_, load), one in zip(places, found, strict=True)}
    say(json.dumps(finite(record(workshop, scales, given.store)), indent=1))


if __name__ == "__main__":
    main()
