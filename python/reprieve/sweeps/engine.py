"""A sweep from plan to data set: what is done already is read, the rest is run, none twice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.extras import has_plots
from reprieve.parallel import Step, silent
from reprieve.sweeps import dataset, fleet
from reprieve.sweeps.columns import flat
from reprieve.sweeps.dataset import Row
from reprieve.sweeps.designs import Point, points
from reprieve.sweeps.executors import Executor, dask, threads
from reprieve.sweeps.identity import run_id
from reprieve.sweeps.pareto import Search
from reprieve.sweeps.plan import Plan
from reprieve.sweeps.store import Store, locked
from reprieve.sweeps.work import Task


def _warn(sentence: str) -> None:
    warnings.warn(sentence, stacklevel=2)


@dataclass(frozen=True)
class Settings:
    """How a sweep is gone about; none of it changes what it gives."""

    workers: int | None = None
    """Runs at a time in this process; None: one a core."""
    scheduler: str | None = None
    """Address of a Dask scheduler, whose workers do the runs in place of this process."""
    collect: bool = False
    """Run nothing: write the data set of what is finished."""
    step: Step = silent
    tell: Callable[[str], None] = _warn
    """Called with a sentence that somebody has to know and that stops nothing."""
    command: str | None = None
    """Shown in the page as what repeats it; None: no page is written."""


@dataclass(frozen=True)
class Outcome:
    """What a sweep came to."""

    rows: list[Row]
    ran: int
    """Runs that were done now; the others had been done before."""
    files: list[Path]


def sweep_into(plan: Plan, directory: Path, settings: Settings) -> Outcome:
    """Do what is missing of a sweep and write its data set into a directory."""
    if settings.workers is not None and settings.scheduler is not None:
        raise UserError(
            "--workers is for this machine, --scheduler for a cluster; give one of them"
        )
    # A grid is checked whole before anything is written.
    rows = None if plan.design == "pareto" else list(_rows(plan, points(plan)))
    with locked(directory) as store:
        work = _Work(plan, store, settings)
        found = work.search() if rows is None else work.all_of(rows)
        if not found:
            raise plan.wrong(f"nothing of it is finished in {directory}; run it without --collect")
        files = dataset.write(plan, store, found, directory)
        if plan.design == "fleet":
            files.append(fleet.write(plan, store, found, directory))
        if settings.command is not None and has_plots():
            from reprieve.sweeps import page

            files.append(page.write(plan, store, found, directory, settings.command))
        return Outcome(found, work.ran, files)


def _rows(plan: Plan, made: Sequence[Point]) -> Iterator[Row]:
    """Resolve every scenario, which checks it, and name its run."""
    for point in made:
        for seed in plan.seeds or (None,):
            try:
                yield Row(point, seed, run_id(point.source(plan, seed).resolve()))
            except UserError as error:
                raise plan.wrong(f"{point.label(plan)}: {error}") from None


class _Work:
    """Runs that are done, and those that are not yet."""

    def __init__(self, plan: Plan, store: Store, settings: Settings) -> None:
        self._plan = plan
        self._store = store
        self._settings = settings
        self._executor: Executor
        if settings.scheduler is None:
            self._executor = threads(settings.workers)
        else:
            self._executor = dask(settings.scheduler)
        self.ran = 0
        self._whole = set[str]()
        """Runs whose files were looked at."""

    def all_of(self, rows: list[Row]) -> list[Row]:
        """Do all of these runs; return those that are finished."""
        if self._settings.collect:
            return [row for row in rows if self._store.has(row.run)]
        self._do(rows, 0, len(rows))
        return rows

    def search(self) -> list[Row]:
        """Ask, do and tell, batch by batch; return the runs that are finished."""
        search, rows = Search(self._plan), list[Row]()
        seeds = max(1, len(self._plan.seeds))
        while batch := search.ask():
            asked = list(_rows(self._plan, batch))
            if self._settings.collect:
                done = [row for row in asked if self._store.has(row.run)]
                rows += done
                if len(done) < len(asked):
                    return rows
            else:
                self._do(asked, len(rows), self._plan.samples * seeds)
                rows += asked
            search.tell(self._costs(asked, seeds))
        return rows

    def _do(self, rows: Sequence[Row], before: int, whole: int) -> None:
        """Do those of some runs that are not done; `before` of `whole` are behind."""
        missing: dict[str, Row] = {}
        for row in rows:
            if row.run in missing or row.run in self._whole:
                continue
            if self._store.has(row.run):
                why = self._store.taken_away(row.run)
                if why is None:
                    self._whole.add(row.run)
                    continue
                self._settings.tell(f"{why}; its run is done again")
            missing[row.run] = row
        done = before + len(rows) - sum(row.run in missing for row in rows)
        self._settings.step("runs", done, whole)
        if not missing:
            return
        tasks = (
            Task(run, row.point.source(self._plan, row.seed), row.point.label(self._plan))
            for run, row in missing.items()
        )
        for task, data in self._executor(tasks):
            self._store.write(task.run, data)
            self.ran += 1
            done += 1
            self._settings.step("runs", done, whole)

    def _costs(self, rows: Sequence[Row], seeds: int) -> NDArray[np.float64]:
        """Return what points cost, the mean over their seeds; UserError where one has no value."""
        goals, columns = self._plan.goals, {goal.column: list[float]() for goal in self._plan.goals}
        for row in rows:
            found = flat(self._store.read(row.run).summary)
            for goal in goals:
                if goal.column not in found:
                    raise self._plan.no_column(goal.column, list(found))
                value = found[goal.column]
                if not isinstance(value, int | float):
                    raise self._plan.wrong(
                        f"goals: {goal.column} has no value at {row.point.label(self._plan)}; "
                        "search where every point has such requests"
                    )
                columns[goal.column].append(float(value))
        means = {
            name: np.array(values).reshape(-1, seeds).mean(axis=1)
            for name, values in columns.items()
        }
        return dataset.goal_costs(goals, means)
