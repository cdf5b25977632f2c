"""One die as an average-cost semi-Markov decision process on a grid, solved by backward induction.

State while a program works, in steps of the grid: what remains of it, how many reads wait, and the
highest urgency among them, which is a read's age and the time of those before it. Urgencies of the
others are taken to be uniform below that. Actions: suspend and serve all, or leave. Reads that come
while others are served are counted by their expectation. Writes always wait, so a new program is a
renewal. The gain is found by Dinkelbach's iteration, and the constraint on late reads by a
multiplier.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reprieve import Decision, OperationView, SuspensionPolicy

_NS = 1000
Floats = NDArray[np.float64]
_ITERATIONS = 40
_EXACT = 1e-9


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
class Solved:
    """A policy, and what the grid expects of it."""

    wait_steps: NDArray[np.int32]
    """By steps that remain, reads that wait, urgency: steps until a suspension; −1: none."""
    suspensions_per_s: float
    late_share: float
    programs_per_s: float
    residual: float
    """Value of a renewal at the gain found, in suspensions; 0 at a solution."""


@dataclass(frozen=True)
class Grid:
    """The process; `step_us` has to divide the times of the die for them to be exact."""

    die: Die
    step_us: float = 10.0

    @property
    def _arrivals(self) -> Floats:
        mean = self.die.rate * self.step_us
        terms = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(4)]
        return np.array([*terms[:-1], 1 - sum(terms[:-1])])

    @property
    def _most(self) -> int:
        """Largest number of reads that is distinguished; more count as this number."""
        return math.ceil(self.die.slo_us / self.die.read_us) + 8

    @property
    def _oldest(self) -> int:
        """Number of steps of urgency that are distinguished."""
        return math.ceil(1.3 * self.die.slo_us / self.step_us)

    def _late_after(self, wait: float) -> Floats:
        """Return the expected late ones of q reads with an urgency of a, free after `wait`: [q, a].

        The most urgent is late or not; the others' urgencies are taken to be uniform below it.
        """
        urgency = (np.arange(self._oldest + 1) + 0.5) * self.step_us
        in_time = self.die.slo_us - wait - self.die.read_us
        others = np.arange(self._most + 1)[:, None] - 1
        late = (urgency > in_time) + others * np.clip(1 - in_time / urgency, 0, 1)
        late[0] = 0
        return np.asarray(late)

    def _joined(self, number: int) -> NDArray[np.int64]:
        """Urgency in steps a step later, if a read has come as the last of `number`: [a]."""
        older = np.minimum(np.arange(self._oldest + 1) + 1, self._oldest)
        behind = round((number - 1) * self.die.read_us / self.step_us)
        return np.maximum(older, min(behind, self._oldest))

    @cached_property
    def _late_newcomers(self) -> Floats:
        """Expected late reads among those that come until the work is done, by steps of work."""
        die, arrivals = self.die, self._arrivals
        size = math.ceil(3 * die.slo_us / self.step_us)
        jump = round(die.read_us / self.step_us)
        matrix, known = np.eye(size), np.zeros(size)
        for work in range(1, size):
            known[work] = die.rate * self.step_us * (work * self.step_us + die.read_us > die.slo_us)
            for k, share in enumerate(arrivals):
                after = min(size - 1, work - 1 + k * jump)
                if after > 0:
                    matrix[work, after] -= share
        matrix[0], known[0] = np.eye(size)[0], 0
        return np.asarray(np.linalg.solve(matrix, known), np.float64)

    def _served(self, wait: float) -> Floats:
        """Late reads and time of serving all that wait: [late or time, q, a]."""
        die, q = self.die, np.arange(self._most + 1)
        work = wait + q * die.read_us
        steps = np.minimum(np.round(work / self.step_us), len(self._late_newcomers) - 1)
        late = self._late_after(wait) + self._late_newcomers[steps.astype(int)][:, None]
        late[0] = 0
        time = np.where(q > 0, work, 0) / (1 - die.read_load)
        return np.array([late, np.broadcast_to(time[:, None], late.shape)])

    @cached_property
    def _ended(self) -> Floats:
        return np.concatenate([np.zeros((1, *self._served(0)[0].shape)), self._served(0)])

    @cached_property
    def _stopped(self) -> Floats:
        stopped = np.concatenate(
            [np.ones((1, *self._ended[0].shape)), self._served(self.die.entry_us)]
        )
        stopped[2] += self.die.resume_us
        return stopped

    @cached_property
    def _after_resume(self) -> Floats:
        """Probabilities of the waiting reads when the operation resumes: [q, a]."""
        states = np.zeros((self._most + 1, self._oldest + 1))
        states[0, 0] = 1
        for _ in range(round(self.die.resume_us / self.step_us)):
            states = self._push(states)
        return states

    def _push(self, states: Floats) -> Floats:
        """Probabilities a step later."""
        pushed = np.zeros_like(states)
        for k, share in enumerate(self._arrivals):
            pushed[k, self._joined(k)[0] - 1 if k else 0] += share * states[0, 0]
            for q in range(1, self._most + 1):
                after = min(q + k, self._most)
                np.add.at(pushed[after], self._joined(after if k else 1), share * states[q])
        return pushed

    def _pull(self, values: Floats) -> Floats:
        """Return the expectation a step earlier, if the operation is left alone: [kind, q, a]."""
        pulled = np.zeros_like(values)
        for k, share in enumerate(self._arrivals):
            pulled[:, 0] += share * values[:, k, self._joined(k)[0] - 1 if k else 0][:, None]
            for q in range(1, self._most + 1):
                after = min(q + k, self._most)
                pulled[:, q] += share * values[:, after, self._joined(after if k else 1)]
        pulled[2] += self.step_us
        return pulled

    def _cycle(self, weights: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Suspensions, late reads and time of a program under the policy that is best for these."""
        values, actions = self._ended, [np.zeros(self._ended[0].shape, bool)]
        resumed = self._after_resume
        for _ in range(round(self.die.program_us / self.step_us)):
            left = self._pull(values)
            cost_left, cost_stopped = (np.tensordot(weights, v, 1) for v in (left, self._stopped))
            after = left.reshape(3, -1) @ resumed.ravel()
            for _ in range(_ITERATIONS):
                suspend = cost_stopped + weights @ after < cost_left - _EXACT
                suspend[0] = False
                known = np.where(suspend, self._stopped, left).reshape(3, -1) @ resumed.ravel()
                found = known / (1 - resumed[suspend].sum())
                settled = bool(np.allclose(found, after, rtol=1e-10, atol=0))
                after = found
                if settled:
                    break
            values = np.where(suspend, self._stopped + after[:, None, None], left)
            actions.append(suspend)
        return values[:, 0, 0], np.array(actions)

    def solve(self, price: float) -> Solved:
        """Return the best policy if a late read costs as much as `price` suspensions."""
        gain = 0.0
        for _ in range(_ITERATIONS):
            weights = np.array([1.0, price, -gain])
            cycle, actions = self._cycle(weights)
            residual = float(weights @ cycle)
            gain = float(cycle[0] + price * cycle[1]) / float(cycle[2])
            if abs(residual) < _EXACT:
                break
        wait = np.full(actions.shape, -1, np.int32)
        for left in range(len(actions)):
            if left:
                later = np.concatenate([wait[left - 1][:, 1:], wait[left - 1][:, -1:]], axis=1)
                wait[left] = np.where(later < 0, -1, later + 1)
            wait[left][actions[left]] = 0
        suspensions, late, time = (float(each) for each in cycle)
        return Solved(
            wait, 1e6 * suspensions / time, late / time / self.die.rate, 1e6 / time, residual
        )


class FromGrid(SuspensionPolicy):
    """The policy of a solution."""

    def __init__(self, grid: Grid, solved: Solved) -> None:
        self._step_ns = round(grid.step_us * _NS)
        self._wait = solved.wait_steps
        self._read_ns = round(grid.die.read_us * _NS)
        self._lost_ns = round((grid.die.slo_us - grid.die.read_us) * _NS)

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
        left, most, oldest = (size - 1 for size in self._wait.shape)
        steps = int(
            self._wait[
                min(left, -(-view.remaining_ns // self._step_ns)),
                min(most, len(arrivals)),
                min(oldest, urgency // self._step_ns),
            ]
        )
        if steps < 0:
            return Decision.LEAVE
        return Decision.SUSPEND if steps == 0 else view.now_ns + steps * self._step_ns
