"""Values of a result that are kept, and their hash: the same on every machine.

Nothing here depends on the machine's speed, on a path or on the program's version.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from reprieve_studies.verdicts import Verdict

_HEX_DIGITS = 16
_STUDY_DIGITS = 12


def digest(value: object) -> str:
    """Hash a value by its JSON, with sorted keys and floats to the last digit."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_HEX_DIGITS]


def of_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out `run`, where wall time, memory and versions stand.

    And `blame`, which follows from the requests, whose columns of it are kept.
    """
    return {name: section for name, section in summary.items() if name not in {"run", "blame"}}


def of_requests(log: pa.Table) -> dict[str, list[Any]]:
    """Return the columns by name, but those of zeros alone.

    A column that comes with a new feature has zeros in every run without it.
    """
    columns = {name: log[name].to_pylist() for name in log.column_names}
    return {name: column for name, column in columns.items() if any(column)}


def of_arrays(value: Any) -> Any:
    """Return arrays as lists, in whatever they are: a data class, a mapping."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: of_arrays(getattr(value, name)) for name in names}
    return {name: of_arrays(item) for name, item in value.items()}


def of_verdicts(verdicts: Sequence[Verdict]) -> list[Any]:
    """Return the numbers of verdicts and what they come to; words may change."""
    rows = [verdict.row() for verdict in verdicts]
    return [[rounded(row["ours"]), row["reproduced"]] for row in rows]


def rounded(value: Any) -> Any:
    """Round what numpy and SciPy have calculated: its last digits depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.{_STUDY_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [rounded(item) for item in value]
    return value
