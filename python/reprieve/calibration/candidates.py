"""Measurements that might be made next, as conditions that can be simulated."""

from collections.abc import Sequence
from pathlib import Path

from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.ranges import has_writes, size_bytes

_PERCENTILES = (1.0, 10.0, 30.0, 50.0, 70.0, 90.0, 95.0, 99.0, 99.5, 99.9)
_REQUESTS = 1_000_000
_RATES_MIB = (10, 50, 250, 1000)
_DEPTHS = (1, 8, 32, 128)


def candidates(measured: Sequence[Condition]) -> list[Condition]:
    """Return loads that were not measured: reads alone, and beside writes of a limited rate."""
    done = {_signature(each) for each in measured}
    latency_ns = _latency_ns(measured)
    loads: dict[str, tuple[Job, ...]] = {
        f"{size // 1024} KiB reads at depth {each}": (_reads(size, each, latency_ns),)
        for size in (4096, 16384)
        for each in _DEPTHS
    }
    for rate in _RATES_MIB:
        for each in _DEPTHS:
            jobs = (_writes(rate, latency_ns), _reads(4096, each, latency_ns))
            loads[f"4 KiB reads at depth {each} beside writes of {rate} MiB/s"] = jobs
    found = (Condition(name, Path(), "", jobs) for name, jobs in loads.items())
    return [each for each in found if _signature(each) not in done]


def _signature(condition: Condition) -> tuple[object, ...]:
    """Return the features that distinguish loads: write rate, size and depth of the reads."""
    reads = [
        (size_bytes(job, "read"), job.asked.depth)
        for job in condition.jobs
        if "read" in job.measured
    ]
    rates = [
        job.asked.bytes_per_s.get("write") for job in condition.jobs if "write" in job.measured
    ]
    return (*reads, *rates, has_writes(condition))


def _latency_ns(measured: Sequence[Condition]) -> float:
    return min(
        each.percentile_ns.get(50.0, each.mean_ns)
        for condition in measured
        for job in condition.jobs
        for each in job.measured.values()
    )


def _reads(size: int, at_once: int, latency_ns: float) -> Job:
    options = {"rw": "randread", "bs": str(size), "iodepth": str(at_once)}
    iops = min(at_once * 1e9 / latency_ns, 300_000)
    return Job("read", options, {"read": _unknown(iops, latency_ns)})


def _writes(rate_mib: int, latency_ns: float) -> Job:
    options = {"rw": "write", "bs": "128k", "iodepth": "1", "rate": f",{rate_mib}m"}
    return Job("fill", options, {"write": _unknown(rate_mib * 8, latency_ns)})


def _unknown(iops: float, latency_ns: float) -> Measured:
    """Return a measurement of which only the weights matter: how it would scatter."""
    percentiles = {each: latency_ns * (1 + each / 100) for each in _PERCENTILES}
    return Measured(_REQUESTS, iops, "lat", percentiles, latency_ns, latency_ns, 2 * latency_ns)
