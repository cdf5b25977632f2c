"""Validation: the simulator configured to be a queue that has a closed form, beside that form."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step, Workshop, silent
from reprieve_studies.theory.checks import Verified
from reprieve_studies.theory.families import FAMILIES
from reprieve_studies.verdicts import Verdict

__all__ = ["Settings", "Validation", "validate", "validate_into"]


@dataclass(frozen=True)
class Settings:
    """Settings of `validate_into`."""

    quick: bool = False
    """Fewer points and shorter runs, with the same tolerances."""
    jobs: int | None = None
    """Simulations at a time; None: one a core."""
    command: str = "reprieve validate"
    """Shown in the report as what repeats it."""


@dataclass(frozen=True)
class Validation:
    """Results, by name of the family."""

    families: Mapping[str, Sequence[Verified]]

    @property
    def verdicts(self) -> list[Verdict]:
        """Every verdict, in the order of the families."""
        return [found.verdict for family in self.families.values() for found in family]


def validate(
    *,
    quick: bool = False,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    step: Step = silent,
) -> Validation:
    """Simulate queues that theory has formulas for, and compare.

    `quick`: fewer points and shorter runs, a minute of CPU time. `jobs`: simulations at a time, by
    default one a core. `out`: a directory for `verdicts.json`, `report.html` and figures. `step`
    receives the name of each simulation, the number that are done and the total.
    """
    settings = Settings(quick, jobs)
    return _run(settings, step) if out is None else validate_into(Path(out), settings, step)


def validate_into(directory: Path, settings: Settings, step: Step) -> Validation:
    """Run every check and write verdicts, report and figures.

    `step` receives the name of each simulation, the number that are done and the total.
    """
    with ResultDirectory(directory) as out:
        validation = _run(settings, step)
        from reprieve_studies.article import write_article
        from reprieve_studies.theory.article import article

        page = article(validation, settings)
        write_article(out, page)
        out.commit()
    return validation


def _run(settings: Settings, step: Step) -> Validation:
    work = [
        (family.name, experiment)
        for family in FAMILIES
        for experiment in family.experiments(settings.quick)
    ]
    workshop = Workshop(settings.jobs, step, len(work))
    found = workshop.each("validating", work, lambda item, watch: item[1].run(watch))
    families: dict[str, list[Verified]] = {family.name: [] for family in FAMILIES}
    for (name, _), verified in zip(work, found, strict=True):
        families[name].extend(verified)
    return Validation(families)
