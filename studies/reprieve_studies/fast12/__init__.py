"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from reprieve_studies.article import Article
from reprieve_studies.fast12 import claims, loads, page
from reprieve_studies.fast12.experiment import REAL, Plan, run
from reprieve_studies.fast12.numbers import all_numbers
from reprieve_studies.loads import real
from reprieve_studies.study import Settings, Study

REQUESTS = 30_000
REQUESTS_QUICK = 1_000
"""Of each load at most and for each seed: the full run within a quarter of an hour on two cores,
the quick one within a minute."""
SEEDS = range(1, 6)


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    requests = settings.requests_or(REQUESTS_QUICK if settings.quick else REQUESTS)
    wanted = [of for of in loads.SETS if not (settings.quick and of == loads.COUPLED)]
    sets = {of: loads.papers(settings.traces, of) for of in wanted}
    # Recordings are part of a checkout only.
    if recorded := real():
        sets[REAL] = recorded
    plan = Plan(sets, SEEDS, requests, settings.quick)
    outcome = run(plan, settings.workshop(plan.pieces))
    verdicts = claims.verdicts(outcome)
    return Article(
        title="FAST 2012 reproduced: program and erase suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome, verdicts),
        verdicts=verdicts,
        numbers=all_numbers(outcome, verdicts),
    )


STUDY = Study(
    "Wu and He, Reducing SSD Read Latency via NAND Flash Program and Erase Suspension, 2012",
    frozenset({"requests", "traces"}),
    article,
)
