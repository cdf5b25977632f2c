"""Where the families of policies are tried: one die in several regimes, whole drives under load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reprieve_studies.deadline.die_bench import scenario as die_scenario
from reprieve_studies.deadline.grid import Die
from reprieve_studies.frame import read
from reprieve_studies.loads import real

DATA = read(Path(__file__).with_name("study.toml"))
Aim = Literal["suspensions", "tail"]
"""Number that the search minimises: suspensions a second, with reads in time; or p99.9 of reads,
with 99 % of the writes kept."""

_BLOCKS = 64
"""A plane: the drives' own number only takes longer to fill."""


@dataclass(frozen=True)
class Bench:
    """A drive, a load, and the deadlines of its reads."""

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
    """The power of its part is published; the judged runs state its energy."""
    recorded: bool = False
    """Its arrivals are a recording's: a seed changes the drive alone."""

    def overrides(self, seed: int, heavier: float) -> dict[str, Any]:
        """Keys of a run with so heavy a load: 1 for what was searched."""
        rate = self.rate / heavier if self.recorded else self.rate * heavier
        return {"seed": seed, self.rate_key: rate}


def dies(reads: int) -> list[Bench]:
    """Return the regimes of one die, with the given number of reads a run."""
    found = []
    for row in DATA["bench"]:
        die = Die(**{**DATA["die"], **row.get("die", {})})
        scenario = die_scenario(die, reads)
        if bursts := row.get("bursts"):
            own = {"arrivals": "hyperexponential", "burst_fraction": 0.9, **bursts}
            flows = {**scenario["flow"], "reads": {**scenario["flow"]["reads"], **own}}
            scenario = {**scenario, "flow": flows}
        found.append(
            Bench(f"die-{row['name']}", f"one die: {row['title']}", die.slo_us,
                  row.get("late_share", 0.001), die.program_us, scenario, "flow.reads.rate_iops",
                  die.rate * 1e6, is_die=True, die=die if row.get("on_grid") else None,
                  aim=row.get("aim", "suspensions"), null=row.get("null", False))
        )  # fmt: skip
    return found


def drives(requests: int) -> list[Bench]:
    """Return three whole drives under two generated loads and, in a checkout, a recorded one."""
    found, recordings = [], {load.trace: load.workload for load in real()}
    for device, of in DATA["drives"].items():
        mixed = {
            "generator": "mixed", "requests": requests, "read_fraction": 0.7,
            "request_bytes": of["request_bytes"], "arrivals": "poisson",
        }  # fmt: skip
        bursts = {
            **mixed, "arrivals": "hyperexponential", "burst_fraction": 0.9,
            "burst_gap_us": round(1e5 / of["rate_iops"], 3), "burst_length": 20,
        }  # fmt: skip
        has_power = of.get("has_power", False)
        for kind, load in (("poisson", mixed), ("bursts", bursts)):
            found.append(
                Bench(f"{device}-{kind}", f"{device}: 70 % reads, {kind}", of["slo_us"], 0.01,
                      of["program_us"], _drive(device, load), "workload.rate_iops",
                      of["rate_iops"], has_power=has_power)
            )  # fmt: skip
        recorded = of["recorded"]
        name = recorded["trace"]
        if name in recordings:
            found.append(
                Bench(f"{device}-{name}", f"{device}: {name}, recorded", recorded["slo_us"], 0.01,
                      of["program_us"], _drive(device, recordings[name]), "workload.time_scale",
                      recorded["time_scale"], has_power=has_power, recorded=True)
            )  # fmt: skip
    return found


def _drive(device: str, workload: Mapping[str, Any]) -> dict[str, Any]:
    of = DATA["drives"][device]
    suspension = of.get("suspension")
    return {
        "device": device,
        "geometry": {"blocks_per_plane": _BLOCKS},
        "scheduling": {"policy": "rps"},
        # By pages, which the generated loads ask for: a read asks one die.
        "ftl": {"precondition": "steady", "mapping_bytes": of["request_bytes"]},
        "workload": dict(workload),
        **({"suspension": suspension} if suspension else {}),
    }
