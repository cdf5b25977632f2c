"""The numbers behind the charts, as rows."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reprieve.confidence import FIGURES, compared, is_known
from reprieve.latency import Latency, percent_of
from reprieve.pairs import latency, paired
from reprieve.plot.theme import BLAME, COMPONENTS
from reprieve.roles import bases

if TYPE_CHECKING:
    from reprieve.result import Result

Runs = Mapping[str, "Result"]
Row = dict[str, Any]

# Points kept of a curve: more cannot be told apart in a chart, and would swell the report.
_SPOTS_BODY = 120
_SPOTS_NINE = 24


def rounded(value: float, digits: int = 5) -> float | None:
    """Return what a chart can show of a number; None for none."""
    if math.isnan(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short


def curve(runs: Runs, op: str) -> list[Row]:
    """Points of the distribution: latency, share at or below it, and the share in nines.

    Nines are −log10(1 − share). The largest of n latencies is drawn at a share of 1 − 1/n. What
    took no time, a page in the write buffer of a drive without a link, has no place on a
    logarithmic axis: it is in the share of the next.
    """
    return [
        {
            "run": label,
            "latency_us": latency_ns / 1000,
            "share": round(share, 7),
            "nines": round(nines, 5),
        }
        for label, result in runs.items()
        for latency_ns, share, nines in _thinned(result.latency(op))
        if latency_ns > 0
    ]


def _thinned(latency: Latency) -> Iterator[tuple[int, float, float]]:
    """From the smallest, at no share, to the largest, without what would fall on one spot."""
    if latency.requests == 0:
        return
    yield latency.min, 0.0, 0.0
    kept: set[tuple[str, int]] = set()
    for latency_ns, share in zip(*(side.tolist() for side in latency.cdf()), strict=True):
        nines = -math.log10(max(1 - share, 1 / latency.requests))
        spots = {("body", int(share * _SPOTS_BODY)), ("nines", int(nines * _SPOTS_NINE))}
        if share == 1.0 or not spots <= kept:
            yield latency_ns, share, nines
        kept |= spots


def ratios(runs: Runs) -> list[Row]:
    """Latencies as multiples of the base's; nothing where one of the two has none.

    "low" and "high" are the ends of the 95 % interval of the multiple, from pairs of batches; they
    are missing with too few requests. "end" is where what is drawn of a row ends.
    """
    base_of = bases(runs)
    found = {
        label: paired([result], [runs[base_of[label]]])
        for label, result in runs.items()
        if label != base_of[label]
    }
    rows = []
    for op, key in compared([result.summary for result in runs.values()]):
        for label, result in runs.items():
            base = runs[base_of[label]].summary["requests"][op]
            group = result.summary["requests"][op]
            base_ns, ns = (each["latency_ns"][key] for each in (base, group))
            if base_ns and ns and all(is_known(each["count"], key) for each in (base, group)):
                ratio = ns / base_ns
                row = {"run": label, "metric": f"{op} {FIGURES[key]}", "ratio": ratio, "end": ratio}
                pair = found.get(label, {}).get(latency(op, key), {})
                high = pair.get("ratio_high")
                if high is not None:
                    row |= {"low": pair["ratio_low"], "high": high, "end": high}
                rows.append(row)
    return rows


def components(runs: Runs, op: str) -> list[Row]:
    """Mean time of an operation's requests in µs by what it was spent on."""
    return [
        {"run": label, "component": COMPONENTS[name][0], "index": index, "mean_us": mean_us}
        for label, result in runs.items()
        for means_ns in [result.summary["requests"][op].get("components_ns", {})]
        for index, name in enumerate(COMPONENTS)
        if (mean_us := float(means_ns.get(name, 0)) / 1000) > 0
    ]


def blame(runs: Runs, op: str) -> list[Row]:
    """Shares of the time of the requests of an operation, of all and of the slowest, by cause."""
    found = []
    for label, result in runs.items():
        for part, told in result.summary.get("blame", {}).get(op, {}).items():
            whole_ns = max(told["latency_ns"], 1)
            ns = {name: told.get(f"{name}_ns", 0) for name in BLAME}
            ns["not_waiting"] = told["latency_ns"] - sum(ns.values())
            who = f"all {op}s" if part == "all" else f"slowest {percent_of(part)}"
            found += [
                {
                    "run": label,
                    "part": who if len(runs) == 1 else f"{label}: {who}",
                    "cause": BLAME[cause][0],
                    "index": index,
                    "share": value / whole_ns,
                    "mean_us": value / max(told["requests"], 1) / 1000,
                }
                for index, (cause, value) in enumerate(ns.items())
                if value > 0
            ]
    return found


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
