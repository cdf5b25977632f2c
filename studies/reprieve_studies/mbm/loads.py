"""The loads: counterparts of the six rows of Table II, or the genuine traces."""

from collections.abc import Mapping
from dataclasses import replace

from reprieve_studies import loads
from reprieve_studies.loads import Load, Recording
from reprieve_studies.mbm.paper import LOADS, TABLE_2
from reprieve_studies.runs import Overrides

_KIB = 1024
_RATE_IOPS = 100.0
"""Any: what counts is the idle time that a counterpart is compressed to."""
_BURSTS: Overrides = {
    # The counterparts of FAST'12: the squared coefficient of variation of Financial1's first 10,000
    # requests, 10.3, with a short phase of 0.454 of the mean gap, and their trains (A127).
    "arrivals": "hyperexponential",
    "rate_iops": _RATE_IOPS,
    "burst_fraction": 0.94,
    "burst_gap_us": 0.454e6 / _RATE_IOPS,
    "burst_length": 93,
}
_PLACES: Overrides = {
    # Nothing is published of where requests go: as FAST'12's counterparts, over the whole drive.
    "addresses": "hot-cold",
    "hot_share": 0.2,
    "hot_fraction": 0.8,
    "align_bytes": 4096,
}
_FINANCIAL = "Financial"


def papers(genuine: Mapping[str, Recording]) -> list[Load]:
    """Return the six loads of the paper, as `reprieve_studies.loads.papers` does."""
    return loads.papers(genuine, LOADS, _counterpart)


def _counterpart(name: str, seed: int) -> Load:
    row = TABLE_2[name]
    reads = {"read_fraction": round(row.reads_percent / 100, 4)}
    if name == _FINANCIAL:
        # The counterpart of Financial1 has the sizes of this very row.
        return Load(name, "fin-like", False, reads, "fin1-like", seed)
    workload = {
        "generator": "mixed",
        **reads,
        "read_request_bytes": sizes(row.read_kib),
        "write_request_bytes": sizes(row.write_kib),
        **_PLACES,
        **_BURSTS,
    }
    return Load(name, f"{name.partition('_')[0].lower()}-like", False, workload, None, seed)


def sizes(mean_kib: float) -> list[list[float]]:
    """Return the two powers of two around a mean, weighted to it (A129)."""
    low = 1
    while 2 * low <= mean_kib:
        low *= 2
    share = (mean_kib - low) / low
    return [[low * _KIB, round(100 * (1 - share), 4)], [2 * low * _KIB, round(100 * share, 4)]]


def closed(load: Load, queue_depth: int) -> Load:
    """Return a load that always keeps so many requests outstanding, whatever its arrivals."""
    if load.genuine:
        workload = {**load.workload, "replay": "closed", "queue_depth": queue_depth}
        return replace(load, workload=workload)
    kept = {key: value for key, value in load.workload.items() if key not in _BURSTS}
    return replace(load, workload={**kept, "arrivals": "closed", "queue_depth": queue_depth})
