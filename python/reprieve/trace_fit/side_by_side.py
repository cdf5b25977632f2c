"""A trace and a load beside each other: how their requests follow one another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reprieve.trace_fit.order import LAGS, SCALES, Order

_WORDS = {
    "requests": "requests",
    "read_share": "share of reads",
    "rate_iops": "requests a second",
    "read_size_bytes": "mean read, bytes",
    "write_size_bytes": "mean write, bytes",
    "read_same_size": "reads of the size of the read before",
    "write_same_size": "writes of the size of the write before",
    "read_large_after_large": "reads of 32 KiB or more, the next one too",
    "write_large_after_large": "writes of 32 KiB or more, the next one too",
    "mean_run": "one operation in a row",
    "simultaneous_share": "share that arrives together with the one before",
}


@dataclass(frozen=True)
class Line:
    """A property of the requests; None where there are too few to tell."""

    what: str
    trace: float | None
    load: float | None
    """Mean over the draws of the load."""
    low: float | None
    """Least of the draws."""
    high: float | None


def side_by_side(trace: Order, draws: Sequence[Order]) -> list[Line]:
    """Return each property of a trace, and of a load that was drawn several times."""
    of_draws = [_values(draw) for draw in draws]
    lines = []
    for what, value in _values(trace).items():
        found = [each[what] for each in of_draws]
        known = [each for each in found if each is not None]
        if known:
            lines.append(Line(what, value, float(np.mean(known)), min(known), max(known)))
        else:
            lines.append(Line(what, value, None, None, None))
    return lines


def _values(found: Order) -> dict[str, float | None]:
    values: dict[str, float | None] = {
        words: getattr(found, name) for name, words in _WORDS.items()
    }
    for operation in ("read", "write"):
        for scale in SCALES:
            by_scale = getattr(found, f"{operation}_dispersion")
            values[f"dispersion of {operation}s over {scale} gaps"] = by_scale[scale]
    for lag in LAGS:
        values[f"autocorrelation of reads, lag {lag}"] = found.read_autocorrelation[lag]
    for lag in LAGS:
        values[f"autocorrelation of writes, lag {lag}"] = found.write_autocorrelation[lag]
    for lag in (0, *LAGS):
        values[f"correlation of reads and writes, lag {lag}"] = found.cross_correlation[lag]
    return values
