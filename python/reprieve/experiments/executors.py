"""Executors of tasks: threads, processes, the workers of a Dask cluster."""

import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any

from reprieve._native import UserError
from reprieve.experiments.work import Row, Simulation, Task, perform
from reprieve.extras import need
from reprieve.parallel import cores, in_threads
from reprieve.simulation import unwatched

__all__ = ["Executor", "dask", "processes", "threads"]

Executor = Callable[[Iterable[Task]], Iterator[Row]]
"""Does tasks side by side and yields their rows as they end, in any order.

It takes a task when it can start one soon, so that tasks are never listed. Closing the iterator
ends the running tasks.
"""

# A thread of a cluster gets about this much work at once, and more if the cluster is large: a
# bundle costs its scheduler, and the driver, some milliseconds, whatever is in it.
_BUNDLE_S = 0.5
_BUNDLES_PER_S = 100
_BUNDLE_TASKS_MAX = 256

_CONNECT_TIMEOUT = "20s"
_WATCH_S = 0.5
_DEATHS_MAX = 3
"""Of processes, over one run alone, until it counts as failed."""


def threads(workers: int | None) -> Executor:
    """Return threads of this process; None: one a core."""

    def executor(tasks: Iterable[Task]) -> Iterator[Row]:
        return in_threads((partial(perform, task) for task in tasks), workers)

    return executor


def processes(workers: int | None) -> Executor:
    """Return processes of this machine; None: one a core.

    Policies in Python run side by side there. If a process dies, for lack of memory say, its runs
    are done again one by one; a run that kills three is a failed one.
    """

    def executor(tasks: Iterable[Task]) -> Iterator[Row]:
        again = list[Task]()
        waiting = iter(tasks)
        count, bundle, deaths = workers or cores(), 1, Counter[str]()
        context = multiprocessing.get_context("spawn")
        while True:
            running: dict[Future[Bundle], list[Task]] = {}
            # After a death the suspects run one at a time, so that it is known who did it.
            alone = again
            pool = ProcessPoolExecutor(1 if alone else count, context, _as_worker, (os.getpid(),))
            source = iter(alone) if alone else waiting
            ahead = 1 if alone else 2 * count
            again, some = [], list[Task]()
            try:
                while True:
                    while len(running) < ahead:
                        some = list(islice(source, 1 if alone else bundle))
                        if not some:
                            break
                        running[pool.submit(perform_all, some)] = some
                        some = []
                    if not running:
                        break
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        took_s, rows = future.result()
                        bundle = bundle_tasks(bundle, took_s / len(running.pop(future)), count)
                        yield from rows
            except BrokenProcessPool:
                # The pool may have broken before it took the last ones.
                suspects = [*chain.from_iterable(running.values()), *some]
                if alone and len(suspects) == 1:
                    (suspect,) = suspects
                    deaths[suspect.run] += 1
                    if deaths[suspect.run] == _DEATHS_MAX:
                        yield _died(suspect, "process after process died over this run")
                        suspects = []
                again = [*suspects, *(source if alone else ())]
                continue
            finally:
                pool.shutdown(cancel_futures=True)
            if not alone:
                return

    return executor


def _as_worker(driver: int) -> None:
    """Leave Ctrl-C to the driver, which ends the pool; end with a driver that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _died(task: Task, what: str) -> Row:
    return Row(task.run, None, f"{task.label}: {what}; give it more memory, or see its log")


def dask(address: str) -> Executor:
    """Return the workers of the Dask cluster whose scheduler is at an address."""
    distributed = need("distributed", "--scheduler", "distributed", "cluster")
    # Its troubles come back as exceptions, and are reported in a sentence.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def executor(tasks: Iterable[Task]) -> Iterator[Row]:
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            # Half made, it would wait for itself at its end, and say so.
            client.status = "closed"
            raise UserError(
                f"--scheduler {address}: no Dask scheduler answers there: {error}"
            ) from None
        with client:
            yield from _Cluster(distributed, client).perform(tasks)

    return executor


@dataclass
class _Cluster:
    """Keeps the workers of a cluster busy, and no more of the sweep in it than that takes."""

    distributed: Any
    client: Any
    bundle_tasks: int = 1
    bundles: int = 0
    running: dict[str, tuple[Any, list[Task]]] = field(default_factory=dict)
    again: list[Task] = field(default_factory=list)
    """Tasks of a bundle that killed its workers: each is handed out alone."""

    def perform(self, tasks: Iterable[Task]) -> Iterator[Row]:
        """Do tasks; UserError if the scheduler has gone, in whichever call that shows."""
        try:
            yield from self._perform(iter(tasks))
        except (OSError, self.distributed.client.FutureCancelledError):
            raise UserError(
                "--scheduler: the scheduler has gone; start the same sweep again, and it goes on "
                "with what is not done"
            ) from None

    def _perform(self, waiting: Iterator[Task]) -> Iterator[Row]:
        done = self.distributed.as_completed(loop=self.client.loop, raise_errors=False)
        self.client.wait_for_workers(1)
        self._fill(waiting, done)
        while self.running:
            future = next(done)
            _, bundle = self.running.pop(future.key)
            rows = self._rows(future, bundle)
            self._fill(waiting, done)
            yield from rows

    def _threads(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def _fill(self, waiting: Iterator[Task], done: Any) -> None:
        """Hand out work until there are two bundles for each thread of the cluster."""
        threads = self._threads()
        while len(self.running) < 2 * threads:
            bundle = [self.again.pop()] if self.again else list(islice(waiting, self.bundle_tasks))
            if not bundle:
                return
            for task in bundle:
                if isinstance(task.work, Simulation):
                    task.work.check_travels()
            # A key is used once: a cluster that keeps a failed bundle must not answer with it.
            self.bundles += 1
            key = f"reprieve-{self.client.id}-{self.bundles}"
            future = self.client.submit(perform_all, bundle, key=key, pure=False)
            self.running[key] = (future, bundle)
            done.add(future)

    def _rows(self, future: Any, bundle: Sequence[Task]) -> Sequence[Row]:
        try:
            took_s, rows = future.result()
        except self.distributed.KilledWorker:
            if len(bundle) == 1:
                return [_died(bundle[0], "worker after worker has died over this run")]
            self.again += bundle
            return []
        run_s = took_s / len(bundle)
        self.bundle_tasks = bundle_tasks(self.bundle_tasks, run_s, self._threads())
        return list(rows)


def bundle_tasks(last: int, run_s: float, threads: int) -> int:
    """Return how many runs to hand out at once, after `last`, if one takes `run_s`.

    Runs differ from point to point: no more than twice as many as before.
    """
    fitting = math.ceil(max(_BUNDLE_S, threads / _BUNDLES_PER_S) / max(run_s, 1e-6))
    return min(fitting, 2 * last, _BUNDLE_TASKS_MAX)


Bundle = tuple[float, list[Row]]
"""The answer of a worker: the time that it took, in s, and the rows."""


def perform_all(tasks: Sequence[Task]) -> Bundle:
    """Do some tasks one after the other; their errors are words, as the classes cannot travel."""
    began_s = time.perf_counter()
    # A bundle is short, and one whose driver has gone is finished for nothing.
    rows = [perform(task, unwatched) for task in tasks]
    return time.perf_counter() - began_s, rows
