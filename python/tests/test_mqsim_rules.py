"""The drive that means what MQSim's means, against a second simulation of MQSim's rules."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from random import Random
from statistics import fmean

import reprieve as rp

from .mqsim_rules import Mqsim, Request

REQUESTS, QUEUE_DEPTH = 20_000, 16
# 4 KiB in pages of 8 KiB: no request covers its page.
REQUEST_SECTORS, PAGE_SECTORS = 8, 16
PAGES = 16_384
# A page is not asked for again while it may be in flight, where the order of equals would count.
APART_REQUESTS = 1_000


def requests() -> list[Request]:
    """Make requests of half a page each, 70 % of them reads."""
    random = Random(29)
    last: deque[int] = deque(maxlen=APART_REQUESTS)
    made: list[Request] = []
    while len(made) < REQUESTS:
        page = random.randrange(PAGES)
        if page not in last:
            last.append(page)
            sector = page * PAGE_SECTORS + random.choice([0, REQUEST_SECTORS])
            made.append(Request(random.random() < 0.7, sector, REQUEST_SECTORS))
    return made


def test_writes_of_half_a_page_are_those_of_mqsim_s_rules(tmp_path: Path) -> None:
    rows = requests()
    trace = tmp_path / "half.trace"
    # Arrival, device, sector, sectors, 1 for a read; a closed replay looks at no times.
    lines = [f"{n} 0 {row.sector} {row.sectors} {int(row.is_read)}" for n, row in enumerate(rows)]
    trace.write_text("\n".join(lines))
    # MQSim sends in what is written, and here a program takes the page whole: 12,288 ns more.
    rules = Mqsim(PAGE_SECTORS, whole_pages_in=True)
    rules.run(rows, QUEUE_DEPTH)
    scenario = f"""
    device = "mqsim-default-like"
    [geometry]
    blocks_per_plane = 128
    [workload]
    trace = '{trace}'
    format = "mqsim"
    replay = "closed"
    queue_depth = {QUEUE_DEPTH}
    """
    path = tmp_path / "half.toml"
    path.write_text(scenario)
    summary = rp.run(path).summary
    assert rules.reads_first > REQUESTS / 20
    assert summary["flash"]["rmw_reads"] == rules.reads_first
    for op, is_read in (("read", True), ("write", False)):
        by_rules = fmean(row.completion - row.arrival for row in rows if row.is_read == is_read)
        mean = summary["requests"][op]["latency_ns"]["mean"]
        # The order among equals differs, which moves MQSim's own means by up to 0.4 %.
        assert abs(mean / by_rules - 1) < 0.01, (op, mean, by_rules)


def test_a_read_waits_for_the_queue_when_the_drive_has_fetched_its_fill(tmp_path: Path) -> None:
    """By hand: two writes of a chip are fetched, so the read of another waits for the first.

    A write of 8 KiB alone takes 777,493 ns from a fetch that no doorbell precedes, a read 102,434.
    """
    trace = tmp_path / "three.trace"
    trace.write_text("0 0 0 16 0\n10000 0 512 16 0\n20000 0 16 16 1\n")
    scenario = {
        "device": "mqsim-default-like",
        "geometry": {"blocks_per_plane": 128},
        "workload": {"trace": str(trace), "format": "mqsim"},
    }
    held = rp.run(scenario, requests=True, host__outstanding=2)
    free = rp.run(scenario, requests=True)
    read = {name: int(run.column("completion_ns")[list(run.column("id")).index(2)] - 20_000)
            for name, run in (("held", held), ("free", free))}  # fmt: skip
    assert abs(read["free"] - 102_434) < 30
    assert abs(read["held"] - (777_493 - 20_000 + 102_434)) < 60


def test_under_overload_reads_wait_in_the_queue_as_in_mqsim_s_rules(tmp_path: Path) -> None:
    """Writes beyond what the drive can do: the limit of commands makes the tail of reads."""
    random, rows, now = Random(3), list[Request](), 0
    for _ in range(6000):
        now += int(random.expovariate(1) * 15_000)
        sector = random.randrange(PAGES) * PAGE_SECTORS
        rows.append(Request(random.random() < 0.3, sector, PAGE_SECTORS, arrival=now))
    trace = tmp_path / "overload.trace"
    lines = [f"{r.arrival} 0 {r.sector} {r.sectors} {int(r.is_read)}" for r in rows]
    trace.write_text("\n".join(lines))
    tails = {}
    for limit in (64, 512):
        rules = Mqsim(PAGE_SECTORS, whole_pages_in=True, fetch_limit=limit)
        rules.run_open(rows)
        run = rp.run(
            {"device": "mqsim-default-like", "geometry": {"blocks_per_plane": 128},
             "workload": {"trace": str(trace), "format": "mqsim"}, "buffer": {"read_hits": False}},
            host__outstanding=limit,
        )  # fmt: skip
        for op, is_read in (("read", True), ("write", False)):
            waits = sorted(r.completion - r.arrival for r in rows if r.is_read == is_read)
            own = run.summary["requests"][op]["latency_ns"]
            assert abs(own["mean"] / fmean(waits) - 1) < 0.04, (limit, op, own["mean"])
            tail = waits[int(len(waits) * 0.99)]
            assert abs(own["p99"] / tail - 1) < 0.08, (limit, op, own["p99"], tail)
        tails[limit] = run.summary["requests"]["read"]["latency_ns"]["p99"]
    assert tails[64] > 2 * tails[512], "the limit is what makes the tail"
