"""Arrays against suspension: which of them keeps reads short, and both together."""

from reprieve_studies.arrays import claims, page
from reprieve_studies.arrays.runs import DATA, Plan, simulate
from reprieve_studies.article import Article
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    with settings.bench() as bench:
        runs = simulate(bench, plan)
    numbers = claims.numbers(runs, plan)
    return Article(
        title="Arrays against suspension",
        command=settings.command,
        facts={
            "Drives": f"{DATA['drives']} {DATA['drive']['device']}, RAID 5",
            "Runs": f"{plan.requests:,} requests, {len(plan.seeds)} seeds",
        },
        sections=page.sections(numbers),
        verdicts=claims.verdicts(runs, plan),
        paper_word="expected",
        numbers=numbers,
    )


STUDY = Study(
    "Arrays: an experiment of this project, with its claims stated first", frozenset(), article
)
