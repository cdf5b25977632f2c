"""Measures `reprieve serve` beside nbdkit's memory plugin in turns: requests a second, precision.

The servers run side by side and take turns of a second or two each, so that whatever else the
machine does meets both. It needs fio and nbdkit (Debian: fio nbdkit). Run it from the project's
folder: `.venv/bin/python benches/serve.py [--turns 5] [--seconds 2]`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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


@dataclass
class Served:
    """A server at work."""

    process: subprocess.Popen[bytes]
    uri: str

    def cpu_s(self) -> float:
        """Processor time that it has taken so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """What one turn has measured."""

    iops: float
    p50_us: float
    cpu_us: float
    """Processor time of the server for one request."""


@contextmanager
def served(folder: Path, name: str, command: list[str]) -> Iterator[Served]:
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
        yield Served(process, f"nbd+unix:///?socket={path}")
    finally:
        process.terminate()
        process.wait()


def drive(folder: Path, name: str, read_us: int, unwritten: str) -> list[str]:
    """Write a scenario and return the command that serves it."""
    scenario = folder / f"{name}.toml"
    scenario.write_text(DRIVE.format(read_us=read_us, unwritten=unwritten))
    program = str(Path(sys.executable).with_name("reprieve"))
    return [program, "serve", str(scenario), "--socket"]


def read(server: Served, depth: int, seconds: float) -> Figures:
    """Read 4 KiB at random places."""
    command = [
        "fio", "--name=read", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randread", "--bs=4k",
        f"--iodepth={depth}", f"--size={SIZE}", "--time_based", f"--runtime={seconds}",
        "--output-format=json", "--randrepeat=0",
    ]  # fmt: skip
    before_s = server.cpu_s()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    cpu_us = (server.cpu_s() - before_s) * 1e6 / job["total_ios"]
    return Figures(job["iops"], job["clat_ns"]["percentile"]["50.000000"] / 1000, cpu_us)


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
            "80us": drive(folder, "80us", 80, "flash"),
        }
        servers = {
            name: stack.enter_context(served(folder, name, command))
            for name, command in commands.items()
        }
        runs = [("nbdkit", 1), ("zero", 1), ("nbdkit", 32), ("zero", 32), ("80us", 1)]
        figures: dict[tuple[str, int], list[Figures]] = {run: [] for run in runs}
        for _ in range(asked.turns):
            for name, depth in runs:
                figures[name, depth].append(read(servers[name], depth, asked.seconds))
    for (name, depth), turns in figures.items():
        iops = [turn.iops for turn in turns]
        print(
            f"{name:7} QD{depth:<3} {statistics.median(iops):7,.0f} IOPS "
            f"({min(iops):,.0f} to {max(iops):,.0f}), "
            f"p50 {statistics.median(turn.p50_us for turn in turns):.1f} us, "
            f"server {statistics.median(turn.cpu_us for turn in turns):.1f} us of a core a request"
        )
    for depth in (1, 32):
        pairs = zip(figures["zero", depth], figures["nbdkit", depth], strict=True)
        ratio = statistics.median(ours.iops / theirs.iops for ours, theirs in pairs)
        print(f"over nbdkit at QD{depth}: {ratio:.2f}")
    pairs = zip(figures["80us", 1], figures["zero", 1], strict=True)
    late_us = statistics.median(slow.p50_us - 80 - zero.p50_us for slow, zero in pairs)
    print(f"80 us at QD1: p50 is {late_us:+.1f} us beyond the model and a round trip")


if __name__ == "__main__":
    main()
