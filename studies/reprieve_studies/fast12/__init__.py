"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from reprieve_studies.article import Article
from reprieve_studies.fast12 import claims, loads, page
from reprieve_studies.fast12.experiment import Plan, run
from reprieve_studies.fast12.numbers import all_numbers
from reprieve_studies.loads import real
from reprieve_studies.study import Settings, Study

REQUESTS = 300_000
REQUESTS_QUICK = 8_000
"""Of each load at most: the full run within a quarter of an hour on two cores, the quick one
within a minute."""


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    requests = settings.requests_or(REQUESTS_QUICK if settings.quick else REQUESTS)
    plan = Plan(loads.papers(settings.traces), real(), requests)
    outcome = run(plan, settings.workshop(plan.pieces))
    return Article(
        title="FAST 2012 reproduced: program and erase suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )


STUDY = Study(
    "Wu and He, Reducing SSD Read Latency via NAND Flash Program and Erase Suspension, 2012",
    frozenset({"requests", "traces"}),
    article,
)
