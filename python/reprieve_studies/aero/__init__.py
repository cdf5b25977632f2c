"""AERO, ASPLOS 2024: erases as long as they need, and whether suspension leaves them anything."""

from reprieve_studies.aero import figures
from reprieve_studies.aero.claims import Outcome, numbers, verdicts
from reprieve_studies.aero.runs import DATA, Plan, mean_erases_ms, simulate
from reprieve_studies.article import Article, Section
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    with settings.bench() as bench:
        outcome = Outcome(plan, simulate(plan, bench), mean_erases_ms())
    return Article(
        title="AERO beside suspension: what shorter erases are worth when erases can wait",
        command=settings.command,
        facts=_facts(outcome),
        sections=_sections(outcome),
        verdicts=verdicts(outcome),
        numbers=numbers(outcome),
    )


STUDY = Study(
    "Cho et al., AERO: Adaptive Erase Operation for Improving Lifetime and Performance of Modern "
    "NAND Flash-Based SSDs, 2024",
    frozenset(),
    article,
)

_DRIVE = (
    "The drive is that of the authors' simulator with 4 of 16 dies and 50 of 497 blocks a plane, "
    "so that shares of the capacity and the 2,112 pages that a block is erased for stay. Erases "
    "have the loops and lengths of that simulator; times that it has not are those of tlc3d-2021."
)


def _facts(outcome: Outcome) -> dict[str, str]:
    plan = outcome.plan
    return {
        "Paper": DATA["paper"],
        "Requests of a run": ", ".join(f"{plan.requests(load):,}" for load in plan.loads),
        "Runs": f"{len(outcome.runs):,}",
        "Seeds": ", ".join(map(str, plan.seeds)),
    }


def _sections(outcome: Outcome) -> list[Section]:
    return [
        Section("The gain, by what is suspended", [_DRIVE], [figures.gains(outcome)],
                [figures.table_of_gains(outcome)])
    ]  # fmt: skip
