"""Databases on a file system on the served drive: what transactions take beside a bulk load."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import UserError
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step
from reprieve_studies.databases import postgresql, sqlite
from reprieve_studies.databases.mount import mounted, require_mounts
from reprieve_studies.databases.work import Work
from reprieve_studies.seeds import ratio
from reprieve_studies.served import served_drive
from reprieve_studies.starblaze.runs import (
    BASE,
    DATA,
    SEED,
    SETTINGS,
    settled,
    suspensions,
    text_of,
)

__all__ = ["COMPARED", "ENGINES", "PERCENTILES", "SAME_BLOCK", "Arm", "Outcome", "Plan", "run_into"]

SETTINGS_SERVED = ("none", "erase", "both")
SAME_BLOCK = ("wordline", "block", "page")
"""Which reads wait for a program though it may be suspended."""
PERCENTILES = (50, 90, 95, 99, 99.9)
COMPARED = ("mean_us", "p95_us", "drive_read_mean_us", "drive_read_p99_us")
"""Columns that are compared with the first arm, over seeds."""
_BULK_BYTES_PER_S = 20e6
"""Of rows, by the model's clock; with what is moved, a third of what the dies can take."""
_BEYOND_LEAST = 10
"""Transactions beyond a percentile that is reported."""
_SETS: Mapping[str, object] = {
    # Of four dies each: a quarter of the drive of the slides, 4.6 GB.
    "geometry.channels": 2,
    # Blocks of an eighth of the pages, and eight times as many: a run takes some seconds of the
    # model's time, and is to have many erases all the same.
    "geometry.pages_per_block": 384,
    "geometry.blocks_per_plane": 512,
    # Two wordlines a die: a flush waits for all that is in the buffer.
    "buffer.bytes": 1 << 20,
    # A database waits for its flushes: a second would be all that it sees.
    "ftl.wordline_timeout_us": 1000,
}
"""Differences from the drive of the slides."""


@dataclass(frozen=True)
class Engine:
    """A database that can be asked and loaded at the same time."""

    require: Callable[[], None]
    """Raises UserError if this machine does not have it."""
    transactions: Callable[[Work], NDArray[np.float64]]
    """Fills a database and returns what each transaction took, in ns."""


ENGINES: Mapping[str, Engine] = {
    "sqlite": Engine(sqlite.require, sqlite.transactions),
    "postgresql": Engine(postgresql.require, postgresql.reads),
    "pgbench": Engine(postgresql.require, postgresql.updates),
}


@dataclass(frozen=True)
class Arm:
    """Operations that reads may suspend, and the reads that wait all the same."""

    setting: str
    """A name of `SETTINGS`."""
    same_block: str = SAME_BLOCK[0]

    @property
    def name(self) -> str:
        """Of its scenario file."""
        return self.setting + self._unless_usual(f"-{self.same_block}")

    @property
    def title(self) -> str:
        """As a reader has it."""
        suspended = str(SETTINGS[self.setting]["title"])
        return suspended + self._unless_usual(f", same {self.same_block} waits")

    def _unless_usual(self, words: str) -> str:
        return "" if self.same_block == SAME_BLOCK[0] else words


@dataclass(frozen=True)
class Plan:
    """Sizes of the runs: each arm in turn for each seed."""

    seconds: int
    """Of transactions, by the wall's clock."""
    scale: int
    """By which the model's clock is slowed."""
    seeds: int = 1
    same_block: Sequence[str] = SAME_BLOCK[:1]
    """Which of `SAME_BLOCK` hold, one after the other, where programs are suspended."""

    @property
    def arms(self) -> list[Arm]:
        """The first is what the others are compared with."""
        return [
            Arm(setting, same)
            for setting in SETTINGS_SERVED
            for same in (self.same_block if setting == "both" else SAME_BLOCK[:1])
        ]


@dataclass(frozen=True)
class Outcome:
    """Latencies of the transactions of an arm, in µs by the model's clock."""

    arm: Arm
    seed: int
    latencies_us: NDArray[np.float64]
    scale: int
    """By which the model's clock was slowed."""
    summary: Mapping[str, Any]
    """Of the served drive."""

    @property
    def told(self) -> dict[str, Any]:
        """Row of the results."""
        served = self.summary["served"]
        late, read = served["lateness_ns"], served["commands"]["read"]["latency_ns"]
        return {
            "suspended": SETTINGS[self.arm.setting]["title"],
            "same_block": self.arm.same_block,
            "seed": self.seed,
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
        """Return it; None with too few transactions beyond it."""
        beyond = len(self.latencies_us) * (100 - at) / 100
        return float(np.percentile(self.latencies_us, at)) if beyond >= _BEYOND_LEAST else None


def run_into(engine: str, plan: Plan, directory: Path, step: Step) -> list[Outcome]:
    """Run every arm with every seed, and write what was found to `directory`."""
    if engine not in ENGINES:
        raise UserError(f"database {engine}: must be one of {', '.join(ENGINES)}")
    if wrong := [name for name in plan.same_block if name not in SAME_BLOCK]:
        raise UserError(f"--same-block {wrong[0]}: must be one of {', '.join(SAME_BLOCK)}")
    require_mounts()
    ENGINES[engine].require()
    outcomes: list[Outcome] = []
    with ResultDirectory(directory) as out, tempfile.TemporaryDirectory() as name:
        state, arms = Path(name, "drive.state"), plan.arms
        step("bringing the drive to its state", 0, len(arms) * plan.seeds)
        (state.parent / "settle.fio").write_text(DATA["settled"]["job"])
        settled(_SETS, state.parent).settle(state)
        for seed in range(SEED, SEED + plan.seeds):
            # By turns: what else the machine does is no difference between arms.
            turn = (seed - SEED) % len(arms)
            for arm in arms[turn:] + arms[:turn]:
                step(f"{engine}, {arm.title}", len(outcomes), len(arms) * plan.seeds)
                outcomes.append(_run(engine, arm, seed, plan, state))
        outcomes.sort(key=lambda one: (one.seed, arms.index(one.arm)))
        for arm in arms:
            out.write(f"{arm.name}.toml", scenario_text(arm))
        told = [one.told for one in outcomes]
        out.write("transactions.json", json.dumps(told, indent=2) + "\n")
        if plan.seeds > 1:
            out.write("paired.json", json.dumps(paired(outcomes), indent=2) + "\n")
        out.commit()
    return outcomes


def paired(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return each arm over the first, in pairs of the same seed: ratios with intervals of 95 %.

    They are means of logarithms over seeds. A measure that a run does not report is None.
    """
    by_arm: dict[Arm, dict[int, dict[str, Any]]] = {}
    for one in outcomes:
        by_arm.setdefault(one.arm, {})[one.seed] = one.told
    arms = list(by_arm)
    return [
        {
            "suspended": SETTINGS[arm.setting]["title"],
            "same_block": arm.same_block,
            "seeds": len(by_arm[arm]),
            **{what: _ratio(by_arm[arm], by_arm[arms[0]], what) for what in COMPARED},
        }
        for arm in arms[1:]
    ]


def _ratio(
    told: Mapping[int, Mapping[str, Any]], base: Mapping[int, Mapping[str, Any]], what: str
) -> dict[str, float] | None:
    pairs = [(told[seed][what], base[seed][what]) for seed in base]
    if any(value is None for pair in pairs for value in pair):
        return None
    found = ratio(pairs)
    assert found.low is not None and found.high is not None, "there are two seeds"
    return {"ratio": found.mean, "low": found.low, "high": found.high}


def scenario_text(arm: Arm) -> str:
    """Return the scenario of the drive in an arm."""
    allowed = {**suspensions(arm.setting, BASE), "suspension.same_block": arm.same_block}
    return text_of({**DATA["drive"], "seed": SEED}, {**_SETS, **allowed})


def _run(engine: str, arm: Arm, seed: int, plan: Plan, state: Path) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        # PostgreSQL runs as another user, who has to get to what is mounted in it.
        folder.chmod(0o711)
        scenario = folder / "drive.toml"
        scenario.write_text(scenario_text(arm))
        options = ("--time-scale", str(plan.scale), "--from-state", str(state))
        with (
            served_drive(scenario, folder, "drive", options) as summary,
            mounted(folder / "drive.sock", folder) as root,
        ):
            work = Work(root, plan.seconds, _BULK_BYTES_PER_S / plan.scale, seed)
            found = ENGINES[engine].transactions(work)
        return Outcome(arm, seed, found / 1e3 / plan.scale, plan.scale, summary())
