"""Zones: what suspension still buys where the host collects."""

from reprieve_studies.article import Article
from reprieve_studies.study import Settings, Study
from reprieve_studies.zones import claims, page
from reprieve_studies.zones.runs import DATA, Plan, simulate


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    with settings.bench() as bench:
        runs = simulate(bench, plan)
    numbers = claims.numbers(runs, plan)
    return Article(
        title="Zones: what suspension still buys where the host collects",
        command=settings.command,
        facts={
            "Drive": DATA["device"],
            "Runs": f"{plan.reads:,} reads, {len(plan.seeds)} seeds",
        },
        sections=page.sections(numbers),
        verdicts=claims.verdicts(runs, plan),
        paper_word="expected",
        numbers=numbers,
    )


STUDY = Study(
    "Zones: an experiment of this project, with its claims stated first", frozenset(), article
)
