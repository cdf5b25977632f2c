"""The drive explorer's core in Node: the numbers of `reprieve run`, digit by digit."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.scenario import Source
from reprieve.simulation import simulate

UI = Path(rp.__file__).parent / "ui"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NODE = shutil.which("node")

needs_core = pytest.mark.skipif(
    not (UI / "reprieve.wasm").exists(), reason="the explorer is not built: make ui"
)
needs_node = pytest.mark.skipif(NODE is None, reason="no node on this machine")

# What a browser cannot do is left out: traces are files.
OF_EXAMPLES = {
    "limits": [],
    "power-loss": [],
    "tail-and-throughput": [],
    "tlc": ["geometry.blocks_per_plane=64"],
    "two-tenants": [],
    "write-heavy-steady": [],
}
DRAWN = 14

# Axes of the drawn scenarios: every value can go with every other.
AXES: dict[str, list[str]] = {
    "device": ["fast12-slc", "fast12-mlc", "mqsim-default-like", "znand-like", "970pro-like"],
    "policy": ["fifo", "rps", "pe0", "pes-ips", "pes-ipc"],
    "ftl.precondition": ["none", "sequential", "steady"],
    "ftl.gc_victim": ["greedy", "d-choices", "fifo", "cost-benefit"],
    "ftl.over_provisioning": ["0.2", "0.3"],
    "workload.read_fraction": ["0.3", "0.7", "0.95"],
    "workload.addresses": ["uniform", "zipf"],
    "workload.queue_depth": ["1", "8", "64"],
    "measure.warmup": ["none", "none", "auto"],
    "seed": ["1", "7"],
}
TEXT = """\
[geometry]
blocks_per_plane = 48
[workload]
generator = "mixed"
requests = 3000
request_bytes = 16384
arrivals = "closed"
"""


def drawn() -> list[tuple[str, list[str]]]:
    chance = random.Random(20)  # noqa: S311
    return [
        (TEXT, [f"{key}={chance.choice(values)}" for key, values in AXES.items()])
        for _ in range(DRAWN)
    ]


def of_examples() -> list[tuple[str, list[str]]]:
    few = "workload.requests=4000"
    return [
        ((EXAMPLES / f"{name}.toml").read_text(), [*sets, few])
        for name, sets in OF_EXAMPLES.items()
    ]


def in_node(asked: list[tuple[str, list[str]]], folder: Path) -> list[dict[str, Any]]:
    """Run scenarios in the WebAssembly core; `folder`: where it is copied, as modules."""
    assert NODE is not None
    for each in UI.iterdir():
        shutil.copy(each, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    script = Path(__file__).with_name("explorer_node.mjs")
    done = subprocess.run(
        [NODE, str(script), str(folder)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def natively(text: str, sets: list[str]) -> dict[str, Any]:
    """Return what `reprieve run --requests` writes, without what the machine measures."""
    result = simulate(Source(text, "scenario.toml", tuple(sets)), keep_requests=True)
    summary: dict[str, Any] = json.loads(json.dumps(result.summary))
    for measured in ("wall_s", "page_transactions_per_s", "peak_rss_bytes"):
        del summary["run"][measured]
    return summary


@needs_core
@needs_node
def test_twenty_scenarios_have_the_numbers_of_a_run(tmp_path: Path) -> None:
    asked = of_examples() + drawn()
    assert len(asked) == 20
    for (text, sets), answer in zip(asked, in_node(asked, tmp_path), strict=True):
        assert answer == {"summary": natively(text, sets)}, sets
