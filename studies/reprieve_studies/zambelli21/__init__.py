"""Zambelli et al., Electronics 2021: program suspension of a 3D TLC part, and of a drive of it."""

from __future__ import annotations

from reprieve import UserError
from reprieve.parallel import Step, Workshop
from reprieve_studies.article import Article
from reprieve_studies.zambelli21 import claims, page
from reprieve_studies.zambelli21.experiment import Plan, run
from reprieve_studies.zambelli21.numbers import all_numbers

__all__ = ["REQUESTS", "REQUESTS_QUICK", "article"]

REQUESTS = 8_000_000
REQUESTS_QUICK = 100_000
"""Of each run: the full reproduction within a quarter of an hour on two cores, the quick one
within a minute."""

_REQUESTS_MIN = 1_000


def article(requests: int, jobs: int | None, step: Step, command: str) -> Article:
    """Run everything and write it up; `jobs` simulations at a time, None: one a core."""
    if requests < _REQUESTS_MIN:
        raise UserError(f"--requests {requests}: must be at least {_REQUESTS_MIN}")
    plan = Plan(requests)
    outcome = run(plan, Workshop(jobs, step, plan.pieces))
    return Article(
        title="Zambelli et al. 2021 reproduced: program suspension in a 3D TLC drive",
        command=command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )
