"""Suspension without cost: preemptive-resume, and programs that take no time."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PROGRAM_US,
    READ_US,
    classes_of,
    one_die,
    suspended,
    waits,
)
from reprieve_studies.theory.formulas import (
    Class,
    Suspension,
    fifo_wait,
    preemptive_latency,
    with_load,
)
from reprieve_studies.theory.models import Drive

_PHASES = 1000
_RESUME = "preemptive-resume: E[S]/(1−ρ₁) + W₀/((1−ρ₁)(1−ρ₁−ρ₂))"
_SET_UP = "M/G/1 with set-up: λE[S²]/(2(1−ρ)) + (2E[D] + λE[D²])/(2(1 + λE[D]))"


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return loads up to 0.8; 0.6 in a quick run."""
    if quick:
        return [_suspended(0.6, 2_000_000), _no_time(0.15, 1_500_000)]
    runs = {0.3: 4_000_000, 0.6: 5_000_000, 0.8: 12_000_000}
    reads = {0.15: 2_000_000, 0.4: 2_000_000}
    return [
        *(_suspended(load, number) for load, number in runs.items()),
        *(_no_time(load, number) for load, number in reads.items()),
    ]


def _suspended(load: float, requests: int) -> Experiment:
    reads, writes = classes_of(load)
    model = Suspension(reads, writes, _PHASES)
    at = f"with ideal suspension at a load of {load}"
    count = "Poisson arrivals during the operation: λE[S], 1 − e^(−λS)"
    checks = [
        Check(
            f"wait of a read {at}",
            model.read_wait(),
            "µs",
            "read wait",
            _SET_UP,
            "wait of reads",
            load,
            note="a program stops at the end of one of its thousand phases of 0.16 µs",
        ),
        Check(
            f"latency of a write {at}",
            preemptive_latency(reads, writes),
            "µs",
            "write latency",
            _RESUME,
            "latency of writes",
            load,
        ),
        Check(f"suspensions a program {at}", model.suspensions(), "1", "suspensions", count),
        Check(f"share of programs suspended {at}", model.share(), "1", "share", count),
    ]
    scenario = one_die({"policy": "pes-ips", **IDEAL_KEYS}, reads, writes, requests)
    return Experiment(f"ideal suspension at {load}", Drive(scenario, **suspended()), checks)


def _no_time(load: float, requests: int) -> Experiment:
    reads, writes = with_load(load, READ_US), Class(load / READ_US / 2, PROGRAM_US)
    claim = f"wait of a read beside programs of no time (PE0) at a load of reads of {load}"
    check = Check(
        claim, fifo_wait(reads), "µs", "read wait", "preemptive-resume, first class: M/D/1"
    )
    scenario = one_die({**IDEAL_KEYS, "policy": "pe0"}, reads, writes, requests)
    return Experiment(f"PE0 at {load}", Drive(scenario, waits), [check])


def curves() -> Mapping[str, Curve]:
    """Return waits of reads and latencies of writes over the load."""
    loads = [step / 100 for step in range(5, 86)]
    return {
        "wait of reads": [
            (load, Suspension(*classes_of(load), _PHASES).read_wait()) for load in loads
        ],
        "latency of writes": [(load, preemptive_latency(*classes_of(load))) for load in loads],
    }
