"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from __future__ import annotations

import tempfile
from pathlib import Path

from reprieve.parallel import Step, Workshop
from reprieve_studies.article import Article
from reprieve_studies.starblaze import claims, page, realtime
from reprieve_studies.starblaze.experiment import Plan, files, run
from reprieve_studies.starblaze.numbers import all_numbers

__all__ = ["FULL", "QUICK", "article"]

FULL = Plan(60, 5, 5)
QUICK = Plan(8, 2, 1)
"""The full reproduction within ten minutes on two cores, the quick one within one."""
_SERVED = realtime.Plan(2)


def article(
    plan: Plan, jobs: int | None, step: Step, command: str, real_time: bool = False
) -> Article:
    """Run everything and write it up; `jobs` simulations at a time, None: one a core.

    `real_time`: serve the drive to a real fio too.
    """
    if real_time:
        realtime.require_fio()
    outcome = run(plan, Workshop(jobs, step, plan.pieces))
    sections, verdicts = page.sections(outcome), claims.verdicts(outcome)
    if real_time:
        step("fio against the served drive, in real time", 0, 1)
        with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
            served = realtime.serve_all(_SERVED, Path(folder))
        sections.append(realtime.section(_SERVED, served))
        verdicts += realtime.verdicts(served)
    return Article(
        title="Starblaze 2017 reproduced: a database's load before and after suspension",
        command=command,
        facts=page.facts(outcome),
        sections=sections,
        verdicts=verdicts,
        files=files(plan),
        numbers=all_numbers(outcome),
    )
