"""Is a deadline worth it: today's knobs, batching and deadlines, searched alike and then judged."""

from reprieve_studies.article import Article
from reprieve_studies.deadline import claims, page
from reprieve_studies.deadline.benches import DATA
from reprieve_studies.deadline.experiment import Plan, run
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    outcome = run(plan, settings)
    return Article(
        title="Deadlines, batches and today's knobs: what a suspension policy has to know",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        paper_word="expected",
        numbers=claims.numbers(outcome),
    )


STUDY = Study(
    "Deadline-aware suspension: an experiment of this project, with its claims stated first",
    frozenset(),
    article,
)
