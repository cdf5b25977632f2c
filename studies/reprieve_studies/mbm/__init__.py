"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from dataclasses import replace

from reprieve_studies.article import Article
from reprieve_studies.loads import real
from reprieve_studies.mbm import claims, loads, page
from reprieve_studies.mbm.experiment import Plan, pieces, run
from reprieve_studies.mbm.numbers import all_numbers
from reprieve_studies.mbm.readings import READINGS
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
    has_substrates=False,
    readings=[reading for reading in READINGS if reading.name in QUICK_READINGS],
)
"""Without their loads: the full run within three quarters of an hour on two cores. Bringing
thousands of drives to their steady state is much of it, and most of the quick one, which has blocks
of a quarter of the length, and leaves out the recorded loads, the ablation, most of the other
readings, and the substrates. The drafts are those of each run of the ablation, for its
intervals."""


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = QUICK if settings.quick else FULL
    requests = settings.requests_or(usual.requests)
    recorded = [] if settings.quick else real()
    plan = replace(usual, papers=loads.papers(settings.traces), real=recorded, requests=requests)
    return article_of(plan, settings)


def article_of(plan: Plan, settings: Settings) -> Article:
    """Run a plan and write it up.

    Simulations of a full plan are kept in the directory of the results, and a run that was killed
    goes on from there.
    """
    folder = None if settings.quick else settings.directory
    outcome = run(plan, settings.workshop(pieces(plan)), folder)
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )


STUDY = Study(
    "Maximize Bandwidth Management (MBM) for 3D NAND, against TBM and Sprinkler",
    frozenset({"requests", "traces"}),
    article,
)
