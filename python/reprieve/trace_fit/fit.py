"""A load of two flows, reads and writes, that follow each other as the requests of a trace do."""

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.trace_fit.bursts import bursts
from reprieve.trace_fit.by_size import BySize, by_size
from reprieve.trace_fit.draws import drawn, drawn_times
from reprieve.trace_fit.order import Order, Requests, order

DRIVE = "fast12-slc"
"""The drive that a load is laid on to look at it; nothing is simulated."""
DRAWS = 8
"""Draws of a load that are averaged: their runs of one operation vary by a tenth."""
_REQUESTS_MIN = 100
_ALIGNED = 0.95
_COLUMNS = 96
_REQUESTS_MAX = 100_000
"""Requests of an operation that are drawn for a fit: the first ones."""


@dataclass(frozen=True)
class Flow:
    """The keys of a flow `[flow.NAME]`, without those that all have in common."""

    requests: int
    read_fraction: float
    by_size: BySize
    rate_iops: float
    train_requests: float = 1.0
    train_gap_us: float = 0.0
    train_simultaneous_fraction: float = 0.0
    train_bias: tuple[float, ...] = (0.5,)

    def keys(self) -> dict[str, object]:
        """Return them as a scenario has them."""
        own = {key: value for key, value in vars(self).items() if key != "by_size"}
        return own | vars(self.by_size)


@dataclass(frozen=True)
class _Way:
    """A flow with trains, how far its dispersions are from the trace's, and when draws arrive."""

    flow: Flow
    miss: float
    draws_ns: Sequence[NDArray[np.int64]]


@dataclass(frozen=True)
class FittedLoad:
    """A load, and what it was fitted to."""

    common: dict[str, object]
    flows: dict[str, Flow]
    trace: Order

    def scenario(self, **top: object) -> dict[str, object]:
        """Return a scenario of it: `top` has the drive, the policy, the seed."""
        flows = {name: flow.keys() for name, flow in self.flows.items()}
        return {**top, "workload": self.common, "flow": flows}

    def sample(self, seed: int) -> Requests:
        """Draw the load once."""
        whole = {**self.common, "footprint_bytes": "none"}
        flows = {name: flow.keys() for name, flow in self.flows.items()}
        return drawn({"device": DRIVE, "seed": seed, "workload": whole, "flow": flows})

    def toml(self, source: str, verdict: str = "") -> str:
        """Return it as a file that the key `load` names; `verdict` goes into its comment."""
        lines = [
            f"# A load of reads and writes that follow each other as those of {source} do.",
            "#",
            f"# Fitted by `reprieve trace fit` to {self.trace.requests} requests of it; it is made",
            "# anew by each seed. docs/guide/traces.md says what each key is taken from.",
            *textwrap.wrap(verdict, _COLUMNS, initial_indent="# ", subsequent_indent="# "),
            "",
            "[workload]",
            *(_line(key, value) for key, value in self.common.items()),
        ]
        for name, flow in self.flows.items():
            lines += ["", f"[flow.{name}]"]
            lines += [_line(key, value) for key, value in flow.keys().items()]
        return "\n".join(lines) + "\n"


def _line(key: str, value: object) -> str:
    if isinstance(value, str):
        return f'{key} = "{value}"'
    if isinstance(value, tuple):
        # No line ends within a pair.
        items = ", ".join(
            f"[{item[0]},\u00a0{item[1]:g}]" if isinstance(item, tuple) else f"{item:g}"
            for item in value
        )
        lines = textwrap.wrap(items, _COLUMNS, initial_indent="  ", subsequent_indent="  ")
        return "\n".join([f"{key} = [", *lines, "]"]).replace("\u00a0", " ")
    return f"{key} = {value:.6g}" if isinstance(value, float) else f"{key} = {value}"


def fit(requests: Requests, name: str = "the trace") -> FittedLoad:
    """Fit flows of reads and of writes to requests.

    Raises UserError if an operation occurs fewer than 100 times, or if all arrive at once.
    """
    if requests.span_ns == 0:
        raise UserError(f"trace fit: all requests of {name} arrive together; it needs their times")
    gaps = np.diff(requests.time_ns)
    # The least gap that is common: the tick of the clock, if it has a coarse one.
    tick_ns = max(int(np.quantile(gaps[gaps > 0], 0.01)), 1000)
    extent = int((requests.offset_bytes + requests.size_bytes).max())
    grains = (grain for grain in (4096, 2048, 1024)
              if np.mean(requests.offset_bytes % grain == 0) >= _ALIGNED)  # fmt: skip
    align = next(grains, 512)
    common: dict[str, object] = {
        "generator": "mixed",
        "addresses": "uniform",
        "align_bytes": align,
        "footprint_bytes": math.ceil(extent / align) * align,
        "arrivals": "trains",
        "train_span_s": (requests.span_ns + tick_ns) / 1e9,
        "train_tick_us": tick_ns / 1e3,
    }
    ways: dict[str, list[_Way]] = {}
    for is_read, flow_name in ((True, "reads"), (False, "writes")):
        part = requests.of(is_read)
        if not len(part):
            continue
        if len(part) < _REQUESTS_MIN:
            raise UserError(
                f"trace fit: {name} has {len(part)} {flow_name}; a flow needs at least "
                f"{_REQUESTS_MIN}, or none"
            )
        # Without trains yet; rarer sizes are left out.
        sizes, _left_out = by_size(part)
        rate_iops = len(part) / requests.span_ns * 1e9
        flow = Flow(len(part), 1.0 if is_read else 0.0, sizes, rate_iops)
        # Flows that are drawn apart from each other need seeds of their own.
        ways[flow_name] = _ways(flow, common, part.time_ns, len(ways) * DRAWS + 1)
    wanted = order(requests)
    chosen = min(itertools.product(*ways.values()), key=lambda one: _miss(one, wanted.mean_run))
    flows = {name: way.flow for name, way in zip(ways, chosen, strict=True)}
    return FittedLoad(common, flows, wanted)


def _ways(
    flow: Flow, common: dict[str, object], time_ns: NDArray[np.int64], first_seed: int
) -> list[_Way]:
    """Return the flow with each kind of trains that the trace may have, drawn alone."""
    tick_ns = float(common["train_tick_us"]) * 1e3  # type: ignore[arg-type]
    span_ns = float(common["train_span_s"]) * 1e9  # type: ignore[arg-type]
    ways = []
    for found in bursts(time_ns, span_ns, tick_ns):
        with_trains = replace(
            flow,
            train_requests=found.trains.requests,
            train_gap_us=round(found.trains.gap_ns) / 1e3,
            train_simultaneous_fraction=found.trains.simultaneous_fraction,
            train_bias=found.bias,
        )
        scenario = {
            "device": DRIVE,
            "workload": {**common, "footprint_bytes": "none"},
            "flow": {"alone": with_trains.keys()},
        }
        seeds = range(first_seed, first_seed + DRAWS)
        draws = [drawn_times({**scenario, "seed": seed}, _REQUESTS_MAX) for seed in seeds]
        ways.append(_Way(with_trains, found.miss, draws))
    return ways


def _miss(ways: Sequence[_Way], mean_run: float) -> float:
    """Return how far flows are from a trace together, as squares of logarithms of load over trace.

    Of each flow the dispersions count, and of two also how many requests of one follow each other.
    """
    miss = sum(way.miss for way in ways)
    if len(ways) == 1:
        return miss
    runs = [_mean_run(draw) for draw in zip(*(way.draws_ns for way in ways), strict=True)]
    return miss + math.log(float(np.mean(runs)) / mean_run) ** 2


def _mean_run(flows_ns: Sequence[NDArray[np.int64]]) -> float:
    """Return how many requests of one flow follow each other while all flows go on."""
    end_ns = min(time_ns[-1] for time_ns in flows_ns)
    merged_ns = np.concatenate([time_ns[time_ns <= end_ns] for time_ns in flows_ns])
    which = np.repeat(
        np.arange(len(flows_ns)), [np.count_nonzero(time_ns <= end_ns) for time_ns in flows_ns]
    )
    in_order = which[np.argsort(merged_ns, kind="stable")]
    return len(in_order) / (np.count_nonzero(np.diff(in_order)) + 1)
