"""Who does the runs of a sweep: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any

from reprieve._native import UserError
from reprieve.extras import need
from reprieve.parallel import StoppedError, cores
from reprieve.sweeps.work import Task, perform

Done = tuple[Task, bytes]
"""A task and the file of its run."""

Executor = Callable[[Iterable[Task]], Iterator[Done]]
"""Does tasks side by side and yields them as they are done, in whatever order."""

# What a thread of a cluster gets at once takes at least about so long, and longer if the cluster is
# large: a bundle costs its scheduler, and us, some milliseconds, whatever is in it.
_BUNDLE_S = 0.5
_BUNDLES_PER_S = 100
_BUNDLE_TASKS_MAX = 256

_CONNECT_TIMEOUT = "20s"


def threads(workers: int | None) -> Executor:
    """Return threads of this process; None: one a core."""

    def executor(tasks: Iterable[Task]) -> Iterator[Done]:
        stop = threading.Event()

        def watch(_share: float | None, _requests: int) -> None:
            if stop.is_set():
                raise StoppedError

        waiting, running = iter(tasks), dict[Future[bytes], Task]()
        with ThreadPoolExecutor(workers or cores()) as pool:
            try:
                # A task more for each thread, so that none waits while a file is written.
                ahead = 2 * (workers or cores())
                for task in islice(waiting, ahead):
                    running[pool.submit(perform, task, watch)] = task
                while running:
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        task, data = running.pop(future), future.result()
                        for more in islice(waiting, 1):
                            running[pool.submit(perform, more, watch)] = more
                        yield task, data
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)

    return executor


def dask(address: str) -> Executor:
    """Return the workers of the Dask cluster whose scheduler is at an address."""
    distributed = need("distributed", "--scheduler", "distributed", "cluster")
    # What matters of its troubles comes back as an exception, and is said in a sentence.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def executor(tasks: Iterable[Task]) -> Iterator[Done]:
        try:
            client = distributed.Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise UserError(
                f"--scheduler {address}: no Dask scheduler answers there: {error}"
            ) from None
        with client:
            yield from _Cluster(distributed, client).perform(tasks)

    return executor


class _Cluster:
    """Keeps the workers of a cluster busy, and no more of the sweep in it than that takes."""

    def __init__(self, distributed: Any, client: Any) -> None:
        self._distributed = distributed
        self._client = client
        self._bundle_tasks = 1
        self._bundles = 0
        self._running: dict[str, tuple[Any, list[Task]]] = {}

    def perform(self, tasks: Iterable[Task]) -> Iterator[Done]:
        waiting = iter(tasks)
        done = self._distributed.as_completed(loop=self._client.loop, raise_errors=False)
        self._client.wait_for_workers(1)
        self._fill(waiting, done)
        while self._running:
            future = next(done)
            _, bundle = self._running.pop(future.key)
            found = self._bundle(future, bundle)
            self._bundle_tasks = bundle_tasks(
                self._bundle_tasks, found.took_s / len(bundle), self._threads()
            )
            self._fill(waiting, done)
            yield from zip(bundle, found.files, strict=False)  # what went wrong has no file
            if found.mistake is not None:
                raise UserError(found.mistake)
            if found.fault is not None:
                raise RuntimeError(found.fault)

    def _threads(self) -> int:
        return max(1, int(sum(self._client.nthreads().values())))

    def _fill(self, waiting: Iterator[Task], done: Any) -> None:
        """Hand out work until there are two bundles for each thread of the cluster."""
        threads = self._threads()
        while len(self._running) < 2 * threads:
            bundle = list(islice(waiting, self._bundle_tasks))
            if not bundle:
                return
            for task in bundle:
                task.source.split().check_travels()
            # A key is used once: a cluster that keeps a failed bundle must not answer with it.
            self._bundles += 1
            key = f"reprieve-{self._client.id}-{self._bundles}"
            future = self._client.submit(perform_all, bundle, key=key, pure=False)
            self._running[key] = (future, bundle)
            done.add(future)

    def _bundle(self, future: Any, bundle: Sequence[Task]) -> Bundle:
        try:
            found: Bundle = future.result()
        except self._distributed.KilledWorker as error:
            raise UserError(
                f"{bundle[0].label}: worker after worker has died over this run, or one of the "
                f"{len(bundle)} from it on; give them more memory, or see their logs: {error}"
            ) from None
        except self._distributed.client.FutureCancelledError:
            raise UserError(
                "--scheduler: the scheduler has gone; start the same sweep again, and it goes on "
                "with what is not done"
            ) from None
        return found


def bundle_tasks(last: int, run_s: float, threads: int) -> int:
    """Return how many runs to hand out at once, after `last`, if one takes so long.

    What a run takes changes from point to point: no more than twice as many as before.
    """
    fitting = math.ceil(max(_BUNDLE_S, threads / _BUNDLES_PER_S) / max(run_s, 1e-6))
    return min(fitting, 2 * last, _BUNDLE_TASKS_MAX)


@dataclass(frozen=True)
class Bundle:
    """What a worker gives back."""

    took_s: float
    files: list[bytes]
    mistake: str | None = None
    """What a user has done wrong; the runs from there on are not done."""
    fault: str | None = None
    """What we have done wrong."""


def perform_all(tasks: Sequence[Task]) -> Bundle:
    """Do some runs one after the other on a worker.

    What goes wrong is given back in words: the classes of the simulator's errors cannot travel.
    """
    began_s = time.perf_counter()
    files: list[bytes] = []
    mistake = fault = None
    try:
        for task in tasks:
            files.append(perform(task, _nobody))
    except UserError as error:
        mistake = str(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        fault = str(error)
    return Bundle(time.perf_counter() - began_s, files, mistake, fault)


def _nobody(_share: float | None, _requests: int) -> None:
    """Nobody watches: a bundle is short, and one whose driver has gone is finished for nothing."""
