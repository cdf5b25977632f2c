"""What the paper's figures measure, from the results of runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reprieve import Result
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.zambelli21.paper import Change, Order

SEED = 1
"""Of runs that are there once."""


class Spot(NamedTuple):
    """Which run."""

    reading: str
    mix: str
    """The paper's name of the load."""
    queue_depth: int
    suspensions: int
    """Of a program, at most."""
    seed: int = SEED


Runs = Mapping[Spot, Result]


@dataclass(frozen=True)
class Metric:
    """What is on the axis of a figure."""

    title: str
    unit: str
    of: Callable[[Result], float]


def _latency_us(group: str, name: str) -> Callable[[Result], float]:
    return lambda result: result.summary["requests"][group]["latency_ns"][name] / 1e3


def _power_mw(supply: str) -> Callable[[Result], float]:
    def mean_mw(result: Result) -> float:
        energy_uj = float(result.summary["power"]["energy_uj"][supply])
        return 1e6 * energy_uj / float(result.summary["device"]["simulated_ns"])

    return mean_mw


METRICS = {
    "iops": Metric("bandwidth", "kIOPS", lambda result: result.summary["device"]["iops"] / 1e3),
    "mean": Metric("mean latency", "µs", _latency_us("total", "mean")),
    "memory_power": Metric("power of the memories", "mW", _power_mw("core")),
    "bus_power": Metric("power of the I/O bus", "mW", _power_mw("io")),
    "total_tail": Metric("p99.99 of all requests", "µs", _latency_us("total", "p99_99")),
    "read_tail": Metric("p99.99 of reads", "µs", _latency_us("read", "p99_99")),
}
"""By the name that `paper.CHANGES` and `paper.ORDERS` use."""

TAILS = {"total_tail": "total", "read_tail": "read"}
"""Metrics that are a p99.99, and of which requests."""


def interval_us(result: Result, metric: str) -> tuple[float, float] | None:
    """Return the 95 % interval of a p99.99 in µs; None if there were too few requests."""
    found = result.summary["requests"][TAILS[metric]]["confidence"]["p99_99"]
    return None if found is None else (found[0] / 1e3, found[1] / 1e3)


def write_amplification(result: Result) -> float:
    """Pages programmed over pages programmed for the host."""
    return float(result.summary["flash"]["gc_waf"])


def change(runs: Runs, reading: str, claim: Change, seed: int = SEED) -> float:
    """Return what as many suspensions as the claim has change against none."""
    of = METRICS[claim.metric].of
    without, with_some = (
        of(runs[Spot(reading, claim.mix, claim.queue_depth, number, seed)])
        for number in (0, claim.suspensions)
    )
    return with_some - without


def seeds_of(runs: Runs, spot: Spot) -> list[int]:
    """Return the seeds with which a spot was run, whatever its own is."""
    return sorted(one.seed for one in runs if one[:-1] == spot[:-1])


def over_seeds(runs: Runs, spot: Spot, value: Callable[[int], float]) -> Estimate:
    """Return what `value` has for each seed with which a spot was run."""
    return estimate([value(seed) for seed in seeds_of(runs, spot)])


def changed(runs: Runs, reading: str, claim: Change) -> Estimate:
    """Return `change` over all seeds of the reading."""
    spot = Spot(reading, claim.mix, claim.queue_depth, claim.suspensions)
    return over_seeds(runs, spot, lambda seed: change(runs, reading, claim, seed))


class Comparison(NamedTuple):
    """One load at one queue depth under an `Order`."""

    mix: str
    queue_depth: int
    first: float
    second: float
    holds: bool


def compared(runs: Runs, reading: str, order: Order, seed: int = SEED) -> list[Comparison]:
    """Compare the metric of an order under all loads and depths that it speaks of."""
    of = METRICS[order.metric].of
    found = []
    for mix in order.mixes:
        for depth in order.queue_depths:
            first, second = (
                of(runs[Spot(reading, mix, depth, number, seed)]) for number in order.pair
            )
            holds = second > first if order.rises else second < first
            found.append(Comparison(mix, depth, first, second, holds))
    return found


def holding(runs: Runs, reading: str, order: Order) -> Estimate:
    """Return for how many loads and depths an order holds, over all seeds of the reading."""
    spot = Spot(reading, order.mixes[0], order.queue_depths[0], order.pair[0])
    return over_seeds(
        runs, spot, lambda seed: sum(one.holds for one in compared(runs, reading, order, seed))
    )
