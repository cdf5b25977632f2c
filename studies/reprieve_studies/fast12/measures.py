"""What the paper's figures and sentences measure, from the results of runs."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from reprieve import Result
from reprieve_studies.seeds import Estimate, estimate

POLICIES = {
    "FIFO": "fifo",
    "RPS": "rps",
    "PER": "per",
    "PE0": "pe0",
    "PES_IPS": "pes-ips",
    "PES_IPC": "pes-ipc",
}
"""The paper's names, in its order, and the scenario's `policy` for each."""


class Spot(NamedTuple):
    """Which run."""

    device: str
    """"SLC" or "MLC"."""
    load: str
    """The paper's name of its trace."""
    policy: str


Runs = Mapping[Spot, Result]


def mean_ns(result: Result, op: str) -> float:
    """Mean latency of "read" or "write" in ns; not a number if there was none."""
    group = result.summary["requests"][op]
    return float(group["latency_ns"]["mean"]) if group["count"] else float("nan")


def ratio(runs: Runs, spot: Spot, base: str, op: str) -> float:
    """Mean latency of a run over that under the policy `base`, same device and load."""
    return mean_ns(runs[spot], op) / mean_ns(runs[spot._replace(policy=base)], op)


def suspended_count(result: Result) -> int:
    """Programs and erases that were suspended at least once."""
    groups = result.summary["flash"]["suspended_operations"]
    return sum(int(groups[kind]["count"]) for kind in ("program", "erase"))


def suspended_share(result: Result) -> float:
    """Share of programs and erases that were suspended at least once (Figure 6)."""
    flash = result.summary["flash"]
    operations = int(flash["programs"]) + int(flash["erases"])
    return suspended_count(result) / operations if operations else 0.0


def suspended_increase(result: Result) -> float:
    """By what share a suspended program or erase took longer than undisturbed (Figure 5)."""
    groups = result.summary["flash"]["suspended_operations"]
    count = suspended_count(result)
    total = sum(groups[kind]["count"] * groups[kind]["increase_mean"] for kind in groups)
    return float(total / count) if count else 0.0


def suspended_increase_of_array(result: Result, bus_ns: int) -> float:
    """Return the same, over the time in the array alone, without the transfer in."""
    groups = result.summary["flash"]["suspended_operations"]
    count = suspended_count(result)
    total = 0.0
    for kind, group in groups.items():
        if group["count"]:
            array_ns = group["undisturbed_ns_mean"] - (bus_ns if kind == "program" else 0)
            more_ns = group["actual_ns_mean"] - group["undisturbed_ns_mean"]
            total += group["count"] * more_ns / array_ns
    return total / count if count else 0.0


class Group:
    """The runs of one device under some loads."""

    def __init__(self, runs: Runs, device: str, loads: Sequence[str]) -> None:
        self._runs = runs
        self._device = device
        self.loads = tuple(loads)

    def ratio(self, load: str, policy: str, base: str, op: str) -> float:
        """Mean latency under a policy over that under `base`."""
        return ratio(self._runs, Spot(self._device, load, policy), base, op)

    def ratios(self, policy: str, base: str, op: str) -> list[float]:
        """Return the same for every load."""
        return [self.ratio(load, policy, base, op) for load in self.loads]

    def has(self, policy: str) -> bool:
        """Whether there are runs of a policy."""
        return all(Spot(self._device, load, policy) in self._runs for load in self.loads)

    def result(self, load: str, policy: str) -> Result:
        """One run."""
        return self._runs[Spot(self._device, load, policy)]

    def results(self, policy: str) -> list[Result]:
        """Return the runs of a policy."""
        return [self.result(load, policy) for load in self.loads]


def _reduction(policy: str, base: str) -> Callable[[Group], float]:
    return lambda group: 100 * (1 - fmean(group.ratios(policy, base, "read")))


def _overhead(policy: str, pick: Callable[[list[float]], float]) -> Callable[[Group], float]:
    return lambda group: 100 * (pick(group.ratios(policy, "FIFO", "write")) - 1)


def _mean_of(measure: Callable[[Result], float]) -> Callable[[Group], float]:
    return lambda group: 100 * fmean(measure(result) for result in group.results("PES_IPC"))


MEASURES: dict[str, Callable[[Group], float]] = {
    "rps_read_reduction": _reduction("RPS", "FIFO"),
    "pe0_read_reduction": _reduction("PE0", "FIFO"),
    "contention_left": lambda group: fmean(group.ratios("RPS", "PE0", "read")),
    "ipc_reduction_of_rps": _reduction("PES_IPC", "RPS"),
    "ipc_reduction_of_fifo": _reduction("PES_IPC", "FIFO"),
    "ipc_above_pe0": lambda group: 100 * (max(group.ratios("PES_IPC", "PE0", "read")) - 1),
    "ips_above_ipc": lambda group: 100 * (fmean(group.ratios("PES_IPS", "PES_IPC", "read")) - 1),
    "ips_above_ipc_f1": lambda group: 100 * (group.ratio("F1", "PES_IPS", "PES_IPC", "read") - 1),
    "rps_write_overhead": _overhead("RPS", fmean),
    "rps_write_overhead_most": _overhead("RPS", max),
    "ips_write_overhead": _overhead("PES_IPS", fmean),
    "ips_write_overhead_most": _overhead("PES_IPS", max),
    "ipc_write_overhead": _overhead("PES_IPC", fmean),
    "ipc_write_overhead_most": _overhead("PES_IPC", max),
    "suspended_increase": _mean_of(suspended_increase),
    "suspended_share": _mean_of(suspended_share),
}
"""By the name that `paper.SENTENCES` uses: per cent, or a plain ratio."""


def over_seeds(
    runs: Sequence[Runs], device: str, loads: Sequence[str], measure: Callable[[Group], float]
) -> Estimate:
    """Measure the runs of each seed by themselves, and return mean and interval."""
    return estimate([measure(Group(one, device, loads)) for one in runs])


def suspends(group: Group) -> bool:
    """Whether anything was suspended under PES_IPS and PES_IPC, for a claim about them to mean."""
    policies = [policy for policy in ("PES_IPS", "PES_IPC") if group.has(policy)]
    return all(any(map(suspended_count, group.results(policy))) for policy in policies)


def prefers_reads(group: Group) -> bool:
    """Whether RPS ever put a read before what FIFO serves first."""
    return any(ratio != 1.0 for ratio in group.ratios("RPS", "FIFO", "read"))
