#!/usr/bin/env python3
"""Let a die of Wu and He's SLC and MLC drives commit several operations at a time.

The simulator of the paper is said to hand a die many queued operations before it looks again, so
that a read with priority waits for more than the program in progress. This program has sixteen such
dies, whose pages are operations, and takes the loads from Reprieve; with one operation at a time it
has the mean read of `reprieve reproduce fast12` within two per cent.

    python examples/committed_dies.py            a table, some minutes
"""

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import product as product_of
from statistics import fmean
from typing import NamedTuple

from reprieve_studies.fast12.runs import BASE, DATA, MAIN, Plan, counterparts
from reprieve_studies.seeds import estimate

SEEDS = (1, 2, 3, 4, 5)
REQUESTS = 15_000
IDLE_SHARES = (0.70, 0.75, 0.80)
"""Of the dies, under FIFO."""
COMMITTED = (1, 2, 4, 8)
"""Operations that a die takes on at a time, at most."""
DIES = 16
PAGE_BYTES = {"SLC": 2048, "MLC": 4096}
LINK_NS_PER_BYTE = 0.5
MEASURES: Mapping[str, Callable[[float, float, float], float]] = {
    "rps_read_reduction": lambda fifo, rps, _: 100 * (1 - rps / fifo),
    "pe0_read_reduction": lambda fifo, _, pe0: 100 * (1 - pe0 / fifo),
    "contention_left": lambda _, rps, pe0: rps / pe0,
}
"""Of mean reads: RPS and PE0 against FIFO in %, RPS over PE0."""


class Request(NamedTuple):
    """A request of the host; its pages lie on the dies of their numbers."""

    at_ns: float
    is_read: bool
    first_byte: int
    bytes: int


class Load(NamedTuple):
    """A load on a device: its requests, and how busy they keep the dies."""

    device: str
    requests: Sequence[Request]
    busy_share: float
    times_ns: Mapping[str, float]
    """Of "read", "program" and "bus"."""


Operation = tuple[float, bool, int]
"""When it comes to its die, whether it is a read, and the number of its request."""


def ends(operations: Sequence[Operation], policy: str, committed: int,
         times_ns: Mapping[str, float]) -> list[tuple[int, float]]:  # fmt: skip
    """Serve the operations of a die, in order of arrival; returns requests and their ends.

    A free die commits those that wait, at most so many: reads first, but under FIFO. What comes
    later waits until they are done.
    """
    first: deque[Operation] = deque()
    others: deque[Operation] = deque()
    now, come, done = 0.0, 0, []
    while come < len(operations) or first or others:
        if not (first or others):
            now = max(now, operations[come][0])
        while come < len(operations) and operations[come][0] <= now:
            goes_first = operations[come][1] and policy != "FIFO"
            (first if goes_first else others).append(operations[come])
            come += 1
        for _ in range(min(committed, len(first) + len(others))):
            _, is_read, request = (first or others).popleft()
            program_ns = 0.0 if policy == "PE0" else times_ns["program"]
            now += times_ns["bus"] + (times_ns["read"] if is_read else program_ns)
            done.append((request, now))
    return done


def pages(one: Request, device: str) -> range:
    """Return the numbers of the pages of a request."""
    size = PAGE_BYTES[device]
    return range(one.first_byte // size, (one.first_byte + one.bytes - 1) // size + 1)


def read_mean_ns(load: Load, policy: str, committed: int, scale: float) -> float:
    """Return the mean latency of reads; `scale`: of the times of arrival."""
    free_ns = 0.0
    dies: list[list[Operation]] = [[] for _ in range(DIES)]
    for number, one in enumerate(load.requests):
        # Requests cross the link one at a time, and writes with their data.
        free_ns = max(free_ns, scale * one.at_ns)
        free_ns += 0 if one.is_read else one.bytes * LINK_NS_PER_BYTE
        for page in pages(one, load.device):
            dies[page % DIES].append((free_ns, one.is_read, number))
    ends_ns = [0.0] * len(load.requests)
    for own in dies:
        for number, end_ns in ends(own, policy, committed, load.times_ns):
            ends_ns[number] = max(ends_ns[number], end_ns)
    return fmean(end_ns - scale * one.at_ns + one.bytes * LINK_NS_PER_BYTE
                 for one, end_ns in zip(load.requests, ends_ns, strict=True)
                 if one.is_read)  # fmt: skip


def loads(seed: int) -> list[tuple[Load, float]]:
    """Return the paper's six loads on both devices, with the product's mean read under RPS.

    The product runs them so that its dies idle for the last of the shares.
    """
    found = []
    plan = Plan({MAIN: counterparts({}, MAIN)}, [seed], REQUESTS)
    for place in plan.loads:
        drive = plan.drive(place, DATA.readings[BASE]).with_overrides({"policy": "rps"})
        log = drive.simulate(requests=True).requests
        columns = (log[name].to_pylist() for name in ("arrival_ns", "op", "lba", "bytes"))
        requests = sorted(Request(at, op == "read", 512 * lba, size)
                          for at, op, lba, size in zip(*columns, strict=True))  # fmt: skip
        part = DATA["parts"][place.device]
        times_ns = {name: 1e3 * part[name] for name in ("read", "program", "bus")}
        work_ns = sum((times_ns["bus"] + times_ns["read" if one.is_read else "program"])
                      * len(pages(one, place.device)) for one in requests)  # fmt: skip
        load = Load(place.device, requests, work_ns / DIES / requests[-1].at_ns, times_ns)
        scale = load.busy_share / (1 - IDLE_SHARES[-1])
        run = drive.with_overrides({"workload.time_scale": scale}).simulate()
        found.append((load, float(run.summary["requests"]["read"]["latency_ns"]["mean"])))
    return found


def table() -> dict[str, list[dict[str, float]]]:
    """Return the averages of the loads over the seeds, with halves of their 95 % intervals."""
    of_seeds = [loads(seed) for seed in SEEDS]
    found: dict[str, list[dict[str, float]]] = {}
    for device in PAGE_BYTES:
        own = [[one for one in seed if one[0].device == device] for seed in of_seeds]
        off = [read_mean_ns(load, "RPS", 1, load.busy_share / (1 - IDLE_SHARES[-1])) / product - 1
               for seed in own for load, product in seed]  # fmt: skip
        print(f"{device}: {100 * min(off):+.1f} to {100 * max(off):+.1f} % of the product's mean "
              "reads with one operation at a time", file=sys.stderr)  # fmt: skip
        for idle, most in product_of(IDLE_SHARES, COMMITTED):
            means = [[[read_mean_ns(load, policy, 1 if policy == "FIFO" else most,
                                    load.busy_share / (1 - idle))
                       for policy in ("FIFO", "RPS", "PE0")]
                      for load, _ in seed] for seed in own]  # fmt: skip
            row: dict[str, float] = {"idle_percent": 100 * idle, "committed": most}
            for name, how in MEASURES.items():
                one = estimate([fmean(how(*load) for load in seed) for seed in means])
                assert one.high is not None
                row |= {name: one.mean, f"{name}_half": one.high - one.mean}
            found.setdefault(device, []).append(row)
    return found


if __name__ == "__main__":
    for name, cases in table().items():
        for case in cases:
            print(name, *(f"{measure}={value:.4g}" for measure, value in case.items()))
