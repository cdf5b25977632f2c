"""Databases on a file system on the served drive: what transactions take beside a bulk load."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step
from reprieve.reproduce.starblaze.databases import sqlite
from reprieve.reproduce.starblaze.databases.mount import mounted, require_mounts
from reprieve.reproduce.starblaze.experiment import SEED
from reprieve.reproduce.starblaze.readings import BASE, SETTINGS, drive, suspensions
from reprieve.reproduce.starblaze.realtime import SCALE, served_drive
from reprieve.scenario import toml_text

__all__ = ["ENGINES", "PERCENTILES", "Outcome", "run_into"]

SETTINGS_SERVED = ("none", "erase", "both")
PERCENTILES = (50, 95, 99, 99.9)
_CHANNELS = 2
"""Of four dies each: a quarter of the drive of the slides, 4.6 GB."""

_WORDLINE_TIMEOUT_US = 100
"""A database waits for its flushes: a second, as without them, would be all that it sees."""


@dataclass(frozen=True)
class Engine:
    """A database that can be asked and loaded at the same time."""

    transactions: Callable[[Path, int], NDArray[np.float64]]
    """Fills a database and returns what each transaction took beside a bulk load, in ns."""


ENGINES: Mapping[str, Engine] = MappingProxyType({"sqlite": Engine(sqlite.transactions)})


@dataclass(frozen=True)
class Outcome:
    """What transactions took with a setting, in µs by the model's clock."""

    setting: str
    """A name of `SETTINGS`."""
    latencies_us: NDArray[np.float64]
    summary: Mapping[str, Any]
    """Of the served drive."""

    @property
    def told(self) -> dict[str, Any]:
        """What is written to the results."""
        served = self.summary["served"]
        late, read = served["lateness_ns"], served["commands"]["read"]["latency_ns"]
        return {
            "suspended": SETTINGS[self.setting][0],
            "transactions": len(self.latencies_us),
            "mean_us": float(self.latencies_us.mean()),
            **{f"p{at:g}_us": float(np.percentile(self.latencies_us, at)) for at in PERCENTILES},
            "max_us": float(self.latencies_us.max()),
            "drive_read_mean_us": read["mean"] / 1e3,
            "drive_read_p99_us": read["p99"] / 1e3,
            "late_mean_us": late["mean"] / 1e3 / SCALE,
            "late_p99_us": late["p99"] / 1e3 / SCALE,
            "program_suspensions": self.summary["flash"]["suspensions"]["program"],
            "erase_suspensions": self.summary["flash"]["suspensions"]["erase"],
        }


def run_into(engine: str, count: int, directory: Path, step: Step) -> list[Outcome]:
    """Run so many transactions with each setting, and write what was found to `directory`."""
    if engine not in ENGINES:
        raise UserError(f"database {engine}: must be one of {', '.join(ENGINES)}")
    require_mounts()
    outcomes = []
    for done, setting in enumerate(SETTINGS_SERVED):
        step(f"{engine}, {SETTINGS[setting][0]}", done, len(SETTINGS_SERVED))
        outcomes.append(_run(engine, setting, count))
    with ResultDirectory(directory) as out:
        for one in outcomes:
            out.write(f"{one.setting}.toml", scenario_text(one.setting))
        out.write("transactions.json", json.dumps([one.told for one in outcomes], indent=2) + "\n")
        out.commit()
    return outcomes


def scenario_text(setting: str) -> str:
    """Return the scenario of the drive with a setting."""
    scenario = {"seed": SEED, **drive(BASE.shape)}
    geometry, ftl = scenario["geometry"], scenario["ftl"]
    assert isinstance(geometry, dict) and isinstance(ftl, dict)
    allowed = suspensions(setting, BASE.shape.part)
    scenario["geometry"] = {**geometry, "channels": _CHANNELS}
    scenario["ftl"] = {**ftl, "wordline_timeout_us": _WORDLINE_TIMEOUT_US}
    scenario["suspension"] = {key.partition(".")[2]: value for key, value in allowed.items()}
    return toml_text(scenario)


def _run(engine: str, setting: str, count: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        scenario = folder / "drive.toml"
        scenario.write_text(scenario_text(setting))
        options = ("--time-scale", str(SCALE))
        with (
            served_drive(scenario, folder, "drive", options) as summary,
            mounted(folder / "drive.sock", folder) as root,
        ):
            found = ENGINES[engine].transactions(root, count)
        return Outcome(setting, found / 1e3 / SCALE, summary())
