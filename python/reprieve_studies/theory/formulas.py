"""Closed forms of queueing theory: times in µs, rates per µs, services of constant length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Class(NamedTuple):
    """A class of Poisson arrivals with a service of constant length."""

    rate: float
    service: float

    @property
    def load(self) -> float:
        """Share of the server's time that it takes."""
        return self.rate * self.service


def with_load(load: float, service: float) -> Class:
    """Return the class that takes this share of a server's time."""
    return Class(load / service, service)


def residual(classes: Sequence[Class]) -> float:
    """Mean work in service that an arrival finds: W₀ = Σ λE[S²]/2."""
    return sum(each.rate * each.service**2 for each in classes) / 2


def fifo_wait(*classes: Class) -> float:
    """Mean wait at an M/G/1 server in order of arrival (Pollaczek and Khinchine)."""
    return residual(classes) / (1 - sum(each.load for each in classes))


def cobham_waits(first: Class, second: Class) -> tuple[float, float]:
    """Mean waits of two classes of which the first goes first, without preemption (Cobham)."""
    before = residual([first, second]) / (1 - first.load)
    return before, before / (1 - first.load - second.load)


def preemptive_latency(first: Class, second: Class) -> float:
    """Mean latency of the class that is preempted and goes on where it was (preemptive-resume)."""
    idle = 1 - first.load
    wait = residual([first, second]) / (idle * (idle - second.load))
    return second.service / idle + wait


def set_up_wait(reads: Class, mean: float, square: float) -> float:
    """Mean wait at an M/G/1 server whose busy periods begin with a set-up of these moments."""
    set_up = (2 * mean + reads.rate * square) / (2 * (1 + reads.rate * mean))
    return fifo_wait(reads) + set_up


def busy_period(reads: Class, set_up: float = 0.0) -> float:
    """Mean time until no read is left, from one that first waits for `set_up`."""
    return (set_up + reads.service) / (1 - reads.load)


def remainder(rate: float, length: float) -> tuple[float, float]:
    """Mean and mean square of what is left of an interval when it sees its first Poisson arrival.

    Integrals of (length − u)ⁿ · rate · e^(−rate·u) by parts, over the probability of an arrival.
    """
    if length == 0:
        return 0.0, 0.0
    some = -math.expm1(-rate * length)
    mean = length - some / rate
    square = length**2 - 2 / rate * mean
    return mean / some, square / some


@dataclass(frozen=True)
class Suspension:
    """Programs or erases that reads suspend, at a cost when they stop and when they go on.

    An operation stops at the end of one of its equal phases, `entry` later the array is free. It
    goes on after `restore`. A read during the restore waits for its end (atomic), or breaks it off
    and waits `entry_of_restore`; then all of the restore is to be done again.
    """

    reads: Class
    writes: Class
    phases: int
    entry: float = 0.0
    restore: float = 0.0
    atomic: bool = True
    entry_of_restore: float = 0.0

    @property
    def _from_work(self) -> float:
        """Suspensions of an operation while it works: one for each phase with a read, but the last.

        A read in the last phase finds that the operation ends on its own.
        """
        phase = self.writes.service / self.phases
        return (self.phases - 1) * -math.expm1(-self.reads.rate * phase)

    @property
    def _restores(self) -> float:
        """Restores, started or complete, for each suspension from work: until one sees no read."""
        return math.exp(self.reads.rate * self.restore)

    def suspensions(self) -> float:
        """Mean number of suspensions of an operation."""
        return self._from_work * self._restores

    def share(self) -> float:
        """Share of operations that are suspended at least once."""
        phase = self.writes.service / self.phases
        return -math.expm1(-self.reads.rate * (self.writes.service - phase))

    def completion(self) -> float:
        """Mean time of an operation from its start to its end."""
        left, _ = remainder(self.reads.rate, self.writes.service / self.phases)
        # The rest of the phase is work, not delay.
        stopped = busy_period(self.reads, left + self.entry) - left
        if self.atomic:
            # Of each restore its own length, and the reads that came meanwhile.
            going_on = self._restores * self.restore / (1 - self.reads.load)
        else:
            broken_off = busy_period(self.reads, self.entry_of_restore)
            going_on = (self._restores - 1) * (1 / self.reads.rate + broken_off)
        return self.writes.service + self._from_work * (stopped + going_on)

    def read_wait(self) -> float:
        """Mean wait of a read: an M/G/1 queue with a set-up when it finds an operation."""
        rate = self.reads.rate
        x, x2 = remainder(rate, self.writes.service / self.phases)
        # In the last phase no entry is paid.
        entry, entry2 = (self.entry**n * (1 - 1 / self.phases) for n in (1, 2))
        at_work = x + entry, x2 + 2 * x * entry + entry2
        at_restore = remainder(rate, self.restore)
        if not self.atomic:
            at_restore = self.entry_of_restore, self.entry_of_restore**2
        # Time without any read, of each operation: at work, and restoring.
        working = self.writes.service - self._from_work * x
        restoring = self._from_work * (self._restores - 1) / rate
        shares = self.writes.rate * working, self.writes.rate * restoring
        # The share of time without reads depends on the set-up, which depends on it.
        sums = [
            sum(share * moment for share, moment in zip(shares, moments, strict=True))
            for moments in zip(at_work, at_restore, strict=True)
        ]
        known = sums[0] / (1 - self.reads.load)
        mean = known / (1 - rate * known)
        without_reads = (1 - self.reads.load) / (1 + rate * mean)
        return set_up_wait(self.reads, mean, sums[1] / without_reads)


def repeat_completion(length: float, busy: float, rate: float, segments: int = 1) -> float:
    """Mean time of an operation that a read throws back to the start of its segment."""
    return segments * math.expm1(rate * length / segments) * (1 / rate + busy)


def phase_wait(pulse: float, verify: float) -> float:
    """Mean rest of the phase in progress: equation 1 of Wu and He, FAST 2012."""
    return (pulse**2 + verify**2) / (2 * (pulse + verify))


def cancel_wait(pulse: float, verify: float, reset: float) -> float:
    """Mean wait for a cancelled phase whose last `reset` is its voltage reset."""
    waits = (length * (reset - reset**2 / (2 * length)) for length in (pulse, verify))
    return sum(waits) / (pulse + verify)


def closed_throughput(stations: int, depth: float, service: float) -> float:
    """Throughput of a closed network of equal exponential stations (mean value analysis)."""
    return stations / service * depth / (stations + depth - 1)


def channel_share(dies: float, transfer: float, program: float) -> float:
    """Share of time that a channel carries data into dies that program all the time."""
    return min(1.0, dies * transfer / (transfer + program))
