"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from dataclasses import replace

from reprieve_studies.article import Article
from reprieve_studies.loads import real
from reprieve_studies.mbm import beyond, blocks, claims, loads, page
from reprieve_studies.mbm.experiment import Outcome, Plan, pieces, run
from reprieve_studies.mbm.numbers import all_numbers, numbers_of_blocks
from reprieve_studies.mbm.readings import BASE, READINGS
from reprieve_studies.study import Settings, Study

FULL = Plan([], [], 12_000, drafts=3)
QUICK_READINGS = ("buffer", "spare", "ips")
QUICK = Plan(
    [],
    [],
    2_000,
    pages_per_block=32,
    drafts=0,
    events_min=30,
    slack_drafts=0,
    has_substrates=False,
    has_map=False,
    readings=[reading for reading in READINGS if reading.name in QUICK_READINGS],
)
"""Without their loads: the full run within three quarters of an hour on two cores. Bringing
thousands of drives to their steady state is much of it, and most of the quick one, which has blocks
of a quarter of the length, and leaves out the recorded loads, the ablation, most of the other
readings, the slack of collection, the substrates, and what is compared seed by seed.
The drafts are those of each run of the ablation, for its intervals."""
RECORDED = replace(FULL, slack_drafts=0, has_substrates=False, has_map=False)
"""Without the parts whose numbers are recorded by themselves."""
EXTENT = beyond.Extent()
"""Of what is compared seed by seed."""


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = QUICK if settings.quick else FULL
    requests = settings.requests_or(usual.requests)
    counterparts = loads.papers(settings.traces)
    if settings.full_geometry:
        return _with_blocks_of_the_paper(Plan(counterparts, [], requests), settings)
    recorded = [] if settings.quick else real()
    plan = replace(usual, papers=counterparts, real=recorded, requests=requests)
    return article_of(plan, settings)


def article_of(plan: Plan, settings: Settings) -> Article:
    """Run a plan and write it up.

    Simulations of a full plan are kept in the directory of the results, and a run that was killed
    goes on from there; those of the map are not.
    """
    folder = None if settings.quick else settings.directory
    if not plan.has_map:
        outcome = run(plan, settings.workshop(pieces(plan)), folder)
        return _article(outcome, None, settings)
    extent = EXTENT if settings.requests is None else replace(EXTENT, requests=plan.requests)
    workshop = settings.workshop(pieces(plan) + beyond.pieces(plan, extent))
    outcome = run(plan, workshop, folder)
    scales = {load: outcome.compressions[BASE.name, load].time_scale for load in outcome.papers}
    return _article(outcome, beyond.run(plan, workshop, extent, scales), settings)


def _article(outcome: Outcome, more: beyond.Beyond | None, settings: Settings) -> Article:
    further = [] if more is None else beyond.sections(more)
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=[*page.sections(outcome), *further],
        verdicts=claims.verdicts(outcome),
        numbers={
            **all_numbers(outcome),
            "beyond": {} if more is None else beyond.numbers(more),
        },
    )


def _with_blocks_of_the_paper(plan: Plan, settings: Settings) -> Article:
    outcomes = blocks.run(plan, settings.workshop(blocks.pieces(plan)))
    return Article(
        title="MBM reproduced: the blocks of Table I",
        command=settings.command,
        facts=blocks.facts(outcomes),
        sections=blocks.sections(outcomes),
        verdicts=blocks.verdicts(outcomes),
        numbers=numbers_of_blocks(outcomes),
    )


STUDY = Study(
    "Maximize Bandwidth Management (MBM) for 3D NAND, against TBM and Sprinkler",
    frozenset({"requests", "traces", "full_geometry"}),
    article,
)
