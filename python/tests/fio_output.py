"""Runs on a simulated drive as fio would print them, so that a calibration has a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.parameters import Values
from reprieve.calibration.replay import Effort, logged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
_NOWHERE = Path()
_BINS = 64
"""Of fio's histogram, to a power of two."""


def in_bin(value_ns: float) -> int:
    """Return what fio says of a latency: the middle of the bin of its histogram."""
    whole = int(value_ns)
    width = 1 << max(whole.bit_length() - _BINS.bit_length(), 0)
    return whole // width * width + width // 2 if width > 1 else whole


def measure(
    name: str,
    jobs: Sequence[tuple[str, Mapping[str, str]]],
    base: Any,
    values: Values,
    effort: Effort,
    iops: float,
) -> dict[str, Any]:
    """Run jobs of fio on a simulated drive, and return fio's JSON of it.

    `iops`: about how many requests a second the fastest job will do, from which the time follows.
    """
    guess = {"read": Measured(1, iops, "lat", {50.0: 1.0}, 1.0, 1.0, 1.0)}
    asked = Condition(name, _NOWHERE, "", tuple(Job(job, dict(o), guess) for job, o in jobs))
    drives = FilledDrives()
    try:
        log, runtime_s = logged(asked, base, values, effort, drives)
    finally:
        drives.close()
    return {
        "fio version": "fio-3.32",
        "global options": {},
        "jobs": [
            {
                "jobname": job,
                "error": 0,
                "job options": dict(options),
                **{
                    direction: _direction(log.get((number, direction)), runtime_s)
                    for direction in ("read", "write")
                },
            }
            for number, (job, options) in enumerate(jobs)
        ],
    }


def _direction(latency_ns: NDArray[np.int64] | None, runtime_s: float) -> dict[str, Any]:
    import numpy as np

    if latency_ns is None or not len(latency_ns):
        return {"total_ios": 0}
    values = np.percentile(latency_ns, PERCENTILES, method="inverted_cdf")
    percentiles = {
        f"{percent:.6f}": in_bin(value) for percent, value in zip(PERCENTILES, values, strict=True)
    }
    figures = {
        "min": int(latency_ns.min()),
        "max": int(latency_ns.max()),
        "mean": float(latency_ns.mean()),
        "stddev": float(latency_ns.std()) if len(latency_ns) > 1 else 0.0,
        "N": len(latency_ns),
        "percentile": percentiles,
    }
    count = len(latency_ns)
    return {"total_ios": count, "iops": count / runtime_s, "lat_ns": figures}
