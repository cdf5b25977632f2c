"""The three families of policies and the points of each that are tried: as many for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from reprieve_studies.deadline.benches import Bench

Keys = Mapping[str, Any]
Family = str

_SEED = 1
_NONE = "none"
_LIMITS = (2, 4, 10, _NONE)
_ONE_READ = 0.75
"""The share of points of `deadline` at which one read that is saved is worth a suspension."""


def _us(value: float) -> float:
    return round(value, 1)


def _static(bench: Bench, at: tuple[float, ...]) -> Keys:
    """Today's knobs: not near the end, not soon after the last, not often."""
    limit = _LIMITS[min(int(at[2] * len(_LIMITS)), len(_LIMITS) - 1)]
    most: Keys = {} if limit == _NONE else {"suspension.max_per_operation": limit}
    return {
        "suspension.policy": "threshold",
        "suspension.min_remaining_us": _us(0.8 * at[0] * bench.program_us),
        "suspension.min_progress_us": _us(0.6 * at[1] * bench.program_us),
        **most,
    }


def _batch(bench: Bench, at: tuple[float, ...]) -> Keys:
    return {
        "suspension.policy": "batch",
        "suspension.batch.reads": 2 + int(at[0] * 7),
        "suspension.batch.oldest_us": _us((0.1 + 0.9 * at[1]) * bench.slo_us),
    }


def _deadline(bench: Bench, at: tuple[float, ...]) -> Keys:
    # Reads are counted whole: a price of 1.01 asks for two of them.
    price = 1 if at[2] < _ONE_READ else 2
    return {
        "suspension.policy": "deadline",
        "suspension.deadline.read_slo_us": _us((0.4 + 0.64 * at[0]) * bench.slo_us),
        "suspension.deadline.margin_reads": int(at[1] * 5),
        "suspension.deadline.price": price,
    }


FAMILIES: Mapping[Family, tuple[int, Callable[[Bench, tuple[float, ...]], Keys], Keys]] = {
    "static knobs": (3, _static, {"suspension.policy": "always"}),
    "batch": (2, _batch, {}),
    "deadline": (3, _deadline, {}),
}
"""By name: free parameters, the point at a place of the unit cube, and the plainest point, where
that is none of those."""


def points(family: Family, bench: Bench, tries: int) -> list[Keys]:
    """Return `tries` points of a family: its plainest, then those of Sobol's sequence."""
    # Takes half a second to import, which every other study would take too.
    from scipy.stats import qmc

    free, at, plainest = FAMILIES[family]
    first = plainest or _plain(family, bench)
    sobol = qmc.Sobol(free, seed=_SEED).random_base2(math.ceil(math.log2(max(tries - 1, 1))))
    return [first, *(at(bench, tuple(map(float, place))) for place in sobol[: tries - 1])]


def _plain(family: Family, bench: Bench) -> Keys:
    """Return the point that the meaning of its keys suggests."""
    if family == "batch":
        return {
            "suspension.policy": "batch",
            "suspension.batch.reads": 3,
            "suspension.batch.oldest_us": _us(0.7 * bench.slo_us),
        }
    return {
        "suspension.policy": "deadline",
        "suspension.deadline.read_slo_us": bench.slo_us,
        "suspension.deadline.margin_reads": 0,
    }


def words(keys: Keys) -> str:
    """Say a point in words: its keys without their sections."""
    named = [(key.rpartition(".")[2], value) for key, value in keys.items()]
    return ", ".join(
        str(value) if name == "policy" and value in ("always", "none") else f"{name} {value}"
        for name, value in named
        if name != "policy" or value in ("always", "none")
    )
