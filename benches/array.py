"""Print the memory of an array of large drives, its speed by threads, and its time a request.

    python benches/array.py [memory [DEVICE STATE]] [threads] [request]

Two threads must give what one gives, to the bit. Times are the least of several repetitions, as
other programs use the processor, too.
"""

import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import reprieve as rp

LARGE = {
    "workload.generator": "mixed",
    "workload.read_fraction": 0.5,
    "workload.request_bytes": 16384,
    "workload.arrivals": "poisson",
    "workload.rate_iops": 5000,
}
LARGE_DRIVES = 24
LARGE_REQUESTS = 1_000_000
SMALL = {
    "device": "tlc3d-1tb",
    "geometry.blocks_per_plane": 80,
    "ftl.over_provisioning": 0.2,
    "ftl.precondition": "steady",
}
SMALL_REQUESTS = 100_000
REPETITIONS = 3


def load(array: rp.Array, count: int, rate_iops: float, read_share: float) -> dict[str, Any]:
    """Return random requests of 16 KiB over a whole array."""
    rng = np.random.default_rng(1)
    gaps_ns = rng.exponential(1e9 / rate_iops, count).astype(np.uint64)
    return {
        "arrival_ns": array.now_ns + np.cumsum(gaps_ns),
        "write": rng.random(count) >= read_share,
        "offset": rng.integers(0, array.capacity_bytes // 16384, count) * 16384,
        "bytes": np.full(count, 16384),
    }


def peak_mib() -> float:
    """Return the most memory that this process has taken."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def memory(device: str = "tlc3d-1tb", state: str = "steady") -> None:
    """Print what many large drives take when they are opened, and after writes all over them."""
    drive = {**LARGE, "device": device, "ftl.precondition": state}
    before = peak_mib()
    began_s = time.perf_counter()
    array = rp.Array(drive, drives=LARGE_DRIVES, parity=2)
    opened_s = time.perf_counter() - began_s
    opened = peak_mib() - before
    array.submit(**load(array, LARGE_REQUESTS, 100_000, 0.5))
    began_s = time.perf_counter()
    array.run()
    ran_s = time.perf_counter() - began_s
    taken = peak_mib() - before
    writes = sum(drive["flash"]["host_programs"] for drive in array.summary()["drives"])
    print(
        f"  {LARGE_DRIVES} drives {device}, {state}: {opened:,.0f} MiB at the most when opened, "
        f"{taken:,.0f} MiB after {LARGE_REQUESTS:,} requests and {writes:,} programs "
        f"({opened_s:.0f} s and {ran_s:.0f} s)"
    )


def threads() -> None:
    """Print the time of an array by its drives and threads."""
    for drives in (4, 8, 24):
        for parity, read_share in ((0, 0.7), (1, 1.0), (1, 0.7)):
            least_s, results = {}, set()
            for count in (1, 2):
                times_s = []
                for _ in range(REPETITIONS):
                    array = rp.Array(SMALL, drives=drives, parity=parity, threads=count)
                    array.submit(**load(array, SMALL_REQUESTS, 5_000 * drives, read_share))
                    began_s = time.perf_counter()
                    rows = array.run()
                    times_s.append(time.perf_counter() - began_s)
                    text = rows.array("completion_ns").tobytes() + repr(array.summary()).encode()
                    results.add(hashlib.sha256(text).digest())
                least_s[count] = min(times_s)
            assert len(results) == 1, "the result depends on the threads"
            print(
                f"  {drives:2} drives, {parity} of parity, {read_share:.0%} reads: "
                f"{least_s[1]:.2f} s with one thread, {least_s[2]:.2f} s with two: "
                f"{least_s[1] / least_s[2]:.2f} times as fast"
            )


def request() -> None:
    """Print what a request takes, and how far another thread of Python gets meanwhile."""
    for name, drives in (("fast12-slc", 1), ("fast12-slc", 2)):
        times = []
        for _ in range(REPETITIONS):
            array = rp.Array({"device": name, "policy": "fifo"}, drives=drives)
            requests = load(array, SMALL_REQUESTS, 10_000, 1.0)
            began_s = time.perf_counter()
            array.submit(**requests)
            submitted_s = time.perf_counter() - began_s
            array.run()
            times.append((time.perf_counter() - began_s, submitted_s))
        whole_s, submitted_s = min(times)
        print(
            f"  {whole_s / SMALL_REQUESTS * 1e6:.2f} us a request, of which submission "
            f"{submitted_s / SMALL_REQUESTS * 1e6:.3f} us: {name}, {drives} drives"
        )


def main() -> None:
    """Print what the arguments name, or everything."""
    parts = {"memory": memory, "threads": threads, "request": request}
    match sys.argv[1:]:
        case ["memory", device, state]:
            memory(device, state)
        case names:
            for name in names or parts:
                print(f"{name}:")
                parts[name]()


if __name__ == "__main__":
    main()
