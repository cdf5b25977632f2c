"""Measured drives beside the devices that were fitted to them: errors, targets, suspension."""

from reprieve.drives import load, names
from reprieve_studies.article import Article
from reprieve_studies.drives import claims, page
from reprieve_studies.drives.outcomes import FULL, QUICK, simulate_all
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Simulate every measured drive that has a device, and write it up."""
    plan = QUICK if settings.quick else FULL
    with settings.bench() as bench:
        outcomes = simulate_all([load(name) for name in names()], plan, bench)
    return Article(
        title="Measured drives and the devices fitted to them",
        command=settings.command,
        facts={
            "Drives": f"{len(outcomes)}; {sum(bool(each.runs) for each in outcomes)} have a device",
            "Runs": f"{plan.reads:,} requests of the fastest measured job, {len(plan.seeds)} seeds",
        },
        sections=page.sections(outcomes),
        verdicts=claims.verdicts(outcomes),
        verdicts_title="Targets",
        paper_word="target",
        numbers=claims.numbers(outcomes, plan),
    )


STUDY = Study("Measured drives, and devices fitted to a part of them", frozenset(), article)
