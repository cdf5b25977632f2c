"""Profiles of the counterparts of loads that may not be passed on."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import reprieve as rp

DEVICE = "fast12-slc"
LOADS = ("fin1-flows", "fin2-flows", "dap-flows", "msn-flows", "cello3-flows")
_HEAD = 10_000
"""As many requests as the published beginning of Financial1 has."""
_GAPS = 1_000_000
"""Requests that a share of gaps is counted over."""
_PAGE_BYTES = 4096
_NEAR_NS = 1_500_000


def counterparts() -> dict[str, Any]:
    """Return the profile of every counterpart, and what the profiles lack."""
    return {
        "profiles": {name: rp.workload_info(_on_drive(name)) for name in LOADS},
        "fin1_head": {
            "requests": _HEAD,
            **_touches(rp.workload_head(_on_drive("fin1-flows"), _HEAD)),
        },
        "cello3_near_writes_percent": _near_writes_percent(
            rp.workload_head(_on_drive("cello3-flows"), _GAPS)
        ),
    }


def _on_drive(load: str) -> dict[str, str]:
    return {"device": DEVICE, "load": load}


def _touches(rows: Sequence[rp.TraceRow]) -> dict[str, float]:
    """Return how many pages are touched, and the share of touches that the hottest ones have."""
    touched: Counter[int] = Counter()
    for row in rows:
        last = row.offset_bytes + row.bytes - 1
        touched.update(range(row.offset_bytes // _PAGE_BYTES, last // _PAGE_BYTES + 1))
    counts = sorted(touched.values(), reverse=True)

    def share(part: int) -> float:
        return 100 * sum(counts[: len(counts) // part]) / sum(counts)

    return {
        "pages": len(counts),
        "hottest_tenth_percent": share(10),
        "hottest_hundredth_percent": share(100),
    }


def _near_writes_percent(rows: Sequence[rp.TraceRow]) -> float:
    """Return the share of writes that come within 1.5 ms of the request before."""
    gaps = [
        after.time_ns - before.time_ns for before, after in pairwise(rows) if after.op == "write"
    ]
    return 100 * sum(gap <= _NEAR_NS for gap in gaps) / len(gaps)
