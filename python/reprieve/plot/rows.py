"""The numbers behind the charts, as rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from reprieve.plot.theme import COMPONENTS
from reprieve.result import Result

Runs = Mapping[str, Result]
Row = dict[str, Any]

# Points kept of a curve: more cannot be told apart in a chart, and would swell the report.
_POINTS_BODY = 120
_POINTS_NINE = 24


def curve(runs: Runs, op: str) -> list[Row]:
    """Points of the distribution: latency, share at or below it, and the share in nines.

    Nines are −log10(1 − share). The largest of n latencies is drawn at a share of 1 − 1/n.
    """
    rows = []
    for label, result in runs.items():
        latency = result.latency(op)
        kept: set[tuple[str, int]] = set()
        for latency_ns, share in zip(*latency.cdf(), strict=True):
            nines = -math.log10(max(1 - share, 1 / latency.requests))
            last = share == 1.0
            bins = {("body", int(share * _POINTS_BODY)), ("nines", int(nines * _POINTS_NINE))}
            if not last and bins <= kept:
                continue
            kept |= bins
            rows.append(
                {
                    "run": label,
                    "latency_us": float(latency_ns) / 1000,
                    "share": round(float(share), 7),
                    "nines": round(nines, 5),
                }
            )
    return rows


def ratios(runs: Runs) -> list[Row]:
    """Latencies as multiples of the first run's; nothing where one of the two has none."""
    metrics = {"mean": "mean", "p99": "p99", "p99_99": "p99.99"}
    first = next(iter(runs.values()))
    rows = []
    for op in ("read", "write"):
        for key, word in metrics.items():
            base = first.summary["requests"][op]["latency_ns"][key]
            for label, result in runs.items():
                value = result.summary["requests"][op]["latency_ns"][key]
                if base and value:
                    rows.append({"run": label, "metric": f"{op} {word}", "ratio": value / base})
    return rows


def components(runs: Runs, op: str) -> list[Row]:
    """Mean time of an operation's requests in µs by what it was spent on."""
    return [
        {"run": label, "component": COMPONENTS[name][0], "index": index, "mean_us": mean_us}
        for label, result in runs.items()
        for index, name, mean_us in _components(result, op)
        if mean_us > 0
    ]


def _components(result: Result, op: str) -> Iterator[tuple[int, str, float]]:
    means_ns = result.summary["requests"][op].get("components_ns", {})
    for index, name in enumerate(COMPONENTS):
        yield index, name, float(means_ns.get(name, 0)) / 1000


def shares(runs: Runs, section: str, words: Mapping[str, str]) -> list[Row]:
    """Shares of a section of the summary, such as "device", under the words given for them."""
    rows = []
    for key, word in words.items():
        for label, result in runs.items():
            value: Any = result.summary[section]
            for part in key.split("."):
                value = value[part]
            rows.append({"run": label, "what": word, "share": value})
    return rows
