"""The guide to SLC caches: rates by hand, the cliff, and suspension before and after it."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import reprieve as rp

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/slc-cache.toml"
BYTES = 131072


def run(policy: str, **keys: Any) -> dict[str, npt.NDArray[np.int64]]:
    """Return the request log: kinds, arrivals and completions in nanoseconds."""
    table = rp.run(EXAMPLE, requests=True, policy=policy, **keys).requests
    return {name: table.column(name).to_numpy() for name in ("op", "arrival_ns", "completion_ns")}


def rate(log: dict[str, npt.NDArray[np.int64]], first: int, last: int) -> float:
    """Return bytes a second of the writes from one to another, in order of completion."""
    done = np.sort(log["completion_ns"][log["op"] == "write"])
    return float((last - first) * BYTES / (done[last] - done[first]) * 1e9)


def test_rates_before_and_after_the_cliff_are_those_of_the_hand_calculation() -> None:
    log = run("rps", workload__read_fraction=0.0, workload__requests=25000)
    # 8 commands of 0.1 us and 8 pages of 5.12 us cross the channel, then three iterations of 80.
    cached = 4 * 8 * 16384 / (8 * (0.1 + 5.12) + 240) * 1e6
    assert rate(log, 1000, 10000) == pytest.approx(cached, rel=0.01)
    # 4 dies, 8 planes, 40 blocks less the 3 that are always kept, of 84 pages: then it is full.
    assert 25000 * 8 > 4 * 8 * 37 * 84 > 10000 * 8
    # No write past the cache is faster than its programs: 24 iterations for three pages a plane.
    direct = 4 * 8 * 3 * 16384 / (8 * (0.1 + 3 * 5.12) + 1920) * 1e6
    after = rate(log, 15000, 24000)
    assert 0.2 * cached < after < min(0.35 * cached, direct)


def test_suspension_is_worth_more_after_the_cliff() -> None:
    def p99(policy: str) -> tuple[float, float]:
        log = run(policy)
        reads = log["op"] == "read"
        latency = (log["completion_ns"] - log["arrival_ns"])[reads]
        at = log["completion_ns"][reads] / log["completion_ns"].max()
        early, late = latency[at < 0.15], latency[at > 0.6]
        assert len(early) > 1000 and len(late) > 1000
        return float(np.percentile(early, 99)), float(np.percentile(late, 99))

    (early, late), (early_suspended, late_suspended) = p99("rps"), p99("pes-ips")
    assert 0.6 < early_suspended / early < 0.9
    assert late_suspended / late < 0.2
    # Without suspension a read may wait for a whole program of 1.92 ms, and in the cache for none.
    assert early < 1_920_000 < late


def test_the_example_is_what_the_guide_says() -> None:
    scenario = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert scenario["device"] == "tlc-client"
    assert scenario["workload"]["requests"] * 0.7 * BYTES == pytest.approx(3.3e9, rel=0.01)
