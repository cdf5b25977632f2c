"""Runs the commands of the tutorial as they stand on its page, and keeps what they print."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import reprieve as rp

from .pages import ROOT

_PAGE = ROOT / "docs/guide/tutorial.md"
_BLOCK = re.compile(r"^```sh runnable\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CLOCK = re.compile(r", in [\d.,]+ s(?: after [\d.,]+ s to prepare the drive)?$")
"""How long a run took by the clock on the wall: another number each time."""
_COLUMNS = "100"
_LIMITS = (1, 2, 3, 5, 10, "none")
_DRAWN = (1, 2, 3, "none")


def tutorial(out: Path) -> dict[str, Any]:
    """Run the page's commands in one folder, in order, and take its numbers from their files."""
    out.mkdir(parents=True)
    printed = [_run(block, out) for block in _BLOCK.findall(_PAGE.read_text(encoding="utf-8"))]
    _draw(out)
    return {
        "printed": printed,
        "alone_us": _us(_summary(out / "out/first"), "read", "min"),
        "behind": "erase" if "went behind erases" in " ".join(printed[1]) else "",
        "policies": _policies(out / "out/policies/compare.json"),
        "limits": _limits(out / "out/limits/points.parquet"),
        "heavier": {"p99_us": _us(_summary(out / "out/heavier"), "read", "p99")},
    }


def _run(block: str, folder: Path) -> list[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=folder, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": path, "COLUMNS": _COLUMNS}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return [_CLOCK.sub("", line.rstrip()) for line in done.stdout.rstrip().splitlines()]


def _draw(out: Path) -> None:
    scenario = str(out / "my-drive.toml")
    axis = {"suspension.max_per_program": list(_DRAWN)}
    runs = rp.compare(scenario, axis, policy="pes-ips")
    runs.plot.tail("read").save(out / "tutorial-limits.svg", "page")


def _summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return found


def _us(summary: dict[str, Any], op: str, name: str) -> float:
    return float(summary["requests"][op]["latency_ns"][name]) / 1000


def _policies(path: Path) -> dict[str, Any]:
    """Return the read p99 of each policy and its mean write over that of the first."""
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    means = [_us(run["summary"], "write", "mean") for run in runs]
    return {
        run["label"]: {
            "read_p99_us": _us(run["summary"], "read", "p99"),
            "write_ratio": mean / means[0],
        }
        for run, mean in zip(runs, means, strict=True)
    }


def _limits(path: Path) -> dict[str, Any]:
    """Return the ends of the intervals over seeds, by the most suspensions of a program."""
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == len(_LIMITS), path
    return {
        str(limit): {
            "p99_us": [row[f"read_latency_ns_p99_{end}"] / 1000 for end in ("low", "high")],
            "p99_9_us": [row[f"read_latency_ns_p99_9_{end}"] / 1000 for end in ("low", "high")],
            "write_us": [row[f"write_latency_ns_mean_{end}"] / 1000 for end in ("low", "high")],
        }
        for limit, row in zip(_LIMITS, rows, strict=True)
    }
