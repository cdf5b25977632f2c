"""Print the CPU time that a request takes a process of SimPy which waits for a drive.

    python benches/simpy_drive.py

The least of several repetitions, as other programs use the processor, too.
"""

import time
from typing import Any

import simpy

import reprieve as rp

DEVICES = ("fast12-slc", "970pro-like", "enterprise-2026")
REQUESTS = 20_000
REPETITIONS = 7


def least_us(device: str, in_flight: int) -> float:
    """Return the least CPU time of several runs, a request: each process has one read under way."""
    ftl = {"over_provisioning": 0.3, "precondition": "sequential"}
    model = rp.Drive({"device": device, "geometry": {"blocks_per_plane": 64}, "ftl": ftl})
    times = []
    for _ in range(REPETITIONS):
        env = simpy.Environment()
        drive = rp.SimpyDrive(env, model.clone())

        def client(first: int, drive: rp.SimpyDrive = drive) -> Any:
            for number in range(REQUESTS // in_flight):
                yield drive.request("read", (first + number) * 379 % 4096 * 8, 4096)

        for process in range(in_flight):
            env.process(client(process * 131))
        began_s = time.process_time()
        env.run()
        times.append(time.process_time() - began_s)
    return min(times) / REQUESTS * 1e6


def main() -> None:
    """Print the table."""
    for device in DEVICES:
        for in_flight in (1, 16):
            print(f"  {least_us(device, in_flight):5.2f} us  {device}, {in_flight} in flight")


if __name__ == "__main__":
    main()
