"""The three families of policies and the points of each that are tried: as many for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from reprieve_studies.deadline.benches import Bench

Keys = Mapping[str, Any]
Family = str

_SEED = 1
_LIMITS = (2, 4, 10, None)
_ONE_READ = 0.75
"""The share of points of `deadline` at which one read that is saved is worth a suspension."""


def static(remaining_us: float, progress_us: float, limit: int | None = None) -> Keys:
    """Return today's knobs: not near the end, not soon after the last, not often."""
    return {
        "suspension.policy": "threshold",
        "suspension.min_remaining_us": remaining_us,
        "suspension.min_progress_us": progress_us,
        **({} if limit is None else {"suspension.max_per_operation": limit}),
    }


def batch(reads: int, oldest_us: float) -> Keys:
    """Return a suspension for the given number of reads, or for one that has waited long enough."""
    return {
        "suspension.policy": "batch",
        "suspension.batch.reads": reads,
        "suspension.batch.oldest_us": oldest_us,
    }


def deadline(slo_us: float, margin_reads: int, price: int | None = None) -> Keys:
    """Return a suspension at the last instant that still saves a read."""
    return {
        "suspension.policy": "deadline",
        "suspension.deadline.read_slo_us": slo_us,
        "suspension.deadline.margin_reads": margin_reads,
        **({} if price is None else {"suspension.deadline.price": price}),
    }


def _us(value: float) -> float:
    return round(value, 1)


def _static(bench: Bench, at: tuple[float, ...]) -> Keys:
    program_us, limit = bench.program_us, _LIMITS[int(at[2] * len(_LIMITS))]
    return static(_us(0.8 * at[0] * program_us), _us(0.6 * at[1] * program_us), limit)


def _batch(bench: Bench, at: tuple[float, ...]) -> Keys:
    return batch(2 + int(at[0] * 7), _us((0.1 + 0.9 * at[1]) * bench.slo_us))


def _deadline(bench: Bench, at: tuple[float, ...]) -> Keys:
    # Reads are counted whole: a price of 1.01 asks for two of them.
    price = 1 if at[2] < _ONE_READ else 2
    return deadline(_us((0.4 + 0.64 * at[0]) * bench.slo_us), int(at[1] * 5), price)


_Point = Callable[[Bench, tuple[float, ...]], Keys]
FAMILIES: Mapping[Family, tuple[int, _Point, Callable[[Bench], Keys]]] = {
    "static knobs": (3, _static, lambda _: {"suspension.policy": "always"}),
    "batch": (2, _batch, lambda bench: batch(3, _us(0.7 * bench.slo_us))),
    "deadline": (3, _deadline, lambda bench: deadline(bench.slo_us, 0)),
}
"""By name: free parameters, the point at a place of the unit cube, and the plainest point, which
the meaning of its keys suggests."""


def points(family: Family, bench: Bench, tries: int) -> list[Keys]:
    """Return `tries` points of a family: its plainest, then those of Sobol's sequence."""
    # Takes half a second to import, which every other study would take too.
    from scipy.stats import qmc

    free, at, plainest = FAMILIES[family]
    sobol = qmc.Sobol(free, seed=_SEED).random_base2(math.ceil(math.log2(max(tries - 1, 1))))
    rest = (at(bench, tuple(map(float, place))) for place in sobol[: tries - 1])
    return [plainest(bench), *rest]


def words(keys: Keys) -> str:
    """Say a point in words: its keys without their sections, or its policy if it has no others."""
    named = {key.rpartition(".")[2]: value for key, value in keys.items()}
    policy = str(named.pop("policy", ""))
    return ", ".join(f"{name} {value}" for name, value in named.items()) or policy
