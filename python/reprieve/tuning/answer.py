"""The answer: the best point and those as good, what binds, the knee, what each key is worth."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reprieve.confidence import listed
from reprieve.experiments.columns import has_requests
from reprieve.experiments.intervals import mean_intervals
from reprieve.experiments.pareto import front
from reprieve.experiments.plan import Range
from reprieve.pairs import Paired, times_more
from reprieve.tuning.question import ARM, Bound, Field, Question, field
from reprieve.tuning.search import Found, Tried, rank

_VALUES_MOST = {True: 32, False: 4}
"""Values of a range beyond which they are taken in quarters: of a whole space, or one searched."""
_SHOWN = 4
_FRONT_LEAST = 3
_BEND_LEAST = 0.1
"""Of a front in a unit square: below this it is a line, and no point of it a knee."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % interval, which one seed has not."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Freed:
    """The best point without a bound."""

    bound: Bound
    best: Tried
    binds: bool
    """Whether it is better by more than the margin of indifference, or meets what nothing met."""


@dataclass(frozen=True)
class Worth:
    """The cost of the worst choice of a key, all other keys at their best."""

    key: str
    worst: str
    share: float | None
    """Of the best goal; None: no point with this choice meets the bounds."""


@dataclass(frozen=True)
class Answer:
    """Result of a tuning; its points ran at full length over all seeds."""

    question: Question
    tail: Field
    """By which the best is chosen among points that are as good."""
    best: Tried
    meets: bool
    """Whether the best keeps all bounds, on the mean over seeds."""
    decided: bool
    """Whether its intervals agree: all of them keep the bounds, or one misses its bound."""
    ties: int
    """Points that are as good, the best among them."""
    ranked: tuple[Tried, ...]
    """The best first, then those as good by their tails, then the others by the goal."""
    in_front: tuple[bool, ...]
    """For each of these, whether no other is better in goal, bounded numbers and tail."""
    unreal: tuple[Tried, ...]
    """Points that no drive can have, by the goal."""
    freed: tuple[Freed, ...]
    knee: Tried | None
    worth: tuple[Worth, ...]
    """The key that matters most first."""
    refused: int
    is_whole: bool
    """Whether every point of the space was tried."""
    is_cut_short: bool
    paired: Paired | None
    """Difference of the next best from the best in the goal, where pairs of batches tell."""

    @property
    def fields(self) -> list[Field]:
        """Goal, bounded numbers and tail, each once."""
        all_of = [self.question.goal, *(bound.field for bound in self.question.bounds), self.tail]
        return list({each.column: each for each in all_of}.values())


def estimate(what: Field, tried: Tried) -> Estimate:
    """Return a number of a point."""
    samples = np.array([[what.of(row) for row in tried.rows]])
    if samples.shape[1] == 1:
        return Estimate(float(samples[0, 0]), None, None)
    mean, low, high = mean_intervals(samples, positive=True)
    return Estimate(float(mean[0]), float(low[0]), float(high[0]))


Pairing = Callable[[Tried, Tried, str], Paired | None]


def answer(question: Question, found: Found, pairing: Pairing | None = None) -> Answer:
    """Judge what was tried; `pairing` compares runs batch by batch."""
    real = [each for each in found.tried if not each.point.bounds]
    unreal = [each for each in found.tried if each.point.bounds]
    # A space of bounds alone has no best but a bound, which the sentences then say.
    judged = real or unreal
    tail = _tail(question, judged)
    ties = as_good(question, tail, judged)
    best = ties[0]
    # No list is searched for each point: there may be hundreds.
    tied = {id(each) for each in ties}
    others = sorted((each for each in judged if id(each) not in tied), key=_by(question))
    ranked = (*ties, *others)
    meets = rank(question, best.rows)[0] == 0
    costs = [_costs(question, tail, each) for each in ranked]
    worth = list(_worth(question, judged, is_whole=found.is_whole))
    worth.sort(key=lambda one: -math.inf if one.share is None else -one.share)
    return Answer(
        question,
        tail,
        best,
        meets,
        _is_decided(question, best, meets),
        len(ties),
        ranked,
        tuple(front(costs)),
        tuple(sorted(unreal, key=_by(question))) if real else (),
        tuple(_freed(question, tail, judged, best)),
        _knee(question, tail, ranked),
        tuple(worth),
        len(found.refused),
        found.is_whole,
        found.is_cut_short,
        pairing(best, others[0], question.goal.column) if pairing and others else None,
    )


def _by(question: Question) -> Callable[[Tried], tuple[float, float, int]]:
    return lambda each: (*rank(question, each.rows), each.point.number)


def as_good(question: Question, tail: Field, tried: Sequence[Tried]) -> list[Tried]:
    """Return the points that meet the bounds and are as good as the best, the best tail first.

    Where none meets them, the one that comes nearest.
    """
    best = min(tried, key=_by(question))
    violation, cost = rank(question, best.rows)
    if violation > 0:
        return [best]
    most = cost + question.indifferent * abs(cost)
    found = []
    for each in tried:
        beyond, its = rank(question, each.rows)
        if beyond == 0 and its <= most:
            found.append((estimate(tail, each).mean, its, each.point.number, each))
    return [each for *_, each in sorted(found, key=lambda one: one[:3])]


def _tail(question: Question, tried: Sequence[Tried]) -> Field:
    """Return the farthest percentile that all runs have: a bounded one, of reads, or of writes.

    Where the goal is a latency of reads, it is the mean of writes, which pay for it.
    """
    asked = [bound.field for bound in question.bounds if "_latency_ns_p" in bound.field.column]
    asked = [each for each in asked if each.column != question.goal.column]
    named = [field(f"{op}.{figure}") for op in ("read", "write") for figure in ("p99_9", "p99")]
    if question.goal.column.startswith("read_latency"):
        named.insert(0, field("write.mean"))
    for each in (*asked, *named):
        if all(
            has_requests(row, each.column) and row.get(each.column)
            for one in tried
            for row in one.rows
        ):
            return each
    return question.goal


def _is_decided(question: Question, best: Tried, meets: bool) -> bool:
    """Say whether the intervals of the best point lie within all bounds, or one without its own."""
    kept = []
    for bound in question.bounds:
        found = estimate(bound.field, best)
        # The end that is nearer to missing a bound that is met, or to meeting one that is not.
        end = found.high if bound.is_upper == meets else found.low
        kept.append(bound.excess(found.mean if end is None else end) <= 0)
    return all(kept) == meets


def _costs(question: Question, tail: Field, tried: Tried) -> list[float]:
    """Return goal, bounded numbers and tail, each so that less is better."""
    signs = [(question.goal, not question.is_max)]
    signs += [(bound.field, bound.is_upper) for bound in question.bounds]
    signs += [(tail, True)] if tail.column != question.goal.column else []
    return [
        estimate(what, tried).mean * (1 if less_is_better else -1) for what, less_is_better in signs
    ]


def _freed(question: Question, tail: Field, tried: Sequence[Tried], best: Tried) -> Iterator[Freed]:
    """Yield the best point without each bound, out of those that were tried."""
    violation, cost = rank(question, best.rows)
    for bound, asked in zip(question.bounds, question.freed(), strict=True):
        without = as_good(asked, tail, tried)[0]
        beyond, its = rank(asked, without.rows)
        gains = its < cost - question.indifferent * abs(cost)
        yield Freed(bound, without, beyond == 0 and (violation > 0 or gains))


def _knee(question: Question, tail: Field, ranked: Sequence[Tried]) -> Tried | None:
    """Return the point of the front of goal and tail that lies farthest within its ends.

    The ends are joined by a line in a unit square; the knee is farthest from it (Das, On
    characterizing the "knee" of the Pareto curve, Structural Optimization 18, 1999).
    """
    if tail.column == question.goal.column:
        return None
    free = Question(question.axes, (), question.goal, question.is_max)
    costs = np.array([_costs(free, tail, each) for each in ranked])
    places = np.flatnonzero(front(costs))
    if len({*map(tuple, costs[places].tolist())}) < _FRONT_LEAST:
        return None
    unit = (costs[places] - costs[places].min(axis=0)) / np.ptp(costs[places], axis=0)
    # On the line between the ends (0, 1) and (1, 0) the sum is 1.
    bend = 1 - unit.sum(axis=1)
    at = int(bend.argmax())
    return ranked[places[at]] if bend[at] >= _BEND_LEAST else None


def _worth(question: Question, tried: Sequence[Tried], *, is_whole: bool) -> Iterator[Worth]:
    """Yield what the worst choice of each key costs, the other keys at their best with it."""
    violation, best = min(rank(question, each.rows) for each in tried)
    for axis in question.axes:
        known = [(dict(each.point.values)[axis.key], rank(question, each.rows))
                 for each in tried if axis.key in dict(each.point.values)]  # fmt: skip
        groups: dict[str, list[tuple[float, float]]] = {}
        values = sorted({value for value, _ in known}) if isinstance(axis.values, Range) else []
        quarters = np.array_split(values, 4) if len(values) > _VALUES_MOST[is_whole] else []
        for value, judged in known:
            inside = [f"{part[0]:.6g}..{part[-1]:.6g}" for part in quarters if value in part]
            groups.setdefault(inside[0] if inside else str(value), []).append(judged)
        if len(groups) > 1 and violation == 0 and best != 0:
            word, (beyond, cost) = max(((word, min(all_of)) for word, all_of in groups.items()),
                                       key=lambda one: one[1])  # fmt: skip
            yield Worth(axis.key, word, None if beyond > 0 else (cost - best) / abs(best))


def sentences(answer: Answer) -> list[str]:
    """Say what was found."""
    question, best = answer.question, answer.best
    goal = f"{question.goal.said} {_said(question.goal, best)}"
    lines = []
    if answer.meets:
        sure = "" if answer.decided else ", on the mean alone: an interval reaches beyond a bound"
        unreal = f", a bound: no drive has {listed(best.point.bounds)}" if best.point.bounds else ""
        lines.append(f"best: {goal} at {best.point}{sure}{unreal}")
        arm = str(dict(best.point.values).get(ARM))
        lines += [f"{arm} sets {' '.join(question.arms[arm])}"] if question.arms.get(arm) else []
        for bound in question.bounds:
            share = -bound.excess(estimate(bound.field, best).mean)
            lines.append(f"{bound}: {_said(bound.field, best)}, {100 * share:.1f} % to spare")
        lines += [*_as_good(answer), *_runner_up(answer)]
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
    too_few = [
        f"{what.said} has too few requests to be more than chance; run more of them"
        for what in answer.fields
        if not all(has_requests(row, what.column) for row in best.rows)
    ]
    return [*lines, *_binding(answer), *_more(answer), *too_few]


def _as_good(answer: Answer) -> Iterator[str]:
    """List the points between which the goal does not choose."""
    if answer.ties > 1:
        goal = answer.question.goal.said
        margin = f"within {100 * answer.question.indifferent:g} %"
        others = [_name(answer, each) for each in answer.ranked[1 : answer.ties][:_SHOWN]]
        left = answer.ties - 1 - len(others)
        more = f"; and {left} more" if left else ""
        yield (
            f"as good, {margin} of the best {goal}: {'; '.join(others)}{more}; "
            f"of these {answer.ties} the first has the least {answer.tail.said}, "
            f"{_said(answer.tail, answer.best)}"
        )


def _name(answer: Answer, tried: Tried) -> str:
    """Return a point in a list: where one key varies, by its value alone."""
    values = tried.point.values
    return str(values[0][1]) if len(answer.question.axes) == 1 else str(tried.point)


def _runner_up(answer: Answer) -> Iterator[str]:
    """Say which point is the next best, and whether the seeds tell the two apart."""
    goal, question = answer.question.goal, answer.question
    ours = [goal.of(row) for row in answer.best.rows]
    kept = [each for each in answer.ranked[answer.ties :] if rank(question, each.rows)[0] == 0]
    if not kept:
        return
    text = f"next best: {goal.said} {_said(goal, kept[0])} at {kept[0].point}"
    pair = answer.paired
    if pair is not None and "reason" not in pair:
        word = "significant" if pair["decided"] else "not significant"
        needs = times_more(pair["mean_difference"], pair["low"], pair["high"])
        yield f"{text}; the difference is {word} (95 %, pairs of {pair['units']}){needs}"
        return
    if len(ours) == 1:
        yield f"{text}; one seed gives no interval for the difference"
        return
    more = np.array([[goal.of(row) for row in kept[0].rows]]) - np.array([ours])
    mean, low, high = (float(each[0]) for each in mean_intervals(more, positive=False))
    word = "significant" if low > 0 or high < 0 else "not significant"
    needs = times_more(mean, low, high, "seeds")
    yield f"{text}; the difference is {word} (95 %, paired by seed){needs}"


def _binding(answer: Answer) -> Iterator[str]:
    """Say which bounds change the answer, and what it would be without them."""
    goal = answer.question.goal
    for each in answer.freed:
        if each.binds:
            yield (
                f"{each.bound} binds: without it {goal.said} would be {_said(goal, each.best)} at "
                f"{each.best.point}"
            )
    if answer.freed and not any(each.binds for each in answer.freed):
        whole = "the whole space was tried" if answer.is_whole else "each was tried"
        yield f"no bound binds: without one the answer is as good; {whole}"


def _more(answer: Answer) -> Iterator[str]:
    """Say where the knee is, what each key is worth, and what is only a bound."""
    goal, tail = answer.question.goal, answer.tail
    if answer.knee is not None:
        yield (
            f"knee of {goal.said} against {tail.said}: {_said(goal, answer.knee)} and "
            f"{_said(tail, answer.knee)} at {answer.knee.point}"
        )
    if len(answer.worth) > 1 and not answer.best.point.bounds:
        told = [f"{one.key} = {one.worst} {_loss(one.share)}" for one in answer.worth]
        if any(one.share is None or one.share >= 0.001 for one in answer.worth):  # noqa: PLR2004
            yield f"worst choice of each key, as a loss of {goal.said}: {', '.join(told)}"
    for each in answer.unreal[:1]:
        yield (
            f"a bound: {goal.said} {_said(goal, each)} with {listed(each.point.bounds)}, which no "
            "drive can have"
        )


def _loss(share: float | None) -> str:
    if share is None:
        return "meets no bounds"
    return f"{100 * share:.2g} %" if share < 1 else f"× {1 + share:.3g}"


def _said(what: Field, tried: Tried) -> str:
    found = estimate(what, tried)
    if found.low is None or found.high is None or found.low == found.high:
        return what.show(found.mean)
    return f"{what.show(found.mean)} ({what.show(found.low)} to {what.show(found.high)})"
