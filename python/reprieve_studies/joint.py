"""The joint reading of a paper: the assumptions under which most of its headline claims hold."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import fmean
from typing import Any

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.frame import Data, Reading
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings
from reprieve_studies.verdicts import Verdict, headline

_FAR = 5.0
"""Tolerances that a claim misses by, beyond which it is as good as any other miss."""


@dataclass(frozen=True)
class Candidate:
    """A reading, the loads that it is run with, and the number that is fitted."""

    reading: Reading
    """With the number; its name is that of the reading that is judged."""
    named: str
    """Title of the reading that it is made from."""
    loads: str = ""
    """The set of loads, where a study has several."""
    number: float = 0.0


Judge = Callable[[Bench, Candidate, Sequence[int], bool], list[Verdict]]
"""Judges every claim of a paper under a candidate: with seeds, whether quick."""


@dataclass(frozen=True)
class Score:
    """How many headline claims hold together."""

    held: int
    of: int
    distance: float
    """Mean distance of the claims, in tolerances; of two that hold as many the nearer is better."""

    @property
    def order(self) -> tuple[int, float]:
        """Rank it: the least is the best."""
        return -self.held, self.distance


def candidates(data: Data) -> Iterator[Candidate]:
    """Yield the readings of `[joint]`, each with every set of loads and value of the number."""
    of = data["joint"]
    key, base = of["number"]["key"], of["base"]
    for name in of["readings"]:
        reading = data.readings[name]
        for loads in of.get("loads", [""]):
            for value in of["number"]["values"]:
                table = "sets" if "." in key else "options"
                own = {**getattr(reading, table), key: value}
                changed: dict[str, Any] = {"name": base, table: own}
                made = replace(reading, **changed)
                yield Candidate(made, reading.title, loads, value)


def score(found: Sequence[Verdict], classes: Collection[str] = ("headline",)) -> Score:
    """Count the claims of some classes that hold in the mean over the seeds, each quantity once."""
    counted = [one for one in found if one.of in classes and not one.null_model
               and one.kind in ("measured", "predicted", "input")
               and one.ours is not None and isfinite(one.ours)]  # fmt: skip
    missed = [one.missed for one in counted]
    far = [min(_FAR, miss) for miss in missed]
    return Score(sum(miss <= 1 for miss in missed), len(counted), fmean(far or [_FAR]))


def search(data: Data, judge: Judge, settings: Settings) -> Article:
    """Find the joint reading, freeze it, and predict every claim with fresh seeds."""
    of, every = data["joint"], list(candidates(data))
    with settings.bench() as bench:
        classes = of.get("classes", ["headline"])
        scores = [score(judge(bench, one, of["seeds"], True), classes) for one in every]
        best = min(range(len(every)), key=lambda index: scores[index].order)
        chosen = every[best]
        alike = [one for one in every
                 if (one.named, one.loads) == (chosen.named, chosen.loads)]  # fmt: skip
        # Best number for each draw alone.
        draws = [
            min(alike, key=lambda one: score(judge(bench, one, [seed], True), classes).order).number
            for seed in of["seeds"]
        ]
        found = judge(bench, chosen, of["fresh"], settings.quick)
    numbers = {
        "reading": chosen.named,
        "loads": chosen.loads,
        "number": {"key": of["number"]["key"], "value": chosen.number, "draws": draws},
        "seeds": of["seeds"],
        "fresh": of["fresh"],
        "candidates": [_row(one, of_one) for one, of_one in zip(every, scores, strict=True)],
    }
    return Article(
        title=f"{of['title']}: the joint reading",
        command=settings.command,
        facts={
            "Paper": data["paper"],
            "Reading": chosen.named,
            **({"Loads": chosen.loads} if chosen.loads else {}),
            "Fitted": f"{of['number']['key']} = {chosen.number:g}; "
            f"{min(draws):g} to {max(draws):g} by single seeds",
            "Searched with seeds": ", ".join(map(str, of["seeds"])),
            "Predicted with seeds": ", ".join(map(str, of["fresh"])),
        },
        sections=[Section("Candidates", [headline(found)], tables=[_table(every, scores)])],
        verdicts=found,
        numbers=numbers,
    )


def _row(one: Candidate, of_one: Score) -> dict[str, Any]:
    own = {"reading": one.named, "loads": one.loads, "number": one.number}
    return {**own, **vars(of_one)}


def _table(every: Sequence[Candidate], scores: Sequence[Score]) -> Table:
    pairs = sorted(zip(every, scores, strict=True), key=lambda pair: pair[1].order)
    rows = [[one.named, one.loads or "–", f"{one.number:g}", f"{of_one.held} of {of_one.of}",
             f"{of_one.distance:.2f}"] for one, of_one in pairs]  # fmt: skip
    columns = ["reading", "loads", "number", "headlines that hold", "mean distance, tolerances"]
    return Table("Candidates, the best first", columns, rows, words=2)
