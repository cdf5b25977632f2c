"""Simulations of a study on the experiment engine: each done once, and stored by its inputs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import reprieve as rp
from reprieve.experiments.engine import Progress, complete
from reprieve.experiments.executors import threads
from reprieve.experiments.identity import digest, run_id
from reprieve.experiments.store import DamagedError, Record, Store, locked
from reprieve.experiments.work import Task, packed
from reprieve.parallel import Step, Watch, silent
from reprieve.scenario import Source

Overrides = Mapping[str, Any]
"""Keys of the scenario, dotted, and their values."""

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


@dataclass(frozen=True)
class Setup:
    """A scenario: its sections, and the overrides of their keys."""

    scenario: Overrides
    """Of the form of the file: sections are mappings."""
    overrides: Overrides

    def with_overrides(self, overrides: Overrides) -> Setup:
        """Return the set-up with further overrides, which win."""
        return Setup(self.scenario, {**self.overrides, **overrides})

    def resolved(self) -> rp.Scenario:
        """Return every key with the value that holds."""
        return rp.Scenario(**self.scenario).replace(**self.overrides).resolve()

    def simulate(self, watch: Watch = lambda *_: None, **how: Any) -> rp.Result:
        """Run it; `how`: arguments of `reprieve.run`."""
        return rp.run(self.scenario, watch=watch, **how, **self.overrides)

    def settle(self, path: Path, watch: Watch = lambda *_: None) -> None:
        """Save the state of the drive before the first request of the run."""
        self.simulate(watch, save_state=path, save_state_at="start")

    @property
    def run(self) -> str:
        """Return the identity of its run, in which the contents of files count."""
        return run_id(Source.of(dict(self.scenario), dict(self.overrides)).resolve())


@dataclass(frozen=True)
class Job:
    """A simulation, and what is stored of it."""

    setup: Setup
    settled: Setup | None = None
    """The run whose drive, before its first request, this run starts with; None: its own."""
    measure: Callable[[rp.Result], str] = packed
    """Returns the JSON text that is stored: by default the summary and the histograms."""
    measured_as: str = "record"
    """Name that distinguishes this measure from others."""
    options: Overrides = field(default_factory=dict)
    """Arguments of `reprieve.run`, such as `requests`."""

    @property
    def identity(self) -> str:
        """Return the identity of its row: of the runs and of the measure."""
        settled = "" if self.settled is None else self.settled.run
        return digest(self.setup.run, settled, self.measured_as)


class Bench:
    """Does the simulations of a study side by side, those that its store lacks."""

    def __init__(self, store: Store, jobs: int | None = None, step: Step = silent) -> None:
        """Take how many simulations run at a time (None: one a core) and who hears of them."""
        self._store = store
        self._jobs = jobs
        self._step = step

    def each(
        self, what: str, jobs: Mapping[Key, Job], keep: Callable[[Record], Made]
    ) -> dict[Key, Made]:
        """Simulate every job and return `keep` of its record; `what` is shown with the progress."""
        return self._whole(
            lambda: {
                key: keep(self._store.read(run)) for key, run in self._simulate(what, jobs).items()
            }
        )

    def texts(self, what: str, jobs: Mapping[Key, Job]) -> dict[Key, Any]:
        """Simulate every job and return the JSON that its `measure` stores."""
        return self._whole(
            lambda: {key: self._json(run) for key, run in self._simulate(what, jobs).items()}
        )

    def once(
        self, what: str, works: Mapping[Key, tuple[str, Callable[[Watch], Any]]]
    ) -> dict[Key, Any]:
        """Do work that returns JSON, named by an identity, and return that."""

        def do() -> dict[Key, Any]:
            self._complete(what, {run: partial(_dumped, work) for run, work in works.values()})
            return {key: self._json(run) for key, (run, _) in works.items()}

        return self._whole(do)

    def _whole(self, do: Callable[[], Made]) -> Made:
        """Return what `do` returns; the runs of a damaged file of the store are done again."""
        while True:
            try:
                return do()
            except DamagedError as error:
                self._store.take_away(error.path)

    def _simulate(self, what: str, jobs: Mapping[Key, Job]) -> dict[Key, str]:
        """Store every job, and return its identity."""
        named = {key: job.identity for key, job in jobs.items()}
        once = {named[key]: job for key, job in jobs.items()}
        missing = {run: job for run, job in once.items() if not self._is_done(run)}
        drives = {job.settled.run: job.settled for job in missing.values() if job.settled}
        with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
            states = Path(name)
            if drives:
                settling = Bench(Store(), self._jobs, self._step)
                settling._complete(
                    "bringing the drives to their state",
                    {run: partial(_settled, own, states / run) for run, own in drives.items()},
                )
            runs = {run: partial(_simulated, job, states) for run, job in once.items()}
            self._complete(what, runs)
        return named

    def _complete(self, what: str, works: Mapping[str, Callable[[Watch], str]]) -> None:
        def step(_what: str, done: int, whole: int) -> None:
            self._step(what, done, whole)

        progress = Progress(step, len(works))
        tasks = ((run, partial(Task, run, "", work)) for run, work in works.items())
        complete(tasks, self._store, threads(self._jobs), progress, retry_failed=True)
        if progress.first_error is not None:
            raise rp.UserError(progress.first_error)

    def _is_done(self, run: str) -> bool:
        return self._store.has(run) and not self._store.has_failed(run)

    def _json(self, run: str) -> Any:
        return json.loads(self._store.row(run).text or "")


def keeping(*names: str) -> Callable[[Record], Record]:
    """Return what keeps these parts of a record's summary, and its histograms."""

    def keep(record: Record) -> Record:
        summary = {name: record.summary[name] for name in names}
        return Record(summary, {}, {}, record.buckets)

    return keep


@contextmanager
def bench(directory: Path | None, jobs: int | None, step: Step = silent) -> Iterator[Bench]:
    """Yield a bench that stores its runs below `directory`; None: for the time of the block."""
    if directory is not None:
        with locked(directory) as store:
            yield Bench(store, jobs, step)
        return
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        yield Bench(Store(Path(name)), jobs, step)


def _dumped(work: Callable[[Watch], Any], watch: Watch) -> str:
    return json.dumps(work(watch))


def _simulated(job: Job, states: Path, watch: Watch) -> str:
    state = None if job.settled is None else states / job.settled.run
    return job.measure(job.setup.simulate(watch, from_state=state, **job.options))


def _settled(setup: Setup, path: Path, watch: Watch) -> str:
    setup.settle(path, watch)
    return "{}"
