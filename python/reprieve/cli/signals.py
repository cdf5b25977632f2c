"""Signals: SIGINT, SIGTERM, SIGHUP end a command within a second, whatever it is waiting for."""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from reprieve.outputs import leave_nothing

__all__ = ["INTERRUPTED", "heard", "interruptible", "save"]

_GRACE_S = 0.7
"""Time for a command to end on its own and save its results."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

INTERRUPTED = 128 + signal.SIGINT
"""Exit status of a command that Ctrl-C has ended."""

_saving = threading.Event()


def save() -> None:
    """Give the command that was interrupted the time to save what it has."""
    _saving.set()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether there was an interrupt, which raises nothing here."""
    pending = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: pending.set())

    def is_pending() -> bool:
        if pending.is_set():
            save()
        return pending.is_set()

    try:
        yield is_pending
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def heard() -> Iterator[None]:
    """Let signals end the process even where the simulator waits, as for a FIFO that is silent.

    Python hears a signal only between its own steps. So a thread waits for the number that the
    system writes into a pipe, gives the command time to end in its own way, and ends the process.
    """
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup has it ignored
        signal.signal(signal.SIGHUP, _terminate)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True, name="signals").start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        # The thread reads the end of the pipe, and is over.
        os.close(writing)


def _terminate(signum: int, _frame: FrameType | None) -> None:
    """Leave like an interrupt does, so that no half-written file stays."""
    raise SystemExit(128 + signum)


def _watch(reading: int) -> None:
    number = 0
    while number not in _ENDING:
        told = os.read(reading, 1)
        if not told:
            os.close(reading)
            return
        number = told[0]
    while not select.select([reading], [], [], _GRACE_S)[0] and _saving.is_set():
        pass
    # A second signal is impatience; the end of the pipe says that the command has ended.
    if select.select([reading], [], [], 0)[0] and not os.read(reading, 1):
        os.close(reading)
        return
    leave_nothing()
    os._exit(128 + number)
