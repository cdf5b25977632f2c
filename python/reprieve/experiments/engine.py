"""An experiment from plan to data set: finished runs are read, the others are done, none twice."""

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from reprieve._native import UserError
from reprieve.experiments import dataset
from reprieve.experiments.dataset import Row
from reprieve.experiments.designs import Point, points, size
from reprieve.experiments.executors import Executor, dask, processes, threads
from reprieve.experiments.identity import Identities
from reprieve.experiments.pareto import Search
from reprieve.experiments.plan import Plan
from reprieve.experiments.store import DamagedError, Store, locked
from reprieve.experiments.work import Simulation, Task
from reprieve.extras import has_plots
from reprieve.parallel import Step, silent

__all__ = ["Outcome", "Progress", "Settings", "complete", "sweep_into"]

_CHECKED = 1000
"""Points that are resolved before anything runs."""
_TELL_EVERY = 1 << 12
"""Finished runs that are passed before progress is reported."""
PAGE_POINTS_MAX = 100_000


def _warn(sentence: str) -> None:
    warnings.warn(sentence, stacklevel=2)


@dataclass(frozen=True)
class Settings:
    """Settings of a sweep's execution; none of them changes the results."""

    workers: int | None = None
    """Runs at a time in this process; None: one a core."""
    scheduler: str | None = None
    """Address of a Dask scheduler whose workers do the runs."""
    processes: int | None = None
    """Runs at a time, each in a process of its own."""
    collect: bool = False
    """Run nothing: join segments and write the data set of the finished runs."""
    part: tuple[int, int] | None = None
    """K of N: do this part of the points and write no data set."""
    retry_failed: bool = False
    minutes: float | None = None
    """Start no run after this time."""
    step: Step = silent
    tell: Callable[[str], None] = _warn
    """Called with each warning."""
    command: str | None = None
    """Shown in the page as the command that repeats it; None: no page is written."""
    interrupted: Callable[[], None] | None = None
    """Called on an interrupt, after which what is finished is written; None: it ends all."""

    def executor(self) -> Executor:
        """Return where its runs are done; UserError if two places are named."""
        places = (self.workers, self.scheduler, self.processes)
        if sum(place is not None for place in places) > 1:
            raise UserError(
                "--workers and --processes are for this machine, --scheduler for a cluster; give "
                "one of them"
            )
        if self.scheduler is not None:
            return dask(self.scheduler)
        return threads(self.workers) if self.processes is None else processes(self.processes)


@dataclass
class Progress:
    """Counts runs, and says how far a sweep is."""

    step: Step
    whole: int
    done: int = 0
    ran: int = 0
    failed: int = 0
    first_error: str | None = None
    is_out_of_time: bool = False

    def passed(self) -> None:
        """Count a run that was finished before."""
        self.done += 1
        if self.done % _TELL_EVERY == 0:
            self.step("runs", self.done, self.whole)

    def finished(self, error: str | None) -> None:
        """Count a run that ended now."""
        self.done += 1
        self.ran += 1
        if error is not None:
            self.failed += 1
            self.first_error = self.first_error or error
        self.step("runs", self.done, self.whole)


def complete(
    tasks: Iterable[tuple[str, Callable[[], Task]]],
    store: Store,
    executor: Executor,
    progress: Progress,
    *,
    retry_failed: bool = False,
    until_s: float | None = None,
) -> None:
    """Do the tasks that the store does not have, and store their rows.

    `tasks`: the identity of each, and a function that makes it, called if it is to be done.
    `until_s`: the time of the monotonic clock after which no task starts.
    """
    handed = set[str]()

    def missing() -> Iterator[Task]:
        for run, task in tasks:
            again = retry_failed and store.has_failed(run)
            if (store.has(run) and not again) or run in handed:
                progress.passed()
                continue
            if until_s is not None and time.monotonic() > until_s:
                progress.is_out_of_time = True
                return
            handed.add(run)
            yield task()

    progress.step("runs", progress.done, progress.whole)
    try:
        for row in executor(missing()):
            store.append(row)
            # A retried run is not retried again.
            if not retry_failed:
                handed.discard(row.run)
            progress.finished(row.error)
    finally:
        store.flush()
    assert retry_failed or not handed, f"an executor lost {len(handed)} tasks"
    progress.step("runs", progress.done, progress.whole)


@dataclass(frozen=True)
class Outcome:
    """The end of a sweep."""

    runs: int
    """Different runs of its points that are finished."""
    ran: int
    """Runs that were done now; the others had been done before."""
    failed: int
    """Runs of its points that failed."""
    left: int
    """Runs that are not finished, of each point and seed."""
    files: list[Path] = field(default_factory=list)
    is_partial: bool = False
    """An interrupt ended it early."""


class Rows:
    """The runs of a plan in its order, made anew each time: a plan is never listed."""

    def __init__(
        self, plan: Plan, made: Sequence[Point] | None = None, part: tuple[int, int] | None = None
    ) -> None:
        """Take the points of the plan, or `made`; of these the K-th of N parts, neighbours."""
        self.plan = plan
        self._made = made
        number, parts = part or (1, 1)
        count = size(plan) if made is None else len(made)
        self._first, self._last = count * (number - 1) // parts, count * number // parts
        self._identities = Identities(plan.source)

    def __iter__(self) -> Iterator[Row]:
        """Yield each point under every seed."""
        made = points(self.plan) if self._made is None else self._made
        for point in islice(made, self._first, self._last):
            sets = point.sets(self.plan)
            for seed in self.plan.seeds or (None,):
                own = sets if seed is None else (*sets, f"seed={seed}")
                yield Row(point, seed, self._identities.of(own))

    def __len__(self) -> int:
        return (self._last - self._first) * max(1, len(self.plan.seeds))

    def finished(self, store: Store) -> Iterator[Row]:
        """Yield those that a store has."""
        return (row for row in self if store.has(row.run))


def sweep_into(plan: Plan, directory: Path, settings: Settings) -> Outcome:
    """Do the missing runs of a sweep and write its data set into a directory."""
    executor = settings.executor()
    if settings.collect and settings.part is not None:
        raise UserError("--part and --collect: collect once, after the last part")
    if settings.collect and (settings.retry_failed or settings.minutes is not None):
        raise UserError("--collect runs nothing; leave out --retry-failed and --minutes")
    if plan.design == "pareto":
        if settings.part is not None:
            raise plan.wrong(
                "a search needs the results of each batch; --part is for other designs"
            )
    elif not settings.collect:
        _check(plan, points(plan), settings)
    with locked(directory, settings.part) as store:
        for path in store.damaged:
            settings.tell(f"{path}: this file is damaged; its runs are done again")
        work = _Work(plan, store, settings, executor)
        while True:
            try:
                return work.outcome(directory)
            except DamagedError as error:
                settings.tell(f"{error.path}: this file is damaged; its runs are done again")
                store.take_away(error.path)
                dataset.forget(directory)


def _check(plan: Plan, made: Iterable[Point], settings: Settings) -> None:
    """Resolve the first points: UserError if none is right, a sentence if some are not."""
    errors, checked = list[str](), 0
    for point in islice(made, _CHECKED):
        checked += 1
        try:
            plan.source.with_sets(point.sets(plan, *plan.seeds[:1])).resolve()
        except UserError as error:
            errors.append(f"{point.label(plan)}: {error}")
    if errors and len(errors) == checked:
        raise plan.wrong(errors[0])
    if errors:
        settings.tell(
            f"{plan.path}: {len(errors)} of the first {checked} points will fail, first {errors[0]}"
        )


@dataclass
class _Work:
    """Does the runs of a plan that a store lacks, and writes the data set of those it has."""

    plan: Plan
    store: Store
    settings: Settings
    executor: Executor
    ran: int = 0
    is_partial: bool = False
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        minutes = self.settings.minutes
        self._until_s = None if minutes is None else time.monotonic() + 60 * minutes

    def outcome(self, directory: Path) -> Outcome:
        """Do what is missing; write the data set unless only a part was asked for."""
        plan, settings, store = self.plan, self.settings, self.store
        if plan.design == "pareto":
            rows = Rows(plan, self._search())
        else:
            rows = Rows(plan, part=settings.part)
            if not settings.collect:
                self._do(rows, Progress(settings.step, len(rows)))
        if settings.collect:
            store.merge()
        if settings.part is not None:
            self._tell_failures()
            return self._survey(rows)[0]
        told, stamp = self._survey(rows)
        if not told.runs and self.is_partial:
            raise KeyboardInterrupt
        if not told.runs:
            how = "run it without --collect" if settings.collect else "give it more --minutes"
            raise plan.wrong(f"nothing of it is finished in {directory}; {how}")
        if settings.collect and told.left:
            what = f"{told.left:,} of {len(rows):,} runs are not finished, and not in the data set"
            settings.tell(f"{plan.path}: {what}")
        if told.failed == told.runs:
            error = next(store.row(row.run).error for row in rows.finished(store))
            store.forget_written()
            raise UserError(error or "a failed run has an error")
        self._tell_failures()
        return self._write(rows, directory, told, stamp)

    def _tell_failures(self) -> None:
        # A search counts them batch by batch; the last count has all.
        for sentence in self.failures[-1:]:
            self.settings.tell(sentence)

    def _survey(self, rows: Rows) -> tuple[Outcome, str]:
        """Count the different runs that are finished, and digest what their data set is of."""
        plan, seen, failed, left = self.plan, set[int](), 0, 0
        view = [plan.design, plan.keys, plan.seeds, plan.goals, plan.axes, len(rows)]
        made = hashlib.blake2b(repr(view).encode(), digest_size=16)
        for row in rows:
            if not self.store.has(row.run):
                left += 1
                continue
            made.update(row.run.encode())
            key = hash(row.run)
            if key not in seen:
                seen.add(key)
                failed += self.store.has_failed(row.run)
        outcome = Outcome(len(seen), self.ran, failed, left, is_partial=self.is_partial)
        return outcome, made.hexdigest()

    def _write(self, rows: Rows, directory: Path, told: Outcome, stamp: str) -> Outcome:
        plan, store, command = self.plan, self.store, self.settings.command
        with_page = command is not None and has_plots()
        if with_page and len(rows) // max(1, len(plan.seeds)) > PAGE_POINTS_MAX:
            self.settings.tell(
                f"no page is written of more than {PAGE_POINTS_MAX:,} points; "
                "`reprieve query` finds the best"
            )
            with_page = False
        files = dataset.current(plan, directory, stamp, with_page=with_page)
        if not files:
            files = dataset.write(plan, store, rows, directory, self.settings.tell)
            if with_page:
                from reprieve.experiments import page

                files.append(page.write(plan, store, rows, directory, command or ""))
            dataset.remember(directory, stamp)
        return replace(told, files=files)

    def _do(self, rows: Rows, progress: Progress) -> None:
        before = progress.ran
        tasks = ((row.run, partial(self._task, row)) for row in rows)
        again, until_s = self.settings.retry_failed, self._until_s
        try:
            complete(
                tasks, self.store, self.executor, progress, retry_failed=again, until_s=until_s
            )
        except KeyboardInterrupt:
            if self.settings.interrupted is None:
                raise
            self.settings.interrupted()
            self.is_partial = True
        self.ran += progress.ran - before
        if progress.first_error is not None:
            self.failures.append(
                f"{self.plan.path}: {progress.failed:,} of {progress.ran:,} runs failed, first "
                f"{progress.first_error}"
            )
        if progress.is_out_of_time or self.is_partial:
            minutes = self.settings.minutes
            why = "interrupted" if self.is_partial else f"as --minutes {minutes:g} are over"
            self.settings.tell(
                f"{progress.whole - progress.done:,} of {progress.whole:,} runs are left, {why}; "
                "the same command goes on"
            )

    def _task(self, row: Row) -> Task:
        work = Simulation(row.run, self.plan.source, row.point.sets(self.plan, row.seed))
        return Task(row.run, row.point.label(self.plan), work)

    def _search(self) -> list[Point]:
        """Ask for points, run them and report their costs, batch by batch; return all of them."""
        search, made = Search(self.plan), list[Point]()
        seeds = max(1, len(self.plan.seeds))
        progress = Progress(self.settings.step, self.plan.samples * seeds)
        while batch := search.ask():
            rows = Rows(self.plan, batch)
            if not self.settings.collect:
                self._do(rows, progress)
            if any(not self.store.has(row.run) for row in rows):
                return [*made, *batch]
            if not made and all(self.store.has_failed(row.run) for row in rows):
                error = self.store.row(next(iter(rows)).run).error
                self.store.forget_written()
                raise UserError(error or "a failed run has an error")
            made += batch
            search.tell(dataset.costs_of(self.plan, self.store, rows, is_search=True))
        return made
