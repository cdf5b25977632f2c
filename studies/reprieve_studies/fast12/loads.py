"""The loads: twins of the paper's six traces, or the genuine ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reprieve_studies.fast12.paper import TRACES
from reprieve_studies.loads import Load, check_genuine, recording

TWINS = {
    "F1": "fin1-like",
    "F2": "fin2-like",
    "DAP": "dap-like",
    "MSN": "msn-like",
    "C3": "cello3-like",
    "C8": "cello8-like",
}
"""The built-in load that stands in for each trace of the paper."""


def papers(genuine: Mapping[str, Path]) -> list[Load]:
    """Return the six loads of the paper; `genuine` has a file for those that are at hand.

    UserError for a name that the paper does not have, or a file that is not there.
    """
    check_genuine(genuine, TRACES)
    return [recording(name, genuine[name]) if name in genuine else _twin(name) for name in TRACES]


def _twin(name: str) -> Load:
    seed = 1 + TRACES.index(name)
    return Load(name, TWINS[name], genuine=False, workload={}, preset=TWINS[name], seed=seed)
