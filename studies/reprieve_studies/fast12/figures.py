"""The paper's figures, in its form, and those that go beyond it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, geometric_mean
from typing import Any, NamedTuple

from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, Lines
from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12.alternatives import BASE, SIMULATOR, Alternative
from reprieve_studies.fast12.claims import queue_percent
from reprieve_studies.fast12.experiment import REAL, Outcome
from reprieve_studies.fast12.loads import CALIBRATED
from reprieve_studies.fast12.measures import (
    Group,
    Runs,
    Spot,
    suspended_increase,
    suspended_share,
)
from reprieve_studies.fast12.paper import DEVICES, QUEUE_LIMITS, SENTENCES
from reprieve_studies.loads import Load
from reprieve_studies.seeds import Estimate, estimate

_READ = "mean read latency, multiple of {base}"
_WRITE = "mean write latency, multiple of {base}"
_AVERAGE = "average"
_PAPER = "A line across a bar of the average is the paper's, where the text states it."
_SPREAD = "Bars of error are 95 % intervals over the seeds."
_AXIS = (0.9, 1.15)
"""Of the paper's Figures 3 and 4."""


def papers(outcome: Outcome, of: str = CALIBRATED) -> list[Figure]:
    """Figures 1 to 7 under a set of the paper's loads."""
    suffix = "" if of == CALIBRATED else f"-{of}"
    found = _of_loads(outcome, of, suffix)
    if of != CALIBRATED:
        return found
    return [*found, *(_figure_7(outcome, reading) for reading in (SIMULATOR, BASE))]


def real(outcome: Outcome) -> list[Figure]:
    """Figures 1 to 6 under the real loads."""
    return _of_loads(outcome, REAL, "-real") if outcome.plan.loads(REAL) else []


def _stated(measure: str, device: str) -> float | None:
    """Return a sentence's number for a drive."""
    return next((one.of(device) for one in SENTENCES if one.measure == measure), None)


def _reduced(measure: str) -> Callable[[str], float | None]:
    def of(device: str) -> float | None:
        percent = _stated(measure, device)
        return None if percent is None else 1 - percent / 100

    return of


def _raised(measure: str) -> Callable[[str], float | None]:
    def of(device: str) -> float | None:
        percent = _stated(measure, device)
        return None if percent is None else 1 + percent / 100

    return of


def _share(measure: str) -> Callable[[str], float | None]:
    def of(device: str) -> float | None:
        percent = _stated(measure, device)
        return None if percent is None else percent / 100

    return of


_AVERAGES: Mapping[tuple[int, str], Callable[[str], float | None]] = {
    (1, "RPS"): _reduced("rps_read_reduction"),
    (1, "PE0"): _reduced("pe0_read_reduction"),
    (2, "PES_IPC"): _reduced("ipc_reduction_of_rps"),
    (3, "PES_IPS"): _raised("ips_above_ipc"),
    (4, "RPS"): _raised("rps_write_overhead"),
    (4, "PES_IPC"): _raised("ipc_write_overhead"),
    (4, "PES_IPS"): _raised("ips_write_overhead"),
    (5, "PES_IPC"): _raised("suspended_increase"),
    (6, "PES_IPC"): _share("suspended_share"),
}
"""What the text states of the average of a figure's bars, by figure and policy."""


def _of_loads(outcome: Outcome, of: str, suffix: str) -> list[Figure]:
    def ratios(
        number: int,
        title: str,
        axis: str,
        op: str,
        policies: Sequence[str],
        domain: tuple[float, float] | None = None,
    ) -> Figure:
        base = policies[0]

        def one(group: Group, load: str, policy: str) -> float:
            return group.ratio(load, policy, base, op)

        caption = f"Normalised to {base}; SLC left, MLC right; after Figure {number} of the paper."
        if domain is not None:
            caption += " The axis is the paper's; what leaves it is cut off."
        bars = _bars(outcome, of, number, policies, one)
        return _figure(number, suffix, title, caption, axis.format(base=base), bars, domain)

    return [
        ratios(1, "reads under FIFO, RPS, PER and PE0", _READ, "read",
               ["FIFO", "RPS", "PER", "PE0"]),
        ratios(2, "reads with suspension", _READ, "read", ["RPS", "PER", "PE0", "PES_IPC"]),
        ratios(3, "reads, IPC against IPS", _READ, "read", ["PES_IPC", "PES_IPS"], _AXIS),
        ratios(4, "writes", _WRITE, "write", ["FIFO", "RPS", "PES_IPC", "PES_IPS"], _AXIS),
        _single(outcome, of, 5, suffix, "how much longer a suspended operation takes",
                "time of suspended programs and erases, multiple",
                lambda group, load, policy: 1 + suspended_increase(group.result(load, policy))),
        _single(outcome, of, 6, suffix, "how many operations are suspended",
                "suspended share of programs and erases",
                lambda group, load, policy: suspended_share(group.result(load, policy))),
    ]  # fmt: skip


Measure = Callable[[Group, str, str], float]
"""Of a load and a policy in the runs of a seed."""
Drawn = tuple[
    dict[tuple[str, str, str], float],
    dict[tuple[str, str, str], tuple[float, float]],
    dict[tuple[str, str, str], float],
]
"""Bars, their intervals, and the paper's averages, by device, group and series."""


def _bars(
    outcome: Outcome, of: str, number: int, policies: Sequence[str], measure: Measure
) -> Drawn:
    """Measure every load and their average."""
    values: dict[tuple[str, str, str], float] = {}
    errors: dict[tuple[str, str, str], tuple[float, float]] = {}
    marks: dict[tuple[str, str, str], float] = {}
    loads = outcome.plan.loads(of)
    for device in DEVICES:
        for load, found in _groups(outcome.runs(of), device, loads, policies, measure):
            for policy, one in found.items():
                key = (device, load, policy)
                values[key] = one.mean
                if one.low is not None and one.high is not None:
                    errors[key] = (one.low, one.high)
                stated = _AVERAGES.get((number, policy))
                paper = stated(device) if stated is not None and load == _AVERAGE else None
                if paper is not None:
                    marks[key] = paper
    return values, errors, marks


def _groups(
    runs: Sequence[Runs],
    device: str,
    loads: Sequence[Load],
    policies: Sequence[str],
    measure: Measure,
) -> Iterator[tuple[str, dict[str, Estimate]]]:
    names = [load.trace for load in loads]
    groups = [Group(one, device, names) for one in runs]
    for load in loads:
        yield (
            load.label,
            {
                policy: estimate([measure(group, load.trace, policy) for group in groups])
                for policy in policies
            },
        )
    yield (
        _AVERAGE,
        {
            policy: estimate([fmean(measure(group, name, policy) for name in names)
                              for group in groups])
            for policy in policies
        },
    )  # fmt: skip


def _figure(
    number: int,
    suffix: str,
    title: str,
    caption: str,
    axis: str,
    drawn: Drawn,
    domain: tuple[float, float] | None = None,
    format: str = ".2f",
) -> Figure:
    values, errors, marks = drawn
    shown = Bars(values, axis, format, errors=errors, marks=marks, domain=domain)
    notes = [caption, *([_SPREAD] if errors else []), *([_PAPER] if marks else [])]
    name, title = f"figure-{number}{suffix}", f"Figure {number}: {title}"
    return Figure(name, title, " ".join(notes), shown.draw)


def _single(
    outcome: Outcome,
    of: str,
    number: int,
    suffix: str,
    title: str,
    axis: str,
    measure: Measure,
) -> Figure:
    caption = f"Under PES_IPC; SLC left, MLC right; after Figure {number} of the paper."
    bars = _bars(outcome, of, number, ["PES_IPC"], measure)
    return _figure(number, suffix, title, caption, axis, bars)


def _figure_7(outcome: Outcome, reading: Alternative) -> Figure:
    values: dict[tuple[str, str, str], float] = {}
    errors: dict[tuple[str, str, str], tuple[float, float]] = {}
    for device in DEVICES:
        for limit in QUEUE_LIMITS:
            for policy in ("RPS", "PES_IPC"):
                percent = queue_percent(outcome, device, limit, policy, reading.name)
                found = estimate([one / 100 for one in percent])
                key = (device, str(limit), policy)
                values[key] = found.mean
                if found.low is not None and found.high is not None:
                    errors[key] = (found.low, found.high)
    bars = Bars(values, _WRITE.format(base="FIFO"), errors=errors)
    of = "drive" if reading is SIMULATOR else "die"
    caption = (
        "Under F2, or its counterpart, compressed seven times more than for the other figures, in "
        f"{reading.title}; groups are the maximum number of writes that wait for a {of}. {_SPREAD}"
    )
    title = f"Figure 7: writes by the size of the write queue of a {of}"
    name = "figure-7" if reading is SIMULATOR else "figure-7-die"
    return Figure(name, title, caption, bars.draw)


def tails(outcome: Outcome) -> list[Figure]:
    """Read p99.99 against write latency for every variant, one figure a device."""
    figures = []
    for device in DEVICES:
        points: list[dict[str, Any]] = []
        for variant in beyond.SUSPENDING:
            found = ratios_to_rps(outcome, device, variant.name)
            points.append(
                {
                    "series": variant.title,
                    "x": found.write_mean.mean,
                    "y": found.read_p99_99.mean,
                    **(
                        {}
                        if found.read_p99_99.low is None
                        else {"low": found.read_p99_99.low, "high": found.read_p99_99.high}
                    ),
                }
            )
        lines = Lines(
            points,
            "mean write latency, multiple of RPS",
            "read p99.99, multiple of RPS",
            dots_only=[variant.title for variant in beyond.SUSPENDING],
        )
        caption = (
            f"{device}, full drive with garbage collection; geometric mean over the calibrated "
            "loads of the ratio to RPS, with 95 % intervals over the seeds; nearer to the lower "
            "left corner is better; FIFO and PE0 are in the table. The smallest number of reads "
            f"behind a p99.99 is {_fewest_reads(outcome, device):,}."
        )
        title = f"Read tail against write latency, {device}"
        figures.append(Figure(f"beyond-{device.lower()}", title, caption, lines.draw))
    return figures


def _fewest_reads(outcome: Outcome, device: str) -> int:
    return min(
        int(result.summary["requests"]["read"]["count"])
        for of in beyond.SETS
        for runs in (outcome.runs(of, beyond.READING) if outcome.plan.loads(of) else [])
        for spot, result in runs.items()
        if spot.device == device
    )


class Ratios(NamedTuple):
    """What a variant has of RPS: geometric means over the loads, each with its interval."""

    read_mean: Estimate
    read_p99_99: Estimate
    write_mean: Estimate


def ratios_to_rps(outcome: Outcome, device: str, variant: str) -> Ratios:
    """Compare a variant with RPS on the full drive, pair by pair: the same load and seed."""

    def over_loads(op: str, metric: str) -> Estimate:
        of_seed = []
        for runs in outcome.runs(CALIBRATED, beyond.READING):
            loads = [load.trace for load in outcome.plan.loads(CALIBRATED)]
            of_seed.append(
                geometric_mean(_ratio(runs, device, load, variant, op, metric) for load in loads)
            )
        return estimate(of_seed)

    return Ratios(
        over_loads("read", "mean"), over_loads("read", "p99_99"), over_loads("write", "mean")
    )


def _ratio(runs: Runs, device: str, load: str, variant: str, op: str, metric: str) -> float:
    of, base = (
        float(runs[Spot(device, load, name)].summary["requests"][op]["latency_ns"][metric])
        for name in (variant, "rps")
    )
    return of / base
