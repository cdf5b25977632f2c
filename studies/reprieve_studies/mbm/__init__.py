"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from dataclasses import replace

from reprieve_studies.article import Article
from reprieve_studies.loads import real
from reprieve_studies.mbm import blocks, claims, loads, page
from reprieve_studies.mbm.experiment import Plan, pieces, run
from reprieve_studies.mbm.numbers import all_numbers, numbers_of_blocks
from reprieve_studies.study import Settings, Study

FULL = Plan([], [], 12_000, drafts=3)
QUICK = Plan([], [], 2_000, has_substrates=False)
"""Without their loads: the full run within half an hour on two cores. Bringing a thousand drives
to their steady state is much of it, and most of the quick one, which leaves the substrates out. The
drafts are those of each run of the ablation, for its intervals."""


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = QUICK if settings.quick else FULL
    requests = settings.requests_or(usual.requests)
    counterparts = loads.papers(settings.traces)
    if settings.full_geometry:
        return _with_blocks_of_the_paper(Plan(counterparts, [], requests), settings)
    plan = replace(usual, papers=counterparts, real=real(), requests=requests)
    outcome = run(plan, settings.workshop(pieces(plan)))
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
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
