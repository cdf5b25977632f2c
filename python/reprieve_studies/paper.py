"""A study of tables: its plan is run, judged and written up in one way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from reprieve_studies.article import Article, Section
from reprieve_studies.frame import Data
from reprieve_studies.joint import Candidate, search
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict

Plan = TypeVar("Plan")
Outcome = TypeVar("Outcome")


def sized(data: Data, plan: Callable[..., Plan]) -> Callable[[Settings], Plan]:
    """Return what makes the plan of a study with a table for each: quick, or full."""
    return lambda settings: plan(**data["plan"]["quick" if settings.quick else "full"])


@dataclass(frozen=True)
class Paper(Generic[Plan, Outcome]):
    """The parts of a study; its file has the `title` of the report and that of the `study`."""

    data: Data
    plan: Callable[[Settings], Plan]
    run: Callable[[Plan, Bench], Outcome]
    verdicts: Callable[[Outcome], list[Verdict]]
    numbers: Callable[[Outcome], dict[str, Any]]
    facts: Callable[[Outcome], Mapping[str, str]]
    sections: Callable[[Outcome], Sequence[Section]]
    candidate: Callable[[Candidate, Sequence[int], bool], Plan] | None = None
    """Returns the plan that judges a candidate for the joint reading: with seeds, whether quick."""
    takes: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)
    """Other words of the article."""
    files: Callable[[Outcome], Mapping[str, str]] = lambda _: {}

    def study(self) -> Study:
        """Return it as the command has it."""
        joint = self.candidate and partial(search, self.data, self.judge)
        return Study(self.data["study"], self.takes, self.article, joint)

    def article(self, settings: Settings) -> Article:
        """Run everything and write it up."""
        plan = self.plan(settings)
        with settings.bench() as bench:
            outcome = self.run(plan, bench)
        return Article(
            title=self.data["title"],
            command=settings.command,
            facts=self.facts(outcome),
            sections=self.sections(outcome),
            verdicts=self.verdicts(outcome),
            files=self.files(outcome),
            numbers=self.numbers(outcome),
            **self.words,
        )

    def judge(
        self, bench: Bench, candidate: Candidate, seeds: Sequence[int], *, quick: bool
    ) -> list[Verdict]:
        """Judge every claim under a candidate for the joint reading."""
        assert self.candidate is not None, self.data["study"]
        return self.verdicts(self.run(self.candidate(candidate, seeds, quick), bench))


def of_runs(
    data: Data,
    plan: Callable[[Settings], Plan],
    simulate: Callable[[Bench, Plan], Any],
    parts: tuple[Any, Any],
    facts: Callable[[Plan], Mapping[str, str]],
    takes: frozenset[str] = frozenset(),
) -> Study:
    """Return a study of ours, with claims of its runs and its plan, and a page of its numbers.

    `parts`: the modules of both.
    """
    claims, page = parts
    return Paper(
        data,
        plan,
        lambda plan, bench: (simulate(bench, plan), plan),
        lambda made: claims.verdicts(*made),
        lambda made: claims.numbers(*made),
        lambda made: facts(made[1]),
        lambda made: page.sections(claims.numbers(*made)),
        takes=takes,
        words={"paper_word": "expected"},
    ).study()
