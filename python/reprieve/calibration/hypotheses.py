"""Does the drive suspend? The same fit under one assumption after another, side by side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.least_squares import Fit
from reprieve.calibration.measured import Condition
from reprieve.calibration.parameters import OVERHEAD, STEPS, Parameter, Value
from reprieve.calibration.ranges import READS, has_writes
from reprieve.calibration.search import Depth, Search

_criterion = attrgetter("criterion")
SEEDS = 6
_DOUBT = 20.0
"""Whoever is behind by so much more in the criterion, before all of it is counted, is out."""
_CERTAIN = 2.6
"""Standard errors of the difference, over the seeds, from which on it is taken as decided."""


class Assumption(NamedTuple):
    """Hypothesis on the way in which programs yield to reads."""

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
_OF_SUSPENSION = frozenset({STEPS, OVERHEAD, "timing.t_buffer_us"})
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
        "a program goes on after a fixed number of reads, step by step",
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
    """Number of fitted parameters, choices included."""
    criterion: tuple[float, ...]
    """Bayesian information criterion under each seed; the smallest is the likeliest."""


@dataclass(frozen=True)
class Answer:
    """Evidence for suspension in the measurements."""

    judged: tuple[Judged, ...]
    """The likeliest first."""
    difference: float
    """Of the criterion, from the best that does not suspend to the best that does."""
    low: float
    high: float
    is_least: bool = False
    """The other kind was not fitted to its end: the difference is so large at least."""
    unfinished: int = 0
    """Assumptions that were not fitted to their end, as they could not change whether it is so."""

    @property
    def suspends(self) -> bool | None:
        """Whether programs yield; None: the measurements do not show it."""
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
    stops: bool = False,
) -> Answer:
    """Fit the drive under each assumption, and compare the likelihoods of the mixed loads.

    `stops`: no further than until those that are left cannot change whether it suspends.
    """
    dropped = {key for each in ASSUMPTIONS for key in each.fixed}
    dropped |= {choice.key for each in ASSUMPTIONS for choice in each.choices}
    common = [each for each in parameters if each.key not in dropped]
    reads = [each for each in conditions if not has_writes(each)]
    mixed = [each for each in conditions if has_writes(each)]
    alone = Search(reads, common, fixed, evaluator, depth, step)
    shared = alone.reads_alone()
    trials = {
        each.name: Trial(each, common, fixed, shared.values, mixed, evaluator, depth, step)
        for each in ASSUMPTIONS
    }
    for each in trials.values():
        if not stops:
            each.begin(trials)
            each.finish()
        elif not each.assumption.choices:
            each.begin(trials)
    while (chosen := _next(list(trials.values()))) is not None:
        if chosen.search is None:
            chosen.begin(trials)
        else:
            chosen.finish()
    return _answer(list(trials.values()))


@dataclass
class Trial:
    """An assumption while it is fitted: the shallow loads first, then all."""

    assumption: Assumption
    common: Sequence[Parameter]
    fixed: dict[str, Value]
    shared: dict[str, Value]
    """Values that were fitted to reads alone."""
    conditions: Sequence[Condition]
    evaluator: Evaluator
    depth: Depth
    step: Step
    judged: Judged | None = None
    search: Search | None = None

    @property
    def penalty(self) -> float:
        """Penalty of the criterion for fitted parameters.

        A job's percentiles count for two numbers together, and its rate for one.
        """
        jobs = sum(1 for one in self.conditions for _ in one.figures())
        return self.count * math.log(3 * jobs)

    @property
    def count(self) -> int:
        """Parameters that are fitted, choices included."""
        return sum(each.key not in self.shared for each in self._own())

    @property
    def criterion(self) -> float:
        """Mean criterion, or what it is at least: the shallow loads are some of all loads."""
        if self.judged is not None:
            return sum(self.judged.criterion) / SEEDS
        if self.search is None or not self.search.shallow:
            return -math.inf
        return 2 * min(fit.cost for fit in self.search.shallow) + self.penalty

    def begin(self, others: Mapping[str, "Trial"]) -> None:
        """Fit the shallow loads, unless that is done."""
        if self.search is not None:
            return
        near: Sequence[Fit] = ()
        if self.assumption.near:
            other = others[self.assumption.near]
            other.begin(others)
            near = other.search.shallow if other.search is not None else ()

        def told(what: str, done: int, of: int) -> None:
            self.step(f"{self.assumption.name}: {what}", done, of)

        evaluator, depth = self.evaluator, self.depth
        search = Search(self.conditions, self._own(), self._known(), evaluator, depth, told)
        search.begin_programs(self.shared | self._known(), near)
        self.search = search

    def finish(self) -> None:
        """Fit all loads, and judge the fit under several seeds."""
        assert self.search is not None, "the search has started"
        fit = self.search.programs(self.shared | self._known())
        criterion = []
        for each in range(SEEDS):
            effort = replace(self.depth.fine, seed=self.depth.fine.seed + 100 + each)
            found = self.evaluator.residuals([fit.values], self.conditions, effort)[0]
            assert found is not None, "the fitted drive can be built under any seed"
            criterion.append(float(found @ found) + self.penalty)
        self.judged = Judged(self.assumption, fit, self.count, tuple(criterion))

    def _own(self) -> list[Parameter]:
        without = self.assumption.without
        return [*(each for each in self.common if each.key not in without),
                *self.assumption.choices]  # fmt: skip

    def _known(self) -> dict[str, Value]:
        idle = [each for each in self.common if each.key in self.assumption.without]
        middle: dict[str, Value] = {each.key: each.middle() for each in idle}
        return {**middle, **self.fixed, **self.shared, **self.assumption.fixed}


def _next(trials: Sequence[Trial]) -> Trial | None:
    """Return the trial that may change the answer and has the least to show; None: none may.

    What is behind the best of the other kind by more than a doubt cannot, as the criterion of all
    loads is no smaller than that of some.
    """
    done = [each for each in trials if each.judged is not None]
    left = sorted((each for each in trials if each.judged is None), key=_effort)
    if not done:
        return left[0]
    best = min(done, key=_criterion)
    others = (each for each in left if each.assumption.suspends != best.assumption.suspends)
    return next((each for each in others if each.criterion < best.criterion + _DOUBT), None)


def _effort(trial: Trial) -> tuple[bool, bool, float]:
    """Order trials: those started, the likeliest first, then those that start near another."""
    return trial.search is None, not trial.assumption.near, trial.criterion


def _answer(trials: Sequence[Trial]) -> Answer:
    judged = [each.judged for each in trials if each.judged is not None]
    judged.sort(key=lambda each: sum(each.criterion))
    best = min((each for each in trials if each.judged is not None), key=_criterion)
    kind = best.assumption.suspends
    other = min((each for each in trials if each.assumption.suspends != kind), key=_criterion)
    ahead = [theirs - ours for theirs, ours in zip(_by_seed(other), _by_seed(best), strict=True)]
    differences = ahead if kind else [-each for each in ahead]
    mean = sum(differences) / len(differences)
    scatter = sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)
    error = math.sqrt(scatter / len(differences))
    low, high = mean - _CERTAIN * error, mean + _CERTAIN * error
    unfinished = len(trials) - len(judged)
    return Answer(tuple(judged), mean, low, high, other.judged is None, unfinished)


def _by_seed(trial: Trial) -> tuple[float, ...]:
    return (trial.criterion,) * SEEDS if trial.judged is None else trial.judged.criterion


def sentence(answer: Answer) -> str:
    """Answer whether the drive suspends, in one sentence."""
    first = answer.judged[0].assumption.sentence
    least = "at least " if answer.is_least else ""
    by = f"by {least}{abs(answer.difference):.0f} ({answer.low:.0f} to {answer.high:.0f}) in BIC"
    if answer.suspends is None:
        return f"the measurements do not tell whether programs make way for reads ({by})"
    if answer.suspends:
        return f"programs make way for reads, {by}: {first}"
    return f"reads wait for programs, {by}: {first}"
