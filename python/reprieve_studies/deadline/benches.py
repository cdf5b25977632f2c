"""Where the families of policies are tried: one die in several regimes, whole drives under load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reprieve_studies.frame import listed, read
from reprieve_studies.loads import real
from reprieve_studies.theory.suspension_bound import Die

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
    die: Die | None = None
    """Its one die; None for a drive."""
    bounded: bool = False
    """Whether the lower bound applies to its die, and is computed."""
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
    return [_of_die(row, reads) for row in listed(DATA["bench"])]


def _of_die(row: dict[str, Any], reads: int) -> Bench:
    die = Die(**{**DATA["die"], **row.pop("die", {})})
    bursts = row.pop("bursts", {})
    arrivals = {"arrivals": "hyperexponential", "burst_fraction": 0.9, **bursts} if bursts else {}
    title = f"one die: {row.pop('title')}"
    known = {"late_share": 0.001, **row, "name": f"die-{row['name']}"}
    return Bench(title=title, slo_us=die.slo_us, program_us=die.program_us, die=die,
                 scenario=die_scenario(die, reads, arrivals), rate_key="flow.reads.rate_iops",
                 rate=die.rate * 1e6, **known)  # fmt: skip


def die_scenario(die: Die, reads: int, arrivals: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drive of one die: reads, by default Poisson, and writes that always wait."""
    drive = DATA["one_die"]
    phases = round(die.program_us)
    programs = round(reads / die.rate / die.program_us)
    timing = {
        "t_read_us": die.read_us,
        "program_iterations": phases,
        "t_program_pulse_us": die.program_us / phases,
        "t_buffer_us": die.resume_us,
        "t_suspend_overhead_us": die.entry_us,
    }
    flow = {
        "reads": {"read_fraction": 1.0, "arrivals": "poisson", "rate_iops": die.rate * 1e6,
                  "requests": reads, **arrivals},
        # As many as would fit without any read: they last as long as the reads.
        "writes": {"read_fraction": 0.0, "arrivals": "closed", "queue_depth": 2,
                   "requests": programs},
    }  # fmt: skip
    geometry = {**drive["geometry"], "blocks_per_plane": max(1024, programs // 32)}
    return {**drive, "geometry": geometry, "timing": {**drive["timing"], **timing}, "flow": flow}


def drives(requests: int) -> list[Bench]:
    """Return whole drives under generated loads and, in a checkout, under recorded ones."""
    return [bench for row in listed(DATA["drive"]) for bench in _of_drive(row, requests)]


def _of_drive(of: dict[str, Any], requests: int) -> Iterator[Bench]:
    device, rate_iops = of["device"], of["rate_iops"]
    mixed = {
        "generator": "mixed", "requests": requests, "read_fraction": 0.7,
        "request_bytes": of["request_bytes"], "arrivals": "poisson",
    }  # fmt: skip
    bursts = {
        **mixed, "arrivals": "hyperexponential", "burst_fraction": 0.9,
        "burst_gap_us": round(1e5 / rate_iops, 3), "burst_length": 20,
    }  # fmt: skip
    for kind in of["kinds"]:
        load = bursts if kind == "bursts" else mixed
        yield Bench(
            f"{device}-{kind}", f"{device}: 70 % reads, {kind}", of["slo_us"], 0.01,
            of["program_us"], _drive(of, load), "workload.rate_iops", rate_iops,
            has_power=of["has_power"],
        )  # fmt: skip
    recorded = of.get("recorded") or {"trace": None}
    for recording in real():
        if recording.trace == recorded["trace"]:
            yield Bench(
                f"{device}-{recording.trace}", f"{device}: {recording.trace}, recorded",
                recorded["slo_us"], 0.01, of["program_us"], _drive(of, recording.workload),
                "workload.time_scale", recorded["time_scale"], has_power=of["has_power"],
                recorded=True,
            )  # fmt: skip


def _drive(of: Mapping[str, Any], workload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "device": of["device"],
        "geometry": {"blocks_per_plane": _BLOCKS, **of.get("geometry", {})},
        "scheduling": {"policy": "rps"},
        "ftl": {"precondition": "steady", **of.get("ftl", {})},
        "workload": dict(workload),
        "suspension": of.get("suspension", {}),
    }
