"""Does the drive suspend? The same fit under one assumption after another, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.fio_results import Condition
from reprieve.calibration.least_squares import Fit
from reprieve.calibration.parameters import STEPS, Parameter, Value
from reprieve.calibration.ranges import READS, has_writes
from reprieve.calibration.search import Depth, Search

SEEDS = 6
_CERTAIN = 2.6
"""Standard errors of the difference, over the seeds, from which on it is taken as decided."""


class Assumption(NamedTuple):
    """How programs might make way for reads."""

    name: str
    sentence: str
    suspends: bool
    """Whether a read that waits is served before the wordline is programmed."""
    fixed: dict[str, Value]
    choices: tuple[Parameter, ...] = ()
    without: frozenset[str] = frozenset()
    """Parameters that have no effect if this is so: they are not fitted, and none of the count."""
    near: str = ""
    """Another assumption before it, which says the same where one read at a time meets a drive."""


_MODE = "suspension.program"
_WORDLINE = "timing.wordline_pages"
_OF_SUSPENSION = frozenset({STEPS, "timing.t_suspend_overhead_us", "timing.t_buffer_us"})
"""Whoever waits for the end of a program does not see where it could have been suspended."""

ASSUMPTIONS = (
    Assumption(
        "none",
        "a wordline is programmed at once, and reads wait for its end",
        False,
        {_MODE: "none", READS: None},
        without=_OF_SUSPENSION,
    ),
    Assumption(
        "pages",
        "the pages of a wordline are programmed one by one, and reads wait for the end of each",
        False,
        {_MODE: "none", READS: None, _WORDLINE: 1},
        without=_OF_SUSPENSION,
    ),
    Assumption(
        "suspend",
        "a program is suspended, and all reads that wait are served",
        True,
        {_MODE: "iteration", READS: None},
    ),
    Assumption(
        "limit",
        "a program is suspended so often at most, and then runs to its end",
        True,
        {_MODE: "iteration", READS: None},
        (Parameter("suspension.max_per_program", choices=(1, 4)),),
    ),
    Assumption(
        "slices",
        "a program goes on after so many reads, step by step",
        True,
        {_MODE: "iteration"},
        (Parameter(READS, choices=(1, 2, 4)),),
        near="suspend",
    ),
)


@dataclass(frozen=True)
class Judged:
    """An assumption, and the best that can be fitted under it."""

    assumption: Assumption
    fit: Fit
    parameters: int
    """How many were fitted, choices included."""
    criterion: tuple[float, ...]
    """Bayesian information criterion under each seed; the smallest is the likeliest."""


@dataclass(frozen=True)
class Answer:
    """What the measurements say of suspension."""

    judged: tuple[Judged, ...]
    """The likeliest first."""
    difference: float
    """Of the criterion, from the best that does not suspend to the best that does."""
    low: float
    high: float

    @property
    def suspends(self) -> bool | None:
        """Whether programs make way; None: the measurements do not tell."""
        if self.low > 0:
            return True
        return False if self.high < 0 else None


def judge(
    conditions: Sequence[Condition],
    parameters: Sequence[Parameter],
    fixed: dict[str, Value],
    evaluator: Evaluator,
    depth: Depth,
    step: Step,
    assumptions: Sequence[Assumption] = ASSUMPTIONS,
) -> Answer:
    """Fit the drive under each assumption, and compare the likelihoods of the mixed loads."""
    dropped = {key for each in assumptions for key in each.fixed}
    dropped |= {choice.key for each in assumptions for choice in each.choices}
    common = [each for each in parameters if each.key not in dropped]
    reads = [each for each in conditions if not has_writes(each)]
    mixed = [each for each in conditions if has_writes(each)]
    alone = Search(reads, common, fixed, evaluator, depth, step)
    shared = alone.reads_alone()
    judged = []
    shallow: dict[str, Sequence[Fit]] = {}
    for assumption in assumptions:
        idle = [each for each in common if each.key in assumption.without]
        known = {each.key: each.middle() for each in idle}
        known |= {**fixed, **shared.values, **assumption.fixed}

        def told(what: str, done: int, of: int, name: str = assumption.name) -> None:
            step(f"{name}: {what}", done, of)

        mine = [*(each for each in common if each not in idle), *assumption.choices]
        search = Search(mixed, mine, known, evaluator, depth, told)
        fit = search.programs(shared.values | known, shallow.get(assumption.near, ()))
        shallow[assumption.name] = search.shallow
        count = sum(each.key not in shared.values for each in mine)
        judged.append(_judged(assumption, fit, count, mixed, evaluator, depth))
    judged.sort(key=lambda each: sum(each.criterion))
    return _answer(judged)


def _judged(
    assumption: Assumption,
    fit: Fit,
    count: int,
    conditions: Sequence[Condition],
    evaluator: Evaluator,
    depth: Depth,
) -> Judged:
    criterion = []
    for each in range(SEEDS):
        effort = replace(depth.fine, seed=depth.fine.seed + 100 + each)
        found = evaluator.residuals([fit.values], conditions, effort)[0]
        assert found is not None, "the fitted drive can be built under any seed"
        # A job's percentiles count for two numbers together, and its rate for one.
        jobs = sum(len(job.measured) for one in conditions for job in one.jobs)
        criterion.append(float(found @ found) + count * math.log(3 * jobs))
    return Judged(assumption, fit, count, tuple(criterion))


def _answer(judged: Sequence[Judged]) -> Answer:
    does = next((each for each in judged if each.assumption.suspends), None)
    does_not = next((each for each in judged if not each.assumption.suspends), None)
    if does is None or does_not is None:
        return Answer(tuple(judged), 0.0, -math.inf, math.inf)
    pairs = list(zip(does_not.criterion, does.criterion, strict=True))
    differences = [other - mine for other, mine in pairs]
    mean = sum(differences) / len(differences)
    scatter = sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)
    error = math.sqrt(scatter / len(differences))
    return Answer(tuple(judged), mean, mean - _CERTAIN * error, mean + _CERTAIN * error)


def sentence(answer: Answer) -> str:
    """Answer whether the drive suspends, in one sentence."""
    first = answer.judged[0].assumption.sentence
    by = f"by {abs(answer.difference):.0f} ({answer.low:.0f} to {answer.high:.0f}) in BIC"
    if answer.suspends is None:
        return f"the measurements do not tell whether programs make way for reads ({by})"
    if answer.suspends:
        return f"programs make way for reads, {by}: {first}"
    return f"reads wait for programs, {by}: {first}"
