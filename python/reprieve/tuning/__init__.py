"""Tuning: which values of some keys meet bounds, and do best in something else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError
from reprieve.notebook import step_bar
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step, silent
from reprieve.scenario import ScenarioLike, Source

if TYPE_CHECKING:
    from reprieve.tuning.answer import Answer

__all__ = ["Settings", "Tuning", "tune", "tune_into"]

TRIES = 96
SEEDS = 3


@dataclass(frozen=True)
class Settings:
    """Settings of a tuning. Only the first three change its result."""

    tries: int = TRIES
    """Points that are tried."""
    seeds: int = SEEDS
    """Number of seeds for each of the best points, from that of the scenario on."""
    search_seed: int = 1
    workers: int | None = None
    """Runs at a time in this process; None: one a core."""
    scheduler: str | None = None
    """Address of a Dask scheduler, whose workers do the runs in place of this process."""
    step: Step = silent
    command: str | None = None
    """Shown in the page as what repeats it; None: the question."""


@dataclass(frozen=True)
class Tuning:
    """The answer of a search for the best values.

    `sentences` says it in words, and `scenario` can be run:

    >>> load = {"generator": "mixed", "requests": 500, "read_fraction": 0.7, "queue_depth": 8}
    >>> question = {"suspension.max_per_operation": "1..2"}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> found = rp.tune(scenario, question, min="write.mean", out="tuned", tries=2, seeds=1)
    >>> best = rp.Scenario.from_toml(found.scenario)
    >>> best.suspension.max_per_program == found.best["suspension.max_per_operation"]
    True
    """

    answer: Answer
    """All points with their results, from which the page is written."""
    sentences: tuple[str, ...]
    """The answer in words."""
    scenario: str
    """The best point as a scenario file, with every key."""
    ran: int
    """The number of runs done now; the others had been done before."""

    @property
    def meets(self) -> bool:
        """Whether the best point keeps all bounds, by the mean over its seeds."""
        return self.answer.meets

    @property
    def best(self) -> dict[str, Any]:
        """The keys that varied with their best values, without keys that do not apply."""
        return dict(self.answer.best.point.values)


def tune(
    scenario: ScenarioLike,
    vary: Mapping[str, str] | Sequence[str],
    *,
    where: Sequence[str] = (),
    max: str | None = None,
    min: str | None = None,
    out: str | os.PathLike[str],
    tries: int = TRIES,
    seeds: int = SEEDS,
    search_seed: int = 1,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Tuning:
    """Search for values of some keys that keep bounds and maximise or minimise a number.

    `vary`: each `KEY=LO..HI`, `KEY=LO..HI:log` or `KEY=A,B,C`.
    `where`: bounds such as `read.p99_9 <= 400us`.
    `max`, `min`: one of them names a number of the summary, such as `iops`.
    `out`: the directory of the results and of finished runs, which are never repeated.
    `tries`: the number of points to try.
    `seeds`: the number of seeds with which each of the best points runs.
    `search_seed`: the seed of the search itself.
    `workers`: the number of runs at a time; by default one a core.
    `scheduler`: the address of a Dask scheduler whose workers run them instead.

    Raises UserError for a wrong question, before anything runs.

    >>> load = {"generator": "mixed", "requests": 500, "read_fraction": 0.7, "queue_depth": 8}
    >>> found = rp.tune(
    ...     {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load},
    ...     {"suspension.max_per_operation": "1..2"},
    ...     where=["read.p99 <= 100ms"],
    ...     min="write.mean",
    ...     out="tuned",
    ...     tries=2,
    ...     seeds=1,
    ... )
    >>> found.meets, list(found.best)
    (True, ['suspension.max_per_operation'])
    """
    from reprieve.tuning.question import question

    if isinstance(vary, Mapping):
        vary = [f"{key}={values}" for key, values in vary.items()]
    asked = question(vary, where, max, min)
    with step_bar() as step:
        settings = Settings(tries, seeds, search_seed, workers, scheduler, step)
        return tune_into(Source.of(scenario, {}), asked, Path(out), settings)


def tune_into(source: Source, asked: Any, directory: Path, settings: Settings) -> Tuning:
    """Do what is missing of a tuning, and write its answer into a directory."""
    import tomllib

    from reprieve.experiments.engine import Settings as Places
    from reprieve.experiments.store import locked
    from reprieve.extras import need, need_plots
    from reprieve.tuning.answer import answer, sentences
    from reprieve.tuning.search import Measured, Scenarios, search

    # Asked before the first run: the page is written after the last.
    need("optuna", "reprieve tune", "optuna", "tune")
    need("scipy", "reprieve tune", "scipy", "tune")
    need_plots("reprieve tune", "tune")
    executor = Places(settings.workers, settings.scheduler).executor()
    scenarios = Scenarios(source)
    _check_keys(source, asked)
    first = int(tomllib.loads(source.resolve())["seed"])
    with locked(directory) as store:
        measure = Measured(store, executor, scenarios)
        found = search(
            asked,
            measure,
            scenarios.applying,
            tries=settings.tries,
            seeds=range(first, first + settings.seeds),
            search_seed=settings.search_seed,
            step=settings.step,
        )
        made = answer(asked, found)
        told = sentences(made)
        if found.refused:
            values, why = found.refused[0]
            told.append(f"{len(found.refused)} points are no drive, such as {values}: {why}")
        best = source.with_sets(made.best.point.sets).resolve()
        _write(directory, made, told, best, settings.command or _command(source, asked))
    return Tuning(made, tuple(told), best, measure.ran)


def _check_keys(source: Source, asked: Any) -> None:
    """Refuse an unknown key, and one that must not be varied."""
    for axis in asked.axes:
        if axis.key == "seed":
            raise UserError("--vary seed: every point runs with the same seeds; see --seeds")
        try:
            source.with_sets([f"{axis.key}=0"]).resolve()
        except UserError as error:
            if ": unknown key" in str(error):
                raise UserError(str(error).replace("--set: ", "--vary ", 1)) from None


def _command(source: Source, asked: Any) -> str:
    from reprieve.tuning.question import said

    goal = f"--{'max' if asked.is_max else 'min'} {asked.goal.said}"
    bounds = "".join(f' --where "{bound.said}"' for bound in asked.bounds)
    keys = "".join(f" --vary {said(axis)}" for axis in asked.axes)
    return f"reprieve tune {source.path}{keys}{bounds} {goal}"


def _write(directory: Path, made: Answer, told: Sequence[str], best: str, command: str) -> None:
    from reprieve.tuning.page import render, rows

    table = rows(made)
    content = {
        "schema": 1,
        "sentences": list(told),
        "meets": made.meets,
        "decided": made.decided,
        "best": dict(made.best.point.values),
        "binding": None if made.binding is None else str(made.binding),
        "tried": made.tried,
        "refused": made.refused,
        "points": table,
    }
    with ResultDirectory(directory) as out:
        out.write("tune.json", json.dumps(content, indent=1) + "\n")
        out.write("best.toml", best)
        out.write("report.html", render(made, told, command))
        out.commit()
