"""Built-in policies written anew in Python, for tests to hold against those of the simulator."""

from __future__ import annotations

from reprieve import (
    Choice,
    Decision,
    DieView,
    OperationView,
    Scheduler,
    SuspendView,
    SuspensionPolicy,
)


class Always(SuspensionPolicy):
    """Suspends whatever is in the way."""

    def decide(self, view: OperationView) -> Decision:
        return Decision.LEAVE if view.is_suspended else Decision.SUSPEND


class Threshold(SuspensionPolicy):
    """Not near the end of an operation, nor after long in suspension."""

    def __init__(self, min_remaining_ns: int, max_suspended_ns: int) -> None:
        self.min_remaining_ns = min_remaining_ns
        self.max_suspended_ns = max_suspended_ns

    def decide(self, view: OperationView) -> Decision:
        is_over = view.suspended_ns >= self.max_suspended_ns
        if view.is_suspended:
            return Decision.RESUME if is_over else Decision.LEAVE
        if is_over or view.remaining_ns < self.min_remaining_ns:
            return Decision.LEAVE
        return Decision.SUSPEND


class Rps(Scheduler):
    """Reads before programs and erases."""

    def choose(self, view: DieView) -> Choice:  # noqa: PLR0911
        if view.suspended is not None:
            if view.read is not None and not view.writes_first:
                return Choice.READ
            return Choice.WRITE if view.write_fits_inside else Choice.RESUME
        if view.writes_first:
            return Choice.WRITE
        if view.read is not None:
            return Choice.READ
        if view.urgent_gc is not None and not view.gc_gives_way:
            return Choice.GC
        if view.write is not None:
            return Choice.WRITE
        return Choice.GC if view.idle_gc else Choice.WAIT


class Fifo(Scheduler):
    """In order of arrival."""

    suspends = False
    reads_first = False

    def choose(self, view: DieView) -> Choice:
        waiting = [
            (waiter.order, choice)
            for waiter, choice in (
                (view.read, Choice.READ),
                (view.write, Choice.WRITE),
                (view.urgent_gc, Choice.GC),
            )
            if waiter is not None
        ]
        if waiting:
            return min(waiting, key=lambda found: found[0])[1]
        return Choice.GC if view.idle_gc else Choice.WAIT


class Patient(Scheduler):
    """Reads interrupt a program once they have waited for so long, and go first then."""

    def __init__(self, after_ns: int) -> None:
        self.after_ns = after_ns

    def choose(self, view: DieView) -> Choice:
        read = view.read
        is_old = read is not None and view.now_ns - read.since_ns >= self.after_ns
        if is_old:
            return Choice.READ
        if view.suspended is not None:
            return Choice.RESUME
        if view.write is not None:
            return Choice.WRITE
        return Choice.WAIT if read is None else Choice.READ

    def lets_suspend(self, view: SuspendView) -> bool:
        read = view.read
        return read is not None and view.now_ns - read.since_ns >= self.after_ns

    def asks_again(self, view: SuspendView) -> int | None:
        return None if view.read is None else view.read.since_ns + self.after_ns
