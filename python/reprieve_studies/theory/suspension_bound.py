"""A lower bound on the suspensions per second of one die whose writes always wait, by duality.

In a clock that stops while reads are served 1 - load of all time passes, as the die never idles.
Let h(work left, reads waiting, urgency) be at most the mean of suspensions + price * late reads -
gain * clock until the program ends, for any policy; urgency is the largest age + i * `read_us` of
the i-th waiting read, and all can be in time only if it is small when their service starts.
If h >= 0 at the start of a program, weak duality gives suspensions >= gain * (1 - load) - price *
late reads, per unit of time, whatever a policy remembers.
Each step of work is a relaxation: its reads come at its end, aged 0, and the policy either plans
a suspension, which serves them too, unless a read comes first, or none; once a read has come, it
knows those of the whole step; urgencies are those at the start of the step.
A suspension or the end of the program serves all that wait and all that come meanwhile, of which
the mean number of late ones is charged, in order of arrival and in steps that favour the policy.
If the urgency is too large, one read is late: it is charged and leaves, and the others count as
just come; a policy may choose so at any time, and reads beyond `_most` leave unpaid.
All of this helps the policy, as h rises with reads and urgency, by induction from the end.
More suspensions in a step are covered, as h is at most the cost of one + the mean of h after it.
It fails if arrivals are not Poisson, reads differ in length, the die idles on purpose, the policy
knows the future or, with `in_order`, if it lets reads overtake or resumes while reads wait.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from reprieve import Decision, OperationView, SuspensionPolicy

Floats = NDArray[np.float64]
_NS = 1000
_TERMS_MAX, _TERM_MAX = 8_000, 20
"""Terms of a sum, and the largest of them, in prices."""
_ROUNDING = 2e-11
"""In prices: each step lowers h by more than such a sum is off, 8,000 * 20 * 2^-53."""
_PRICES = (0.5, 1000.0)
_ARRIVALS_MAX = 3
"""In a step; more count as this number."""


@dataclass(frozen=True)
class Die:
    """A die, its load and what is asked of it; times in µs, the rate per µs."""

    read_us: float = 60.0
    program_us: float = 1000.0
    entry_us: float = 20.0
    resume_us: float = 50.0
    read_load: float = 0.3
    slo_us: float = 500.0

    @property
    def rate(self) -> float:
        """Reads per µs."""
        return self.read_load / self.read_us


@dataclass(frozen=True)
class Relaxation:
    """The die in steps of `step_us`, which has to divide the time of a program."""

    die: Die
    step_us: float = 5.0
    in_order: bool = True
    """Whether reads are served in order of arrival, and all of them before the program resumes;
    else late reads among those that come during a suspension are free."""

    def _steps(self, time_us: float) -> int:
        return math.floor(time_us / self.step_us + 1e-9)

    @cached_property
    def _read(self) -> int:
        return self._steps(self.die.read_us)

    @cached_property
    def _late(self) -> int:
        """The least urgency, in steps, with which a read is late even if it is served at once."""
        return self._steps(self.die.slo_us - self.die.read_us) + 1

    @cached_property
    def _last(self) -> int:
        """The largest urgency with which a suspension still serves all in time."""
        return self._steps(self.die.slo_us - self.die.read_us - self.die.entry_us)

    @cached_property
    def _most(self) -> int:
        """The number of waiting reads that are distinguished."""
        return self._last // max(self._read, 1) + 2

    @cached_property
    def _chances(self) -> Sequence[float]:
        """Probabilities of arrivals in a step, by their number."""
        mean = self.die.rate * self.step_us
        few = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(_ARRIVALS_MAX)]
        return [*few, 1 - sum(few)]

    @cached_property
    def _next(self) -> Sequence[NDArray[np.intp]]:
        """The state a step later by the present one, for each number of arrivals."""
        reads = np.arange(self._most + 1)[:, None]
        older = np.where(reads > 0, np.arange(self._late + 1) + 1, 0)
        found = []
        for k in range(_ARRIVALS_MAX + 1):
            after = np.minimum(reads + k, self._most)
            urgency = np.maximum(older, (after - 1) * self._read if k else 0)
            found.append(after * (self._late + 1) + np.minimum(urgency, self._late))
        return found

    @cached_property
    def _resumed(self) -> tuple[NDArray[np.intp], Floats]:
        """States when a program goes on after a suspension, and their probabilities."""
        states = np.zeros((self._most + 1) * (self._late + 1))
        states[0] = 1
        for _ in range(self._steps(self.die.resume_us)):
            pushed = np.zeros(len(states))
            for chance, after in zip(self._chances, self._next, strict=True):
                pushed += np.bincount(after.ravel(), chance * states, len(states))
            states = pushed
        (at,) = np.nonzero(states)
        return at, states[at]

    @cached_property
    def _late_newcomers(self) -> Floats:
        """Mean number of late reads among those that come within a number of steps of work."""
        slo = self._steps(self.die.slo_us)
        size = 2 * slo + 4 * self._read
        left = np.maximum(np.arange(size) - 1, 0)
        after = [left + k * self._read for k in range(_ARRIVALS_MAX + 1)]
        late = np.cumsum([np.zeros(size), *((each > slo) * 1.0 for each in after[1:])], axis=0)
        found = np.zeros(size)
        # Every round is a lower bound, and the next is larger.
        for _ in range(2 * size if self.in_order else 0):
            rounds = (p * (late[k] + found[np.minimum(after[k], size - 1)])
                      for k, p in enumerate(self._chances))  # fmt: skip
            found = np.sum(list(rounds), axis=0)
            found[:2] = 0
        return found

    def _risk(self, before_us: float) -> Floats:
        """Late newcomers of serving q reads after some time: [q, 1]."""
        work = self._steps(before_us) + np.arange(self._most + 1) * self._read
        found = self._late_newcomers[np.minimum(work, len(self._late_newcomers) - 1)]
        found[0] = 0
        return np.asarray(found)[:, None]

    def _drop(self, h: Floats, price: float) -> None:
        """Allow a late read to be paid and to leave, and demand it where one is late for sure."""
        for reads in range(1, self._most + 1):
            behind = min(max(reads - 2, 0) * self._read, self._late)
            lost = price + h[reads - 1, behind]
            h[reads] = np.minimum(h[reads], lost)
            h[reads, self._late] = lost

    def value(self, price: float, gain: float) -> tuple[float, NDArray[np.bool_]]:
        """Return h at the start of a program, and where it suspends, by steps of work left.

        `gain` is in suspensions per µs of the clock, `price` in suspensions.
        """
        die, shape, rounding = self.die, (self._most + 1, self._late + 1), _ROUNDING * max(price, 1)
        work = round(die.program_us / self.step_us)
        assert math.isclose(work * self.step_us, die.program_us), "steps divide a program"
        at, chances = self._resumed
        cost = 1 - gain * (die.entry_us + die.resume_us) + price * self._risk(die.entry_us)
        is_in_time = np.arange(shape[1]) <= self._last
        one_more = np.where(is_in_time, np.vstack([cost[1:], cost[-1:]]), np.inf)
        cost = np.where(is_in_time & (np.arange(shape[0]) > 0)[:, None], cost, np.inf)
        h = np.zeros(shape) + price * self._risk(0.0)
        for each in (cost, one_more, h):
            self._drop(each, price)
        mean = self._after(h.ravel()[at], cost.ravel()[at], chances, rounding)
        actions = np.zeros((work + 1, *shape), bool)
        none, *some = self._chances
        for left in range(1, work + 1):
            alone, *joined = (h.ravel()[after] for after in self._next)
            planned, reacted = cost + mean, one_more + mean
            plan, wait = none * planned, none * alone
            for chance, each in zip(some, joined, strict=True):
                plan += chance * np.minimum(each, planned)
                wait += chance * np.minimum(each, reacted)
            actions[left] = plan < wait
            h = np.minimum(plan, wait) - gain * self.step_us - rounding
            self._drop(h, price)
            mean = self._after(h.ravel()[at], cost.ravel()[at], chances, rounding)
            h = np.minimum(h, cost + mean)
            assert abs(h).max() < _TERM_MAX * max(price, 1), "rounding errors are as assumed"
        assert len(at) <= _TERMS_MAX, "rounding errors are as assumed"
        return float(h[0, 0]), actions

    @staticmethod
    def _after(h: Floats, cost: Floats, chances: Floats, rounding: float) -> float:
        """Return no more than the mean of h after a suspension, which may be suspended again."""
        mean = float(chances @ h)
        while (found := float(chances @ np.minimum(h, cost + mean))) - rounding < mean:
            mean = found - 2 * rounding
        return mean

    def gain(self, price: float) -> float:
        """Return a gain, in suspensions per µs of the clock, for which h >= 0 at the start."""
        # Takes long to import, which every other study would take too.
        from scipy.optimize import brentq

        die = self.die
        # A larger gain would make a suspension worth something.
        overhead_us = max(die.entry_us + die.resume_us, 1e-9)
        most = min(price * die.rate / (1 - die.read_load), 1 / overhead_us)
        if self.value(price, 0)[0] <= 0:
            return 0.0
        if self.value(price, most)[0] >= 0:
            return most
        root = float(brentq(lambda gain: self.value(price, gain)[0], 0, most, xtol=1e-9 * most))
        while self.value(price, root)[0] < 0:
            root -= 1e-9 * most
        return root

    def per_s(self, late_share: float, price: float) -> float:
        """Return suspensions a second below which no policy has so small a share of late reads."""
        of_late = price * late_share * self.die.rate
        return max(0.0, 1e6 * (self.gain(price) * (1 - self.die.read_load) - of_late))

    def best_price(self, late_share: float) -> float:
        """Return the price that makes `per_s` about as large as it gets."""
        from scipy.optimize import minimize_scalar

        low, high = map(math.log, _PRICES)
        found = minimize_scalar(
            lambda at: -self.per_s(late_share, math.exp(at)), bounds=(low, high), method="bounded",
            options={"xatol": 0.01},
        )  # fmt: skip
        return math.exp(found.x)


@cache
def waits(die: Die, step_us: float, price: float) -> NDArray[np.int32]:
    """Return steps until a suspension if no read comes, -1 for none.

    By steps that remain, reads that wait, urgency; for an objective shorter by two steps.
    """
    relaxed = Relaxation(replace(die, slo_us=die.slo_us - 2 * step_us), step_us)
    _, actions = relaxed.value(price, relaxed.gain(price))
    found = np.full(actions.shape, -1, np.int32)
    for left in range(1, len(actions)):
        later = np.concatenate([found[left - 1][:, 1:], found[left - 1][:, -1:]], axis=1)
        found[left] = np.where(later < 0, -1, later + 1)
        found[left][actions[left]] = 0
    return found


class FromRelaxation(SuspensionPolicy):
    """The policy of a relaxation, solved once it is needed."""

    def __init__(self, die: Die, step_us: float, price: float) -> None:
        self._solved = (die, step_us, price)
        self._step_ns = round(step_us * _NS)
        self._read_ns = round(die.read_us * _NS)
        self._lost_ns = round((die.slo_us - die.read_us) * _NS)

    def __str__(self) -> str:
        """Return its identity."""
        return f" by {self._solved}"

    def decide(self, view: OperationView) -> Decision | int:
        """Suspend where the solution does, or ask again when it would."""
        if view.is_suspended:
            return Decision.LEAVE
        arrivals = view.read_arrivals_ns
        urgencies = [
            view.now_ns - came + place * self._read_ns for place, came in enumerate(arrivals)
        ]
        # A read that is late whatever is done urges no more.
        urgency = max((each for each in urgencies if each <= self._lost_ns), default=None)
        if urgency is None:
            return Decision.LEAVE
        table = waits(*self._solved)
        left, most, oldest = (size - 1 for size in table.shape)
        remaining = min(left, -(-view.remaining_ns // self._step_ns))
        place = min(most, len(arrivals)), min(oldest, urgency // self._step_ns)
        steps = int(table[(remaining, *place)])
        if steps < 0:
            return Decision.LEAVE
        return Decision.SUSPEND if steps == 0 else view.now_ns + steps * self._step_ns
