"""Output of the examples of README and guide."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import reprieve as rp

from .pages import HERE, ROOT

EXAMPLES = ROOT / "examples"
POLICIES = ("FIFO", "RPS", "PES-IPS", "PES-IPC", "PE0")
CLASSES = ("low", "high", "urgent")
COPYBACK_REQUESTS = 60_000
_TOLD = tuple((op, figure) for op in ("read", "write") for figure in ("mean", "p99", "p99_99"))
_RATIO = ("ratio", "ratio_low", "ratio_high", "decided")


def demo(out: Path) -> dict[str, Any]:
    """Run what `make demo` runs, keep what it prints, and draw its picture."""
    scenario = str(EXAMPLES / "mysql-five-policies.toml")
    out.mkdir(parents=True)
    command = [str(Path(sys.executable).with_name("reprieve")), "compare", scenario]
    axis = ["--axis", f"policy={','.join(POLICIES)}", "--out", "out/demo"]
    printed = subprocess.run(
        [*command, *axis], cwd=out, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    runpy.run_path(str(HERE / "demo_read_tail.py"))
    runs = rp.compare(scenario, {"policy": list(POLICIES)})
    found = {}
    for label, ratios in runs.normalised().items():
        flash = runs[label].summary["flash"]
        found[label] = {
            "ratios": [ratios[f"{op}_{figure}"] for op, figure in _TOLD],
            "suspensions": sum(flash["suspensions"].values()),
            "waf": flash["waf"],
        }
    first = runs["FIFO"].summary
    return {
        "printed": [line.rstrip() for line in printed.rstrip().splitlines()],
        "runs": found,
        "fifo_us": [first["requests"][op]["latency_ns"][figure] / 1000 for op, figure in _TOLD],
        "idle_percent": 100 * first["device"]["idle_share"],
    }


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
