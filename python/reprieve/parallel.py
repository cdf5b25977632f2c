"""Independent pieces of work in threads: simulations release the interpreter's lock."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

from reprieve.simulation import Watch

__all__ = ["Step", "Watch", "Workshop", "each", "in_threads", "silent"]

Step = Callable[[str, int, int], None]
"""Takes what is being done, how many pieces of work are done, and how many there are."""


def silent(what: str, done: int, pieces: int) -> None:
    """Report nothing."""


Item = TypeVar("Item")
Made = TypeVar("Made")


class StoppedError(Exception):
    """Ends a piece because another has failed or the user has interrupted."""


def in_threads(calls: Iterable[Callable[[Watch], Made]], workers: int | None) -> Iterator[Made]:
    """Do calls side by side and yield what each returns as it ends, in any order.

    `workers`: calls at a time; None: one a core. A call passes its argument on to the simulations
    that it runs. The first error, or closing the iterator, stops all others; an error is raised.
    Calls are taken when one can soon start, so that they are never listed.
    """
    stop = threading.Event()

    def watch(_share: float | None, _requests: int) -> None:
        if stop.is_set():
            raise StoppedError

    # `concurrent.futures.wait` breaks where an interrupt comes between two of its locks.
    done, running = SimpleQueue[Future[Made]](), 0
    waiting = iter(calls)
    with ThreadPoolExecutor(workers or cores()) as pool:
        try:
            # A call more for each thread, so that none waits for who takes the results.
            ahead = 2 * (workers or cores())
            while True:
                for call in islice(waiting, ahead - running):
                    pool.submit(call, watch).add_done_callback(done.put)
                    running += 1
                if not running:
                    return
                made = done.get().result()
                running -= 1
                yield made
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def each(items: Sequence[Item], jobs: int | None, one: Callable[[Item, Watch], Made]) -> list[Made]:
    """Do `one` for every item, in threads, and return what each made in the order of the items."""

    def call(place: int, item: Item) -> Callable[[Watch], tuple[int, Made]]:
        return lambda watch: (place, one(item, watch))

    calls = (call(place, item) for place, item in enumerate(items))
    made = dict(in_threads(calls, jobs))
    return [made[place] for place in range(len(items))]


@dataclass
class Workshop:
    """Does pieces of work side by side and says how far it is."""

    jobs: int | None
    step: Step
    pieces: int
    done: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def each(
        self, what: str, items: Sequence[Item], one: Callable[[Item, Watch], Made]
    ) -> list[Made]:
        """Do `one` for every item, as `each` does; `what` names the work for those who wait."""
        self.step(what, self.done, self.pieces)

        def counted(item: Item, watch: Watch) -> Made:
            made = one(item, watch)
            with self._lock:
                self.done += 1
                self.step(what, self.done, self.pieces)
            return made

        return each(items, self.jobs, counted)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
