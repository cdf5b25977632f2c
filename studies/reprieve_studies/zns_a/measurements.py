"""Measurements of the drive: those that are fitted, and the limits for the others.

The split and the limits were written down before the first fit. When the mechanisms of the model
were chosen, all the measurements had been looked at.
"""

from collections.abc import Sequence
from importlib.resources import as_file, files

from reprieve.calibration import Condition, read_results

FITTED = (
    *(f"mixed-nvme-write{rate}-qd{depth}" for rate in (0, 10, 250, 1000) for depth in (1, 8, 64)),
    "mixed-nvme-write0-qd256",
    *(f"randread-16384-qd{depth}" for depth in (1, 16, 256)),
)
"""The conventional namespace at three depths, deep reads, and reads of 16 KiB."""

MEDIAN_MAX = 0.05
"""Of the errors of p50, p90 and p99 of what was not fitted, half are to be at most this."""
NINE_TENTHS_MAX = 0.15
"""And nine tenths at most this."""
P99_9_MAX = 0.25
"""Of those of p99.9, nine tenths."""


def measurements() -> tuple[list[Condition], list[Condition]]:
    """Return the runs of fio that are fitted, and those that are predicted."""
    with as_file(files("reprieve_studies.zns_a") / "data") as folder:
        found = read_results(sorted(folder.glob("*.json")))
    fitted = [condition for condition in found if condition.name in FITTED]
    held = [condition for condition in found if condition.name not in FITTED]
    return fitted, held


def conventional(conditions: Sequence[Condition]) -> list[Condition]:
    """Return those of the conventional namespace."""
    return [each for each in conditions if each.name.startswith("mixed-nvme")]


def zoned(conditions: Sequence[Condition]) -> list[Condition]:
    """Return those of the zoned namespace."""
    return [each for each in conditions if not each.name.startswith("mixed-nvme")]
