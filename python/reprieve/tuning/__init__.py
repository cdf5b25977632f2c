"""Tuning: values of some keys that meet bounds and do best in something else."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError
from reprieve.notebook import step_bar
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step, silent
from reprieve.roles import is_environment
from reprieve.scenario import ScenarioLike, Source

if TYPE_CHECKING:
    from reprieve.tuning.answer import Answer

__all__ = ["Settings", "Tuning", "tune", "tune_into"]

TRIES = 48
SEEDS = 3
_PAGE_EVERY_S = 5.0


@dataclass(frozen=True)
class Settings:
    """Settings of a tuning. Only the first three and a time that is over change its result."""

    tries: int = TRIES
    """Points of a space that is too large to be tried whole, besides neighbours of the best."""
    seeds: int = SEEDS
    """Number of seeds of each point, from that of the scenario on."""
    search_seed: int = 1
    minutes: float | None = None
    """Start no batch of points after this time."""
    workers: int | None = None
    """Runs at a time in this process; None: one a core."""
    scheduler: str | None = None
    """Address of a Dask scheduler, whose workers do the runs in place of this process."""
    step: Step = silent
    interrupted: Callable[[], None] | None = None
    """Called on an interrupt, after which the best so far is the answer; None: it ends all."""
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
    vary: Mapping[str, str] | Sequence[str] = (),
    *,
    arms: Mapping[str, Sequence[str]] | None = None,
    where: Sequence[str] = (),
    max: str | None = None,
    min: str | None = None,
    out: str | os.PathLike[str],
    tries: int = TRIES,
    seeds: int = SEEDS,
    search_seed: int = 1,
    indifferent: float = 0.02,
    minutes: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Tuning:
    """Search for values of some keys that keep bounds and maximise or minimise a number.

    `vary`: each `KEY=LO..HI`, `KEY=LO..HI:log` or `KEY=A,B,C`.
    `arms`: choices by name with all that each overrides, `KEY=VALUE`.
    `where`: bounds such as `read.p99_9 <= 400us`.
    `max`, `min`: one of them names a number of the summary, such as `iops`.
    `out`: the directory of the results and of finished runs, which are never repeated.
    `tries`: the number of points to try, where there are more than 256.
    `seeds`: the number of seeds with which each point runs.
    `search_seed`: the seed of the search itself.
    `indifferent`: the share of the best within which a point is as good; the best tail wins.
    `minutes`: the time after which no further points are tried.
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
    named = {name: tuple(sets) for name, sets in (arms or {}).items()}
    asked = question(vary, where, max, min, indifferent, named)
    source = Source.of(scenario, {})
    check_values(source, asked)
    with step_bar() as step:
        settings = Settings(tries, seeds, search_seed, minutes, workers, scheduler, step)
        return tune_into(source, asked, Path(out), settings)


def tune_into(source: Source, asked: Any, directory: Path, settings: Settings) -> Tuning:
    """Do what is missing of a tuning, and write its answer into a directory."""
    import tomllib

    from reprieve.experiments.engine import Settings as Places
    from reprieve.experiments.store import locked
    from reprieve.tuning.answer import answer
    from reprieve.tuning.search import Found, Measured, Scenarios, Search

    _need()
    if twice := [axis.key for axis in asked.axes if axis.key in source.keys_set]:
        raise UserError(f"{twice[0]}: is given by --set, and varies; give it once")
    executor = Places(settings.workers, settings.scheduler).executor()
    scenarios = Scenarios(source, asked)
    first = int(tomllib.loads(source.resolve())["seed"])
    command, minutes = settings.command or _command(source, asked), settings.minutes
    until_s = None if minutes is None else time.monotonic() + 60 * minutes
    with locked(directory) as store:
        seeds = range(first, first + settings.seeds)
        measure = Measured(store, executor, scenarios, seeds, until_s)
        shown_s = time.monotonic()

        def show(found: Found) -> None:
            nonlocal shown_s
            if time.monotonic() - shown_s > _PAGE_EVERY_S:
                _write(directory, answer(asked, found), source, command, is_running=True)
                shown_s = time.monotonic()

        search = Search(
            asked, measure, scenarios.applying, step=settings.step, until_s=until_s, shown=show
        )
        try:
            search.run(settings.tries, settings.search_seed)
        except KeyboardInterrupt:
            if settings.interrupted is None or not search.found.tried:
                raise
            settings.interrupted()
            search.found.is_cut_short = True
        made = answer(asked, search.found, measure.paired)
        told, best = _write(directory, made, source, command, refused=search.found.refused)
    return Tuning(made, tuple(told), best, measure.progress.ran)


def _need() -> None:
    """Ask for the packages of a search before the first run: the page is written after the last."""
    from reprieve.extras import need, need_plots

    need("optuna", "reprieve tune", "optuna", "tune")
    need("scipy", "reprieve tune", "scipy", "tune")
    need_plots("reprieve tune", "tune")


def check_values(source: Source, asked: Any, option: str = "--vary ") -> None:
    """Refuse unknown keys, and listed values that are none of their keys'."""
    from reprieve.experiments.plan import Range

    _need()
    _check_keys(source, asked)
    for axis in asked.axes:
        for value in () if isinstance(axis.values, Range) else axis.values:
            try:
                source.with_sets(asked.sets([(axis.key, value)])).resolve()
            except UserError as error:
                # Another key may make a drive of it, but not another value.
                if re.match(rf"--set: {re.escape(axis.key)} = .*?: must be ", str(error)):
                    text = str(error).removeprefix("--set: ")
                    raise UserError(f"{option}{text}") from None


def _check_keys(source: Source, asked: Any) -> None:
    """Refuse an unknown key, and one that must not be varied."""
    from reprieve.tuning.question import ARM

    for axis in asked.axes:
        if axis.key == ARM:
            continue
        if axis.key == "seed":
            raise UserError("--vary seed: every point runs with the same seeds; see --seeds")
        if is_environment(axis.key):
            raise UserError(
                f"--vary {axis.key}: is given, not chosen, and no load is the best; tune under "
                f"each with --set, or sweep it"
            )
        try:
            source.with_sets([f"{axis.key}=0"]).resolve()
        except UserError as error:
            if ": unknown key" in str(error):
                raise UserError(str(error).replace("--set: ", "--vary ", 1)) from None


def _command(source: Source, asked: Any) -> str:
    from reprieve.tuning.question import ARM, said

    goal = f"--{'max' if asked.is_max else 'min'} {asked.goal.said}"
    bounds = "".join(f' --where "{bound.said}"' for bound in asked.bounds)
    keys = "".join(f" --vary {said(axis)}" for axis in asked.axes if axis.key != ARM)
    for name, sets in asked.arms.items():
        keys += f" --arm {shlex.quote(' '.join([name, *sets]))}"
    return f"reprieve tune {source.path}{keys}{bounds} {goal}"


def _write(
    directory: Path,
    made: Answer,
    source: Source,
    command: str,
    *,
    refused: Sequence[tuple[str, str]] = (),
    is_running: bool = False,
) -> tuple[list[str], str]:
    """Write the page and, at the end, the answer; return its sentences and the best scenario."""
    from reprieve.tuning.answer import sentences
    from reprieve.tuning.page import render, rows

    told = sentences(made)
    if refused:
        values, why = refused[0]
        told.append(f"{len(refused)} points are no drive, such as {values}: {why}")
    best = source.with_sets(made.question.sets(made.best.point.values)).resolve()
    content = {
        "schema": 2,
        "sentences": told,
        "meets": made.meets,
        "decided": made.decided,
        "best": dict(made.best.point.values),
        "ties": [dict(each.point.values) for each in made.ranked[: made.ties]],
        "binding": [str(each.bound) for each in made.freed if each.binds],
        "knee": None if made.knee is None else dict(made.knee.point.values),
        "tried": len(made.ranked),
        "whole_space": made.is_whole,
        "refused": len(refused),
        "points": rows(made),
    }
    with ResultDirectory(directory) as out:
        if not is_running:
            out.write("tune.json", json.dumps(content, indent=1) + "\n")
            out.write("best.toml", best)
        out.write("report.html", render(made, told, command, is_running=is_running))
        out.commit()
    return told, best
