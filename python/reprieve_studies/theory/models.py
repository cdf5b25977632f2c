"""Simulations for the checks: a drive under a generated load, or one die with raw commands."""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve.die_rig import rig_columns
from reprieve.parallel import Watch
from reprieve.scenario import toml_text
from reprieve.simulation import stepwise
from reprieve.tables import Table
from reprieve_studies.theory.statistics import Estimate, Series, Tail, ratio

Floats = NDArray[np.float64]
Sets = Mapping[str, Any]
"""Keys of the scenario that a test sets otherwise, to see the checks fail."""

Ratios = Mapping[str, tuple[Callable[[Any], float], Callable[[Any], float]]]

_PIECES = 400
"""Steps of a run: enough for progress, and for batches of what only the summary counts."""


@dataclass(frozen=True)
class Drive:
    """A drive whose requests are reduced to series as they complete."""

    scenario: Mapping[str, Any]
    series: Callable[[Table], Mapping[str, Floats]] = lambda _log: {}
    """Samples out of the log of requests, by name."""
    ratios: Ratios = field(default_factory=dict)
    """Two counts of the summary that grow, whose ratio is estimated, by name."""
    figures: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)
    """Numbers of the final summary that do not depend on chance, by name."""
    levels: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Percentiles that are wanted of samples, as shares, by the samples' name."""
    logged: bool = True
    """Whether `series` needs the log of requests."""
    runs: int = 1
    """More, each with a seed of its own, for percentiles that few requests are beyond."""
    floors: Mapping[str, float] = field(default_factory=dict)
    """Bound above which samples are kept for their percentiles, by their name."""

    def measure(self, watch: Watch, sets: Sets) -> dict[str, Estimate]:
        """Simulate and estimate everything."""
        means: dict[str, Series] = {}
        tails = {name: Tail(self.floors.get(name, -math.inf)) for name in self.levels}
        estimates: dict[str, Estimate] = {}
        for run in range(self.runs):
            for tail in tails.values():
                tail.begin()
            text = toml_text(self.scenario) + (f"# run {run}\n" if self.runs > 1 else "")
            estimates = self._simulate(watch, {**sets, "seed": _seed(text)}, means, tails)
        for name, levels in self.levels.items():
            named = (percentile_name(name, level) for level in levels)
            estimates.update(zip(named, tails[name].percentiles(levels), strict=True))
        return estimates | {name: series.estimate() for name, series in means.items()}

    def _simulate(
        self, watch: Watch, sets: Sets, means: dict[str, Series], tails: Mapping[str, Tail]
    ) -> dict[str, Estimate]:
        """Add the samples of a run, and estimate what only its summary has."""
        simulation = stepwise(self.scenario, requests=self.logged, **sets)
        counts: list[list[float]] = []
        asked = [ask for pair in self.ratios.values() for ask in pair]
        requests = int(self.scenario["workload"]["requests"])
        more = True
        while more:
            more = simulation.step(max(1, requests // _PIECES))
            watch(*simulation.progress())
            if self.logged:
                for name, values in self.series(simulation.take_log()).items():
                    taker = tails[name] if name in tails else means.setdefault(name, Series())
                    taker.add(values)
            if asked and simulation.is_preconditioned():
                summary = json.loads(simulation.summary())
                counts.append([ask(summary) for ask in asked])
        grown = np.diff(np.array(counts, dtype=np.float64), axis=0) if asked else np.empty((0, 0))
        found = {
            name: ratio(grown[:, 2 * index], grown[:, 2 * index + 1])
            for index, name in enumerate(self.ratios)
        }
        summary = json.loads(simulation.summary())
        figures = {
            name: Estimate(ask(summary), None, requests) for name, ask in self.figures.items()
        }
        return found | figures


@dataclass(frozen=True)
class Rig:
    """One die that is given raw commands."""

    device: str
    keys: Mapping[str, Any]
    """Of the scenario: timing, suspension, scheduling."""
    commands: Callable[[np.random.Generator], Mapping[str, NDArray[Any]]]
    """Columns of the commands, drawn at random: arrival_ns, op, plane, block, page."""
    series: Callable[[Mapping[str, NDArray[Any]]], Mapping[str, Floats]]
    """Samples out of the columns of the results, in the order in which they are to be batched."""
    maxima: tuple[str, ...] = ()
    """Names of series of which the largest is wanted, not the mean."""

    def measure(self, watch: Watch, sets: Sets) -> dict[str, Estimate]:
        """Simulate and estimate everything."""
        watch(None, 0)
        keys = {**self.keys, **sets}
        commands = self.commands(np.random.default_rng(_seed(str(sorted(self.keys.items())))))
        found = rig_columns(self.device, commands, **keys)
        watch(None, len(commands["op"]))
        estimates = {}
        for name, values in self.series(found).items():
            if name in self.maxima:
                estimates[name] = Estimate(float(values.max()), None, len(values))
                continue
            series = Series()
            series.add(values)
            estimates[name] = series.estimate()
        return estimates


Model = Drive | Rig


def _seed(text: str) -> int:
    """Return the seed of a simulation: its own, always the same, and not of our choosing."""
    return zlib.crc32(text.encode())


def percentile_name(name: str, level: float) -> str:
    """Return the name of a percentile's estimate, as in `read wait p99.9`."""
    return f"{name} p{100 * level:.6g}"


def times_ns(log: Table, name: str) -> Floats:
    """Return a column of times in ns; 2⁵³ ns are a hundred days, so that none is rounded."""
    return log.array(name).astype(np.float64)


def count(*path: str) -> Callable[[Any], float]:
    """Return what reads one number out of a summary."""
    return lambda summary: float(reduce(getitem, path, summary))


def command_columns(
    *groups: tuple[str, NDArray[np.int64], NDArray[np.int64]],
) -> dict[str, NDArray[Any]]:
    """Put commands together: of each group operation, arrivals, and pages counted over the die.

    A plane of the SLC part has 4096 blocks of 64 pages.
    """
    pages = np.concatenate([page for _, _, page in groups])
    return {
        "arrival_ns": np.concatenate([arrivals for _, arrivals, _ in groups]),
        "op": np.concatenate([np.full(len(arrivals), op) for op, arrivals, _ in groups]),
        "plane": pages // (64 * 4096),
        "block": pages // 64 % 4096,
        "page": pages % 64,
    }
