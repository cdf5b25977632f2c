"""A study of tables: its plan is run, judged and written up in one way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from reprieve_studies.article import Article
from reprieve_studies.frame import Data, facts
from reprieve_studies.joint import Candidate, search
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict

Plan = TypeVar("Plan")


def sized(data: Data, plan: Callable[..., Plan]) -> Callable[[Settings], Plan]:
    """Return what makes the plan of a study with a table for each: quick, or full."""
    return lambda settings: plan(**data["plan"]["quick" if settings.quick else "full"])


@dataclass(frozen=True)
class Paper:
    """The modules of a study; its file has the `title` of the report and that of the `study`."""

    runs: Any
    """With `DATA`, what is `planned` by settings, and `candidate_plan` if it has a joint reading:
    the plan that judges a candidate, with seeds, whether quick."""
    claims: Any
    """With `verdicts` and `numbers` of an outcome."""
    page: Any
    """With `facts` and `sections` of an outcome."""
    run: Callable[[Any, Bench], Any]
    """Returns the outcome of a plan."""
    takes: frozenset[str] = frozenset()
    paper_word: str = "paper"
    """Name of the source of the expected numbers in the article."""
    files: Callable[[Any], Mapping[str, str]] = lambda _plan: {}

    def study(self) -> Study:
        """Return it as the command has it."""
        data, has_joint = self.runs.DATA, hasattr(self.runs, "candidate_plan")
        joint = partial(search, data, self.judge) if has_joint else None
        return Study(data["study"], self.takes, self.article, joint)

    def article(self, settings: Settings) -> Article:
        """Run everything and write it up."""
        plan = self.runs.planned(settings)
        with settings.bench() as bench:
            outcome = self.run(plan, bench)
        return Article(
            title=self.runs.DATA["title"],
            command=settings.command,
            facts=self.page.facts(outcome),
            sections=self.page.sections(outcome),
            verdicts=self.claims.verdicts(outcome),
            paper_word=self.paper_word,
            files=self.files(plan),
            numbers=self.claims.numbers(outcome),
        )

    def judge(
        self, bench: Bench, candidate: Candidate, seeds: Sequence[int], quick: bool
    ) -> list[Verdict]:
        """Judge every claim under a candidate for the joint reading."""
        found: list[Verdict] = self.claims.verdicts(
            self.run(self.runs.candidate_plan(candidate, seeds, quick), bench)
        )
        return found


def of_runs(runs: Any, claims: Any, page: Any, takes: frozenset[str] = frozenset()) -> Study:
    """Return a study of ours by its modules: with claims of its runs, and a page of its numbers."""

    def article(settings: Settings) -> Article:
        plan = runs.planned(settings)
        with settings.bench() as bench:
            found = runs.simulate(bench, plan)
        numbers = claims.numbers(found, plan)
        return Article(
            title=runs.DATA["title"],
            command=settings.command,
            facts=facts(runs.DATA, plan),
            sections=page.sections(numbers),
            verdicts=claims.verdicts(found, plan),
            paper_word="expected",
            numbers=numbers,
        )

    return Study(runs.DATA["study"], takes, article)
