"""The numbers of this reproduction by name, which pages and other programs quote."""

from collections.abc import Sequence
from typing import Any

from reprieve import Result
from reprieve_studies.fast12 import alternatives, beyond, tables
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.figures import ratios_to_rps
from reprieve_studies.fast12.measures import MEASURES, Group, Runs, Spot
from reprieve_studies.fast12.paper import DEVICES
from reprieve_studies.loads import Load


def all_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return all of them; shares in per cent, times in the unit that ends their name."""
    plan = outcome.plan
    readings = {alternatives.BASE.name: outcome.main, **outcome.alternatives}
    claims = {name: _claims(runs, plan.papers) for name, runs in readings.items()}
    if plan.real:
        claims["real"] = _claims(outcome.main, plan.real)
    return {
        "requests": plan.requests,
        "loads": {load.trace: _load(outcome, load) for load in plan.loads},
        "claims": claims,
        "increase": tables.increases(outcome),
        "variants": {
            device: {
                variant.name: ratios_to_rps(outcome, device, variant.name)._asdict()
                for variant in beyond.VARIANTS
            }
            for device in DEVICES
        },
        "beyond": {
            device: {load.trace: _beyond(outcome, device, load.trace) for load in plan.loads}
            for device in DEVICES
        },
    }


def _claims(runs: Runs, loads: Sequence[Load]) -> dict[str, dict[str, float]]:
    """Return every measure of the paper by device."""
    names = [load.trace for load in loads]
    return {
        device: {
            name: measure(Group(runs, device, names))
            for name, measure in MEASURES.items()
            if not name.endswith("_f1") or "F1" in names
        }
        for device in DEVICES
    }


def _load(outcome: Outcome, load: Load) -> dict[str, Any]:
    found: dict[str, Any] = {"label": load.label, "genuine": load.genuine}
    for device in DEVICES:
        scale = outcome.compressions[device, load.trace]
        found[device] = {
            "speed": scale.speed,
            "drive_idle_percent": 100 * scale.drive_idle_share,
            "die_idle_percent": 100 * scale.die_idle_share,
            "beyond_speed": outcome.compressions_beyond[device, load.trace].speed,
        }
    return found


def _beyond(outcome: Outcome, device: str, load: str) -> dict[str, Any]:
    runs = {
        variant.name: outcome.beyond[Spot(device, load, variant.name)]
        for variant in beyond.VARIANTS
    }
    return {name: _run(result) for name, result in runs.items()}


def _run(result: Result) -> dict[str, float]:
    groups = result.summary["requests"]
    reads = groups["read"]["latency_ns"]
    return {
        "reads": groups["read"]["count"],
        "read_mean_us": reads["mean"] / 1e3,
        "read_p99_99_us": reads["p99_99"] / 1e3,
        "read_us_max": reads["max"] / 1e3,
        "write_mean_us": groups["write"]["latency_ns"]["mean"] / 1e3,
    }
