"""Measures `reprieve serve` beside nbdkit's memory plugin in turns: requests a second, precision.

The servers run side by side and take turns of a second or two each, so that whatever else the
machine does meets both. It needs fio and nbdkit (Debian: fio nbdkit). Run it from the project's
folder: `.venv/bin/python benches/serve.py [--turns 5] [--seconds 2]`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

DRIVE = """device = "fast12-slc"
[geometry]
channels = 4
dies_per_channel = 4
blocks_per_plane = 64
[timing]
t_bus_us = 0
t_read_us = {read_us}
[ftl]
precondition = "none"
[workload]
unwritten = "{unwritten}"
"""
SIZE = "256M"


@contextmanager
def served(folder: Path, name: str, command: list[str]) -> Iterator[str]:
    """Start a server and wait until its socket is there."""
    path = folder / name
    process = subprocess.Popen(
        [*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not path.is_socket():
            if process.poll() is not None:
                sys.exit(f"{command[0]} ended before it served")
            time.sleep(0.05)
        yield f"nbd+unix:///?socket={path}"
    finally:
        process.terminate()
        process.wait()


def drive(folder: Path, name: str, read_us: int, unwritten: str) -> list[str]:
    """Write a scenario and return the command that serves it."""
    scenario = folder / f"{name}.toml"
    scenario.write_text(DRIVE.format(read_us=read_us, unwritten=unwritten))
    program = str(Path(sys.executable).with_name("reprieve"))
    return [program, "serve", str(scenario), "--socket"]


def read(uri: str, depth: int, seconds: float) -> tuple[float, float]:
    """Random reads of 4 KiB: requests a second, and the median latency in microseconds."""
    command = [
        "fio", "--name=read", "--ioengine=nbd", f"--uri={uri}", "--rw=randread", "--bs=4k",
        f"--iodepth={depth}", f"--size={SIZE}", "--time_based", f"--runtime={seconds}",
        "--output-format=json", "--randrepeat=0",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    return job["iops"], job["clat_ns"]["percentile"]["50.000000"] / 1000


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        commands = {
            "nbdkit": ["nbdkit", "--foreground", "memory", SIZE, "--unix"],
            "zero": drive(folder, "zero", 80, "zero"),
            "80 us": drive(folder, "eighty", 80, "flash"),
        }
        uris = {
            name: stack.enter_context(served(folder, name.replace(" ", ""), command))
            for name, command in commands.items()
        }
        runs = [("nbdkit", 1), ("zero", 1), ("nbdkit", 32), ("zero", 32), ("80 us", 1)]
        figures: dict[tuple[str, int], list[tuple[float, float]]] = {run: [] for run in runs}
        for _ in range(asked.turns):
            for name, depth in runs:
                figures[name, depth].append(read(uris[name], depth, asked.seconds))
    for (name, depth), measured in figures.items():
        iops = [figure for figure, _ in measured]
        p50 = statistics.median(figure for _, figure in measured)
        print(
            f"{name:8} QD{depth:<3} {statistics.median(iops):9,.0f} IOPS "
            f"(from {min(iops):,.0f} to {max(iops):,.0f}), p50 {p50:6.1f} us"
        )
    for depth in (1, 32):
        ratios = [
            ours / theirs
            for (ours, _), (theirs, _) in zip(
                figures["zero", depth], figures["nbdkit", depth], strict=True
            )
        ]
        print(f"over nbdkit at QD{depth}: {statistics.median(ratios):.2f}")
    pairs = zip(figures["80 us", 1], figures["zero", 1], strict=True)
    late = [p50 - 80 - round_trip for (_, p50), (_, round_trip) in pairs]
    print(f"80 us at QD1: p50 is {statistics.median(late):+.1f} us beyond model and round trip")


if __name__ == "__main__":
    main()
