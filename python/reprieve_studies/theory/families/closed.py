"""Closed loads: throughput of dies by the number of outstanding reads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reprieve.tables import Table
from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.formulas import closed_throughput
from reprieve_studies.theory.models import Drive, Floats, spread, times_ns
from reprieve_studies.verdicts import AT_LEAST

_DIES = 16
_READ_US = 30.0
_EXPONENTIAL = "exponential tR"
_FIXED = "constant tR"
_MVA = "mean value analysis: X = Nμ·Q/(N + Q − 1)"
_BOUND = "asymptotic bounds: X ≤ min(Q, N)/D"


def _between_us(depth: int) -> float:
    """Mean time between two completions: one over the throughput."""
    return 1 / closed_throughput(_DIES, depth, _READ_US)


def experiments(quick: bool) -> Sequence[Experiment]:
    """Depths from 1 to eight times the dies."""
    depths = (4, 32) if quick else (1, 2, 4, 8, 16, 32, 64, 128)
    number = 300_000 if quick else 2_000_000
    return [
        *(_exponential(depth, number) for depth in depths),
        *(_fixed(depth, number) for depth in depths),
    ]


def _exponential(depth: int, requests: int) -> Experiment:
    claim = f"mean time between completions, {depth} reads outstanding, {_EXPONENTIAL}"
    check = Check(claim, _between_us(depth), "µs", "between", _MVA, _EXPONENTIAL, depth)
    keys = {"timing.read_law": "exponential"}
    return Experiment(claim, Drive(_scenario(depth, requests, keys), _gaps), [check])


def _fixed(depth: int, requests: int) -> Experiment:
    claim = f"mean time between completions, {depth} reads outstanding, {_FIXED}"
    fewest = _READ_US / min(depth, _DIES)
    check = Check(claim, fewest, "µs", "between", _BOUND, _FIXED, depth, relation=AT_LEAST)
    return Experiment(claim, Drive(_scenario(depth, requests, {}), _gaps), [check])


def _scenario(depth: int, requests: int, keys: Mapping[str, Any]) -> dict[str, Any]:
    return spread(
        {
            "device": "fast12-slc",
            "policy": "fifo",
            "geometry.channels": _DIES,
            "geometry.planes_per_die": 1,
            "host.link_bytes_per_s": "none",
            "timing.t_bus_us": 0,
            "timing.t_read_us": _READ_US,
            "workload.generator": "mixed",
            "workload.requests": requests,
            "workload.read_fraction": 1.0,
            "workload.request_bytes": 2048,
            "workload.queue_depth": depth,
            **keys,
        }
    )


def _gaps(log: Table) -> Mapping[str, Floats]:
    # Gaps between the pieces of a log are left out: a few hundred of a million.
    return {"between": np.diff(times_ns(log, "completion_ns")) / 1e3}


def curves() -> Mapping[str, Curve]:
    """Theory and bound over the depth."""
    depths = range(1, 145)
    return {
        _EXPONENTIAL: [(float(depth), _between_us(depth)) for depth in depths],
        _FIXED: [(float(depth), _READ_US / min(depth, _DIES)) for depth in depths],
    }
