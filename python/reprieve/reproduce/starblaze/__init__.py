"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from __future__ import annotations

from reprieve.parallel import Step, Workshop
from reprieve.report.article import Article
from reprieve.reproduce.starblaze import claims, page
from reprieve.reproduce.starblaze.experiment import Plan, files, run

__all__ = ["FULL", "QUICK", "article"]

FULL = Plan(60, 5, 5)
QUICK = Plan(8, 2, 1)
"""The full reproduction within ten minutes on two cores, the quick one within one."""


def article(plan: Plan, jobs: int | None, step: Step, command: str) -> Article:
    """Run everything and write it up; `jobs` simulations at a time, None: one a core."""
    outcome = run(plan, Workshop(jobs, step, plan.pieces))
    return Article(
        title="Starblaze 2017 reproduced: a database's load before and after suspension",
        command=command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        files=files(plan),
    )
