"""A load beside the whole trace that it is fitted to: `python -m reprieve_studies.trace_whole`.

Trace and load run on one drive under FIFO, RPS and PE0. The drive is idle for 70 % of the time
under FIFO, in two ways: each at its own time scale, or the load at that of the trace. Hybrids tell
where a difference comes from: the arrivals of the load with the places and sizes of the trace, the
other way round, and the trace with the sizes of the load. The trace itself with its devices in
other orders tells how much of its own latencies is a matter of where they lie.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import reprieve as rp
from reprieve.cli.console import say
from reprieve.trace_fit import (
    Requests,
    dispersion,
    fit,
    order,
    requests_of,
    side_by_side,
)
from reprieve_studies.seeds import estimate
from reprieve_studies.trace_fits import DEVICE, Make, fitted, shares
from reprieve_studies.verdicts import finite

POLICIES = ("rps", "pe0")
SEEDS = range(1, 21)
HYBRIDS = ("arrivals", "places", "sizes")
"""What is the load's, all else being the trace's."""
HYBRID_DRAWS = 8
"""Of the first draws hybrids are made: they tell where a difference comes from, not how large."""
SPREAD_SEEDS = range(1001, 1401)
"""Of the draws whose requests are only looked at."""
SCALES = (0.3, 1, 3, 10, 30, 100, 300, 1000)
"""Those of the fit, in mean gaps of the operation."""
_SECTOR_BYTES = 512


def beside(
    path: Path,
    format: str = "auto",
    seeds: Iterable[int] = SEEDS,
    spread_seeds: Iterable[int] = SPREAD_SEEDS,
) -> dict[str, Any]:
    """Fit a load to a trace, and return what policies make of both and of their hybrids."""
    trace = requests_of(rp.open_trace(path, format))
    load = fit(trace, path.name)
    known, seeds_of_spread = list(seeds), list(spread_seeds)
    own = shares(_recorded(path, format), POLICIES)
    found: dict[str, list[Mapping[str, float]]] = {
        name: [] for name in ("load", "at_its_scale", "moved", *HYBRIDS)
    }
    samples = []
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        for seed in known:
            samples.append(load.sample(seed))
            found["load"].append(shares(fitted(load, seed), POLICIES))
            found["at_its_scale"].append(_at(fitted(load, seed), own["time_scale"]))
            found["moved"].append(shares(_recorded(path, format, seed), POLICIES))
            for name in HYBRIDS if len(samples) <= HYBRID_DRAWS else ():
                file = Path(folder, f"{name}.trace")
                _write(hybrid(trace, samples[-1], name), file)
                found[name].append(shares(_recorded(file, "ssdsim"), POLICIES))
    return {
        "trace": path.name,
        "requests": len(trace),
        "draws": len(samples),
        "of_the_trace": own,
        **{name: _over(each) for name, each in found.items()},
        "spread": spread(trace, [load.sample(seed) for seed in seeds_of_spread]),
        "order": [asdict(line) for line in side_by_side(load.trace, list(map(order, samples)))],
    }


def spread(trace: Requests, draws: Sequence[Requests]) -> dict[str, Any]:
    """Say for each property of a trace where it lies among draws of its load."""
    own, found = _properties(trace), [_properties(draw) for draw in draws]
    return {
        "draws": len(draws),
        "windows": {name: len(trace.of(is_read)) // SCALES[-1]
                    for is_read, name in ((True, "reads"), (False, "writes"))},
        "properties": {name: _among(value, [each[name] for each in found])
                       for name, value in own.items()},
    }  # fmt: skip


def _properties(requests: Requests) -> dict[str, float | None]:
    values: dict[str, float | None] = {"one operation in a row": order(requests).mean_run}
    for is_read, name in ((True, "reads"), (False, "writes")):
        times = requests.of(is_read).time_ns
        for scale in SCALES:
            values[f"dispersion of {name} over {scale} gaps"] = dispersion(times, scale)
    return values


def _among(trace: float | None, draws: Sequence[float | None]) -> dict[str, float | None] | None:
    """Return mean, quantiles and the share of the draws below the trace; None if any is unknown."""
    values = np.array([one for one in draws if one is not None])
    if trace is None or len(values) < len(draws) or not len(values):
        return None
    low, median, high = (float(one) for one in np.quantile(values, (0.05, 0.5, 0.95)))
    below = float(np.mean(values < trace) + np.mean(values == trace) / 2)
    return {"trace": trace, "mean": float(values.mean()), "low": low, "median": median,
            "high": high, "below": below}  # fmt: skip


def _recorded(path: Path, format: str, moved: int | None = None) -> Make:
    """Return the scenarios of a trace; `moved` is the seed of another order of its devices."""
    workload: dict[str, Any] = {"trace": str(path), "format": format}
    if moved is not None:
        devices = sorted({row.device for row in rp.open_trace(path, format)})
        workload["devices"] = np.random.default_rng(moved).permutation(devices).tolist()

    def make(policy: str, scale: float) -> dict[str, Any]:
        scaled = {**workload, "time_scale": scale}
        return {"device": DEVICE, "policy": policy, "workload": scaled}

    return make


def _at(make: Make, scale: float) -> dict[str, float]:
    """Return each policy's mean latency of reads over that of FIFO at a time scale."""

    def mean(policy: str) -> float:
        summary = rp.run(make(policy, scale)).summary
        return float(summary["requests"]["read"]["latency_ns"]["mean"])

    base = mean("fifo")
    return {policy: mean(policy) / base for policy in POLICIES}


def _over(found: Sequence[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Return mean, 95 % interval, median and standard deviation of the draws, by policy."""
    over: dict[str, dict[str, Any]] = {}
    for policy in POLICIES:
        values = [each[policy] for each in found]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        middle = float(np.median(values))
        over[policy] = {**asdict(estimate(values)), "median": middle, "sd": spread, "draws": values}
    return over


def hybrid(trace: Requests, load: Requests, of_the_load: str) -> Requests:
    """Return the requests of one with the places and sizes of the other, by turns of an operation.

    The n-th read has the place and the size of the n-th read of the other, and so have writes. It
    ends where either has no further request of the operation. With "sizes" the requests of the
    trace have the sizes of the load alone.
    """
    arrivals, places = (load, trace) if of_the_load == "arrivals" else (trace, load)
    kept = np.ones(len(arrivals), dtype=np.bool_)
    offset, size = arrivals.offset_bytes.copy(), arrivals.size_bytes.copy()
    for is_read in (True, False):
        mine = np.flatnonzero(arrivals.is_read == is_read)
        other = places.of(is_read)
        count = min(len(mine), len(other))
        if of_the_load != "sizes":
            offset[mine[:count]] = other.offset_bytes[:count]
        size[mine[:count]] = other.size_bytes[:count]
        kept[mine[count:]] = False
    return replace(arrivals, offset_bytes=offset, size_bytes=size).where(kept)


def _write(requests: Requests, path: Path) -> None:
    """Write a trace of SSDsim: time in ns, device, first sector, sectors, 1 for a read."""
    rows = zip(
        requests.time_ns.tolist(),
        (requests.offset_bytes // _SECTOR_BYTES).tolist(),
        (-(-requests.size_bytes // _SECTOR_BYTES)).tolist(),
        requests.is_read.astype(int).tolist(),
        strict=True,
    )
    text = "".join(f"{time} 0 {sector} {count} {read}\n" for time, sector, count, read in rows)
    path.write_text(text, encoding="ascii")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON for each trace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", metavar="TRACE[=FORMAT]")
    parser.add_argument("--draws", type=int, default=len(SEEDS))
    given = parser.parse_args(arguments)
    for trace in given.traces:
        path, _, format = trace.partition("=")
        found = beside(Path(path), format or "auto", range(1, given.draws + 1))
        say(json.dumps(finite(found)))


if __name__ == "__main__":
    main()
