"""Independent pieces of work in threads: simulations release the interpreter's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from reprieve.simulation import Watch

__all__ = ["Step", "Watch", "Workshop", "each", "silent"]

Step = Callable[[str, int, int], None]
"""Takes what is being done, how many pieces of work are done, and how many there are."""


def silent(what: str, done: int, pieces: int) -> None:
    """Tell nobody."""


Item = TypeVar("Item")
Made = TypeVar("Made")


class StoppedError(Exception):
    """Ends a piece because another has failed or the user has interrupted."""


def each(items: Sequence[Item], jobs: int | None, one: Callable[[Item, Watch], Made]) -> list[Made]:
    """Do `one` for every item, in the order given, and return what each made.

    `jobs`: items at a time; None: one a core. `one` passes its second argument on to the
    simulations that it runs, so that they can be stopped: the first error, or an interrupt, stops
    all others and is raised.
    """
    stop = threading.Event()

    def watch(_share: float | None, _requests: int) -> None:
        if stop.is_set():
            raise StoppedError

    with ThreadPoolExecutor(jobs or cores()) as pool:
        try:
            futures = [pool.submit(one, item, watch) for item in items]
            wait(futures, return_when=FIRST_EXCEPTION)
            _raise_first(futures)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def _raise_first(futures: Sequence[Future[Any]]) -> None:
    for future in futures:
        if future.done() and (error := future.exception()) is not None:
            raise error


class Workshop:
    """Does pieces of work side by side and says how far it is."""

    def __init__(self, jobs: int | None, step: Step, pieces: int) -> None:
        self._jobs = jobs
        self._step = step
        self._pieces = pieces
        self._done = 0
        self._lock = threading.Lock()

    def each(
        self, what: str, items: Sequence[Item], one: Callable[[Item, Watch], Made]
    ) -> list[Made]:
        """Do `one` for every item, as `each` does; `what` names the work for those who wait."""
        self._step(what, self._done, self._pieces)

        def counted(item: Item, watch: Watch) -> Made:
            made = one(item, watch)
            with self._lock:
                self._done += 1
                self._step(what, self._done, self._pieces)
            return made

        return each(items, self._jobs, counted)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
