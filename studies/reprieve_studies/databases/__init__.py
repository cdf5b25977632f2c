"""Databases on a file system on the served drive: what transactions take beside a bulk load."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import UserError
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step
from reprieve.scenario import toml_text
from reprieve_studies.databases import postgresql, sqlite
from reprieve_studies.databases.mount import mounted, require_mounts
from reprieve_studies.databases.work import Work
from reprieve_studies.starblaze.experiment import SEED, save_state
from reprieve_studies.starblaze.readings import BASE, SETTINGS, drive, suspensions
from reprieve_studies.starblaze.realtime import served_drive

__all__ = ["ENGINES", "PERCENTILES", "Outcome", "run_into"]

SETTINGS_SERVED = ("none", "erase", "both")
PERCENTILES = (50, 90, 95, 99, 99.9)
_BULK_BYTES_PER_S = 20e6
"""Of rows, by the model's clock; with what is moved, a third of what the dies can take."""
_BEYOND_LEAST = 10
"""Transactions beyond a percentile that is told."""
_CHANNELS = 2
"""Of four dies each: a quarter of the drive of the slides, 4.6 GB."""
_SHAPE = replace(BASE.shape, pages_per_block=24, blocks=512)
"""Blocks of an eighth of the pages that they have in the chosen reading, and eight times as many: a
run is over in some seconds of the model's time, and is to have many erases all the same."""
_BUFFER_BYTES = 1 << 20
"""Two word lines a die: a flush waits for all that is in the buffer."""
_WORDLINE_TIMEOUT_US = 1000
"""A database waits for its flushes: a second, as without them, would be all that it sees."""


@dataclass(frozen=True)
class Engine:
    """A database that can be asked and loaded at the same time."""

    require: Callable[[], None]
    """Raises UserError if this machine does not have it."""
    transactions: Callable[[Work], NDArray[np.float64]]
    """Fills a database and returns what each transaction took, in ns."""


ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        "sqlite": Engine(sqlite.require, sqlite.transactions),
        "postgresql": Engine(postgresql.require, postgresql.reads),
        "pgbench": Engine(postgresql.require, postgresql.updates),
    }
)


@dataclass(frozen=True)
class Outcome:
    """What transactions took with a setting, in µs by the model's clock."""

    setting: str
    """A name of `SETTINGS`."""
    latencies_us: NDArray[np.float64]
    scale: int
    """By which the model's clock was slowed."""
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
            **{f"p{at:g}_us": self._percentile(at) for at in PERCENTILES},
            "max_us": float(self.latencies_us.max()),
            "drive_read_mean_us": read["mean"] / 1e3,
            "drive_read_p99_us": read["p99"] / 1e3,
            "late_mean_us": late["mean"] / 1e3 / self.scale,
            "late_p99_us": late["p99"] / 1e3 / self.scale,
            "program_suspensions": self.summary["flash"]["suspensions"]["program"],
            "erase_suspensions": self.summary["flash"]["suspensions"]["erase"],
        }

    def _percentile(self, at: float) -> float | None:
        """Return it, unless there are too few transactions beyond it to tell."""
        beyond = len(self.latencies_us) * (100 - at) / 100
        return float(np.percentile(self.latencies_us, at)) if beyond >= _BEYOND_LEAST else None


def run_into(engine: str, seconds: int, scale: int, directory: Path, step: Step) -> list[Outcome]:
    """Run so long with each setting, and write what was found to `directory`."""
    if engine not in ENGINES:
        raise UserError(f"database {engine}: must be one of {', '.join(ENGINES)}")
    require_mounts()
    ENGINES[engine].require()
    outcomes = []
    with ResultDirectory(directory) as out, tempfile.TemporaryDirectory() as name:
        state = Path(name, "drive.state")
        step("bringing the drive to its state", 0, len(SETTINGS_SERVED))
        save_state(_drive(), _SHAPE, state, lambda _share, _requests: None)
        for done, setting in enumerate(SETTINGS_SERVED):
            step(f"{engine}, {SETTINGS[setting][0]}", done, len(SETTINGS_SERVED))
            outcomes.append(_run(engine, setting, seconds, scale, state))
            out.write(f"{setting}.toml", scenario_text(setting))
        told = [one.told for one in outcomes]
        out.write("transactions.json", json.dumps(told, indent=2) + "\n")
        out.commit()
    return outcomes


def scenario_text(setting: str) -> str:
    """Return the scenario of the drive with a setting."""
    allowed = suspensions(setting, _SHAPE.part)
    rules = {key.partition(".")[2]: value for key, value in allowed.items()}
    return toml_text({**_drive(), "suspension": rules})


def _drive() -> dict[str, object]:
    scenario = {"seed": SEED, **drive(_SHAPE)}
    geometry, ftl = scenario["geometry"], scenario["ftl"]
    assert isinstance(geometry, dict) and isinstance(ftl, dict)
    scenario["geometry"] = {**geometry, "channels": _CHANNELS}
    scenario["buffer"] = {"bytes": _BUFFER_BYTES, "acknowledge": "back"}
    scenario["ftl"] = {**ftl, "wordline_timeout_us": _WORDLINE_TIMEOUT_US}
    return scenario


def _run(engine: str, setting: str, seconds: int, scale: int, state: Path) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        # PostgreSQL runs as another user, who has to get to what is mounted in it.
        folder.chmod(0o711)
        scenario = folder / "drive.toml"
        scenario.write_text(scenario_text(setting))
        options = ("--time-scale", str(scale), "--from-state", str(state))
        with (
            served_drive(scenario, folder, "drive", options) as summary,
            mounted(folder / "drive.sock", folder) as root,
        ):
            work = Work(root, seconds, _BULK_BYTES_PER_S / scale)
            found = ENGINES[engine].transactions(work)
        return Outcome(setting, found / 1e3 / scale, scale, summary())
