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
