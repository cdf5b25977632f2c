"""The paper's figures, in its form."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars
from reprieve_studies.fast12.claims import (
    SENTENCES,
    Group,
    queue_percent,
    suspended_increase,
    suspended_share,
)
from reprieve_studies.fast12.runs import (
    BASE,
    CALIBRATED,
    DATA,
    DEVICES,
    LIMITS,
    REAL,
    SIMULATOR,
    Results,
)
from reprieve_studies.seeds import Estimate, estimate

_READ = "mean read latency, multiple of {base}"
_WRITE = "mean write latency, multiple of {base}"
_AVERAGE = "average"
_PAPER = "A line across a bar of the average is the paper's, where the text states it."
_SPREAD = "Bars of error are 95 % intervals over the seeds."
_AXIS = (0.9, 1.15)
"""Of the paper's Figures 3 and 4."""
Measure = Callable[[Group, str, str], float]
"""Of a load and a policy in the runs of a seed."""

_STATED: Mapping[tuple[int, str], tuple[str, Callable[[float], float]]] = {
    (1, "RPS"): ("rps_read_reduction", lambda percent: 1 - percent / 100),
    (1, "PE0"): ("pe0_read_reduction", lambda percent: 1 - percent / 100),
    (2, "PES_IPC"): ("ipc_reduction_of_rps", lambda percent: 1 - percent / 100),
    (3, "PES_IPS"): ("ips_above_ipc", lambda percent: 1 + percent / 100),
    (4, "RPS"): ("rps_write_overhead", lambda percent: 1 + percent / 100),
    (4, "PES_IPC"): ("ipc_write_overhead", lambda percent: 1 + percent / 100),
    (4, "PES_IPS"): ("ips_write_overhead", lambda percent: 1 + percent / 100),
    (5, "PES_IPC"): ("suspended_increase", lambda percent: 1 + percent / 100),
    (6, "PES_IPC"): ("suspended_share", lambda percent: percent / 100),
}
"""The sentence that states the average of a figure's bars, by figure and policy."""


def papers(results: Results, of: str = CALIBRATED) -> list[Figure]:
    """Return Figures 1 to 6 under a set of loads, and 7 under the calibrated ones."""
    suffix = {CALIBRATED: "", REAL: "-real"}.get(of, f"-{of}")

    def ratios(number: int, title: str, axis: str, op: str, policies: Sequence[str],
               domain: tuple[float, float] | None = None) -> Figure:  # fmt: skip
        base = policies[0]
        cut = "" if domain is None else " The axis is the paper's; what leaves it is cut off."
        caption = f"Normalised to {base}; SLC left, MLC right; after Figure {number} of the paper."

        def one(group: Group, load: str, policy: str) -> float:
            return group.ratio(load, policy, base, op)

        return _figure(results, of, (number, suffix, title, caption + cut, axis.format(base=base)),
                       policies, one, domain)  # fmt: skip

    def single(number: int, title: str, axis: str, measure: Measure) -> Figure:
        caption = f"Under PES_IPC; SLC left, MLC right; after Figure {number} of the paper."
        return _figure(results, of, (number, suffix, title, caption, axis), ["PES_IPC"], measure)

    found = [
        ratios(1, "reads under FIFO, RPS, PER and PE0", _READ, "read",
               ["FIFO", "RPS", "PER", "PE0"]),
        ratios(2, "reads with suspension", _READ, "read", ["RPS", "PER", "PE0", "PES_IPC"]),
        ratios(3, "reads, IPC against IPS", _READ, "read", ["PES_IPC", "PES_IPS"], _AXIS),
        ratios(4, "writes", _WRITE, "write", ["FIFO", "RPS", "PES_IPC", "PES_IPS"], _AXIS),
        single(5, "how much longer a suspended operation takes",
               "time of suspended programs and erases, multiple",
               lambda group, load, policy: 1 + suspended_increase(group.result(load, policy))),
        single(6, "how many operations are suspended", "suspended share of programs and erases",
               lambda group, load, policy: suspended_share(group.result(load, policy))),
    ]  # fmt: skip
    if of != CALIBRATED:
        return found
    return [*found, *(_figure_7(results, reading) for reading in (SIMULATOR, BASE))]


def _figure(
    results: Results,
    of: str,
    words: tuple[int, str, str, str, str],
    policies: Sequence[str],
    measure: Measure,
    domain: tuple[float, float] | None = None,
) -> Figure:
    """Draw every load and their average; `words`: number, suffix, title, caption and axis."""
    number, suffix, title, caption, axis = words
    values: dict[tuple[str, str, str], Estimate] = {}
    marks: dict[tuple[str, str, str], float] = {}
    loads = results.plan.sets[of]
    names = [load.trace for load in loads]
    for device in DEVICES:
        groups = [Group(one, device, names) for one in results.runs(of)]
        for load in loads:
            for policy in policies:
                values[device, load.label, policy] = estimate(
                    [measure(group, load.trace, policy) for group in groups]
                )
        for policy in policies:
            values[device, _AVERAGE, policy] = estimate(
                [fmean(measure(group, name, policy) for name in names) for group in groups]
            )
            sentence, of_percent = _STATED.get((number, policy), ("", float))
            for claim in SENTENCES:
                if claim.name == sentence:
                    marks[device, _AVERAGE, policy] = of_percent(claim.value[device])
    errors = _errors(values)
    notes = [caption, *([_SPREAD] if errors else []), *([_PAPER] if marks else [])]
    chart = Bars({key: one.mean for key, one in values.items()}, axis, ".2f", errors=errors,
                 marks=marks, domain=domain)  # fmt: skip
    return Figure(
        f"figure-{number}{suffix}", f"Figure {number}: {title}", " ".join(notes), chart.draw
    )


def _errors(
    values: Mapping[tuple[str, str, str], Estimate],
) -> dict[tuple[str, str, str], tuple[float, float]]:
    return {key: (one.low, one.high) for key, one in values.items()
            if one.low is not None and one.high is not None}  # fmt: skip


def _figure_7(results: Results, reading: str) -> Figure:
    values = {
        (device, str(limit), policy): estimate(
            [one / 100 for one in queue_percent(results, device, limit, policy, reading)]
        )
        for device in DEVICES
        for limit in LIMITS
        for policy in ("RPS", "PES_IPC")
    }
    chart = Bars({key: one.mean for key, one in values.items()}, _WRITE.format(base="FIFO"),
                 errors=_errors(values))  # fmt: skip
    of = "drive" if reading == SIMULATOR else "die"
    caption = (
        "Under F2, or its counterpart, compressed seven times more than for the other figures, in "
        f"{DATA.readings[reading].title}; groups are the maximum number of writes that wait for a "
        f"{of}. {_SPREAD}"
    )
    title = f"Figure 7: writes by the size of the write queue of a {of}"
    name = "figure-7" if reading == SIMULATOR else "figure-7-die"
    return Figure(name, title, caption, chart.draw)
