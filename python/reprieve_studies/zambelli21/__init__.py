"""Zambelli et al., Electronics 2021: program suspension of a 3D TLC part, and of a drive of it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from reprieve.characterize import Measured, measure
from reprieve_studies.article import Article, Section
from reprieve_studies.characterize.page import SECTIONS
from reprieve_studies.frame import by_reading, questions
from reprieve_studies.joint import Candidate, search
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict
from reprieve_studies.zambelli21 import figures
from reprieve_studies.zambelli21.claims import Outcome, numbers, verdicts
from reprieve_studies.zambelli21.runs import DATA, JUDGED, PART, Plan, simulate

SEEDS = (1, 2, 3, 4, 5)


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    asked = DATA["requests"]["quick" if settings.quick else "judged"]
    plan = Plan(settings.requests_or(asked), SEEDS, settings.quick)
    if settings.quick:
        plan = replace(plan, run_in=0)
    with settings.bench() as bench:
        outcome = Outcome(plan, simulate(plan, plan.spots, bench), _of_the_part())
    return Article(
        title="Zambelli et al. 2021 reproduced: program suspension in a 3D TLC drive",
        command=settings.command,
        facts=_facts(outcome),
        sections=_sections(outcome),
        verdicts=verdicts(outcome),
        numbers=numbers(outcome),
    )


@cache
def _of_the_part() -> Measured:
    return measure(PART, (), DATA["wordlines"], 1)


def judge(
    bench: Bench, candidate: Candidate, seeds: Sequence[int], *, quick: bool
) -> list[Verdict]:
    """Judge every claim under a candidate for the joint reading."""
    requests = DATA["requests"]["search" if quick else "judged"]
    plan = Plan(requests, seeds, claims_only=True, base=candidate.reading)
    return verdicts(Outcome(plan, simulate(plan, plan.spots, bench), _of_the_part()))


STUDY = Study(
    "Zambelli et al., Assessing the Role of Program Suspend Operation in 3D NAND Flash Based "
    "Solid State Drives, 2021",
    frozenset({"requests"}),
    article,
    joint=partial(search, DATA, judge, title="Zambelli et al. 2021"),
)

_DRIVE = (
    "The drive is that of the paper's Table 1, with 64 blocks a die in place of 2048: shares of "
    "the capacity stay. Flash is mapped by 4 KiB, the size of a request. Random writes are "
    "acknowledged in the frame buffer: a mean of 191 µs over reads and writes cannot hold programs "
    "of 2 ms. For each page of the host collection moves 1.4 (a write amplification of 2.4), in "
    "step with the host. The paper's powers are confidential: signs, orders and sizes can be "
    "compared, absolute values cannot."
)


def _facts(outcome: Outcome) -> dict[str, str]:
    plan = outcome.plan
    return {
        "Paper": DATA["paper"],
        "Part": PART,
        "Readings": ", ".join(DATA.readings[name].title for name in JUDGED),
        "Requests of a run": f"{plan.requests:,}; {plan.requests_of('page-2'):,} of other readings",
        "Runs": f"{len(plan.spots):,}",
        "Seeds": ", ".join(map(str, plan.seeds)) + "; the first of them for other readings",
    }


def _sections(outcome: Outcome) -> list[Section]:
    shown = list(dict.fromkeys(spot.reading for spot in outcome.runs))
    titles = {name: DATA.readings[name].title for name in shown}
    table = by_reading(
        "The claims under every reading", [(claim, "") for claim in DATA.claims], shown,
        lambda claim, _drive, name: outcome.measure(claim, name), titles,
    )  # fmt: skip
    return [
        Section("The paper's figures", [_DRIVE], figures.of_the_drive(outcome)),
        Section("Readings of the paper", questions(DATA.readings[name] for name in shown),
                tables=[table]),
        Section("The part", [f"reprieve characterize {PART} gives the same by itself."],
                figures.of_the_part(outcome)),
        *(make(outcome.bench) for make in SECTIONS),
    ]  # fmt: skip
