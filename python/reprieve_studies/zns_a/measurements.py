"""Measurements of the drive: those that are fitted, and the limits for the others.

The split and the limits were written down before the first fit. When the mechanisms of the model
were chosen, all the measurements had been looked at.
"""

from collections.abc import Sequence

from reprieve.calibration import Condition
from reprieve.drives import load

MEDIAN_MAX = 0.05
"""Of the errors of p50, p90 and p99 of what was not fitted, half are to be at most this."""
NINE_TENTHS_MAX = 0.15
"""And nine tenths at most this."""
P99_9_MAX = 0.25
"""Of those of p99.9, nine tenths."""


def measurements() -> tuple[list[Condition], list[Condition]]:
    """Return the runs of fio that are fitted, and those that are predicted."""
    drive = load("zns-a")
    fitted, held = drive.fitted_conditions, drive.predicted_conditions
    return sorted(fitted, key=_name), sorted(held, key=_name)


def _name(condition: Condition) -> str:
    return condition.name


def conventional(conditions: Sequence[Condition]) -> list[Condition]:
    """Return those of the conventional namespace."""
    return [each for each in conditions if each.name.startswith("mixed-nvme")]


def zoned(conditions: Sequence[Condition]) -> list[Condition]:
    """Return those of the zoned namespace."""
    return [each for each in conditions if not each.name.startswith("mixed-nvme")]
