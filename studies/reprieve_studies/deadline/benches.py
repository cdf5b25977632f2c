"""Where the families of policies are tried: one die in several regimes, whole drives under load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reprieve_studies.deadline.die_bench import scenario as die_scenario
from reprieve_studies.deadline.grid import Die
from reprieve_studies.loads import real

Aim = Literal["suspensions", "tail"]
"""What is least at the best point: suspensions a second, with reads in time; or p99.9 of reads,
with 99 % of the writes kept."""

_BLOCKS = 64
"""A plane: the drives' own number only takes longer to fill."""
_DIE = Die(read_us=60, program_us=1000, entry_us=20, resume_us=50, read_load=0.3, slo_us=500)


@dataclass(frozen=True)
class Bench:
    """A drive, a load, and what is asked of its reads."""

    name: str
    title: str
    slo_us: float
    late_share: float
    """Reads that may take longer than `slo_us`."""
    program_us: float
    """Of an undisturbed program, to which the knobs of today are scaled."""
    scenario: Mapping[str, Any]
    """All but the load's rate, the seed and the policy."""
    rate_key: str
    """The key that makes the load heavier."""
    rate: float
    is_die: bool = False
    die: Die | None = None
    """Die that the grid is solved for; None where its model does not apply."""
    aim: Aim = "suspensions"
    null: bool = False
    """Nothing is to be gained here, as was said before the first run."""
    has_power: bool = False
    """The power of its part is published; what it draws is told of the judged runs."""
    recorded: bool = False
    """Its arrivals are a recording's: a seed changes the drive alone."""

    def overrides(self, seed: int, heavier: float) -> dict[str, Any]:
        """Keys of a run with so heavy a load: 1 for what was searched."""
        rate = self.rate / heavier if self.recorded else self.rate * heavier
        return {"seed": seed, self.rate_key: rate}


def _die(name: str, title: str, of: Die, requests: int, **more: Any) -> Bench:
    return Bench(
        name=f"die-{name}", title=f"one die: {title}", slo_us=of.slo_us,
        program_us=of.program_us, scenario=die_scenario(of, requests),
        rate_key="flow.reads.rate_iops", rate=of.rate * 1e6, is_die=True,
        **{"die": of, "late_share": 0.001, **more},
    )  # fmt: skip


def _with(die: Die, **changes: float) -> Die:
    return Die(**{**die.__dict__, **changes})


def _bursty(bench: Bench, burst_gap_us: float, length: int) -> Bench:
    """Return the same with reads in bursts: nine of ten gaps are short."""
    flow = bench.scenario["flow"]
    reads = {
        **flow["reads"],
        "arrivals": "hyperexponential",
        "burst_fraction": 0.9,
        "burst_gap_us": burst_gap_us,
        "burst_length": length,
    }
    scenario = {**bench.scenario, "flow": {**flow, "reads": reads}}
    return Bench(**{**bench.__dict__, "scenario": scenario, "die": None})


def dies(reads: int) -> list[Bench]:
    """Return the regimes of one die, of so many reads a run."""
    busy = _die("half", "reads take half of the time", _with(_DIE, read_load=0.5), reads)
    bursts = _bursty(_die("bursts", "reads in bursts", _DIE, reads), 150, 10)
    # Reads of a burst come faster than the die can read: a quarter is late whatever makes way.
    saturated = _bursty(
        _die("saturated", "bursts that saturate the die", _DIE, reads, null=True, late_share=0.3),
        40, 10,
    )  # fmt: skip
    return [
        _die("500", "service level 500 µs", _DIE, reads),
        _die("800", "service level 800 µs", _with(_DIE, slo_us=800), reads),
        _die("300", "service level 300 µs", _with(_DIE, slo_us=300), reads),
        busy,
        _die("costly", "entry 60, resume 100 µs", _with(_DIE, entry_us=60, resume_us=100), reads),
        bursts,
        _die("240", "service level of 4 reads", _with(_DIE, slo_us=240), reads, null=True),
        saturated,
        _die("writes", "at least 99 % of the writes kept", _DIE, reads, null=True, aim="tail",
             die=None),
    ]  # fmt: skip


def _drive(device: str, workload: Mapping[str, Any]) -> dict[str, Any]:
    # The part of FAST'12 says nothing of suspensions.
    suspends = {"suspension": {"program": "ips", "erase": True}} if device == "fast12-mlc" else {}
    return {
        "device": device,
        "geometry": {"blocks_per_plane": _BLOCKS},
        "scheduling": {"policy": "rps"},
        "ftl": {"precondition": "steady"},
        "workload": dict(workload),
        **suspends,
    }


_DRIVES: Mapping[str, tuple[float, float, int, float]] = {
    "fast12-mlc": (800.0, 300.0, 4096, 12_000.0),
    "tlc-enterprise": (2000.0, 600.0, 16_384, 30_000.0),
    "qlc-enterprise": (2200.0, 700.0, 16_384, 3_000.0),
}
"""Program, service level (about a third of that), bytes of a request, requests a second: dies that
are at work for two fifths to half of the time."""

_POWERED = ("fast12-mlc", "tlc-enterprise")
"""Drives of parts whose power is published."""

_RECORDED: Mapping[str, tuple[str, float, float]] = {
    "fast12-mlc": ("web", 0.1, 600.0),
    "tlc-enterprise": ("web", 0.05, 1000.0),
    "qlc-enterprise": ("mysql", 0.1, 800.0),
}
"""Recording, by how much its gaps are shortened, and the service level: its requests are of many
pages, and take longer by themselves."""


def drives(requests: int) -> list[Bench]:
    """Return three whole drives under two generated loads and, in a checkout, a recorded one."""
    found, recordings = [], {load.trace: load.workload for load in real()}
    for device, (program_us, slo_us, bytes_each, rate) in _DRIVES.items():
        mixed = {
            "generator": "mixed", "requests": requests, "read_fraction": 0.7,
            "request_bytes": bytes_each, "arrivals": "poisson",
        }  # fmt: skip
        bursts = {
            **mixed, "arrivals": "hyperexponential", "burst_fraction": 0.9,
            "burst_gap_us": round(1e5 / rate, 3), "burst_length": 20,
        }  # fmt: skip
        for kind, load in (("poisson", mixed), ("bursts", bursts)):
            found.append(
                Bench(f"{device}-{kind}", f"{device}: 70 % reads, {kind}", slo_us, 0.01,
                      program_us, _drive(device, load), "workload.rate_iops", rate,
                      has_power=device in _POWERED)
            )  # fmt: skip
        name, scale, level_us = _RECORDED[device]
        if name not in recordings:
            continue
        recorded = _drive(device, recordings[name])
        found.append(
            Bench(f"{device}-{name}", f"{device}: {name}, recorded", level_us, 0.01, program_us,
                  recorded, "workload.time_scale", scale, has_power=device in _POWERED,
                  recorded=True)
        )  # fmt: skip
    return found
