"""Differences between runs of one load, batch against batch, and their significance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from reprieve.elementary import dot, exp, log
from reprieve.latency import KINDS
from reprieve.student import student_t

FEWEST_UNITS = 10
"""Batches, or seeds, that make an interval: fewer do not show how they spread."""

_BEYOND = 10
"""Requests that each batch has to have beyond a percentile, and for a mean."""

_SHARES = {
    "mean": 0.0,
    "p50": 0.5,
    "p95": 0.95,
    "p99": 0.99,
    "p99_9": 0.999,
    "p99_99": 0.9999,
    "p99_999": 0.99999,
}

# Name of the measure: numerator and denominator in a batch, and where the summary has the whole.
_RATES = {
    "device_iops": (("requests", "ns"), ("device", "iops")),
    "device_bandwidth_bytes_per_s": (("bytes", "ns"), ("device", "bandwidth_bytes_per_s")),
    "flash_waf": (("programmed_bytes", "written_bytes"), ("flash", "waf")),
}

# Draws of an interval: its ends are the 86th from either end or farther in.
_DRAWS = 9999
_SEED = 1
_TIMES_MOST = 1000

Floats = NDArray[np.float64]


class Run(Protocol):
    """Parts of a run that are compared."""

    @property
    def summary(self) -> dict[str, Any]:
        """As in `summary.json`."""

    @property
    def batches(self) -> dict[str, Any]:
        """The complete batches by column, as the simulator returns them."""


class Paired(TypedDict, total=False):
    """A measure of a run less that of another; `low`, `high` hold it at 95 %."""

    mean_difference: float | None
    low: float | None
    high: float | None
    decided: bool
    """The interval does not hold 0, so that the two differ."""
    ratio: float | None
    """The measure as a multiple of the other run's."""
    ratio_low: float | None
    ratio_high: float | None
    units: str
    """Units that are paired: "batches" or "seeds"."""
    count: int
    """Number of pairs."""
    reason: str
    """Reason why there is no interval; empty if there is one."""


def measures() -> list[str]:
    """Return the names of all measures; they are those of a sweep's columns."""
    return [latency(kind, figure) for kind in KINDS for figure in _SHARES] + list(_RATES)


def latency(kind: str, figure: str) -> str:
    """Return the name of the measure of a figure of "read", "write" or "total" latencies."""
    return f"{kind}_latency_ns_{figure}"


def paired(ours: Sequence[Run], base: Sequence[Run]) -> dict[str, Paired]:
    """Return for each measure what our runs have more than the base's, with its significance.

    The runs stand seed by seed. A batch of a run is paired with that of the same requests in the
    other; with ten seeds or more, whole runs are paired. What all pairs have in common, such as a
    busy hour of the load, makes no difference between the two and widens no interval.
    """
    assert len(ours) == len(base) > 0, "runs are compared seed by seed"
    if len(ours) >= FEWEST_UNITS:
        sides = _seeds(ours), _seeds(base)
    else:
        found = [_common(*both) for both in zip(ours, base, strict=True)]
        shared = [numbers for numbers in found if numbers is not None]
        if len(shared) < len(found):
            lengths = [each[0].batches["batch_requests"] for each in (ours, base)]
            reason = f"the batches of one run have {lengths[0]} requests, of the other {lengths[1]}"
            return {name: _without(ours, base, name, reason) for name in measures()}
        sides = _batches(ours, shared), _batches(base, shared)
    return {name: _measure(name, (ours, base), sides) for name in measures()}


def _common(one: Run, other: Run) -> NDArray[np.int64] | None:
    """Return the batches that both runs have whole; None where these are not the same requests."""
    if one.batches["batch_requests"] != other.batches["batch_requests"]:
        return None
    return np.intersect1d(one.batches["number"], other.batches["number"])


@dataclass(frozen=True)
class _Column:
    """A measure by unit, of one side: a ratio of two sums, or what units add to a logarithm."""

    parts: Floats
    wholes: Floats | None
    """None: each unit of `parts` is what a logarithm is more than without the unit."""
    fewest: float
    """Requests of the unit that has fewest."""

    def value(self) -> float:
        """Return the ratio of all units together; NaN without any."""
        assert self.wholes is not None, "what units add says nothing of the whole"
        whole = float(self.wholes.sum())
        return float(self.parts.sum()) / whole if whole else math.nan

    def drawn(self, weights: Floats, value: float) -> Floats:
        """Return what `value`, of the whole, is where units are there as often as drawn."""
        if self.wholes is None:
            return value * exp(dot(weights - 1, self.parts))
        mine = self.value()
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.asarray(dot(weights, self.parts) / dot(weights, self.wholes))
        return found * (value / mine if mine else 1.0)


@dataclass(frozen=True)
class _Side:
    units: str
    columns: Mapping[str, _Column]
    is_all: bool
    """The units are all that the runs have, so that the summaries are of the same requests."""


def _batches(runs: Sequence[Run], shared: Sequence[NDArray[np.int64]]) -> _Side:
    """Return the measures by batch, the batches of one seed after those of another."""
    places = [
        np.isin(run.batches["number"], numbers) for run, numbers in zip(runs, shared, strict=True)
    ]

    def column(section: str, name: str) -> Floats:
        parts = [
            np.asarray(run.batches[section][name], np.float64)[place]
            for run, place in zip(runs, places, strict=True)
        ]
        return np.concatenate(parts)

    found = {}
    for kind in KINDS:
        counts = column(kind, "count")
        fewest = float(counts.min()) if len(counts) else 0.0
        found[latency(kind, "mean")] = _Column(counts * column(kind, "mean"), counts, fewest)
        for figure in list(_SHARES)[1:]:
            name = latency(kind, figure)
            adds = [
                _added(run, kind, figure)[place] for run, place in zip(runs, places, strict=True)
            ]
            # The whole is the mean over the runs.
            found[name] = _Column(np.concatenate(adds) / len(runs), None, fewest)
    for name, (columns, _) in _RATES.items():
        parts, wholes = (column("device", each) for each in columns)
        found[name] = _Column(parts, wholes, math.inf)
    return _Side("batches", found, all(bool(place.all()) for place in places))


def _added(run: Run, kind: str, figure: str) -> Floats:
    """Return by how much each batch makes the logarithm of a percentile of its run greater.

    Without the batch, a share of the requests, all others count for more: by that share less than
    the percentile without it strays (the jackknife; Efron and Tibshirani, An Introduction to the
    Bootstrap, 1993, chapter 11).
    """
    count = run.summary["requests"][kind]["count"]
    shares = np.asarray(run.batches[kind]["count"], np.float64) / max(count, 1)
    # Time has a grain of a nanosecond: a latency of 0 is below it.
    whole = max(run.summary["requests"][kind]["latency_ns"][figure], 1)
    without = np.maximum(np.asarray(run.batches[kind][f"{figure}_without"], np.float64), 1.0)
    return np.asarray((1 - shares) * log(whole / without))


def _seeds(runs: Sequence[Run]) -> _Side:
    """Return the measures by seed."""
    found = {}
    for name in measures():
        values = np.array([_whole(run.summary, name) for run in runs])
        found[name] = _Column(values, np.ones(len(runs)), math.inf)
    return _Side("seeds", found, is_all=True)


def _whole(summary: Mapping[str, Any], name: str) -> float:
    """Return a measure of a whole run; NaN where it has no such request."""
    if name in _RATES:
        section, field = _RATES[name][1]
        is_there = name != "flash_waf" or summary["requests"]["write"]["count"]
        return float(summary[section][field]) if is_there else math.nan
    kind, _, figure = name.partition("_latency_ns_")
    group = summary["requests"][kind]
    return float(group["latency_ns"][figure]) if group["count"] else math.nan


def _mean(runs: Sequence[Run], name: str) -> float:
    return sum(_whole(run.summary, name) for run in runs) / len(runs)


def _measure(
    name: str, runs: tuple[Sequence[Run], Sequence[Run]], sides: tuple[_Side, _Side]
) -> Paired:
    columns = [side.columns[name] for side in sides]
    count = len(columns[0].parts)
    if reason := _shortage(name, columns, sides[0].units):
        return _without(*runs, name, reason)
    totals = [[run.summary["requests"]["total"]["count"] for run in side] for side in runs]
    if all(side.is_all for side in sides) and totals[0] == totals[1]:
        ours, base = (_mean(side, name) for side in runs)
    elif columns[0].wholes is None:
        return _without(*runs, name, "the runs have measured different requests")
    else:
        ours, base = (column.value() for column in columns)
    if math.isnan(ours) or math.isnan(base):
        return _without(*runs, name, "one of the runs has no such requests")
    weights = _weights(count)
    drawn = [
        column.drawn(weights, value) for column, value in zip(columns, (ours, base), strict=True)
    ]
    if not all(bool(np.isfinite(side).all()) for side in drawn):
        return _without(*runs, name, "too few batches have such requests")
    low, high = _ends(drawn[0] - drawn[1], count)
    made: Paired = {"mean_difference": ours - base, "low": low, "high": high}
    made["decided"] = low > 0 or high < 0
    made |= {"ratio": None, "ratio_low": None, "ratio_high": None}
    if base > 0 and float(drawn[1].min()) > 0:
        made["ratio"] = ours / base
        made["ratio_low"], made["ratio_high"] = _ends(drawn[0] / drawn[1], count)
    made |= {"units": sides[0].units, "count": count}
    return made


def _shortage(name: str, columns: Sequence[_Column], units: str) -> str | None:
    """Return why there is no interval; None if there is one."""
    count, fewest = len(columns[0].parts), min(column.fewest for column in columns)
    if count < FEWEST_UNITS:
        return f"{count} pairs of {units}, and {FEWEST_UNITS} are needed"
    needs = 0 if name in _RATES else round(_BEYOND / (1 - _SHARES[name.rpartition("_ns_")[2]]))
    if fewest < needs:
        return f"a batch has only {fewest:,.0f} such requests, and {needs:,} are needed in each"
    return None


def _without(ours: Sequence[Run], base: Sequence[Run], name: str, reason: str) -> Paired:
    """Return a difference without an interval."""
    one, other = _mean(ours, name), _mean(base, name)
    is_there = not (math.isnan(one) or math.isnan(other))
    return {
        "mean_difference": one - other if is_there else None,
        "low": None,
        "high": None,
        "decided": False,
        "ratio": one / other if is_there and other > 0 else None,
        "ratio_low": None,
        "ratio_high": None,
        "reason": reason,
    }


@lru_cache(maxsize=4)
def _weights(count: int) -> Floats:
    """Return the multiplicity of each of `count` units in each of the draws with replacement."""
    generator = np.random.default_rng((_SEED, count))
    return generator.multinomial(count, np.full(count, 1 / count), _DRAWS).astype(np.float64)


def _ends(drawn: Floats, count: int) -> tuple[float, float]:
    """Return the ends of the interval at 95 %: percentiles of what was drawn.

    Such an interval is the same whatever the scale: a difference is significant where the ratio is,
    and positive values stay so. Few units vary too little, by √((n − 1) / n), and estimate their
    spread badly; the percentiles are those that make up for both (Hesterberg, What Teachers Should
    Know About the Bootstrap, The American Statistician 69, 2015, 371-386: expanded percentiles).
    """
    tail = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student_t(count - 1))
    low, high = np.quantile(drawn, [tail, 1 - tail], method="weibull")
    return float(low), float(high)


def half_width(pair: Paired) -> float:
    """Return half the interval of a ratio as a share of it; infinite if it has none."""
    low, high, ratio = pair["ratio_low"], pair["ratio_high"], pair["ratio"]
    return math.inf if low is None or high is None or not ratio else (high - low) / 2 / ratio


def times_more(
    difference: float | None, low: float | None, high: float | None, units: str = "requests"
) -> str:
    """Say how many times as many requests would decide a difference; "" if it is decided.

    An interval is as wide as one over the square root of their number; the difference is taken to
    stay as it is, which holds on average only.
    """
    if difference is None or low is None or high is None or low > 0 or high < 0:
        return ""
    if (times := _factor(difference, low, high)) > _TIMES_MOST:
        return f"; a thousand times as many {units} would not decide it"
    times = round(times) if times > 10 else max(float(f"{times:.2g}"), 1.1)  # noqa: PLR2004
    return f"; about {times} times as many {units} would decide it, if it stays as it is"


def _factor(difference: float, low: float, high: float) -> float:
    half = difference - low if difference > 0 else high - difference
    return (half / difference) ** 2 if difference else math.inf


def nearest(found: Mapping[str, Paired]) -> str:
    """Say how many times as many requests would decide the nearest of differences that are not."""
    known: list[tuple[float, str, str]] = []
    for name, pair in found.items():
        ends = (pair["mean_difference"], pair["low"], pair["high"])
        difference, low, high = ends
        if difference and low is not None and high is not None and not pair["decided"]:
            known.append((_factor(difference, low, high), name, times_more(*ends)))
    if not known:
        return ""
    _, name, text = min(known)
    return text.replace("decide it", f"decide {name}") if len(known) > 1 else text


def decided(found: Mapping[str, Paired]) -> Iterator[str]:
    """Yield the measures in which two runs differ."""
    return (name for name, pair in found.items() if pair["decided"])
