"""A die with reads, programs and suspension, event by event: a second method for closed forms."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reprieve_studies.theory.formulas import Suspension


@dataclass
class Played:
    """Results by hand."""

    read_waits: list[float] = field(default_factory=list)
    completions: list[float] = field(default_factory=list)
    write_latencies: list[float] = field(default_factory=list)
    suspensions: int = 0


def play(model: Suspension, reads: int, seed: int) -> Played:
    """Play so many reads and the writes that come meanwhile; operations stop at any instant."""
    generator = np.random.default_rng(seed)
    read_at = np.cumsum(generator.exponential(1 / model.reads.rate, reads)).tolist()
    writes = int(read_at[-1] * model.writes.rate)
    write_at = np.cumsum(generator.exponential(1 / model.writes.rate, writes)).tolist()
    out, now, read, write = Played(), 0.0, 0, 0
    left, start, restoring = 0.0, 0.0, False
    while read < reads and (left > 0 or write < writes):
        if read_at[read] <= now:
            out.read_waits.append(now - read_at[read])
            now, read = now + model.reads.service, read + 1
        elif left == 0 and write_at[write] > now:
            now = min(read_at[read], write_at[write])
        elif left == 0:
            left, start, write = model.writes.service, now, write + 1
        elif restoring:
            arrival, end = read_at[read], now + model.restore
            if arrival < end:
                now = end if model.atomic else arrival + model.entry_of_restore
                out.suspensions += 1
            else:
                now, restoring = end, False
        elif read_at[read] < now + left:
            left -= read_at[read] - now
            now, restoring = read_at[read] + model.entry, True
            out.suspensions += 1
        else:
            now, left = now + left, 0.0
            out.completions.append(now - start)
            out.write_latencies.append(now - write_at[write - 1])
    return out
