"""Reads that a policy holds back: their wait, from a Markov chain of the instants of going on.

A read that finds an operation at work is held until there are two reads, or it is as old as is
allowed, or the operation ends. Then all reads are served. There is no closed form, because what the
first read waits depends on how far the operation has come, and that on the reads before.
"""

import numpy as np
from numpy.typing import NDArray

from reprieve_studies.theory.formulas import Class
from reprieve_studies.theory.transforms import Points, Transform, arriving

Floats = NDArray[np.float64]


def first_reads(rate: float, held: Floats, phases: int, phase: float) -> Floats:
    """Return how many reads of an operation come, in each phase, where none waits: means.

    `held`: probability of each number of phases a read is held, unless the operation ends first.
    """
    some = -np.expm1(-rate * phase)
    # After a stretch without reads of k phases the first read comes in phase k.
    gap = some * np.exp(-rate * phase * np.arange(phases))
    # From one first read to the next: held, then a gap.
    step = np.convolve(held, gap)[:phases]
    expected = np.zeros(phases)
    for at in range(phases):
        expected[at] = gap[at] + expected[:at] @ step[at:0:-1]
    return expected


def read_wait(reads: Class, writes: Class, phases: int, pairs: bool, oldest: float) -> Transform:
    """Wait of a read that is held until it is `oldest` old, or, in `pairs`, until two wait.

    Suspension has no cost. A busy period of reads begins with those that were held; the transform
    is the sum over its reads of e^(−sW), over their number.
    """
    rate, phase = reads.rate, writes.service / phases
    most = round(oldest / phase)
    ends = np.arange(phases + 1)
    if pairs:
        held = np.exp(-rate * phase * ends) * -np.expm1(-rate * phase)
        held[most] = np.exp(-rate * phase * most)
        held[most + 1 :] = 0
    else:
        held = (ends == most).astype(float)
    begun = first_reads(rate, held, phases, phase)
    # In the middle of its phase, a read has so much of the operation before it.
    left = (phases - np.arange(phases) - 0.5) * phase
    limit = np.minimum(left, oldest)
    alone = np.exp(-rate * limit)
    expected = (2 - alone) if pairs else 1 + rate * limit
    at_work = writes.rate * float(begun @ expected)
    idle = rate * (1 - reads.load) - at_work  # Busy periods that begin at an idle die.

    begins, alone_begins = float(begun.sum()), begun * alone

    def delays(s: Points, weights: Floats) -> Points:
        """Σ weight·e^(−s·limit): Horner's scheme, since limits below the oldest are even steps."""
        even = limit < oldest
        step, total = np.exp(-s * phase), np.zeros_like(s)
        for weight in weights[even]:
            total = total * step + weight
        longest = np.exp(-s * oldest) * weights[~even].sum()
        return np.asarray(total * np.exp(-s * 0.5 * phase) + longest, np.complex128)

    def transform(s: Points) -> Points:
        below = s - arriving([reads], s)
        if not pairs:
            begun_here = (rate * begins - (rate - s) * delays(s, begun)) / below
        else:
            served = np.exp(-s * reads.service)
            single, singles = delays(s, alone_begins), float(alone_begins.sum())
            waits = single + rate / (s + rate) * (begins - single) + (begins - singles) * served
            work = singles * served + (begins - singles) * served**2
            begun_here = waits + rate * (begins - work) / below
        return np.asarray((idle * s / below + writes.rate * begun_here) / rate, np.complex128)

    return transform
