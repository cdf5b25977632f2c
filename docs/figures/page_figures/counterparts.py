"""What is in the counterparts of loads that may not be passed on."""

from collections import Counter
from typing import Any

import numpy as np

import reprieve as rp

DEVICE = "fast12-slc"
LOADS = ("fin1-like", "fin2-like", "dap-like", "msn-like", "cello3-like")
_HEAD = 10_000
"""As many requests as the published beginning of Financial1 has."""
_GAPS = 1_000_000
"""Requests that a share of gaps is counted over."""
_PAGE_BYTES = 4096
_SECTOR_BYTES = 512
_NEAR_NS = 1_500_000


def counterparts() -> dict[str, Any]:
    """Return the profile of every counterpart, and what the profiles lack."""
    found = {name: rp.workload_info({"device": DEVICE, "load": name}) for name in LOADS}
    head = _log("fin1-like", _HEAD)
    return {
        "profiles": found,
        "fin1_head": {"requests": _HEAD, **_touches(head)},
        "cello3_near_writes_percent": _near_writes_percent(_log("cello3-like", _GAPS)),
    }


def _log(load: str, requests: int) -> Any:
    """Return the first requests of a load, in order of arrival, on a drive that does no work."""
    scenario = {"device": DEVICE, "load": load, "policy": "pe0", "workload": {"requests": requests}}
    return rp.run(scenario, requests=True).requests.sort_by("arrival_ns")


def _touches(log: Any) -> dict[str, float]:
    """Return how many pages are touched, and the share of touches that the hottest ones have."""
    touched: Counter[int] = Counter()
    for sector, size in zip(log["lba"].to_pylist(), log["bytes"].to_pylist(), strict=True):
        first = sector * _SECTOR_BYTES
        touched.update(range(first // _PAGE_BYTES, (first + size - 1) // _PAGE_BYTES + 1))
    counts = sorted(touched.values(), reverse=True)

    def share(part: int) -> float:
        return 100 * sum(counts[: len(counts) // part]) / sum(counts)

    return {
        "pages": len(counts),
        "hottest_tenth_percent": share(10),
        "hottest_hundredth_percent": share(100),
    }


def _near_writes_percent(log: Any) -> float:
    """Return the share of writes that come within 1.5 ms of the request before."""
    arrivals = log["arrival_ns"].to_numpy()
    writes = np.asarray([op == "write" for op in log["op"].to_pylist()])[1:]
    near = np.diff(arrivals) <= _NEAR_NS
    return 100 * float(near[writes].mean())
