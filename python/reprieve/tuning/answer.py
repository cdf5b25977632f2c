"""The answer: the best point with its intervals, what binds, the front, in a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reprieve.experiments.intervals import mean_intervals
from reprieve.experiments.pareto import front
from reprieve.tuning.question import Bound, Field, Question
from reprieve.tuning.search import RUNGS, Found, Tried, rank


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % interval, which one seed has not."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Answer:
    """Result of a tuning; its points ran at full length over all seeds."""

    question: Question
    best: Tried
    meets: bool
    """Whether the best keeps all bounds, on the mean over seeds."""
    decided: bool
    """Whether its intervals agree: all of them keep the bounds, or one misses its bound."""
    ranked: tuple[Tried, ...]
    """The best first."""
    all: tuple[Tried, ...]
    """Also those that were given up after a short run, in the order in which they were tried."""
    in_front: tuple[bool, ...]
    """For each of these, whether no other is better in the goal and in every bounded number."""
    binding: Bound | None
    """The bound without which the goal could be best; None if no bound is."""
    without: Tried | None
    """The best point without that bound."""
    refused: int

    @property
    def tried(self) -> int:
        """Number of points."""
        return len(self.all)


def estimate(what: Field, tried: Tried) -> Estimate:
    """Return a number of a point."""
    samples = np.array([[what.of(row) for row in tried.rows]])
    if samples.shape[1] == 1:
        return Estimate(float(samples[0, 0]), None, None)
    mean, low, high = mean_intervals(samples, positive=True)
    return Estimate(float(mean[0]), float(low[0]), float(high[0]))


def answer(question: Question, found: Found) -> Answer:
    """Judge what was tried."""
    ranked = sorted(found.whole(), key=lambda each: rank(question, each.rows))
    best = ranked[0]
    meets = rank(question, best.rows)[0] == 0
    decided = _is_decided(question, best, meets)
    binding, without = _binding(question, found.tried, best)
    costs = [_costs(question, each) for each in ranked]
    return Answer(
        question,
        best,
        meets,
        decided,
        tuple(ranked),
        tuple(found.tried),
        tuple(front(costs)),
        binding,
        without,
        len(found.refused),
    )


def _is_decided(question: Question, best: Tried, meets: bool) -> bool:
    """Say whether the intervals of the best point lie within all bounds, or one without its own."""
    kept = []
    for bound in question.bounds:
        found = estimate(bound.field, best)
        # The end that is nearer to missing a bound that is met, or to meeting one that is not.
        end = found.high if bound.is_upper == meets else found.low
        kept.append(bound.excess(found.mean if end is None else end) <= 0)
    return all(kept) == meets


def _costs(question: Question, tried: Tried) -> list[float]:
    """Return goal and bounded numbers, each so that less is better."""
    signs = [(question.goal, not question.is_max)]
    signs += [(bound.field, bound.is_upper) for bound in question.bounds]
    return [
        estimate(what, tried).mean * (1 if less_is_better else -1) for what, less_is_better in signs
    ]


def _binding(
    question: Question, tried: Sequence[Tried], best: Tried
) -> tuple[Bound | None, Tried | None]:
    """Return the bound whose fall would move the goal most, and the best point without it.

    That may be one of a short run, which the search gave up because of the bound.
    """
    found: tuple[Bound | None, Tried | None] = (None, None)
    # A whole run is more accurate than a short one.
    lowest = (1, 0.0, 0.0)
    for bound in question.bounds:
        others = tuple(each for each in question.bounds if each is not bound)
        freed = Question(question.axes, others, question.goal, question.is_max)
        for each in tried:
            mean = sum(map(bound.field.of, each.rows)) / len(each.rows)
            violation, cost = rank(freed, each.rows)
            # Runs of the same length are compared, and the bound has to be the only obstacle.
            here = rank(freed, best.by_rung[each.rung])
            if bound.excess(mean) > 0 and (violation, cost) < here:
                judged = (-each.rung, violation - here[0], cost - here[1])
                if judged < lowest:
                    lowest, found = judged, (bound, each)
    return found


def sentences(answer: Answer) -> list[str]:
    """Say what was found."""
    question, best = answer.question, answer.best
    goal = f"{question.goal.said} {_said(question.goal, best)}"
    lines = []
    if answer.meets:
        sure = "" if answer.decided else ", on the mean alone: an interval reaches beyond a bound"
        lines.append(f"best: {goal} at {best.point}{sure}")
        for bound in question.bounds:
            share = -bound.excess(estimate(bound.field, best).mean)
            lines.append(f"{bound}: {_said(bound.field, best)}, {100 * share:.1f} % to spare")
        lines += _runner_up(answer)
    else:
        worst = max(question.bounds, key=lambda b: b.excess(estimate(b.field, best).mean))
        word = "nothing meets it" if answer.decided else "perhaps nothing meets it"
        lines.append(
            f"{word}: nearest is {best.point}, because {worst} is missed by "
            f"{100 * worst.excess(estimate(worst.field, best).mean):.1f} %: "
            f"{_said(worst.field, best)}"
            f"{'' if answer.decided else ', an interval that reaches within the bound'}"
        )
        lines.append(f"there {goal}")
    if answer.binding is not None and answer.without is not None:
        short = "" if answer.without.rung == RUNGS - 1 else ", by a short run"
        lines.append(
            f"{answer.binding} binds: without it {question.goal.said} would be "
            f"{_said(question.goal, answer.without)} at {answer.without.point}{short}"
        )
    elif question.bounds:
        lines.append("no bound binds: none of the points tried is better without one")
    return lines


def _runner_up(answer: Answer) -> list[str]:
    """Say which point is the next best, and whether the seeds tell the two apart."""
    goal, question = answer.question.goal, answer.question
    ours = [goal.of(row) for row in answer.best.rows]
    kept = [each for each in answer.ranked[1:] if rank(question, each.rows)[0] == 0]
    alike = [each for each in kept if [goal.of(row) for row in each.rows] == ours]
    if alike:
        others = "another point" if len(alike) == 1 else f"{len(alike)} other points"
        return [f"as good under every seed: {others}, such as {alike[0].point}"]
    if not kept:
        return []
    text = f"next best: {goal.said} {_said(goal, kept[0])} at {kept[0].point}"
    if len(ours) == 1:
        return [f"{text}; one seed gives no interval for the difference"]
    more = np.array([[goal.of(row) for row in kept[0].rows]]) - np.array([ours])
    _, low, high = mean_intervals(more, positive=False)
    word = "significant" if low[0] > 0 or high[0] < 0 else "not significant"
    return [f"{text}; the difference is {word} (95 %, paired by seed)"]


def _said(what: Field, tried: Tried) -> str:
    found = estimate(what, tried)
    if found.low is None or found.high is None:
        return what.show(found.mean)
    return f"{what.show(found.mean)} ({what.show(found.low)} to {what.show(found.high)})"
