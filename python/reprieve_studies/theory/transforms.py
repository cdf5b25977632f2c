"""Distributions of waiting times: Laplace transforms, and their inversion by Abate and Whitt.

Times in µs, rates per µs. A transform takes an array of complex points and returns its values.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.formulas import Class

Points = NDArray[np.complex128]
Transform = Callable[[Points], Points]

# The discretisation error is e^(−_A), ten million times smaller than a p99.99 needs.
_A = 23.0
# Jumps and corners elsewhere leave ripples that only a long summation of Euler smooths away.
_TERMS = 6000
_EULER = 1000
_CLOSE = 1e-12
_EXACT = 1e-5
_STEPS = 60


def tail(transform: Transform, time: float) -> float:
    """P(W > time) of a non-negative W (Abate and Whitt 1995, the algorithm EULER)."""
    k = np.arange(_TERMS + _EULER + 1)
    s = np.asarray((_A + 2j * np.pi * k) / (2 * time), np.complex128)
    values = ((1 - transform(s)) / s).real * np.where(k % 2 == 0, 1.0, -1.0)
    values[0] /= 2
    sums = np.cumsum(values)[_TERMS:]
    return float(_weights() @ sums) * math.exp(_A / 2) / time


@cache
def _weights() -> NDArray[Any]:
    """Return those of Euler's summation; counting them takes longer than all else of `tail`."""
    # Counts of three hundred digits, which only Python's integers hold.
    counts = np.array([math.comb(_EULER, j) for j in range(_EULER + 1)], dtype=object)
    return counts / 2.0**_EULER


def percentile(transform: Transform, level: float, start: float = 1.0) -> float:
    """Smallest time that is exceeded with probability 1 − level, by regula falsi."""
    low, high = 0.0, start
    over_low, over_high = 1.0, _over(transform, high, level)
    while over_high > 0:
        low, over_low, high = high, over_high, 2 * high
        over_high = _over(transform, high, level)
    for _ in range(_STEPS):
        # Regula falsi that halves the side that stays (Illinois), within a share of the bracket.
        share = min(0.95, max(0.05, over_low / (over_low - over_high)))
        middle = low + share * (high - low)
        over = _over(transform, middle, level)
        if over > 0:
            low, over_low, over_high = middle, over, over_high / 2
        else:
            high, over_high, over_low = middle, over, over_low / 2
        if high - low < _EXACT * high:
            break
    return high


def _over(transform: Transform, time: float, level: float) -> float:
    """Logarithm of how many times too many are beyond."""
    return math.log(max(tail(transform, time), 1e-12) / (1 - level))


def slowed(reads: Class) -> Transform:
    """σ(s) = s + λ(1 − G(s)): time that stands still while there are reads (Takács 1962).

    Work that takes t alone takes a time of transform e^(−σt) if reads interrupt it. G is that
    of a busy period, G = e^(−(s + λ − λG)S), by repeated substitution: it contracts by ρ at least.
    """

    def sigma(s: Points) -> Points:
        busy = np.zeros_like(s)
        while True:
            after = np.exp(-(s + reads.rate * (1 - busy)) * reads.service)
            if float(np.abs(after - busy).max()) < _CLOSE:
                return s + reads.rate * (1 - after)
            busy = after

    return sigma


def arriving(classes: Sequence[Class], s: Points) -> Points:
    """Σ λ(1 − e^(−sS)): the exponent of the work that arrives."""
    total = np.zeros_like(s)
    for each in classes:
        total += each.rate * (1 - np.exp(-s * each.service))
    return total


def fifo(*classes: Class) -> Transform:
    """Wait at an M/G/1 server in order of arrival (Pollaczek and Khinchine)."""
    idle = 1 - sum(each.load for each in classes)
    return lambda s: idle * s / (s - arriving(classes, s))


def priority_first(first: Class, second: Class) -> Transform:
    """Wait of the class that goes first, without preemption (Takács, Jaiswal)."""
    idle = 1 - first.load - second.load
    return lambda s: (idle * s + arriving([second], s)) / (s - arriving([first], s))


def priority_second(first: Class, second: Class) -> Transform:
    """Wait of the other class until it is served first: all work there is, slowed by the first."""
    sigma, work = slowed(first), fifo(first, second)
    return lambda s: work(sigma(s))


def resumed(first: Class, second: Class) -> Transform:
    """Latency of a class that is preempted and goes on where it was (preemptive-resume)."""
    sigma, work = slowed(first), fifo(first, second)

    def transform(s: Points) -> Points:
        slow = sigma(s)
        return work(slow) * np.exp(-slow * second.service)

    return transform


@dataclass(frozen=True)
class Finding:
    """State that the first read of a busy period may find, and its wait there."""

    share: float
    """Share of all time that is without reads and in this state."""
    delay: Transform
    mean: float


def set_up(reads: Class, findings: Sequence[Finding]) -> Transform:
    """Wait of reads whose busy periods begin with a delay that depends on what is found.

    M/G/1 with set-up D (Welch 1964): (1−ρ)(λ − (λ−s)D(s)) / ((1 + λE[D])(s − λ + λS(s))). The
    share of time without reads is (1−ρ) / (1 + λE[D]), which gives the probability of each finding.
    """
    rate, idle = reads.rate, 1 - reads.load
    known = sum(each.share * each.mean for each in findings) / idle
    mean = known / (1 - rate * known)
    without = idle / (1 + rate * mean)

    def transform(s: Points) -> Points:
        delay = 1 - sum((each.share / without * (1 - each.delay(s)) for each in findings), 0 * s)
        above = idle * (rate - (rate - s) * delay)
        return above / ((1 + rate * mean) * (s - arriving([reads], s)))

    return transform


def rest(rate: float, length: float) -> Transform:
    """Return the rest of an interval of this length at its first Poisson arrival, if it has one."""
    some = -math.expm1(-rate * length)

    def transform(s: Points) -> Points:
        over = rate * (math.exp(-rate * length) - np.exp(-s * length))
        return over / ((s - rate) * some)

    return transform


@dataclass(frozen=True)
class Paused:
    """Operations of equal phases that reads suspend at a phase's end, and a restore that is atomic.

    A read that finds the operation within `kept` of its end lets it end.
    """

    reads: Class
    writes: Class
    phases: int
    entry: float = 0.0
    restore: float = 0.0
    kept: float = 0.0

    @property
    def _phase(self) -> float:
        return self.writes.service / self.phases

    @property
    def _stops(self) -> int:
        """Phases in which a read suspends: never in the last, nor in those that are kept."""
        return self.phases - max(1, math.floor(self.kept / self._phase + 1e-6))

    def read_wait(self) -> Transform:
        """Wait of a read: it finds work, the last part of the work, a restore, or nothing."""
        rate, phase = self.reads.rate, self._phase
        some = -math.expm1(-rate * phase)
        last = self.writes.service - self._stops * phase
        suspensions = self._stops * some
        restores = suspensions * math.exp(rate * self.restore)
        # Time without reads that an operation spends so: until the first read, or to the end.
        at_work = self.writes.rate * suspensions / rate
        at_last = self.writes.rate * -math.expm1(-rate * last) / rate
        at_restore = self.writes.rate * (restores - suspensions) / rate
        left, left_last = rest(rate, phase), rest(rate, last)
        found = [
            Finding(
                at_work,
                lambda s: left(s) * np.exp(-s * self.entry),
                phase / some - 1 / rate + self.entry,
            ),
            Finding(at_last, left_last, last / -math.expm1(-rate * last) - 1 / rate),
        ]
        if self.restore:
            mean = self.restore / -math.expm1(-rate * self.restore) - 1 / rate
            found.append(Finding(at_restore, rest(rate, self.restore), mean))
        return set_up(self.reads, found)

    def completion(self) -> Transform:
        """Time of an operation from its start to its end, pauses and resumes included.

        A phase has no read, or some: then the entry and the reads follow, and restores until one
        sees no read. Reads that come during a phase, an entry or a restore prolong what follows.
        """
        sigma, rate = slowed(self.reads), self.reads.rate
        last = self.writes.service - self._stops * self._phase

        def transform(s: Points) -> Points:
            slow, quiet = sigma(s), s + rate
            alone = np.exp(-quiet * self.restore)
            back = alone / (1 - np.exp(-slow * self.restore) + alone)
            undisturbed = np.exp(-quiet * self._phase)
            disturbed = np.exp(-slow * self._phase) - undisturbed
            each = undisturbed + disturbed * np.exp(-slow * self.entry) * back
            return np.asarray(each**self._stops * np.exp(-s * last), np.complex128)

        return transform
