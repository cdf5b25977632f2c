"""Other local minima: the number of iterations traded against the cost of a suspension.

A read that meets a program waits for the end of an iteration, and then for the suspension. Few
long iterations with a cheap suspension and many short ones with an expensive suspension fit nearly
all reads alike, and points between them fit worse: least squares ends in the minimum in which it
starts.
"""

from collections.abc import Sequence

from reprieve.calibration.least_squares import number
from reprieve.calibration.parameters import OVERHEAD, PROGRAM, STEPS, Parameter, Value

_SHARES = (0.6, 0.75, 0.87, 1.15, 1.3, 1.5, 1.8)
"""Other numbers of iterations, as multiples of the fitted one."""


def other_minima(values: dict[str, Value], free: Sequence[Parameter]) -> list[dict[str, Value]]:
    """Return points at which the longest iteration and its suspension take as long together.

    None where the iterations of a program or the cost of its suspension are not free.
    """
    ranges = {each.key: each for each in free}
    if not {STEPS, OVERHEAD} <= ranges.keys():
        return []
    total_us, steps, cost_us = (number(values[key]) for key in (PROGRAM, STEPS, OVERHEAD))
    together_us = total_us / steps + cost_us
    found: list[dict[str, Value]] = []
    for other in dict.fromkeys(float(round(steps * share)) for share in _SHARES):
        if other == steps or not _holds(ranges[STEPS], other):
            continue
        other_us = together_us - total_us / other
        if _holds(ranges[OVERHEAD], other_us):
            found.append(values | {STEPS: other, OVERHEAD: other_us})
    return found


def _holds(parameter: Parameter, value: float) -> bool:
    return parameter.low <= value <= parameter.high
