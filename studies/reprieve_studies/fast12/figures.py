"""The paper's figures, in its form, and those that go beyond it."""

from collections.abc import Callable, Sequence
from statistics import geometric_mean
from typing import Any, NamedTuple

from reprieve import Result
from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Lines
from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12.claims import queue_ratio
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.measures import (
    Spot,
    ratio,
    suspended_increase,
    suspended_share,
)
from reprieve_studies.fast12.paper import DEVICES, QUEUE_LIMITS
from reprieve_studies.loads import Load

_READ = "mean read latency, multiple of {base}"
_WRITE = "mean write latency, multiple of {base}"


def papers(outcome: Outcome) -> list[Figure]:
    """Figures 1 to 7 under the paper's loads."""
    return [*_of_loads(outcome, outcome.plan.papers, ""), _figure_7(outcome, of_dies=False)]


def real(outcome: Outcome) -> list[Figure]:
    """Figures 1 to 6 under the real loads."""
    return _of_loads(outcome, outcome.plan.real, "-real") if outcome.plan.real else []


def _of_loads(outcome: Outcome, loads: Sequence[Load], suffix: str) -> list[Figure]:
    def ratios(number: int, title: str, axis: str, op: str, policies: Sequence[str]) -> Figure:
        base = policies[0]
        bars = Bars(
            {
                (device, load.label, policy): ratio(
                    outcome.main, Spot(device, load.trace, policy), base, op
                )
                for device in DEVICES
                for load in loads
                for policy in policies
            },
            axis.format(base=base),
        )
        caption = f"Normalised to {base}; SLC left, MLC right; after Figure {number} of the paper."
        return Figure(f"figure-{number}{suffix}", f"Figure {number}: {title}", caption, bars.draw)

    return [
        ratios(1, "reads under FIFO, RPS, PER and PE0", _READ, "read",
               ["FIFO", "RPS", "PER", "PE0"]),
        ratios(2, "reads with suspension", _READ, "read", ["RPS", "PER", "PE0", "PES_IPC"]),
        ratios(3, "reads, IPC against IPS", _READ, "read", ["PES_IPC", "PES_IPS"]),
        ratios(4, "writes", _WRITE, "write", ["FIFO", "RPS", "PES_IPC", "PES_IPS"]),
        _single(outcome, loads, 5, suffix, "how much longer a suspended operation takes",
                "increase of suspended programs and erases", suspended_increase),
        _single(outcome, loads, 6, suffix, "how many operations are suspended",
                "suspended share of programs and erases", suspended_share),
    ]  # fmt: skip


def _single(
    outcome: Outcome,
    loads: Sequence[Load],
    number: int,
    suffix: str,
    title: str,
    axis: str,
    measure: Callable[[Result], float],
) -> Figure:
    bars = Bars(
        {
            (device, load.label, "PES_IPC"): measure(
                outcome.main[Spot(device, load.trace, "PES_IPC")]
            )
            for device in DEVICES
            for load in loads
        },
        axis,
        ".0%",
    )
    caption = f"Under PES_IPC; SLC left, MLC right; after Figure {number} of the paper."
    return Figure(f"figure-{number}{suffix}", f"Figure {number}: {title}", caption, bars.draw)


def figure_7_of_dies(outcome: Outcome) -> Figure:
    """Figure 7 again, from the load under which the dies idle for the paper's share."""
    return _figure_7(outcome, of_dies=True)


def _figure_7(outcome: Outcome, *, of_dies: bool) -> Figure:
    bars = Bars(
        {
            (device, str(limit), policy): queue_ratio(
                outcome, device, limit, policy, of_dies=of_dies
            )
            for device in DEVICES
            for limit in QUEUE_LIMITS
            for policy in ("RPS", "PES_IPC")
        },
        _WRITE.format(base="FIFO"),
    )
    caption = (
        "Under F2, or its counterpart, compressed seven times more than for the other figures; "
        "groups are the maximum number of writes that wait for a die."
    )
    title = "Figure 7: writes by the size of the write queue"
    if of_dies:
        caption += " Compressed from dies that idle for 70 %, so that it overloads the drive."
        return Figure("figure-7-dies", f"{title}, overloaded", caption, bars.draw)
    return Figure("figure-7", title, caption, bars.draw)


def tails(outcome: Outcome) -> list[Figure]:
    """Read p99.99 against write latency for every variant, one figure a device."""
    figures = []
    for device in DEVICES:
        points: list[dict[str, Any]] = []
        for variant in beyond.SUSPENDING:
            found = ratios_to_rps(outcome, device, variant.name)
            points.append({"series": variant.title, "x": found.write_mean, "y": found.read_p99_99})
        lines = Lines(
            points,
            "mean write latency, multiple of RPS",
            "read p99.99, multiple of RPS",
            dots_only=[variant.title for variant in beyond.SUSPENDING],
        )
        caption = (
            f"{device}, full drive with garbage collection; geometric mean over the loads of the "
            "ratio to RPS; nearer to the lower left corner is better; FIFO and PE0 are in the "
            "table. The smallest number of reads behind a p99.99 is "
            f"{_fewest_reads(outcome, device):,}."
        )
        title = f"Read tail against write latency, {device}"
        figures.append(Figure(f"beyond-{device.lower()}", title, caption, lines.draw))
    return figures


def _fewest_reads(outcome: Outcome, device: str) -> int:
    return min(
        int(result.summary["requests"]["read"]["count"])
        for spot, result in outcome.beyond.items()
        if spot.device == device
    )


class Ratios(NamedTuple):
    """What a variant has of RPS: geometric means over the loads."""

    read_mean: float
    read_p99_99: float
    write_mean: float


def ratios_to_rps(outcome: Outcome, device: str, variant: str) -> Ratios:
    """Compare a variant with RPS, both on the full drive."""

    def over_loads(op: str, metric: str) -> float:
        return geometric_mean(
            _latency(outcome, device, load, variant, op, metric)
            / _latency(outcome, device, load, "rps", op, metric)
            for load in outcome.plan.loads
        )

    return Ratios(over_loads("read", "mean"), over_loads("read", "p99_99"),
                  over_loads("write", "mean"))  # fmt: skip


def _latency(
    outcome: Outcome, device: str, load: Load, variant: str, op: str, metric: str
) -> float:
    summary = outcome.beyond[Spot(device, load.trace, variant)].summary
    return float(summary["requests"][op]["latency_ns"][metric])
