"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

import tempfile
from pathlib import Path

from reprieve_studies.article import Article
from reprieve_studies.starblaze import claims, page, realtime
from reprieve_studies.starblaze.experiment import Plan, files, run
from reprieve_studies.starblaze.numbers import all_numbers
from reprieve_studies.study import Settings, Study

FULL = Plan(60, 5, 5)
QUICK = Plan(8, 2, 1)
"""The full reproduction within a quarter of an hour on two cores, the quick one within one."""
_SERVED = realtime.Plan(2)


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    if settings.real_time:
        realtime.require_fio()
    plan = QUICK if settings.quick else FULL
    outcome = run(plan, settings.workshop(plan.pieces))
    sections, verdicts = page.sections(outcome), claims.verdicts(outcome)
    numbers = all_numbers(outcome)
    if settings.real_time:
        settings.step("fio against the served drive, in real time", 0, 1)
        with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
            served = realtime.serve_all(_SERVED, Path(folder))
        sections.append(realtime.section(_SERVED, served))
        verdicts += realtime.verdicts(served)
    return Article(
        title="Starblaze 2017 reproduced: a database's load before and after suspension",
        command=settings.command,
        facts=page.facts(outcome),
        sections=sections,
        verdicts=verdicts,
        files=files(plan),
        numbers=numbers,
    )


STUDY = Study(
    "Starblaze, NAND flash program and erase suspension in an SSD controller, slides of the "
    "Flash Memory Summit, 2017",
    frozenset({"real_time"}),
    article,
)
