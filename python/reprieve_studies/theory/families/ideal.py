"""Suspension without cost: preemptive-resume, and programs that take no time."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.one_die import (
    IDEAL_KEYS,
    PHASES,
    PROGRAM_US,
    READ_US,
    SUSPENDED,
    classes_of,
    one_die,
)
from reprieve_studies.theory.formulas import (
    Class,
    Suspension,
    fifo_wait,
    preemptive_latency,
    with_load,
)


def without_cost(load: float, requests: int = 0) -> Point:
    """Return programs that stop and go on at once."""
    classes = classes_of(load)
    model = Suspension(*classes, PHASES)
    theory = {
        "read wait": model.read_wait(),
        "write latency": preemptive_latency(*classes),
        "suspensions": model.suspensions(),
        "share": model.share(),
    }
    keys = {"policy": "pes-ips", **IDEAL_KEYS}
    return theory, one_die(keys, *classes, requests, ratios=SUSPENDED)


def no_time(load: float, requests: int) -> Point:
    """Return reads beside half as many programs of no time."""
    reads, writes = with_load(load, READ_US), Class(load / READ_US / 2, PROGRAM_US)
    drive = one_die({"policy": "pe0", **IDEAL_KEYS}, reads, writes, requests)
    return {"read wait": fifo_wait(reads)}, drive
