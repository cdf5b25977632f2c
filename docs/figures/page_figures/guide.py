"""Output of the examples of README and guide."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import reprieve as rp

from .pages import ROOT

EXAMPLES = ROOT / "examples"
DEMO = EXAMPLES / "sql-server.toml"
CLASSES = ("low", "high", "urgent")
COPYBACK_REQUESTS = 60_000
_TOLD = ("read_latency_ns_mean", "read_latency_ns_p99", "write_latency_ns_mean")
_RATIO = ("ratio", "ratio_low", "ratio_high", "decided")


def demo(out: Path) -> dict[str, Any]:
    """Run the comparison of `make demo`, and keep its output."""
    out.mkdir(parents=True)
    command = [str(Path(sys.executable).with_name("reprieve")), "compare", str(DEMO)]
    arms = [word for arm in demo_arms() for word in ("--arm", arm)]
    printed = subprocess.run(
        [*command, *arms, "--out", "out/demo"], cwd=out, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = json.loads((out / "out/demo/compare.json").read_text(encoding="utf-8"))
    first = found["runs"][0]["label"]
    ratios = {p["run"]: p["measures"] for p in found["paired"] if p["base"] == first}
    return {
        "printed": [line.rstrip() for line in printed.rstrip().splitlines()],
        "paired": {
            label: {measure: {key: ratios[label][measure][key] for key in _RATIO}
                    for measure in _TOLD}
            for label in ratios
        },
    }  # fmt: skip


def demo_arms() -> list[str]:
    """Return the arms of `make demo`, from the Makefile."""
    return re.findall(r"--arm '([^']+)'", (ROOT / "Makefile").read_text(encoding="utf-8"))


def guide() -> dict[str, Any]:
    """Run the examples whose numbers the guide has."""
    copyback = rp.compare(
        str(EXAMPLES / "write-heavy-steady.toml"),
        {"ftl.copyback": [False, True]},
        workload__requests=COPYBACK_REQUESTS,
    )
    pairs = copyback.paired(list(copyback)[-1])
    return {
        "copyback": {
            name: {key: dict(pairs[f"{name}_latency_ns_mean"])[key] for key in _RATIO}
            for name in ("read", "write")
        },
        "tenants": {name: _tenants(name) for name in CLASSES},
    }


PARTS = ("tlc3d-2021", "tlc3d-zambelli")
BUFFERS = {"small": 256 << 10, "large": 16 << 20}
CUTS = 1000
SEEDS = (1, 2, 3, 4, 5)
WORST = ("time_to_safety_ns", "energy_uj", "capacitance_uf")


def power_losses(out: Path) -> dict[str, Any]:
    """Let the power fail on two real parts with little and with much to save; draw one of them.

    A worst case hangs on an instant that a run may not meet: it is that of several, and kept of
    each.
    """
    out.mkdir(parents=True)
    found: dict[str, Any] = {"cuts": CUTS, "seeds": len(SEEDS)}
    for part in PARTS:
        for size, buffer_bytes in BUFFERS.items():
            runs = [_power_losses(part, buffer_bytes, seed) for seed in SEEDS]
            told = [run.summary()["policies"] for run in runs]
            found.setdefault(part, {})[size] = {
                policy: {key: [each[policy][key]["max"] for each in told] for key in WORST}
                for policy in runs[0].policies
            }
            if (part, size) == ("tlc3d-zambelli", "small"):
                runs[0].plot().save(out / "power_loss.svg", "page")
    return found


def _power_losses(part: str, buffer_bytes: int, seed: int) -> rp.PowerLoss:
    scenario = str(EXAMPLES / "power-loss.toml")
    return rp.power_loss(scenario, cuts=CUTS, part=part, buffer__bytes=buffer_bytes, seed=seed)


def _tenants(name: str) -> dict[str, float]:
    """Return what both tenants get where the small one has this class."""
    result = rp.run(str(EXAMPLES / "two-tenants.toml"), host__queue_priorities=["low", name])
    summary = result.summary
    large, small = summary["flows"].values()
    reads = small["requests"]["read"]
    return {
        "reads_per_s": 1e9 * reads["count"] / small["active_ns"],
        "mean_read_us": reads["latency_ns"]["mean"] / 1000,
        "large_read_p99_us": large["requests"]["read"]["latency_ns"]["p99"] / 1000,
        **{key: summary["fairness"][key] for key in ("jain_iops", "jain_bandwidth")},
    }
