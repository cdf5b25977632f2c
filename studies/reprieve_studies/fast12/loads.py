"""The loads: counterparts of the paper's six traces, or the genuine ones."""

from collections.abc import Mapping
from pathlib import Path

from reprieve_studies import loads
from reprieve_studies.fast12.paper import TRACES
from reprieve_studies.loads import Load

STEMS = {
    "F1": "fin1",
    "F2": "fin2",
    "DAP": "dap",
    "MSN": "msn",
    "C3": "cello3",
    "C8": "cello8",
}
"""What the built-in loads of each trace of the paper begin with."""

COUNTERPARTS = {
    "F1": "fin1-like",
    "F2": "fin2-like",
    "DAP": "dap-like",
    "MSN": "msn-like",
    "C3": "cello3-like",
    "C8": "cello8-like",
}
"""The built-in load that stands in for each trace of the paper."""


def papers(genuine: Mapping[str, Path]) -> list[Load]:
    """Return the six loads of the paper, as `reprieve_studies.loads.papers` does."""
    return loads.papers(genuine, TRACES, _counterpart)


def _counterpart(name: str, seed: int) -> Load:
    return Load(
        name, COUNTERPARTS[name], genuine=False, workload={}, preset=COUNTERPARTS[name], seed=seed
    )
