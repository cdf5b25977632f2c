"""Closed loads: throughput of dies by the number of outstanding reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reprieve.tables import Table
from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.tables import scenario
from reprieve_studies.theory.formulas import closed_throughput
from reprieve_studies.theory.models import Drive, Floats, times_ns

_DIES = 16
_READ_US = 30.0


def at(law: str, depth: float, requests: int = 0) -> Point:
    """Return the mean time between two completions: one over the throughput, or its bound."""
    keys: dict[str, Any] = {"workload.requests": requests, "workload.queue_depth": depth}
    between_us = _READ_US / min(depth, _DIES)
    if law == "exponential":
        keys["timing.read_law"] = law
        between_us = 1 / closed_throughput(_DIES, depth, _READ_US)
    return {"between": between_us}, Drive(scenario("closed", keys), _gaps)


def _gaps(log: Table) -> Mapping[str, Floats]:
    # Gaps between the pieces of a log are left out: a few hundred of a million.
    return {"between": np.diff(times_ns(log, "completion_ns")) / 1e3}
