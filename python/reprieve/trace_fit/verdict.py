"""Comparison of a fitted load with its trace: both run through a drive."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reprieve import words
from reprieve._native import UserError
from reprieve.confidence import is_known
from reprieve.parallel import each
from reprieve.scenario import Source
from reprieve.simulation import Watch, simulate
from reprieve.trace_fit.draws import drawn
from reprieve.trace_fit.fit import FittedLoad
from reprieve.traces import Trace
from reprieve.units import share

DEVICE = "fast12-mlc"
"""The drive that both are run through if none is named."""
WITHIN = 0.15
"""A load whose read p99 is further from that of its trace misses it."""
_RUNS = 3
"""Draws of the load: its p99 varies from one to the next."""


@dataclass(frozen=True)
class Percentile:
    """A percentile under trace and load; None where too few requests lie beyond it."""

    what: str
    """`read p99`."""
    trace_ns: int | None
    load_ns: float | None
    """Mean over the draws of the load."""
    low_ns: int | None
    """Least of the draws."""
    high_ns: int | None

    @property
    def difference(self) -> float | None:
        """Return load over trace, less 1."""
        if self.trace_ns is None or self.load_ns is None:
            return None
        return self.load_ns / max(self.trace_ns, 1) - 1


@dataclass(frozen=True)
class Verdict:
    """Latencies of a drive under a trace, and under the load that was fitted to it."""

    device: str
    percentiles: tuple[Percentile, ...]

    @property
    def misses(self) -> bool | None:
        """Whether the read p99 of the load is beyond 15 %; None if there are too few reads."""
        difference = self._judged.difference
        return None if difference is None else abs(difference) > WITHIN

    @property
    def _judged(self) -> Percentile:
        return next(each for each in self.percentiles if each.what == "read p99")

    def sentence(self) -> str:
        """Say in one sentence whether the load does in place of the trace."""
        judged = self._judged
        if judged.trace_ns is None or judged.load_ns is None or judged.difference is None:
            return f"Too few reads for a p99: it is open whether the load is near on {self.device}."
        verb = "misses" if self.misses else "is near"
        load_us, trace_us = judged.load_ns / 1e3, judged.trace_ns / 1e3
        off = f"{100 * judged.difference:+.0f} %; {share(WITHIN, 0)} are allowed"
        return (
            f"On {self.device} the load {verb} its trace: read p99 is {load_us:,.0f} us in place "
            f"of {trace_us:,.0f} us ({off})."
        )

    def content(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "device": self.device,
            "misses": self.misses,
            "sentence": self.sentence(),
            "percentiles": [
                {**asdict(one), "difference": one.difference} for one in self.percentiles
            ],
        }


def verdict(trace: Trace, load: FittedLoad, device: str, count: int | None) -> Verdict:
    """Run the first requests of a trace, or all, and draws of its load, through a drive."""
    workload: dict[str, Any] = {"trace": trace.path, "format": trace.format}
    workload |= {key: words.value(value) for key, value in trace.options.items()}
    if count is not None:
        workload["max_requests"] = count
    scenarios: list[Mapping[str, Any]] = [{"device": device, "workload": workload}]
    # A trace that is larger than the drive wraps around; a load of its size takes all of it.
    made = load.scenario(device=device)
    common: dict[str, Any] = dict(load.common)
    try:
        drawn(made, 1)
    except UserError:
        common["footprint_bytes"] = "none"
    scenarios += [{**made, "workload": common, "seed": seed} for seed in range(1, _RUNS + 1)]

    def one(scenario: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
        found: dict[str, Any] = simulate(Source.of(scenario, {}), watch=watch).summary
        return dict(found["requests"])

    ours, *draws = each(scenarios, None, one)
    rows = (("read", "p50"), ("read", "p99"), ("write", "p99"))
    return Verdict(device, tuple(_percentile(ours, draws, *row) for row in rows))


def _percentile(
    trace: Mapping[str, Any], draws: Sequence[Mapping[str, Any]], kind: str, name: str
) -> Percentile:
    def known(requests: Mapping[str, Any]) -> int | None:
        found = requests[kind]
        return int(found["latency_ns"][name]) if is_known(found["count"], name) else None

    of_draws = [value for value in map(known, draws) if value is not None]
    what = f"{kind} {name}"
    if not of_draws:
        return Percentile(what, known(trace), None, None, None)
    mean = sum(of_draws) / len(of_draws)
    return Percentile(what, known(trace), mean, min(of_draws), max(of_draws))
