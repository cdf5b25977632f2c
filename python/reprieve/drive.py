"""A drive inside another simulator, and one whose clock is that of SimPy."""

from math import ceil
from typing import Any, Literal

from reprieve._native import Completion, Drive, UserError

__all__ = ["Completion", "Drive", "SimpyDrive"]

LAST_NS = 1 << 62
"""The last instant of a drive, and more completions than there are."""

BEHIND = 2
"""The priority of a wake: SimPy's own events have 0 and 1, urgent and normal."""


class SimpyDrive:
    """A `Drive` in an environment of SimPy, whose unit of time is the nanosecond.

    `yield drive.request("read", lba, 4096)` in a process waits for the completion, and has it as
    its value. SimPy need not be installed for anything else.

    >>> import simpy
    >>> env = simpy.Environment()
    >>> drive = rp.SimpyDrive(env, rp.Drive({"device": "fast12-slc"}))
    >>> def reader():
    ...     done = yield drive.request("read", 0, 4096)
    ...     print(env.now, done.latency_ns)
    >>> process = env.process(reader())
    >>> env.run()
    32048 32048
    """

    def __init__(self, env: Any, drive: Drive) -> None:
        """Give `env`, a `simpy.Environment`, a drive that nothing else advances."""
        self.env = env
        self.drive = drive
        self._waiting: dict[int, Any] = {}
        self._done: list[Completion] = []
        self._due_ns: int | None = None

    def request(
        self,
        op: Literal["read", "write", "trim", "flush"],
        lba: int = 0,
        bytes: int = 0,
        *,
        fua: bool = False,
        queue: int | None = None,
        priority: Literal["urgent", "high", "medium", "low"] | None = None,
        handle: int | None = None,
    ) -> Any:
        """Send a request now; return the event of its completion.

        `lba`: the first sector of 512 bytes.
        `bytes`: the length, a multiple of 512.
        `fua`: a write completes only when its data is in flash (forced unit access).
        `queue`, `priority`, `handle`: numbers of a queue and a placement handle, or a class, as for
        `Drive.submit`.

        Requests come from processes, or between calls of `env.run`: up to the environment's next
        event, the drive is simulated ahead.

        Raises UserError if the request is wrong, or if the time is not a whole number of ns.
        """
        now = self.env.now
        now_ns = int(now)
        if now_ns != now:
            what = "the environment's unit is the nanosecond, and its times must be whole"
            raise UserError(f"now = {now}: {what}")
        if now_ns < self.drive.now_ns:
            what = "is simulated up to the environment's next event; send requests from processes"
            raise UserError(f"now = {now}: the drive {what}, or between calls of env.run")
        tag = self.drive.submit(
            op, lba, bytes, at_ns=now_ns, fua=fua, queue=queue, priority=priority, handle=handle
        )
        event = self._waiting[tag] = self.env.event()
        if self._due_ns != now_ns:
            self._wake_at(now_ns)
        return event

    def _wake_at(self, due_ns: int) -> None:
        """Have the environment wake the drive, behind all else that is to happen then."""
        self._due_ns = due_ns
        event = self.env.event()
        event._ok, event._value = True, None
        event.callbacks.append(self._wake)
        self.env.schedule(event, BEHIND, due_ns - self.env.now)

    def _wake(self, _event: object) -> None:
        """Deliver what is complete at this instant, or simulate the drive ahead to that."""
        due_ns, drive = self._due_ns, self.drive
        # A request that came later may have brought the wake forward, and this is stale.
        if due_ns is None or due_ns != self.env.now:
            return
        done, self._done, self._due_ns = self._done, [], None
        if not done:
            drive.run(due_ns, LAST_NS)
            done = drive.poll()
        if done:
            for completion in done:
                self._waiting.pop(completion.tag).succeed(completion)
            # Behind what these events lead to.
            self._wake_at(due_ns)
            return
        if self._waiting:
            # Nobody sends a request before the environment's next event.
            next_event = self.env.peek()
            before_ns = LAST_NS if next_event > LAST_NS else ceil(next_event) - 1
            if before_ns > due_ns:
                drive.run(before_ns)
                self._done = drive.poll()
        next_ns = self._done[0].completion_ns if self._done else drive.next()
        if next_ns is not None:
            self._wake_at(next_ns)
