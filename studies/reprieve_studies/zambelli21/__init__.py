"""Zambelli et al., Electronics 2021: program suspension of a 3D TLC part, and of a drive of it."""

from reprieve_studies.article import Article
from reprieve_studies.study import Settings, Study
from reprieve_studies.zambelli21 import claims, page
from reprieve_studies.zambelli21.experiment import Plan, run
from reprieve_studies.zambelli21.numbers import all_numbers

REQUESTS = 150_000
REQUESTS_QUICK = 60_000
"""Of each run and seed that count: the full reproduction within a quarter of an hour on two cores,
the quick one within a minute."""
SEEDS = (1, 2, 3, 4, 5)
SEEDS_QUICK = (1,)


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(
        settings.requests_or(REQUESTS_QUICK if settings.quick else REQUESTS),
        SEEDS_QUICK if settings.quick else SEEDS,
        settings.quick,
    )
    outcome = run(plan, settings.workshop(plan.pieces))
    return Article(
        title="Zambelli et al. 2021 reproduced: program suspension in a 3D TLC drive",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )


STUDY = Study(
    "Zambelli et al., Assessing the Role of Program Suspend Operation in 3D NAND Flash Based "
    "Solid State Drives, 2021",
    frozenset({"requests"}),
    article,
)
