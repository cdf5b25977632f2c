"""Where the families of policies are tried: one die in several regimes, whole drives under load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve_studies.frame import listed, read
from reprieve_studies.loads import real
from reprieve_studies.theory.suspension_bound import Die

DATA = read(Path(__file__).with_name("study.toml"))
_SCALE = "workload.time_scale"
"""The key of a recorded load, of which a seed changes the drive alone."""


@dataclass(frozen=True)
class Bench:
    """A drive, a load, and the deadlines of its reads; the file explains what rows of it have."""

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
    aim: str = "suspensions"
    null: bool = False
    has_power: bool = False

    def overrides(self, seed: int, heavier: float) -> dict[str, Any]:
        """Keys of a run with so heavy a load: 1 for what was searched."""
        rate = self.rate / heavier if self.rate_key == _SCALE else self.rate * heavier
        return {"seed": seed, self.rate_key: rate}


def dies(reads: int) -> list[Bench]:
    """Return the regimes of one die, with the given number of reads a run."""
    return [_of_die(reads, **row) for row in listed(DATA["bench"])]


def _of_die(reads: int, name: str, title: str, **row: Any) -> Bench:
    die, bursts = Die(**{**DATA["die"], **row.pop("die", {})}), row.pop("bursts", {})
    scenario = die_scenario(die, reads, {**DATA["bursts"], **bursts} if bursts else {})
    return Bench(f"die-{name}", f"one die: {title}", die.slo_us, program_us=die.program_us, die=die,
                 scenario=scenario, rate_key="flow.reads.rate_iops", rate=die.rate * 1e6,
                 **{"late_share": 0.001, **row})  # fmt: skip


def die_scenario(die: Die, reads: int, arrivals: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drive of one die: reads, by default Poisson, and writes that always wait."""
    drive, phases = DATA["one_die"], round(die.program_us)
    # As many as would fit without any read: they last as long as the reads.
    programs = round(reads / die.rate / die.program_us)
    flow = {
        "reads": {"rate_iops": die.rate * 1e6, "requests": reads, **arrivals},
        "writes": {"requests": programs},
    }
    own: dict[str, Any] = {
        "geometry": {"blocks_per_plane": max(1024, programs // 32)},
        "timing": {
            "t_read_us": die.read_us,
            "program_iterations": phases,
            "t_program_pulse_us": die.program_us / phases,
            "t_buffer_us": die.resume_us,
            "t_suspend_overhead_us": die.entry_us,
        },
        "flow": {name: {**drive["flow"][name], **keys} for name, keys in flow.items()},
    }
    return {**drive, **{section: {**drive[section], **keys} for section, keys in own.items()}}


def drives(requests: int) -> list[Bench]:
    """Return whole drives under generated loads and, in a checkout, under recorded ones."""
    return [bench for row in listed(DATA["drive"]) for bench in _of_drive(row, requests)]


def _of_drive(of: dict[str, Any], requests: int) -> Iterator[Bench]:
    device, rate_iops, recorded = of["device"], of["rate_iops"], of.get("recorded", {})
    mixed = {**DATA["generated"], "requests": requests, "request_bytes": of["request_bytes"]}
    bursts = {**DATA["bursts"], "burst_gap_us": round(1e5 / rate_iops, 3), "burst_length": 20}

    def bench(name: str, title: str, load: Mapping[str, Any], rate_key: str, own: Any) -> Bench:
        scenario: dict[str, Any] = {"device": device, **DATA["a_drive"], "workload": load}
        for section in ("geometry", "ftl", "suspension"):
            scenario[section] = {**scenario.get(section, {}), **of.get(section, {})}
        return Bench(f"{device}-{name}", f"{device}: {title}", own["slo_us"], 0.01,
                     of["program_us"], scenario, rate_key, own[rate_key.partition(".")[2]],
                     has_power=of["has_power"])  # fmt: skip

    for kind in of["kinds"]:
        load = {**mixed, **bursts} if kind == "bursts" else mixed
        yield bench(kind, f"70 % reads, {kind}", load, "workload.rate_iops", of)
    for one in real():
        if one.trace == recorded.get("trace"):
            yield bench(one.trace, f"{one.trace}, recorded", one.workload, _SCALE, recorded)
