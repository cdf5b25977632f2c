"""Is a deadline worth it: today's knobs, batching and deadlines, searched alike and then judged."""

from reprieve_studies.article import Article
from reprieve_studies.deadline import claims, page
from reprieve_studies.deadline.experiment import Plan, run
from reprieve_studies.deadline.numbers import all_numbers
from reprieve_studies.study import Settings, Study

FULL = Plan(60_000, 40_000, 33, (1, 2), (101, 102, 103, 104, 105))
QUICK = Plan(
    20_000, 20_000, 9, (1,), (101, 102), ("die-500", "die-800", "die-240", "fast12-mlc-poisson"),
    bounds=False,
)  # fmt: skip
"""The full experiment takes half an hour on two cores, the quick one under a minute."""


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    outcome = run(QUICK if settings.quick else FULL, settings)
    return Article(
        title="Deadlines, batches and today's knobs: what a suspension policy has to know",
        command=settings.command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        paper_word="expected",
        numbers=all_numbers(outcome),
    )


STUDY = Study(
    "Deadline-aware suspension: an experiment of this project, with its claims stated first",
    frozenset(),
    article,
)
