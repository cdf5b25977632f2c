"""Measures `reprieve serve` beside nbdkit's memory plugin in turns: requests a second, precision.

The servers run side by side and take turns of a second or two each, so that whatever else the
machine does meets both. It needs fio and nbdkit (Debian: fio nbdkit). Run it from the project's
folder: `.venv/bin/python benches/serve.py [--turns 5] [--seconds 2]`. With `--floods 8` it measures
instead how much longer a client's reads take while eight others read all that they can, and how
much of that is the model's; that needs no nbdkit.
"""

from __future__ import annotations

import argparse
import csv
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
    """Measurements of one turn."""

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
    before_s = server.cpu_s()
    command = fio_of(server.uri, "4k", depth, seconds)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    cpu_us = (server.cpu_s() - before_s) * 1e6 / job["total_ios"]
    return Figures(job["iops"], job["clat_ns"]["percentile"]["50.000000"] / 1000, cpu_us)


def fio_of(uri: str, size: str, depth: int, seconds: float) -> list[str]:
    """Return the command of random reads."""
    return [
        "fio", "--name=read", "--ioengine=nbd", f"--uri={uri}", "--rw=randread", f"--bs={size}",
        f"--iodepth={depth}", f"--size={SIZE}", "--time_based", f"--runtime={seconds}",
        "--output-format=json", "--randrepeat=0", "--percentile_list=50:99",
    ]  # fmt: skip


def percentile_us(folder: Path, name: str, floods: int, seconds: float) -> tuple[float, float]:
    """Read 4 KiB at a time among floods; the 99th percentile that fio finds, and the model's."""
    command = drive(folder, name, 80, "flash")
    recording = folder / f"{name}.csv"
    command[-1:-1] = ["--record", str(recording)]
    with served(folder, name, command) as server, ExitStack() as stack:
        for _ in range(floods):
            flood = subprocess.Popen(
                fio_of(server.uri, "1m", 64, 10 * seconds), stdout=subprocess.DEVNULL
            )
            stack.callback(flood.wait)
            stack.callback(flood.terminate)
        # The floods are under way by then.
        time.sleep(1 if floods else 0)
        done = subprocess.run(
            fio_of(server.uri, "4k", 1, seconds), capture_output=True, text=True, check=True
        )
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    with recording.open() as file:
        model_ns = sorted(
            int(row["completion_ns"]) - int(row["arrival_ns"])
            for row in csv.DictReader(file)
            if row["bytes"] == "4096" and row["completion_ns"]
        )
    percentile_ns = job["clat_ns"]["percentile"]["99.000000"]
    return percentile_ns / 1000, model_ns[len(model_ns) * 99 // 100] / 1000


def measure_floods(floods: int, turns: int, seconds: float) -> None:
    """Print how much longer the slowest of a hundred reads takes among floods, and why."""
    rises = []
    with tempfile.TemporaryDirectory() as name:
        for turn in range(turns):
            alone = percentile_us(Path(name), f"alone{turn}", 0, seconds)
            among = percentile_us(Path(name), f"among{turn}", floods, seconds)
            rises.append((among[0] - alone[0], among[1] - alone[1]))
            print(
                f"p99 of reads at QD1: alone {alone[0]:,.0f} us (the model's {alone[1]:,.0f}), "
                f"among {floods} floods {among[0]:,.0f} us (the model's {among[1]:,.0f})"
            )
    ratio = statistics.median(seen / of_model for seen, of_model in rises)
    print(f"it rises by {ratio:.2f} times what it rises by in the model")


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--floods", type=int)
    asked = parser.parse_args()
    if asked.floods is not None:
        measure_floods(asked.floods, asked.turns, asked.seconds)
        return
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
