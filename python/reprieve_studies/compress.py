"""Compression of a load in time until the drive idles for a given share of it."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any, TypeVar

from reprieve import Result
from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.runs import Bench, Setup

_CLOSE_ENOUGH = 0.002
_SIMULATIONS_MAX = 40
_STRIDE = math.log(4.0)
"""Of the search for the first bracket, in the logarithm of the scale."""
_NEAR = math.log(1.3)
"""First step from a scale that is about right."""
_SAME = 1e-4
"""Scales closer than this give the same load."""


@dataclass(frozen=True)
class Compression:
    """Factor of the times between arrivals, and the drive's idle time under it."""

    time_scale: float
    drive_idle_share: float
    """Of the time without any request open."""
    die_idle_share: float
    """Mean over the dies of the time in which they did nothing."""
    simulations: int
    """That it took to find it."""

    @property
    def speed(self) -> float:
        """Factor over the recorded speed."""
        return 1.0 / self.time_scale


def mean_numbers(found: Sequence[Compression]) -> dict[str, float]:
    """Return means of compressions by name."""
    return {
        "speed": fmean(one.speed for one in found),
        "drive_idle_percent": 100 * fmean(one.drive_idle_share for one in found),
        "die_idle_percent": 100 * fmean(one.die_idle_share for one in found),
    }


def cells(numbers: Mapping[str, float]) -> list[str]:
    """Return these numbers as cells of a table."""
    speed, *percents = numbers.values()
    return [f"{speed:,.3g}", *(f"{percent:.1f}" for percent in percents)]


Key = TypeVar("Key", bound=Hashable)


def compressions(
    bench: Bench, wanted: Mapping[Key, tuple[Setup, float, bool, Key]]
) -> dict[Key, Compression]:
    """Compress loads: each a set-up, the idle share, and whether it is that of the dies.

    Last, another of them, which is found first, whose scale is about right; or itself.
    """
    found: dict[Key, Compression] = {}
    while len(found) < len(wanted):
        works: dict[Key, tuple[str, Callable[[Watch], Any]]] = {}
        for key, (setup, target, of_dies, near) in wanted.items():
            if key not in found and (near == key or near in found):
                start = None if near == key else found[near].time_scale
                identity = digest("compression", setup.run, str(target), str(of_dies), str(start))
                works[key] = (identity, partial(_work, setup, target, of_dies, start))
        rows = bench.once("compressing the loads", works)
        found |= {key: Compression(**row) for key, row in rows.items()}
    return found


def _work(
    setup: Setup, target: float, of_dies: bool, near: float | None, watch: Watch
) -> dict[str, float]:
    return asdict(compress(setup, target, watch, of_dies=of_dies, near=near))


def idle_shares(result: Result) -> tuple[float, float]:
    """Return the share of the time in which the drive, and in which a die on average, is idle."""
    device = result.summary["device"]
    return float(device["idle_share"]), 1.0 - float(device["die_busy_share"])


def compress(
    setup: Setup,
    target: float,
    watch: Watch,
    *,
    of_dies: bool = False,
    near: float | None = None,
) -> Compression:
    """Find the `workload.time_scale` at which the idle share is `target`.

    `of_dies`: the mean over the dies in place of the drive as a whole. `near`: a scale that is
    about right, from which the search is shorter. The idle share falls as a load is compressed; the
    scale is found on a logarithmic axis, to 0.002 of the share, or to where the share jumps.
    """
    tried: list[Compression] = []

    def idle_at(log_scale: float) -> float:
        scale = math.exp(log_scale)
        shares = idle_shares(setup.with_overrides({"workload.time_scale": scale}).simulate(watch))
        tried.append(Compression(scale, *shares, len(tried) + 1))
        return shares[of_dies]

    if near is not None:
        _search(lambda at: idle_at(at) - target, math.log(near))
        return replace(_best(tried, target, of_dies), simulations=len(tried))
    # Logarithms of the scale: below `low` the drive idles less than wanted, above `high` more.
    low = high = 0.0
    if idle_at(0.0) > target:
        while idle_at(low := low - _STRIDE) > target and len(tried) < _SIMULATIONS_MAX:
            high = low
    else:
        while idle_at(high := high + _STRIDE) < target and len(tried) < _SIMULATIONS_MAX:
            low = high
    best = _best(tried, target, of_dies)
    while len(tried) < _SIMULATIONS_MAX and high - low > _SAME:
        if abs(_share(best, of_dies) - target) <= _CLOSE_ENOUGH:
            break
        middle = (low + high) / 2
        if idle_at(middle) > target:
            high = middle
        else:
            low = middle
        best = _best(tried, target, of_dies)
    return replace(best, simulations=len(tried))


def _search(above: Callable[[float], float], start: float) -> None:
    """Step from a start to both sides of the root of a rising function, then between them."""
    here, value = start, above(start)
    step = _NEAR if value < 0 else -_NEAR
    for _ in range(_SIMULATIONS_MAX):
        if abs(value) <= _CLOSE_ENOUGH:
            return
        there = here + step
        other = above(there)
        if value * other <= 0:
            break
        here, value, step = there, other, 2 * step
    ends = {here: value, there: other}

    def once(at: float) -> float:
        found = ends[at] if at in ends else above(at)
        return 0.0 if abs(found) <= _CLOSE_ENOUGH else found

    if all(once(end) for end in ends):
        # Takes half a second to import, which every other study would take too.
        from scipy.optimize import brentq

        brentq(once, min(ends), max(ends), xtol=_SAME)


def _share(one: Compression, of_dies: bool) -> float:
    return one.die_idle_share if of_dies else one.drive_idle_share


def _best(tried: list[Compression], target: float, of_dies: bool) -> Compression:
    return min(tried, key=lambda one: abs(_share(one, of_dies) - target))
